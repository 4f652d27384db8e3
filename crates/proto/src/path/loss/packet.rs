//! Random losses that do not depend on a packet's size.

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
        let threshold = Threshold::new(self.0.get());
        let model = || Model { threshold, chance: build.chance, is_next_lost: false };
        (self.0.get() > 0.0).then(|| Box::new(model()) as Box<_>)
    }

    fn mean(&self, _: u32, _: BerForm, _: Option<BlockCode>) -> Option<f64> {
        Some(self.0.get())
    }
}

struct Model {
    threshold: Threshold,
    chance: Chance,
    /// The next packet's fate has been drawn already: it is lost.
    is_next_lost: bool,
}

/// Maximum number of packets whose fate is drawn ahead.
const AHEAD: u32 = 256;

impl LossModel for Model {
    fn is_lost(&mut self, _now: Time, _item: &Item) -> bool {
        std::mem::take(&mut self.is_next_lost) || self.threshold.happens(&mut self.chance)
    }

    fn until_loss(&mut self) -> u32 {
        let Model { threshold, chance, is_next_lost } = self;
        let next = (0..AHEAD).find(|_| *is_next_lost || threshold.happens(chance));
        *is_next_lost = next.is_some();
        next.unwrap_or(AHEAD)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chance, share_lost};
    use super::*;

    fn model(probability: f64) -> Model {
        Model { threshold: Threshold::new(probability), chance: chance("a"), is_next_lost: false }
    }

    #[test]
    fn certainty_is_certain() {
        assert_eq!(share_lost(&mut model(0.0), 1, 1000), 0.0);
        assert_eq!(share_lost(&mut model(1.0), 1, 1000), 1.0);
        let third = share_lost(&mut model(1.0 / 3.0), 1, 100_000);
        assert!((third - 1.0 / 3.0).abs() < 5.0 * 0.0015, "{third}");
    }

    #[test]
    fn the_same_packets_are_lost_if_it_looks_ahead() {
        for probability in [0.0, 0.001, 0.1, 0.9, 1.0] {
            let (mut asked, mut ahead) = (model(probability), model(probability));
            let item = Item::default();
            let expected: Vec<bool> = (0..5_000).map(|_| asked.is_lost(Time::ZERO, &item)).collect();
            let mut lost = Vec::new();
            while lost.len() < expected.len() {
                lost.push(ahead.is_lost(Time::ZERO, &item));
                lost.extend((0..ahead.until_loss()).map(|_| false));
            }
            assert_eq!(lost[..expected.len()], expected, "{probability}");
        }
    }
}
