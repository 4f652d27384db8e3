//! What became of each packet, in order of sending.

use airtcp_wire::Time;

/// Packets whose fate is kept.
const MOST: usize = 1 << 22;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Not known yet.
    Open,
    Arrived,
    /// On its way to the tap.
    LostBefore,
    /// The tap has seen it.
    LostBehind,
}

/// A packet's place in the order of sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(u32);

impl Slot {
    /// The slot so many packets later.
    pub fn plus(self, packets: u64) -> Slot {
        Slot(self.0.saturating_add(packets.min(MOST as u64) as u32))
    }
}

#[derive(Clone, Debug, Default)]
pub struct Fates {
    /// When the packet passed the tap, or would have.
    times: Vec<Time>,
    fates: Vec<Fate>,
}

impl Fates {
    /// Room for `packets` more; returns the first's slot.
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

    /// The packets whose fate is known: when they passed, and whether `is_lost` says that they were lost. Where nothing
    /// is ever acknowledged, what was not found to be lost has arrived.
    pub fn known(&self, is_acknowledged: bool, is_lost: impl Fn(Fate) -> bool) -> Vec<(Time, bool)> {
        let all = self.times.iter().zip(&self.fates);
        let known = all.filter(|(_, fate)| !is_acknowledged || **fate != Fate::Open);
        known.map(|(&time, &fate)| (time, is_lost(fate))).collect()
    }
}
