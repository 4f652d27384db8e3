//! Data packets on their way into a circuit.

use crate::queue::Item;
use crate::ring::Ring;

/// Packets that have room however little data may wait.
const LEAST: usize = 4;

/// First in, first out, for any consumer (§4.5.1).
#[derive(Debug)]
pub struct TunnelQueue {
    packets: Ring<Item>,
    bytes: u64,
    /// Length of the packet that came last, at least 1.
    length: u64,
    limit: usize,
}

impl TunnelQueue {
    pub fn new(limit: u32) -> TunnelQueue {
        TunnelQueue { packets: Ring::default(), bytes: 0, length: 1, limit: limit as usize }
    }

    #[inline]
    pub fn push(&mut self, item: Item) {
        self.length = u64::from(item.bytes.max(1));
        self.bytes += u64::from(item.bytes);
        self.packets.push_back(item);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Item> {
        let item = *self.first()?;
        self.drop_first(&item);
        Some(item)
    }

    #[inline]
    pub fn first(&self) -> Option<&Item> {
        self.packets.front()
    }

    /// Removes the first packet, which is `item`.
    #[inline]
    pub fn drop_first(&mut self, item: &Item) {
        self.packets.drop_front();
        self.bytes -= u64::from(item.bytes);
    }

    #[inline]
    pub fn first_bytes(&self) -> Option<u32> {
        self.first().map(|item| item.bytes)
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Is there [room](TunnelQueue::room) for another packet?
    #[inline]
    pub fn has_room(&self, bytes: u64) -> bool {
        let waiting = self.packets.len();
        waiting < self.limit && (waiting < LEAST || self.bytes + self.length <= bytes)
    }

    /// How many packets as long as the last one have room, if `bytes` may wait.
    #[inline]
    pub fn room(&self, bytes: u64) -> u32 {
        if !self.has_room(bytes) {
            return 0;
        }
        let waiting = self.packets.len();
        let fitting = bytes.saturating_sub(self.bytes) / self.length;
        let room = usize::try_from(fitting).unwrap_or(usize::MAX).max(LEAST.saturating_sub(waiting));
        room.min(self.limit - waiting) as u32
    }
}
