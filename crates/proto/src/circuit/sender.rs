//! The sending node of a circuit (§4.5).

use super::WINDOW;
use super::config::Config;
use super::control::Control;
use super::gmb::Gmb;
use super::losses::Losses;
use super::plain_packet_len;
use super::tunnel_queue::TunnelQueue;
use crate::cc::RegistryError;
use crate::queue::Item;
use crate::rng::Chance;
use crate::tcp::{Burst, Connection, SenderView, TcpConfig, Transmit};
use airtcp_wire::{Dur, Ecn, Flags, Header, SackBlocks, Segment, Seq, Time};

/// What leaves the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// A data packet, as it came.
    Data(Item),
    /// A packet of control TCP number `control`: a header packet, or one of the handshake, which stands in the place that
    /// the driver gave for it. `bytes` is its length on the wire; the segment's own length is virtual. It repeats so many
    /// header packets before it (FEC).
    Header { control: u16, bytes: u32, repeats: u8 },
}

/// A data packet and the header packet that follows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    pub item: Item,
    /// The header packet's length on the wire and its ECN field, and where its virtual bytes begin.
    pub bytes: u32,
    pub ecn: Ecn,
    pub offset: u64,
}

/// The sender of a circuit: a tunnel queue, and what takes data packets from it: the GMB sender and the senders of the
/// control TCPs. See [`crate::machine`] for how it is driven.
///
/// After [`poll_transmit`](Sender::poll_transmit) there may be room in the tunnel queue again: a driver that has more
/// data offers it at once and drains again, lest a control TCP believe that its application has nothing to send.
pub struct Sender {
    queue: TunnelQueue,
    /// How long data may wait there; zero: no bound.
    delay: Dur,
    gmb: Option<Gmb>,
    controls: Vec<Control>,
    /// The control TCP whose turn it is to take data.
    turn: usize,
    vmss: u64,
    /// Data packets sent, modulo 2^16.
    sent: u16,
    losses: Option<Losses>,
    /// Nothing may leave before, unless something comes.
    rests_until: Time,
    /// Known until something may change them.
    windows: Option<Windows>,
}

/// What the control TCPs' congestion windows amount to.
#[derive(Clone, Copy, Debug)]
struct Windows {
    /// Data that may wait in the tunnel queue: what leaves in the time for which it may, as far as round trips tell; one VMSS at
    /// least.
    allowed_bytes: u64,
    /// Together, in segments of VMSS.
    segments: u32,
}

impl Sender {
    /// Opens the control TCPs, which follow [`Config::control_tcp`] of `tcp`. `chance` gives initial sequence numbers and
    /// controllers' seeds.
    ///
    /// # Errors
    /// If the congestion control or one of its parameters is unknown.
    pub fn new(
        config: &Config,
        tcp: &TcpConfig,
        chance: &mut Chance,
        now: Time,
    ) -> Result<Sender, RegistryError> {
        let tcp = config.control_tcp(tcp);
        let mut open = |number| {
            let connection = Connection::connect(&tcp, Seq(chance.u32()), chance.u64(), now)?;
            Ok(Control::new(config, number, connection))
        };
        Ok(Sender {
            queue: TunnelQueue::new(config.tunnel_queue),
            delay: config.tunnel_delay,
            gmb: config.gmb.map(|rate| Gmb::new(rate, now)),
            controls: (0..config.controls).map(&mut open).collect::<Result<_, RegistryError>>()?,
            turn: 0,
            vmss: config.vmss.0,
            sent: 0,
            losses: config.loss_reports.then(|| Losses::new(now)),
            rests_until: Time::ZERO,
            windows: None,
        })
    }

    /// A data packet for the circuit. `false`: the tunnel queue is full, and the packet is dropped.
    #[inline]
    pub fn handle_packet(&mut self, now: Time, item: Item) -> bool {
        if !self.has_room() {
            return false;
        }
        if self.queue.is_empty() {
            self.rests_until = Time::ZERO;
            if let Some(gmb) = &mut self.gmb {
                gmb.on_backlog(now);
            }
        }
        self.queue.push(item);
        true
    }

    /// An acknowledgment from receiver `control`.
    pub fn handle_segment(&mut self, now: Time, control: u16, segment: &Segment, ecn: Ecn) {
        let index = usize::from(control);
        let Some(control) = self.controls.get_mut(index) else { return };
        (self.rests_until, self.windows) = (Time::ZERO, None);
        if self.losses.is_none() || segment.flags.contains(Flags::SYN) {
            return control.handle_segment(now, segment, ecn);
        }
        control.handle_segment(now, &Segment { window: WINDOW, ..*segment }, ecn);
        self.take_report(now, index, segment.window);
    }

