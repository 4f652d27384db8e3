//! What became of each packet, in order of sending.

/// Packets whose fate is kept.
const MOST: usize = 1 << 24;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Not known yet.
    Open,
    Arrived,
    Lost,
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
    fates: Vec<Fate>,
}

impl Fates {
    /// Room for `packets` more; answers the first's slot.
    pub fn open(&mut self, packets: u64) -> Slot {
        let slot = Slot(self.fates.len() as u32);
        let room = MOST - self.fates.len();
        self.fates.resize(self.fates.len() + room.min(packets as usize), Fate::Open);
        slot
    }

    pub fn set(&mut self, slot: Slot, fate: Fate) {
        self.set_all(slot, 1, fate);
    }

    pub fn set_all(&mut self, first: Slot, packets: u64, fate: Fate) {
        let start = (first.0 as usize).min(self.fates.len());
        let end = start.saturating_add(packets as usize).min(self.fates.len());
        self.fates[start..end].fill(fate);
    }

    /// Was it lost? One value for each packet whose fate is known. Where nothing is ever acknowledged, what was not
    /// found to be lost has arrived.
    pub fn lost(&self, is_acknowledged: bool) -> Vec<bool> {
        let known = self.fates.iter().filter(|fate| !is_acknowledged || **fate != Fate::Open);
        known.map(|fate| *fate == Fate::Lost).collect()
    }
}
