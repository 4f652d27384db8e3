//! What a congestion control from outside may be called: nothing that a scheme could mean already.

use super::{keys, names};
use crate::cc::{Controllers, Given};
use std::sync::Arc;

/// Why a controller cannot be given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GivenError {
    #[error("`{name}` is no name: write lower-case letters, digits, `-` and `_`, a letter first")]
    NotAName { name: String },
    #[error("`{name}` is the name of a scheme already; see `airtcp schemes`, and choose another")]
    Taken { name: String },
    #[error("two congestion controls are called `{name}`")]
    Twice { name: String },
    #[error("`{controller}`: parameter `{name}` has the name of a key of the stack; choose another")]
    ParamTaken { controller: String, name: String },
}

/// The registry with `given` beside it.
///
/// # Errors
/// [`GivenError`] for a name, of a controller or of a parameter, that is taken or cannot stand in a scheme.
pub fn controllers(given: Vec<Arc<dyn Given>>) -> Result<Controllers, GivenError> {
    for (index, one) in given.iter().enumerate() {
        check_name(one.name())?;
        if given[..index].iter().any(|other| other.name() == one.name()) {
            return Err(GivenError::Twice { name: one.name().to_owned() });
        }
        check_params(one.as_ref())?;
    }
    Ok(Controllers::new(given))
}

fn check_name(name: &str) -> Result<(), GivenError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_plain) {
        return Err(GivenError::NotAName { name: name.to_owned() });
    }
    // No scheme can name it, but the configuration of a circuit's connections does.
    let unlimited = crate::cc::unlimited::SPEC.name;
    match names().chain([unlimited]).any(|other| other == name) {
        true => Err(GivenError::Taken { name: name.to_owned() }),
        false => Ok(()),
    }
}

fn check_params(given: &dyn Given) -> Result<(), GivenError> {
    let stack = keys();
    let is_taken = |name: &str| name == "profile" || stack.iter().any(|key| key.name == name);
    match given.params().iter().find(|param| is_taken(param.name)) {
        Some(param) => {
            Err(GivenError::ParamTaken { controller: given.name().to_owned(), name: param.name.to_owned() })
        }
        None => Ok(()),
    }
}
