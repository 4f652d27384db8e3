//! Middleboxes: packets go in, others come out.

use crate::engine::Engine;
use crate::flow::{Phase, RECEIVER, SENDER};
use crate::network::untracked;
use crate::packet::{Load, Packet};
use airtcp_proto::middlebox::TcpPacket;
use airtcp_proto::tcp::Transmit;

/// The order of a packet that a middlebox made: it tells nothing about the sender's copies.
const INJECTED: u32 = u32::MAX;

impl Engine {
    /// A middlebox's timer may be due.
    pub fn on_node(&mut self, node: usize) {
        let Some(middlebox) = &mut self.network.topology.nodes[node] else { return };
        if middlebox.poll_timeout() <= self.network.now {
            let mut out = std::mem::take(&mut self.scratch);
            middlebox.handle_timeout(self.network.now, &mut out);
            self.leave_middlebox(None, node as u16, out);
        }
        self.schedule_node(node);
    }

    pub fn schedule_node(&mut self, node: usize) {
        if let Some(middlebox) = &self.network.topology.nodes[node] {
            self.timers.set(self.node_timer(node), middlebox.poll_timeout());
        }
    }

    /// A packet is at a node with a middlebox. Datagrams pass it by.
    #[cold]
    pub fn through_middlebox(&mut self, id: u32, node: u16) {
        let packet = *self.network.packets.get(id);
        let (Load::Tcp { endpoint }, Some(middlebox)) =
            (packet.load, &mut self.network.topology.nodes[usize::from(node)])
        else {
            return self.leave_node(id, node);
        };
        let seen = TcpPacket {
            flow: endpoint >> 1,
            direction: packet.direction,
            ecn: packet.transmit.ecn,
            bytes: packet.bytes,
            segment: packet.transmit.segment,
        };
        let mut out = std::mem::take(&mut self.scratch);
        middlebox.handle_packet(self.network.now, seen, &mut out);
        self.network.packets.remove(id);
        self.transfers[seen.flow as usize].under_way -= 1;
        self.leave_middlebox(Some(packet), node, out);
        self.schedule_node(usize::from(node));
        self.retire_if_over(seen.flow);
    }

    /// Sends on what a middlebox put out, when `original` reached it.
    fn leave_middlebox(&mut self, original: Option<Packet>, node: u16, mut out: Vec<TcpPacket>) {
        for packet in out.drain(..) {
            if self.transfers[packet.flow as usize].phase != Phase::Retired {
                let id = self.emit(original.as_ref(), &packet);
                self.leave_node(id, node);
            }
        }
        self.scratch = out;
    }

    /// Makes a packet of what a middlebox put out. If it is the original, perhaps changed, what is known of that holds.
    fn emit(&mut self, original: Option<&Packet>, packet: &TcpPacket) -> u32 {
        let transfer = &mut self.transfers[packet.flow as usize];
        transfer.under_way += 1;
        let flow = &self.flows[transfer.flow as usize];
        let end = if packet.direction == flow.direction { RECEIVER } else { SENDER };
        let load = Load::Tcp { endpoint: packet.flow << 1 | end as u32 };
        let segment = packet.segment;
        let same = original.filter(|original| {
            let before = &original.transmit.segment;
            original.load == load && (before.seq, before.len) == (segment.seq, segment.len)
        });
        let (transmit, order) = match same {
            Some(original) => (Transmit { segment, ecn: packet.ecn, ..original.transmit }, original.order),
            None => (untracked(segment, packet.ecn), INJECTED),
        };
        self.network.packets.insert(Packet {
            transmit,
            load,
            flow: transfer.flow,
            number: transfer.number,
            bytes: packet.bytes,
            order,
            exit: flow.nodes[end],
            direction: packet.direction,
        })
    }

    /// A packet leaves a node, past its middlebox.
    fn leave_node(&mut self, id: u32, node: u16) {
        match self.network.packets.get(id).exit == node {
            true => self.deliver(id),
            false => self.network.forward(id, node),
        }
    }
}
