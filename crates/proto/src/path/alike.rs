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
    /// So many more may wait, of so many when it was last settled, and of so many if nothing waits.
    room: u32,
    granted: u32,
    most: u32,
    /// Those that were taken since then, waiting or not.
    taken: u32,
}

impl Alike {
    /// As long as so many packets, with so many bytes, wait, and no more than `most` ever did.
    pub fn new(bytes: u32, held: Dur, waiting: (usize, u64), most: u64, limit: Limit) -> Alike {
        let room = |packets: usize, all_bytes: u64| {
            let packets = most.min(u64::from(limit.packets.max(1))).saturating_sub(packets as u64);
            let fitting = match limit.bytes {
                u64::MAX => u64::MAX,
                most => most.saturating_sub(all_bytes) / u64::from(bytes.max(1)),
            };
            packets.min(fitting).min(u64::from(u32::MAX)) as u32
        };
        let now = room(waiting.0, waiting.1);
        Alike { bytes, held, room: now, granted: now, most: room(0, 0), taken: 0 }
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
        (self.room, self.granted) = (self.most, self.most);
        self.taken += 1;
    }

    /// Those that were taken, and that had to wait, since this was last asked.
    #[inline]
    pub fn settle(&mut self) -> (u32, u32) {
        let waiting = self.granted - self.room;
        self.granted = self.room;
        (std::mem::take(&mut self.taken), waiting)
    }
}
