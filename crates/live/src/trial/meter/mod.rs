//! Measures by the packets of a run: the emulator shows each of them when it enters the path, leaves it, or is lost.

mod conversation;
mod packet;
mod round_trips;

use super::books::Books;
use super::circuit;
use super::hosts::Hosts;
use crate::emulate::Observer;
use airtcp_proto::queue::DropCause;
use airtcp_proto::tcp::Reason;
use airtcp_sim::histogram::Histogram;
use airtcp_sim::series::Recorder;
use airtcp_sim::truth::Spurious;
use airtcp_wire::{Flags, Segment, Time};
use conversation::Conversation;
use packet::{ControlPacket, Direction};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

pub use packet::MeteredPacket;

/// Counts of a flow since the warm-up. Names are those of [`airtcp_sim::record::FlowRecord`].
#[derive(Clone, Debug, Default)]
pub struct FlowMeter {
    pub data_packets_sent: u64,
    pub data_packets_delivered: u64,
    /// Bytes of IP packets, headers included.
    pub data_bytes_delivered: u64,
    pub retransmissions: u64,
    pub fast_retransmits: u64,
    pub cwnd_reductions: u64,
    /// Lost data packets, in the order of [`DropCause`].
    pub losses: [u64; 4],
    pub acks_lost: u64,
    /// Payload bytes of datagrams that arrived.
    pub datagram_bytes: u64,
    pub rtt: Histogram,
    pub spurious: Spurious,
}

/// Counts of a circuit since the warm-up. Names are those of [`airtcp_sim::record::CircuitRecord`].
#[derive(Clone, Copy, Debug, Default)]
pub struct CircuitMeter {
    pub header_packets_sent: u64,
    pub header_bytes_sent: u64,
    pub header_packets_lost: u64,
    pub control_acks_sent: u64,
    pub control_ack_bytes_sent: u64,
    pub control_acks_lost: u64,
}

/// The [`Observer`] of a run.
pub struct Meter<'a> {
    books: &'a Books,
    /// By port, whether it is an end of the path. Packets are not counted again where they pass a router between the
    /// ends.
    are_ends: Vec<bool>,
    /// Whether the receiver gets other packets than the sender's.
    is_split: bool,
    /// By port.
    addresses: Vec<Ipv4Addr>,
    flows: Vec<FlowMeter>,
    /// By number.
    pub circuits: [CircuitMeter; circuit::MOST as usize],
    /// Data packets on the path, by flow.
    under_way: Vec<u64>,
    /// By the sender's port.
    conversations: BTreeMap<u16, (usize, Conversation)>,
    pub recorder: Option<Recorder>,
    /// Packets that entered or left the path, and data packets that reached their receiver, warm-up included.
    pub events: u64,
    pub packets_delivered: u64,
}

impl<'a> Meter<'a> {
    pub fn new(books: &'a Books, hosts: &Hosts, flows: usize, recorder: Option<Recorder>) -> Meter<'a> {
        Meter {
            books,
            are_ends: hosts.are_ends.clone(),
            is_split: hosts.are_split,
            addresses: hosts.addresses.clone(),
            flows: vec![FlowMeter::default(); flows],
            circuits: Default::default(),
            under_way: vec![0; flows],
            conversations: BTreeMap::new(),
            recorder,
            events: 0,
            packets_delivered: 0,
        }
    }

    /// Starts all counts anew, after the warm-up.
    pub fn begin_measurement(&mut self) {
        self.flows.fill(FlowMeter::default());
        self.circuits.fill(CircuitMeter::default());
        self.conversations.values_mut().for_each(|(_, conversation)| conversation.begin_measurement());
    }

    /// Each flow's counts, and the number of its data packets under way.
    pub fn read(&self) -> Vec<(FlowMeter, u64)> {
        let mut flows = self.flows.clone();
        for (flow, conversation) in self.conversations.values() {
            add(&mut flows[*flow].spurious, &conversation.spurious);
        }
        flows.into_iter().zip(self.under_way.iter().copied()).collect()
    }

    /// SND.UNA and SND.NXT of a connection as stream positions.
    pub fn positions(&self, port: u16) -> (u64, u64) {
        self.conversations.get(&port).map_or((0, 0), |(_, conversation)| (conversation.una, conversation.nxt))
    }

    fn syn_sent(&mut self, flow: usize, port: u16, syn: &Segment) {
        match self.conversations.get(&port) {
            Some((_, known)) if known.begins_with(syn) => known.syn_resent(),
            _ => self.begin(flow, port, syn),
        }
    }

    fn begin(&mut self, flow: usize, port: u16, syn: &Segment) {
        let conversation = Conversation::new(self.books.find(port), syn);
        if let Some((flow, ended)) = self.conversations.insert(port, (flow, conversation)) {
            add(&mut self.flows[flow].spurious, &ended.spurious);
        }
    }

    fn data_sent(&mut self, now: Time, (flow, port): (usize, u16), segment: &Segment, id: u16) {
        let Some((_, conversation)) = self.conversations.get_mut(&port) else { return };
        let Some(sent) = conversation.sent(now, segment, id) else { return };
        let meter = &mut self.flows[flow];
        meter.cwnd_reductions += u64::from(sent.is_reduced);
        if let Some(reason) = sent.reason {
            meter.retransmissions += 1;
            meter.fast_retransmits += u64::from(reason == Reason::FastRetransmit);
            if let Some(recorder) = &mut self.recorder {
                recorder.on_resent(now, flow as u32, reason, sent.offset);
            }
        }
    }

    fn acknowledged(&mut self, now: Time, (flow, port): (usize, u16), segment: &Segment) {
        let Some((_, conversation)) = self.conversations.get_mut(&port) else { return };
        let acked = conversation.acknowledged(now, segment);
        if let Some(rtt) = acked.rtt {
            self.flows[flow].rtt.add(rtt);
        }
        let Some(recorder) = &mut self.recorder else { return };
        if let Some(rtt) = acked.rtt {
            recorder.on_rtt(flow as u32, rtt);
        }
        if acked.is_duplicate {
            recorder.on_duplicate_ack(now, flow as u32, conversation.una);
        }
    }
}

impl CircuitMeter {
    fn sent(&mut self, packet: &ControlPacket) {
        let (packets, bytes) = match packet.is_ack {
            true => (&mut self.control_acks_sent, &mut self.control_ack_bytes_sent),
            false => (&mut self.header_packets_sent, &mut self.header_bytes_sent),
        };
        *packets += 1;
        *bytes += packet.bytes;
    }

