//! Stations: what stands at a node and handles the packets of some flows.

use crate::ends::Ends;
use crate::flow::Phase;
use crate::packet::{Load, Packets};
use crate::stage::Stage;
use crate::timer::Timer;
use airtcp_proto::middlebox::{Direction, FlowId, Middlebox, Origin, SeenPacket};
use airtcp_wire::{Ecn, Header, Segment, Time};

/// A machine and where it stands. Which flows it serves is for the flows to say: [`crate::flow::Flow::stops`].
pub struct Station {
    number: u16,
    pub node: u16,
    machine: Box<dyn Middlebox>,
    /// What the machine has put out and not sent yet, the first one last.
    out: Vec<SeenPacket>,
    /// The last [`Plain`] packet.
    plain: SeenPacket,
}

/// A packet whose header is all of its segment.
pub struct Plain<'a> {
    pub header: &'a Header,
    pub bytes: u32,
    pub direction: Direction,
    pub ecn: Ecn,
    pub origin: Origin,
}

impl Station {
    pub fn new(number: u16, node: u16, machine: Box<dyn Middlebox>) -> Station {
        let plain = SeenPacket {
            flow: FlowId::default(),
            direction: Direction::Forward,
            ecn: Ecn::NotEct,
            bytes: 0,
            segment: Segment::default(),
            origin: Origin::default(),
        };
        Station { number, node, machine, out: Vec::new(), plain }
    }

    /// As [`Middlebox::resends`].
    pub fn resends(&self) -> bool {
        self.machine.resends()
    }

    /// As [`Middlebox::acts_at_once`].
    pub fn acts_at_once(&self) -> bool {
        self.machine.acts_at_once()
    }

    /// A packet of the connection with that number and place is here. Returns whether it goes on.
    #[inline(always)]
    pub fn handle_plain(&mut self, now: Time, number: u32, slot: u32, plain: &Plain<'_>) -> bool {
        let &Plain { header, bytes, direction, ecn, origin } = plain;
        let SeenPacket { segment, .. } = &mut self.plain;
        (segment.seq, segment.ack, segment.flags) = (header.seq, header.ack, header.flags());
        (segment.len, segment.window, segment.timestamps) = (header.len, header.window, header.timestamps());
        (self.plain.flow, self.plain.direction) = (flow_id(number, slot), direction);
        (self.plain.ecn, self.plain.bytes, self.plain.origin) = (ecn, bytes, origin);
        let goes_on = self.machine.handle_packet(now, &self.plain, &mut self.out);
        self.turn_out();
        goes_on
    }

    #[inline]
    pub fn has_put_out(&self) -> bool {
        !self.out.is_empty()
    }

    /// A packet is here. Returns whether it goes on as it came; otherwise the machine has taken it.
    pub fn handle_packet(&mut self, stage: &mut Stage, ends: &mut Ends, id: u32) -> bool {
        let Some(seen) = seen(&stage.network.packets, id) else { return true };
        let goes_on = self.machine.handle_packet(stage.network.now, &seen, &mut self.out);
        self.turn_out();
        if !goes_on {
            let (_, slot) = connection(seen.flow);
            stage.network.packets.remove(id);
            ends.transfers.get_mut(slot).under_way -= 1;
        }
        goes_on
    }

    /// The machine's timer may be due.
    pub fn handle_timeout(&mut self, stage: &Stage) {
        let now = stage.network.now;
        if self.machine.poll_timeout() <= now {
            self.machine.handle_timeout(now, &mut self.out);
            self.turn_out();
        }
    }

    /// Turns round what the machine has put out, of which [`poll_packet`](Station::poll_packet) takes the last one.
    #[inline]
    fn turn_out(&mut self) {
        if self.out.len() > 1 {
            self.out.reverse();
        }
    }

    /// The queue behind the station has dropped a packet of a flow that it serves.
    pub fn handle_drop(&mut self, stage: &Stage, id: u32) {
        if let Some(seen) = seen(&stage.network.packets, id) {
            self.machine.handle_drop(stage.network.now, &seen);
        }
    }

    /// The next packet that the machine sends, but for connections that are over.
    #[inline]
    pub fn poll_packet(&mut self, stage: &mut Stage, ends: &mut Ends) -> Option<u32> {
        while let Some(packet) = self.out.pop() {
            let (number, slot) = connection(packet.flow);
            let transfer = ends.transfers.get_mut(slot);
            if transfer.number == number && transfer.phase != Phase::Retired {
                transfer.under_way += 1;
                let flow = &ends.flows[transfer.flow as usize];
                let packets = &mut stage.network.packets;
                let id = packets.vacant();
                packets.occupy(id);
                packets.take(id, &packet, flow, transfer.numbers());
                return Some(id);
            }
        }
        None
    }

    pub fn schedule(&self, stage: &mut Stage) {
        stage.schedule.set(Timer::Station(usize::from(self.number)), self.machine.poll_timeout());
    }
}

/// What handles a flow's packets at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// This station: packets go in, others come out.
    Station(u16),
    /// This circuit, which data enters here.
    Circuit(u16),
}

impl Stop {
    pub fn station(self) -> Option<u16> {
        match self {
            Stop::Station(station) => Some(station),
            Stop::Circuit(_) => None,
        }
    }
}

/// A packet as a station sees it; `None` of what is no TCP connection's.
fn seen(packets: &Packets, id: u32) -> Option<SeenPacket> {
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
