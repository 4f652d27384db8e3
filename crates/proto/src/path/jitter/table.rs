//! Delay in ranges.

use super::uniform::between;
use super::{Draw, Jitter, Keys};
use crate::choice::Faults;
use crate::path::DelayModel;
use crate::rng::Chance;
use airtcp_wire::{Dur, Probability, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ranges, each with a probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// Ranges with their probabilities, which sum to 1, uniform inside each.
    pub ranges: Vec<DelayRange>,
}

/// Uniform from `low` to `high`, with a probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayRange {
    pub probability: Probability,
    pub low: Dur,
    pub high: Dur,
}

/// How far the sum of the written probabilities may differ from 1.
const ROUNDING: f64 = 1e-6;

impl Keys for Config {
    fn check(&self, faults: &mut Faults) {
        for (index, range) in self.ranges.iter().enumerate() {
            let key = format!("ranges.{index}.low");
            faults.refuse_if(range.low > range.high, key, "must not be above `high`");
        }
        let sum: f64 = self.ranges.iter().map(|range| range.probability.get()).sum();
        let message = format!("the probabilities sum to {sum}, not 1");
        faults.refuse_if((sum - 1.0).abs() > ROUNDING, "ranges", message);
    }

    fn build(&self, start: Time, chance: Chance) -> Box<dyn DelayModel> {
        Jitter::boxed(self.clone(), start, chance)
    }
}

impl Draw for Config {
    fn draw(&mut self, _: Time, chance: &mut Chance) -> Dur {
        let range = pick(&self.ranges, chance.f64());
        between(range.low, range.high, chance)
    }
}

/// The range that contains `point` in [0, 1). The last range takes what rounding leaves over.
fn pick(ranges: &[DelayRange], mut point: f64) -> &DelayRange {
    for range in ranges {
        if point < range.probability.get() {
            return range;
        }
        point -= range.probability.get();
    }
    &ranges[ranges.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::super::moments::drawn;
    use super::*;

    #[test]
    fn ranges_are_taken_with_their_probabilities() {
        let ms = Dur::from_millis;
        let shares = [(0.7, 0, 1), (0.2, 10, 20), (0.1, 100, 100)];
        let ranges = shares.map(|(probability, low, high)| DelayRange {
            probability: Probability::new(probability),
            low: ms(low),
            high: ms(high),
        });
        let delays = drawn(Config { ranges: ranges.to_vec() }, 100_000);
        for (expected, low, high) in shares {
            let share = delays.iter().filter(|&&d| ms(low) <= d && d <= ms(high)).count() as f64 / 1e5;
            assert!((share - expected).abs() < 0.008, "{low}..{high}: {share}");
        }
    }
}
