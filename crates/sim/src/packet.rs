//! The packets under way, in a slab. Queues and links know a packet by its index there, its `id`.

use crate::flow::{Flow, RECEIVER, SENDER};
use crate::parcel::{IP_HEADER_BYTES, Parcel};
use crate::routes::RouteId;
use airtcp_proto::fec::Repair;
use airtcp_proto::middlebox::{Direction, FlowId, Origin, SeenPacket};
use airtcp_proto::queue::Item;
use airtcp_proto::tcp::{Reason, Transmit};
use airtcp_wire::{Ecn, Header, SackBlocks, Segment, SynOptions, tcp};
use std::ops::Range;

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Load {
    /// A TCP segment for this endpoint.
    Tcp { endpoint: u32 },
    /// A UDP datagram.
    #[default]
    Udp,
    /// A header packet of a circuit's control TCP, or a packet of its handshake. It has only headers on the wire,
    /// whatever length its segment stands for.
    Header { control: u16, repeats: u8 },
    /// An ACK from the receiver of that control TCP.
    HeaderAck { control: u16 },
    /// A circuit's repair of data packets, for its exit.
    Repair,
}

impl Load {
    /// Is it a packet of a circuit's own?
    #[inline]
    pub fn is_control(self) -> bool {
        matches!(self, Load::Header { .. } | Load::HeaderAck { .. } | Load::Repair)
    }
}

/// What a packet is to the repair of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A data packet with this number.
    Source(u32),
    Repair(Repair),
}

/// A packet takes exactly one cache line. What few packets have is kept beside the slab: see [`Packets`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Packet {
    pub header: Header,
    /// Stream position of the first payload byte.
    pub offset: u64,
    pub load: Load,
    /// Index of its flow; for a control packet, of its circuit.
    pub flow: u32,
    /// Stands for the addresses and ports: the connection's number, or a number of a datagram flow's own.
    pub number: u32,
    /// Length of the IP packet.
    pub bytes: u32,
    /// Index of its [`Extra`]; 0 if it has none.
    extra: u32,
    /// Node at which it leaves the path.
    pub exit: u16,
    /// How it gets there.
    pub route: RouteId,
    /// Current ECN field; queues may have marked it.
    pub ecn: Ecn,
    pub reason: Reason,
    pub direction: Direction,
}

/// What only few packets have.
#[derive(Clone, Copy, Debug, Default)]
struct Extra {
    sack: SackBlocks,
    syn: SynOptions,
    /// Which copy of its bytes the packet carries: see [`crate::truth`].
    order: u32,
    part: Option<Part>,
}

/// A packet by value, as it can be [inserted](Packets::insert_copied) again.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    pub packet: Packet,
    extra: Extra,
}

/// The [order](Packets::order) of a packet that a station made.
pub const STATIONS_OWN: u32 = u32::MAX;

impl Packet {
    /// A datagram of the flow with this index.
    pub fn datagram(flow: &Flow, index: u32, bytes: u32) -> Packet {
        let (number, exit, route) = (u32::MAX - index, flow.nodes[RECEIVER], flow.routes[SENDER]);
        Packet { flow: index, number, bytes, exit, route, direction: flow.direction, ..Packet::default() }
    }

    /// Fills in what surrounds a segment that `endpoint` sends. `transfer` has the numbers of the flow and the
    /// connection.
    #[inline]
    pub fn address(&mut self, endpoint: u32, flow: &Flow, transfer: (u32, u32)) {
        let end = (endpoint & 1) as usize;
        self.load = Load::Tcp { endpoint: endpoint ^ 1 };
        (self.flow, self.number) = transfer;
        (self.exit, self.route) = (flow.nodes[end ^ 1], flow.routes[end]);
        self.direction = if end == SENDER { flow.direction } else { flow.direction.opposite() };
    }

    /// Takes the header of a segment that is no SYN and has this number of SACK `blocks`.
    #[inline]
    pub fn carry(&mut self, header: Header, ecn: Ecn, reason: Reason, blocks: usize) {
        (self.header, self.ecn, self.reason) = (header, ecn, reason);
        self.bytes = IP_HEADER_BYTES + tcp::plain_header_len(&header, blocks) as u32 + header.len;
    }

    /// The packet as queues and links see it.
    #[inline(always)]
    pub fn item(&self, id: u32) -> Item {
        let is_header = matches!(self.load, Load::Header { .. });
        Item { id, bytes: self.bytes, flow: self.number, is_header, ecn: self.ecn }
    }

    /// Is its [header](Packet::header) its whole segment, and its data sent for the first time?
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.extra == 0
    }

    /// Does it carry bytes of an application? If not, it is an acknowledgment, or opens or closes a connection.
    #[inline]
    pub fn is_data(&self) -> bool {
        match self.load {
            Load::Tcp { .. } => self.header.len > 0,
            Load::Udp => true,
            Load::Header { .. } | Load::HeaderAck { .. } | Load::Repair => false,
        }
    }

    /// The stream positions of its payload.
    #[inline]
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + u64::from(self.header.len)
    }
}

/// The slab, and beside it what few packets have: SACK blocks, the options of a SYN, the number of a copy.
pub struct Packets {
    slots: Vec<Packet>,
    free: Vec<u32>,
    /// The first one is empty and stands for none.
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
    /// The slot that the next packet takes. Links may name a packet by it before the packet exists.
    #[inline]
    pub fn vacant(&mut self) -> u32 {
        match self.free.last() {
            Some(id) => *id,
            None => self.grow(),
        }
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let id = self.slots.len() as u32;
        self.slots.push(Packet::default());
        self.free.push(id);
        id
    }

