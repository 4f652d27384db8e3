//! Schemes: named ways to carry data, written `name[:key=value]*`.
//!
//! The name is a congestion control of the registry, or one of the [`COMBINATIONS`]. The keys change the profile that
//! the scheme starts from: `profile` names another one, any key of [`TcpConfig`] sets that key (dotted inside `rto`),
//! and any parameter of the congestion control sets that. Example: `reno:profile=bsd-1998:rto.min=1s:recovery=newreno`.

mod keys;

pub use keys::{KeyDoc, keys};

use crate::cc::RegistryError;
use crate::cc::registry::{self, ControllerSpec};
use crate::tcp::{TcpConfig, profile};

/// A scheme with everything resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// As it was written; names the scheme in results.
    pub label: String,
    pub config: TcpConfig,
}

/// A name for a few keys that belong together.
pub struct SchemeSpec {
    pub name: &'static str,
    /// One line for `airtcp schemes`.
    pub summary: &'static str,
    pub source: &'static str,
    pub changes: &'static [(&'static str, &'static str)],
}

/// The named combinations, in the order in which they are listed to people.
pub const COMBINATIONS: &[SchemeSpec] = &[
    SchemeSpec {
        name: "tahoe",
        summary: "Reno's window, and slow start from one segment after every loss",
        source: "Jacobson 1988",
        changes: &[("congestion_control", "reno"), ("recovery", "tahoe"), ("sack", "false")],
    },
    SchemeSpec {
        name: "newreno",
        summary: "Reno's window; partial ACKs keep recovery going, no SACK",
        source: "RFC 6582",
        changes: &[("congestion_control", "reno"), ("recovery", "newreno"), ("sack", "false")],
    },
    SchemeSpec {
        name: "sack",
        summary: "Reno's window with SACK-based recovery",
        source: "RFC 6675",
        changes: &[("congestion_control", "reno"), ("recovery", "sack"), ("sack", "true")],
    },
    SchemeSpec {
        name: "rack",
        summary: "Reno's window with RACK-TLP's time-based recovery",
        source: "RFC 8985",
        changes: &[("congestion_control", "reno"), ("recovery", "rack-tlp"), ("sack", "true")],
    },
    SchemeSpec {
        name: "eifel",
        summary: "Reno's window; spurious retransmissions found by timestamps and undone",
        source: "RFC 3522, RFC 4015",
        changes: &[("congestion_control", "reno"), ("timestamps", "true"), ("eifel", "true")],
    },
    SchemeSpec {
        name: "f-rto",
        summary: "Reno's window; spurious timeouts found by the ACKs that follow and undone",
        source: "RFC 5682, RFC 4015",
        changes: &[("congestion_control", "reno"), ("f_rto", "true"), ("eifel", "false")],
    },
];

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SchemeError {
    #[error("scheme `{text}`: unknown name `{name}`{}; known: {known}", hint(.nearest))]
    UnknownName { text: String, name: String, nearest: Option<String>, known: String },
    #[error("scheme `{text}`: `{part}` is not `key=value`")]
    NotAPair { text: String, part: String },
    #[error("scheme `{text}`: unknown profile `{name}`{}; known: {known}", hint(.nearest))]
    UnknownProfile { text: String, name: String, nearest: Option<String>, known: String },
    #[error("scheme `{text}`: unknown key `{key}`{}; allowed: {known}", hint(.nearest))]
    UnknownKey { text: String, key: String, nearest: Option<String>, known: String },
    #[error("scheme `{text}`: {key} = `{value}`: {problem}{}", hint(.nearest))]
    BadValue { text: String, key: String, value: String, problem: String, nearest: Option<String> },
    #[error("scheme `{text}`: {source}")]
    Registry { text: String, source: RegistryError },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

impl Scheme {
    /// Reads a scheme; `default_profile` is the profile of one that does not name its own.
    ///
    /// # Errors
    /// [`SchemeError`], which names the key, what is allowed, and the nearest spelling.
    pub fn parse(text: &str, default_profile: &str) -> Result<Scheme, SchemeError> {
        let mut parts = text.split(':').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let pairs = parts
            .filter(|part| !part.is_empty())
            .map(|part| pair(text, part))
            .collect::<Result<Vec<(&str, &str)>, SchemeError>>()?;

        let profile = pairs.iter().rev().find(|(key, _)| *key == "profile");
        let mut config = profile_config(text, profile.map_or(default_profile, |(_, value)| value))?;
        for (key, value) in changes_of(text, name)? {
            keys::set(&mut config, text, key, value)?;
        }
        for (key, value) in pairs.iter().filter(|(key, _)| *key != "profile") {
            keys::set(&mut config, text, key, value)?;
        }
        check_controller(text, &config)?;
        Ok(Scheme { label: text.to_owned(), config })
    }
}

fn pair<'a>(text: &str, part: &'a str) -> Result<(&'a str, &'a str), SchemeError> {
    let (key, value) = part
        .split_once('=')
        .ok_or_else(|| SchemeError::NotAPair { text: text.to_owned(), part: part.to_owned() })?;
    Ok((key.trim(), value.trim()))
}

