//! The channel as those hear it that hear the same.
//!
//! All count the same slots. So a station keeps the number of the slot in which its count ends instead of what is left of it, and a turn
//! costs no more if many wait.

use super::edca::Contention;
use airtcp_wire::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Debug)]
pub struct Channel {
    /// The stations that have something to send, by the slot in which their count ends.
    pub waiting: BinaryHeap<Reverse<(u64, usize)>>,
    /// Turns that are heard.
    heard: usize,
    /// Since when there are none.
    idle_since: Time,
    /// The slots that were counted until then.
    pub slots: u64,
}

impl Default for Channel {
    fn default() -> Channel {
        Channel { waiting: BinaryHeap::new(), heard: 0, idle_since: Time::ZERO, slots: 1 }
    }
}

impl Channel {
    /// When it has been idle long enough to count slots.
    fn counts_from(&self, contention: &Contention) -> Time {
        self.idle_since + contention.aifs
    }

    /// Has it been idle for AIFS?
    pub fn is_idle(&self, now: Time, contention: &Contention) -> bool {
        self.heard == 0 && now >= self.counts_from(contention)
    }

    /// The station whose count ends next, and when. None counts while others are heard.
    pub fn next(&self, contention: &Contention) -> Option<(Time, usize)> {
        let &Reverse((ends, number)) = self.waiting.peek().filter(|_| self.heard == 0)?;
        let slots = contention.slot * ends.saturating_sub(self.slots);
        Some((self.counts_from(contention) + slots, number))
    }

    /// A turn is heard from now on.
    pub fn hear(&mut self, now: Time, contention: &Contention) {
        if self.heard == 0 {
            self.slots += now.since(self.counts_from(contention)).0 / contention.slot.0;
        }
        self.heard += 1;
    }

    /// A turn is heard no more.
    pub fn forget(&mut self, now: Time) {
        self.heard -= 1;
        self.idle_since = now;
    }
}
