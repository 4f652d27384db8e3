//! What a connection sends to an end that is ahead, and what comes back, by value.

use crate::ahead::Arrival;
use crate::connected::Connected;
use crate::flow::{Phase, RECEIVER, SENDER};
use crate::network::Network;
use crate::parcel::{IP_HEADER_BYTES, Parcel};
use crate::stage::Stage;
use crate::timer::{Clock, Timer};
use crate::topology::Side;
use airtcp_proto::queue::Item;
use airtcp_wire::{Ecn, Header, SackBlocks, Time, tcp};

/// These methods require that the connection's receiver is ahead, and that only links, stations that are ahead, too, and
/// the circuit of its flow alone lie between its ends.
impl Connected<'_> {
    /// Sends new data. `follows` says whether the receiver has just got the segment before it in the same burst. Returns
    /// whether it has got this one.
    #[inline(always)]
    pub fn send_ahead(&mut self, header: &Header, offset: u64, follows: bool) -> bool {
        let (now, side) = (self.stage.network.now, self.flow.ways[SENDER]);
        let data = self.new_data(header, offset);
        match self.stage.network.ahead.station {
            None => self.send_to_receiver(now, side, &data, follows),
            Some(_) => self.reborrow().send_to_station(now, side, data),
        }
    }

    /// Sends data to the receiver. `follows` is as in [`take`](Connected::take). Returns whether it has got them.
    #[inline(always)]
    pub fn send_to_receiver(&mut self, now: Time, side: Side, data: &Parcel, follows: bool) -> bool {
        let at = self.send_to_end(now, side, data.bytes, data.ecn);
        // A closure would not always be inlined.
        let is_received = match at {
            Some(at) => self.receive(at, data, follows),
            None => false,
        };
        is_received || self.reborrow().receive_or_leave(*data, at)
    }

    /// Lets the receiver take data if nothing happens at its end before. Returns whether it has taken them; if not,
    /// nothing has changed at either end.
    #[inline(always)]
    pub fn receive(&mut self, at: Time, data: &Parcel, follows: bool) -> bool {
        let is_received = self.stage.is_next_ahead(at) && self.take(at, data, follows, Clock::Ahead);
        self.stage.network.ahead.events += u64::from(is_received);
        is_received
    }

    /// As [`send_to_receiver`](Connected::send_to_receiver) for data that the receiver could not take at once.
    // By value, so that a burst's header can stay in registers.
    #[inline(never)]
    fn receive_or_leave(mut self, data: Parcel, at: Option<Time>) -> bool {
        let is_received =
            at.is_some_and(|at| self.reset_timer(at) && self.take(at, &data, false, Clock::Ahead));
        match is_received {
            true => self.stage.network.ahead.events += 1,
            false => self.leave_under_way(&data, at),
        }
        is_received
    }

    /// Sends data to a station. Returns `false`: the receiver gets them later, if at all.
    #[inline(never)]
    fn send_to_station(mut self, now: Time, side: Side, data: Parcel) -> bool {
        let Parcel { header, offset, bytes, ecn, .. } = data;
        match self.send_to_end(now, side, bytes, ecn) {
            Some(at) if !at.is_never() => {
                let arrival = Arrival::Data { endpoint: self.endpoint, header, offset };
                self.stage.network.ahead.entering.push_back((at, arrival));
            }
            at => self.leave_under_way(&data, at),
        }
        false
    }

    /// As [`Topology::send_to_end`](crate::topology::Topology::send_to_end), for a packet of the connection.
    #[inline(always)]
    fn send_to_end(&mut self, now: Time, side: Side, bytes: u32, ecn: Ecn) -> Option<Time> {
        let Network { packets, topology, .. } = &mut self.stage.network;
        let flow = self.transfer.number;
        let item = || Item { id: packets.vacant(), bytes, flow, is_header: false, ecn };
        topology.send_to_end(now, side, bytes, item)
    }

    /// Keeps new data that the receiver has not got yet: in the slab if a link has them, and not at all if they get there
    /// after the run's end.
    #[inline(never)]
    fn leave_under_way(mut self, data: &Parcel, at: Option<Time>) {
        let &Parcel { header, offset, .. } = data;
        match at {
            Some(Time::NEVER) => self.flow.late_packets += 1,
            Some(at) => {
                let arrival = Arrival::Data { endpoint: self.endpoint, header, offset };
                self.stage.network.ahead.sent.push_back((at, arrival));
            }
            None => _ = self.keep_data(&header, offset),
        }
    }

    /// If only the receiver's own timer comes before that time, and comes up too early, sets it to when the receiver
    /// wants it, as the run would. Returns whether nothing else comes before.
    fn reset_timer(&mut self, at: Time) -> bool {
        let Stage { network, schedule, .. } = &mut *self.stage;
        if at.is_never() || !network.ahead.sent.is_empty() || self.transfer.phase != Phase::Running {
            return false;
        }
        let (timer, receiver) = (Timer::Endpoint(self.endpoint ^ 1), &self.transfer.ends[RECEIVER]);
        while schedule.next_by(Clock::Ahead) < at {
            if !schedule.reset_early(timer, || receiver.poll_timeout()) {
                return false;
            }
            network.ahead.events += 1;
        }
        true
    }

    /// Sends an ACK from the receiver, with the SACK blocks that the network holds for it. Returns whether it has: always.
    #[inline(always)]
    pub fn answer_ahead(&mut self, at: Time, header: Header) -> bool {
        let blocks = self.stage.network.sack.len();
        let bytes = IP_HEADER_BYTES + tcp::plain_header_len(&header, blocks) as u32;
        let arrives = self.send_to_end(at, self.flow.ways[RECEIVER], bytes, Ecn::NotEct);
        let (endpoint, Network { sack, ahead, .. }) = (self.endpoint, &mut self.stage.network);
        match arrives {
            Some(at) if blocks == 0 => ahead.answer(at, Arrival::Ack { endpoint, header }),
            Some(at) if ahead.station.is_none() => ahead.answer_sacked(at, endpoint, header, sack),
            _ => {
                let id = self.keep_ack(header, self.stage.network.sack);
                if let Some(at) = arrives {
                    self.stage.network.ahead.answer(at, Arrival::Kept(id));
                }
            }
        }
        true
    }

    /// Sends a plain ACK on from a station.
    #[inline(always)]
    pub fn forward_ack(&mut self, now: Time, side: Side, &Parcel { header, bytes, ecn, .. }: &Parcel) {
        let endpoint = self.endpoint;
        match self.send_to_end(now, side, bytes, ecn) {
            Some(Time::NEVER) => {}
            Some(at) => self.stage.network.ahead.arrivals.push_back((at, Arrival::Ack { endpoint, header })),
            None => _ = self.keep_ack(header, SackBlocks::NONE),
        }
    }
}
