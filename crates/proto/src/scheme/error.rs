//! Errors in schemes.

use crate::cc::RegistryError;
use airtcp_wire::spelling::hint;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SchemeError {
    #[error("scheme `{text}`: unknown name `{name}`{}; known: {known}", hint(.nearest))]
    UnknownName { text: String, name: String, nearest: Option<String>, known: String },
    #[error("scheme `{text}`: `{part}` is not `key=value`")]
    NotAPair { text: String, part: String },
    #[error("scheme `{text}`: unknown profile `{name}`{}; known: {known}", hint(.nearest))]
    UnknownProfile { text: String, name: String, nearest: Option<String>, known: String },
    #[error("scheme `{text}`: unknown queue `{name}`{}; known: {known}", hint(.nearest))]
    UnknownQueue { text: String, name: String, nearest: Option<String>, known: String },
    #[error("scheme `{text}`: unknown key `{key}`{}; allowed: {known}", hint(.nearest))]
    UnknownKey { text: String, key: String, nearest: Option<String>, known: String },
    #[error("scheme `{text}`: {key} = `{value}`: {problem}{}", hint(.nearest))]
    BadValue { text: String, key: String, value: String, problem: String, nearest: Option<String> },
    #[error("scheme `{text}`: {source}")]
    Registry { text: String, source: Box<RegistryError> },
    #[error("scheme `{text}`: `{first}` and `{second}` cannot be combined: {why}; keep one of them")]
    Clash { text: String, first: String, second: String, why: &'static str },
    #[error("scheme `{text}`: `{name}`: {problem}")]
    BadPart { text: String, name: String, problem: String },
}
