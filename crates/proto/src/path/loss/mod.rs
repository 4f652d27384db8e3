//! Loss models: which packets arrive unreadable.
//!
//! A new model is a module with a type for the value of its key, which implements [`Keys`], and one line in `losses!` below. Scenario files,
//! their JSON Schema, and the estimate of a path's goodput find it there.

mod bit_errors;
pub mod burst;
mod numbered;
mod packet;
mod timed;

pub use bit_errors::{BerForm, BitErrorRate};
pub use numbered::Numbers;
pub use packet::PacketLoss;
pub use timed::Times;

use super::{BlockCode, Cover, LossModel};
use crate::choice::Faults;
use crate::queue::Item;
use crate::rng::Chance;
use airtcp_wire::{Dur, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of one model's key. The default loses nothing.
pub trait Keys: Clone + Default {
    /// Fills in what follows from the link's mean rate.
    fn at_rate(&mut self, _: Rate) {}

    /// Reports a value that makes no sense; it is the value of `key`.
    fn check(&self, _key: &str, _: &mut Faults) {}

    /// `None` if nothing is lost.
    fn build(&self, build: Build) -> Option<Box<dyn LossModel>>;

    /// Mean probability that a packet of `bytes` is lost. `None` if losses are given and not random. Random losses begin at `start` and
    /// apply to the way back, too.
    fn mean(&self, _bytes: u32, _: BerForm, _: Option<BlockCode>) -> Option<f64> {
        None
    }
}

/// What a model is built from, beside the value of its own key.
pub struct Build {
    pub form: BerForm,
    /// Which packets have parity, and of which code.
    pub code: Option<(BlockCode, Cover)>,
    pub chance: Chance,
}

macro_rules! losses {
    ($(
        $(#[doc = $doc:literal])+
        $key:ident: $model:ty,
        $(with $option:ident: $kind:ty = $option_doc:literal,)?
    )*) => {
        /// Loss models; all that are given apply. Probabilities may be written as percentages: "1%".
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct Loss {
            $(
                $(#[doc = $doc])* pub $key: $model,
                $(#[doc = $option_doc] pub $option: $kind,)?
            )*
            /// When random loss starts.
            pub start: Dur,
            /// Packets are lost before they reach the queue, so that they take none of the link's time, as by `lossmodel` in ns-2. `at`
            /// and `packets` then mean packets as they arrive. Default: they are lost after the transmitter has sent them.
            pub before_queue: bool,
        }

        impl Loss {
            /// Fills in what was not given and follows from the link's mean rate.
            pub fn at_rate(&mut self, rate: Rate) {
                $(self.$key.at_rate(rate);)*
            }

            /// Reports values that make no sense.
            pub fn check(&self, faults: &mut Faults) {
                $(self.$key.check(stringify!($key), faults);)*
            }

            /// The part of these models that applies to the way back, too.
            pub fn inherited(&self) -> Loss {
                let mut inherited = self.clone();
                $(if self.mean_of(&self.$key, 0, None).is_none() {
                    inherited.$key = Default::default();
                })*
                inherited
            }

            /// Mean probability that a packet of `bytes` is lost at random. With `code`, all packets have parity.
            pub fn mean(&self, bytes: u32, code: Option<BlockCode>) -> f64 {
                let means = [$(self.mean_of(&self.$key, bytes, code)),*];
                1.0 - means.into_iter().flatten().fold(1.0, |arrive, lost| arrive * (1.0 - lost))
            }

            /// Builds one model of all. `chance` gives each its random numbers, by the name of its key. `None` if nothing is lost.
            pub fn build(
                &self,
                code: Option<(BlockCode, Cover)>,
                chance: impl Fn(&str) -> Chance,
            ) -> Option<Box<dyn LossModel>> {
                let (mut random, mut given) = (Vec::new(), Vec::new());
                $({
                    let chance = chance(stringify!($key));
                    let model = self.$key.build(Build { form: self.form(), code, chance });
                    let is_random = self.mean_of(&self.$key, 0, None).is_some();
                    if is_random { random.extend(model) } else { given.extend(model) }
                })*
                let random = any(random).map(|model| match self.start {
                    Dur::ZERO => model,
                    start => Box::new(LossFrom { start: Time::ZERO + start, model }),
                });
                any(random.into_iter().chain(given).collect())
            }
        }
    };
}

losses! {
    /// Bit error rate: a packet of n bytes is lost with 1 − (1 − ber)^(8n).
    ber: BitErrorRate,
    with first_order: bool = " Use the first-order form min(1, ber·8n) instead.",
    /// Probability that a packet is lost, regardless of its size.
    packet: PacketLoss,
    /// Losses in bursts. Absent: none.
    burst: Option<burst::Config>,
    /// These packets are lost, counted from 1 in order of departure.
    packets: Numbers,
    /// At each of these times, the next packet to leave is lost.
    at: Times,
}

impl Loss {
    fn form(&self) -> BerForm {
        if self.first_order { BerForm::FirstOrder } else { BerForm::Exact }
    }

    fn mean_of(&self, model: &impl Keys, bytes: u32, code: Option<BlockCode>) -> Option<f64> {
        model.mean(bytes, self.form(), code)
    }
}

/// No loss before `start`, and then as `model` decides.
struct LossFrom {
    start: Time,
    model: Box<dyn LossModel>,
}

impl LossModel for LossFrom {
    fn is_lost(&mut self, now: Time, item: &Item) -> bool {
        now >= self.start && self.model.is_lost(now, item)
    }
}

/// Loses a packet if any of the models loses it. Each model sees every packet.
struct AnyLoss(Vec<Box<dyn LossModel>>);

impl LossModel for AnyLoss {
    fn is_lost(&mut self, now: Time, item: &Item) -> bool {
        self.0.iter_mut().fold(false, |lost, model| model.is_lost(now, item) | lost)
    }
}

/// Combines models into one that loses what any of them loses.
fn any(mut models: Vec<Box<dyn LossModel>>) -> Option<Box<dyn LossModel>> {
    match models.len() {
        0 | 1 => models.pop(),
        _ => Some(Box::new(AnyLoss(models))),
    }
}

/// A probability as a threshold: an event happens if a random number is below it. The error is less than 2⁻⁵³.
#[derive(Clone, Copy, Debug)]
struct Threshold(u64);

impl Threshold {
    fn new(probability: f64) -> Threshold {
        Threshold((probability * 2.0 * (1u64 << 63) as f64) as u64)
    }

    /// Draws a random number only if the event is neither impossible nor certain.
    #[inline]
    fn happens(self, chance: &mut Chance) -> bool {
        match self.0 {
            0 => false,
            u64::MAX => true,
            threshold => chance.u64() < threshold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Chances;
    use airtcp_wire::Probability;

    pub fn chance(name: &str) -> Chance {
        Chances::new(1).chance(name)
    }

    pub fn built(loss: &Loss) -> Box<dyn LossModel> {
        loss.build(None, chance).expect("something is lost")
    }

    pub fn packet(bytes: u32) -> Item {
        Item { bytes, ..Item::default() }
    }

    pub fn share_lost(model: &mut dyn LossModel, bytes: u32, packets: u32) -> f64 {
        let lost = (0..packets).filter(|_| model.is_lost(Time::ZERO, &packet(bytes))).count();
        lost as f64 / f64::from(packets)
    }

    /// Which of the packets, one a millisecond from 1 ms on, are lost.
    fn lost_of(loss: &Loss, packets: u64) -> Vec<u64> {
        let mut model = built(loss);
        (1..=packets).filter(|&ms| model.is_lost(Time(ms * 1_000_000), &packet(100))).collect()
    }

    #[test]
    fn given_packets_and_times_are_lost() {
        let numbered = Loss { packets: vec![7, 2, 3, 2].into(), ..Loss::default() };
        assert_eq!(lost_of(&numbered, 10), [2, 3, 7]);
        let times = [0, 4_500_000, 4_600_000, 6_000_000].map(Dur).to_vec();
        assert_eq!(lost_of(&Loss { at: times.into(), ..Loss::default() }, 10), [1, 5, 6]);
    }

    #[test]
    fn models_combine_and_start_late() {
        let packet = PacketLoss(Probability::ONE);
        let start = Dur::from_millis(8);
        let any = Loss { packet, start, packets: vec![1, 9].into(), ..Loss::default() };
        assert_eq!(lost_of(&any, 10), [1, 8, 9, 10]);
    }

    #[test]
    fn loss_models_combine_in_the_mean() {
        // Paper 000 §4.4: PER = BER·PS·8, here 0.024; the exact form is a little less.
        let ber = BitErrorRate(Probability::new(2e-6));
        let packet = PacketLoss(Probability::new(0.5));
        let loss = Loss { ber, first_order: true, packet, ..Loss::default() };
        assert!((loss.mean(1500, None) - (1.0 - 0.976 * 0.5)).abs() < 1e-12);
        let loss = Loss { ber, ..Loss::default() };
        assert!((loss.mean(1500, None) - 0.023_714).abs() < 1e-6);
    }
}
