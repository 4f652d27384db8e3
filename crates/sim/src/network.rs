//! The network: packets, the links that carry them, and whoever watches.

use crate::ahead::Ahead;
use crate::flow::{Flow, RECEIVER, SENDER, Transfer, is_retransmission};
use crate::packet::{IP_HEADER_BYTES, Packet, Packets};
use crate::packet_log::PacketLog;
use crate::series::Recorder;
use crate::tap::Tap;
use crate::topology::{Side, Topology};
use airtcp_proto::middlebox::Direction;
use airtcp_proto::path::{Fate, Output};
use airtcp_proto::tcp::{Reason, Transmit};
use airtcp_wire::{Dur, Flags, SackBlocks, Time};
use std::collections::VecDeque;

pub const UDP_HEADERS_BYTES: u32 = IP_HEADER_BYTES + 8;

pub struct Network {
    pub now: Time,
    pub topology: Topology,
    pub packets: Packets,
    /// Data packets that have come to where they go.
    pub packets_delivered: u64,
    pub recorder: Option<Recorder>,
    pub taps: Vec<Tap>,
    pub log: Option<PacketLog>,
    /// There is a recorder, a tap or a log.
    is_watched: bool,
    /// Where an ACK's blocks are written.
    pub sack: SackBlocks,
    /// Packets that were sent at a node with stations, to be handled when the present event is done.
    pub sent_at_station: VecDeque<(u32, u16)>,
    /// What is on its way to and from the end of the path that is ahead.
    pub ahead: Ahead,
}

impl Network {
    pub fn new(
        topology: Topology,
        recorder: Option<Recorder>,
        taps: Vec<Tap>,
        log: Option<PacketLog>,
    ) -> Network {
        Network {
            now: Time::ZERO,
            topology,
            packets: Packets::default(),
            packets_delivered: 0,
            is_watched: recorder.is_some() || !taps.is_empty() || log.is_some(),
            recorder,
            taps,
            log,
            sack: SackBlocks::default(),
            sent_at_station: VecDeque::new(),
            ahead: Ahead::default(),
        }
    }

    /// What a link has to give now.
    #[inline]
    pub fn poll(&mut self, side: Side) -> Option<Output> {
        let output = self.topology.poll(self.now, side)?;
        self.packets.get_mut(output.id).ecn = output.ecn;
        if self.is_watched {
            self.watch_out(side, &output);
        }
        Some(output)
    }

    /// The same of a packet that comes out as it went in, where nobody watches, and the node that it has come to, if no
    /// station stands there.
    #[inline]
    pub fn poll_intact(&mut self, side: Side) -> Option<(u32, u16)> {
        if self.is_watched {
            return None;
        }
        self.topology.poll_intact(self.now, side)
    }

    /// One end of a flow sends a packet.
    #[inline(always)]
    pub fn send(&mut self, flow: &Flow, end: usize, id: u32) {
        let node = flow.nodes[end];
        match flow.stops.is_empty() || !self.topology.has_station(node) {
            true => self.forward(id, node),
            false => self.sent_at_station.push_back((id, node)),
        }
    }

    /// A packet leaves a node for the next link.
    #[inline(always)]
    pub fn forward(&mut self, id: u32, node: u16) {
        let packet = self.packets.get(id);
        let side = Side::out_of(node, packet.direction);
        if let Some(at) = self.topology.send(self.now, side, packet.item(id)) {
            let direction = self.packets.get(id).direction;
            self.ahead.take(id, direction, node, at);
        }
        if self.is_watched {
            self.watch_sent(side, id);
        }
    }

    /// The horizon moves on: what links have kept, as it comes out later, may come to an end of the path by then.
    pub fn set_horizon(&mut self, horizon: Time) {
        self.topology.set_horizon(horizon);
        for direction in [Direction::Forward, Direction::Reverse] {
            for side in self.topology.foreseen_sides(direction) {
                while let Some((at, id)) = self.topology.release(side) {
                    let packet = self.packets.get(id);
                    if let Some(at) = self.topology.send_released(at, side, packet.item(id)) {
                        self.ahead.take(id, direction, side.near_node(), at);
                    }
                }
            }
        }
    }

