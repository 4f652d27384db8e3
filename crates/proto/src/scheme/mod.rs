//! Schemes: named ways to carry data, written as terms joined by `+`, each `name[:key=value]*`.
//!
//! A term names a congestion control of the registry, one of the [`COMBINATIONS`] of keys, a machine of the [`base_station`], or
//! [`CIRCUIT`]. At most one term names a congestion control; the default is Reno. Keys configure what their term names. Keys that this does
//! not have configure the stack, which starts from a profile: any key of [`TcpConfig`] (dotted inside `rto`), any parameter of the
//! congestion control, and `profile` itself. If the base-station machine speaks TCP itself, keys of the stack in its term are for its own
//! stack, which is otherwise that of the end hosts.
//!
//! An `@` introduces the queue in front of the wireless link, if that is not the path's own.
//!
//! Examples: `reno:profile=bsd-1998:rto.min=1s:recovery=newreno`, `westwood-vt+packet-control`,
//! `cubic+decoupling:controls=2`, `bbr @ fq-codel`.

mod combinations;
mod error;
mod gateway_queue;
mod given;
mod keys;
mod terms;

pub use combinations::{COMBINATIONS, SchemeSpec};
pub use error::SchemeError;
pub use gateway_queue::GatewayQueue;
pub use given::{GivenError, controllers};
pub use keys::{KeyDoc, keys, keys_of};

use crate::base_station::{self, BaseStation};
use crate::cc::{self, Controllers};
use crate::circuit;
use crate::tcp::{TcpConfig, profile};
use airtcp_wire::spelling;
use serde_json::Value;
use std::borrow::Cow;
use terms::{Kind, Pair, Term};

/// A scheme with everything resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// The scheme as it was written, which is its name in results.
    pub label: String,
    /// The stack of the end hosts; with a circuit, the stack of its control TCPs.
    pub config: TcpConfig,
    pub base_station: Option<AtBaseStation>,
    pub circuit: Option<circuit::Config>,
    pub queue: Option<GatewayQueue>,
}

/// The machine at the base station.
#[derive(Clone, Debug, PartialEq)]
pub struct AtBaseStation {
    pub machine: BaseStation,
    /// The machine's own stack, if it has one.
    pub tcp: TcpConfig,
}

/// The flow goes through a TCP circuit, to which its own connection leaves congestion control.
pub const CIRCUIT: SchemeSpec = SchemeSpec {
    name: "decoupling",
    summary: "TCP decoupling: control TCPs' header packets carry the congestion control, a data TCP carries the data",
    source: "Wang & Kung 2001 (paper 000)",
    changes: &[],
    aliases: &[],
};

impl Scheme {
    /// Does the base station split the connection?
    pub fn is_split(&self) -> bool {
        self.base_station.as_ref().is_some_and(|station| station.machine.spec().has_tcp)
    }

    /// Reads a scheme. `default_profile` applies if the scheme names no profile.
    ///
    /// # Errors
    /// [`SchemeError`], which names the key, what is allowed, and the nearest spelling.
    pub fn parse(text: &str, default_profile: &str) -> Result<Scheme, SchemeError> {
        Scheme::parse_with(text, default_profile, &Controllers::default())
    }

    /// As [`Scheme::parse`]. A term may also name one of these `controllers`.
    ///
    /// # Errors
    /// As [`Scheme::parse`].
    pub fn parse_with(
        text: &str,
        default_profile: &str,
        controllers: &Controllers,
    ) -> Result<Scheme, SchemeError> {
        let (of_terms, queue) = match text.split_once('@') {
            Some((of_terms, name)) => (of_terms.trim_end(), Some(gateway_queue(text, name.trim())?)),
            None => (text, None),
        };
        let terms = terms::split(of_terms, controllers)?;
        let profile = terms.iter().rev().filter(|term| !term.has_own_stack()).find_map(|term| term.profile);
        let mut config = stack(text, &terms, profile.unwrap_or(default_profile), controllers)?;
        let mut machine = None;
        let mut circuit = None;
        for term in &terms {
            match &term.kind {
                Kind::BaseStation(default) => {
                    let (own, mut others) = own_keys(term, |tree| default.with_tree(tree))?;
                    if !term.has_own_stack() {
                        set_all(&mut config, term, &others)?;
                        others.clear();
                    }
                    machine = Some((term, own, others));
                }
                Kind::Circuit => {
                    let (own, others) = own_keys(term, serde_json::from_value::<circuit::Config>)?;
                    own.check().map_err(|problem| bad_part(term, problem))?;
                    set_all(&mut config, term, &others)?;
                    circuit = Some(own);
                }
                Kind::Controller(_) | Kind::Combination(_) => {}
            }
        }
        check_controller(text, &config)?;
        let base_station = machine
            .map(|(term, machine, own)| at_base_station(&terms, term, machine, &config, &own))
            .transpose()?;
        Ok(Scheme { label: text.to_owned(), config, base_station, circuit, queue })
    }

    /// The same scheme, whose connections take [no shortcuts](TcpConfig::no_shortcuts).
    pub fn without_shortcuts(mut self) -> Scheme {
        self.config.no_shortcuts = true;
        self.base_station.iter_mut().for_each(|station| station.tcp.no_shortcuts = true);
        self
    }

