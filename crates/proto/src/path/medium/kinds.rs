//! The kinds of media.

use super::Medium;
use crate::Chance;
use crate::choice::{Faults, choice};
use crate::path::{Arq, Transmitter, lte, wifi};
use airtcp_wire::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice! {
    /// What decides who sends, and how.
    Kind: dyn Keys beside Common, by "kind" = Some("wifi");
    "wifi" => Wifi(wifi::Config),
    "lte" => Lte(lte::Config),
}

/// A medium that links share: of those that name it, one sends at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Medium")]
pub struct Common {
    /// As the links' `medium` calls it, and in `--set medium.NAME.key=value`. Absent: `medium` and its number, from `medium0`.
    pub name: Option<String>,
}

/// A link's place on a medium, in one run.
pub struct Radio {
    /// Modulation and coding scheme.
    pub mcs: u32,
    /// Absent: the signal is strong enough for every frame.
    pub snr: Option<wifi::Course>,
    /// Likewise, in a cell.
    pub ue: Option<lte::Ue>,
}

/// The keys of one kind. Field names are the keys, doc comments their documentation; serde fills in defaults.
pub trait Keys {
    /// Reports values that make no sense.
    fn check(&self, faults: &mut Faults);

    /// The modulation and coding scheme of links that do not say theirs.
    fn mcs(&self) -> u32;

    /// Why it has no such scheme, if it has none.
    fn mcs_problem(&self, mcs: u32) -> Option<String>;

    /// Why links on it do not have this key, `snr` or `ue`, if they do not.
    fn lacks(&self, key: &str) -> Option<&'static str>;

    /// Why links that begin and end at these nodes cannot be on it, if they cannot.
    fn ends_problem(&self, _ends: &[[usize; 2]]) -> Option<&'static str> {
        None
    }

    /// Do the two directions of its links not share their time?
    fn is_duplex(&self) -> bool {
        false
    }

    /// The mean signal-to-noise ratio of a link in a cell at `now`, in dB.
    fn mean_db(&self, _ue: &lte::Ue, _now: Time) -> f64 {
        f64::INFINITY
    }

    /// Mean rate of one link with schemes up to this one that always has packets of so many bytes to send, and the medium for itself.
    /// Without a signal-to-noise ratio, all can be read.
    fn saturated(&self, mcs: u32, snr_db: Option<f64>, bytes: u32) -> Rate;

    fn transmitter(&self, radio: Radio, chance: Chance) -> Box<dyn Transmitter>;

    /// How a link on it repeats what could not be read.
    fn arq(&self) -> Arq;

    /// Pairs of nodes that do not hear each other, by name.
    fn hidden(&self) -> &[[String; 2]];

    /// `ends` are the nodes at which each link begins and ends, in the order in which they will join. `hidden` are pairs of nodes that do
    /// not hear each other.
    fn build(&self, ends: &[[usize; 2]], hidden: &[[usize; 2]], chance: Chance) -> Medium;
}
