//! Two connections live random lives with predictions and without.

use super::prediction::Prediction;
use crate::rng::Chances;
use crate::tcp::connection::{Connection, Reason, Transmit};
use crate::tcp::{TcpConfig, profile};
use airtcp_wire::{Dur, Ecn, Header, Segment, Seq, Time};
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
