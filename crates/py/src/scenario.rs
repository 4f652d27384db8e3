//! Scenarios, and their runs.

use crate::cancel::CancelToken;
use crate::control::{self, Class, Run};
use crate::errors::{Cancelled, ScenarioError};
use crate::record::Record;
use crate::values;
use airtcp_proto::Chances;
use airtcp_proto::scheme::Scheme;
use airtcp_sim::pcap::Format;
use airtcp_sim::scenario::{Problem, Recipe, Source, text_file};
use airtcp_sim::{Capture, RunError, RunOptions, run};
use airtcp_wire::Dur;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString, PyTuple, PyType};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Overrides = Vec<(String, String)>;
type Kinds<'py> = Vec<Bound<'py, PyType>>;
/// Arguments of [`restore_scenario`].
type Pickled = (String, Vec<Py<PyType>>);

/// A path, its flows, and the schemes to compare on it: checked, with all defaults filled in.
///
/// A scenario is immutable: `vary` makes another one. Two are equal if their contents are, wherever they
/// were written. A pickle includes the files that the scenario names, each of which is read once.
///
/// >>> from airtcp import Scenario
/// >>> link = {"name": "wireless", "rate": "10Mbit/s", "delay": "25ms", "loss": {"ber": 1e-6}}
/// >>> scenario = Scenario.build(name="mine", schemes=["reno", "bbr"], link=[link])
/// >>> scenario
/// <Scenario mine: link wireless; reno, bbr; 5 seeds of 60s>
/// >>> scenario.vary({"wireless.loss.ber": 1e-5}, duration="20s").duration_s
/// 20.0
#[pyclass(frozen, eq, module = "airtcp._engine")]
pub struct Scenario {
    found: airtcp_sim::Scenario,
    /// The scenario's source.
    recipe: Recipe,
    /// Python congestion controls that its schemes may name.
    classes: Vec<Arc<Class>>,
}

impl PartialEq for Scenario {
    fn eq(&self, other: &Scenario) -> bool {
        self.found == other.found && self.classes == other.classes
    }
}

