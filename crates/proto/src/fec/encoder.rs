//! The sending end: which repairs leave, over which window, and when.
//!
//! Tails first. What is lost in the middle of much data costs its transport no rate: later packets show the hole, and the lost one is
//! resent a round trip later, for fewer bytes than repairs would take. But nothing shows that the last packets of a burst are lost, and of
//! a small transfer all are among the last. So repairs leave when nothing else has to: as soon as the queue has run dry, over the last
//! [`WINDOW`] sources of the last round trip. In bulk, none leave. The older ones need none: they have come, or are being resent.
//!
//! There are as many repairs over the window as make it likely enough to be recovered, by the losses that the path has shown. Repairs that have left since the
//! window began count. So a stream that pauses after each packet gets no more repairs in a round trip than a burst does. If that leaves
//! its last packets without a repair, they get repairs of their own once it has paused for a quarter of a round trip, well before a
//! probe would be sent (RFC 8985 §7.2: after two round trips).

use super::path::Path;
use super::{Plan, Repair, WINDOW};
use airtcp_wire::{Dur, Time};
use std::collections::VecDeque;

/// The probability that a window is not recovered, for each byte of a repair: 3 % where repairs have 1500 bytes. A failure costs a round
/// trip or a timeout, a repair the time in which its bytes could have carried others; so a SYN, of few bytes, whose loss costs a second,
/// gets more repairs than data.
const FAILURE_PER_BYTE: f64 = 0.03 / 1500.0;

/// Decides about repairs. The driver says when a source or repair leaves, when nothing waits to leave, and what of it was lost.
#[derive(Debug)]
pub struct Encoder {
    path: Path,
    /// Number of the next source.
    next: u32,
    /// When the last sources left, and their lengths.
    window: VecDeque<(Time, u32)>,
    /// When repairs left, since the window's first source.
    repairs: VecDeque<Time>,
    /// Sources before this number have been covered.
    covered: u32,
    key: u16,
    tail: Tail,
}

/// What has become of the last packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tail {
    /// More waits to leave, or all is covered.
    None,
    /// The queue ran dry then.
    Dry(Time),
    /// It has been dry, and some are not covered. They will be then.
    Paused(Time),
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder {
            path: Path::default(),
            next: 0,
            window: VecDeque::with_capacity(WINDOW),
            repairs: VecDeque::with_capacity(2 * WINDOW),
            covered: 0,
            key: 0,
            tail: Tail::None,
        }
    }
}

impl Encoder {
    /// A source of this length leaves, and nothing waits behind it if `is_last`. Returns its number.
    pub fn on_source(&mut self, now: Time, bytes: u32, is_last: bool) -> u32 {
        if self.window.len() == WINDOW {
            self.window.pop_front();
        }
        self.window.push_back((now, bytes));
        self.tail = if is_last { Tail::Dry(now) } else { Tail::None };
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    /// Something waits to leave.
    pub fn on_backlog(&mut self) {
        self.tail = Tail::None;
    }

    /// A report that of `sent` packets so far, repairs included, `lost` are missing, each modulo 2^16.
    pub fn on_report(&mut self, sent: u16, lost: u16) {
        self.path.on_report(sent, lost);
    }

    /// When to ask how many repairs are [due](Encoder::due), if nothing else waits until then.
    pub fn poll_timeout(&self) -> Time {
        match self.tail {
            Tail::None => Time::NEVER,
            Tail::Dry(at) | Tail::Paused(at) => at,
        }
    }

    /// How many repairs should leave now, where a round trip takes `round`.
    pub fn due(&mut self, now: Time, round: Dur) -> u32 {
        if now < self.poll_timeout() {
            return 0;
        }
        self.forget(now, round);
        if let Tail::Paused(_) = std::mem::replace(&mut self.tail, Tail::None) {
            self.skip_covered();
            return self.needed();
        }
        let needed = self.needed();
        let due = needed.saturating_sub(self.repairs.len() as u32);
        if due == 0 && needed > 0 && self.covered != self.next {
            self.tail = Tail::Paused(now + round / 4);
        }
        due
    }

    /// Lets the window begin with the first source that no repair has covered.
    fn skip_covered(&mut self) {
        let left = self.next.wrapping_sub(self.covered) as usize;
        let covered = self.window.len().saturating_sub(left);
        self.window.drain(..covered);
    }

    /// The repairs that the window takes.
    fn needed(&self) -> u32 {
        let failure = FAILURE_PER_BYTE * f64::from(self.repair_bytes());
        Plan::least(self.window.len() as u32, self.path.loss(), self.path.burst(), failure).repairs
    }

    /// Forgets sources that left more than a round trip ago, and the repairs before the first that is left.
    fn forget(&mut self, now: Time, round: Dur) {
        while self.window.front().is_some_and(|(at, _)| now.since(*at) > round) {
            self.window.pop_front();
        }
        let began = self.window.front().map_or(now, |(at, _)| *at);
        while self.repairs.front().is_some_and(|at| *at < began) {
            self.repairs.pop_front();
        }
    }

    /// Length of what the next repair carries: as much as the longest source of the window.
    pub fn repair_bytes(&self) -> u32 {
        self.window.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0)
    }

    /// Sources that the next repair covers.
    pub fn repair_sources(&self) -> u32 {
        self.window.len() as u32
    }

    /// A repair leaves.
    pub fn repair(&mut self, now: Time) -> Repair {
        if self.repairs.len() == 2 * WINDOW {
            self.repairs.pop_front();
        }
        self.repairs.push_back(now);
        self.covered = self.next;
        self.key = self.key.wrapping_add(1);
        let count = self.window.len() as u16;
        Repair { key: self.key, count, first: self.next.wrapping_sub(count.into()) }
    }
}
