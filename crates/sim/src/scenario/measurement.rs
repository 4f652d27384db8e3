//! What the measurement to which a scenario was fitted leaves open. The scenario's file keeps it for `airtcp advise`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the measurement to which the scenario was fitted leaves open, as `airtcp fit` writes it. Runs ignore it;
/// `airtcp advise` reports it, and gives its answer for each reading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measurement {
    /// Between which two shares, from 0 to 1, the loss of full packets on the way there lies with 95 % confidence.
    /// Absent: not measured.
    pub loss: Option<[f64; 2]>,
    /// What the measurement does not show. Absent: nothing.
    pub unknown: Vec<Unknown>,
}

/// Something that a measurement does not show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// Its name in words, e.g. "rate".
    pub quantity: String,
    /// Why it is not known: a sentence.
    pub why: String,
    /// What stands in for it: a sentence.
    pub stand_in: String,
    /// Which measurement would show it: a sentence.
    pub remedy: String,
    /// Everything that the measurement allows, if that can be listed; the first one stands in. Absent: it cannot be
    /// listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reading: Vec<Reading>,
}

/// One thing that a measurement can mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The rest of a sentence that begins with "if".
    pub name: String,
    /// The scenario's keys and values that express it, as for `--set`. Absent: it is what stands in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
}