#[pymethods]
impl Scenario {
    /// Reads a file; paths in it are relative to its folder. Each override is a key and its value.
    ///
    /// Its schemes may also name the `controllers`.
    ///
    /// Raises ScenarioError and OSError.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Overrides::new(), *, controllers = vec![]))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        overrides: Overrides,
        controllers: Kinds<'_>,
    ) -> PyResult<Scenario> {
        let text = text_file::read(&path).map_err(|error| unreadable(&error, &path))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        read(py, Recipe::new(&text, &path.to_string_lossy(), folder, &overrides), described(controllers)?)
    }

    /// Reads TOML text; paths in it are relative to the current directory.
    ///
    /// Raises ScenarioError.
    #[staticmethod]
    #[pyo3(signature = (text, overrides = Overrides::new(), *, controllers = vec![]))]
    fn parse(py: Python<'_>, text: &str, overrides: Overrides, controllers: Kinds<'_>) -> PyResult<Scenario> {
        read(py, Recipe::new(text, "scenario", Path::new(""), &overrides), described(controllers)?)
    }

    /// The scenario that runs by default: a lossy wireless link.
    ///
    /// Raises ScenarioError.
    #[staticmethod]
    #[pyo3(signature = (overrides = Overrides::new(), *, controllers = vec![]))]
    fn built_in(py: Python<'_>, overrides: Overrides, controllers: Kinds<'_>) -> PyResult<Scenario> {
        read(py, Recipe::built_in(&overrides), described(controllers)?)
    }

    /// A scenario of the file's keys as Python values: strings, numbers, booleans, lists, dicts, paths.
    ///
    /// Paths are relative to the current directory. `airtcp schema` lists all keys.
    ///
    /// Raises ScenarioError, which names the wrong key:
    ///
    /// >>> from airtcp import Scenario
    /// >>> Scenario.build(link=[{"rat": "10Mbit/s", "delay": "5ms"}])
    /// Traceback (most recent call last):
    /// airtcp._engine.ScenarioError: link[0].rat: unknown key; did you mean `rate`? allowed: name, ...
    #[staticmethod]
    #[pyo3(signature = (**keys))]
    fn build(py: Python<'_>, keys: Option<&Bound<'_, PyDict>>) -> PyResult<Scenario> {
        let classes = keys.map(|keys| control::classes(&[], keys)).transpose()?.unwrap_or_default();
        let keys = keys.map(values::table).transpose().map_err(ScenarioError::new_err)?.unwrap_or_default();
        read(py, Recipe::new(&keys.to_string(), "", Path::new(""), &[]), classes)
    }

    /// This scenario with some values changed; defaults that depend on them are recomputed.
    ///
    /// A key is a path as for `--set`: `duration`, `wireless.loss.ber`, `flow.main.count`. A value is a
    /// Python value, as for `build`, or text as for `--set`: `"1%"`, `"20s"`. Later changes win.
    ///
    /// Raises ScenarioError, which names the key.
    #[pyo3(signature = (changes = None, /, **keys))]
    fn vary(
        &self,
        py: Python<'_>,
        changes: Option<&Bound<'_, PyMapping>>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Scenario> {
        let mut recipe = self.recipe.clone();
        let mut classes = self.classes.clone();
        if let Some(changes) = changes {
            classes = control::classes(&classes, changes)?;
            for item in changes.items()? {
                let (key, value): (String, Bound<'_, PyAny>) = item.extract()?;
                recipe.overrides.push(change(key, &value)?);
            }
        }
        for (key, value) in keys.into_iter().flatten() {
            classes = control::classes(&classes, &value)?;
            recipe.overrides.push(change(key.extract()?, &value)?);
        }
        recipe.controllers = Run::new(py, &classes)?.controllers;
        match recipe.read() {
            Ok(found) => Ok(Scenario { found, recipe, classes }),
            Err(error) => {
                let lines: Vec<_> = error.problems.iter().map(by_key).collect();
                Err(ScenarioError::new_err(lines.join("\n")))
            }
        }
    }

    /// This scenario, whose schemes may also name these controllers.
    ///
    /// Raises ScenarioError for a name that is taken.
    #[pyo3(signature = (*controllers))]
    fn with_controllers(&self, py: Python<'_>, controllers: &Bound<'_, PyTuple>) -> PyResult<Scenario> {
        read(py, self.recipe.clone(), control::classes(&self.classes, controllers)?)
    }

    fn __repr__(&self) -> String {
        let found = &self.found;
        let links = self.links().join(", ");
        let (schemes, seeds) = (found.schemes.join(", "), found.seeds);
        format!("<Scenario {}: link {links}; {schemes}; {seeds} seeds of {}>", found.name, found.duration)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.to_toml()).hash()
    }

    /// Immutable, so it is its own copy.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let restore = py.import("airtcp._engine")?.getattr("_restore_scenario")?;
        Ok((restore, (self.recipe_json()?, self.controllers(py))))
    }

    /// Python congestion controls that its schemes may name.
    #[getter]
    fn controllers(&self, py: Python<'_>) -> Vec<Py<PyType>> {
        self.classes.iter().map(|class| class.kind.clone_ref(py)).collect()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.found.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.found.description
    }

    /// Simulated time of each run.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.found.duration.as_secs_f64()
    }

    /// Runs per scheme.
    #[getter]
    fn seeds(&self) -> u32 {
        self.found.seeds
    }

    /// The first seed; the others follow it.
    #[getter]
    fn seed(&self) -> u64 {
        self.found.seed
    }

    #[getter]
    fn schemes(&self) -> Vec<String> {
        self.found.schemes.clone()
    }

    #[getter]
    fn profile(&self) -> &str {
        &self.found.profile
    }

    /// Names, in path order.
    #[getter]
    fn links(&self) -> Vec<&str> {
        self.found.links.iter().map(|link| link.name.as_str()).collect()
    }

    /// The complete scenario as a file, with every default written out.
    fn to_toml(&self) -> String {
        self.found.to_toml()
    }

    /// Its source and the files that it names, as JSON, for `airtcpd run` to read.
    ///
    /// Python congestion controls are not included.
    fn recipe_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.recipe).map_err(not_a_recipe)
    }

    /// Round trips in seconds of packets that all wait at the beginning, sent one after the other.
    ///
    /// Each is the packet's time at the transmitter, as in a run with that seed, plus the link's delay in
    /// both directions, without loss and jitter. Fewer are returned if the link serves no more. Raises
    /// ScenarioError for a link that does not exist.
    #[pyo3(signature = (link, seed, *, packet_bytes, packets))]
    fn round_trips(&self, link: &str, seed: u64, packet_bytes: u32, packets: usize) -> PyResult<Vec<f64>> {
        let scenario = self.found.for_seed(seed);
        let found =
            scenario.links.iter().find(|known| known.name == link).ok_or_else(|| self.unknown(link))?;
        let times = airtcp_sim::round_trips(found, &Chances::new(seed), packet_bytes, packets);
        Ok(times.iter().map(|time| time.as_secs_f64()).collect())
    }

    /// Runs `scheme` once, without the GIL.
    ///
    /// The same scheme and seed give the same record on any machine. With `series_interval_s`, the record
    /// has time series with that spacing. With `pcap`, the packets of `pcap_link` (default: the first link)
    /// are written to that file as pcapng. With `no_shortcuts`, the engine handles every packet the general
    /// way: only `events` differs. Raises ScenarioError for a scheme or a link that does not exist,
    /// Cancelled, which names the hook that was running, and OSError.
    #[pyo3(signature = (
        scheme, seed, *, series_interval_s = None, pcap = None, pcap_link = None, no_shortcuts = false, cancel = None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn run(
        &self,
        py: Python<'_>,
        scheme: &Bound<'_, PyAny>,
        seed: u64,
        series_interval_s: Option<f64>,
        pcap: Option<PathBuf>,
        pcap_link: Option<String>,
        no_shortcuts: bool,
        cancel: Option<&CancelToken>,
    ) -> PyResult<Record> {
        let own = Run::new(py, &control::classes(&self.classes, scheme)?)?;
        let fault = &own.fault;
        let scheme = Scheme::parse_with(&control::name(scheme)?, &self.found.profile, &own.controllers)
            .map_err(|error| ScenarioError::new_err(error.to_string()))?;
        if let Some(cancel) = cancel {
            cancel.watch(&fault.thread);
        }
        let options = RunOptions {
            series: series_interval_s.map(Dur::from_secs_f64),
            captures: pcap.map(|path| self.capture(&path, pcap_link)).transpose()?.into_iter().collect(),
            cancel: cancel.map(CancelToken::flag).into_iter().chain([fault.flag()]).collect(),
            controllers: own.controllers.clone(),
            no_shortcuts,
            ..RunOptions::default()
        };
        let outcome = py.detach(|| run(&self.found, &scheme, seed, options));
        if let Some(raised) = fault.take() {
            let is_cancelled = cancel.is_some_and(CancelToken::is_cancelled);
            return Err(if is_cancelled { raised.into_cancelled() } else { raised.into_error(py)? });
        }
        let outcome = outcome.map_err(error)?;
        let series = outcome.series.unwrap_or_default();
        Ok(Record { record: outcome.record, series, unheard: own.unheard() })
    }
}

