//! Delay that varies from packet to packet.
//!
//! A new distribution is a module with a `Config` that implements [`Keys`], and one line in `choice!` below. Scenario files, their JSON
//! Schema and the tests find it there.

pub mod constant;
pub mod correlated;
pub mod normal;
pub mod series;
pub mod table;
pub mod uniform;

use super::DelayModel;
use crate::choice::{Faults, choice};
use crate::rng::Chance;
use airtcp_wire::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

choice! {
    /// How the delay varies.
    Distribution: dyn Keys beside Manner, by "distribution" = None;
    "constant" => Constant(constant::Config),
    "uniform" => Uniform(uniform::Config),
    "normal" => Normal(normal::Config),
    "table" => Table(table::Config),
    "series" => Series(series::Config),
    "correlated" => Correlated(correlated::Config),
}

/// The keys of one distribution. Field names are the keys, doc comments their documentation; serde fills in defaults.
pub trait Keys {
    /// Reports values that make no sense.
    fn check(&self, _: &mut Faults) {}

    /// Reads the files that its keys name.
    fn load(&mut self, _: &mut TextOf<'_>, _: &mut Faults) {}

    /// The delay model, which begins at `start`.
    fn build(&self, start: Time, chance: Chance) -> Box<dyn DelayModel>;
}

/// Returns the text of the file that a key names. `None` if it cannot be read, which has been reported already.
pub type TextOf<'a> = dyn FnMut(&'static str, &Path) -> Option<Arc<str>> + 'a;

/// Delay that varies from packet to packet, added to the propagation delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Jitter")]
pub struct Manner {
    /// Whether a packet may overtake the one before it. Otherwise it waits for it.
    pub overtaking: bool,
    /// When the variation starts.
    pub start: Dur,
}

impl Default for Manner {
    fn default() -> Manner {
        Manner { overtaking: true, start: Dur::ZERO }
    }
}

/// A source of delays.
trait Draw: Send + 'static {
    /// The delay of the next packet, which leaves at `now`. That never goes back.
    fn draw(&mut self, now: Time, chance: &mut Chance) -> Dur;
}

/// Delays by `draw` from `start` on.
struct Jitter<D> {
    draw: D,
    start: Time,
    chance: Chance,
}

impl<D: Draw> Jitter<D> {
    fn boxed(draw: D, start: Time, chance: Chance) -> Box<dyn DelayModel> {
        Box::new(Jitter { draw, start, chance })
    }
}

impl<D: Draw> DelayModel for Jitter<D> {
    fn extra_delay(&mut self, now: Time) -> Dur {
        if now < self.start { Dur::ZERO } else { self.draw.draw(now, &mut self.chance) }
    }
}

/// Over many packets that leave at once.
#[cfg(test)]
mod moments {
    use super::*;
    use crate::rng::Chances;

    pub fn drawn(distribution: impl Keys, n: usize) -> Vec<Dur> {
        let mut model = distribution.build(Time::ZERO, Chances::new(1).chance("delay"));
        (0..n).map(|_| model.extra_delay(Time::ZERO)).collect()
    }

    /// Mean and standard deviation in ms are as `expected`, to 1 %, and all delays lie within the bounds.
    pub fn assert_moments(distribution: impl Keys, low: Dur, high: Dur, expected: (f64, f64)) {
        let delays = drawn(distribution, 100_000);
        assert!(delays.iter().all(|&delay| low <= delay && delay <= high));
        let ms = |delay: &Dur| delay.as_secs_f64() * 1e3;
        let mean = delays.iter().map(ms).sum::<f64>() / 1e5;
        let variance = delays.iter().map(|delay| (ms(delay) - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean / expected.0 - 1.0).abs() < 0.01, "mean {mean}");
        assert!((variance.sqrt() / expected.1 - 1.0).abs() < 0.01, "deviation {}", variance.sqrt());
    }
}
