//! The JSON Schema of the scenario file, for editors and for `airtcp schema`.

use super::file::ScenarioFile;
use serde_json::Value;

/// The JSON Schema (2020-12) of the scenario file, with the documentation and the default of every key.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(ScenarioFile).to_value();
    schema["title"] = "airtcp scenario".into();
    without_null(&mut schema);
    schema
}

/// Removes null, which TOML lacks: a key is given or absent.
fn without_null(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| !(key == "default" && value.is_null()));
            for (key, value) in map.iter_mut() {
                match (key.as_str(), value) {
                    ("type" | "anyOf" | "enum", Value::Array(options)) => {
                        options.retain(|option| !is_null(option))
                    }
                    ("default", Value::Object(default)) => default.retain(|_, value| !value.is_null()),
                    _ => {}
                }
            }
            unwrap_single(map);
            map.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

fn is_null(option: &Value) -> bool {
    *option == Value::Null || *option == "null" || option.get("type").is_some_and(|kind| kind == "null")
}

/// Replaces a choice of one by its only option.
fn unwrap_single(map: &mut serde_json::Map<String, Value>) {
    if let Some([only]) = map.get("type").and_then(Value::as_array).map(Vec::as_slice) {
        map["type"] = only.clone();
    }
    if let Some([Value::Object(only)]) = map.get("anyOf").and_then(Value::as_array).map(Vec::as_slice) {
        let only = only.clone();
        map.remove("anyOf");
        map.extend(only);
    }
}
