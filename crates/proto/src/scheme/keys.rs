//! The keys of a scheme. They are read from the JSON Schema of what they configure, so that a new field is a new key.

use super::SchemeError;
use super::terms::Term;
use crate::cc::Controller;
use crate::tcp::TcpConfig;
use airtcp_wire::spelling;
use serde_json::{Map, Value};

/// One key with its documentation.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct KeyDoc {
    /// Dotted inside `rto`.
    pub name: String,
    pub doc: String,
    /// The allowed words, if only certain words are allowed.
    pub allowed: Vec<String>,
    /// An example, if the value has a unit.
    pub example: Option<String>,
    /// The default value as it would be written; `None` if the key is absent by default.
    pub default: Option<String>,
    #[serde(skip)]
    is_text: bool,
}

impl KeyDoc {
    /// This key under another name.
    pub fn called(&self, name: &str) -> KeyDoc {
        KeyDoc { name: name.to_owned(), ..self.clone() }
    }
}

/// Every key of [`TcpConfig`] that a scheme can set, by name.
pub fn keys() -> Vec<KeyDoc> {
    keys_of(&schemars::schema_for!(TcpConfig).to_value())
}

/// Every key of the type that `schema` describes, by name.
pub fn keys_of(schema: &Value) -> Vec<KeyDoc> {
    let mut keys = Vec::new();
    collect(schema, schema, "", &mut keys);
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

/// The schema to which a property refers, even if the property is optional.
fn resolve<'a>(root: &'a Value, property: &'a Value) -> &'a Value {
    let reference = property["$ref"].as_str().or_else(|| property["anyOf"][0]["$ref"].as_str());
    match reference.and_then(|path| path.strip_prefix('#')) {
        Some(pointer) => root.pointer(pointer).unwrap_or(property),
        None => property,
    }
}

fn key_doc(name: String, property: &Value, target: &Value) -> KeyDoc {
    let words = |value: &Value| value.as_array().cloned().unwrap_or_default();
    // Words without a description of their own share one alternative.
    let documented = |option: Value| words(&option["enum"]).into_iter().chain([option["const"].clone()]);
    let constants = words(&target["oneOf"]).into_iter().flat_map(documented);
    let allowed = words(&target["enum"]).into_iter().chain(constants);
    KeyDoc {
        name,
        doc: property["description"]
            .as_str()
            .or(target["description"].as_str())
            .unwrap_or("")
            .replace('\n', " "),
        allowed: allowed.filter_map(|word| written(&word)).collect(),
        example: target["examples"][0].as_str().map(str::to_owned),
        default: written(&property["default"]),
        is_text: target["type"] == "string" || target["oneOf"].is_array(),
    }
}

/// A scalar as it is written in a scheme.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The tree with one key changed. `None` if there is no such key.
pub(super) fn with_key(mut tree: Value, keys: &[KeyDoc], key: &str, value: &str) -> Option<Value> {
    let doc = keys.iter().find(|doc| doc.name == key)?;
    let scalar = match serde_json::from_str(value) {
        Ok(scalar) if !doc.is_text => scalar,
        _ => Value::String(value.to_owned()),
    };
    *doc.name.split('.').fold(&mut tree, |node, name| &mut node[name]) = scalar;
    Some(tree)
}

/// Sets `key`, one of [`keys`] or a parameter of the congestion control, in `config`.
pub(super) fn set(
    config: &mut TcpConfig,
    term: &Term<'_>,
    key: &str,
    value: &str,
) -> Result<(), SchemeError> {
    let keys = keys();
    let tree = serde_json::to_value(&*config).expect("a configuration is plain data");
    if let Some(tree) = with_key(tree, &keys, key, value) {
        let changed: TcpConfig = serde_json::from_value(tree)
            .map_err(|problem| bad_value(term.text, &keys, key, value, problem))?;
        *config = TcpConfig { controllers: std::mem::take(&mut config.controllers), ..changed };
        return Ok(());
    }
    let controller = config.controllers.find(&config.congestion_control).ok();
    let params = controller.as_ref().map(Controller::params).unwrap_or_default();
    if params.iter().all(|param| param.name != key) {
        let params = params.iter().map(|param| param.name);
        return Err(unknown_key(term, key, params.chain(keys.iter().map(|doc| doc.name.as_str()))));
    }
    let number = value.parse().map_err(|_| SchemeError::BadValue {
        text: term.text.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
        problem: "not a number".to_owned(),
        nearest: None,
    })?;
    config.cc.insert(key.to_owned(), number);
    Ok(())
}

pub(super) fn bad_value(
    text: &str,
    keys: &[KeyDoc],
    key: &str,
    value: &str,
    problem: serde_json::Error,
) -> SchemeError {
    let allowed = keys.iter().filter(|doc| doc.name == key).flat_map(|doc| &doc.allowed);
    SchemeError::BadValue {
        text: text.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
        problem: problem.to_string(),
        nearest: spelling::nearest(value, allowed.map(String::as_str)),
    }
}

/// `known` are the keys of the stack. The message lists the keys of the term itself before them.
fn unknown_key<'a>(term: &Term<'_>, key: &str, known: impl Iterator<Item = &'a str>) -> SchemeError {
    let own = term.own_keys();
    let known = known.map(str::to_owned);
    let names: Vec<String> = std::iter::once("profile".to_owned()).chain(own).chain(known).collect();
    SchemeError::UnknownKey {
        text: term.text.to_owned(),
        key: key.to_owned(),
        nearest: spelling::nearest(key, names.iter().map(String::as_str)),
        known: names.join(", "),
    }
}
