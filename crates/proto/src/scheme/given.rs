//! Checks the names of congestion controls from outside: none may be a name that has a meaning in schemes already.

use super::{keys, names};
use crate::cc::{Controllers, Given};
use std::sync::Arc;

/// Why a controller cannot be given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GivenError {
    #[error(
        "`{name}` is not a valid name: use lower-case letters, digits, `-` and `_`, starting with a letter"
    )]
    NotAName { name: String },
    #[error("`{name}` is already the name of a scheme (see `airtcp schemes`); choose another")]
    Taken { name: String },
    #[error("two congestion controls are called `{name}`")]
    Twice { name: String },
    #[error("`{controller}`: parameter `{name}` has the name of a stack key; choose another")]
    ParamTaken { controller: String, name: String },
}

/// The registry together with the controllers `given`.
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
    // No scheme can name `unlimited`, but the configuration of a circuit's connections does.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::registry::{Param, Values, find};
    use crate::cc::{Build, CongestionControl};
    use crate::scheme::Scheme;

    struct Mine(&'static str, &'static str);

    impl Given for Mine {
        fn name(&self) -> &str {
            self.0
        }

        fn params(&self) -> Vec<Param<'_>> {
            vec![Param { name: self.1, default: 0.5, min: 0.1, max: 0.9, doc: "" }]
        }

        fn build(&self, build: &Build, values: &Values) -> Box<dyn CongestionControl> {
            assert!(values.get(self.1) > 0.0);
            (find("reno").unwrap().build)(build, &Values::default())
        }
    }

    fn given(name: &'static str, param: &'static str) -> Result<Controllers, GivenError> {
        controllers(vec![Arc::new(Mine(name, param))])
    }

    #[test]
    fn a_scheme_names_it_as_it_names_a_native_one() {
        let known = given("mine", "beta").unwrap();
        let parse = |text| Scheme::parse_with(text, "linux", &known);
        let scheme = parse("mine:rto.min=1s:beta=0.7+packet-control").unwrap();
        assert_eq!((&*scheme.config.congestion_control, scheme.config.cc["beta"]), ("mine", 0.7));
        assert_eq!(scheme.config.controllers, known);
        assert_eq!(
            parse("cubic+split:congestion_control=mine").unwrap().base_station.unwrap().tcp.controllers,
            known
        );
        let error = |text| parse(text).unwrap_err().to_string();
        assert!(error("mine:beta=1").contains("`mine`: beta = 1 is out of range"));
        assert!(error("mine:bata=1").contains("did you mean `beta`?"));
        assert!(error("mime").contains("did you mean `mine`?"));
        assert!(error("mine+reno").contains("a connection has one congestion control"));
        assert!(Scheme::parse("mine", "linux").is_err());
    }

    #[test]
    fn names_that_mean_something_else_are_refused() {
        for name in super::names().chain(["unlimited"]) {
            assert_eq!(given(name, "beta").unwrap_err(), GivenError::Taken { name: name.to_owned() });
        }
        for name in ["", "Mine", "a+b", "a:b", "a b", "7up", "a,b"] {
            assert_eq!(given(name, "beta").unwrap_err(), GivenError::NotAName { name: name.to_owned() });
        }
        for key in super::keys().into_iter().map(|key| key.name).chain(["profile".to_owned()]) {
            assert!(matches!(given("mine", key.leak()), Err(GivenError::ParamTaken { .. })));
        }
        let twice = controllers(vec![Arc::new(Mine("mine", "beta")), Arc::new(Mine("mine", "beta"))]);
        assert_eq!(twice.unwrap_err(), GivenError::Twice { name: "mine".to_owned() });
    }
}
