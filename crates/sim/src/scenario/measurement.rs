//! What the measurement to which a scenario was fitted leaves open, kept in the scenario's file for `airtcp advise`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the measurement that the scenario was fitted to leaves open, as `airtcp fit` writes it. Runs do not look at it;
/// `airtcp advise` says it, and gives its answer for each reading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measurement {
    /// Between which two shares, from 0 to 1, the loss of full packets on the way there lies with 95 % confidence.
    /// Absent: not measured.
    pub loss: Option<[f64; 2]>,
    /// What it does not tell. Absent: nothing.
    pub unknown: Vec<Unknown>,
}

/// Something that a measurement does not tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// In words, e.g. "rate".
    pub quantity: String,
    /// Why it is not known: a sentence.
    pub why: String,
    /// What stands in: a sentence.
    pub stand_in: String,
    /// Which measurement would tell: a sentence.
    pub remedy: String,
    /// All that the measurement allows, where that can be listed; the first stands in. Absent: it cannot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reading: Vec<Reading>,
}

/// One thing that a measurement can mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The rest of a sentence that begins with "if".
    pub name: String,
    /// The keys of the scenario that say so, with their values, as for `--set`. Absent: it is what stands in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
}
