//! Stations: machines at nodes of the path that handle the packets of some flows.

use crate::ends::Ends;
use crate::flow::Phase;
use crate::packet::{Load, Packets, connection, flow_id};
use crate::stage::Stage;
use crate::timer::Timer;
use airtcp_proto::middlebox::{Middlebox, Origin, SeenPacket};
use airtcp_wire::Time;

/// A machine and where it stands. The flows know by which stations they are served: [`crate::flow::Flow::stops`].
pub struct Station {
    number: u16,
    pub node: u16,
    machine: Box<dyn Middlebox>,
    /// What the machine has put out and is not sent yet.
    pub out: Vec<SeenPacket>,
}

impl Station {
    pub fn new(number: u16, node: u16, machine: Box<dyn Middlebox>) -> Station {
        Station { number, node, machine, out: Vec::new() }
    }

    /// As [`Middlebox::resends`].
    pub fn resends(&self) -> bool {
        self.machine.resends()
    }

    /// As [`Middlebox::acts_at_once`].
    pub fn acts_at_once(&self) -> bool {
        self.machine.acts_at_once()
    }

    /// Shows the machine a packet. Returns whether it goes on as it came.
    #[inline]
    pub fn show(&mut self, now: Time, packet: &SeenPacket) -> bool {
        self.machine.handle_packet(now, packet, &mut self.out)
    }

    /// Handles a packet in the slab. Returns whether it goes on as it came; if not, the machine has taken it.
    pub fn handle_packet(&mut self, stage: &mut Stage, ends: &mut Ends, id: u32) -> bool {
        let Some(seen) = seen(&stage.network.packets, id) else { return true };
        let goes_on = self.show(stage.network.now, &seen);
        if !goes_on {
            let (_, slot) = connection(seen.flow);
            stage.network.packets.remove(id);
            ends.transfers.get_mut(slot).on_gone();
        }
        goes_on
    }

    /// The machine's timer may be due.
    pub fn handle_timeout(&mut self, stage: &Stage) {
        let now = stage.network.now;
        if self.machine.poll_timeout() <= now {
            self.machine.handle_timeout(now, &mut self.out);
        }
    }

    /// The queue behind the station has dropped a packet of a flow that it serves.
    pub fn handle_drop(&mut self, stage: &Stage, id: u32) {
        if let Some(seen) = seen(&stage.network.packets, id) {
            self.machine.handle_drop(stage.network.now, &seen);
        }
    }

    pub fn schedule(&self, stage: &mut Stage) {
        debug_assert!(!self.machine.holds() || !self.machine.poll_timeout().is_never(), "it is stuck");
        stage.schedule.set(Timer::Station(usize::from(self.number)), self.machine.poll_timeout());
    }
}

/// Puts a packet that a station sends into the slab, unless its connection is over.
pub fn put_out(stage: &mut Stage, ends: &mut Ends, packet: &SeenPacket) -> Option<u32> {
    let (number, slot) = connection(packet.flow);
    let transfer = ends.transfers.get_mut(slot);
    if transfer.number != number || transfer.phase == Phase::Retired {
        return None;
    }
    transfer.on_under_way();
    let flow = &ends.flows[transfer.flow as usize];
    Some(stage.network.packets.insert_seen(packet, flow, transfer.numbers()))
}

/// The packet as a station sees it; `None` if it does not belong to a TCP connection.
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
