//! Constant delay.

use super::{Draw, Jitter, Keys};
use crate::path::DelayModel;
use crate::rng::Chance;
use airtcp_wire::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Always the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// The delay.
    pub mean: Dur,
}

impl Keys for Config {
    fn build(&self, start: Time, chance: Chance) -> Box<dyn DelayModel> {
        Jitter::boxed(*self, start, chance)
    }
}

impl Draw for Config {
    fn draw(&mut self, _: Time, _: &mut Chance) -> Dur {
        self.mean
    }
}
