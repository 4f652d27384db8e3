//! Uniformly distributed delay.

use super::{Draw, Jitter, Keys};
use crate::choice::Faults;
use crate::path::DelayModel;
use crate::rng::Chance;
use airtcp_wire::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Uniform from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// The least delay.
    #[serde(default)]
    pub low: Dur,
    /// The greatest delay.
    pub high: Dur,
}

impl Keys for Config {
    fn check(&self, faults: &mut Faults) {
        faults.refuse_if(self.low > self.high, "low", "must not be above `high`");
    }

    fn build(&self, start: Time, chance: Chance) -> Box<dyn DelayModel> {
        Jitter::boxed(*self, start, chance)
    }
}

impl Draw for Config {
    fn draw(&mut self, _: Time, chance: &mut Chance) -> Dur {
        between(self.low, self.high, chance)
    }
}

/// A uniform draw from `low` up to, but not including, `high`.
pub(in crate::path) fn between(low: Dur, high: Dur, chance: &mut Chance) -> Dur {
    let width = high.saturating_sub(low).0;
    low + Dur(((u128::from(chance.u64()) * u128::from(width)) >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::super::moments::assert_moments;
    use super::*;

    #[test]
    fn it_has_its_moments() {
        let (low, high) = (Dur::from_millis(10), Dur::from_millis(30));
        assert_moments(Config { low, high }, low, high, (20.0, 20.0 / 12f64.sqrt()));
    }
}
