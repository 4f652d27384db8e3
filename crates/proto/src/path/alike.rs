//! Packets of one size about which nothing is to be decided: they have room, and no more of them wait than ever did. They are
//! only counted, and what each changes in the link's counters is made up for later.

use crate::queue::Limit;
use airtcp_wire::Dur;

/// How many packets of one size may wait before something has to be decided or noted.
#[derive(Default)]
pub(super) struct Alike {
    /// 0: nothing is known of any packet.
    pub bytes: u32,
    /// For how long each holds the transmitter.
    pub held: Dur,
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
    /// For packets of `bytes`, where so many packets and bytes wait and no more packets than `most_ever` ever did.
    pub fn new(bytes: u32, held: Dur, waiting: (usize, u64), most_ever: u64, limit: Limit) -> Alike {
        let room = |packets: usize, all_bytes: u64| {
            let packets = most_ever.min(u64::from(limit.packets.max(1))).saturating_sub(packets as u64);
            let fitting = match limit.bytes {
                u64::MAX => u64::MAX,
                limit => limit.saturating_sub(all_bytes) / u64::from(bytes.max(1)),
            };
            packets.min(fitting).min(u64::from(u32::MAX)) as u32
        };
        let now = room(waiting.0, waiting.1);
        Alike { bytes, held, room: now, settled_room: now, empty_room: room(0, 0), taken: 0 }
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
