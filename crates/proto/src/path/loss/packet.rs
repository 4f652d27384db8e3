//! Losses that do not depend on a packet's size.

use super::{BerForm, Build, Keys, Threshold};
use crate::path::{BlockCode, LossModel};
use crate::queue::Item;
use crate::rng::Chance;
use airtcp_wire::{Probability, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every packet is lost with the same probability, whatever its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct PacketLoss(pub Probability);

impl From<f64> for PacketLoss {
    /// # Panics
    /// Not a probability.
    fn from(value: f64) -> Self {
        Self(Probability::new(value))
    }
}

impl Keys for PacketLoss {
    fn build(&self, build: Build) -> Option<Box<dyn LossModel>> {
        let model = || Model { threshold: Threshold::new(self.0.get()), chance: build.chance };
        (self.0.get() > 0.0).then(|| Box::new(model()) as Box<_>)
    }

    fn mean(&self, _: u32, _: BerForm, _: Option<BlockCode>) -> Option<f64> {
        Some(self.0.get())
    }
}

struct Model {
    threshold: Threshold,
    chance: Chance,
}

impl LossModel for Model {
    fn is_lost(&mut self, _now: Time, _item: &Item) -> bool {
        self.threshold.happens(&mut self.chance)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chance, share_lost};
    use super::*;

    fn model(probability: f64) -> Model {
        Model { threshold: Threshold::new(probability), chance: chance("a") }
    }

    #[test]
    fn certainty_is_certain() {
        assert_eq!(share_lost(&mut model(0.0), 1, 1000), 0.0);
        assert_eq!(share_lost(&mut model(1.0), 1, 1000), 1.0);
        let third = share_lost(&mut model(1.0 / 3.0), 1, 100_000);
        assert!((third - 1.0 / 3.0).abs() < 5.0 * 0.0015, "{third}");
    }
}