    /// As [`handle_segment`](Sender::handle_segment) if this is the acknowledgment that was to be expected, without SACK, from the
    /// only receiver of a circuit. Returns whether it was; if not, nothing has changed.
    #[inline]
    pub fn handle_expected(&mut self, now: Time, ack: &Header) -> bool {
        let [control] = &mut self.controls[..] else { return false };
        let mut told = *ack;
        if self.losses.is_some() {
            told.window = WINDOW;
        }
        if !control.connection.handle_expected_ack(now, &told, &SackBlocks::NONE) {
            return false;
        }
        self.rests_until = Time::ZERO;
        self.take_report(now, 0, ack.window);
        self.windows = Some(self.weigh());
        true
    }

    /// An ACK has come to a control TCP. It says how many data packets are `lost`, if that is reported.
    #[inline(always)]
    fn take_report(&mut self, now: Time, control: usize, lost: u16) {
        let connection = &mut self.controls[control].connection;
        if let Some(losses) = &mut self.losses
            && let Some(rtt) = connection.last_rtt()
            && losses.on_report(now, rtt, self.sent, lost)
        {
            connection.handle_congestion(now);
        }
    }

    pub fn handle_timeout(&mut self, now: Time) {
        (self.rests_until, self.windows) = (Time::ZERO, None);
        if let Some(gmb) = self.gmb.as_mut().filter(|_| !self.queue.is_empty()) {
            gmb.handle_timeout(now);
        }
        for control in &mut self.controls {
            if control.connection.poll_timeout() <= now {
                control.connection.handle_timeout(now);
            }
        }
    }

    pub fn poll_timeout(&self) -> Time {
        self.first_timeout(Connection::poll_timeout)
    }

    /// What [`poll_timeout`](Sender::poll_timeout) returns is not before, as a glance tells.
    #[inline]
    pub fn earliest_timeout(&self) -> Time {
        self.first_timeout(Connection::earliest_timeout)
    }

    #[inline]
    fn first_timeout(&self, of_control: impl Fn(&Connection) -> Time) -> Time {
        let gmb = self.gmb.as_ref().map_or(Time::NEVER, |gmb| gmb.poll_timeout(&self.queue));
        self.controls().map(of_control).fold(gmb, Time::min)
    }

