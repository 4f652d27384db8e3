//! Stations: what stands at a node and handles the packets of some flows. Packets go in, others come out.

use crate::engine::Engine;
use crate::flow::{Phase, RECEIVER, SENDER, Transfer};
use crate::packet::{Load, Packet};
use crate::topology::Side;
use airtcp_proto::middlebox::{FlowId, Middlebox, Origin, TcpPacket};
use airtcp_proto::queue::DropCause;
use airtcp_proto::tcp::Transmit;
use airtcp_wire::Time;

/// What stands where. Which flows it serves is for the flows to say: [`crate::flow::Flow::stations`].
pub struct Station {
    pub node: u16,
    pub machine: Machine,
}

pub enum Machine {
    Middlebox(Box<dyn Middlebox>),
    /// Data packets enter this circuit here.
    CircuitSender(u16),
    /// Header packets end here; data packets pass by.
    CircuitReceiver(u16),
}

impl Engine {
    /// A station's timer may be due.
    pub fn on_station(&mut self, station: usize) {
        let now = self.network.now;
        let is_due = self.station_deadline(station) <= now;
        let Station { node, machine } = &mut self.stations[station];
        match machine {
            _ if !is_due => {}
            Machine::Middlebox(machine) => {
                let node = *node;
                let mut out = std::mem::take(&mut self.scratch);
                machine.handle_timeout(now, &mut out);
                self.leave_station(node, out);
            }
            &mut Machine::CircuitSender(circuit) => {
                self.circuits[usize::from(circuit)].sender.handle_timeout(now);
                self.run_circuit(usize::from(circuit));
            }
            &mut Machine::CircuitReceiver(circuit) => {
                self.circuits[usize::from(circuit)].receiver.handle_timeout(now);
                self.reply(usize::from(circuit));
            }
        }
        self.schedule_station(station);
    }

    pub fn schedule_station(&mut self, station: usize) {
        self.timers.set(self.station_timer(station), self.station_deadline(station));
    }

    fn station_deadline(&self, station: usize) -> Time {
        match &self.stations[station].machine {
            Machine::Middlebox(machine) => machine.poll_timeout(),
            Machine::CircuitSender(circuit) => self.circuits[usize::from(*circuit)].sender.poll_timeout(),
            Machine::CircuitReceiver(circuit) => self.circuits[usize::from(*circuit)].receiver.poll_timeout(),
        }
    }

    /// A packet is at a node with stations. It passes by those that serve other flows.
    #[cold]
    pub fn through_station(&mut self, id: u32, node: u16) {
        let packet = *self.network.packets.get(id);
        let flow = match packet.load {
            Load::Tcp { .. } | Load::Udp => Some(&self.flows[packet.flow as usize]),
            Load::Header { .. } | Load::HeaderAck { .. } => None,
        };
        let station = flow.and_then(|flow| flow.station_at(node));
        if let Some((_, circuit)) = flow.and_then(|flow| flow.counted_at).filter(|(at, _)| *at == node) {
            self.circuits[usize::from(circuit)].leave(packet.direction);
        }
        match (packet.load, station.map(|station| (station, &self.stations[station].machine))) {
            (_, Some((_, &Machine::CircuitSender(circuit)))) => {
                self.at_circuit(usize::from(circuit), id, node);
            }
            (Load::Tcp { endpoint }, Some((station, Machine::Middlebox(_)))) => {
                self.through_middlebox(station, id, endpoint);
            }
            _ => self.leave_node(id, node),
        }
    }

    fn through_middlebox(&mut self, station: usize, id: u32, endpoint: u32) {
        let Station { node, machine: Machine::Middlebox(machine) } = &mut self.stations[station] else {
            return;
        };
        let node = *node;
        let packet = *self.network.packets.get(id);
        let transfer = &mut self.transfers[(endpoint >> 1) as usize];
        let seen = seen(&packet, flow_id(transfer, endpoint >> 1));
        let mut out = std::mem::take(&mut self.scratch);
        machine.handle_packet(self.network.now, seen, &mut out);
        self.network.packets.remove(id);
        transfer.under_way -= 1;
        self.leave_station(node, out);
        self.schedule_station(station);
        self.retire_if_over(endpoint >> 1);
    }

    /// The station at a queue sees what that drops of its flows' packets.
    #[cold]
    pub fn tell_station(&mut self, id: u32, cause: DropCause, side: Side) {
        let packet = *self.network.packets.get(id);
        let Load::Tcp { endpoint } = packet.load else { return };
        if let Some(station) = self.flows[packet.flow as usize].station_at(side.near_node())
            && cause.is_congestion()
        {
            let flow = flow_id(&self.transfers[(endpoint >> 1) as usize], endpoint >> 1);
            if let Machine::Middlebox(machine) = &mut self.stations[station].machine {
                machine.handle_drop(self.network.now, &seen(&packet, flow));
                self.schedule_station(station);
            }
        }
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
    pub fn leave_node(&mut self, id: u32, node: u16) {
        match self.network.packets.get(id).exit == node {
            true => self.deliver(id),
            false => self.network.forward(id, node),
        }
    }
}

/// A packet as a station sees it.
fn seen(packet: &Packet, flow: FlowId) -> TcpPacket {
    TcpPacket {
        flow,
        direction: packet.direction,
        ecn: packet.transmit.ecn,
        bytes: packet.bytes,
        segment: packet.transmit.segment,
        origin: Origin {
            order: packet.order,
            reason: packet.transmit.reason,
            offset: packet.transmit.offset,
        },
    }
}

/// Connections are numbered as they open; their places are used again.
fn flow_id(transfer: &Transfer, slot: u32) -> FlowId {
    FlowId(u64::from(transfer.number) << 32 | u64::from(slot))
}
