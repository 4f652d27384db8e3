//! Packets of one size, or of two by turns, about which nothing is to be decided: they have room, and no more of them wait than ever
//! did. They are only counted, and what each changes in the link's counters is made up for later.

use super::backlog::{Shape, held_by};
use crate::queue::Limit;
use airtcp_wire::Dur;

/// How many such packets may wait before something has to be decided or noted.
#[derive(Default)]
pub(super) struct Alike {
    /// The size of all of them. 0: they come by turns, or nothing is known of any packet.
    pub bytes: u32,
    pub is_by_turns: bool,
    /// So many more might wait when it was last settled,
    room: u32,
    /// and so many may when nothing waits.
    empty_room: u32,
    /// There is room for what waits no longer than this, too, whatever was known then.
    longest_wait: Dur,
    /// Those that had to wait since it was settled,
    waited: u32,
    /// and those that were taken, waiting or not.
    taken: u64,
}

impl Alike {
    /// For packets with these shapes by turns, where so many packets and bytes wait, with `are_only` nothing but such packets, and no
    /// more packets than `most_ever` ever did.
    pub fn new(
        shapes: [Shape; 2],
        waiting: (usize, u64),
        are_only: bool,
        most_ever: u64,
        limit: Limit,
    ) -> Alike {
        let [bytes, other] = shapes.map(|shape| shape.bytes);
        let (largest, most) = (u64::from(bytes.max(other).max(1)), limit.packets.max(1));
        let room = |packets: usize, all_bytes: u64| {
            let packets = most_ever.min(u64::from(most)).saturating_sub(packets as u64);
            let fitting = match limit.bytes {
                u64::MAX => u64::MAX,
                limit => limit.saturating_sub(all_bytes) / largest,
            };
            packets.min(fitting).min(u64::from(u32::MAX)) as u32
        };
        // A packet that finds `most` others waiting, and so the queue full, would have to wait for longer than this.
        let is_timed = are_only && most_ever >= u64::from(most) && limit.bytes == u64::MAX;
        let [one, another] = shapes;
        let shorter_last = if one.held < another.held { [another, one] } else { shapes };
        Alike {
            bytes: if bytes == other { bytes } else { 0 },
            is_by_turns: bytes != other,
            room: room(waiting.0, waiting.1),
            empty_room: room(0, 0),
            longest_wait: if is_timed { held_by(most, shorter_last) } else { Dur::ZERO },
            waited: 0,
            taken: 0,
        }
    }

    /// Another one has to wait, for so long. Returns whether it may without further ado.
    #[inline(always)]
    pub fn wait(&mut self, wait: Dur) -> bool {
        let has_room = self.waited < self.room || (wait <= self.longest_wait && self.waited < u32::MAX);
        if has_room {
            self.waited += 1;
            self.taken += 1;
        }
        has_room
    }

    /// The transmitter takes up another one at once, and nothing waits.
    #[inline(always)]
    pub fn pass(&mut self) {
        (self.room, self.waited) = (self.empty_room, 0);
        self.taken += 1;
    }

    /// Those that were taken, and that had to wait, since this was last asked.
    #[inline]
    pub fn settle(&mut self) -> (u64, u32) {
        let waited = std::mem::take(&mut self.waited);
        self.room = self.room.saturating_sub(waited);
        (std::mem::take(&mut self.taken), waited)
    }
}