    /// The configuration of a flow's own connections: with a circuit, that of its data TCP.
    pub fn connection(&self) -> Cow<'_, TcpConfig> {
        match &self.circuit {
            Some(circuit) => Cow::Owned(circuit.data_tcp(&self.config)),
            None => Cow::Borrowed(&self.config),
        }
    }
}

fn gateway_queue(text: &str, name: &str) -> Result<GatewayQueue, SchemeError> {
    let names = || GatewayQueue::ALL.iter().copied().map(GatewayQueue::name);
    GatewayQueue::ALL.iter().copied().find(|queue| queue.name() == name).ok_or_else(|| {
        SchemeError::UnknownQueue {
            text: text.to_owned(),
            name: name.to_owned(),
            nearest: spelling::nearest(name, names()),
            known: names().collect::<Vec<_>>().join(", "),
        }
    })
}

/// The profile, with the changes for which the terms' names stand, and the keys of controllers and combinations.
fn stack(
    text: &str,
    terms: &[Term<'_>],
    profile: &str,
    controllers: &Controllers,
) -> Result<TcpConfig, SchemeError> {
    let mut config = TcpConfig { controllers: controllers.clone(), ..profile_config(text, profile)? };
    let controller = terms.iter().find_map(|term| match &term.kind {
        Kind::Controller(controller) => Some(controller.name()),
        _ => None,
    });
    config.congestion_control = controller.unwrap_or("reno").to_owned();
    for term in terms {
        set_all(&mut config, term, term.changes())?;
    }
    for term in terms {
        if matches!(term.kind, Kind::Controller(_) | Kind::Combination(_)) {
            set_all(&mut config, term, &term.pairs)?;
        }
    }
    Ok(config)
}

fn set_all(config: &mut TcpConfig, term: &Term<'_>, pairs: &[Pair<'_>]) -> Result<(), SchemeError> {
    pairs.iter().try_for_each(|(key, value)| keys::set(config, term, term.unaliased(key), value))
}

/// The configuration of what the term names, and the pairs that are not its keys.
fn own_keys<'a, T>(
    term: &Term<'a>,
    read: impl Fn(Value) -> serde_json::Result<T>,
) -> Result<(T, Vec<Pair<'a>>), SchemeError> {
    let keys = term.schema().map(|schema| keys_of(&schema)).unwrap_or_default();
    let mut tree = Value::Object(Default::default());
    let mut own = read(tree.clone()).expect("every key has a default");
    let mut others = Vec::new();
    for &(key, value) in &term.pairs {
        match keys::with_key(tree.clone(), &keys, key, value) {
            Some(changed) => {
                own = read(changed.clone())
                    .map_err(|problem| keys::bad_value(term.text, &keys, key, value, problem))?;
                tree = changed;
            }
            None => others.push((key, value)),
        }
    }
    Ok((own, others))
}

