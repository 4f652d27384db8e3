//! Header prediction (Jacobson 1990): on a connection that only receives, or only sends, almost every segment is the
//! expected one. The conditions under which the general path would do nothing special are checked once and then kept.

use super::{Connection, Reason, State, Transmit};
use crate::marks::{self, Mark};
use crate::tcp::sender::{Burst, Sender};
use crate::tcp::shortcut::rest::{Half, SenderAtRest};
use airtcp_wire::{Ecn, Flags, Header, SackBlocks, Segment, Time};

/// What a connection expects, valid until something unexpected happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prediction {
    /// To be [computed](Connection::predict).
    Unknown,
    Nothing,
    /// Text: we have nothing outstanding and nothing to send. Only then may the sender rest.
    Receiving,
    /// ACKs: each outstanding segment was sent once and is in flight, and what leaves next is new data.
    Sending,
    /// ACKs: something was lost or resent, but what leaves next is new data.
    Repairing,
    /// ACKs: something else has to leave before new data, or new data has to wait.
    Waiting,
}

/// What follows from text that was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    /// This ACK leaves now.
    Now(Header),
    /// An ACK leaves at that time, or none if that is [`Time::NEVER`].
    By(Time),
}

impl Connection {
    /// [`handle_segment`](Connection::handle_segment) for text without SACK blocks on a connection that only receives and
    /// whose application reads at once. `follows` says whether it follows such text in one burst and differs from it in its
    /// sequence number alone. Returns what is due then, with the SACK blocks of an ACK in `sack`. `None`: the connection did
    /// not expect it, and nothing has changed.
    #[inline(always)]
    pub fn receive_text(
        &mut self,
        now: Time,
        segment: &Header,
        ecn: Ecn,
        follows: bool,
        sack: &mut SackBlocks,
    ) -> Option<Reply> {
        let is_expected =
            (follows && self.handle_next_text(now, segment)) || self.handle_expected_text(now, segment, ecn);
        // A closure would not always be inlined.
        if is_expected { Some(self.read_and_answer(now, sack)) } else { None }
    }

    /// Something unexpected happens: wakes the sender, or computes the deadlines that plain ACKs have left uncomputed.
    #[inline]
    pub(super) fn forget_prediction(&mut self) {
        self.prediction = Prediction::Unknown;
        self.sender_mut().settle_plain_acks();
    }

    #[inline(always)]
    pub(super) fn is_predicted(&mut self, holds: impl Fn(Prediction) -> bool) -> bool {
        holds(self.prediction)
            || (self.prediction == Prediction::Unknown && {
                self.predict();
                holds(self.prediction)
            })
    }

    /// Predicts, and lets the receiver rest if that is not needed.
    #[inline(never)]
    fn predict(&mut self) {
        use Prediction::{Repairing, Sending, Waiting};
        self.prediction = self.predicted();
        if matches!(self.prediction, Sending | Repairing | Waiting) {
            self.receiver.rest(&self.rules, &self.negotiated, !self.is_passive);
        }
    }

    fn predicted(&self) -> Prediction {
        if self.rules.config.no_shortcuts {
            return Prediction::Nothing;
        }
        let Some(sender) = self.sender.get() else { return Prediction::Receiving };
        let is_ordinary = self.state == State::Established
            && self.events == 0
            && !self.owes_reset()
            && !self.is_orphan
            && !self.receiver.get().is_some_and(|receiver| receiver.knows_end());
        match is_ordinary {
            true if sender.is_idle() => Prediction::Receiving,
            true if self.sends_plainly(sender) => match sender.is_plain() {
                true => Prediction::Sending,
                false => Prediction::Repairing,
            },
            true => Prediction::Waiting,
            false => Prediction::Nothing,
        }
    }

    /// Returns whether what leaves next is new data, with neither CWR nor SACK blocks.
    fn sends_plainly(&self, sender: &Sender) -> bool {
        let owes_cwr = self.negotiated.ecn && sender.core.owes_cwr;
        sender.sends_new() && !owes_cwr && !self.receiver.has_blocks()
    }

    /// Returns whether only ACKs are expected.
    #[inline]
    fn only_sends(&mut self) -> bool {
        use Prediction::{Repairing, Sending, Waiting};
        self.is_predicted(|prediction| matches!(prediction, Sending | Repairing | Waiting))
    }

