//! Stations: what stands at a node and handles the packets of some flows.

use crate::packet::{Load, Packets};
use airtcp_proto::middlebox::{FlowId, Middlebox, Origin, SeenPacket};

/// A machine and where it stands. Which flows it serves is for the flows to say: [`crate::flow::Flow::stops`].
pub struct Station {
    pub node: u16,
    pub machine: Box<dyn Middlebox>,
}

/// What handles a flow's packets at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// This station: packets go in, others come out.
    Station(u16),
    /// This circuit, which data enters here.
    Circuit(u16),
}

/// A packet as a station sees it; `None` of what is no TCP connection's.
pub fn seen(packets: &Packets, id: u32) -> Option<SeenPacket> {
    let packet = packets.get(id);
    let Load::Tcp { endpoint } = packet.load else { return None };
    Some(SeenPacket {
        flow: flow_id(packet.number, endpoint >> 1),
        direction: packet.direction,
        ecn: packet.ecn,
        bytes: packet.bytes,
        segment: packets.segment(id),
        origin: Origin { order: packets.order(id), reason: packet.reason, offset: packet.offset },
    })
}

/// Connections are numbered as they open; their places are used again.
fn flow_id(number: u32, slot: u32) -> FlowId {
    FlowId(u64::from(number) << 32 | u64::from(slot))
}

/// The number and the place of the connection that has this name at stations.
pub fn connection(flow: FlowId) -> (u32, u32) {
    ((flow.0 >> 32) as u32, flow.0 as u32)
}
