//! The filters of the authors' ns-2 module, by their numbers there.
//!
//! Its eleventh, 10, is 9 for the samples that were taken while a one-way delay of the timestamps says that packets queue; we have not built
//! it.

use super::{LowPass, TimedLowPass};

/// The weight of the old estimate in the filters 0, 5 and 6.
const OLD: f64 = 0.9;
/// Samples that the filters 4 and 7 take in τ.
const SAMPLES_IN_TAU: f64 = 4.0;
/// More samples in a row than this leave nothing of the old estimate.
const MOST_SAMPLES: u32 = 512;

/// One of the filters.
#[derive(Clone, Debug)]
pub struct Filter {
    number: u8,
    /// τ/Δ of filter 1.
    ratio: f64,
    low_pass: TimedLowPass,
}

impl Filter {
    /// `tau` in seconds.
    pub fn new(number: u8, ratio: f64, tau: f64) -> Filter {
        Filter { number, ratio, low_pass: TimedLowPass::new(tau, 2.0) }
    }

    /// Whether it takes a sample once a round trip, and not on every ACK.
    pub fn samples_round_trips(&self) -> bool {
        matches!(self.number, 4..=7 | 9)
    }

    /// Takes a sample: `bytes` were acknowledged in `length` seconds.
    pub fn take(&mut self, bytes: f64, length: f64) {
        let sample = bytes / length;
        match self.number {
            0 | 5 => self.average(sample, OLD),
            2 => self.state().filter(sample, 15.0),
            3 => self.low_pass.take(bytes, length),
            4 => self.hold(sample, length),
            6 => {
                let mean = (sample + self.state().last_sample) / 2.0;
                self.average(mean, OLD);
                self.state().last_sample = sample;
            }
            7 => self.interpolate(sample, length),
            8 | 9 => self.average(sample, libm::exp(-length / self.low_pass.tau)),
            _ => {
                let ratio = self.ratio;
                self.state().filter(sample, ratio);
            }
        }
    }

    /// B in bytes per second.
    pub fn output(&self) -> f64 {
        self.low_pass.filter.output
    }

    fn state(&mut self) -> &mut LowPass {
        &mut self.low_pass.filter
    }

    /// A weighted mean: `old` is the weight of the estimate so far.
    fn average(&mut self, sample: f64, old: f64) {
        let state = self.state();
        state.output = old * state.output + (1.0 - old) * sample;
        state.last_sample = sample;
    }

    /// The same sample at every quarter of τ, and for the rest.
    fn hold(&mut self, sample: f64, length: f64) {
        let (quarters, rest) = self.quarters(length);
        (0..quarters).for_each(|_| self.state().filter(sample, SAMPLES_IN_TAU));
        if rest > 0.0 {
            let ratio = self.low_pass.tau / rest;
            self.state().filter(sample, ratio);
        }
    }

    /// Samples on the line from the last one to this one at every quarter of τ, and this one for the rest.
    fn interpolate(&mut self, sample: f64, length: f64) {
        let (quarters, rest) = self.quarters(length);
        let (tau, last) = (self.low_pass.tau, self.state().last_sample);
        for quarter in 0..quarters {
            let share = f64::from(quarter) * tau / SAMPLES_IN_TAU / length;
            self.pull(last + (sample - last) * share, SAMPLES_IN_TAU);
        }
        if rest > 0.0 {
            self.pull(sample, tau / rest);
        }
        self.state().last_sample = sample;
    }

    /// Tustin's filter with one sample in place of the mean of two.
    fn pull(&mut self, sample: f64, ratio: f64) {
        self.state().last_sample = sample;
        self.state().filter(sample, ratio);
    }

    /// The whole quarters of τ in `length`, and the rest in seconds.
    fn quarters(&self, length: f64) -> (u32, f64) {
        let quarter = self.low_pass.tau / SAMPLES_IN_TAU;
        let whole = (length / quarter) as u32;
        (whole.min(MOST_SAMPLES), length - f64::from(whole) * quarter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(number: u8, samples: &[(f64, f64)]) -> f64 {
        let mut filter = Filter::new(number, 10.0, 1.0);
        samples.iter().for_each(|&(rate, length)| filter.take(rate * length, length));
        filter.output()
    }

    /// The coefficients that the module writes as numbers.
    #[test]
    fn the_coefficients_are_the_modules() {
        let once = |number| after(number, &[(1000.0, 0.1)]);
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 0.1, "{value} {expected}");
        near(once(0), 100.0);
        near(once(1), 47.6);
        near(once(2), 32.25);
        near(once(3), 0.1 * 1000.0 / 2.1);
        near(once(6), 50.0);
        near(once(7), 2.0 * 0.1 * 1000.0 / 2.1);
        near(once(8), 1000.0 * (1.0 - libm::exp(-0.1)));
        // Half a second holds two quarters of tau and no rest.
        near(after(4, &[(900.0, 0.5)]), 900.0 / 9.0 * 7.0 / 9.0 + 900.0 * 2.0 / 9.0);
    }

    proptest! {
        /// Whatever the lengths of its samples, a filter of a constant rate comes to that rate, and stays between the extremes of others.
        #[test]
        fn every_filter_ends_at_a_constant_rate_and_stays_within_what_it_saw(
            number in 0..10u8,
            lengths in prop::collection::vec(0.001..0.24f64, 1..50),
            rates in prop::collection::vec(1.0..1e9f64, 1..50),
        ) {
            let constant: Vec<_> = lengths.iter().cycle().take(20_000).map(|&length| (5e5, length)).collect();
            prop_assert!((after(number, &constant) - 5e5).abs() < 5.0);
            let varied: Vec<_> = rates.iter().copied().zip(lengths).collect();
            let most = rates.iter().fold(0.0, |most: f64, &rate| most.max(rate));
            let output = after(number, &varied);
            prop_assert!((0.0..=most * 1.000_001).contains(&output), "{output} {most}");
        }
    }
}
