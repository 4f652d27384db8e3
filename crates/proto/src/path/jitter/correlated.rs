//! Random delays, each correlated with the one before it.

use super::{Draw, Jitter, Keys};
use crate::choice::Faults;
use crate::path::DelayModel;
use crate::rng::Chance;
use airtcp_wire::{Dur, Probability, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Log-normal above `low`, each delay correlated with the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// Of the delays, `low` included.
    pub mean: Dur,
    /// Standard deviation.
    pub deviation: Dur,
    /// The least delay.
    #[serde(default)]
    pub low: Dur,
    /// Correlation of a packet's delay with the next one's, or with the delay one `interval` later; below 1.
    pub autocorrelation: Probability,
    /// The time for which `autocorrelation` holds; the delay then drifts with time, as when it was measured by a ping each
    /// `interval`. Absent: it changes from packet to packet, however far apart they are.
    #[serde(default)]
    pub interval: Option<Dur>,
}

impl Keys for Config {
    fn check(&self, faults: &mut Faults) {
        faults.above_zero("interval", self.interval);
        faults.refuse_if(self.low > self.mean, "low", "must not be above `mean`");
        faults.refuse_if(
            self.autocorrelation == Probability::ONE,
            "autocorrelation",
            "must be below 1: with 1 all delays would be equal",
        );
    }

    fn build(&self, start: Time, chance: Chance) -> Box<dyn DelayModel> {
        Jitter::boxed(Correlated::new(self), start, chance)
    }
}

/// Log-normal delays above a floor, since round trips have a minimum and a long tail. The logarithms are a first-order autoregressive
/// Gaussian process, whose coefficient is chosen such that the delays have the configured autocorrelation. With an `interval`, the process
/// runs in time (an Ornstein–Uhlenbeck process): packets close together have nearly the same delay, whatever their number, and a probe at
/// any moment finds the same distribution.
struct Correlated {
    low_seconds: f64,
    /// Mean and standard deviation of the logarithm of seconds above `low`.
    mu: f64,
    sigma: f64,
    /// Autoregressive coefficient of the logarithms.
    coefficient: f64,
    /// The last logarithm, in standard deviations from the mean.
    last: Option<f64>,
    interval: Option<Dur>,
    last_at: Time,
}

impl Correlated {
    fn new(config: &Config) -> Correlated {
        let mean = config.mean.saturating_sub(config.low).as_secs_f64();
        let variation = if mean > 0.0 { config.deviation.as_secs_f64() / mean } else { 0.0 };
        // Moments of the log-normal: variance/mean² = exp(σ²) − 1, mean = exp(μ + σ²/2).
        let log_variance = libm::log1p(variation * variation);
        let coefficient = match log_variance {
            0.0 => 0.0,
            // The delays' correlation at a correlation φ of the logarithms is (exp(φσ²) − 1)/(exp(σ²) − 1).
            _ => libm::log1p(config.autocorrelation.get() * variation * variation) / log_variance,
        };
        Correlated {
            low_seconds: config.low.as_secs_f64(),
            mu: libm::log(mean) - log_variance / 2.0,
            sigma: libm::sqrt(log_variance),
            coefficient,
            last: None,
            interval: config.interval,
            last_at: Time::ZERO,
        }
    }

    /// The coefficient between the logarithms of this delay and the one before it.
    fn coefficient_at(&mut self, now: Time) -> f64 {
        let Some(interval) = self.interval else { return self.coefficient };
        let passed = now.since(self.last_at).as_secs_f64() / interval.as_secs_f64();
        self.last_at = now;
        libm::pow(self.coefficient, passed)
    }
}

