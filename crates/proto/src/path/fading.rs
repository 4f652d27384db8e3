//! How a radio channel changes the power of a signal: slowly because of obstacles, fast because of interference between paths.

use crate::rng::Chance;
use std::f64::consts::{PI, TAU};

const LIGHT_M_PER_S: f64 = 299_792_458.0;
/// Jakes's own number of low-frequency oscillators.
const OSCILLATORS: usize = 8;

pub fn from_db(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

pub fn wavelength_m(carrier_mhz: f64) -> f64 {
    LIGHT_M_PER_S / (carrier_mhz * 1e6)
}

/// Unit vectors that rotate, each at its own speed.
#[derive(Clone, Debug)]
struct Oscillators {
    x: [f64; OSCILLATORS],
    y: [f64; OSCILLATORS],
    /// Cosine and sine of the angle by which each one turns per step.
    cos: [f64; OSCILLATORS],
    sin: [f64; OSCILLATORS],
}

impl Oscillators {
    fn new(phases: [f64; OSCILLATORS], steps: [f64; OSCILLATORS]) -> Oscillators {
        Oscillators {
            x: phases.map(libm::cos),
            y: phases.map(libm::sin),
            cos: steps.map(libm::cos),
            sin: steps.map(libm::sin),
        }
    }

    /// Goes on to the next step; returns the sum of the x components.
    #[inline]
    fn next(&mut self) -> f64 {
        for n in 0..OSCILLATORS {
            let (x, y) = (self.x[n], self.y[n]);
            self.x[n] = x * self.cos[n] - y * self.sin[n];
            self.y[n] = x * self.sin[n] + y * self.cos[n];
        }
        self.x.iter().sum()
    }
}

/// Rician fading: a direct path and scattered ones by Jakes's model, as a sum of sinusoids with random phases
/// (Zheng and Xiao 2003, whose autocorrelation is Jakes's J₀ on average).
#[derive(Clone, Debug)]
pub struct Rician {
    /// The direct path as a complex number, and the factor by which a step multiplies it.
    direct: (f64, f64),
    direct_step: (f64, f64),
    in_phase: Oscillators,
    quadrature: Oscillators,
    /// Amplitude of each oscillator.
    scattered_amplitude: f64,
}

impl Rician {
    /// Of a direct path `k_db` above the scattered ones. A path straight ahead turns by `doppler` a step.
    pub fn new(k_db: f64, doppler: f64, chance: &mut Chance) -> Rician {
        let mut phase = || chance.range_f64(-PI, PI);
        let k = from_db(k_db);
        let polar = |length: f64, angle| (length * libm::cos(angle), length * libm::sin(angle));
        let direct = polar(f64::sqrt(k / (k + 1.0)), phase());
        let direct_step = polar(1.0, doppler * libm::cos(phase()));
        let offset = phase();
        let angles: [f64; OSCILLATORS] =
            std::array::from_fn(|n| (TAU * (n + 1) as f64 - PI + offset) / (4.0 * OSCILLATORS as f64));
        let mut phases = || std::array::from_fn(|_| phase());
        Rician {
            direct,
            direct_step,
            in_phase: Oscillators::new(phases(), angles.map(|angle| doppler * libm::cos(angle))),
            quadrature: Oscillators::new(phases(), angles.map(|angle| doppler * libm::sin(angle))),
            scattered_amplitude: f64::sqrt(1.0 / ((k + 1.0) * OSCILLATORS as f64)),
        }
    }

    /// The power gain at the next step, with mean 1.
    #[inline]
    pub fn next(&mut self) -> f64 {
        let (re, im) = self.next_field();
        re * re + im * im
    }

    /// The gain of the field at the next step, a complex number.
    #[inline]
    pub fn next_field(&mut self) -> (f64, f64) {
        let ((x, y), (cos, sin)) = (self.direct, self.direct_step);
        self.direct = (x * cos - y * sin, x * sin + y * cos);
        let re = self.direct.0 + self.scattered_amplitude * self.in_phase.next();
        let im = self.direct.1 + self.scattered_amplitude * self.quadrature.next();
        (re, im)
    }
}

/// Log-normal shadowing. Its correlation falls exponentially with the distance that the user moves (Gudmundson 1991).
#[derive(Clone, Debug)]
pub struct Shadowing {
    deviation_db: f64,
    /// From one step to the next.
    correlation: f64,
    /// In standard deviations.
    value: f64,
    chance: Chance,
}

impl Shadowing {
    /// The user moves by so many correlation distances a step.
    pub fn new(deviation_db: f64, distances: f64, mut chance: Chance) -> Shadowing {
        Shadowing { deviation_db, correlation: libm::exp(-distances), value: chance.normal(), chance }
    }

    /// The gain in dB at the next step.
    pub fn next(&mut self) -> f64 {
        let rho = self.correlation;
        self.value = rho * self.value + f64::sqrt(1.0 - rho * rho) * self.chance.normal();
        self.deviation_db * self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Chances;

    /// On foot, 600 steps a second at 1900 MHz.
    const STEP_S: f64 = 1.0 / 600.0;
    const DOPPLER_HZ: f64 = 3.0 / 3.6 * 1900e6 / LIGHT_M_PER_S;

    /// Gains of many channels at the first step and at a later one.
    fn pairs(k_db: f64, lag: usize) -> Vec<(f64, f64)> {
        let mut chance = Chances::new(1).chance("fading");
        let pair = |_| {
            let mut fading = Rician::new(k_db, TAU * DOPPLER_HZ * STEP_S, &mut chance);
            let first = fading.next();
            (first, (0..lag).map(|_| fading.next()).last().unwrap_or(first))
        };
        (0..20_000).map(pair).collect()
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        sum / n
    }

    #[test]
    fn rician_power_has_mean_one_and_its_variance() {
        for k_db in [-100.0, 3.0, 10.0] {
            let gains = pairs(k_db, 0);
            let (k, m) = (from_db(k_db), mean(gains.iter().map(|pair| pair.0)));
            assert!((m - 1.0).abs() < 0.03, "{m}");
            let variance = mean(gains.iter().map(|pair| (pair.0 - m).powi(2)));
            // The variance of Rician power is (1 + 2K)/(1 + K)². The sum of eight oscillators is not quite Gaussian.
            let expected = (1.0 + 2.0 * k) / (1.0 + k).powi(2);
            assert!((variance / expected - 1.0).abs() < 0.12, "K {k_db} dB: {variance}, {expected}");
        }
    }

    /// Jakes: Rayleigh power decorrelates as J₀²(2π·f_d·τ).
    #[test]
    fn rayleigh_power_is_correlated_over_the_doppler_time() {
        for lag in [6, 24, 60] {
            let gains = pairs(-100.0, lag);
            let (a, b) = (mean(gains.iter().map(|pair| pair.0)), mean(gains.iter().map(|pair| pair.1)));
            let covariance = mean(gains.iter().map(|(x, y)| (x - a) * (y - b)));
            let variance = mean(gains.iter().map(|(x, _)| (x - a).powi(2)));
            let expected = libm::j0(TAU * DOPPLER_HZ * STEP_S * lag as f64).powi(2);
            assert!((covariance / variance - expected).abs() < 0.08, "{lag}: {}", covariance / variance);
        }
    }

    #[test]
    fn shadowing_has_its_deviation_and_its_distance() {
        let mut shadowing = Shadowing::new(8.0, 1.0 / 50.0, Chances::new(1).chance("shadowing"));
        let gains: Vec<f64> = (0..400_000).map(|_| shadowing.next()).collect();
        let deviation = mean(gains.iter().map(|db| db * db)).sqrt();
        let a_distance_on = mean(gains.windows(51).map(|w| w[0] * w[50])) / (deviation * deviation);
        assert!((deviation / 8.0 - 1.0).abs() < 0.05, "{deviation}");
        assert!((a_distance_on - libm::exp(-1.0)).abs() < 0.05, "{a_distance_on}");
    }
}
