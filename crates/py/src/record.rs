//! The results of one run.

use airtcp_sim::record::RunRecord;
use airtcp_sim::run_totals::Total;
use airtcp_sim::series::{Column, Columns, Series};
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The results of one run.
#[pyclass(frozen, module = "airtcp._engine")]
pub struct Record {
    pub record: RunRecord,
    pub series: Series,
    pub unheard: Vec<(String, String)>,
}

#[pymethods]
impl Record {
    /// `airtcp.records.Run` as JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.record).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Required hooks of Python congestion controls that have not run: names of control and hook.
    #[getter]
    fn hooks_not_run(&self) -> Vec<(String, String)> {
        self.unheard.clone()
    }

    /// Sums over the measured flows, by the names of `airtcp.records.Flow`.
    ///
    /// RTTs are means weighted by their samples; None without any.
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, total) in self.record.totals() {
            match total {
                Total::Count(count) => dict.set_item(name, count)?,
                Total::Measure(measure) => dict.set_item(name, measure)?,
            }
        }
        Ok(dict)
    }

    /// One row per measured flow and sample; empty without `series_interval_s`.
    fn flow_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.series.flows.clone().into_columns())
    }

    /// One row per link, direction and sample; empty without `series_interval_s`.
    fn queue_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.series.queues.clone().into_columns())
    }

    /// One row per loss, retransmission and timeout, and for duplicate ACKs.
    ///
    /// Duplicate ACKs of one position within an interval are one row, with their `count`. Empty without
    /// `series_interval_s`, like the series below.
    fn event_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.series.events.clone().into_columns())
    }

    /// Bytes that each measured flow has received so far, over all its connections; one row per sample.
    fn delivery_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.series.deliveries.clone().into_columns())
    }

    /// Histogram of each measured flow's RTTs after the warm-up, within 0.4 %.
    fn rtt_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.series.rtts.clone().into_columns())
    }
}

fn dict_of(py: Python<'_>, columns: Columns) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, column) in columns {
        match column {
            Column::U64(values) => dict.set_item(name, values.into_pyarray(py))?,
            Column::F64(values) => dict.set_item(name, values.into_pyarray(py))?,
            Column::Text(values) => dict.set_item(name, PyList::new(py, values)?)?,
        }
    }
    Ok(dict)
}
