//! The data TCP: error control alone (§5, §6).

use crate::circuit::world::papers;
use airtcp_proto::circuit::Config;
use airtcp_proto::tcp::{Connection, Reason, TcpConfig, Transmit, profile};
use airtcp_wire::{Dur, Ecn, Seq, Time};

const MSS: u64 = 1448;

/// A data TCP and its peer, who is a round trip away only when the test says so.
struct Pair {
    now: Time,
    sender: Connection,
    receiver: Connection,
}

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_millis(ms)
}

impl Pair {
    /// After the handshake, with `segments` to send.
    fn open(config: &Config, segments: u64) -> Pair {
        let tcp = config.data_tcp(&TcpConfig { ack_every: 1, ..profile::rfc() });
        let mut pair = Pair {
            now: Time::ZERO,
            sender: Connection::connect(&tcp, Seq(1), 1, Time::ZERO).unwrap(),
            receiver: Connection::listen(&tcp, Seq(9), 2).unwrap(),
        };
        for _ in 0..2 {
            pair.now += Dur::from_millis(10);
            pair.send().iter().for_each(|sent| pair.arrive(sent));
        }
        pair.sender.write(segments * MSS);
        pair
    }

    fn send(&mut self) -> Vec<Transmit> {
        std::iter::from_fn(|| self.sender.poll_transmit(self.now)).collect()
    }

    /// A segment arrives, and so does what it is answered with.
    fn arrive(&mut self, sent: &Transmit) {
        self.receiver.handle_segment(self.now, &sent.segment, Ecn::NotEct);
        self.receiver.read(self.receiver.readable());
        while let Some(answer) = self.receiver.poll_transmit(self.now) {
            self.sender.handle_segment(self.now, &answer.segment, Ecn::NotEct);
        }
    }

    /// Delivers these segments one by one; returns what is sent meanwhile, each with the number of the segment that was
    /// delivered before.
    fn deliver(&mut self, segments: &[Transmit]) -> Vec<(usize, Transmit)> {
        let mut sent = Vec::new();
        for (index, segment) in segments.iter().enumerate() {
            self.arrive(segment);
            sent.extend(self.send().into_iter().map(|transmit| (index, transmit)));
        }
        sent
    }
}

#[test]
fn nothing_but_the_peers_window_limits_it() {
    let mut pair = Pair::open(&papers(), 500);
    assert_eq!(pair.send().len(), 500);
}

/// F2: the first unacknowledged segment again on every X further duplicate ACKs, alone; with SACK as without.
#[test]
fn the_first_unacknowledged_segment_is_repeated_every_x_duplicates() {
    for f1 in [true, false] {
        let mut pair = Pair::open(&Config { f1, ..papers() }, 60);
        pair.sender.repeat_first_every(10);
        let segments = pair.send();
        let sent = pair.deliver(&segments[1..40]);
        let places: Vec<usize> = sent.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, [2, 12, 22, 32], "F1 {f1}");
        assert!(sent.iter().all(|(_, transmit)| transmit.offset == 0 && transmit.segment.len == MSS as u32));
        assert_eq!(sent[0].1.reason, Reason::FastRetransmit);
    }
}

#[test]
fn without_f2_it_is_resent_once() {
    let mut pair = Pair::open(&Config { f2: false, ..papers() }, 60);
    let segments = pair.send();
    assert_eq!(pair.deliver(&segments[1..40]).len(), 1);
}

/// RFC 8985: a lost retransmission shows itself by what was sent after it; F1 alone leaves it to the timer.
#[test]
fn rack_finds_a_lost_retransmission() {
    let f1_alone = Config { f2: false, ..papers() };
    for (config, copies) in [(Config::default(), 2), (f1_alone, 1)] {
        let mut pair = Pair::open(&config, 200);
        pair.sender.write(40 * MSS);
        let first = pair.send();
        let is_first = |sent: &&(usize, Transmit)| sent.1.offset == 0;
        pair.now += Dur::from_millis(20);
        let sent = pair.deliver(&first[1..100]);
        assert_eq!(sent.iter().filter(is_first).count(), 1);
        pair.sender.write(40 * MSS);
        pair.now += Dur::from_millis(1);
        let later = pair.send();
        pair.now += Dur::from_millis(40);
        let again = pair.deliver(&later);
        assert_eq!(1 + again.iter().filter(is_first).count(), copies, "{:?}", config.error_control);
    }
}

/// F1: every hole that SACK shows is repaired within the round trip; without it, one of them.
#[test]
fn sack_repairs_several_holes_at_once() {
    for (f1, repaired) in [(true, vec![0, 5, 9]), (false, vec![0])] {
        let mut pair = Pair::open(&Config { f1, f2: false, ..papers() }, 40);
        let segments = pair.send();
        let arriving: Vec<Transmit> =
            segments.iter().filter(|sent| ![0, 5, 9].contains(&(sent.offset / MSS))).copied().collect();
        let resent: Vec<u64> =
            pair.deliver(&arriving).iter().map(|(_, transmit)| transmit.offset / MSS).collect();
        assert_eq!(resent, repaired, "F1 {f1}");
    }
}

/// F3: the timer has a floor of two ticks of 50 ms and is never backed off, and one segment is resent at a time.
#[test]
fn the_timer_is_fine_grained_and_never_backed_off() {
    let mut pair = Pair::open(&papers(), 20);
    assert_eq!(pair.send().len(), 20);
    let mut expiries = Vec::new();
    while pair.now < at(2_000) {
        pair.now = pair.sender.poll_timeout();
        pair.sender.handle_timeout(pair.now);
        let sent = pair.send();
        assert!(sent.iter().all(|transmit| transmit.offset == 0));
        expiries.extend(sent.iter().map(|_| pair.now));
    }
    let gaps: Vec<Dur> = expiries.windows(2).map(|two| two[1].since(two[0])).collect();
    assert!(gaps.len() > 5 && gaps.iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
    assert!(gaps[0] >= Dur::from_millis(50) && gaps[0] <= Dur::from_millis(250), "{gaps:?}");
}
