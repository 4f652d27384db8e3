//! Packets on their way, in a slab: queues and links know them by number.

use crate::flow::{Flow, RECEIVER, SENDER};
use crate::station;
use airtcp_proto::middlebox::{Direction, Origin, SeenPacket};
use airtcp_proto::queue::Item;
use airtcp_proto::tcp::{Reason, Transmit};
use airtcp_wire::{Ecn, Header, SackBlocks, Segment, SynOptions, tcp};
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

/// One cache line exactly. What few packets have stands beside it: see [`Packets`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Packet {
    pub header: Header,
    /// Stream position of the first payload byte.
    pub offset: u64,
    pub load: Load,
    /// The flow, or, of a control packet, the circuit.
    pub flow: u32,
    /// Stands for the addresses and ports: the connection's number, or one for the flow of datagrams.
    pub number: u32,
    /// Length of the IP packet.
    pub bytes: u32,
    /// Where its [`Extra`] is; 0: there is none.
    extra: u32,
    /// Node at which it leaves the path.
    pub exit: u16,
    /// The ECN field as it is now.
    pub ecn: Ecn,
    pub reason: Reason,
    pub direction: Direction,
}

/// What few packets have.
#[derive(Clone, Copy, Debug, Default)]
struct Extra {
    sack: SackBlocks,
    syn: SynOptions,
    /// Which copy of its bytes this is: see [`crate::truth`].
    order: u32,
}

pub const IP_HEADER_BYTES: u32 = 20;

/// The [order](Packets::order) of what no connection sent, but a station.
pub const STATIONS_OWN: u32 = u32::MAX;

impl Packet {
    /// A datagram of the flow with that index.
    pub fn datagram(flow: &Flow, index: u32, bytes: u32) -> Packet {
        let (number, exit) = (u32::MAX - index, flow.nodes[RECEIVER]);
        Packet { flow: index, number, bytes, exit, direction: flow.direction, ..Packet::default() }
    }

    /// Fills in what an endpoint of the flow's connection puts around the segment that it sends. `transfer`: the flow's number
    /// and the connection's.
    #[inline]
    pub fn address(&mut self, endpoint: u32, flow: &Flow, transfer: (u32, u32)) {
        let end = (endpoint & 1) as usize;
        self.load = Load::Tcp { endpoint: endpoint ^ 1 };
        (self.flow, self.number) = transfer;
        self.exit = flow.nodes[end ^ 1];
        self.direction = if end == SENDER { flow.direction } else { flow.direction.opposite() };
    }

    /// Becomes a segment with so many SACK blocks that is no SYN.
    #[inline]
    pub fn carry(&mut self, header: Header, ecn: Ecn, reason: Reason, blocks: usize) {
        (self.header, self.ecn, self.reason) = (header, ecn, reason);
        self.bytes = IP_HEADER_BYTES + tcp::plain_header_len(&header, blocks) as u32 + header.len;
    }

    /// The packet, which has this number, as links know it.
    #[inline(always)]
    pub fn item(&self, id: u32) -> Item {
        let is_header = matches!(self.load, Load::Header { .. });
        Item { id, bytes: self.bytes, flow: self.number, is_header, ecn: self.ecn }
    }

    /// Is its [header](Packet::header) all of its segment, and it no copy?
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.extra == 0
    }

    /// Does it carry bytes of an application? Otherwise it is an acknowledgment, or opens or closes a connection.
    #[inline]
    pub fn is_data(&self) -> bool {
        match self.load {
            Load::Tcp { .. } => self.header.len > 0,
            Load::Udp => true,
            Load::Header { .. } | Load::HeaderAck { .. } => false,
        }
    }

    /// The stream positions of its payload.
    #[inline]
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + u64::from(self.header.len)
    }
}

/// The packets under way, and beside them what few of them have: SACK blocks, the options of a SYN, the number of a copy.
pub struct Packets {
    slots: Vec<Packet>,
    free: Vec<u32>,
    /// The first one stands for none.
    extras: Vec<Extra>,
    free_extras: Vec<u32>,
}

impl Default for Packets {
    fn default() -> Packets {
        let (slots, free) = (Vec::new(), Vec::new());
        Packets { slots, free, extras: vec![Extra::default()], free_extras: Vec::new() }
    }
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

