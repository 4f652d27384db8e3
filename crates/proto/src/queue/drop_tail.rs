//! First in, first out; packets that find no room are dropped.

use super::{Build, DropCause, Drops, Item, Keys, Queue};
use airtcp_wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// First in, first out; packets that find no room are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {}

impl Keys for Config {
    fn build(&self, build: Build) -> Box<dyn Queue> {
        Box::new(DropTail::new(build.limit))
    }
}

/// How much may wait. The packet in the transmitter has left the queue and does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Taken as at least one, so that a packet can pass to an idle transmitter.
    pub packets: u32,
    pub bytes: u64,
}

impl Limit {
    pub const NONE: Limit = Limit { packets: u32::MAX, bytes: u64::MAX };

    pub fn packets(packets: u32) -> Limit {
        Limit { packets, ..Limit::NONE }
    }

    pub fn bytes(bytes: u64) -> Limit {
        Limit { bytes, ..Limit::NONE }
    }

    /// Is there room for a packet of `more` bytes beside what waits?
    #[inline]
    pub fn admits(self, waiting_packets: usize, waiting_bytes: u64, more: u32) -> bool {
        waiting_packets < self.packets.max(1) as usize && waiting_bytes + u64::from(more) <= self.bytes
    }
}

#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
    waiting: VecDeque<Item>,
    bytes: u64,
}

impl DropTail {
    pub fn new(limit: Limit) -> DropTail {
        DropTail { limit, waiting: VecDeque::new(), bytes: 0 }
    }

    #[inline]
    pub(super) fn has_room(&self, bytes: u32) -> bool {
        self.limit.admits(self.waiting.len(), self.bytes, bytes)
    }

    /// The packet that leaves next.
    pub(super) fn head(&self) -> Option<&Item> {
        self.waiting.front()
    }
}

impl Queue for DropTail {
    #[inline]
    fn enqueue(&mut self, _now: Time, item: Item, drops: &mut Drops) {
        if self.has_room(item.bytes) {
            self.bytes += u64::from(item.bytes);
            self.waiting.push_back(item);
        } else {
            drops.push((item, DropCause::Overflow));
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Item> {
        let item = self.waiting.pop_front()?;
        self.bytes -= u64::from(item.bytes);
        Some(item)
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: u32, bytes: u32) -> Item {
        Item { id, bytes, ..Item::default() }
    }

    /// Enqueues packets of these sizes; returns which were dropped.
    fn dropped(limit: Limit, sizes: &[u32]) -> Vec<u32> {
        let (mut queue, mut drops) = (DropTail::new(limit), Drops::new());
        for (id, &bytes) in (0..).zip(sizes) {
            queue.enqueue(Time::ZERO, item(id, bytes), &mut drops);
        }
        drops.iter().map(|(item, _)| item.id).collect()
    }

    #[test]
    fn a_limit_of_n_packets_holds_n() {
        assert_eq!(dropped(Limit::packets(3), &[1; 5]), [3, 4]);
        assert_eq!(dropped(Limit::packets(0), &[1; 2]), [1], "one always passes to the transmitter");
    }

    #[test]
    fn a_limit_in_bytes_lets_small_packets_in_where_large_ones_do_not_fit() {
        assert_eq!(dropped(Limit::bytes(3000), &[1500, 1460, 1500, 40]), [2]);
    }

    #[test]
    fn the_stricter_limit_decides() {
        assert_eq!(dropped(Limit { packets: 2, bytes: 3000 }, &[40, 40, 40]), [2]);
        assert_eq!(dropped(Limit { packets: 2, bytes: 3000 }, &[1500, 1501]), [1]);
    }
}
