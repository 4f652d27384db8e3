//! Data packets on their way into a circuit.

use crate::queue::Item;
use std::collections::VecDeque;

/// First in, first out, whoever takes them (§4.5.1).
#[derive(Debug)]
pub struct TunnelQueue {
    packets: VecDeque<Item>,
    limit: usize,
}

impl TunnelQueue {
    pub fn new(limit: u32) -> TunnelQueue {
        TunnelQueue { packets: VecDeque::with_capacity(limit.min(1024) as usize), limit: limit as usize }
    }

    /// Answers whether there was room.
    pub fn push(&mut self, item: Item) -> bool {
        let has_room = self.packets.len() < self.limit;
        if has_room {
            self.packets.push_back(item);
        }
        has_room
    }

    pub fn pop(&mut self) -> Option<Item> {
        self.packets.pop_front()
    }

    /// Length in bytes of the packet that is next.
    pub fn first_bytes(&self) -> Option<u32> {
        self.packets.front().map(|item| item.bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Packets that still find room.
    pub fn room(&self) -> u32 {
        (self.limit - self.packets.len()) as u32
    }
}
