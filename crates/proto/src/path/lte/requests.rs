//! How a user gets to send: scheduling requests, buffer status reports and grants (3GPP TS 36.321 §5.4).
//!
//! Who has nothing granted waits for the next slot in which it may send a scheduling request. The grant that answers it is small, since
//! the base station does not know how much waits. Each block that is sent says how much is left behind it, and further grants follow.

use std::collections::VecDeque;

/// From a request or a report to the slot in which what it asks for is sent: four slots until it is decoded and the grant leaves, and four
/// until data follows (TS 36.213 §8: n + 4).
const ROUND: u64 = 8;
/// What the grant after a scheduling request has room for, ours: a buffer status report and a short packet.
const FIRST_GRANT_BYTES: u64 = 100;

pub struct Requests {
    period: u64,
    /// First slot with a request.
    offset: u64,
    /// Bytes sent so far, and up to where the base station grants.
    sent: u64,
    granted: u64,
    /// Grants on their way: from which slot on they hold, and up to where.
    grants: VecDeque<(u64, u64)>,
}

impl Requests {
    pub fn new(period: u64, offset: u64) -> Requests {
        Requests { period, offset, sent: 0, granted: 0, grants: VecDeque::new() }
    }

    /// From when on it may send, if it has something in `slot`: it asks unless it has asked.
    pub fn due(&mut self, slot: u64) -> u64 {
        if self.granted(slot) > 0 {
            return slot;
        }
        if self.grants.is_empty() {
            let passed = (slot + self.period - 1).saturating_sub(self.offset) / self.period;
            let request = self.offset + passed * self.period;
            self.grants.push_back((request + ROUND, self.sent + FIRST_GRANT_BYTES));
        }
        self.grants.front().map_or(u64::MAX, |(from, _)| *from)
    }

    /// Bytes that it may send in `slot`.
    pub fn granted(&mut self, slot: u64) -> u64 {
        while let Some(&(_, upto)) = self.grants.front().filter(|(from, _)| *from <= slot) {
            self.grants.pop_front();
            self.granted = self.granted.max(upto);
        }
        self.granted.saturating_sub(self.sent)
    }

    /// It has sent so many bytes, which leaves `backlog` behind.
    pub fn on_sent(&mut self, slot: u64, bytes: u64, backlog: u64) {
        self.sent += bytes;
        match backlog {
            0 => self.clear(),
            _ => self.grants.push_back((slot + ROUND, self.sent + backlog)),
        }
    }

    /// What was granted is forgotten.
    pub fn clear(&mut self) {
        self.granted = self.sent;
        self.grants.clear();
    }
}
