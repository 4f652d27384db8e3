//! The receiving node of a circuit (§4.6). Data packets pass it by, and are counted.

use super::compression::Decompressor;
use super::config::Config;
use super::fec::Restorer;
use super::{WINDOW, control_packet_len, plain_packet_len};
use crate::cc::RegistryError;
use crate::rng::Chance;
use crate::tcp::{Connection, TcpConfig, Transmit};
use airtcp_wire::{Ecn, Flags, Header, SackBlocks, Segment, Seq, Time};

/// A packet back to the sending node, which stands in the place that the driver gave for it: an acknowledgment of header
/// packets, or one of the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    pub control: u16,
    /// Length on the wire.
    pub bytes: u32,
}

struct Control {
    connection: Connection,
    decompressor: Option<Decompressor>,
    /// If header packets repeat others.
    restorer: Option<Restorer>,
}

impl Control {
    /// Are its header packets neither compressed nor repeated?
    #[inline]
    fn is_plain(&self) -> bool {
        self.decompressor.is_none() && self.restorer.is_none()
    }

    fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.connection.handle_segment(now, segment, ecn);
        // Where nothing is read, too, a window may have to be told.
        self.connection.read(self.connection.readable());
        // Nobody is there to be told.
        while self.connection.poll_event().is_some() {}
    }
}

/// The receivers of a circuit's control TCPs. See [`crate::machine`] for how they are driven.
pub struct Receiver {
    controls: Vec<Control>,
    /// The control TCP that is asked first.
    turn: usize,
    undecodable: u64,
    restored: u64,
    reports_losses: bool,
    /// Data packets that have passed, and those that were missing when the last header packet came, modulo 2^16.
    passed: u16,
    missing: u16,
}

impl Receiver {
    /// Waits for the control TCPs of a [`Sender`](super::Sender) made with the same `config` and `tcp`.
    ///
    /// # Errors
    /// If the congestion control or one of its parameters is unknown.
    pub fn new(config: &Config, tcp: &TcpConfig, chance: &mut Chance) -> Result<Receiver, RegistryError> {
        let tcp = config.control_tcp(tcp);
        let mut listen = || {
            let connection = Connection::listen(&tcp, Seq(chance.u32()), chance.u64())?;
            let decompressor = Decompressor::new(config.compression);
            let restorer = (config.fec > 0).then(Restorer::default);
            Ok(Control { connection, decompressor, restorer })
        };
        let controls = (0..config.controls).map(|_| listen()).collect::<Result<_, RegistryError>>()?;
        Ok(Receiver {
            controls,
            turn: 0,
            undecodable: 0,
            restored: 0,
            reports_losses: config.loss_reports,
            passed: 0,
            missing: 0,
        })
    }

    /// Data packets that came through the circuit pass by.
    pub fn handle_data(&mut self, packets: u16) {
        self.passed = self.passed.wrapping_add(packets);
    }

    /// A receiver that finds the circuit in use begins to count: by this header packet's account all has passed so far.
    pub fn begin_count(&mut self, header: &Segment) {
        self.passed = header.window;
    }

    /// As [`handle_segment`](Receiver::handle_segment) if this is the header packet that was to be expected of a control TCP
    /// whose header packets are neither compressed nor repeated. Returns whether it was; if not, nothing has changed.
    // Of its two callers one is hot.
    #[inline(always)]
    pub fn handle_expected(&mut self, now: Time, control: u16, segment: &Header, ecn: Ecn) -> bool {
        let Some(control) = self.controls.get_mut(usize::from(control)) else { return false };
        let mut told = *segment;
        if self.reports_losses {
            told.window = WINDOW;
        }
        if !control.is_plain() || !control.connection.handle_expected_text(now, &told, ecn) {
            return false;
        }
        control.connection.read_all();
        self.missing = segment.window.wrapping_sub(self.passed);
        true
    }

    /// The same of a header packet that follows such a one in one burst.
    #[inline(always)]
    pub fn handle_next(&mut self, now: Time, control: u16, segment: &Header) -> bool {
        let Some(control) = self.controls.get_mut(usize::from(control)) else { return false };
        if !control.connection.handle_next_text(now, segment) {
            return false;
        }
        control.connection.read_all();
        self.missing = segment.window.wrapping_sub(self.passed);
        true
    }

