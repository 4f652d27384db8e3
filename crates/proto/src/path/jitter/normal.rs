//! Normally distributed delay.

use super::{Draw, Jitter, Keys};
use crate::path::DelayModel;
use crate::rng::Chance;
use airtcp_wire::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Normal; negative values become zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// Before it is cut off at zero.
    pub mean: Dur,
    /// Standard deviation.
    pub deviation: Dur,
}

impl Keys for Config {
    fn build(&self, start: Time, chance: Chance) -> Box<dyn DelayModel> {
        Jitter::boxed(*self, start, chance)
    }
}

impl Draw for Config {
    fn draw(&mut self, _: Time, chance: &mut Chance) -> Dur {
        Dur::from_secs_f64(self.mean.as_secs_f64() + self.deviation.as_secs_f64() * chance.normal())
    }
}

#[cfg(test)]
mod tests {
    use super::super::moments::assert_moments;
    use super::*;

    #[test]
    fn it_has_its_moments() {
        let deviation = Dur::from_millis(10);
        let far = Config { mean: Dur::from_millis(50), deviation };
        assert_moments(far, Dur::ZERO, Dur::from_millis(110), (50.0, 10.0));
        // Cut at its mean: σ·(1/√(2π)) and σ·√(1/2 − 1/(2π)).
        let half = Config { mean: Dur::ZERO, deviation };
        assert_moments(half, Dur::ZERO, Dur::from_millis(60), (3.989, 5.838));
    }
}
