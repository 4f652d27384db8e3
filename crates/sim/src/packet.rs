//! Packets on their way, in a slab: queues and links know them by number.

use crate::flow::{Flow, RECEIVER, SENDER};
use crate::station;
use airtcp_proto::middlebox::{Direction, TcpPacket};
use airtcp_proto::tcp::Transmit;
use airtcp_wire::tcp;
use std::ops::Range;

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Load {
    /// A TCP segment for this endpoint.
    Tcp { endpoint: u32 },
    /// A datagram.
    #[default]
    Udp,
    /// A header packet of a circuit's control TCP, or one of its handshake: headers alone on the wire, whatever length
    /// the segment stands for.
    Header { control: u16, repeats: u8 },
    /// The answer of that control TCP's receiver.
    HeaderAck { control: u16 },
}

impl Load {
    /// Is it a circuit's own?
    #[inline]
    pub fn is_control(self) -> bool {
        matches!(self, Load::Header { .. } | Load::HeaderAck { .. })
    }
}

/// Two cache lines exactly.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Packet {
    /// As it was sent; the ECN field as it is now.
    pub transmit: Transmit,
    pub load: Load,
    /// The flow, or, of a control packet, the circuit.
    pub flow: u32,
    /// Stands for the addresses and ports: the connection's number, or one for the flow of datagrams.
    pub number: u32,
    /// Length of the IP packet.
    pub bytes: u32,
    /// Which copy of its bytes this is: see [`crate::truth`].
    pub order: u32,
    /// Node at which it leaves the path.
    pub exit: u16,
    pub direction: Direction,
}

pub const IP_HEADER_BYTES: u32 = 20;

impl Packet {
    /// Fills in what an endpoint of the flow's connection puts around the segment that it sends. `transfer`: the flow's number
    /// and the connection's.
    #[inline]
    pub fn address(&mut self, endpoint: u32, flow: &Flow, transfer: (u32, u32)) {
        let segment = &self.transmit.segment;
        let end = (endpoint & 1) as usize;
        self.bytes = IP_HEADER_BYTES + tcp::header_len(segment) as u32 + segment.len;
        self.load = Load::Tcp { endpoint: endpoint ^ 1 };
        (self.flow, self.number) = transfer;
        self.exit = flow.nodes[end ^ 1];
        self.direction = if end == SENDER { flow.direction } else { flow.direction.opposite() };
        self.order = 0;
    }

    /// Becomes what a station has put out for the flow's connection.
    #[inline]
    pub fn take(&mut self, packet: &TcpPacket, flow: &Flow, transfer: (u32, u32)) {
        let end = if packet.direction == flow.direction { RECEIVER } else { SENDER };
        let (_, slot) = station::connection(packet.flow);
        let TcpPacket { ecn, bytes, segment, origin, direction, .. } = packet;
        self.transmit =
            Transmit { segment: *segment, ecn: *ecn, reason: origin.reason, offset: origin.offset };
        self.load = Load::Tcp { endpoint: slot << 1 | end as u32 };
        (self.flow, self.number) = transfer;
        (self.bytes, self.order) = (*bytes, origin.order);
        (self.exit, self.direction) = (flow.nodes[end], *direction);
    }

    /// Does it carry bytes of an application? Otherwise it is an acknowledgment, or opens or closes a connection.
    #[inline]
    pub fn is_data(&self) -> bool {
        match self.load {
            Load::Tcp { .. } => self.transmit.segment.len > 0,
            Load::Udp => true,
            Load::Header { .. } | Load::HeaderAck { .. } => false,
        }
    }

    /// Did its connection send it? A station may have made it.
    #[inline]
    pub fn is_from_its_connection(&self) -> bool {
        self.order != u32::MAX
    }

    /// The stream positions of its payload.
    #[inline]
    pub fn range(&self) -> Range<u64> {
        range(&self.transmit)
    }
}

/// The stream positions of a segment's payload.
#[inline]
pub fn range(transmit: &Transmit) -> Range<u64> {
    transmit.offset..transmit.offset + u64::from(transmit.segment.len)
}

/// The packets under way.
#[derive(Default)]
pub struct Packets {
    slots: Vec<Packet>,
    free: Vec<u32>,
}

impl Packets {
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> u32 {
        let id = self.vacant();
        self.occupy(id);
        self.slots[id as usize] = packet;
        id
    }

    /// A place for a packet. It holds whatever was there before, and stays vacant until [`occupy`](Packets::occupy).
    #[inline]
    pub fn vacant(&mut self) -> u32 {
        match self.free.last() {
            Some(id) => *id,
            None => self.grow(),
        }
    }

    /// The same with a copy of that packet in it, if any.
    #[inline]
    pub fn vacant_like(&mut self, packet: Option<u32>) -> u32 {
        let id = self.vacant();
        if let Some(packet) = packet {
            self.slots[id as usize] = self.slots[packet as usize];
        }
        id
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let id = self.slots.len() as u32;
        self.slots.push(Packet::default());
        self.free.push(id);
        id
    }

    /// Takes the place that [`vacant`](Packets::vacant) named last.
    #[inline]
    pub fn occupy(&mut self, id: u32) {
        let vacant = self.free.pop();
        debug_assert_eq!(vacant, Some(id));
    }

    #[inline]
    pub fn get(&self, id: u32) -> &Packet {
        &self.slots[id as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, id: u32) -> &mut Packet {
        &mut self.slots[id as usize]
    }

    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Packets for which there was ever need of a place at once.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.slots.len()
    }

    /// The packets that are still under way.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        let mut is_free = vec![false; self.slots.len()];
        self.free.iter().for_each(|&id| is_free[id as usize] = true);
        self.slots.iter().zip(is_free).filter(|(_, is_free)| !is_free).map(|(packet, _)| packet)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_packet_is_two_cache_lines() {
        assert_eq!(size_of::<super::Packet>(), 128);
    }
}