    /// As [`poll_timeout`](Receiver::poll_timeout) of that control TCP, where a header packet was expected and has just come.
    #[inline(always)]
    pub fn poll_expected_timeout(&self, control: u16) -> Time {
        self.controls[usize::from(control)].connection.poll_expected_timeout()
    }

    /// As [`poll_transmit`](Receiver::poll_transmit) where that header packet has just come; `sack` is the place for the blocks.
    #[inline(always)]
    pub fn poll_expected(
        &mut self,
        now: Time,
        control: u16,
        sack: &mut SackBlocks,
    ) -> Option<(Header, Reply)> {
        let connection = &mut self.controls[usize::from(control)].connection;
        let mut ack = connection.poll_expected_ack(now, sack)?;
        self.turn = usize::from(control);
        if self.reports_losses {
            ack.window = self.missing;
        }
        let bytes = plain_packet_len(&ack, sack.as_slice().len());
        Some((ack, Reply { control, bytes }))
    }

    /// A packet of control TCP number `control` has arrived, `bytes` long on the wire. Each header packet counts as one
    /// that carries VMSS bytes; those that it repeats and that have not come are restored.
    pub fn handle_segment(
        &mut self,
        now: Time,
        control: u16,
        segment: &Segment,
        ecn: Ecn,
        bytes: u32,
        repeats: u8,
    ) {
        let Some(control) = self.controls.get_mut(usize::from(control)) else { return };
        if let Some(decompressor) = &mut control.decompressor
            && !decompressor.decompress(segment, bytes, control_packet_len(segment))
        {
            self.undecodable += 1;
            return;
        }
        let mut segment = *segment;
        if segment.len > 0 {
            self.missing = segment.window.wrapping_sub(self.passed);
            if self.reports_losses {
                segment.window = WINDOW;
            }
            let missing =
                control.restorer.as_mut().map_or(Some(0), |restorer| restorer.missing(&segment, repeats));
            let Some(missing) = missing else { return };
            self.restored += u64::from(missing);
            for n in (1..=u32::from(missing)).rev() {
                let seq = Seq(segment.seq.0.wrapping_sub(segment.len * n));
                control.handle_segment(now, &Segment { seq, ..segment }, Ecn::NotEct);
            }
        }
        control.handle_segment(now, &segment, ecn);
    }

    pub fn handle_timeout(&mut self, now: Time) {
        for Control { connection, .. } in &mut self.controls {
            if connection.poll_timeout() <= now {
                connection.handle_timeout(now);
            }
        }
    }

    pub fn poll_timeout(&self) -> Time {
        let timeouts = self.controls.iter().map(|control| control.connection.poll_timeout());
        timeouts.fold(Time::NEVER, Time::min)
    }