    fn lost(&mut self, packet: &ControlPacket) {
        let lost = if packet.is_ack { &mut self.control_acks_lost } else { &mut self.header_packets_lost };
        *lost += 1;
    }
}

impl Observer for Meter<'_> {
    fn entered(&mut self, now: Time, port: usize, packet: &[u8]) {
        self.events += 1;
        self.settle_shed();
        let Some(seen) = self.read_packet(packet) else {
            if let Some(control) = ControlPacket::of_frame(packet)
                && control.from == IpAddr::from(self.addresses[port])
            {
                self.circuits[control.number].sent(&control);
            }
            return;
        };
        self.under_way[seen.flow()] += u64::from(seen.is_data());
        if !self.are_ends[port] {
            return;
        }
        self.flows[seen.flow()].data_packets_sent += u64::from(seen.is_data());
        if let MeteredPacket::Tcp { flow, port, direction: Direction::FromSender, segment, id, .. } = &seen {
            if segment.flags.contains(Flags::SYN) {
                self.syn_sent(*flow, *port, segment);
            }
            if segment.len > 0 {
                self.data_sent(now, (*flow, *port), segment, *id);
            }
        }
    }

    fn delivered(&mut self, due: Time, port: usize, packet: &[u8]) {
        self.events += 1;
        let Some(seen) = self.read_packet(packet) else { return };
        self.under_way[seen.flow()] -= u64::from(seen.is_data());
        if !self.are_ends[port] {
            return;
        }
        if seen.is_data() {
            let meter = &mut self.flows[seen.flow()];
            meter.data_packets_delivered += 1;
            meter.data_bytes_delivered += seen.bytes();
            self.packets_delivered += 1;
        }
        match &seen {
            MeteredPacket::Tcp { port, direction: Direction::FromSender, segment, id, .. }
                if segment.len > 0 && !self.is_split =>
            {
                if let Some((_, conversation)) = self.conversations.get_mut(port) {
                    conversation.delivered(segment, *id);
                }
            }
            MeteredPacket::Tcp { flow, port, direction: Direction::FromReceiver, segment, .. } => {
                self.acknowledged(due, (*flow, *port), segment);
            }
            MeteredPacket::Tcp { .. } => {}
            MeteredPacket::Datagram { flow, payload_bytes, .. } => {
                self.flows[*flow].datagram_bytes += payload_bytes;
                if let Some(recorder) = &mut self.recorder {
                    recorder.on_received(*flow as u32, *payload_bytes);
                }
            }
        }
    }

    fn lost(&mut self, at: Time, cause: DropCause, port: usize, packet: &[u8]) {
        self.events += 1;
        let Some(seen) = self.read_packet(packet) else {
            if let Some(control) = ControlPacket::of_frame(packet) {
                self.circuits[control.number].lost(&control);
            }
            return;
        };
        let is_known = !self.is_split || self.are_ends[port];
        let meter = &mut self.flows[seen.flow()];
        match seen.is_data() {
            true => {
                meter.losses[cause as usize] += 1;
                self.under_way[seen.flow()] -= 1;
            }
            false => meter.acks_lost += 1,
        }
        let offset = match &seen {
            MeteredPacket::Tcp { port, direction: Direction::FromSender, segment, id, .. }
                if segment.len > 0 && is_known =>
            {
                self.conversations
                    .get_mut(port)
                    .map_or(0, |(_, conversation)| conversation.lost(segment, *id))
            }
            _ => 0,
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.on_loss(at, seen.flow() as u32, cause, seen.is_data(), offset);
        }
    }
}

impl Meter<'_> {
    /// Packets that a gateway has shed are lost, though not on a link. Otherwise their retransmissions would stay
    /// undecided.
    fn settle_shed(&mut self) {
        for packet in self.books.take_shed() {
            if let MeteredPacket::Tcp { port, direction: Direction::FromSender, segment, id, .. } = &packet
                && segment.len > 0
                && let Some((_, conversation)) = self.conversations.get_mut(port)
            {
                conversation.lost(segment, *id);
            }
        }
    }

    /// `None` for a packet of no flow of this run.
    fn read_packet(&self, bytes: &[u8]) -> Option<MeteredPacket> {
        MeteredPacket::of_frame(bytes).filter(|packet| packet.flow() < self.flows.len())
    }
}

fn add(to: &mut Spurious, more: &Spurious) {
    to.retransmissions += more.retransmissions;
    to.timeouts += more.timeouts;
    to.fast_retransmits += more.fast_retransmits;
}
