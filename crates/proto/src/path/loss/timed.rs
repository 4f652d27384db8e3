//! Losses at given times.

use super::{Build, Keys};
use crate::path::LossModel;
use crate::queue::Item;
use airtcp_wire::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// From the beginning of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Times(Vec<Dur>);

impl From<Vec<Dur>> for Times {
    fn from(times: Vec<Dur>) -> Times {
        Times(times)
    }
}

impl Keys for Times {
    fn build(&self, _: Build) -> Option<Box<dyn LossModel>> {
        let mut times: Vec<_> = self.0.iter().map(|&time| Time::ZERO + time).collect();
        times.sort_unstable();
        (!times.is_empty()).then(|| Box::new(TimedLoss { times, done: 0 }) as Box<_>)
    }
}

/// For each of the given times, loses the first packet that departs then or later.
struct TimedLoss {
    /// Ascending.
    times: Vec<Time>,
    done: usize,
}

impl LossModel for TimedLoss {
    fn is_lost(&mut self, now: Time, _item: &Item) -> bool {
        let before = self.done;
        while self.times.get(self.done).is_some_and(|&time| time <= now) {
            self.done += 1;
        }
        self.done > before
    }
}
