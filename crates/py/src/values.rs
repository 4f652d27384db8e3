//! Converts Python values to those of a scenario file.

use crate::control::Window;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyMapping, PyString, PyTuple, PyType};
use std::path::PathBuf;
use toml::{Table, Value};

/// Converts a dict to a table.
///
/// # Errors
/// `ScenarioError` for a value that has no form in a file; it names the key.
pub fn table(keys: &Bound<'_, PyDict>) -> Result<Table, String> {
    keys.iter().map(|(key, value)| Ok((key.to_string(), at_key("", &key.to_string(), &value)?))).collect()
}

/// Converts an override's value: text as after `=` in `--set`, anything else as a value.
///
/// # Errors
/// As [`table`].
pub fn override_value(key: &str, value: &Bound<'_, PyAny>) -> Result<String, String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_string()),
        Err(_) => at_key("", key, value).map(|value| value.to_string()),
    }
}

fn at_key(parent: &str, key: &str, value: &Bound<'_, PyAny>) -> Result<Value, String> {
    let path = if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") };
    converted(&path, value)
}

fn converted(path: &str, value: &Bound<'_, PyAny>) -> Result<Value, String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_string()));
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Boolean(truth.is_true()));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        return mapping_at(path, mapping);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter().map_err(|error| format!("{path}: {error}"))?;
        let one = |(index, item): (usize, PyResult<Bound<'_, PyAny>>)| {
            converted(&format!("{path}[{index}]"), &item.map_err(|error| format!("{path}: {error}"))?)
        };
        return items.enumerate().map(one).collect::<Result<_, _>>().map(Value::Array);
    }
    if let Ok(class) = value.cast::<PyType>() {
        return scheme(class).ok_or_else(|| refusal(path, value));
    }
    scalar(value).ok_or_else(|| refusal(path, value))
}

fn mapping_at(path: &str, mapping: &Bound<'_, PyMapping>) -> Result<Value, String> {
    let items = mapping.items().map_err(|error| format!("{path}: {error}"))?;
    let pair = |item: Bound<'_, PyAny>| {
        let (key, value): (String, Bound<'_, PyAny>) =
            item.extract().map_err(|_| format!("{path}: keys must be text"))?;
        at_key(path, &key, &value).map(|value| (key, value))
    };
    items.iter().map(pair).collect::<Result<_, _>>().map(Value::Table)
}

/// The class of a congestion control stands for its name.
fn scheme(class: &Bound<'_, PyType>) -> Option<Value> {
    let name = class.getattr("name").ok()?.extract().ok()?;
    class.is_subclass_of::<Window>().ok()?.then_some(Value::String(name))
}

/// Converts NumPy's numbers too, and takes objects with `__fspath__` as paths.
fn scalar(value: &Bound<'_, PyAny>) -> Option<Value> {
    let integer = || value.extract().ok().map(Value::Integer);
    if value.is_instance_of::<PyInt>() {
        return integer();
    }
    let float = || value.extract().ok().map(Value::Float);
    let path = || value.extract::<PathBuf>().ok()?.into_os_string().into_string().ok().map(Value::String);
    integer().or_else(float).or_else(path)
}

fn refusal(path: &str, value: &Bound<'_, PyAny>) -> String {
    let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    match kind.as_str() {
        "NoneType" => format!("{path}: None is not a value; omit the key"),
        "int" => format!("{path}: the number is too large"),
        _ => format!("{path}: a scenario cannot hold a value of type {kind}"),
    }
}