    /// Takes a place for a packet, with a copy of that one in it, if any, but for what stands beside that.
    #[inline]
    pub fn insert_like(&mut self, packet: Option<u32>) -> u32 {
        let id = self.vacant();
        self.occupy(id);
        if let Some(packet) = packet {
            self.slots[id as usize] = Packet { extra: 0, ..self.slots[packet as usize] };
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
        self.forget_extra(id);
        self.free.push(id);
    }

    /// The same of a [plain](Packet::is_plain) one.
    #[inline]
    pub fn remove_plain(&mut self, id: u32) {
        debug_assert!(self.get(id).is_plain());
        self.free.push(id);
    }

    #[inline]
    fn forget_extra(&mut self, id: u32) {
        if self.slots[id as usize].extra != 0 {
            self.free_extra(id);
        }
    }

    fn free_extra(&mut self, id: u32) {
        let extra = std::mem::take(&mut self.slots[id as usize].extra);
        self.extras[extra as usize] = Extra::default();
        self.free_extras.push(extra);
    }

    /// What stands beside the packet, in a place that it has from now on.
    fn extra_mut(&mut self, id: u32) -> &mut Extra {
        let packet = &mut self.slots[id as usize];
        if packet.extra == 0 {
            packet.extra = self.free_extras.pop().unwrap_or_else(|| {
                self.extras.push(Extra::default());
                self.extras.len() as u32 - 1
            });
        }
        &mut self.extras[packet.extra as usize]
    }

    fn extra(&self, id: u32) -> &Extra {
        &self.extras[self.get(id).extra as usize]
    }

    /// Is the packet's [header](Packet::header) all of its segment? It may be a copy.
    #[inline]
    pub fn is_header_all(&self, id: u32) -> bool {
        let is_bare = |extra: &Extra| extra.sack.is_empty() && extra.syn == SynOptions::default();
        self.get(id).is_plain() || is_bare(self.extra(id))
    }

    /// Which copy of its bytes the packet is.
    #[inline]
    pub fn order(&self, id: u32) -> u32 {
        self.extra(id).order
    }

    pub fn set_order(&mut self, id: u32, order: u32) {
        if order != self.order(id) {
            self.extra_mut(id).order = order;
        }
    }

    /// The packet's place takes an ACK with these blocks.
    #[inline]
    pub fn put_ack(&mut self, id: u32, ack: Header, sack: &SackBlocks) {
        self.forget_extra(id);
        let packet = self.get_mut(id);
        packet.carry(ack, Ecn::NotEct, Reason::Ack, sack.as_slice().len());
        packet.offset = 0;
        if !sack.is_empty() {
            self.extra_mut(id).sack = *sack;
        }
    }

    /// Takes a place for an ACK with these blocks: that which [`vacant`](Packets::vacant) names.
    #[inline]
    pub fn insert_ack(&mut self, ack: Header, sack: &SackBlocks) -> u32 {
        let id = self.vacant();
        self.occupy(id);
        self.put_ack(id, ack, sack);
        id
    }

    /// The same of an ACK that the receiver of the flow's connection sends to that endpoint.
    #[inline]
    pub fn insert_answer(
        &mut self,
        ack: Header,
        sack: &SackBlocks,
        endpoint: u32,
        flow: &Flow,
        transfer: (u32, u32),
    ) -> u32 {
        let id = self.insert_ack(ack, sack);
        self.get_mut(id).address(endpoint ^ 1, flow, transfer);
        id
    }

    /// The packet's SACK blocks.
    #[inline]
    pub fn sack(&self, id: u32) -> &SackBlocks {
        &self.extra(id).sack
    }

    /// The packet's segment with all its options.
    pub fn segment(&self, id: u32) -> Segment {
        let &Extra { sack, syn, .. } = self.extra(id);
        Segment { sack, syn, ..(&self.get(id).header).into() }
    }

    /// The packet's segment as it was sent; the ECN field as it is now.
    pub fn transmit(&self, id: u32) -> Transmit {
        let &Packet { ecn, reason, offset, .. } = self.get(id);
        Transmit { segment: self.segment(id), ecn, reason, offset }
    }

    /// The packet's place takes a segment.
    pub fn put(&mut self, id: u32, transmit: &Transmit) {
        let &Transmit { ref segment, ecn, reason, offset } = transmit;
        self.forget_extra(id);
        let packet = &mut self.slots[id as usize];
        packet.header = segment.into();
        packet.bytes = IP_HEADER_BYTES + tcp::header_len(segment) as u32 + segment.len;
        (packet.ecn, packet.reason, packet.offset) = (ecn, reason, offset);
        let Segment { sack, syn, .. } = *segment;
        if !sack.is_empty() || syn != SynOptions::default() {
            *self.extra_mut(id) = Extra { sack, syn, order: 0 };
        }
    }

    /// The same of what a station has put out for the flow's connection.
    pub fn take(&mut self, id: u32, packet: &SeenPacket, flow: &Flow, transfer: (u32, u32)) {
        let &SeenPacket { segment, ecn, bytes, direction, origin: Origin { order, reason, offset }, .. } =
            packet;
        self.put(id, &Transmit { segment, ecn, reason, offset });
        self.set_order(id, order);
        let end = if direction == flow.direction { SENDER } else { RECEIVER };
        let (_, slot) = station::connection(packet.flow);
        let taken = self.get_mut(id);
        taken.address(slot << 1 | end as u32, flow, transfer);
        taken.bytes = bytes;
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
    fn a_packet_is_one_cache_line() {
        assert_eq!(size_of::<super::Packet>(), 64);
    }
}