    /// [`handle_segment`](Connection::handle_segment) for text without SACK blocks on a connection that only receives.
    /// Returns whether the segment was the expected one; if not, nothing has changed.
    #[inline(always)]
    pub(crate) fn handle_expected_text(&mut self, now: Time, segment: &Header, ecn: Ecn) -> bool {
        if segment.len == 0 || !segment.is_plain(self.negotiated.timestamps) {
            return false;
        }
        let ecn = if self.negotiated.ecn { ecn } else { Ecn::NotEct };
        let window = self.negotiated.window(segment.window);
        let (Half::AtRest(sender), Half::Awake(receiver)) = (&mut self.sender, &mut self.receiver) else {
            return self.take_text_awake(now, *segment, ecn);
        };
        if segment.ack != self.iss.at(SenderAtRest::UNA) {
            return false;
        }
        let Some(is_known) = receiver.take_text(now, segment, ecn) else { return false };
        marks::hit(Mark::ExpectedText);
        self.clock = now;
        sender.count_text(is_known);
        sender.renew_window(window, segment.seq);
        true
    }

    /// [`handle_expected_text`](Connection::handle_expected_text) while the sender does not rest. It may rest from then on.
    // The segment is passed by value, so that the fast path can keep it in registers.
    #[inline(never)]
    fn take_text_awake(&mut self, now: Time, segment: Header, ecn: Ecn) -> bool {
        let una = self.sender.una();
        if segment.ack != self.iss.at(una) || !self.only_receives() {
            return false;
        }
        let Some(is_known) = self.receiver_mut().take_text(now, &segment, ecn) else { return false };
        self.clock = now;
        let window = self.negotiated.window(segment.window);
        let sender = self.sender_mut();
        sender.core.stats.segments_received += 1;
        sender.core.stats.duplicate_segments_received += u64::from(is_known);
        sender.forget_last_rtt();
        sender.renew_window(una, window, segment.seq);
        self.sender.rest(&self.negotiated);
        true
    }

    /// [`handle_expected_text`](Connection::handle_expected_text) for text that follows such text in one burst and differs
    /// from it in its sequence number alone.
    #[inline(always)]
    pub(crate) fn handle_next_text(&mut self, now: Time, segment: &Header) -> bool {
        debug_assert!(self.prediction == Prediction::Receiving);
        if !self.receiver_mut().take_next_text(now, segment) {
            return false;
        }
        self.clock = now;
        match &mut self.sender {
            Half::AtRest(sender) => {
                sender.count_text(false);
                sender.repeat_window(segment.seq);
            }
            Half::Awake(sender) => {
                sender.core.stats.segments_received += 1;
                sender.repeat_window(segment.seq);
            }
        }
        true
    }

    /// [`handle_segment`](Connection::handle_segment) for a pure ACK with these SACK blocks on a connection that only sends.
    /// Returns whether the segment was the expected one; if not, nothing has changed.
    #[inline(always)]
    pub fn receive_ack(&mut self, now: Time, segment: &Header, sack: &SackBlocks) -> bool {
        let is_pure = segment.len == 0 && segment.is_plain(self.negotiated.timestamps);
        if !is_pure || !self.only_sends() {
            return false;
        }
        let window = self.negotiated.window(segment.window);
        let Some(sender) = self.sender.get_mut() else { return false };
        if !self.receiver.is_next(now, segment) {
            return false;
        }
        let core = &sender.core;
        let acked = segment.ack.distance(self.iss.at(core.una()));
        if acked < 0 || acked as u64 > core.flight_size() {
            return false;
        }
        self.clock = now;
        let ack = core.una() + acked as u64;
        sender.core.stats.segments_received += 1;
        let is_plain = self.prediction == Prediction::Sending
            && sack.is_empty()
            && sender.handle_plain_ack(now, ack, window, segment);
        match is_plain {
            true => marks::hit(Mark::PlainAck),
            false => self.handle_expected_news(now, *segment, sack, ack),
        }
        self.receiver.note_plain_ack(now, segment);
        true
    }

    /// Handles an expected ACK that `Sender::handle_plain_ack` cannot handle.
    #[inline(never)]
    fn handle_expected_news(&mut self, now: Time, segment: Header, sack: &SackBlocks, ack: u64) {
        self.forget_prediction();
        let window = self.negotiated.window(segment.window);
        let sender = self.sender_mut();
        if sender.is_idle_at(ack) {
            sender.forget_last_rtt();
            return sender.update_window(ack, window, segment.seq);
        }
        self.take_plain_news(now, &segment, sack, ack, window);
    }