impl Scenario {
    /// Creates the file only if the link exists.
    fn capture(&self, path: &Path, link: Option<String>) -> PyResult<Capture> {
        let link = link.unwrap_or_else(|| self.found.links[0].name.clone());
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

/// Called by a pickle.
#[pyfunction(name = "_restore_scenario")]
pub fn restore_scenario(py: Python<'_>, recipe: &str, controllers: Kinds<'_>) -> PyResult<Scenario> {
    read(py, serde_json::from_str(recipe).map_err(not_a_recipe)?, described(controllers)?)
}

fn described(controllers: Kinds<'_>) -> PyResult<Vec<Arc<Class>>> {
    controllers.into_iter().try_fold(Vec::new(), |known, kind| control::classes(&known, &kind))
}

/// Names the file, as Python's own errors do.
fn unreadable(error: &io::Error, path: &Path) -> PyErr {
    let said = error.to_string();
    let reason = said.split(" (os error").next().unwrap_or(&said).to_owned();
    PyOSError::new_err((error.raw_os_error(), reason, path.to_string_lossy().into_owned()))
}

fn not_a_recipe(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn read(py: Python<'_>, mut recipe: Recipe, classes: Vec<Arc<Class>>) -> PyResult<Scenario> {
    recipe.controllers = Run::new(py, &classes)?.controllers;
    match recipe.read() {
        Ok(found) => Ok(Scenario { found, recipe, classes }),
        Err(error) => Err(ScenarioError::new_err(error.to_string())),
    }
}

fn change(key: String, value: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
    let value = values::override_value(&key, value).map_err(ScenarioError::new_err)?;
    Ok((key, value))
}

/// Words a problem for a key changed in Python: without `--set`.
fn by_key(problem: &Problem) -> String {
    match &problem.source {
        Source::Override { key, .. } if problem.key.is_empty() => format!("{key}: {}", problem.message),
        Source::Override { .. } => Problem { source: Source::Values, ..problem.clone() }.to_string(),
        _ => problem.to_string(),
    }
}

fn error(error: RunError) -> PyErr {
    match error {
        RunError::Cancelled => Cancelled::new_err(()),
        RunError::Capture(error) => error.into(),
        error => ScenarioError::new_err(error.to_string()),
    }
}
