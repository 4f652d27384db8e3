//! Stations: what stands at a node and handles the packets of some flows. Packets go in, others come out.

use crate::engine::Engine;
use crate::flow::{Phase, RECEIVER, SENDER, Transfer};
use crate::packet::{Load, Packet};
use airtcp_proto::middlebox::{FlowId, Middlebox, Origin, TcpPacket};
use airtcp_proto::tcp::Transmit;

/// A middlebox and where it stands. Which flows it serves is for the flows to say: [`crate::flow::Flow::stations`].
pub struct Station {
    pub node: u16,
    pub machine: Box<dyn Middlebox>,
}

impl Engine {
    /// A station's timer may be due.
    pub fn on_station(&mut self, station: usize) {
        let Station { node, machine } = &mut self.stations[station];
        let node = *node;
        if machine.poll_timeout() <= self.network.now {
            let mut out = std::mem::take(&mut self.scratch);
            machine.handle_timeout(self.network.now, &mut out);
            self.leave_station(node, out);
        }
        self.schedule_station(station);
    }

    pub fn schedule_station(&mut self, station: usize) {
        let deadline = self.stations[station].machine.poll_timeout();
        self.timers.set(self.station_timer(station), deadline);
    }

    /// A packet is at a node with stations. Those that serve other flows, and datagrams, pass it by.
    #[cold]
    pub fn through_station(&mut self, id: u32, node: u16) {
        let packet = *self.network.packets.get(id);
        let station = self.flows[packet.flow as usize].station_at(node);
        let (Load::Tcp { endpoint }, Some(station)) = (packet.load, station) else {
            return self.leave_node(id, node);
        };
        let transfer = &mut self.transfers[(endpoint >> 1) as usize];
        let seen = TcpPacket {
            flow: flow_id(transfer, endpoint >> 1),
            direction: packet.direction,
            ecn: packet.transmit.ecn,
            bytes: packet.bytes,
            segment: packet.transmit.segment,
            origin: Origin {
                order: packet.order,
                reason: packet.transmit.reason,
                offset: packet.transmit.offset,
            },
        };
        let mut out = std::mem::take(&mut self.scratch);
        self.stations[station].machine.handle_packet(self.network.now, seen, &mut out);
        self.network.packets.remove(id);
        transfer.under_way -= 1;
        self.leave_station(node, out);
        self.schedule_station(station);
        self.retire_if_over(endpoint >> 1);
    }

    /// Sends on what a station put out, but for connections that are over.
    fn leave_station(&mut self, node: u16, mut out: Vec<TcpPacket>) {
        for packet in out.drain(..) {
            let slot = packet.flow.0 as u32;
            let transfer = &self.transfers[slot as usize];
            if flow_id(transfer, slot) == packet.flow && transfer.phase != Phase::Retired {
                let id = self.emit(slot, &packet);
                self.leave_node(id, node);
            }
        }
        self.scratch = out;
    }

    /// Makes a packet of what a station put out for the connection at `slot`.
    fn emit(&mut self, slot: u32, packet: &TcpPacket) -> u32 {
        let transfer = &mut self.transfers[slot as usize];
        transfer.under_way += 1;
        let flow = &self.flows[transfer.flow as usize];
        let end = if packet.direction == flow.direction { RECEIVER } else { SENDER };
        let TcpPacket { ecn, bytes, segment, origin, .. } = *packet;
        self.network.packets.insert(Packet {
            transmit: Transmit { segment, ecn, reason: origin.reason, offset: origin.offset },
            load: Load::Tcp { endpoint: slot << 1 | end as u32 },
            flow: transfer.flow,
            number: transfer.number,
            bytes,
            order: origin.order,
            exit: flow.nodes[end],
            direction: packet.direction,
        })
    }

    /// A packet leaves a node, past its stations.
    fn leave_node(&mut self, id: u32, node: u16) {
        match self.network.packets.get(id).exit == node {
            true => self.deliver(id),
            false => self.network.forward(id, node),
        }
    }
}

/// Connections are numbered as they open; their places are used again.
fn flow_id(transfer: &Transfer, slot: u32) -> FlowId {
    FlowId(u64::from(transfer.number) << 32 | u64::from(slot))
}
