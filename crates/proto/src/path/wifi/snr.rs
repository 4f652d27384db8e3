//! The signal-to-noise ratio of a Wi-Fi link.

mod course;
mod trace;

pub use course::Course;
pub use trace::{SnrTrace, SnrTraceError};

use airtcp_wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Ratio of signal to noise at the far end of a link, over the channel's width. Give `db` or `trace`. Both directions of the link have one
/// channel: they are shadowed and fade alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snr {
    /// At a distance of 1 m, in dB. Without `distance_m` and `speed_kmh`, this is the ratio. Absent: `trace` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db: Option<f64>,
    /// A file with the ratio over time, instead of `db`, relative to the scenario's directory: a time in s and the ratio in dB on each line,
    /// straight lines in between, repeated. Absent: `db` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// Distance of the two ends in m when the run begins, at least 1.
    #[serde(default = "default::distance_m")]
    pub distance_m: f64,
    /// Speed in km/h at which the distance grows; it shrinks if this is below zero, but never below 1 m.
    #[serde(default)]
    pub speed_kmh: f64,
    /// The signal falls with this power of the distance. Default: 3, indoors; it is 2 in free space, and with 0 somebody walks about without
    /// going away.
    #[serde(default = "default::path_loss_exponent")]
    pub path_loss_exponent: f64,
    /// Standard deviation of log-normal shadowing in dB. Default: 0, none.
    #[serde(default)]
    pub shadowing_db: f64,
    /// Distance in m over which shadowing's correlation falls to 1/e. Default: 6, in an office without line of sight (3GPP TR 38.901,
    /// table 7.5-6).
    #[serde(default = "default::shadowing_distance_m")]
    pub shadowing_distance_m: f64,
    /// Rician factor in dB: power of the direct path over that of the scattered ones, -100 for none (Rayleigh). Absent: no fading. It fades
    /// as the station moves, by Jakes; who stands still stays at one point of it, another one in each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rician_k_db: Option<f64>,
    /// Carrier frequency in MHz, which says how fast it fades. Default: 5200, channel 40.
    #[serde(default = "default::carrier_mhz")]
    pub carrier_mhz: f64,
    /// What `trace` names.
    #[serde(skip)]
    pub recorded: Option<SnrTrace>,
}

mod default {
    pub fn distance_m() -> f64 {
        1.0
    }

    pub fn path_loss_exponent() -> f64 {
        3.0
    }

    pub fn shadowing_distance_m() -> f64 {
        6.0
    }

    pub fn carrier_mhz() -> f64 {
        5200.0
    }
}

impl Snr {
    /// The same at all times.
    pub fn fixed(db: f64) -> Snr {
        Snr {
            db: Some(db),
            trace: None,
            distance_m: default::distance_m(),
            speed_kmh: 0.0,
            path_loss_exponent: default::path_loss_exponent(),
            shadowing_db: 0.0,
            shadowing_distance_m: default::shadowing_distance_m(),
            rician_k_db: None,
            carrier_mhz: default::carrier_mhz(),
            recorded: None,
        }
    }

    /// The first key with an invalid value, and what the value must be.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        let is_level = |value: Option<f64>, most| value.is_none_or(|db| (-100.0..=most).contains(&db));
        let is_distance = self.distance_m >= 1.0 && self.distance_m.is_finite();
        let is_positive = |value: f64| value > 0.0 && value.is_finite();
        let near = self.trace.is_none() || self.distance_m == default::distance_m();
        [
            ("db", self.db.is_some() || self.trace.is_some(), "is missing; give it or `trace`"),
            ("trace", self.db.is_none() || self.trace.is_none(), "`db` is also given; give one of them"),
            ("db", is_level(self.db, 200.0), "must be from -100 to 200"),
            ("distance_m", is_distance, "must be at least 1"),
            ("distance_m", near, "the ratio of a `trace` needs none; remove it"),
            ("speed_kmh", (-1000.0..=1000.0).contains(&self.speed_kmh), "must be from -1000 to 1000"),
            ("path_loss_exponent", (0.0..=10.0).contains(&self.path_loss_exponent), "must be from 0 to 10"),
            ("shadowing_db", (0.0..=50.0).contains(&self.shadowing_db), "must be from 0 to 50"),
            (
                "shadowing_distance_m",
                self.shadowing_distance_m >= 0.1 && self.shadowing_distance_m.is_finite(),
                "must be at least 0.1",
            ),
            ("rician_k_db", is_level(self.rician_k_db, 100.0), "must be from -100 to 100"),
            (
                "carrier_mhz",
                is_positive(self.carrier_mhz) && self.carrier_mhz <= 1e6,
                "must be above zero and at most 1000000",
            ),
        ]
        .into_iter()
        .find_map(|(key, holds, message)| (!holds).then_some((key, message)))
    }

    /// In dB, without shadowing and fading.
    pub fn mean_at(&self, now: Time) -> f64 {
        let db = match &self.recorded {
            Some(trace) => return trace.at(now),
            None => self.db.unwrap_or_default(),
        };
        if self.speed_kmh == 0.0 && self.distance_m == 1.0 {
            return db;
        }
        let distance_m = self.distance_m + self.moved_m(now);
        db - 10.0 * self.path_loss_exponent * libm::log10(distance_m.max(1.0))
    }

    /// How much farther away it is than in the beginning.
    fn moved_m(&self, now: Time) -> f64 {
        self.speed_kmh / 3.6 * now.as_secs_f64()
    }

    /// Does it change?
    pub fn moves(&self) -> bool {
        self.speed_kmh != 0.0 || self.recorded.is_some()
    }

    /// Does it change at random?
    pub fn fades(&self) -> bool {
        self.shadowing_db > 0.0 || self.rician_k_db.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_falls_with_the_distance() {
        assert_eq!(Snr::fixed(25.0).mean_at(Time(5_000_000_000)), 25.0);
        let walk = Snr { distance_m: 10.0, speed_kmh: 3.6, ..Snr::fixed(67.0) };
        assert!((walk.mean_at(Time::ZERO) - 37.0).abs() < 1e-9);
        assert!((walk.mean_at(Time(90_000_000_000)) - 7.0).abs() < 1e-9, "100 m after 90 s");
        let back = Snr { speed_kmh: -3.6, ..walk };
        assert_eq!(back.mean_at(Time(60_000_000_000)), 67.0, "never nearer than 1 m");
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(Snr::fixed(25.0).problem(), None);
        let key = |snr: Snr| snr.problem().unwrap().0;
        assert_eq!(key(Snr::fixed(f64::NAN)), "db");
        assert_eq!(key(Snr { db: None, ..Snr::fixed(0.0) }), "db");
        assert_eq!(key(Snr { distance_m: 0.0, ..Snr::fixed(25.0) }), "distance_m");
        assert_eq!(key(Snr { rician_k_db: Some(f64::INFINITY), ..Snr::fixed(25.0) }), "rician_k_db");
    }
}