fn profile_config(text: &str, name: &str) -> Result<TcpConfig, SchemeError> {
    let names = || profile::PROFILES.iter().map(|profile| profile.name);
    match profile::find(name) {
        Some(profile) => Ok((profile.config)()),
        None => Err(SchemeError::UnknownProfile {
            text: text.to_owned(),
            name: name.to_owned(),
            nearest: registry::nearest(name, names()),
            known: names().collect::<Vec<_>>().join(", "),
        }),
    }
}

/// What the scheme's name changes in the profile.
fn changes_of(text: &str, name: &str) -> Result<Vec<(&'static str, &'static str)>, SchemeError> {
    if let Some(spec) = COMBINATIONS.iter().find(|spec| spec.name == name) {
        return Ok(spec.changes.to_vec());
    }
    match registry::find(name) {
        Ok(ControllerSpec { name, .. }) => Ok(vec![("congestion_control", name)]),
        Err(_) => Err(SchemeError::UnknownName {
            text: text.to_owned(),
            name: name.to_owned(),
            nearest: registry::nearest(name, names()),
            known: names().collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Every name that a scheme may begin with: the controllers, then the combinations.
pub fn names() -> impl Iterator<Item = &'static str> {
    let controllers = registry::controllers().iter().map(|spec| spec.name);
    controllers.chain(COMBINATIONS.iter().map(|spec| spec.name))
}

fn check_controller(text: &str, config: &TcpConfig) -> Result<(), SchemeError> {
    registry::find(&config.congestion_control)
        .and_then(|spec| registry::values(spec, &config.cc))
        .map(|_| ())
        .map_err(|source| SchemeError::Registry { text: text.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Recovery;
    use airtcp_wire::Dur;

    fn error(text: &str) -> String {
        Scheme::parse(text, "linux").unwrap_err().to_string()
    }

    #[test]
    fn keys_change_the_profile() {
        let scheme = Scheme::parse("reno:rto.min=1s:recovery=newreno:profile=bsd-1998", "linux").unwrap();
        assert_eq!(scheme.config.rto.min, Dur::from_secs(1));
        assert_eq!(scheme.config.recovery, Recovery::Newreno);
        assert_eq!(scheme.config.rto.granularity, Dur::from_millis(500));
        assert!(!scheme.config.timestamps);
    }

    #[test]
    fn a_bare_name_is_the_default_profile_with_that_controller() {
        let config = TcpConfig { congestion_control: "reno".to_owned(), ..profile::linux() };
        assert_eq!(Scheme::parse("reno", "linux").unwrap().config, config);
    }

    #[test]
    fn optional_keys_can_be_set() {
        assert_eq!(
            Scheme::parse("reno:initial_ssthresh=20", "rfc").unwrap().config.initial_ssthresh,
            Some(20)
        );
    }

    #[test]
    fn every_combination_resolves_on_every_profile() {
        for profile in profile::PROFILES {
            for name in names() {
                Scheme::parse(name, profile.name).unwrap();
            }
        }
    }

    #[test]
    fn no_name_and_no_parameter_is_ambiguous() {
        let keys = keys();
        for spec in registry::controllers() {
            assert!(COMBINATIONS.iter().all(|combination| combination.name != spec.name), "{}", spec.name);
            for param in spec.params {
                assert!(keys.iter().all(|key| key.name != param.name), "{}.{}", spec.name, param.name);
            }
        }
    }

    #[test]
    fn errors_name_the_key_what_is_allowed_and_the_nearest_spelling() {
        assert!(error("remo").contains("did you mean `reno`?"));
        assert!(error("reno:profile=linus").contains("did you mean `linux`?"));
        assert!(error("reno:rto.mim=1s").contains("did you mean `rto.min`?"));
        assert!(error("reno:recovery=newremo").contains("did you mean `newreno`?"));
        assert!(error("reno:rto.min=1").contains("no unit"));
        assert!(error("reno:sack=maybe").contains("sack = `maybe`"));
        assert!(error("reno:sack").contains("`sack` is not `key=value`"));
        assert!(error("reno:cc=1").contains("unknown key `cc`"));
    }
}