    /// The next packet to send now, if any; `out` is the place for a header packet. The GMB sender goes first; after each
    /// header packet it is the next control TCP's turn.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Transmit) -> Option<Output> {
        if self.rests(now) {
            return None;
        }
        (self.rests_until, self.windows) = (Time::ZERO, None);
        let output = self.poll_output(now, out);
        match output {
            Some(Output::Data(_)) => self.count_more(1),
            Some(Output::Header { .. }) => {}
            None => self.come_to_rest(),
        }
        output
    }

    /// It is known that nothing may leave.
    #[inline]
    pub fn rests(&self, now: Time) -> bool {
        now < self.rests_until
    }

    /// Begins to send what most of the time leaves: from the only source of a circuit, data packets each with a header packet.
    /// [`next_in_burst`](Sender::next_in_burst) answers them as [`poll_transmit`](Sender::poll_transmit) would by turns. Then
    /// it [ends](Sender::end_burst). `None`: something else may have to leave.
    #[inline]
    pub fn begin_burst(&mut self, now: Time) -> Option<Burst> {
        if self.gmb.is_some() || self.rests(now) {
            return None;
        }
        let [control] = &mut self.controls[..] else { return None };
        let burst = control.begin_burst(now, &self.queue)?;
        self.rests_until = Time::ZERO;
        Some(burst)
    }

    /// The next data packet, if it and a header packet may leave, and what is around that. It stands in `header`, where the one
    /// before it was.
    #[inline]
    pub fn next_in_burst(&mut self, now: Time, burst: &mut Burst, header: &mut Header) -> Option<Pair> {
        let [control] = &mut self.controls[..] else { return None };
        if !control.continues(burst, &self.queue) {
            return None;
        }
        let item = *self.queue.first()?;
        self.queue.drop_first(&item);
        self.sent = self.sent.wrapping_add(1);
        let offset = control.next_in_burst(now, burst, &item, header);
        if self.losses.is_some() {
            header.window = self.sent;
        }
        let ecn = control.connection.new_data_ecn();
        Some(Pair { item, bytes: plain_packet_len(header, 0), ecn, offset })
    }

    /// Returns whether that was all that may leave.
    #[inline]
    pub fn end_burst(&mut self, now: Time, burst: &Burst) -> bool {
        let control = &mut self.controls[0];
        let is_over = control.end_burst(now, burst, &self.queue);
        if !control.connection.has_steady_window() {
            self.windows = None;
        }
        if is_over {
            self.come_to_rest();
        }
        is_over
    }

    /// Nothing may leave now.
    #[inline]
    fn come_to_rest(&mut self) {
        // While data waits, only the pacer lets it go.
        self.rests_until = match self.queue.is_empty() {
            true => Time::ZERO,
            false => self.controls().map(Connection::paced_until).fold(Time::NEVER, Time::min),
        };
        self.windows = Some(self.windows());
    }

    /// What is kept, or what they are now.
    #[inline]
    fn windows(&self) -> Windows {
        match self.windows {
            Some(windows) => windows,
            None => self.weigh(),
        }
    }

    #[inline(never)]
    fn weigh(&self) -> Windows {
        let mut within_delay = self.gmb.as_ref().map_or(0, |gmb| gmb.rate().bytes_in(self.delay));
        let mut window = 0u64;
        for Control { connection, .. } in &self.controls {
            let SenderView { cwnd, srtt, .. } = connection.sender_view();
            if srtt > Dur::ZERO {
                let worth = portion(cwnd, self.delay, srtt);
                within_delay = within_delay.saturating_add(worth);
            }
            window = window.saturating_add(cwnd);
        }
        Windows {
            allowed_bytes: if self.delay == Dur::ZERO { u64::MAX } else { within_delay.max(self.vmss) },
            segments: (window / self.vmss) as u32,
        }
    }

    fn poll_output(&mut self, now: Time, out: &mut Transmit) -> Option<Output> {
        if let Some(item) = self.gmb.as_mut().and_then(|gmb| gmb.poll(&mut self.queue)) {
            return Some(Output::Data(item));
        }
        let sent = self.losses.as_ref().map(|_| self.sent);
        for _ in 0..self.controls.len() {
            let output = self.controls[self.turn].poll(now, &mut self.queue, sent, out);
            if !matches!(output, Some(Output::Data(_))) {
                self.turn = (self.turn + 1) % self.controls.len();
            }
            if output.is_some() {
                return output;
            }
        }
        None
    }

    /// The data packet that left last is cut into this many more further on.
    pub fn count_more(&mut self, packets: u16) {
        self.sent = self.sent.wrapping_add(packets);
    }

    /// Data packets that still find room in the tunnel queue.
    #[inline]
    pub fn room(&self) -> u32 {
        self.queue.room(self.windows().allowed_bytes)
    }

    /// Does one more packet find room?
    #[inline]
    pub fn has_room(&self) -> bool {
        self.queue.has_room(self.windows().allowed_bytes)
    }

    /// The control TCPs' congestion windows together, in segments of VMSS.
    pub fn control_window(&self) -> u32 {
        self.windows().segments
    }

    /// What one round trip's data packets amount to, in segments of VMSS: the control TCPs' windows and, for its rate and
    /// their RTT, what the GMB sender sends.
    pub fn window(&self) -> u32 {
        let srtt = self.controls.iter().map(|control| control.connection.sender_view().srtt).max();
        let guaranteed = self.gmb.as_ref().map_or(0, |gmb| gmb.rate().bytes_in(srtt.unwrap_or_default()));
        self.control_window() + (guaranteed / self.vmss) as u32
    }

    /// The control TCPs, for observers.
    pub fn controls(&self) -> impl Iterator<Item = &Connection> {
        self.controls.iter().map(|control| &control.connection)
    }
}

