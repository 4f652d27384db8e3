//! What a connection sends to an end that is ahead, and what comes back, without a packet.

use super::{Arrival, Entry, What};
use crate::flow::{Flow, Phase, RECEIVER, SENDER, Transfer};
use crate::network::Network;
use crate::packet::IP_HEADER_BYTES;
use crate::stage::Stage;
use crate::timer::{Clock, Timer};
use crate::topology::Side;
use airtcp_proto::queue::Item;
use airtcp_proto::tcp::{Burst, Reason};
use airtcp_wire::{Header, SackBlocks, Time, tcp};

/// A connection whose receiver is ahead, with nothing between its ends but links, stations that are ahead, too, and the circuit
/// that its flow alone uses.
pub struct Connected<'a> {
    pub stage: &'a mut Stage,
    pub transfer: &'a mut Transfer,
    pub flow: &'a mut Flow,
    /// The number of its sending end.
    pub endpoint: u32,
}

impl Connected<'_> {
    /// Sends what is expected of a connection that only sends, and what its pacer lets go until something else happens. Returns
    /// whether that was all that may leave: then the sender will be woken.
    #[inline(always)]
    pub fn send_expected(&mut self) -> bool {
        match self.stage.network.ahead.station {
            None if self.transfer.ends[SENDER].is_paced() => self.reborrow().send_one_by_one::<false>(),
            None => self.send_all::<false>(),
            Some(_) => self.reborrow().send_all_to_station(),
        }
    }

    /// For what is called and not inlined: this itself can stay in registers then.
    #[inline(always)]
    fn reborrow(&mut self) -> Connected<'_> {
        let Connected { stage, transfer, flow, endpoint } = self;
        Connected { stage, transfer, flow, endpoint: *endpoint }
    }

    #[inline(never)]
    fn send_all_to_station(mut self) -> bool {
        match self.transfer.ends[SENDER].is_paced() {
            true => self.send_one_by_one::<true>(),
            false => self.send_all::<true>(),
        }
    }

    /// Sends as the pacer lets it go, until something else happens.
    #[inline(never)]
    fn send_one_by_one<const HAS_STATION: bool>(mut self) -> bool {
        loop {
            if let Some(is_all) = self.send_one::<HAS_STATION>() {
                return is_all;
            }
        }
    }

    /// Sends one segment, if it is its turn. Returns whether that was all that may leave; `None`: it is the next one's turn.
    // Not inlined: around a loop, the compiler would prepare what most turns do not use.
    #[inline(never)]
    fn send_one<const HAS_STATION: bool>(&mut self) -> Option<bool> {
        let now = self.stage.network.now;
        if !self.transfer.ends[SENDER].is_held_back(now) {
            let Some(burst) = self.transfer.ends[SENDER].begin_burst(now) else { return Some(false) };
            if !self.send_segment::<HAS_STATION>(now, burst) {
                return None;
            }
        }
        self.wait_for_turn()
    }

    /// Sends the only segment of a burst. Returns whether nothing more may leave now.
    #[inline(always)]
    fn send_segment<const HAS_STATION: bool>(&mut self, now: Time, mut burst: Burst) -> bool {
        if self.transfer.ends[SENDER].continues(&burst) {
            let mut header = self.transfer.ends[SENDER].open_burst(now);
            let is_received = self.send_next::<HAS_STATION>(now, &mut burst, &mut header, false);
            self.flow.counts.data_packets_sent += 1;
            self.count_received(u32::from(is_received), plain_bytes(&header));
        }
        self.transfer.ends[SENDER].end_burst(now, &burst)
    }

    /// The pacer, or the window, lets nothing more go now. Moves the run on to the next one's turn if nothing else happens before.
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

    #[inline(always)]
    fn send_all<const HAS_STATION: bool>(&mut self) -> bool {
        let now = self.stage.network.now;
        let Some(burst) = self.transfer.ends[SENDER].begin_burst(now) else { return false };
        self.send_burst::<HAS_STATION>(now, burst) || self.reborrow().send_more::<HAS_STATION>()
    }

    /// Sends what a burst has left over.
    #[inline(never)]
    fn send_more<const HAS_STATION: bool>(mut self) -> bool {
        let now = self.stage.network.now;
        while let Some(burst) = self.transfer.ends[SENDER].begin_burst(now) {
            if self.send_burst::<HAS_STATION>(now, burst) {
                return true;
            }
        }
        false
    }

    /// Returns whether that was all that may leave.
    #[inline(always)]
    fn send_burst<const HAS_STATION: bool>(&mut self, now: Time, mut burst: Burst) -> bool {
        let sender = &mut self.transfer.ends[SENDER];
        let mut header = if sender.continues(&burst) { sender.open_burst(now) } else { Header::default() };
        let (mut follows, mut missed) = (false, 0);
        while self.transfer.ends[SENDER].continues(&burst) {
            follows = self.send_next::<HAS_STATION>(now, &mut burst, &mut header, follows);
            if !follows {
                missed += 1;
            }
        }
        self.flow.counts.data_packets_sent += u64::from(burst.sent);
        self.count_received(burst.sent - missed, plain_bytes(&header));
        let is_all = self.transfer.ends[SENDER].end_burst(now, &burst);
        if is_all {
            self.stage.schedule_sender(self.endpoint, &self.transfer.ends[SENDER]);
        }
        is_all
    }

    /// Sends the next segment of a burst, of which `header` is the one before, and which [follows](Text::follows) that. Returns
    /// whether the receiver has got it.
    #[inline(always)]
    fn send_next<const HAS_STATION: bool>(
        &mut self,
        now: Time,
        burst: &mut Burst,
        header: &mut Header,
        follows: bool,
    ) -> bool {
        let side = self.flow.ways[SENDER];
        let offset = self.transfer.ends[SENDER].next_in_burst(now, burst, header);
        self.transfer.on_sent(offset + u64::from(header.len));
        let text = Text { header, offset, follows };
        match HAS_STATION {
            true => self.send_to_station(now, side, &text),
            false => self.send_to_receiver(now, side, &text),
        }
    }

    /// So many packets of `bytes` each were [received](Connected::receive).
    #[inline(always)]
    pub fn count_received(&mut self, packets: u32, bytes: u32) {
        self.flow.counts.on_all_delivered(packets, bytes);
        self.stage.network.packets_delivered += u64::from(packets);
        self.stage.network.ahead.events += u64::from(packets);
    }

    /// Sends what the receiver gets next. Returns whether it has got it, and is to be [counted](Connected::count_received).
    #[inline(always)]
    pub fn send_to_receiver(&mut self, now: Time, side: Side, text: &Text<'_>) -> bool {
        let bytes = plain_bytes(text.header);
        let at = self.send(now, side, bytes);
        let is_received = match at {
            Some(at) => self.receive(at, text),
            None => false,
        };
        is_received || self.reborrow().receive_or_put(*text.header, text.offset, at)
    }

    /// The same where something is to happen before, or the receiver expects something else.
    // The header is no reference, so that a burst's can stay in registers.
    #[inline(never)]
    fn receive_or_put(mut self, header: Header, offset: u64, at: Option<Time>) -> bool {
        let text = Text { header: &header, offset, follows: false };
        if let Some(at) = at
            && self.puts_off_timer(at)
            && self.take(at, &text)
        {
            return true;
        }
        self.put_unless_late(&text, at);
        false
    }

    /// Sends what comes to a station next: the receiver gets it later, if at all.
    #[inline(always)]
    fn send_to_station(&mut self, now: Time, side: Side, text: &Text<'_>) -> bool {
        match self.send(now, side, plain_bytes(text.header)) {
            Some(at) if !at.is_never() => {
                let &Text { header, offset, .. } = text;
                let entry = Entry { at, what: What::Plain(self.endpoint), header: *header, offset };
                self.stage.network.ahead.entering.push_back(entry);
            }
            at => self.reborrow().put_unless_late(text, at),
        }
        false
    }

    /// As [`Topology::send_to_end`](crate::topology::Topology::send_to_end).
    #[inline(always)]
    fn send(&mut self, now: Time, side: Side, bytes: u32) -> Option<Time> {
        let Network { packets, topology, .. } = &mut self.stage.network;
        let ecn = self.transfer.ends[SENDER].new_data_ecn();
        let flow = self.transfer.number;
        let item = || Item { id: packets.vacant(), bytes, flow, is_header: false, ecn };
        topology.send_to_end(now, side, bytes, item)
    }

    /// The receiver has not got it yet: it becomes a packet if a link has it, and nothing if it gets there after the run's end.
    #[inline(never)]
    fn put_unless_late(self, text: &Text<'_>, at: Option<Time>) {
        let &Text { header, offset, .. } = text;
        self.transfer.under_way += 1;
        match at {
            Some(Time::NEVER) => self.flow.late_packets += 1,
            Some(at) => {
                let entry = Entry { at, what: What::Plain(self.endpoint), header: *header, offset };
                self.stage.network.ahead.sent.push_back(entry);
            }
            None => _ = self.put(header, offset),
        }
    }

    /// New data becomes a packet. Returns which.
    pub fn put(self, header: &Header, offset: u64) -> u32 {
        let packets = &mut self.stage.network.packets;
        let id = packets.vacant();
        packets.occupy(id);
        let packet = packets.get_mut(id);
        packet.carry(*header, self.transfer.ends[SENDER].new_data_ecn(), Reason::New, 0);
        packet.offset = offset;
        packet.address(self.endpoint, self.flow, self.transfer.numbers());
        id
    }

    /// Returns whether nothing is to happen before and the receiver expects it; if not, nothing has changed for either end. If so,
    /// it is to be [counted](Connected::count_received).
    #[inline(always)]
    pub fn receive(&mut self, at: Time, text: &Text<'_>) -> bool {
        self.stage.is_next_ahead(at) && self.take(at, text)
    }

    /// If all that is to happen before is that the receiver's timer comes up, too early: sets it to when it is wanted, as the
    /// run would. Returns whether nothing is to happen before any more.
    fn puts_off_timer(&mut self, at: Time) -> bool {
        let Stage { network, schedule, .. } = &mut *self.stage;
        if at.is_never() || !network.ahead.sent.is_empty() || self.transfer.phase != Phase::Running {
            return false;
        }
        let (timer, receiver) = (Timer::Endpoint(self.endpoint ^ 1), &self.transfer.ends[RECEIVER]);
        while schedule.next_by(Clock::Ahead) < at {
            if !schedule.put_off(Clock::Ahead, timer, || receiver.poll_timeout()) {
                return false;
            }
            network.ahead.events += 1;
        }
        true
    }

    /// Returns whether the receiver expects it; if not, nothing has changed.
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

    /// An ACK leaves the receiver, with the blocks that the network has for it.
    #[inline(always)]
    pub fn answer(&mut self, at: Time, ack: Header) {
        let side = self.flow.ways[RECEIVER];
        let blocks = self.stage.network.sack.len();
        let arrives = self.send_ack(at, side, &ack, blocks);
        self.transfer.under_way += 1;
        let Network { packets, sack, ahead, .. } = &mut self.stage.network;
        if let Some(at) = arrives {
            if blocks == 0 {
                return ahead.answer(Arrival::ack(at, What::Plain(self.endpoint), ack));
            } else if ahead.station.is_none() {
                return ahead.answer_sacked(Arrival::ack(at, What::Sacked(self.endpoint), ack), sack);
            }
        }
        let id = packets.insert_answer(ack, sack, self.endpoint, self.flow, self.transfer.numbers());
        if let Some(at) = arrives {
            ahead.answer(Arrival::packet(at, id));
        }
    }

    /// A plain ACK leaves a station.
    #[inline(always)]
    pub fn forward_ack(&mut self, now: Time, side: Side, ack: Header) {
        let arrives = self.send_ack(now, side, &ack, 0);
        let Network { packets, ahead, .. } = &mut self.stage.network;
        match arrives {
            Some(at) => {
                if !at.is_never() {
                    ahead.arrivals.push_back(Arrival::ack(at, What::Plain(self.endpoint), ack));
                }
            }
            None => {
                packets.insert_answer(
                    ack,
                    &SackBlocks::NONE,
                    self.endpoint,
                    self.flow,
                    self.transfer.numbers(),
                );
            }
        }
    }

    /// As [`Topology::send_to_end`](crate::topology::Topology::send_to_end).
    #[inline(always)]
    fn send_ack(&mut self, now: Time, side: Side, ack: &Header, blocks: usize) -> Option<Time> {
        let Network { packets, topology, .. } = &mut self.stage.network;
        let bytes = IP_HEADER_BYTES + tcp::plain_header_len(ack, blocks) as u32;
        let flow = self.transfer.number;
        let item = || Item { id: packets.vacant(), bytes, flow, ..Item::default() };
        topology.send_to_end(now, side, bytes, item)
    }
}

/// New data.
pub struct Text<'a> {
    pub header: &'a Header,
    /// Stream position of the data.
    pub offset: u64,
    /// The receiver has just got what comes before it in the burst.
    pub follows: bool,
}

/// Length of the packet with that header and no SACK blocks.
#[inline(always)]
pub fn plain_bytes(header: &Header) -> u32 {
    IP_HEADER_BYTES + tcp::plain_header_len(header, 0) as u32 + header.len
}
