//! Random delays of which each resembles the one before it.

use crate::rng::Stream;
use airtcp_wire::Dur;

/// What the delays of a [`Correlated`] process have in common.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CorrelatedConfig {
    /// Of the delays, `low` included.
    pub mean: Dur,
    /// Standard deviation.
    pub deviation: Dur,
    /// No delay is below; at most `mean`.
    pub low: Dur,
    /// Correlation of a delay with the next one: 0 up to, but without, 1.
    pub autocorrelation: f64,
}

/// Log-normal delays over a floor, for round trips have a least one and a long tail. Their logarithms are a
/// first-order autoregressive Gaussian process, whose coefficient is chosen such that the delays themselves have the
/// autocorrelation that was asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Correlated {
    low_seconds: f64,
    /// Mean and standard deviation of the logarithm of seconds above `low`.
    mu: f64,
    sigma: f64,
    /// Of the logarithms.
    coefficient: f64,
    /// The last one, in standard deviations from its mean.
    last: Option<f64>,
}

impl Correlated {
    pub fn new(config: &CorrelatedConfig) -> Correlated {
        let mean = config.mean.saturating_sub(config.low).as_secs_f64();
        let variation = if mean > 0.0 { config.deviation.as_secs_f64() / mean } else { 0.0 };
        // Moments of the log-normal: variance/mean² = exp(σ²) − 1, mean = exp(μ + σ²/2).
        let log_variance = libm::log1p(variation * variation);
        let coefficient = match log_variance {
            0.0 => 0.0,
            // The delays' correlation at a correlation φ of the logarithms is (exp(φσ²) − 1)/(exp(σ²) − 1).
            _ => libm::log1p(config.autocorrelation * variation * variation) / log_variance,
        };
        Correlated {
            low_seconds: config.low.as_secs_f64(),
            mu: libm::log(mean) - log_variance / 2.0,
            sigma: libm::sqrt(log_variance),
            coefficient,
            last: None,
        }
    }

    /// The next delay.
    pub fn draw(&mut self, stream: &mut Stream) -> Dur {
        let fresh = stream.normal();
        let phi = self.coefficient;
        let value = self.last.map_or(fresh, |last| phi * last + libm::sqrt(1.0 - phi * phi) * fresh);
        self.last = Some(value);
        Dur::from_secs_f64(self.low_seconds + libm::exp(self.mu + self.sigma * value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Streams;

    /// Mean, standard deviation and lag-1 autocorrelation in seconds of many delays.
    fn moments(config: &CorrelatedConfig) -> (f64, f64, f64) {
        let mut stream = Streams::new(1).stream("delay");
        let mut process = Correlated::new(config);
        let delays: Vec<f64> = (0..400_000).map(|_| process.draw(&mut stream).as_secs_f64()).collect();
        assert!(delays.iter().all(|&delay| delay >= config.low.as_secs_f64()));
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
            let config = CorrelatedConfig {
                mean: Dur::from_millis(1000),
                deviation: Dur::from_millis(deviation),
                low: Dur::from_millis(low),
                autocorrelation,
            };
            let (mean, spread, correlation) = moments(&config);
            assert!((mean - 1.0).abs() < 0.01, "{mean}");
            assert!((spread * 1e3 / deviation as f64 - 1.0).abs() < 0.04, "{spread}");
            assert!((correlation - autocorrelation).abs() < 0.02, "{correlation}");
        }
    }

    #[test]
    fn without_deviation_every_delay_is_the_mean() {
        let config = CorrelatedConfig {
            mean: Dur::from_millis(7),
            deviation: Dur::ZERO,
            low: Dur::ZERO,
            autocorrelation: 0.5,
        };
        let mut stream = Streams::new(1).stream("delay");
        let mut process = Correlated::new(&config);
        assert!((0..9).all(|_| process.draw(&mut stream).0.abs_diff(7_000_000) <= 1));
        let mut at_floor = Correlated::new(&CorrelatedConfig { low: config.mean, ..config });
        assert_eq!(at_floor.draw(&mut stream), config.mean);
    }
}