impl Draw for Correlated {
    fn draw(&mut self, now: Time, chance: &mut Chance) -> Dur {
        let fresh = chance.normal();
        let phi = self.coefficient_at(now);
        let value = self.last.map_or(fresh, |last| phi * last + libm::sqrt(1.0 - phi * phi) * fresh);
        self.last = Some(value);
        Dur::from_secs_f64(self.low_seconds + libm::exp(self.mu + self.sigma * value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Chances;

    /// A mean of 1 s.
    fn config(deviation_ms: u64, autocorrelation: f64, interval: Option<Dur>) -> Config {
        Config {
            mean: Dur::from_secs(1),
            deviation: Dur::from_millis(deviation_ms),
            low: Dur::ZERO,
            autocorrelation: Probability::new(autocorrelation),
            interval,
        }
    }

    /// Delays in seconds of many packets that leave `spacing` apart.
    fn delays(config: &Config, packets: u64, spacing: Dur) -> Vec<f64> {
        let mut chance = Chances::new(1).chance("delay");
        let mut process = Correlated::new(config);
        (0..packets).map(|i| process.draw(Time(i * spacing.0), &mut chance).as_secs_f64()).collect()
    }

    /// Mean, standard deviation and lag-1 autocorrelation.
    fn moments(delays: &[f64]) -> (f64, f64, f64) {
        let n = delays.len() as f64;
        let mean = delays.iter().sum::<f64>() / n;
        let covariance = |lag: usize| {
            delays.windows(lag + 1).map(|pair| (pair[0] - mean) * (pair[lag] - mean)).sum::<f64>() / n
        };
        (mean, covariance(0).sqrt(), covariance(1) / covariance(0))
    }

    /// Paper 003 §V: an autocorrelation coefficient of 0.42.
    #[test]
    fn delays_have_the_moments_and_the_autocorrelation_asked_for() {
        for (low, deviation, autocorrelation) in
            [(0, 500, 0.42), (400, 800, 0.42), (0, 300, 0.0), (0, 300, 0.9)]
        {
            let low = Dur::from_millis(low);
            let config = Config { low, ..config(deviation, autocorrelation, None) };
            let delays = delays(&config, 400_000, Dur::ZERO);
            assert!(delays.iter().all(|&delay| delay >= low.as_secs_f64()));
            let (mean, spread, correlation) = moments(&delays);
            assert!((mean - 1.0).abs() < 0.01, "{mean}");
            assert!((spread * 1e3 / deviation as f64 - 1.0).abs() < 0.04, "{spread}");
            assert!((correlation - autocorrelation).abs() < 0.02, "{correlation}");
        }
    }

    /// Correlation of delays that are `apart`, if packets leave `spacing` apart.
    fn correlation_in_time(spacing: Dur, apart: Dur) -> f64 {
        let every = apart.0 / spacing.0;
        let all = delays(&config(750, 0.4, Some(Dur::from_secs(1))), 200_000 * every, spacing);
        moments(&all.into_iter().step_by(every as usize).collect::<Vec<_>>()).2
    }

    /// With an interval, the autocorrelation is one in time, however many packets leave in between.
    #[test]
    fn with_an_interval_correlation_is_a_matter_of_time() {
        let ms = Dur::from_millis;
        for spacing in [ms(1000), ms(500), ms(100)] {
            let found = correlation_in_time(spacing, ms(1000));
            assert!((found - 0.4).abs() < 0.02, "{spacing}: {found}");
        }
        // σ² = ln(1 + 0.75²), φ = ln(1 + 0.4·0.75²)/σ² = 0.455 a second; (exp(φ^t·σ²) − 1)/0.75² at t = 0.1 s.
        let near = correlation_in_time(ms(50), ms(100));
        assert!((near - 0.905).abs() < 0.01, "{near}");
    }

    #[test]
    fn with_an_interval_packets_at_one_moment_have_one_delay() {
        for autocorrelation in [0.0, 0.5] {
            let config = config(750, autocorrelation, Some(Dur::from_secs(1)));
            let together = delays(&config, 3, Dur::ZERO);
            assert_eq!(together, [together[0]; 3]);
            let apart = delays(&config, 2, Dur::from_secs(4));
            assert_ne!(apart[0], apart[1]);
        }
    }

    #[test]
    fn without_deviation_every_delay_is_the_mean() {
        let config = config(0, 0.5, None);
        assert!(delays(&config, 9, Dur::ZERO).iter().all(|delay| (delay - 1.0).abs() < 1.5e-9));
        assert_eq!(delays(&Config { low: config.mean, ..config }, 1, Dur::ZERO), [1.0]);
    }
}
