//! How a signal-to-noise ratio goes in one run.

use super::Snr;
use crate::Chance;
use crate::path::fading::{Rician, Shadowing, wavelength_m};
use airtcp_wire::Time;
use std::f64::consts::TAU;

/// Steps of fading a wavelength: over one of them its power keeps a correlation of J₀²(2π/100), 0.998.
const STEPS_A_WAVELENGTH: f64 = 100.0;
/// Steps of shadowing a correlation distance.
const STEPS_A_DISTANCE: f64 = 20.0;

/// An [`Snr`] with the shadowing and the fading of one run. Those that are made with the same chance go the same way, whenever they are
/// asked: the channel of both directions of a link is one.
pub struct Course {
    snr: Snr,
    shadowing_db: Option<Stepwise>,
    fading_db: Option<Stepwise>,
}

/// Gains that hold for a step of the way.
struct Stepwise {
    next_db: Box<dyn FnMut() -> f64 + Send>,
    step_m: f64,
    /// Steps that have begun.
    steps: f64,
    db: f64,
}

impl Course {
    pub fn new(snr: Snr, mut chance: Chance) -> Course {
        let of_shadowing = chance.split();
        let shadowing_db = (snr.shadowing_db > 0.0).then(|| {
            let mut shadowing = Shadowing::new(snr.shadowing_db, 1.0 / STEPS_A_DISTANCE, of_shadowing);
            Stepwise::new(snr.shadowing_distance_m / STEPS_A_DISTANCE, move || shadowing.next())
        });
        let fading_db = snr.rician_k_db.map(|k_db| {
            let mut fading = Rician::new(k_db, TAU / STEPS_A_WAVELENGTH, &mut chance);
            let step_m = wavelength_m(snr.carrier_mhz) / STEPS_A_WAVELENGTH;
            Stepwise::new(step_m, move || 10.0 * libm::log10(fading.next()))
        });
        Course { snr, shadowing_db, fading_db }
    }

    /// In dB. `now` never goes back.
    pub fn at(&mut self, now: Time) -> f64 {
        let mut db = self.snr.mean_at(now);
        let moved_m = self.snr.moved_m(now).abs();
        for gain in [&mut self.shadowing_db, &mut self.fading_db].into_iter().flatten() {
            db += gain.at(moved_m);
        }
        db
    }
}

impl Stepwise {
    fn new(step_m: f64, next_db: impl FnMut() -> f64 + Send + 'static) -> Stepwise {
        Stepwise { next_db: Box::new(next_db), step_m, steps: 0.0, db: 0.0 }
    }

    fn at(&mut self, moved_m: f64) -> f64 {
        while self.steps * self.step_m <= moved_m {
            self.db = (self.next_db)();
            self.steps += 1.0;
        }
        self.db
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::fading::from_db;
    use crate::rng::Chances;

    /// Walks about at 1 m/s at the same distance.
    fn walk() -> Snr {
        Snr { speed_kmh: 3.6, path_loss_exponent: 0.0, ..Snr::fixed(20.0) }
    }

    fn rayleigh() -> Snr {
        Snr { rician_k_db: Some(-100.0), ..walk() }
    }

    fn course(snr: &Snr, number: u64) -> Course {
        Course::new(snr.clone(), Chances::new(number).chance("snr"))
    }

    /// Power above the mean of the ratio, each `step_ms`.
    fn powers(snr: &Snr, number: u64, step_ms: u64, count: u64) -> Vec<f64> {
        let mut course = course(snr, number);
        (0..count).map(|look| from_db(course.at(Time(look * step_ms * 1_000_000)) - 20.0)).collect()
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        sum / n
    }

    #[test]
    fn shadowing_has_its_deviation_in_db_around_the_mean() {
        let snr = Snr { shadowing_db: 6.0, shadowing_distance_m: 2.0, ..walk() };
        let mut course = course(&snr, 1);
        let looks: Vec<f64> = (0..100_000).map(|look| course.at(Time(look * 100_000_000))).collect();
        let middle = mean(looks.iter().copied());
        let deviation = mean(looks.iter().map(|db| (db - middle).powi(2))).sqrt();
        assert!((middle - 20.0).abs() < 0.3, "{middle}");
        assert!((deviation / 6.0 - 1.0).abs() < 0.05, "{deviation}");
        let two_metres_on = mean(looks.windows(21).map(|w| (w[0] - middle) * (w[20] - middle)));
        let correlation = two_metres_on / deviation.powi(2);
        assert!((correlation - libm::exp(-1.0)).abs() < 0.05, "{correlation}");
    }

    /// Rayleigh power is exponential: below a level x of its mean it is for 1 − exp(−x) of the time, and it falls below that
    /// level f_d·√(2πx)·exp(−x) times a second (Rice).
    #[test]
    fn rayleigh_fading_crosses_a_level_as_often_as_rice_says() {
        let doppler_hz = 1.0 / wavelength_m(5200.0);
        for level in [0.1, 0.5] {
            let (mut below, mut falls) = (0.0, 0.0);
            for number in 0..40 {
                let powers = powers(&rayleigh(), number, 1, 20_000);
                below += powers.iter().filter(|&&power| power < level).count() as f64 / 800_000.0;
                falls += powers.windows(2).filter(|w| w[0] >= level && w[1] < level).count() as f64 / 800.0;
            }
            let expected_below = 1.0 - libm::exp(-level);
            let expected_falls = doppler_hz * libm::sqrt(TAU * level) * libm::exp(-level);
            assert!((below / expected_below - 1.0).abs() < 0.1, "{level}: {below} {expected_below}");
            assert!((falls / expected_falls - 1.0).abs() < 0.1, "{level}: {falls} {expected_falls}");
        }
    }

    #[test]
    fn fading_has_a_mean_of_one_and_is_the_same_whenever_it_is_asked() {
        for k_db in [-100.0, 6.0] {
            let snr = Snr { rician_k_db: Some(k_db), shadowing_db: 0.0, ..walk() };
            let all = mean((0..30).map(|number| mean(powers(&snr, number, 7, 3_000).into_iter())));
            assert!((all - 1.0).abs() < 0.05, "{k_db}: {all}");
        }
        let both = Snr { shadowing_db: 4.0, ..rayleigh() };
        let often = powers(&both, 5, 1, 10_000);
        let seldom = powers(&both, 5, 97, 100);
        assert!(seldom.iter().enumerate().all(|(look, power)| *power == often[look * 97]));
    }

    #[test]
    fn who_stands_still_stays_where_the_run_puts_him() {
        let still = Snr { speed_kmh: 0.0, ..rayleigh() };
        let place = |number| powers(&still, number, 1000, 10);
        assert!(place(1).iter().all(|power| *power == place(1)[0]));
        assert_ne!(place(1), place(2));
        assert_eq!(powers(&walk(), 1, 1000, 10), [1.0; 10]);
    }
}
