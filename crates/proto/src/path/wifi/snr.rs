//! The signal-to-noise ratio of a Wi-Fi link.

use airtcp_wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ratio of signal to noise at the far end of a link, over the channel's width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snr {
    /// At a distance of 1 m, in dB. Without `distance_m` and `speed_kmh`, this is the ratio.
    pub db: f64,
    /// Distance of the two ends in m when the run begins, at least 1.
    #[serde(default = "default::distance_m")]
    pub distance_m: f64,
    /// Speed in km/h at which the distance grows; it shrinks if this is below zero, but never below 1 m.
    #[serde(default)]
    pub speed_kmh: f64,
    /// The signal falls with this power of the distance. Default: 3, indoors; it is 2 in free space.
    #[serde(default = "default::path_loss_exponent")]
    pub path_loss_exponent: f64,
}

mod default {
    pub fn distance_m() -> f64 {
        1.0
    }

    pub fn path_loss_exponent() -> f64 {
        3.0
    }
}

impl Snr {
    /// The same at all times.
    pub fn fixed(db: f64) -> Snr {
        let (distance_m, path_loss_exponent) = (default::distance_m(), default::path_loss_exponent());
        Snr { db, distance_m, speed_kmh: 0.0, path_loss_exponent }
    }

    /// The first key with an invalid value, and what the value must be.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        let is_distance = self.distance_m >= 1.0 && self.distance_m.is_finite();
        [
            ("db", (-100.0..=200.0).contains(&self.db), "must be from -100 to 200"),
            ("distance_m", is_distance, "must be at least 1"),
            ("speed_kmh", (-1000.0..=1000.0).contains(&self.speed_kmh), "must be from -1000 to 1000"),
            ("path_loss_exponent", (0.0..=10.0).contains(&self.path_loss_exponent), "must be from 0 to 10"),
        ]
        .into_iter()
        .find_map(|(key, holds, message)| (!holds).then_some((key, message)))
    }

    /// In dB.
    pub fn at(&self, now: Time) -> f64 {
        if self.speed_kmh == 0.0 && self.distance_m == 1.0 {
            return self.db;
        }
        let distance_m = self.distance_m + self.speed_kmh / 3.6 * now.as_secs_f64();
        self.db - 10.0 * self.path_loss_exponent * libm::log10(distance_m.max(1.0))
    }

    /// Does it change?
    pub fn moves(&self) -> bool {
        self.speed_kmh != 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_falls_with_the_distance() {
        assert_eq!(Snr::fixed(25.0).at(Time(5_000_000_000)), 25.0);
        let walk = Snr { distance_m: 10.0, speed_kmh: 3.6, ..Snr::fixed(67.0) };
        assert!((walk.at(Time::ZERO) - 37.0).abs() < 1e-9);
        assert!((walk.at(Time(90_000_000_000)) - 7.0).abs() < 1e-9, "100 m after 90 s");
        let back = Snr { speed_kmh: -3.6, ..walk };
        assert_eq!(back.at(Time(60_000_000_000)), 67.0, "never nearer than 1 m");
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(Snr::fixed(25.0).problem(), None);
        assert_eq!(Snr::fixed(f64::NAN).problem().unwrap().0, "db");
        assert_eq!(Snr { distance_m: 0.0, ..Snr::fixed(25.0) }.problem().unwrap().0, "distance_m");
    }
}