fn at_base_station(
    terms: &[Term<'_>],
    term: &Term<'_>,
    machine: BaseStation,
    hosts: &TcpConfig,
    own: &[Pair<'_>],
) -> Result<AtBaseStation, SchemeError> {
    machine.check().map_err(|problem| bad_part(term, problem))?;
    let mut tcp = match term.profile.filter(|_| term.has_own_stack()) {
        Some(profile) => stack(term.text, terms, profile, &hosts.controllers)?,
        None => hosts.clone(),
    };
    if own.iter().any(|(key, _)| *key == "congestion_control") {
        // The parameters were those of another controller.
        tcp.cc.clear();
    }
    set_all(&mut tcp, term, own)?;
    check_controller(term.text, &tcp)?;
    Ok(AtBaseStation { machine, tcp })
}

fn bad_part(term: &Term<'_>, problem: String) -> SchemeError {
    SchemeError::BadPart { text: term.text.to_owned(), name: term.name.to_owned(), problem }
}

fn profile_config(text: &str, name: &str) -> Result<TcpConfig, SchemeError> {
    let names = || profile::PROFILES.iter().map(|profile| profile.name);
    match profile::find(name) {
        Some(profile) => Ok((profile.config)()),
        None => Err(SchemeError::UnknownProfile {
            text: text.to_owned(),
            name: name.to_owned(),
            nearest: spelling::nearest(name, names()),
            known: names().collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Every name that a term may have: controllers, combinations, the circuit, and base-station machines.
pub fn names() -> impl Iterator<Item = &'static str> {
    let controllers = cc::controllers().iter().map(|spec| spec.name);
    let machines = base_station::all().into_iter().map(|machine| machine.spec().name);
    controllers.chain(COMBINATIONS.iter().map(|spec| spec.name)).chain([CIRCUIT.name]).chain(machines)
}

fn check_controller(text: &str, config: &TcpConfig) -> Result<(), SchemeError> {
    let controller = config.controllers.find(&config.congestion_control);
    controller
        .and_then(|controller| controller.values(&config.cc))
        .map(|_| ())
        .map_err(|source| SchemeError::Registry { text: text.to_owned(), source: source.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::{Recovery, RtoConfig, TimeoutPolicy};
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
    fn a_queue_stands_behind_an_at() {
        let scheme = Scheme::parse("bbr+split @ fq-codel", "linux").unwrap();
        assert_eq!(scheme.queue, Some(GatewayQueue::FqCodel));
        assert_eq!(scheme.label, "bbr+split @ fq-codel");
        assert!(scheme.is_split());
        assert!(error("bbr @ fq-codl").contains("unknown queue `fq-codl` (did you mean `fq-codel`?)"));
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
    fn no_name_and_no_key_is_ambiguous() {
        let all: Vec<_> = names().collect();
        assert!(all.iter().enumerate().all(|(index, name)| !all[..index].contains(name)), "{all:?}");
        let stack = keys();
        let is_of_stack = |name: &str| stack.iter().any(|key| key.name == name);
        for param in cc::controllers().iter().flat_map(|spec| spec.params) {
            assert!(!is_of_stack(param.name), "{}", param.name);
        }
        for machine in base_station::all() {
            for key in keys_of(&machine.schema()) {
                assert!(!is_of_stack(&key.name), "{}.{}", machine.spec().name, key.name);
                assert!(!key.doc.is_empty(), "{}.{}", machine.spec().name, key.name);
            }
        }
    }

    #[test]
    fn terms_compose_in_any_order() {
        let one = Scheme::parse("cubic+sack+delay-jitter:delay=1s:rto.min=1s", "rfc").unwrap();
        let other = Scheme::parse("delay-jitter:rto.min=1s:delay=1s+sack+cubic", "rfc").unwrap();
        assert_eq!(one.config, other.config);
        assert_eq!(one.base_station, other.base_station);
        assert_eq!(one.config.congestion_control, "cubic");
        assert_eq!(one.config.rto.min, Dur::from_secs(1));
    }

    /// Paper 003's methods are terms that go with any scheme; `m` is short for the factor.
    #[test]
    fn rto_m_and_the_timeout_policy_go_with_any_scheme() {
        let config = |text| Scheme::parse(text, "rfc").unwrap().config;
        let both = config("westwood+rto-m:m=12+sr");
        assert_eq!((both.rto.factor, both.timeout_policy), (12.0, TimeoutPolicy::SelectiveRepeat));
        assert_eq!(both.congestion_control, "westwood");
        assert_eq!(
            config("rto-m"),
            TcpConfig { rto: RtoConfig { factor: 10.0, ..profile::rfc().rto }, ..config("reno") }
        );
        assert_eq!(config("gbn").timeout_policy, TimeoutPolicy::GoBackN);
        assert!(error("gbn+sr").contains("they set the same key to different values"));
        assert!(error("newreno+sack").contains("cannot be combined"));
    }

    #[test]
    fn a_proxys_keys_are_for_its_own_stack() {
        let scheme = Scheme::parse(
            "cubic:beta=0.5+rto-m:m=6+split:rto.factor=12:congestion_control=reno:profile=bsd-1998:buffer=1MB",
            "linux",
        )
        .unwrap();
        let (hosts, own) = (&scheme.config, &scheme.base_station.as_ref().unwrap().tcp);
        assert_eq!((hosts.rto.factor, own.rto.factor), (6.0, 12.0));
        assert_eq!((&*hosts.congestion_control, &*own.congestion_control), ("cubic", "reno"));
        assert!(hosts.timestamps && !own.timestamps);
        let scheme = Scheme::parse("cubic:beta=0.5+split", "linux").unwrap();
        assert_eq!(scheme.config, scheme.base_station.unwrap().tcp);
    }

    #[test]
    fn what_makes_no_sense_together_is_refused() {
        assert!(error("cubic+reno").contains("`cubic` and `reno` cannot be combined"));
        assert!(error("delay-jitter+delay-jitter").contains("the base station has one machine"));
        assert!(error("decoupling+delay-jitter").contains("cannot be combined"));
        assert!(error("decoupling:fec=4").contains("at most 3 header packets"));
        assert!(error("decoupling:fec=atuo").contains("from 0 to 3, or `auto`"));
        assert!(error("decoupling:fec=atuo").contains("did you mean `auto`"));
        assert!(error("reno+").contains("unknown name ``"));
        assert!(error("delay-jitter:probability=2").contains("must be 0 to 1"));
        assert!(error("delay-jitter:delay=1").contains("no unit"));
        assert!(error("delay-jitter:delai=1s").contains("did you mean `delay`?"));
    }

    /// In either of the two stacks, whichever of the two is written.
    #[test]
    fn parameters_out_of_order_are_refused() {
        for text in [
            "westwood-vt:alpha=20",
            "westwood-vt:beta=16:alpha=20+packet-control",
            "reno+split:congestion_control=westwood-vt:alpha=20",
        ] {
            let problem = "`westwood-vt`: alpha = 20 exceeds beta = 16: lower alpha to 16 or less, or raise beta to 20 or more";
            assert_eq!(error(text), format!("scheme `{text}`: {problem}"));
        }
        assert!(Scheme::parse("westwood-vt:alpha=20:beta=20", "linux").is_ok());
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
