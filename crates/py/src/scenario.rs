//! Scenarios, and running them.

use crate::cancel::CancelToken;
use crate::errors::{Cancelled, ScenarioError};
use crate::record::Record;
use airtcp_proto::Streams;
use airtcp_proto::scheme::Scheme;
use airtcp_sim::pcap::Format;
use airtcp_sim::{Capture, RunError, RunOptions, run};
use airtcp_wire::Dur;
use pyo3::prelude::*;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

type Overrides = Vec<(String, String)>;

#[pyclass(frozen, module = "airtcp._engine")]
pub struct Scenario(airtcp_sim::Scenario);

#[pymethods]
impl Scenario {
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Overrides::new()))]
    fn load(path: PathBuf, overrides: Overrides) -> PyResult<Scenario> {
        let text = fs::read_to_string(&path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        read(airtcp_sim::Scenario::load(&text, &path.to_string_lossy(), folder, &overrides))
    }

    #[staticmethod]
    #[pyo3(signature = (text, overrides = Overrides::new()))]
    fn parse(text: &str, overrides: Overrides) -> PyResult<Scenario> {
        read(airtcp_sim::Scenario::load(text, "scenario", Path::new(""), &overrides))
    }

    #[staticmethod]
    #[pyo3(signature = (overrides = Overrides::new()))]
    fn built_in(overrides: Overrides) -> PyResult<Scenario> {
        read(airtcp_sim::Scenario::built_in(&overrides))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.0.description
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.duration.as_secs_f64()
    }

    #[getter]
    fn seeds(&self) -> u32 {
        self.0.seeds
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    #[getter]
    fn schemes(&self) -> Vec<String> {
        self.0.schemes.clone()
    }

    #[getter]
    fn profile(&self) -> &str {
        &self.0.profile
    }

    #[getter]
    fn links(&self) -> Vec<&str> {
        self.0.links.iter().map(|link| link.name.as_str()).collect()
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    #[pyo3(signature = (link, seed, *, packet_bytes, packets))]
    fn round_trips(&self, link: &str, seed: u64, packet_bytes: u32, packets: usize) -> PyResult<Vec<f64>> {
        let found = self.0.links.iter().find(|known| known.name == link).ok_or_else(|| self.unknown(link))?;
        let times = airtcp_sim::round_trips(found, &Streams::new(seed), packet_bytes, packets);
        Ok(times.iter().map(|time| time.as_secs_f64()).collect())
    }

    #[pyo3(signature = (scheme, seed, *, series_interval_s = None, pcap = None, pcap_link = None, cancel = None))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn run(
        &self,
        py: Python<'_>,
        scheme: &str,
        seed: u64,
        series_interval_s: Option<f64>,
        pcap: Option<PathBuf>,
        pcap_link: Option<String>,
        cancel: Option<&CancelToken>,
    ) -> PyResult<Record> {
        let scheme = Scheme::parse(scheme, &self.0.profile)
            .map_err(|error| ScenarioError::new_err(error.to_string()))?;
        let options = RunOptions {
            series: series_interval_s.map(Dur::from_secs_f64),
            captures: pcap.map(|path| self.capture(&path, pcap_link)).transpose()?.into_iter().collect(),
            cancel: cancel.map(CancelToken::flag),
            ..RunOptions::default()
        };
        let outcome = py.detach(|| run(&self.0, &scheme, seed, options)).map_err(error)?;
        Ok(Record { record: outcome.record, series: outcome.series.unwrap_or_default() })
    }
}

impl Scenario {
    /// Creates the file only for a link that exists.
    fn capture(&self, path: &Path, link: Option<String>) -> PyResult<Capture> {
        let link = link.unwrap_or_else(|| self.0.links[0].name.clone());
        if self.links().contains(&link.as_str()) {
            let writer = Box::new(BufWriter::new(File::create(path)?));
            return Ok(Capture { link, format: Format::of_path(path), writer });
        }
        Err(self.unknown(&link))
    }

    fn unknown(&self, link: &str) -> PyErr {
        error(RunError::UnknownLink { name: link.to_owned(), known: self.links().join(", ") })
    }
}

fn read(result: Result<airtcp_sim::Scenario, airtcp_sim::scenario::ScenarioError>) -> PyResult<Scenario> {
    result.map(Scenario).map_err(|error| ScenarioError::new_err(error.to_string()))
}

fn error(error: RunError) -> PyErr {
    match error {
        RunError::Cancelled => Cancelled::new_err(()),
        RunError::Capture(error) => error.into(),
        error => ScenarioError::new_err(error.to_string()),
    }
}