    /// [`poll_transmit_into`](Connection::poll_transmit_into) if only an ACK or a full segment of new data can leave next.
    /// `None`: something else may have to leave.
    #[inline(always)]
    pub(crate) fn poll_expected(&mut self, now: Time, out: &mut Transmit) -> Option<bool> {
        if self.only_receives() {
            let is_due = self.receiver.is_ack_due();
            if is_due {
                self.clock = now;
                self.pure_ack(now, out);
            }
            return Some(is_due);
        }
        let mut burst = self.begin_burst(now)?;
        burst.limit_to(1);
        let is_sent = burst.continues();
        if is_sent {
            let mut header = self.open_burst(now, &burst);
            out.offset = self.next_in_burst(now, &mut burst, &mut header);
            out.segment = Segment::from(&header);
            (out.ecn, out.reason) = (self.new_data_ecn(), Reason::New);
        }
        self.end_burst(now, &burst);
        Some(is_sent)
    }

    /// Returns whether only text is expected.
    #[inline]
    pub(crate) fn only_receives(&mut self) -> bool {
        self.is_predicted(|prediction| prediction == Prediction::Receiving)
    }

    /// On a connection that [only receives](Connection::only_receives): the ACK that leaves now, if one is due. Its SACK
    /// blocks replace those in `sack`.
    #[inline(always)]
    pub(crate) fn poll_expected_ack(&mut self, now: Time, sack: &mut SackBlocks) -> Option<Header> {
        if !self.receiver.is_ack_due() {
            return None;
        }
        self.clock = now;
        let nxt = self.sender.count_ack();
        sack.clear();
        if self.receiver.has_blocks() {
            self.receiver.fill_sack(self.negotiated.timestamps, sack);
        }
        Some(self.header(now, nxt, Flags::ACK))
    }

    /// On a connection that [only receives](Connection::only_receives), after text: the application reads all.
    // Finds the receiver only once, as this is hot.
    #[inline(always)]
    fn read_and_answer(&mut self, now: Time, sack: &mut SackBlocks) -> Reply {
        let receiver = self.receiver.wake(&self.rules, &self.negotiated);
        receiver.read_all();
        if !receiver.acks.is_due() {
            return Reply::By(receiver.acks.deadline());
        }
        self.clock = now;
        let nxt = self.sender.count_ack();
        sack.clear();
        if receiver.has_blocks() {
            receiver.fill_sack(self.negotiated.timestamps, sack);
        }
        let mut header = Header::new(self.iss.at(nxt), Flags::ACK, self.negotiated.stamps(now));
        receiver.acknowledge(&mut header);
        Reply::Now(header)
    }

    /// [`poll_timeout`](Connection::poll_timeout) of a connection that [only receives](Connection::only_receives), where a
    /// delayed ACK has the only timer.
    #[inline(always)]
    pub(crate) fn poll_expected_timeout(&self) -> Time {
        self.receiver.ack_deadline()
    }

    /// Returns whether the connection only sends and its pacer holds everything back, so that there is no need to poll.
    #[inline(always)]
    pub(crate) fn is_held_back(&mut self, now: Time) -> bool {
        if !self.only_sends() || self.receiver.is_ack_due() {
            return false;
        }
        let sender = self.sender_mut();
        let is_held_back = sender.is_held_back(now) && sender.waits_its_turn();
        if is_held_back {
            self.clock = now;
        }
        is_held_back
    }

    /// Begins a burst of full segments of new data on a connection that only sends.
    /// [`next_in_burst`](Connection::next_in_burst) returns them, and [`end_burst`](Connection::end_burst) ends the burst.
    /// `None`: something else may have to leave.
    #[inline(always)]
    pub(crate) fn begin_burst(&mut self, now: Time) -> Option<Burst> {
        use Prediction::{Repairing, Sending};
        let sends_new = self.is_predicted(|prediction| matches!(prediction, Sending | Repairing));
        if !sends_new || self.receiver.is_ack_due() {
            return None;
        }
        let burst = self.sender_mut().begin_burst(now)?;
        marks::hit(Mark::Burst);
        self.clock = now;
        Some(burst)
    }

    /// The header that all segments of a burst share. Only for a burst that [continues](Burst::continues).
    // As `data_segment` for new data without CWR.
    #[inline(always)]
    pub(crate) fn open_burst(&mut self, now: Time, burst: &Burst) -> Header {
        let mut header = self.header(now, 0, Flags::ACK);
        header.len = burst.mss() as u32;
        self.receiver.note_data_sent(now);
        header
    }