/// What leaves in `time` where so many `bytes` leave in a `round`.
#[inline]
fn portion(bytes: u64, time: Dur, round: Dur) -> u64 {
    match bytes.checked_mul(time.0) {
        Some(product) => product / round.0,
        None => {
            u64::try_from(u128::from(bytes) * u128::from(time.0) / u128::from(round.0)).unwrap_or(u64::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::{Compression, Receiver};
    use crate::rng::Chances;
    use crate::tcp::{Reason, profile};
    use airtcp_wire::{Bytes, Rate};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// A circuit over 10 ms each way that loses one header packet in 50, and data in fits and starts.
    struct Life {
        sender: Sender,
        receiver: Receiver,
        there: VecDeque<There>,
        back: VecDeque<(Time, u16, Transmit)>,
        chance: Chance,
        manner: Manner,
        expected: Expected,
        said: Vec<String>,
    }

    /// A header packet under way.
    struct There {
        at: Time,
        control: u16,
        transmit: Transmit,
        bytes: u32,
        repeats: u8,
        /// It is in one burst with the one before it, which has not been lost.
        follows: bool,
    }

    /// How many header packets left in bursts, of those how many were taken as the next ones, and ACKs as expected ones.
    #[derive(Default, Debug)]
    struct Expected {
        sent: u32,
        next: u32,
        acks: u32,
    }

    /// How the sender is asked.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Manner {
        /// By turns, without rest.
        Restless,
        ByTurns,
        /// Whatever has a short way goes it.
        InBursts,
    }

    impl Life {
        fn ask(&mut self, now: Time) -> Option<(Output, Transmit)> {
            self.forget();
            let mut out = Transmit::default();
            let output = self.sender.poll_transmit(now, &mut out);
            output.map(|output| (output, out))
        }

        /// Where it is to be restless, nothing is kept.
        fn forget(&mut self) {
            if self.manner == Manner::Restless {
                (self.sender.rests_until, self.sender.windows) = (Time::ZERO, None);
            }
        }

        fn ask_for_bursts(&mut self, now: Time) {
            while let Some(mut burst) = self.sender.begin_burst(now) {
                let mut header = Header::default();
                let mut follows = false;
                while let Some(pair) = self.sender.next_in_burst(now, &mut burst, &mut header) {
                    let Pair { item, bytes, ecn, offset } = pair;
                    let transmit = Transmit { segment: (&header).into(), ecn, reason: Reason::New, offset };
                    self.take(now, Output::Data(item), &transmit, false);
                    let output = Output::Header { control: 0, bytes, repeats: 0 };
                    follows = self.take(now, output, &transmit, follows);
                }
                self.expected.sent += burst.sent;
                if self.sender.end_burst(now, &burst) {
                    break;
                }
            }
        }

        fn step(&mut self, now: Time, is_busy: bool) {
            if self.sender.poll_timeout() <= now {
                self.sender.handle_timeout(now);
            }
            self.receiver.handle_timeout(now);
            self.answer(now);
            let mut was_expected = false;
            while self.there.front().is_some_and(|sent| sent.at <= now)
                && let Some(header) = self.there.pop_front()
            {
                was_expected = self.receive(now, &header, was_expected);
            }
            while self.back.front().is_some_and(|sent| sent.0 <= now)
                && let Some((_, control, transmit)) = self.back.pop_front()
            {
                self.acknowledge(now, control, &transmit);
                self.drain(now);
            }
            for _ in 0..if is_busy { self.chance.u32() % 8 } else { 0 } {
                let bytes =
                    if self.chance.u32().is_multiple_of(8) { 40 + self.chance.u32() % 3000 } else { 1000 };
                self.sender.handle_packet(now, Item { bytes, ..Item::default() });
                self.drain(now);
            }
            self.drain(now);
        }

        /// A header packet is at the receiver, and was expected there as the one before it `was`, or not.
        fn receive(&mut self, now: Time, header: &There, was: bool) -> bool {
            let &There { control, transmit: Transmit { segment, ecn, .. }, bytes, repeats, follows, .. } =
                header;
            let plain = Header::from(&segment);
            let is_bare = self.manner == Manner::InBursts && segment.sack.is_empty();
            let is_next = is_bare && follows && was && self.receiver.handle_next(now, control, &plain);
            let is_expected =
                is_next || (is_bare && self.receiver.handle_expected(now, control, &plain, ecn));
            self.expected.next += u32::from(is_next);
            if !is_expected {
                self.receiver.handle_segment(now, control, &segment, ecn, bytes, repeats);
                self.answer(now);
                return false;
            }
            let mut sack = SackBlocks::default();
            if let Some((ack, reply)) = self.receiver.poll_expected(now, control, &mut sack) {
                let segment = Segment { sack, ..(&ack).into() };
                self.reply(
                    now,
                    reply.control,
                    Transmit { segment, reason: Reason::Ack, ..Transmit::default() },
                );
            }
            true
        }

        fn answer(&mut self, now: Time) {
            let mut out = Transmit::default();
            while let Some(reply) = self.receiver.poll_transmit(now, &mut out) {
                self.reply(now, reply.control, out);
            }
        }

        fn reply(&mut self, now: Time, control: u16, transmit: Transmit) {
            self.said.push(format!("{now:?} {control} {transmit:?}"));
            self.back.push_back((now + Dur::from_millis(10), control, transmit));
        }

        fn acknowledge(&mut self, now: Time, control: u16, transmit: &Transmit) {
            let Transmit { segment, ecn, .. } = transmit;
            let is_bare = self.manner == Manner::InBursts && segment.sack.is_empty();
            match is_bare && self.sender.handle_expected(now, &segment.into()) {
                true => self.expected.acks += 1,
                false => self.sender.handle_segment(now, control, segment, *ecn),
            }
        }

        fn drain(&mut self, now: Time) {
            self.say();
            if self.manner == Manner::InBursts {
                self.ask_for_bursts(now);
            }
            while let Some((output, transmit)) = self.ask(now) {
                self.take(now, output, &transmit, false);
            }
            self.say();
        }

        fn say(&mut self) {
            self.forget();
            let Sender { queue, .. } = &self.sender;
            self.said.push(format!(
                "{} {} {} {:?}",
                queue.is_empty(),
                self.sender.room(),
                self.sender.control_window(),
                self.sender.poll_timeout()
            ));
        }

        /// Returns whether it is on its way.
        fn take(&mut self, now: Time, output: Output, transmit: &Transmit, follows: bool) -> bool {
            match output {
                Output::Data(_) => self.said.push(format!("{now:?} {output:?}")),
                Output::Header { .. } => self.said.push(format!("{now:?} {output:?} {transmit:?}")),
            }
            match output {
                Output::Data(_) => self.receiver.handle_data(1),
                Output::Header { .. } if self.chance.u32().is_multiple_of(50) => return false,
                Output::Header { control, bytes, repeats } => {
                    let at = now + Dur::from_millis(10);
                    let transmit = *transmit;
                    self.there.push_back(There { at, control, transmit, bytes, repeats, follows });
                }
            }
            true
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Asked repeatedly, even without effect, it answers as one that is not asked; and in bursts as by turns.
        #[test]
        fn neither_rest_nor_burst_changes_anything(
            seed: u64,
            controls in 1u16..4,
            has_gmb: bool,
            fec in prop::sample::select(vec![0, 0, 2]),
            compression in prop::sample::select(vec![Compression::None, Compression::None, Compression::Twice]),
            controller in prop::sample::select(vec!["reno", "cubic", "bbr"]),
        ) {
            let gmb = has_gmb.then_some(Rate(1_000_000));
            let config = Config { controls, gmb, fec, compression, vmss: Bytes(1000), ..Config::default() };
            let restless = live(seed, &config, controller, Manner::Restless);
            prop_assert!(restless.said.len() > 1_000);
            for manner in [Manner::ByTurns, Manner::InBursts] {
                let other = live(seed, &config, controller, manner);
                for (one, other) in restless.said.iter().zip(&other.said) {
                    prop_assert_eq!(one, other);
                }
                prop_assert_eq!(restless.said.len(), other.said.len());
            }
        }
    }

    fn live(seed: u64, config: &Config, controller: &str, manner: Manner) -> Life {
        let tcp = TcpConfig { congestion_control: controller.to_owned(), ..profile::linux() };
        let chances = Chances::new(seed);
        let mut life = Life {
            sender: Sender::new(config, &tcp, &mut chances.chance("s"), Time::ZERO).unwrap(),
            receiver: Receiver::new(config, &tcp, &mut chances.chance("r")).unwrap(),
            there: VecDeque::new(),
            back: VecDeque::new(),
            chance: chances.chance("life"),
            manner,
            expected: Expected::default(),
            said: Vec::new(),
        };
        (0..4_000u64).for_each(|step| {
            life.step(Time::ZERO + Dur::from_micros(500 * step), step % 1000 < 700);
        });
        life
    }

    /// Were everything left to turns, the property would hold for nothing.
    #[test]
    fn most_header_packets_go_the_short_ways() {
        let config = Config { vmss: Bytes(1000), ..Config::default() };
        let Life { sender, expected, .. } = live(1, &config, "cubic", Manner::InBursts);
        let sent: u64 = sender.controls().map(|control| control.stats().data_segments_sent).sum();
        assert!(u64::from(expected.sent) > sent / 2, "{expected:?} of {sent}");
        assert!(u64::from(expected.acks) > sent / 4, "{expected:?} of {sent}");
        assert!(u64::from(expected.next) > sent / 16, "{expected:?} of {sent}");
    }
}
