//! What a connection sends to an end that is ahead, and what comes back, without packets in the slab.

use super::{Arrival, Entry, What};
use crate::flow::{Flow, Phase, RECEIVER, SENDER, Transfer, note_delivered};
use crate::network::Network;
use crate::packet::IP_HEADER_BYTES;
use crate::stage::Stage;
use crate::timer::{Clock, Timer};
use crate::topology::Side;
use airtcp_proto::queue::Item;
use airtcp_proto::tcp::Burst;
use airtcp_wire::{Ecn, Header, SackBlocks, Time, tcp};

/// A connection with what it acts on. Methods that do not say otherwise require that its receiver is ahead, and that
/// only links, stations that are ahead, too, and the circuit of its flow alone lie between its ends.
pub struct Connected<'a> {
    pub stage: &'a mut Stage,
    pub transfer: &'a mut Transfer,
    pub flow: &'a mut Flow,
    /// The number of its sending end.
    pub endpoint: u32,
}

impl Connected<'_> {
    /// Sends the new data of a connection that only sends. Where it is paced and no station is ahead, time moves on as
    /// long as nothing else happens before the pacer releases the next segment. Returns whether nothing else may leave;
    /// then the sender is scheduled.
    #[inline(always)]
    pub fn send_expected(&mut self) -> bool {
        match self.stage.network.ahead.station {
            None if self.transfer.ends[SENDER].is_paced() => self.reborrow().send_one_by_one(),
            None => self.send_all(true),
            Some(_) => self.reborrow().send_all_to_station(),
        }
    }

    /// A copy for functions that are not inlined: `self` can then stay in registers.
    #[inline(always)]
    fn reborrow(&mut self) -> Connected<'_> {
        let Connected { stage, transfer, flow, endpoint } = self;
        Connected { stage, transfer, flow, endpoint: *endpoint }
    }

    /// Sends segments as the pacer releases them, until something else happens.
    #[inline(never)]
    fn send_one_by_one(mut self) -> bool {
        loop {
            if let Some(is_all) = self.send_one() {
                return is_all;
            }
        }
    }

    /// Sends one segment, if it is its turn. Returns whether nothing else may leave; `None` if it is the next segment's
    /// turn.
    // Not inlined: around a loop, the compiler would prepare what most turns do not use.
    #[inline(never)]
    fn send_one(&mut self) -> Option<bool> {
        let now = self.stage.network.now;
        if !self.transfer.ends[SENDER].is_held_back(now) {
            let Some(burst) = self.transfer.ends[SENDER].begin_burst(now) else { return Some(false) };
            if !self.send_segment(now, burst) {
                return None;
            }
        }
        self.wait_for_turn()
    }

    /// Sends the only segment of a burst. Returns whether nothing more may leave now.
    #[inline(always)]
    fn send_segment(&mut self, now: Time, mut burst: Burst) -> bool {
        if burst.continues() {
            self.flow.counts.data_packets_sent += 1;
            let mut header = self.transfer.ends[SENDER].open_burst(now, &burst);
            let is_received = self.send_next(now, &mut burst, &mut header, false, true);
            self.count_received(u32::from(is_received), plain_bytes(&header));
        }
        self.transfer.ends[SENDER].end_burst(now, &burst)
    }

    /// Waits for the pacer or the window. Returns `None` if the run has moved on to the next segment's turn.
    #[inline(always)]
    fn wait_for_turn(&mut self) -> Option<bool> {
        let (timer, sender) = (Timer::Endpoint(self.endpoint), &self.transfer.ends[SENDER]);
        match sender.resumes_at() {
            Some(at) if self.stage.goes_on(timer, at) => return None,
            Some(at) => self.stage.schedule.set(timer, at),
            None => self.stage.schedule_sender(self.endpoint, sender),
        }
        Some(true)
    }

    #[inline(never)]
    fn send_all_to_station(mut self) -> bool {
        self.send_all(false)
    }

    /// Sends all segments that may leave, directly to the receiver or to a station.
    #[inline(always)]
    fn send_all(&mut self, is_direct: bool) -> bool {
        let now = self.stage.network.now;
        while let Some(burst) = self.transfer.ends[SENDER].begin_burst(now) {
            if self.send_burst(now, burst, is_direct) {
                self.stage.schedule_sender(self.endpoint, &self.transfer.ends[SENDER]);
                return true;
            }
        }
        false
    }

    /// Sends the segments of a burst. Returns whether nothing more may leave now.
    #[inline(always)]
    fn send_burst(&mut self, now: Time, mut burst: Burst, is_direct: bool) -> bool {
        let sender = &mut self.transfer.ends[SENDER];
        let mut header = if burst.continues() { sender.open_burst(now, &burst) } else { Header::default() };
        let (mut follows, mut missed) = (false, 0);
        while burst.continues() {
            follows = self.send_next(now, &mut burst, &mut header, follows, is_direct);
            missed += u32::from(!follows);
        }
        self.flow.counts.data_packets_sent += u64::from(burst.sent);
        self.count_received(burst.sent - missed, plain_bytes(&header));
        self.transfer.ends[SENDER].end_burst(now, &burst)
    }

    /// Makes `header` the next segment of a burst and sends it. `follows` is as in [`Text`]. Returns whether the
    /// receiver has got the segment.
    #[inline(always)]
    fn send_next(
        &mut self,
        now: Time,
        burst: &mut Burst,
        header: &mut Header,
        follows: bool,
        is_direct: bool,
    ) -> bool {
        let offset = self.transfer.ends[SENDER].next_in_burst(now, burst, header);
        self.transfer.on_sent(offset + u64::from(header.len));
        let (side, bytes) = (self.flow.ways[SENDER], plain_bytes(header));
        let text = Text { header, offset, follows };
        match is_direct {
            true => self.send_to_receiver(now, side, bytes, &text),
            false => self.send_to_station(now, side, bytes, &text),
        }
    }

    /// Counts data packets that the receiver has [got](Connected::receive), each of `bytes`.
    #[inline(always)]
    pub fn count_received(&mut self, packets: u32, bytes: u32) {
        self.flow.counts.on_all_delivered(packets, bytes);
        self.stage.network.packets_delivered += u64::from(packets);
        self.stage.network.ahead.events += u64::from(packets);
    }

    /// Sends a segment to the receiver, in a packet of `bytes`. Returns whether the receiver has got it, and it is to
    /// be [counted](Connected::count_received).
    #[inline(always)]
    pub fn send_to_receiver(&mut self, now: Time, side: Side, bytes: u32, text: &Text<'_>) -> bool {
        let at = self.transmit(now, side, bytes, self.transfer.ends[SENDER].new_data_ecn());
        let is_received = match at {
            Some(at) => self.receive(at, text),
            None => false,
        };
        is_received || self.reborrow().receive_or_put_off(*text.header, text.offset, at)
    }

    /// As [`send_to_receiver`](Connected::send_to_receiver) for a segment that the receiver could not take at once.
    // The header is no reference, so that a burst's can stay in registers.
    #[inline(never)]
    fn receive_or_put_off(mut self, header: Header, offset: u64, at: Option<Time>) -> bool {
        let text = Text { header: &header, offset, follows: false };
        let is_received = at.is_some_and(|at| self.put_off_timer(at) && self.take(at, &text));
        if !is_received {
            self.put_off(&text, at);
        }
        is_received
    }

    /// Sends a segment to a station. Returns `false`: the receiver gets it later, if at all.
    #[inline(always)]
    fn send_to_station(&mut self, now: Time, side: Side, bytes: u32, text: &Text<'_>) -> bool {
        let &Text { header, offset, .. } = text;
        match self.transmit(now, side, bytes, self.transfer.ends[SENDER].new_data_ecn()) {
            Some(at) if !at.is_never() => {
                self.stage.network.ahead.enter_station(at, self.endpoint, *header, offset);
            }
            at => self.reborrow().put_off(text, at),
        }
        false
    }

    /// As [`Topology::send_to_end`](crate::topology::Topology::send_to_end), for a packet of the connection.
    #[inline(always)]
    fn transmit(&mut self, now: Time, side: Side, bytes: u32, ecn: Ecn) -> Option<Time> {
        let Network { packets, topology, .. } = &mut self.stage.network;
        let flow = self.transfer.number;
        let item = || Item { id: packets.vacant(), bytes, flow, is_header: false, ecn };
        topology.send_to_end(now, side, bytes, item)
    }

    /// Keeps a segment that the receiver has not got yet: in the slab if a link has it, and not at all if it gets there
    /// after the run's end.
    #[inline(never)]
    fn put_off(self, text: &Text<'_>, at: Option<Time>) {
        let &Text { header, offset, .. } = text;
        self.transfer.under_way += 1;
        match at {
            Some(Time::NEVER) => self.flow.late_packets += 1,
            Some(at) => {
                let entry = Entry { at, what: What::Plain(self.endpoint), header: *header, offset };
                self.stage.network.ahead.sent.push_back(entry);
            }
            None => _ = self.put_data(header, offset),
        }
    }

    /// Puts new data into the slab.
    pub fn put_data(self, header: &Header, offset: u64) -> u32 {
        let packets = &mut self.stage.network.packets;
        let id = packets.insert_new_data(header, self.transfer.ends[SENDER].new_data_ecn(), offset);
        packets.get_mut(id).address(self.endpoint, self.flow, self.transfer.numbers());
        id
    }

    /// Lets the receiver take a segment if nothing happens at its end before. Returns whether it has taken it, and it
    /// is to be [counted](Connected::count_received); if not, nothing has changed at either end.
    #[inline(always)]
    pub fn receive(&mut self, at: Time, text: &Text<'_>) -> bool {
        self.stage.is_next_ahead(at) && self.take(at, text)
    }

    /// If only the receiver's own timer comes before that time, and comes up too early, sets it to when the receiver
    /// wants it, as the run would. Returns whether nothing else comes before.
    fn put_off_timer(&mut self, at: Time) -> bool {
        let Stage { network, schedule, .. } = &mut *self.stage;
        if at.is_never() || !network.ahead.sent.is_empty() || self.transfer.phase != Phase::Running {
            return false;
        }
        let (timer, receiver) = (Timer::Endpoint(self.endpoint ^ 1), &self.transfer.ends[RECEIVER]);
        while schedule.next_by(Clock::Ahead) < at {
            if !schedule.put_off(timer, || receiver.poll_timeout()) {
                return false;
            }
            network.ahead.events += 1;
        }
        true
    }

    /// Lets the receiver take a segment if it expects it. Returns whether it has; if not, nothing has changed.
    #[inline(always)]
    pub fn take(&mut self, at: Time, text: &Text<'_>) -> bool {
        let &Text { header, offset, follows } = text;
        let Stage { network, schedule, .. } = &mut *self.stage;
        let end = &mut self.transfer.ends[RECEIVER];
        let is_expected = (follows && end.handle_next_text(at, header))
            || end.handle_expected_text(at, header, end.new_data_ecn());
        if !is_expected {
            return false;
        }
        if self.transfer.truth.is_undecided() {
            let range = offset..offset + u64::from(header.len);
            note_delivered(&mut self.transfer.truth, self.flow, range, 0);
        }
        match end.read_and_answer(at, &mut network.sack) {
            Ok(ack) => self.answer(at, ack),
            Err(deadline) => {
                schedule.set_by(Clock::Ahead, Timer::Endpoint(self.endpoint ^ 1), deadline);
            }
        }
        true
    }

    /// Sends an ACK from the receiver, ahead or not, with the SACK blocks that the network holds for it.
    #[inline(always)]
    pub fn send_ack(&mut self, ack: Header) {
        if self.flow.runs_ahead {
            return self.answer(self.stage.network.now, ack);
        }
        self.transfer.under_way += 1;
        let Network { packets, sack, .. } = &mut self.stage.network;
        let id = packets.insert_answer(ack, sack, self.endpoint, self.flow, self.transfer.numbers());
        self.stage.network.send(self.flow, RECEIVER, id);
    }

    /// Sends an ACK from the receiver, with the SACK blocks that the network holds for it.
    #[inline(always)]
    fn answer(&mut self, at: Time, ack: Header) {
        let blocks = self.stage.network.sack.len();
        let bytes = IP_HEADER_BYTES + tcp::plain_header_len(&ack, blocks) as u32;
        let arrives = self.transmit(at, self.flow.ways[RECEIVER], bytes, Ecn::NotEct);
        self.transfer.under_way += 1;
        let Network { packets, sack, ahead, .. } = &mut self.stage.network;
        match arrives {
            Some(at) if blocks == 0 => ahead.answer(at, What::Plain(self.endpoint), ack),
            Some(at) if ahead.station.is_none() => ahead.answer_sacked(at, self.endpoint, ack, sack),
            _ => {
                let numbers = self.transfer.numbers();
                let id = packets.insert_answer(ack, sack, self.endpoint, self.flow, numbers);
                if let Some(at) = arrives {
                    ahead.answer(at, What::Packet(id), Header::default());
                }
            }
        }
    }

    /// Sends a plain ACK on from a station, in a packet of `bytes`.
    #[inline(always)]
    pub fn forward_ack(&mut self, now: Time, side: Side, bytes: u32, ack: Header) {
        match self.transmit(now, side, bytes, Ecn::NotEct) {
            Some(Time::NEVER) => {}
            Some(at) => {
                let arrival = Arrival::new(at, What::Plain(self.endpoint), ack);
                self.stage.network.ahead.arrivals.push_back(arrival);
            }
            None => {
                let (packets, numbers) = (&mut self.stage.network.packets, self.transfer.numbers());
                packets.insert_answer(ack, &SackBlocks::NONE, self.endpoint, self.flow, numbers);
            }
        }
    }
}

/// New data.
pub struct Text<'a> {
    pub header: &'a Header,
    /// Stream position of the data.
    pub offset: u64,
    /// Has the receiver just got the segment before it in the same burst?
    pub follows: bool,
}

/// Length in bytes of the packet with this header and no SACK blocks.
#[inline(always)]
pub fn plain_bytes(header: &Header) -> u32 {
    IP_HEADER_BYTES + tcp::plain_header_len(header, 0) as u32 + header.len
}