    /// Takes from a connection that only sends what is expected of it, and passes it to `send`: full segments of new data, but
    /// no more than `most` of them. Returns how many more it may send of something else; `None`: that was all that may leave.
    // Of its callers two are hot.
    #[inline(always)]
    pub fn take_expected(
        &mut self,
        transfer: &mut Transfer,
        endpoint: u32,
        flow: &mut Flow,
        mut most: u32,
        mut send: impl FnMut(&mut Network, &Flow, u32),
    ) -> Option<u32> {
        while most > 0
            && let Some(mut burst) = transfer.ends[SENDER].begin_burst(self.now)
        {
            burst.limit_to(most);
            let mut last = None;
            while transfer.ends[SENDER].continues(&burst) {
                let id = self.packets.insert_like(last);
                let packet = self.packets.get_mut(id);
                let sender = &mut transfer.ends[SENDER];
                if last.is_none() {
                    packet.carry(sender.open_burst(self.now), sender.new_data_ecn(), Reason::New, 0);
                    packet.address(endpoint, flow, (transfer.flow, transfer.number));
                }
                packet.offset = sender.next_in_burst(self.now, &mut burst, &mut packet.header);
                transfer.on_sent(packet.range().end);
                send(self, flow, id);
                last = Some(id);
            }
            transfer.under_way += burst.sent;
            flow.counts.data_packets_sent += u64::from(burst.sent);
            most -= burst.sent;
            if transfer.ends[SENDER].end_burst(self.now, &burst) {
                return None;
            }
        }
        Some(most)
    }

    /// Takes from one end of a connection what it may send now, and passes it to `send`, but no more than `most` packets.
    /// `endpoint` is its number. Returns whether that was all.
    // Of its two callers one is hot.
    #[inline(always)]
    pub fn drain(
        &mut self,
        transfer: &mut Transfer,
        endpoint: u32,
        flow: &mut Flow,
        most: u32,
        mut send: impl FnMut(&mut Network, &Flow, u32),
    ) -> bool {
        let end = (endpoint & 1) as usize;
        let mut transmit = Transmit::default();
        for _ in 0..most {
            if !transfer.ends[end].poll_transmit_into(self.now, &mut transmit) {
                return true;
            }
            let id = self.packets.vacant();
            self.packets.occupy(id);
            self.packets.put(id, &transmit);
            self.packets.get_mut(id).address(endpoint, flow, transfer.numbers());
            transfer.under_way += 1;
            if transmit.segment.len > 0 {
                flow.counts.on_sent(transmit.reason);
                let order = account(transfer, flow, &transmit, self.now, self.recorder.as_mut());
                self.packets.set_order(id, order);
            }
            let is_last = transmit.reason == Reason::Ack && !transmit.segment.flags.contains(Flags::RST);
            send(self, flow, id);
            if is_last {
                return true;
            }
        }
        false
    }

    pub fn send_datagram(&mut self, flow: &mut Flow, index: u32, bytes: u32) {
        flow.counts.data_packets_sent += 1;
        let id = self.packets.insert(Packet::datagram(flow, index, bytes));
        self.send(flow, SENDER, id);
    }

    #[inline]
    pub fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// The recorder, if it samples at each change.
    pub fn keen_recorder(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_mut().filter(|recorder| recorder.interval == Dur::ZERO)
    }

    /// Samples every queue.
    pub fn sample_queues(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        for side in self.topology.sides() {
            recorder.on_queue(self.now, side.0, &self.topology.side_mut(side).queue_view(self.now));
        }
    }

    #[cold]
    fn watch_sent(&mut self, side: Side, id: u32) {
        if let Some(log) = &mut self.log {
            log.on_sent(self.now, side, id, &self.packets);
        }
        self.watch(side, Direction::Forward, id, Fate::Delivered);
    }

    #[cold]
    fn watch_out(&mut self, side: Side, output: &Output) {
        if let Some(log) = &mut self.log {
            log.on_out(output);
        }
        self.watch(side, Direction::Reverse, output.id, output.fate);
    }

    /// A packet goes onto a link or has come off it: samples the queue, and captures what the link's near node sees,
    /// which is what leaves forward and what arrives on the way back.
    fn watch(&mut self, side: Side, captured: Direction, id: u32, fate: Fate) {
        let view = self.topology.side_mut(side).queue_view(self.now);
        let now = self.now;
        if let Some(recorder) = self.keen_recorder() {
            recorder.on_queue(now, side.0, &view);
        }
        if side.direction() == captured && fate == Fate::Delivered {
            let taps = self.taps.iter_mut().filter(|tap| tap.link == side.link());
            taps.for_each(|tap| tap.write(now, id, &self.packets));
        }
    }
}

/// Books data that is sent, and returns which copy of its bytes it is.
fn account(
    transfer: &mut Transfer,
    flow: &Flow,
    transmit: &Transmit,
    now: Time,
    recorder: Option<&mut Recorder>,
) -> u32 {
    let range = transmit.offset..transmit.offset + u64::from(transmit.segment.len);
    if !is_retransmission(transmit.reason) {
        transfer.on_sent(range.end);
        return 0;
    }
    if let Some(recorder) = recorder {
        recorder.on_resent(now, transfer.flow, transmit.reason, transmit.offset);
    }
    // What reaches a proxy has arrived, which nobody here can see.
    if flow.scheme.is_split() {
        return 0;
    }
    let Transfer { truth, ends, .. } = transfer;
    truth.resent(range, transmit.reason, |range| ends[RECEIVER].has_received(range.start, range.end))
}
