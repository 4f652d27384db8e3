//! Whom a slot serves first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whom the base station serves first in a slot. What that one leaves goes to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Who could be sent most in comparison with what it has got.
    #[default]
    ProportionalFair,
    /// Who has been served least recently.
    RoundRobin,
    /// Who could be sent most.
    MaxCi,
}

/// What the scheduler knows of a user.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Bytes a slot, smoothed.
    average: f64,
    last: u64,
}

impl Default for Standing {
    fn default() -> Standing {
        Standing { average: 1.0, last: 0 }
    }
}

impl Standing {
    /// The highest rank is served first. In `slot` so many bytes could be sent.
    pub fn rank(&self, scheduler: Scheduler, slot: u64, bytes: u32) -> f64 {
        match scheduler {
            Scheduler::ProportionalFair => f64::from(bytes) / self.average,
            Scheduler::RoundRobin => (slot - self.last) as f64,
            Scheduler::MaxCi => f64::from(bytes),
        }
    }

    /// So many bytes were sent in `slot`. `keeps` is what remains of an average after a slot.
    pub fn on_slot(&mut self, slot: u64, bytes: u32, keeps: f64) {
        self.average = keeps * self.average + (1.0 - keeps) * f64::from(bytes);
        if bytes > 0 {
            self.last = slot;
        }
    }

    /// Nothing was sent while an average fell to `kept`.
    pub fn on_idle(&mut self, kept: f64) {
        self.average *= kept;
    }
}
