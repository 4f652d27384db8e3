//! Packets of one size, or of two by turns, about which nothing is to be decided: they have room, and no more of them wait than ever
//! did. They are only counted, and what each changes in the link's counters is made up for later.

use super::backlog::Shape;
use crate::queue::Limit;

/// How many such packets may wait before something has to be decided or noted.
#[derive(Default)]
pub(super) struct Alike {
    /// The size of all of them. 0: they come by turns, or nothing is known of any packet.
    pub bytes: u32,
    pub is_by_turns: bool,
    /// So many more may wait,
    room: u32,
    /// of so many when it was last settled,
    settled_room: u32,
    /// and of so many when nothing waits.
    empty_room: u32,
    /// Those that were taken since it was settled, waiting or not.
    taken: u64,
}

impl Alike {
    /// For packets with these shapes by turns, where so many packets and bytes wait and no more packets than `most_ever` ever did.
    pub fn new(shapes: [Shape; 2], waiting: (usize, u64), most_ever: u64, limit: Limit) -> Alike {
        let [bytes, other] = shapes.map(|shape| shape.bytes);
        let largest = u64::from(bytes.max(other).max(1));
        let room = |packets: usize, all_bytes: u64| {
            let packets = most_ever.min(u64::from(limit.packets.max(1))).saturating_sub(packets as u64);
            let fitting = match limit.bytes {
                u64::MAX => u64::MAX,
                limit => limit.saturating_sub(all_bytes) / largest,
            };
            packets.min(fitting).min(u64::from(u32::MAX)) as u32
        };
        let now = room(waiting.0, waiting.1);
        Alike {
            bytes: if bytes == other { bytes } else { 0 },
            is_by_turns: bytes != other,
            room: now,
            settled_room: now,
            empty_room: room(0, 0),
            taken: 0,
        }
    }

    /// Another one has to wait. Returns whether it may without further ado.
    #[inline(always)]
    pub fn wait(&mut self) -> bool {
        if self.room == 0 {
            return false;
        }
        self.room -= 1;
        self.taken += 1;
        true
    }

    /// The transmitter takes up another one at once, and nothing waits.
    #[inline(always)]
    pub fn pass(&mut self) {
        (self.room, self.settled_room) = (self.empty_room, self.empty_room);
        self.taken += 1;
    }

    /// Those that were taken, and that had to wait, since this was last asked.
    #[inline]
    pub fn settle(&mut self) -> (u64, u32) {
        let waiting = self.settled_room - self.room;
        self.settled_room = self.room;
        (std::mem::take(&mut self.taken), waiting)
    }
}
