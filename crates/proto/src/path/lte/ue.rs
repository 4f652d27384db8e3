//! The user equipment at the far end of a link: where it is, and what it receives there.

use super::band::Band;
use super::taps::{Profile, Taps};
use crate::Chance;
use crate::path::{FixedRate, Received, Transmitter};
use airtcp_wire::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link's user in an LTE cell. Give `sinr_db` or `distance_m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ue {
    /// Mean ratio of signal to interference and noise over the band, in the downlink, in dB. The uplink has less by the difference of the
    /// powers and noise figures. Absent: it follows from the distance.
    pub sinr_db: Option<f64>,
    /// Distance from the base station in m when the run begins. The path loss is 128.1 + 37.6·log10(distance in km) dB (TR 36.942 §4.5.2, macro
    /// cells at 2 GHz). Absent: `sinr_db` is given.
    pub distance_m: Option<f64>,
    /// Speed in km/h: the distance grows with it, or shrinks if this is below zero, and the signal fades with it.
    pub speed_kmh: f64,
    /// Base stations stand so many m apart along the user's way, from the first one on, and the nearest serves. Absent: there is one.
    pub spacing_m: Option<f64>,
    /// How the paths fade by which the signal comes (TS 36.101, annex B.2). Absent: it does not fade.
    pub fading: Option<Profile>,
}

/// Nobody comes nearer, in m (TR 36.942 §4.5.2: minimum coupling loss).
const NEAREST_M: f64 = 10.0;

impl Ue {
    /// The first key with an invalid value, and what the value must be.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        let is_distance = |value: Option<f64>| value.is_none_or(|m| (NEAREST_M..=100_000.0).contains(&m));
        let both = self.sinr_db.is_some() && self.distance_m.is_some();
        [
            (
                "sinr_db",
                self.sinr_db.is_some() || self.distance_m.is_some(),
                "is missing; give it or `distance_m`",
            ),
            ("sinr_db", !both, "`distance_m` is also given; give one of them"),
            (
                "sinr_db",
                self.sinr_db.is_none_or(|db| (-50.0..=100.0).contains(&db)),
                "must be from -50 to 100",
            ),
            ("distance_m", is_distance(self.distance_m), "must be from 10 to 100000"),
            ("speed_kmh", (-1000.0..=1000.0).contains(&self.speed_kmh), "must be from -1000 to 1000"),
            ("spacing_m", is_distance(self.spacing_m), "must be from 10 to 100000"),
            ("spacing_m", self.spacing_m.is_none() || self.distance_m.is_some(), "needs `distance_m`"),
        ]
        .into_iter()
        .find_map(|(key, holds, message)| (!holds).then_some((key, message)))
    }

    /// Does what it receives change on average?
    pub fn moves(&self) -> bool {
        self.speed_kmh != 0.0 && self.distance_m.is_some()
    }

    /// From the base station that serves at `now`, in m.
    fn distance_m(&self, now: Time) -> f64 {
        let gone_m = self.speed_kmh / 3.6 * now.as_secs_f64();
        let along_m = (self.distance_m.unwrap_or_default() + gone_m).abs();
        let nearest_m = self.spacing_m.map_or(along_m, |spacing_m| {
            let from_last_m = along_m % spacing_m;
            from_last_m.min(spacing_m - from_last_m)
        });
        nearest_m.max(NEAREST_M)
    }

    /// The mean ratio at `now` in dB, if the power is above the noise by so much.
    pub fn mean_db(&self, power_db: f64, now: Time) -> f64 {
        self.sinr_db.unwrap_or_else(|| power_db - 128.1 - 37.6 * libm::log10(self.distance_m(now) / 1000.0))
    }
}

/// What one user receives. As a transmitter by itself, it sends at the rate of the whole band.
pub struct Reception {
    /// Absent: the best signal.
    ue: Option<Ue>,
    power_db: f64,
    band: Band,
    taps: Option<Taps>,
}

impl Reception {
    /// `power_db` is by how much the base station's power is above the noise.
    pub fn new(ue: Option<Ue>, power_db: f64, carrier_mhz: f64, band: Band, chance: Chance) -> Reception {
        let fading = ue.and_then(|ue| Some((ue.fading?, ue.speed_kmh.abs())));
        let taps = fading
            .map(|(profile, speed_kmh)| Taps::new(profile, speed_kmh, carrier_mhz, band.blocks, chance));
        Reception { ue, power_db, band, taps }
    }
}

impl Transmitter for Reception {
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        let sinr_db = self.received(start).effective_db;
        let rate = self.band.scheme(sinr_db).map_or(Rate(0), |scheme| self.band.whole(scheme));
        FixedRate::new(rate).departure(start, bytes)
    }

    fn received(&mut self, now: Time) -> Received {
        let Some(ue) = &self.ue else { return Received::flat(f64::INFINITY) };
        let mean_db = ue.mean_db(self.power_db, now);
        self.taps.as_mut().map_or(Received::flat(mean_db), |taps| taps.received(mean_db, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ue: Ue, secs: u64) -> f64 {
        ue.mean_db(130.0, Time::ZERO + airtcp_wire::Dur::from_secs(secs))
    }

    #[test]
    fn the_ratio_falls_with_the_distance_from_the_nearest_base_station() {
        let ue = Ue { distance_m: Some(1000.0), ..Ue::default() };
        assert!((at(ue, 0) - 1.9).abs() < 1e-9);
        let away = Ue { speed_kmh: 36.0, ..ue };
        assert!((at(away, 900) - (1.9 - 37.6)).abs() < 1e-9, "10 km after 15 min");
        let along = Ue { distance_m: Some(500.0), spacing_m: Some(1000.0), ..away };
        assert_eq!(at(along, 0), at(along, 100));
        assert!(at(along, 49) > at(along, 40) && at(along, 51) > at(along, 60));
        assert_eq!(at(along, 50), at(Ue { distance_m: Some(NEAREST_M), ..ue }, 0));
        assert_eq!(at(Ue { sinr_db: Some(7.0), ..Ue::default() }, 5), 7.0);
    }

    #[test]
    fn values_that_make_no_sense_are_named() {
        let key = |ue: Ue| ue.problem().map(|(key, _)| key);
        let near = Ue { distance_m: Some(100.0), ..Ue::default() };
        assert_eq!(key(near), None);
        assert_eq!(key(Ue::default()), Some("sinr_db"));
        assert_eq!(key(Ue { sinr_db: Some(5.0), ..near }), Some("sinr_db"));
        assert_eq!(key(Ue { speed_kmh: f64::NAN, ..near }), Some("speed_kmh"));
        assert_eq!(key(Ue { spacing_m: Some(0.0), ..near }), Some("spacing_m"));
        assert_eq!(
            key(Ue { sinr_db: Some(5.0), spacing_m: Some(100.0), ..Ue::default() }),
            Some("spacing_m")
        );
    }
}
