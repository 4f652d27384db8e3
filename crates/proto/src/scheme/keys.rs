//! The keys of a scheme, taken from [`TcpConfig`]'s schema so that a new field is a new key.

use super::SchemeError;
use crate::cc::registry;
use crate::tcp::TcpConfig;
use serde_json::{Map, Value};

/// One key with its documentation.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct KeyDoc {
    /// Dotted inside `rto`.
    pub name: String,
    pub doc: String,
    /// The words that are allowed, where only certain words are.
    pub allowed: Vec<String>,
    /// An example of the value, where it carries a unit.
    pub example: Option<String>,
    #[serde(skip)]
    is_text: bool,
}

/// Every key of [`TcpConfig`] that a scheme can set, by name.
pub fn keys() -> Vec<KeyDoc> {
    let schema = schemars::schema_for!(TcpConfig).to_value();
    let mut keys = Vec::new();
    collect(&schema, &schema, "", &mut keys);
    keys
}

fn collect(root: &Value, object: &Value, prefix: &str, keys: &mut Vec<KeyDoc>) {
    let none = Map::new();
    for (name, property) in object["properties"].as_object().unwrap_or(&none) {
        let target = resolve(root, property);
        let name = format!("{prefix}{name}");
        if target["properties"].is_object() {
            collect(root, target, &format!("{name}."), keys);
        } else if name != "cc" {
            keys.push(key_doc(name, property, target));
        }
    }
}

fn resolve<'a>(root: &'a Value, property: &'a Value) -> &'a Value {
    match property["$ref"].as_str().and_then(|path| path.strip_prefix('#')) {
        Some(pointer) => root.pointer(pointer).unwrap_or(property),
        None => property,
    }
}

fn key_doc(name: String, property: &Value, target: &Value) -> KeyDoc {
    let words = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let constants = words(&target["oneOf"]).into_iter().map(|option| option["const"].clone());
    let allowed = words(&target["enum"]).into_iter().chain(constants);
    KeyDoc {
        name,
        doc: property["description"]
            .as_str()
            .or(target["description"].as_str())
            .unwrap_or("")
            .replace('\n', " "),
        allowed: allowed.filter_map(|word| word.as_str().map(str::to_owned)).collect(),
        example: target["examples"][0].as_str().map(str::to_owned),
        is_text: target["type"] == "string" || target["oneOf"].is_array(),
    }
}

/// Sets `key`, one of [`keys`] or a parameter of the congestion control, in `config`.
pub(super) fn set(config: &mut TcpConfig, text: &str, key: &str, value: &str) -> Result<(), SchemeError> {
    let keys = keys();
    if let Some(doc) = keys.iter().find(|doc| doc.name == key) {
        *config = replaced(config, doc, value).map_err(|problem| bad_value(text, doc, value, problem))?;
        return Ok(());
    }
    let params = registry::find(&config.congestion_control).map(|spec| spec.params).unwrap_or_default();
    if params.iter().all(|param| param.name != key) {
        return Err(unknown_key(text, key, &keys, params));
    }
    let number = value.parse().map_err(|_| SchemeError::BadValue {
        text: text.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
        problem: "not a number".to_owned(),
        nearest: None,
    })?;
    config.cc.insert(key.to_owned(), number);
    Ok(())
}

/// The configuration with one key changed, by way of its serialised form.
fn replaced(config: &TcpConfig, doc: &KeyDoc, value: &str) -> Result<TcpConfig, serde_json::Error> {
    let mut tree = serde_json::to_value(config)?;
    let scalar = match serde_json::from_str(value) {
        Ok(scalar) if !doc.is_text => scalar,
        _ => Value::String(value.to_owned()),
    };
    *doc.name.split('.').fold(&mut tree, |node, name| &mut node[name]) = scalar;
    serde_json::from_value(tree)
}

fn bad_value(text: &str, doc: &KeyDoc, value: &str, problem: serde_json::Error) -> SchemeError {
    SchemeError::BadValue {
        text: text.to_owned(),
        key: doc.name.clone(),
        value: value.to_owned(),
        problem: problem.to_string(),
        nearest: registry::nearest(value, doc.allowed.iter().map(String::as_str)),
    }
}

fn unknown_key(text: &str, key: &str, keys: &[KeyDoc], params: &[registry::Param]) -> SchemeError {
    let known = || {
        let params = params.iter().map(|param| param.name);
        std::iter::once("profile").chain(params).chain(keys.iter().map(|doc| doc.name.as_str()))
    };
    SchemeError::UnknownKey {
        text: text.to_owned(),
        key: key.to_owned(),
        nearest: registry::nearest(key, known()),
        known: known().collect::<Vec<_>>().join(", "),
    }
}