    /// The next packet to send back now, if any; `out` is the place for it.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Transmit) -> Option<Reply> {
        for _ in 0..self.controls.len() {
            if self.controls[self.turn].connection.poll_transmit_into(now, out) {
                return Some(self.reply(self.turn as u16, &mut out.segment));
            }
            self.turn = (self.turn + 1) % self.controls.len();
        }
        None
    }

    /// What a control TCP's connection sends, with what is reported.
    #[inline]
    fn reply(&self, control: u16, segment: &mut Segment) -> Reply {
        if self.reports_losses && !segment.flags.contains(Flags::SYN) {
            segment.window = self.missing;
        }
        Reply { control, bytes: control_packet_len(segment) }
    }

    /// Header packets that were lost and are known from those that repeat them.
    pub fn restored(&self) -> u64 {
        self.restored
    }

    /// Compressed header packets that arrived and could not be read.
    pub fn undecodable(&self) -> u64 {
        self.undecodable
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Compression;
    use super::super::sender::{Output, Sender};
    use super::*;
    use crate::queue::Item;
    use crate::rng::{Chance, Chances};
    use crate::tcp::{Reason, profile};
    use airtcp_wire::Dur;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// A circuit over 10 ms each way that loses one packet in 50, and now and then no data.
    struct Life {
        sender: Sender,
        receiver: Receiver,
        there: VecDeque<(Time, There)>,
        back: VecDeque<(Time, u16, Transmit)>,
        chance: Chance,
        /// Whether header packets are expected, and how many were.
        expects: bool,
        expected: u32,
        said: Vec<String>,
    }

    struct There {
        control: u16,
        bytes: u32,
        repeats: u8,
        transmit: Transmit,
    }

    impl Life {
        fn step(&mut self, now: Time, is_busy: bool) {
            self.sender.handle_timeout(now);
            self.receiver.handle_timeout(now);
            self.answer(now);
            while self.there.front().is_some_and(|sent| sent.0 <= now)
                && let Some((_, header)) = self.there.pop_front()
            {
                self.receive(now, header);
                self.answer(now);
                self.said.push(format!("{:?} {}", self.receiver.poll_timeout(), self.receiver.missing));
            }
            while self.back.front().is_some_and(|sent| sent.0 <= now)
                && let Some((_, control, transmit)) = self.back.pop_front()
            {
                self.sender.handle_segment(now, control, &transmit.segment, transmit.ecn);
                self.send(now);
            }
            while is_busy && self.sender.handle_packet(now, Item { bytes: 1000, ..Item::default() }) {}
            self.send(now);
        }

        fn receive(&mut self, now: Time, header: There) {
            let There { control, bytes, repeats, transmit } = header;
            let Transmit { segment, ecn, .. } = transmit;
            let is_bare = self.expects && segment.sack.is_empty();
            if !is_bare || !self.receiver.handle_expected(now, control, &(&segment).into(), ecn) {
                return self.receiver.handle_segment(now, control, &segment, ecn, bytes, repeats);
            }
            self.expected += 1;
            let mut sack = SackBlocks::default();
            if let Some((ack, reply)) = self.receiver.poll_expected(now, control, &mut sack) {
                let segment = Segment { sack, ..(&ack).into() };
                self.reply(
                    now,
                    reply,
                    Transmit { segment, ecn: Ecn::NotEct, reason: Reason::Ack, offset: 0 },
                );
            }
        }

        fn answer(&mut self, now: Time) {
            let mut transmit = Transmit::default();
            while let Some(reply) = self.receiver.poll_transmit(now, &mut transmit) {
                self.reply(now, reply, transmit);
            }
        }

        fn reply(&mut self, now: Time, reply: Reply, transmit: Transmit) {
            self.said.push(format!("{now:?} {reply:?} {transmit:?}"));
            if !self.chance.u32().is_multiple_of(50) {
                self.back.push_back((now + Dur::from_millis(10), reply.control, transmit));
            }
        }

        fn send(&mut self, now: Time) {
            let mut transmit = Transmit::default();
            while let Some(output) = self.sender.poll_transmit(now, &mut transmit) {
                match output {
                    Output::Data(_) => self.receiver.handle_data(1),
                    Output::Header { .. } if self.chance.u32().is_multiple_of(50) => {}
                    Output::Header { control, bytes, repeats } => {
                        let header = There { control, bytes, repeats, transmit };
                        self.there.push_back((now + Dur::from_millis(10), header));
                    }
                }
            }
        }
    }

    fn live(seed: u64, config: &Config, expects: bool) -> Life {
        let (chances, tcp) = (Chances::new(seed), profile::linux());
        let mut life = Life {
            sender: Sender::new(config, &tcp, &mut chances.chance("s"), Time::ZERO).unwrap(),
            receiver: Receiver::new(config, &tcp, &mut chances.chance("r")).unwrap(),
            there: VecDeque::new(),
            back: VecDeque::new(),
            chance: chances.chance("life"),
            expects,
            expected: 0,
            said: Vec::new(),
        };
        (0..2_000).for_each(|step| life.step(Time::ZERO + Dur::from_millis(step), step % 500 < 400));
        life
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// What was expected is answered as anything is.
        #[test]
        fn the_short_way_is_the_long_one(
            seed: u64,
            controls in 1u16..4,
            fec in prop::sample::select(vec![0, 0, 2]),
            compression in prop::sample::select(vec![Compression::None, Compression::None, Compression::Twice]),
        ) {
            let config = Config { controls, fec, compression, ..Config::default() };
            let (long, short) = (live(seed, &config, false), live(seed, &config, true));
            prop_assert!(short.expected == 0 || (fec == 0 && compression == Compression::None));
            for (long, short) in long.said.iter().zip(&short.said) {
                prop_assert_eq!(long, short);
            }
            prop_assert_eq!(long.said.len(), short.said.len());
        }
    }

    /// Were everything left to the general path, the property would hold for nothing.
    #[test]
    fn header_packets_are_expected() {
        let config = Config { fec: 0, compression: Compression::None, ..Config::default() };
        let expected = live(2, &config, true).expected;
        assert!(expected > 300, "{expected} were expected");
    }
}
