//! The short ways of a circuit have the effect of the long ones.

use super::*;
use crate::circuit::{Compression, Fec, Outlet, Pair, Receiver, Reply, transmit};
use crate::rng::Chances;
use crate::tcp::{Reason, profile};
use airtcp_wire::{Bytes, Rate};
use proptest::prelude::*;
use std::collections::VecDeque;

/// A circuit over 10 ms each way that loses one header packet in 50 and one ACK in 50, with data in fits and starts.
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
    /// It follows the previous one in a burst, and that one was not lost.
    follows: bool,
}

/// Header packets that left in bursts, those that the receiver expected, those of them that it took as the next ones, and ACKs that
/// the sender expected.
#[derive(Default, Debug)]
struct Expected {
    sent: u32,
    received: u32,
    next: u32,
    acks: u32,
}

/// How the sender is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Manner {
    /// Packet by packet, and never at rest.
    Restless,
    /// Packet by packet.
    OneByOne,
    /// By the short ways, where there are any.
    InBursts,
}

/// Where bursts go.
struct Bursts<'a> {
    life: &'a mut Life,
    now: Time,
    follows: bool,
}

impl Outlet for Bursts<'_> {
    fn sender(&mut self) -> &mut Sender {
        &mut self.life.sender
    }

    fn begin_burst(&mut self) {
        self.follows = false;
    }

    fn take(&mut self, header: &Header, Pair { item, bytes, ecn, offset }: Pair) {
        let transmit = Transmit { segment: header.into(), ecn, reason: Reason::New, offset };
        self.life.take(self.now, Output::Data(item), &transmit, false);
        let output = Output::Header { control: 0, bytes, repeats: 0 };
        self.follows = self.life.take(self.now, output, &transmit, self.follows);
        self.life.expected.sent += 1;
    }
}

impl Life {
    fn ask(&mut self, now: Time) -> Option<(Output, Transmit)> {
        self.forget();
        let mut out = Transmit::default();
        let output = self.sender.poll_transmit(now, &mut out);
        output.map(|output| (output, out))
    }

    /// A restless sender keeps nothing between calls.
    fn forget(&mut self) {
        if self.manner == Manner::Restless {
            self.sender.rests_until = Time::ZERO;
            self.sender.update_windows();
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
            self.said.push(format!("{:?} {}", self.receiver.poll_timeout(), self.receiver.missing));
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

    /// A header packet reaches the receiver. `was`: the previous one was expected. Returns whether this one was.
    fn receive(&mut self, now: Time, header: &There, was: bool) -> bool {
        let &There { control, transmit: Transmit { segment, ecn, .. }, bytes, repeats, follows, .. } = header;
        let plain = Header::from(&segment);
        let is_bare = self.manner == Manner::InBursts && segment.sack.is_empty();
        let is_next = is_bare && follows && was && self.receiver.handle_next(now, control, &plain);
        let is_expected = is_next || (is_bare && self.receiver.handle_expected(now, control, &plain, ecn));
        self.expected.next += u32::from(is_next);
        self.expected.received += u32::from(is_expected);
        if !is_expected {
            self.receiver.handle_segment(now, control, &segment, ecn, bytes, repeats);
            self.answer(now);
            return false;
        }
        let mut sack = SackBlocks::default();
        if let Some((ack, reply)) = self.receiver.poll_expected(now, control, &mut sack) {
            let segment = Segment { sack, ..(&ack).into() };
            self.reply(now, reply, Transmit { segment, reason: Reason::Ack, ..Transmit::default() });
        }
        true
    }

    fn answer(&mut self, now: Time) {
        let mut out = Transmit::default();
        while let Some(reply) = self.receiver.poll_transmit(now, &mut out) {
            self.reply(now, reply, out);
        }
    }

    fn reply(&mut self, now: Time, reply: Reply, transmit: Transmit) {
        self.said.push(format!("{now:?} {reply:?} {transmit:?}"));
        if !self.chance.u32().is_multiple_of(50) {
            self.back.push_back((now + Dur::from_millis(10), reply.control, transmit));
        }
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
            _ = transmit(now, &mut Bursts { life: self, now, follows: false });
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

    /// Sends a packet. Returns whether a header packet is under way, or a data packet has passed.
    fn take(&mut self, now: Time, output: Output, transmit: &Transmit, follows: bool) -> bool {
        match output {
            Output::Data(_) | Output::Repair { .. } => self.said.push(format!("{now:?} {output:?}")),
            Output::Header { .. } => self.said.push(format!("{now:?} {output:?} {transmit:?}")),
        }
        match output {
            Output::Data(_) | Output::Repair { .. } => self.receiver.handle_data(1),
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

    /// A sender that remembers that it is at rest answers as one that does not, and in bursts it sends what it sends packet by packet.
    #[test]
    fn neither_rest_nor_burst_changes_anything(
        seed: u64,
        controls in 1u16..4,
        has_gmb: bool,
        fec in prop::sample::select(vec![Fec::Repeat(0), Fec::Repeat(0), Fec::Repeat(2), Fec::Auto]),
        compression in prop::sample::select(vec![Compression::None, Compression::None, Compression::Twice]),
        controller in prop::sample::select(vec!["reno", "cubic", "bbr"]),
    ) {
        let gmb = has_gmb.then_some(Rate(1_000_000));
        let config = Config { controls, gmb, fec, compression, vmss: Bytes(1000), ..Config::default() };
        let restless = live(seed, &config, controller, Manner::Restless);
        prop_assert!(restless.said.len() > 1_000);
        for manner in [Manner::OneByOne, Manner::InBursts] {
            let other = live(seed, &config, controller, manner);
            prop_assert!(other.expected.received == 0 || (fec == Fec::Repeat(0) && compression == Compression::None));
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

/// The property above would be worthless if the short ways were not used.
#[cfg(feature = "shortcuts")]
#[test]
fn most_header_packets_go_the_short_ways() {
    let config = Config { vmss: Bytes(1000), ..Config::default() };
    let Life { sender, expected, .. } = live(1, &config, "cubic", Manner::InBursts);
    let sent: u64 = sender.controls().map(|control| control.stats().data_segments_sent).sum();
    assert!(u64::from(expected.sent) > sent / 2, "{expected:?} of {sent}");
    assert!(u64::from(expected.acks) > sent / 4, "{expected:?} of {sent}");
    assert!(u64::from(expected.next) > sent / 16, "{expected:?} of {sent}");
    assert!(u64::from(expected.received - expected.next) > sent / 2, "{expected:?} of {sent}");
}
