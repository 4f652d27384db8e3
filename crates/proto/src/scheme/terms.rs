//! The terms of a scheme: `name[:key=value]*`, joined by `+`.

use super::combinations::{self, SchemeSpec};
use super::keys::keys_of;
use super::{CIRCUIT, SchemeError, names};
use crate::base_station::{self, BaseStation};
use crate::cc::{Controller, Controllers};
use crate::circuit;
use airtcp_wire::spelling;

pub(super) type Pair<'a> = (&'a str, &'a str);

/// What a term's name stands for.
pub(super) enum Kind {
    Controller(Controller),
    Combination(&'static SchemeSpec),
    BaseStation(BaseStation),
    Circuit,
}

pub(super) struct Term<'a> {
    /// The whole scheme, for messages.
    pub text: &'a str,
    pub name: &'a str,
    pub kind: Kind,
    /// Keys and values as written, without `profile`.
    pub pairs: Vec<Pair<'a>>,
    pub profile: Option<&'a str>,
}

pub(super) fn split<'a>(text: &'a str, controllers: &Controllers) -> Result<Vec<Term<'a>>, SchemeError> {
    let terms = text.split('+').map(|part| term(text, part, controllers));
    let terms = terms.collect::<Result<Vec<_>, SchemeError>>()?;
    refuse_clashes(text, &terms)?;
    Ok(terms)
}

fn term<'a>(text: &'a str, part: &'a str, controllers: &Controllers) -> Result<Term<'a>, SchemeError> {
    let mut parts = part.split(':').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let pairs = parts
        .filter(|part| !part.is_empty())
        .map(|part| pair(text, part))
        .collect::<Result<Vec<Pair<'_>>, SchemeError>>()?;
    let (profiles, pairs): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(key, _)| *key == "profile");
    let profile = profiles.last().map(|(_, value)| *value);
    Ok(Term { text, name, kind: kind(text, name, controllers)?, pairs, profile })
}

fn pair<'a>(text: &str, part: &'a str) -> Result<Pair<'a>, SchemeError> {
    let (key, value) = part
        .split_once('=')
        .ok_or_else(|| SchemeError::NotAPair { text: text.to_owned(), part: part.to_owned() })?;
    Ok((key.trim(), value.trim()))
}

fn kind(text: &str, name: &str, controllers: &Controllers) -> Result<Kind, SchemeError> {
    if name == CIRCUIT.name {
        return Ok(Kind::Circuit);
    }
    if let Some(spec) = combinations::find(name) {
        return Ok(Kind::Combination(spec));
    }
    if let Some(machine) = base_station::find(name) {
        return Ok(Kind::BaseStation(machine));
    }
    controllers.find(name).map(Kind::Controller).map_err(|_| {
        let known: Vec<_> = controllers.names().chain(names().map(|name| name as &str)).collect();
        SchemeError::UnknownName {
            text: text.to_owned(),
            name: name.to_owned(),
            nearest: spelling::nearest(name, known.iter().copied()),
            known: known.join(", "),
        }
    })
}

/// Refuses terms that cannot be combined.
fn refuse_clashes(text: &str, terms: &[Term<'_>]) -> Result<(), SchemeError> {
    for (index, second) in terms.iter().enumerate() {
        for first in &terms[..index] {
            if let Some(why) = clash(&first.kind, &second.kind) {
                let [first, second] = [first.name, second.name].map(str::to_owned);
                return Err(SchemeError::Clash { text: text.to_owned(), first, second, why });
            }
        }
    }
    Ok(())
}

fn clash(first: &Kind, second: &Kind) -> Option<&'static str> {
    match (first, second) {
        (Kind::Controller(_), Kind::Controller(_)) => Some("a connection has one congestion control"),
        (Kind::BaseStation(_), Kind::BaseStation(_)) => Some("the base station has one machine"),
        (Kind::Circuit, Kind::Circuit) => Some("a flow has one circuit"),
        (Kind::Combination(first), Kind::Combination(second)) if disagree(first, second) => {
            Some("they set the same key to different values")
        }
        (Kind::Circuit, Kind::BaseStation(_)) | (Kind::BaseStation(_), Kind::Circuit) => Some(
            "on a circuit the base station sees only header packets, and data without congestion control",
        ),
        _ => None,
    }
}

fn disagree(first: &SchemeSpec, second: &SchemeSpec) -> bool {
    let differs =
        |(key, value)| first.changes.iter().any(|(other, wanted)| *other == key && *wanted != value);
    second.changes.iter().copied().any(differs)
}

impl Term<'_> {
    /// The keys of the stack that this term sets.
    pub fn changes(&self) -> &'static [Pair<'static>] {
        match &self.kind {
            Kind::Controller(controller) => controller.changes(),
            Kind::Combination(spec) => spec.changes,
            Kind::BaseStation(machine) => machine.spec().changes,
            Kind::Circuit => CIRCUIT.changes,
        }
    }

    /// Are keys of the stack in this term for the machine's own stack?
    pub fn has_own_stack(&self) -> bool {
        matches!(&self.kind, Kind::BaseStation(machine) if machine.spec().has_tcp)
    }

    /// The key of the stack for which `key` is short, or `key` itself if it is no alias.
    pub fn unaliased<'k>(&self, key: &'k str) -> &'k str {
        match &self.kind {
            Kind::Combination(spec) => {
                spec.aliases.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, target)| target)
            }
            _ => key,
        }
    }

    /// JSON Schema of the term's own keys.
    pub fn schema(&self) -> Option<serde_json::Value> {
        match &self.kind {
            Kind::BaseStation(machine) => Some(machine.schema()),
            Kind::Circuit => Some(circuit::Config::schema()),
            Kind::Controller(_) | Kind::Combination(_) => None,
        }
    }

    pub fn own_keys(&self) -> Vec<String> {
        let keys = self.schema().map(|schema| keys_of(&schema)).unwrap_or_default();
        let aliases = match &self.kind {
            Kind::Combination(spec) => spec.aliases,
            _ => &[],
        };
        let aliases = aliases.iter().map(|(alias, _)| (*alias).to_owned());
        keys.into_iter().map(|key| key.name).chain(aliases).collect()
    }
}
