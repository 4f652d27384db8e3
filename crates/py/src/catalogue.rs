//! The available schemes, keys and profiles.

use airtcp_proto::base_station;
use airtcp_proto::cc::{Param, controllers};
use airtcp_proto::circuit;
use airtcp_proto::scheme::{self, CIRCUIT, KeyDoc, SchemeSpec};
use airtcp_proto::tcp::profile::PROFILES;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The engine's version.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Every scheme, in the order for display.
#[pyfunction]
pub fn schemes(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let controllers = controllers().iter().map(|spec| {
        let texts = [spec.name, "congestion control", spec.summary, spec.source];
        scheme_dict(py, texts, spec.params, spec.changes, vec![])
    });
    let combinations = scheme::COMBINATIONS.iter().map(|spec| {
        let texts = [spec.name, "keys of the stack", spec.summary, spec.source];
        scheme_dict(py, texts, &[], spec.changes, aliases(spec))
    });
    let circuit = {
        let keys = scheme::keys_of(&circuit::Config::schema());
        let texts = [CIRCUIT.name, "circuit", CIRCUIT.summary, CIRCUIT.source];
        scheme_dict(py, texts, &[], CIRCUIT.changes, keys)
    };
    let machines = base_station::all().into_iter().map(|machine| {
        let (spec, keys) = (machine.spec(), scheme::keys_of(&machine.schema()));
        let texts = [spec.name, "base station", spec.summary, spec.source];
        scheme_dict(py, texts, &[], spec.changes, keys)
    });
    controllers.chain(combinations).chain([circuit]).chain(machines).collect()
}

/// The short names that a combination gives to keys of the stack.
fn aliases(spec: &SchemeSpec) -> Vec<KeyDoc> {
    let stack = scheme::keys();
    let alias = |(name, key): &(&str, &str)| {
        let target = stack.iter().find(|doc| doc.name == *key)?;
        Some(target.called(name))
    };
    spec.aliases.iter().filter_map(alias).collect()
}

fn scheme_dict<'py>(
    py: Python<'py>,
    [name, part, summary, source]: [&str; 4],
    params: &[Param],
    changes: &[(&str, &str)],
    keys: Vec<KeyDoc>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", name)?;
    dict.set_item("part", part)?;
    dict.set_item("summary", summary)?;
    dict.set_item("source", source)?;
    let params = params.iter().map(|param| param_dict(py, param)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("params", params)?;
    let changed = PyDict::new(py);
    for (key, value) in changes {
        changed.set_item(key, value)?;
    }
    dict.set_item("changes", changed)?;
    let keys = keys.into_iter().map(|key| key_dict(py, key)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("keys", keys)?;
    Ok(dict)
}

fn param_dict<'py>(py: Python<'py>, param: &Param) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", param.name)?;
    dict.set_item("default", param.default)?;
    dict.set_item("min", param.min)?;
    dict.set_item("max", param.max)?;
    dict.set_item("doc", param.doc)?;
    Ok(dict)
}

/// Every key of the stack that a scheme may change.
#[pyfunction]
pub fn scheme_keys(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    scheme::keys().into_iter().map(|key| key_dict(py, key)).collect()
}

fn key_dict(py: Python<'_>, key: KeyDoc) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", key.name)?;
    dict.set_item("doc", key.doc)?;
    dict.set_item("allowed", key.allowed)?;
    dict.set_item("example", key.example)?;
    dict.set_item("default", key.default)?;
    Ok(dict)
}

/// Every profile.
#[pyfunction]
pub fn profiles(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    PROFILES
        .iter()
        .map(|profile| {
            let dict = PyDict::new(py);
            dict.set_item("name", profile.name)?;
            dict.set_item("summary", profile.summary)?;
            Ok(dict)
        })
        .collect()
}

/// The JSON Schema of the scenario file.
#[pyfunction]
pub fn schema() -> String {
    airtcp_sim::scenario::schema().to_string()
}
