//! The packets on the path, as they came, in bounded memory.

use super::header::Header;
use airtcp_sim::routes::RouteId;
use airtcp_wire::Bytes;

/// A packet is charged at least this much, because freed places keep that memory for the next packet.
const PLACE_BYTES: usize = 2048;

#[derive(Debug)]
pub struct HeldPacket {
    /// From the link layer's header on, if the devices have one.
    pub bytes: Vec<u8>,
    pub header: Header,
    pub to: Destination,
    /// Port at which it came in.
    pub from: u16,
}

/// Where a packet leaves the path.
#[derive(Clone, Copy, Debug)]
pub struct Destination {
    pub port: u16,
    /// The port's node.
    pub exit: u16,
    /// How it gets there.
    pub route: RouteId,
}

/// Packets by number, as queues and links know them.
#[derive(Debug)]
pub struct Slab {
    slots: Vec<HeldPacket>,
    free: Vec<u32>,
    held_bytes: usize,
    limit_bytes: usize,
}

impl Slab {
    pub fn new(limit: Bytes) -> Slab {
        Slab { slots: Vec::new(), free: Vec::new(), held_bytes: 0, limit_bytes: limit.0 as usize }
    }

    /// Stores a copy of `bytes`; `None` if the limit leaves no room for it.
    pub fn insert(&mut self, bytes: &[u8], header: Header, from: u16, to: Destination) -> Option<u32> {
        let held_bytes = self.held_bytes + charge(bytes.len());
        if held_bytes > self.limit_bytes {
            return None;
        }
        self.held_bytes = held_bytes;
        let Some(id) = self.free.pop() else {
            self.slots.push(HeldPacket { bytes: with_room(bytes), header, to, from });
            return Some(self.slots.len() as u32 - 1);
        };
        let slot = self.get_mut(id);
        slot.bytes.clear();
        slot.bytes.extend_from_slice(bytes);
        (slot.header, slot.to, slot.from) = (header, to, from);
        Some(id)
    }

    pub fn get(&self, id: u32) -> &HeldPacket {
        &self.slots[id as usize]
    }

    pub fn get_mut(&mut self, id: u32) -> &mut HeldPacket {
        &mut self.slots[id as usize]
    }

    pub fn remove(&mut self, id: u32) {
        let bytes = &mut self.slots[id as usize].bytes;
        self.held_bytes -= charge(bytes.len());
        if bytes.capacity() > PLACE_BYTES {
            *bytes = with_room(&[]);
        }
        self.free.push(id);
    }

    /// Number of packets held.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

fn charge(len: usize) -> usize {
    len.max(PLACE_BYTES)
}

fn with_room(bytes: &[u8]) -> Vec<u8> {
    let mut vec = Vec::with_capacity(charge(bytes.len()));
    vec.extend_from_slice(bytes);
    vec
}