    /// Turns `header`, which [`open_burst`](Connection::open_burst) has returned, into the next segment of a burst that
    /// [continues](Burst::continues). Returns the stream offset of its payload.
    #[inline(always)]
    pub(crate) fn next_in_burst(&mut self, now: Time, burst: &mut Burst, header: &mut Header) -> u64 {
        let (start, is_pushed) = self.sender_mut().next_in_burst(now, burst);
        header.seq = self.iss.at(start);
        header.put(Flags::PSH, is_pushed);
        start - 1
    }

    /// The ECN field of new data (RFC 3168 §6.1.2).
    #[inline(always)]
    pub fn new_data_ecn(&self) -> Ecn {
        if self.negotiated.ecn { Ecn::Ect0 } else { Ecn::NotEct }
    }

    /// When the pacer lets the next segment leave, if no timer expires before: nothing else leaves until then.
    #[inline(always)]
    pub(crate) fn resumes_at(&self) -> Option<Time> {
        let sender = self.sender.get()?;
        let departure = sender.next_departure(self.clock);
        let is_next = !departure.is_never() && !self.expires(sender, departure);
        is_next.then_some(departure)
    }

    /// Ends the burst. Returns whether the window or the pacer keeps more full segments from leaving.
    #[inline(always)]
    pub(crate) fn end_burst(&mut self, now: Time, burst: &Burst) -> bool {
        self.sender_mut().end_burst(now, burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Chances;
    use crate::tcp::{TcpConfig, profile};
    use airtcp_wire::{Dur, Seq};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// Two ends and the packets between them, each with its arrival time and its destination.
    struct Pair {
        ends: [Connection; 2],
        under_way: VecDeque<(Time, usize, Transmit)>,
        said: Vec<String>,
        /// Whether the ends predict anything.
        predicts: bool,
        /// Whether bursts are resumed.
        resumes: bool,
    }

    /// A packet's fate: is it lost, duplicated, marked, and by how many microseconds is it late?
    type Chance = (bool, bool, bool, u64);

    impl Pair {
        fn new(config: &TcpConfig, predicts: bool) -> Pair {
            let client = Connection::connect(config, Seq(u32::MAX - 5000), 1, Time::ZERO).unwrap();
            let server = Connection::listen(config, Seq(77), 2).unwrap();
            Pair {
                ends: [client, server],
                under_way: VecDeque::new(),
                said: Vec::new(),
                predicts,
                resumes: false,
            }
        }

        /// One of the ends, which predicts nothing unless `predicts`.
        fn end(&mut self, end: usize) -> &mut Connection {
            if !self.predicts {
                self.ends[end].prediction = Prediction::Nothing;
            }
            &mut self.ends[end]
        }

        fn rests(&self, end: usize) -> bool {
            self.ends[end].sender.get().is_none()
        }

        fn receiver_rests(&self, end: usize) -> bool {
            self.ends[end].receiver.get().is_none()
        }

        fn send(&mut self, now: Time, end: usize, chance: &mut impl FnMut() -> Chance) {
            if self.end(end).is_held_back(now) {
                return;
            }
            let now = if self.resumes { self.send_bursts(now, end, chance) } else { now };
            let mut out = Transmit::default();
            while self.end(end).poll_transmit_into(now, &mut out) {
                let timeout = self.timeout(end);
                self.launch(now, end, out, chance);
                self.said.push(format!("{timeout:?}"));
                if out.reason == Reason::Ack {
                    break;
                }
            }
        }

        fn launch(&mut self, now: Time, end: usize, mut out: Transmit, chance: &mut impl FnMut() -> Chance) {
            self.said.push(format!("{now:?} {end} {out:?}"));
            let (is_lost, is_doubled, is_marked, late_us) = chance();
            if is_marked && out.ecn.is_capable() {
                out.ecn = Ecn::Ce;
            }
            let at = now + Dur::from_micros(10_000 + late_us);
            let copies = if is_doubled { 2 } else { usize::from(!is_lost) };
            (0..copies).for_each(|_| self.under_way.push_back((at, 1 - end, out)));
        }

        /// Sends bursts, including those that the pacer releases before anything else happens. Returns the last one's time.
        fn send_bursts(&mut self, mut now: Time, end: usize, chance: &mut impl FnMut() -> Chance) -> Time {
            while let Some(mut burst) = self.ends[end].begin_burst(now) {
                let mut header = match burst.continues() {
                    true => self.ends[end].open_burst(now, &burst),
                    false => Header::default(),
                };
                while burst.continues() {
                    let offset = self.ends[end].next_in_burst(now, &mut burst, &mut header);
                    let (segment, ecn) = (Segment::from(&header), self.ends[end].new_data_ecn());
                    self.launch(now, end, Transmit { segment, ecn, reason: Reason::New, offset }, chance);
                }
                if self.ends[end].end_burst(now, &burst) {
                    let arrivals = self.under_way.iter().map(|(at, ..)| *at);
                    let next = arrivals.min().unwrap_or(Time::NEVER).min(self.ends[1 - end].poll_timeout());
                    let Some(departure) = self.ends[end].resumes_at().filter(|at| *at < next) else { break };
                    now = departure;
                }
            }
            now
        }

        /// When the end's next timer expires, which is not before its lower bound.
        fn timeout(&self, end: usize) -> Time {
            let timeout = self.ends[end].poll_timeout();
            assert!(self.ends[end].earliest_timeout() <= timeout);
            timeout
        }

        /// The earliest packet or timer; returns its time.
        fn step(&mut self, chance: &mut impl FnMut() -> Chance) -> Option<Time> {
            let packet = (0..self.under_way.len()).min_by_key(|&index| self.under_way[index].0);
            let arrival = packet.map_or(Time::NEVER, |index| self.under_way[index].0);
            let end = usize::from(self.timeout(1) < self.timeout(0));
            let timer = self.timeout(end);
            if arrival.is_never() && timer.is_never() {
                return None;
            }
            let (now, end) = match packet.filter(|_| arrival <= timer) {
                Some(index) => {
                    let (at, end, transmit) = self.under_way.remove(index)?;
                    let taken = self.end(end).handle_payload(at, &transmit.segment, transmit.ecn);
                    self.said.push(format!("{taken:?}"));
                    (at, end)
                }
                None => {
                    self.end(end).handle_timeout(timer);
                    (timer, end)
                }
            };
            while self.end(end).poll_event().is_some() {}
            self.ends[end].read_all();
            self.send(now, end, chance);
            let view = (self.ends[end].sender_view(), self.ends[end].stats(), self.ends[end].last_rtt());
            self.said.push(format!("{view:?}"));
            Some(now)
        }

        fn live(mut self, seed: u64, loss: f64, bytes: u64) -> Vec<String> {
            let mut stream = Chances::new(seed).chance("prediction");
            let mut chance = move || {
                let late_us = if stream.f64() < 0.05 { stream.u64() % 5_000 } else { 0 };
                (stream.f64() < loss, stream.f64() < 0.01, stream.f64() < 0.01, late_us)
            };
            self.ends[0].write(bytes);
            self.send(Time::ZERO, 0, &mut chance);
            for step in 0..1_500u64 {
                let Some(now) = self.step(&mut chance) else { break };
                // Now and then one of the ends writes some more, or at last finishes.
                if step % 211 == 210 {
                    let (end, is_last) = ((step / 211 % 2) as usize, step > 1_200);
                    match is_last {
                        false => self.end(end).write(7 * step),
                        true => self.end(end).shutdown(),
                    }
                    self.send(now, end, &mut chance);
                }
            }
            self.said
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Predictions change no result: segments, timers, views and counters are those of the general path.
        #[test]
        fn the_short_way_is_the_long_one(
            seed: u64,
            loss in prop::sample::select(vec![0.0, 0.01, 0.1]),
            bytes in 1u64..2_000_000,
            name in prop::sample::select(vec!["rfc", "linux", "bsd-1998", "ns2-2.35"]),
            controller in prop::sample::select(vec!["reno", "cubic", "bbr", "vegas"]),
            options: (bool, bool, bool, bool),
        ) {
            let mut config = (profile::find(name).unwrap().config)();
            let (timestamps, sack, ecn, pacing) = options;
            config.congestion_control = controller.to_owned();
            (config.timestamps, config.ecn, config.pacing) = (timestamps, ecn, pacing);
            config.sack &= sack;
            let run = |predicts| Pair::new(&config, predicts).live(seed, loss, bytes);
            let (long, short) = (run(false), run(true));
            for (long, short) in long.iter().zip(&short) {
                prop_assert_eq!(long, short);
            }
            prop_assert_eq!(long.len(), short.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Resumed bursts send the same segments at the same times as single polls do, and leave the same state behind.
        #[test]
        fn a_burst_that_is_resumed_is_one_after_the_other(
            seed: u64,
            loss in prop::sample::select(vec![0.0, 0.01, 0.1]),
            controller in prop::sample::select(vec!["reno", "cubic", "bbr", "bbr3"]),
            options: (bool, bool),
        ) {
            let (timestamps, ecn) = options;
            let config = TcpConfig { pacing: true, timestamps, ecn, ..profile::linux() };
            let config = TcpConfig { congestion_control: controller.to_owned(), ..config };
            let run = |resumes| {
                let mut pair = Pair { resumes, ..Pair::new(&config, true) };
                let mut stream = Chances::new(seed).chance("bursts");
                let mut chance = move || (stream.f64() < loss, false, stream.f64() < 0.01, 0);
                pair.ends[0].write(3_000_000);
                pair.send(Time::ZERO, 0, &mut chance);
                while pair.step(&mut chance).is_some() {}
                let sent: Vec<_> = pair.said.into_iter().filter(|said| said.contains("Transmit")).collect();
                (sent, pair.ends.map(|end| format!("{:?} {:?}", end.sender_view(), end.stats())))
            };
            let (resumed, single) = (run(true), run(false));
            prop_assert!(resumed == single, "{:?}", resumed.0.iter().zip(&single.0).find(|(a, b)| a != b));
        }
    }

    /// Bulk data is predicted, behind holes, too. Otherwise the properties above would compare the general path with itself.
    #[test]
    fn bulk_data_is_expected() {
        let config = TcpConfig { initial_ssthresh: Some(20), ..profile::linux() };
        let mut pair = Pair::new(&config, true);
        let mut sent = 0;
        let mut chance = || {
            sent += 1;
            (sent >= 2_000 && sent % 301 == 0, false, false, 0)
        };
        pair.ends[0].write(100_000_000);
        pair.send(Time::ZERO, 0, &mut chance);
        let mut step = || pair.step(&mut chance).map(|_| pair.ends.each_ref().map(|end| end.prediction));
        let predictions: Vec<_> = (0..3_500).map_while(|_| step()).collect();
        assert_eq!(predictions[1_000], [Prediction::Sending, Prediction::Receiving]);
        assert!(predictions.contains(&[Prediction::Repairing, Prediction::Receiving]));
        assert!(pair.rests(1) && pair.receiver_rests(0));
    }

    /// A sender that has rested answers, and finishes, like one that has never rested.
    #[test]
    fn a_receiver_that_has_rested_writes_and_closes() {
        for profile in profile::PROFILES {
            let config = TcpConfig { ecn: true, ..(profile.config)() };
            let run = |predicts| {
                let mut pair = Pair::new(&config, predicts);
                let mut chance = || (false, false, false, 0);
                pair.ends[0].write(30_000);
                pair.send(Time::ZERO, 0, &mut chance);
                let mut now = Time::ZERO;
                while pair.ends[1].received() < 30_000 {
                    now = pair.step(&mut chance).unwrap();
                }
                assert_eq!(pair.rests(1), predicts, "{}", profile.name);
                assert_eq!(pair.receiver_rests(0), predicts, "{}", profile.name);
                pair.end(1).write(20_000);
                assert!(!pair.rests(1));
                pair.end(1).shutdown();
                pair.end(0).shutdown();
                pair.send(now, 1, &mut chance);
                pair.send(now, 0, &mut chance);
                while pair.step(&mut chance).is_some() {}
                assert_eq!(pair.ends[0].received(), 20_000);
                assert_eq!(pair.ends.each_ref().map(|end| end.acknowledged()), [30_000, 20_000]);
                pair.said
            };
            assert_eq!(run(true), run(false), "{}", profile.name);
        }
    }

    /// A SYN-ACK that was resent is more than a resting sender remembers.
    #[test]
    fn a_sender_that_has_resent_its_syn_does_not_rest() {
        let mut pair = Pair::new(&profile::linux(), true);
        let mut sent = 0;
        let mut chance = || {
            sent += 1;
            (sent == 2, false, false, 0)
        };
        pair.ends[0].write(1_000_000);
        pair.send(Time::ZERO, 0, &mut chance);
        for _ in 0..500 {
            pair.step(&mut chance);
            assert!(!pair.rests(0) && !pair.rests(1));
        }
        assert!(pair.ends[1].received() > 0);
    }
}
