//! The fate of each packet, in order of sending.

use airtcp_wire::Time;

/// Limit on the packets whose fate is kept.
const MOST: usize = 1 << 22;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Not known yet.
    Open,
    Arrived,
    /// Not yet seen at the tap.
    LostBefore,
    /// The tap has seen it.
    LostBehind,
}

/// Index of a packet in order of sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(u32);

impl Slot {
    /// Returns the slot `packets` later.
    pub fn plus(self, packets: u64) -> Slot {
        Slot(self.0.saturating_add(packets.min(MOST as u64) as u32))
    }
}

#[derive(Clone, Debug, Default)]
pub struct Fates {
    /// When the packet passed the tap or would have.
    times: Vec<Time>,
    fates: Vec<Fate>,
}

impl Fates {
    /// Makes room for `packets` more and returns the slot of the first.
    pub fn open(&mut self, packets: u64, now: Time) -> Slot {
        let (start, room) = (self.fates.len(), MOST - self.fates.len());
        let end = start + room.min(usize::try_from(packets).unwrap_or(room));
        self.fates.resize(end, Fate::Open);
        self.times.resize(end, now);
        Slot(start as u32)
    }

    pub fn set(&mut self, slot: Slot, fate: Fate) {
        self.set_all(slot, 1, fate);
    }

    pub fn set_all(&mut self, first: Slot, packets: u64, fate: Fate) {
        let start = (first.0 as usize).min(self.fates.len());
        let end = start.saturating_add(packets as usize).min(self.fates.len());
        self.fates[start..end].fill(fate);
    }

    /// Returns the packets whose fate is known: when each passed, and whether `is_lost` counts it as lost. Without
    /// any acknowledgment, a packet not found lost has arrived.
    pub fn known(&self, is_acknowledged: bool, is_lost: impl Fn(Fate) -> bool) -> Vec<(Time, bool)> {
        let all = self.times.iter().zip(&self.fates);
        let known = all.filter(|(_, fate)| !is_acknowledged || **fate != Fate::Open);
        known.map(|(&time, &fate)| (time, is_lost(fate))).collect()
    }
}
