//! The controllers by name. A new controller is one file and one line here; the command line, the documentation,
//! the conformance tests and the fuzzer find it in this list.

use super::{
    Build, CongestionControl, bbr, cubic, hybla, jersey, reno, spec, unlimited, vegas, veno, westwood,
};
use std::collections::BTreeMap;

/// A numeric parameter of a controller.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub name: &'static str,
    pub default: f64,
    /// Inclusive bounds.
    pub min: f64,
    pub max: f64,
    /// What it is, with its unit and its source.
    pub doc: &'static str,
}

/// One entry of the registry.
pub struct ControllerSpec {
    pub name: &'static str,
    /// One line for `airtcp schemes`.
    pub summary: &'static str,
    /// RFC, draft or paper with section.
    pub source: &'static str,
    pub params: &'static [Param],
    /// Keys of the stack that it needs.
    pub changes: &'static [(&'static str, &'static str)],
    pub build: fn(&Build, &Values) -> Box<dyn CongestionControl>,
}

/// Every controller, in the order in which they are listed to people.
pub fn controllers() -> &'static [&'static ControllerSpec] {
    &[
        &reno::SPEC,
        &cubic::SPEC,
        &vegas::SPEC,
        &veno::SPEC,
        &westwood::original::SPEC,
        &westwood::nr::SPEC,
        &westwood::plus::SPEC,
        &westwood::vt::SPEC,
        &hybla::SPEC,
        &jersey::original::SPEC,
        &jersey::new::SPEC,
        &spec::SPEC,
        &bbr::v1::SPEC,
        &bbr::v3::SPEC,
    ]
}

/// Checked parameter values: every parameter of the controller is present.
#[derive(Clone, Debug, Default)]
pub struct Values(BTreeMap<&'static str, f64>);

impl Values {
    /// # Panics
    /// If the controller has no such parameter: a mistake in its own file.
    pub fn get(&self, name: &str) -> f64 {
        *self.0.get(name).unwrap_or_else(|| panic!("parameter `{name}` is not declared"))
    }
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RegistryError {
    #[error("unknown congestion control `{name}`{}; known: {known}", hint(.nearest))]
    UnknownController { name: String, nearest: Option<String>, known: String },
    #[error("`{controller}` has no parameter `{name}`{}; it has: {known}", hint(.nearest))]
    UnknownParam { controller: &'static str, name: String, nearest: Option<String>, known: String },
    #[error("`{controller}`: {name} = {value} is out of range: {min} to {max}")]
    OutOfRange { controller: &'static str, name: &'static str, value: f64, min: f64, max: f64 },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// The candidate spelled most like `name`, if any is near.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 3)
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

/// Looks a controller up.
///
/// # Errors
/// [`RegistryError::UnknownController`] with the nearest name.
pub fn find(name: &str) -> Result<&'static ControllerSpec, RegistryError> {
    controllers().iter().copied().find(|spec| spec.name == name).ok_or_else(|| {
        RegistryError::UnknownController {
            name: name.to_owned(),
            nearest: nearest(name, controllers().iter().map(|spec| spec.name)),
            known: controllers().iter().map(|spec| spec.name).collect::<Vec<_>>().join(", "),
        }
    })
}

/// The controller that a connection's configuration names: one of the registry, or none at all.
pub(crate) fn find_or_unlimited(name: &str) -> Result<&'static ControllerSpec, RegistryError> {
    if name == unlimited::SPEC.name { Ok(&unlimited::SPEC) } else { find(name) }
}

/// Checks `given` against the controller's parameters and fills in the defaults.
///
/// # Errors
/// [`RegistryError`] for an unknown name or a value out of range.
pub fn values(spec: &'static ControllerSpec, given: &BTreeMap<String, f64>) -> Result<Values, RegistryError> {
    let mut values: BTreeMap<_, _> = spec.params.iter().map(|param| (param.name, param.default)).collect();
    for (name, &value) in given {
        let param = spec.params.iter().find(|param| param.name == name).ok_or_else(|| {
            RegistryError::UnknownParam {
                controller: spec.name,
                name: name.clone(),
                nearest: nearest(name, spec.params.iter().map(|param| param.name)),
                known: spec.params.iter().map(|param| param.name).collect::<Vec<_>>().join(", "),
            }
        })?;
        if !(param.min..=param.max).contains(&value) {
            let Param { name, min, max, .. } = *param;
            return Err(RegistryError::OutOfRange { controller: spec.name, name, value, min, max });
        }
        values.insert(param.name, value);
    }
    Ok(Values(values))
}

/// Builds the controller called `name` with the parameters `given`.
///
/// # Errors
/// [`RegistryError`] for an unknown controller or parameter, or a value out of range.
pub fn build(
    name: &str,
    given: &BTreeMap<String, f64>,
    build: &Build,
) -> Result<Box<dyn CongestionControl>, RegistryError> {
    let spec = find(name)?;
    Ok((spec.build)(build, &values(spec, given)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, value: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([(name.to_owned(), value)])
    }

    #[test]
    fn wrong_names_get_the_nearest_one() {
        let message = |name| find(name).map(|spec| spec.name).unwrap_err().to_string();
        assert!(message("cubik").contains("did you mean `cubic`?"));
        assert!(message("quantum").contains("known: "));
        let error = values(find("cubic").unwrap(), &given("betta", 0.5)).unwrap_err();
        assert!(error.to_string().contains("did you mean `beta`?"), "{error}");
    }

    #[test]
    fn values_are_checked_and_defaults_filled_in() {
        let cubic = find("cubic").unwrap();
        let values_of = |value| values(cubic, &given("beta", value));
        assert!(matches!(values_of(1.5), Err(RegistryError::OutOfRange { name: "beta", .. })));
        assert!(matches!(values_of(f64::NAN), Err(RegistryError::OutOfRange { .. })));
        let values = values_of(0.5).unwrap();
        assert_eq!((values.get("beta"), values.get("c")), (0.5, 0.4));
    }
}
