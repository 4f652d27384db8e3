//! Copies of the tail: what is sent last is sent again before anybody can miss it.
//!
//! Nothing follows the last segments whose acknowledgment could show that they are lost, so that a loss there costs a probe or a timeout;
//! and in a short transfer the last segments are all of it. Source: T. Flach et al., *Reducing Web Latency: the Virtue of Gentle
//! Aggression* (SIGCOMM 2013), §4 "Proactive", with a choice of how many copies leave, and of the tail alone.
//!
//! Once all that was written has left, each of the last [`TAIL`] segments is sent again, in order, so that a burst of losses does not
//! take all copies of one; and so is what is resent there. Copies are data to the congestion control: they leave as the window has room
//! and as the pacer allows. They are not on the scoreboard: to RTT samples, recovery and undoing there is one segment, sent once. So a
//! DSACK that answers a copy means nothing to those, either.

use super::outgoing::{Outgoing, Reason};
use std::collections::VecDeque;

/// Segments of the tail: a usual initial window (RFC 6928).
pub const TAIL: usize = 10;

/// Segments that are to be copied. Those of a tail, and what is resent of it.
const MOST_WAITING: usize = 4 * TAIL;

#[derive(Debug, Default)]
pub struct Copies {
    /// Copies of each segment.
    most: u8,
    /// What is to be copied, and how often.
    waiting: VecDeque<(Outgoing, u8)>,
    /// SND.NXT when the tail was last found.
    tail_end: u64,
    /// SND.UNA when a copy last left, and bytes of copies that have left since that changed.
    una: u64,
    copied: u64,
    /// Copies whose arrival no DSACK has reported.
    unreported: u32,
}

impl Copies {
    pub fn new(most: u8) -> Copies {
        Copies { most, ..Copies::default() }
    }

    /// All has left, up to SND.NXT. Returns whether it had not when this was last called: then its tail is to be [added](Copies::add).
    pub fn is_new_tail(&mut self, nxt: u64) -> bool {
        let is_new = self.tail_end != nxt;
        if is_new {
            self.tail_end = nxt;
            self.waiting.clear();
        }
        is_new
    }

    /// A segment is to be copied.
    pub fn add(&mut self, segment: Outgoing) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back((Outgoing { reason: Reason::Copy, ..segment }, self.most));
        }
    }

    /// Returns whether copies wait to be sent of what ends at `nxt`.
    pub fn are_due(&self, nxt: u64) -> bool {
        self.tail_end != nxt || !self.waiting.is_empty()
    }

    /// The next copy, unless `is_needless` tells that its segment has arrived. With what was copied since SND.UNA changed, it takes no more
    /// than `room` bytes.
    pub fn poll(&mut self, una: u64, room: u64, is_needless: impl Fn(&Outgoing) -> bool) -> Option<Outgoing> {
        if una != self.una {
            (self.una, self.copied) = (una, 0);
        }
        self.waiting.retain(|(segment, _)| !is_needless(segment));
        let (segment, left) = self.waiting.front().copied()?;
        let bytes = segment.end - segment.start;
        if self.copied + bytes > room {
            return None;
        }
        self.waiting.pop_front();
        if left > 1 {
            self.waiting.push_back((segment, left - 1));
        }
        self.copied += bytes;
        self.unreported += 1;
        Some(segment)
    }

    /// A DSACK has come. Returns whether a copy explains it.
    pub fn explain_duplicate(&mut self) -> bool {
        let explains = self.unreported > 0;
        self.unreported -= u32::from(explains);
        explains
    }
}
