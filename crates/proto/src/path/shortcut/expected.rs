//! Expected packets: the queue has nothing to decide about them, so they are only counted.
//!
//! Invariant: an expected packet has the size of the last packet, or of the last but one where two sizes take turns. There is room for
//! it, and no more packets wait with it than ever did. So it changes neither a drop nor a maximum, and the link's counters may catch up
//! with it when they are read.

use super::backlog::{Shape, held_by};
use crate::marks::{self, Mark};
use crate::queue::Limit;
use airtcp_wire::Dur;

/// How many packets may be taken as expected ones before something must be decided or recorded.
#[derive(Default)]
pub struct Expected {
    /// Size of every packet; 0 if sizes alternate, or if nothing is known yet.
    pub bytes: u32,
    pub alternates: bool,
    /// How many more packets could wait at the last settlement.
    room: u32,
    /// How many packets may wait when none does.
    empty_room: u32,
    /// A packet that has to wait no longer than this has room in any case.
    longest_wait: Dur,
    /// Packets taken since the last settlement that had to wait, and all that were taken.
    waited: u32,
    taken: u64,
}

impl Expected {
    /// For packets with these alternating shapes. `waiting` are the packets and bytes that wait, `are_only` says that nothing but
    /// such packets waits, and `most_ever` is the largest number of packets that ever waited.
    pub fn new(
        shapes: [Shape; 2],
        waiting: (usize, u64),
        are_only: bool,
        most_ever: u64,
        limit: Limit,
    ) -> Expected {
        let [one, other] = shapes;
        let (largest, most) = (u64::from(one.bytes.max(other.bytes).max(1)), limit.packets.max(1));
        let room = |packets: usize, bytes: u64| {
            let packets = most_ever.min(u64::from(most)).saturating_sub(packets as u64);
            let fitting = match limit.bytes {
                u64::MAX => u64::MAX,
                limit => limit.saturating_sub(bytes) / largest,
            };
            packets.min(fitting).min(u64::from(u32::MAX)) as u32
        };
        // A packet that finds the queue full, with `most` packets in it, would have to wait longer than this.
        let is_timed = are_only && most_ever >= u64::from(most) && limit.bytes == u64::MAX;
        let shorter_last = if one.held < other.held { [other, one] } else { shapes };
        Expected {
            bytes: if one.bytes == other.bytes { one.bytes } else { 0 },
            alternates: one.bytes != other.bytes,
            room: room(waiting.0, waiting.1),
            empty_room: room(0, 0),
            longest_wait: if is_timed { held_by(most, shorter_last) } else { Dur::ZERO },
            waited: 0,
            taken: 0,
        }
    }

    /// Takes a packet that has to wait for `wait`, if that needs no decision. Returns whether it was taken.
    #[inline(always)]
    pub fn wait(&mut self, wait: Dur) -> bool {
        let has_room = self.waited < self.room || (wait <= self.longest_wait && self.waited < u32::MAX);
        if has_room {
            marks::hit(Mark::ExpectedPacket);
            self.waited += 1;
            self.taken += 1;
        }
        has_room
    }

    /// Takes a packet that need not wait, which means that no other waits either.
    #[inline(always)]
    pub fn pass(&mut self) {
        (self.room, self.waited) = (self.empty_room, 0);
        self.taken += 1;
    }

    /// Packets taken since the last settlement, and those of them that had to wait.
    #[inline]
    pub fn settle(&mut self) -> (u64, u32) {
        let waited = std::mem::take(&mut self.waited);
        self.room = self.room.saturating_sub(waited);
        (std::mem::take(&mut self.taken), waited)
    }
}
