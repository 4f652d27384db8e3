//! The end of the path that is ahead of the run.
//!
//! If all flows go to one end of the path, that end answers what it gets and does nothing else. If, besides, nothing
//! overtakes on the links, it is known as a packet is sent when it will get there, and nothing that is sent later can
//! matter there before. So it is delivered as it is sent, at the time at which it gets there, after the timers that expire
//! there earlier; no event is needed. The answers wait as [`Arrival`]s until the run has come to their times. Nobody can
//! tell this from a run in order, and where somebody watches, nothing is ahead.

use crate::flow::{Flow, RECEIVER, SENDER, Transfer};
use crate::network::Network;
use crate::packet::{IP_HEADER_BYTES, Packet};
use crate::stage::Stage;
use crate::timer::{Clock, Timer};
use crate::topology::Side;
use airtcp_proto::middlebox::Direction;
use airtcp_proto::queue::Item;
use airtcp_proto::ring::Ring;
use airtcp_proto::tcp::Reason;
use airtcp_wire::{Header, Time, tcp};

/// What is on its way to that end, and back from there.
#[derive(Default)]
pub struct Ahead {
    /// The direction of what goes there; none where nothing is ahead.
    pub direction: Option<Direction>,
    /// Packets that are to be delivered there when the present event is done, in the order of their times.
    pub sent: Ring<(u32, Time)>,
    /// What has come back, in the order of its times.
    pub arrivals: Ring<Arrival>,
    /// What has happened there, and would have been events.
    pub events: u64,
}

/// What comes back to the end of the path that is not ahead.
#[derive(Clone, Copy, Default)]
pub struct Arrival {
    pub at: Time,
    /// The end of a connection to which it goes, if that is known.
    pub endpoint: u32,
    /// The packet; [`NO_PACKET`]: it is a plain ACK.
    pub id: u32,
    pub ack: Header,
}

/// Stands for a packet that is none.
pub const NO_PACKET: u32 = u32::MAX;

impl Ahead {
    /// The packet gets to an end of the path at that time.
    #[inline]
    pub fn take(&mut self, id: u32, packet: &Packet, at: Time) {
        match self.direction == Some(packet.direction) {
            true => self.sent.push_back((id, at)),
            false => self.arrivals.push_back(Arrival { at, id, ..Arrival::default() }),
        }
    }

    /// When the first of what has come back gets there.
    #[inline(always)]
    pub fn next(&self) -> Time {
        self.arrivals.front().map_or(Time::NEVER, |arrival| arrival.at)
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<Arrival> {
        let arrival = *self.arrivals.front()?;
        self.arrivals.drop_front();
        Some(arrival)
    }

    /// The next packet to deliver there, and when it gets there.
    #[inline]
    pub fn pop_sent(&mut self) -> Option<(u32, Time)> {
        let sent = *self.sent.front()?;
        self.sent.drop_front();
        Some(sent)
    }
}

/// A connection whose receiver is ahead, with nothing but links between its ends.
pub struct Connected<'a> {
    pub stage: &'a mut Stage,
    pub transfer: &'a mut Transfer,
    pub flow: &'a mut Flow,
    /// The number of its sending end.
    pub endpoint: u32,
}

/// New data that gets to the receiver at a time.
struct Text<'a> {
    header: &'a Header,
    offset: u64,
    /// Length of the packet.
    bytes: u32,
    at: Time,
    /// The receiver has just got what comes before it in the burst.
    follows: bool,
}