    /// Takes the vacant slot, which still holds its last packet but no [`Extra`].
    #[inline]
    fn occupy(&mut self) -> u32 {
        let id = self.vacant();
        self.free.pop();
        id
    }

    #[inline]
    pub fn insert(&mut self, packet: Packet) -> u32 {
        let id = self.occupy();
        self.slots[id as usize] = packet;
        id
    }

    /// Inserts new data that starts at stream position `offset`.
    #[inline]
    pub fn insert_new_data(&mut self, header: &Header, ecn: Ecn, offset: u64) -> u32 {
        let id = self.occupy();
        let packet = self.get_mut(id);
        packet.carry(*header, ecn, Reason::New, 0);
        packet.offset = offset;
        id
    }

    /// Inserts an ACK with these SACK blocks.
    #[inline]
    pub fn insert_ack(&mut self, ack: Header, sack: &SackBlocks) -> u32 {
        let id = self.occupy();
        let packet = self.get_mut(id);
        packet.carry(ack, Ecn::NotEct, Reason::Ack, sack.as_slice().len());
        packet.offset = 0;
        if !sack.is_empty() {
            self.extra_mut(id).sack = *sack;
        }
        id
    }

    /// Inserts any segment.
    pub fn insert_segment(&mut self, transmit: &Transmit) -> u32 {
        let &Transmit { ref segment, ecn, reason, offset } = transmit;
        let id = self.occupy();
        let packet = self.get_mut(id);
        packet.header = segment.into();
        packet.bytes = IP_HEADER_BYTES + tcp::header_len(segment) as u32 + segment.len;
        (packet.ecn, packet.reason, packet.offset) = (ecn, reason, offset);
        let Segment { sack, syn, .. } = *segment;
        if !sack.is_empty() || syn != SynOptions::default() {
            *self.extra_mut(id) = Extra { sack, syn, ..Extra::default() };
        }
        id
    }

    /// Inserts a packet of the flow's connection that a station puts out.
    pub fn insert_seen(&mut self, packet: &SeenPacket, flow: &Flow, transfer: (u32, u32)) -> u32 {
        let &SeenPacket { segment, ecn, bytes, direction, origin: Origin { order, reason, offset }, .. } =
            packet;
        let id = self.insert_segment(&Transmit { segment, ecn, reason, offset });
        self.set_order(id, order);
        let end = if direction == flow.direction { SENDER } else { RECEIVER };
        let (_, slot) = connection(packet.flow);
        let packet = self.get_mut(id);
        packet.address(slot << 1 | end as u32, flow, transfer);
        packet.bytes = bytes;
        id
    }

    pub fn copied(&self, id: u32) -> Copied {
        Copied { packet: *self.get(id), extra: *self.extra(id) }
    }

    pub fn insert_copied(&mut self, &Copied { packet, extra }: &Copied) -> u32 {
        let id = self.insert(Packet { extra: 0, ..packet });
        if packet.extra != 0 {
            *self.extra_mut(id) = extra;
        }
        id
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
        if self.slots[id as usize].extra != 0 {
            self.free_extra(id);
        }
        self.free.push(id);
    }

    fn free_extra(&mut self, id: u32) {
        let extra = std::mem::take(&mut self.slots[id as usize].extra);
        self.extras[extra as usize] = Extra::default();
        self.free_extras.push(extra);
    }

    /// The packet's [`Extra`], which it gets if it has none.
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

    /// Is the packet's [header](Packet::header) its whole segment? Its data may be a copy.
    #[inline]
    pub fn is_header_all(&self, id: u32) -> bool {
        let is_bare = |extra: &Extra| extra.sack.is_empty() && extra.syn == SynOptions::default();
        self.get(id).is_plain() || is_bare(self.extra(id))
    }

    /// Which copy of its bytes the packet carries: see [`crate::truth`].
    #[inline]
    pub fn order(&self, id: u32) -> u32 {
        self.extra(id).order
    }

    pub fn set_order(&mut self, id: u32, order: u32) {
        if order != self.order(id) {
            self.extra_mut(id).order = order;
        }
    }

    /// What the packet is to the circuit that repairs data.
    pub fn part(&self, id: u32) -> Option<Part> {
        self.extra(id).part
    }

    pub fn set_part(&mut self, id: u32, part: Part) {
        self.extra_mut(id).part = Some(part);
    }

    #[inline]
    pub fn sack(&self, id: u32) -> &SackBlocks {
        &self.extra(id).sack
    }

    /// The packet of a connection by value, without SACK blocks and the options of a SYN.
    #[inline]
    pub fn parcel(&self, id: u32) -> Parcel {
        let &Packet { header, offset, ecn, bytes, .. } = self.get(id);
        Parcel { header, offset, ecn, bytes, order: self.order(id) }
    }

    /// The packet's segment with all its options.
    pub fn segment(&self, id: u32) -> Segment {
        let &Extra { sack, syn, .. } = self.extra(id);
        Segment { sack, syn, ..(&self.get(id).header).into() }
    }

    /// The largest number of packets that were ever under way at once.
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

/// Names a connection to stations. Places are used again, but the numbers of connections are not.
pub fn flow_id(number: u32, slot: u32) -> FlowId {
    FlowId(u64::from(number) << 32 | u64::from(slot))
}

/// The number and the place of the connection that has this name.
pub fn connection(flow: FlowId) -> (u32, u32) {
    ((flow.0 >> 32) as u32, flow.0 as u32)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_packet_is_one_cache_line() {
        assert_eq!(size_of::<super::Packet>(), 64);
    }
}
