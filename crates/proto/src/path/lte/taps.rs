//! Multipath fading: a few paths with delays, each of which fades by Jakes (TS 36.101, annex B.2).

use super::slots;
use crate::Chance;
use crate::path::Received;
use crate::path::fading::{Rician, from_db, wavelength_m};
use airtcp_wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Delays and powers of the paths of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Extended Pedestrian A: up to 0.41 µs.
    Epa,
    /// Extended Vehicular A: up to 2.51 µs.
    Eva,
    /// Extended Typical Urban: up to 5 µs.
    Etu,
}

impl Profile {
    /// Delay in ns and power in dB of each path (TS 36.101, tables B.2.1-2 to B.2.1-4).
    fn paths(self) -> &'static [(f64, f64)] {
        match self {
            Profile::Epa => &[
                (0.0, 0.0),
                (30.0, -1.0),
                (70.0, -2.0),
                (90.0, -3.0),
                (110.0, -8.0),
                (190.0, -17.2),
                (410.0, -20.8),
            ],
            Profile::Eva => &[
                (0.0, 0.0),
                (30.0, -1.5),
                (150.0, -1.4),
                (310.0, -3.6),
                (370.0, -0.6),
                (710.0, -9.1),
                (1090.0, -7.0),
                (1730.0, -12.0),
                (2510.0, -16.9),
            ],
            Profile::Etu => &[
                (0.0, -1.0),
                (50.0, -1.0),
                (120.0, -1.0),
                (200.0, 0.0),
                (230.0, 0.0),
                (500.0, 0.0),
                (1600.0, -3.0),
                (2300.0, -5.0),
                (5000.0, -7.0),
            ],
        }
    }
}

/// At how many frequencies of the band the channel is looked at.
const FREQUENCIES: usize = 12;
/// Rician factor of Rayleigh fading.
const NO_DIRECT_PATH_DB: f64 = -100.0;

pub struct Taps {
    /// Each path, and by what it is multiplied at each frequency.
    paths: Vec<(Rician, [(f64, f64); FREQUENCIES])>,
    /// Slots that have begun, and the power gains in the last of them.
    slots: u64,
    gains: [f64; FREQUENCIES],
}

impl Taps {
    pub fn new(profile: Profile, speed_kmh: f64, carrier_mhz: f64, blocks: u32, mut chance: Chance) -> Taps {
        let paths = profile.paths();
        let whole: f64 = paths.iter().map(|(_, db)| from_db(*db)).sum();
        let spacing_hz = f64::from(blocks) * 180e3 / FREQUENCIES as f64;
        let moved_m = speed_kmh / 3.6 * slots::SLOT.as_secs_f64();
        let doppler = TAU * moved_m / wavelength_m(carrier_mhz);
        let path = |&(delay_ns, db): &(f64, f64)| {
            let amplitude = libm::sqrt(from_db(db) / whole);
            let turned = |n: usize| {
                let angle = TAU * delay_ns * 1e-9 * spacing_hz * n as f64;
                (amplitude * libm::cos(angle), -amplitude * libm::sin(angle))
            };
            (Rician::new(NO_DIRECT_PATH_DB, doppler, &mut chance), std::array::from_fn(turned))
        };
        Taps { paths: paths.iter().map(path).collect(), slots: 0, gains: [0.0; FREQUENCIES] }
    }

    /// With the mean ratio `mean_db`. Flat channels carry as much by Shannon. `now` never goes back.
    pub fn received(&mut self, mean_db: f64, now: Time) -> Received {
        self.go_on(now.0 / slots::SLOT.0 + 1);
        let mean = from_db(mean_db);
        let bits: f64 = self.gains.iter().map(|gain| libm::log2(1.0 + mean * gain)).sum();
        let worst = self.gains.iter().copied().fold(f64::INFINITY, f64::min);
        Received {
            effective_db: 10.0 * libm::log10(libm::exp2(bits / FREQUENCIES as f64) - 1.0),
            worst_db: mean_db + 10.0 * libm::log10(worst),
        }
    }

    fn go_on(&mut self, slots: u64) {
        if self.slots >= slots {
            return;
        }
        let mut fields = [(0.0, 0.0); FREQUENCIES];
        for (fading, turned) in &mut self.paths {
            (self.slots + 1..slots).for_each(|_| _ = fading.next_field());
            let (re, im) = fading.next_field();
            for (field, (x, y)) in fields.iter_mut().zip(turned) {
                field.0 += re * *x - im * *y;
                field.1 += re * *y + im * *x;
            }
        }
        self.gains = fields.map(|(re, im)| re * re + im * im);
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Chances;

    /// Gains of many channels, some slots after the beginning.
    fn gains(profile: Profile) -> Vec<[f64; FREQUENCIES]> {
        let mut chance = Chances::new(1).chance("taps");
        let mut gains = || {
            let mut taps = Taps::new(profile, 60.0, 2100.0, 100, chance.split());
            taps.go_on(5);
            taps.gains
        };
        (0..10_000).map(|_| gains()).collect()
    }

    fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = values.len() as f64;
        values.sum::<f64>() / count
    }

    /// The correlation of two frequencies of Rayleigh power is |Σ p·exp(−j2πfτ)|², with the powers p and the delays τ.
    #[test]
    fn power_is_correlated_over_the_coherence_bandwidth() {
        for profile in [Profile::Epa, Profile::Eva, Profile::Etu] {
            let gains = gains(profile);
            for apart in [0, 1, 6] {
                let of = |n: usize| gains.iter().map(move |gains| gains[n]);
                let (one, other) = (mean(of(2)), mean(of(2 + apart)));
                assert!((one - 1.0).abs() < 0.05, "{one}");
                let together = mean(gains.iter().map(|gains| (gains[2] - one) * (gains[2 + apart] - other)));
                let whole: f64 = profile.paths().iter().map(|(_, db)| from_db(*db)).sum();
                let (re, im) = profile.paths().iter().fold((0.0, 0.0), |(re, im), (ns, db)| {
                    let angle = TAU * ns * 1e-9 * 1.5e6 * apart as f64;
                    (
                        re + from_db(*db) / whole * libm::cos(angle),
                        im + from_db(*db) / whole * libm::sin(angle),
                    )
                });
                let expected = re * re + im * im;
                assert!((together - expected).abs() < 0.1, "{profile:?} {apart}: {together} {expected}");
            }
        }
    }

    #[test]
    fn a_channel_is_the_same_whenever_it_is_looked_at_and_never_better_than_its_mean() {
        let new = || Taps::new(Profile::Eva, 60.0, 2100.0, 25, Chances::new(3).chance("taps"));
        let (mut often, mut seldom) = (new(), new());
        for slot in 0..500 {
            let at = slots::start(slot);
            let signal = often.received(15.0, at);
            let mean_db = 10.0 * libm::log10(often.gains.iter().sum::<f64>() / FREQUENCIES as f64);
            let Received { effective_db, worst_db } = signal;
            assert!(worst_db <= effective_db && effective_db <= 15.0 + mean_db + 1e-9, "{signal:?}");
            assert!(slot % 100 != 7 || seldom.received(15.0, at) == signal, "{slot}");
        }
    }
}