impl Connected<'_> {
    /// Sends what is expected of a connection that only sends. Returns whether that was all that may leave.
    #[inline(always)]
    pub fn send_expected(&mut self) -> bool {
        let now = self.stage.network.now;
        let side = Side::out_of(self.flow.nodes[SENDER], self.flow.direction);
        let mut follows = false;
        while let Some(mut burst) = self.transfer.ends[SENDER].begin_burst(now) {
            let mut header = Header::default();
            while self.transfer.ends[SENDER].continues(&burst) {
                let offset = self.transfer.ends[SENDER].next_in_burst(now, &mut burst, &mut header);
                self.transfer.on_sent(offset + u64::from(header.len));
                let bytes = IP_HEADER_BYTES + tcp::plain_header_len(&header, 0) as u32 + header.len;
                let at = self.send(side, bytes);
                follows = match at {
                    Some(at) => self.receive(Text { header: &header, offset, bytes, at, follows }),
                    None => false,
                };
                if !follows {
                    self.put(&header, offset, at);
                }
            }
            self.flow.counts.data_packets_sent += u64::from(burst.sent);
            if self.transfer.ends[SENDER].end_burst(now, &burst) {
                return true;
            }
        }
        false
    }

    /// As [`Topology::send_to_end`](crate::topology::Topology::send_to_end).
    #[inline(always)]
    fn send(&mut self, side: Side, bytes: u32) -> Option<Time> {
        let Network { packets, topology, now, .. } = &mut self.stage.network;
        let ecn = self.transfer.ends[SENDER].new_data_ecn();
        let item = Item { id: packets.vacant(), bytes, flow: self.transfer.number, is_header: false, ecn };
        topology.send_to_end(*now, side, item)
    }

    /// What was sent becomes a packet: a link has it, or the receiver does not expect it.
    fn put(&mut self, header: &Header, offset: u64, at: Option<Time>) {
        let Network { packets, ahead, .. } = &mut self.stage.network;
        let id = packets.vacant();
        packets.occupy(id);
        let packet = packets.get_mut(id);
        packet.carry(*header, self.transfer.ends[SENDER].new_data_ecn(), Reason::New, 0);
        packet.offset = offset;
        packet.address(self.endpoint, self.flow, self.transfer.numbers());
        self.transfer.under_way += 1;
        if let Some(at) = at {
            ahead.sent.push_back((id, at));
        }
    }

    /// Returns whether nothing is to happen before and the receiver expects it; if not, nothing has changed.
    #[inline(always)]
    fn receive(&mut self, text: Text<'_>) -> bool {
        let Text { header, offset, bytes, at, follows } = text;
        let Stage { network, schedule } = &mut *self.stage;
        if !network.ahead.sent.is_empty() || schedule.next_by(Clock::Ahead) < at {
            return false;
        }
        let end = &mut self.transfer.ends[RECEIVER];
        let is_expected = match follows {
            true => end.handle_next_text(at, header),
            false => end.handle_expected_text(at, header, end.new_data_ecn()),
        };
        if !is_expected {
            return false;
        }
        self.flow.counts.on_delivered(bytes);
        network.packets_delivered += 1;
        network.ahead.events += 1;
        if self.transfer.truth.is_undecided() {
            self.transfer.truth.delivered(offset..offset + u64::from(header.len), 0);
        }
        end.read_all();
        match end.poll_expected_ack(at, &mut network.sack) {
            Some(ack) => self.answer(at, ack),
            None => {
                let deadline = end.poll_expected_timeout();
                schedule.set_by(Clock::Ahead, Timer::Endpoint(self.endpoint ^ 1), deadline);
            }
        }
        true
    }

    /// An ACK leaves the receiver.
    #[inline(always)]
    fn answer(&mut self, at: Time, ack: Header) {
        let Network { packets, topology, sack, ahead, .. } = &mut self.stage.network;
        let blocks = sack.as_slice().len();
        let bytes = IP_HEADER_BYTES + tcp::plain_header_len(&ack, blocks) as u32;
        let item = Item { id: packets.vacant(), bytes, flow: self.transfer.number, ..Item::default() };
        let side = Side::out_of(self.flow.nodes[RECEIVER], self.flow.direction.opposite());
        let arrives = topology.send_to_end(at, side, item);
        self.transfer.under_way += 1;
        let endpoint = self.endpoint;
        if blocks == 0
            && let Some(at) = arrives
        {
            return ahead.arrivals.push_back(Arrival { at, endpoint, id: NO_PACKET, ack });
        }
        let id = packets.insert_ack(ack, sack);
        packets.get_mut(id).address(endpoint ^ 1, self.flow, self.transfer.numbers());
        if let Some(at) = arrives {
            ahead.arrivals.push_back(Arrival { at, endpoint, id, ..Arrival::default() });
        }
    }
}
