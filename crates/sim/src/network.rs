//! The network: packets, the links that carry them, and what watches them.

use crate::ahead::Ahead;
use crate::flow::{Flow, SENDER};
use crate::packet::{Packet, Packets};
use crate::packet_log::PacketLog;
use crate::parcel::IP_HEADER_BYTES;
use crate::series::Recorder;
use crate::tap::Tap;
use crate::topology::{Side, Topology};
use airtcp_proto::middlebox::Direction;
use airtcp_proto::path::{Fate, Output};
use airtcp_wire::{Dur, SackBlocks, Time};
use std::collections::VecDeque;

pub const UDP_HEADERS_BYTES: u32 = IP_HEADER_BYTES + 8;

pub struct Network {
    pub now: Time,
    pub topology: Topology,
    pub packets: Packets,
    pub recorder: Option<Recorder>,
    pub taps: Vec<Tap>,
    pub log: Option<PacketLog>,
    /// Is there a recorder, a tap or a log?
    pub is_watched: bool,
    /// The SACK blocks of the ACK that is being sent.
    pub sack: SackBlocks,
    /// Packets that were sent at a node with stations, and the node. They are handled after the current event.
    pub sent_at_station: VecDeque<(u32, u16)>,
    /// What is on its way to and from the end of the path that is [ahead](crate::ahead).
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
            is_watched: recorder.is_some() || !taps.is_empty() || log.is_some(),
            recorder,
            taps,
            log,
            sack: SackBlocks::default(),
            sent_at_station: VecDeque::new(),
            ahead: Ahead::default(),
        }
    }

    /// Takes what comes out of a link now.
    #[inline]
    pub fn poll(&mut self, side: Side) -> Option<Output> {
        let output = self.topology.poll(self.now, side)?;
        self.packets.get_mut(output.id).ecn = output.ecn;
        if self.is_watched {
            self.watch_out(side, &output);
        }
        Some(output)
    }

    /// Takes a packet that comes out of a link as it went in, if nobody watches. Also returns the node that it has
    /// reached, if no station stands there.
    #[inline]
    pub fn poll_intact(&mut self, side: Side) -> Option<(u32, u16)> {
        if self.is_watched {
            return None;
        }
        self.topology.poll_intact(self.now, side)
    }

    /// Sends a packet from one end of its flow.
    #[inline(always)]
    pub fn send(&mut self, flow: &Flow, end: usize, id: u32) {
        let node = flow.nodes[end];
        match flow.handlers.is_empty() || !self.topology.has_station(node) {
            true => self.enter(id, flow.ways[end]),
            false => self.sent_at_station.push_back((id, node)),
        }
    }

    /// Sends a packet from a node into the next link.
    #[inline(always)]
    pub fn forward(&mut self, id: u32, node: u16) {
        let side = self.topology.way_out(self.packets.get(id).route, node);
        self.enter(id, side);
    }

    /// Sends a packet into a link.
    #[inline(always)]
    fn enter(&mut self, id: u32, side: Side) {
        let packet = self.packets.get(id);
        if let Some(at) = self.topology.send(self.now, side, packet.item(id)) {
            self.ahead.take(id, packet.direction, self.topology.near_node(side), at);
        }
        if self.is_watched {
            self.watch_sent(side, id);
        }
    }

    /// Sets the horizon later: packets that links have kept because they come out after it are released and sent on.
    pub fn set_horizon(&mut self, horizon: Time) {
        self.topology.set_horizon(horizon);
        for direction in [Direction::Forward, Direction::Reverse] {
            for side in self.topology.foreseen_sides(direction) {
                while let Some((at, id)) = self.topology.release(side) {
                    let packet = self.packets.get(id);
                    if let Some(at) = self.topology.send_released(at, side, packet.item(id)) {
                        self.ahead.take(id, direction, self.topology.near_node(side), at);
                    }
                }
            }
        }
    }

    pub fn send_datagram(&mut self, flow: &mut Flow, index: u32, bytes: u32) {
        flow.counts.data_packets_sent += 1;
        let id = self.packets.insert(Packet::datagram(flow, index, bytes));
        self.send(flow, SENDER, id);
    }

    /// The recorder, if it samples at every change.
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

    /// Samples the queue when a packet enters or leaves a link, and captures what the link's near node sees: what
    /// leaves it forward and what arrives there in reverse.
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
