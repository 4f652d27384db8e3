//! What one run left behind.

use airtcp_sim::record::RunRecord;
use airtcp_sim::series::{Column, Columns, Series};
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

#[pyclass(frozen, module = "airtcp._engine")]
pub struct Record {
    pub record: RunRecord,
    pub series: Series,
}

#[pymethods]
impl Record {
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.record).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn flow_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.series.flows.clone().into_columns())
    }

    fn queue_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.series.queues.clone().into_columns())
    }

    fn event_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.series.events.clone().into_columns())
    }

    fn delivery_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.series.deliveries.clone().into_columns())
    }

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
