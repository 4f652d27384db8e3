//! What every registered machine keeps to, whatever passes the base station.

use crate::base_station::bench::relay;
use crate::heap::taken;
use airtcp_proto::Chances;
use airtcp_proto::base_station::{BaseStation, MachineBuild, all};
use airtcp_proto::middlebox::{Direction, FlowId, Middlebox, Origin, SeenPacket};
use airtcp_proto::tcp::profile::{self, PROFILES};
use airtcp_proto::tcp::{Reason, TcpConfig};
use airtcp_wire::{Dur, Ecn, Flags, SackBlocks, Segment, Seq, SynOptions, Time, Timestamps};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Op {
    Packet(Box<SeenPacket>),
    Wait(Dur),
    /// Until the machine's timer.
    Expire,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => packet().prop_map(|packet| Op::Packet(Box::new(packet))),
        3 => (1..300_000u64).prop_map(|us| Op::Wait(Dur::from_micros(us))),
        1 => (1..600u64).prop_map(|seconds| Op::Wait(Dur::from_secs(seconds))),
        3 => Just(Op::Expire),
    ]
}

fn flags() -> impl Strategy<Value = Flags> {
    prop_oneof![
        24 => Just(Flags::ACK),
        3 => Just(Flags::SYN),
        3 => Just(Flags::SYN | Flags::ACK),
        2 => Just(Flags::ACK | Flags::FIN),
        1 => Just(Flags::RST),
        1 => Just(Flags::RST | Flags::ACK),
        1 => Just(Flags::ACK | Flags::ECE),
        1 => Just(Flags::ACK | Flags::CWR),
        1 => any::<u16>().prop_map(Flags),
    ]
}

/// Close together around the wrap, so that there are copies, duplicates, gaps and overlaps; and anywhere.
fn place() -> impl Strategy<Value = Seq> {
    prop_oneof![
        12 => (0..40u32).prop_map(|steps| Seq((steps * 500).wrapping_sub(10_000))),
        1 => any::<u32>().prop_map(Seq),
    ]
}

fn sack() -> impl Strategy<Value = SackBlocks> {
    let blocks = prop::collection::vec((place(), place()), 1..5).prop_map(|pairs| {
        let mut blocks = SackBlocks::default();
        pairs.iter().for_each(|(left, right)| blocks.push(*left, *right));
        blocks
    });
    prop_oneof![4 => Just(SackBlocks::default()), 1 => blocks]
}

fn segment() -> impl Strategy<Value = Segment> {
    let stamps = (any::<bool>(), 0..2000u32, 0..2000u32)
        .prop_map(|(has, value, echo)| has.then_some(Timestamps { value, echo }));
    let len = prop_oneof![4 => Just(0u32), 4 => Just(1000), 2 => Just(500), 1 => 1..1400u32];
    (place(), place(), flags(), any::<bool>(), len, stamps, sack()).prop_map(
        |(seq, ack, flags, is_closed, len, timestamps, sack)| Segment {
            seq,
            ack,
            flags,
            window: if is_closed { 0 } else { 20_000 },
            len,
            timestamps,
            sack,
            syn: if flags.contains(Flags::SYN) {
                SynOptions {
                    mss: Some(1000),
                    window_scale: Some(3),
                    sack_permitted: true,
                    ..SynOptions::default()
                }
            } else {
                SynOptions::default()
            },
        },
    )
}

fn packet() -> impl Strategy<Value = SeenPacket> {
    let ecn = prop_oneof![6 => Just(Ecn::NotEct), 1 => Just(Ecn::Ect0), 1 => Just(Ecn::Ce)];
    (0..5u64, any::<bool>(), ecn, segment(), 0..100u32).prop_map(|(flow, back, ecn, segment, order)| {
        SeenPacket {
            flow: FlowId(flow),
            direction: if back { Direction::Reverse } else { Direction::Forward },
            ecn,
            bytes: 80 + segment.len,
            segment,
            origin: Origin { order, reason: Reason::New, offset: 0 },
        }
    })
}

fn build(machine: &BaseStation, tcp: &TcpConfig) -> Box<dyn Middlebox> {
    machine.build(MachineBuild { tcp, hosts: tcp, chance: Chances::new(1).chance("machine") })
}

/// Everything that leaves, with the time.
fn run(machine: &BaseStation, tcp: &TcpConfig, ops: &[Op]) -> Vec<(Time, SeenPacket)> {
    let mut station = build(machine, tcp);
    let (mut now, mut left, mut seen) = (Time::ZERO, Vec::new(), BTreeSet::new());
    for op in ops {
        let mut out = Vec::new();
        match op {
            Op::Packet(packet) => {
                seen.insert(packet.flow);
                relay(&mut *station, now, **packet, &mut out);
            }
            Op::Wait(time) => pass_time(&mut *station, &mut now, *time, &mut left),
            Op::Expire if !station.poll_timeout().is_never() => {
                now = now.max(station.poll_timeout());
                expire(&mut *station, now, &mut out);
            }
            Op::Expire => {}
        }
        assert!(!station.acts_at_once() || station.poll_timeout().is_never(), "it waits for a time");
        assert!(!station.holds() || !station.poll_timeout().is_never(), "it is stuck");
        left.extend(out.into_iter().map(|packet| (now, packet)));
        for (_, packet) in &left {
            assert!(seen.contains(&packet.flow), "a packet of a flow that nobody knows: {packet:?}");
            assert!(packet.bytes >= 40 + packet.segment.len, "shorter than its content: {packet:?}");
        }
    }
    left
}

/// Time passes, and the machine's timers are served as they come.
fn pass_time(station: &mut dyn Middlebox, now: &mut Time, time: Dur, left: &mut Vec<(Time, SeenPacket)>) {
    let end = *now + time;
    let mut out = Vec::new();
    while station.poll_timeout() <= end {
        *now = (*now).max(station.poll_timeout());
        expire(station, *now, &mut out);
        left.extend(out.drain(..).map(|packet| (*now, packet)));
    }
    *now = end;
}

fn expire(station: &mut dyn Middlebox, now: Time, out: &mut Vec<SeenPacket>) {
    station.handle_timeout(now, out);
    assert!(station.poll_timeout() > now, "a timer that has been served is due again");
}

/// Any packets in any order: no panic, the same again from the same seed, timers that lie ahead, and no packet of a
/// flow that has not been seen.
#[test]
fn every_machine_bears_any_packets() {
    for machine in all() {
        let lives = (0..PROFILES.len(), prop::collection::vec(op(), 1..150));
        let config = ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() };
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let outcome = TestRunner::new_with_rng(config, rng).run(&lives, |(profile, ops)| {
            let tcp = (PROFILES[profile].config)();
            prop_assert_eq!(run(&machine, &tcp, &ops), run(&machine, &tcp, &ops));
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{}: {failure}", machine.spec().name);
        }
    }
}

/// How far a machine's memory may differ between two times at which it should be the same: what a growing container
/// keeps in hand.
const SLACK: i64 = 64 << 10;

/// A packet of a well-behaved flow: full segments from the fixed host, an ACK for each from the mobile host.
fn packet_of(flow: u64, direction: Direction, position: u64, len: u32, flags: Flags) -> SeenPacket {
    let (there, back) = (Seq(77), Seq(99));
    let segment = match direction {
        Direction::Forward => Segment { seq: there.at(position), ack: back.at(1), ..Segment::default() },
        Direction::Reverse => Segment { seq: back.at(1), ack: there.at(position), ..Segment::default() },
    };
    SeenPacket {
        flow: FlowId(flow),
        direction,
        ecn: Ecn::NotEct,
        bytes: 40 + len,
        segment: Segment { len, flags, window: 20_000, ..segment },
        origin: Origin::default(),
    }
}

/// One machine, a clock, and its memory.
struct Measured {
    station: Box<dyn Middlebox>,
    now: Time,
    before: i64,
    out: Vec<SeenPacket>,
}

impl Measured {
    fn new(machine: &BaseStation) -> Measured {
        let before = taken();
        Measured {
            station: build(machine, &profile::rfc()),
            now: Time::ZERO,
            before,
            out: Vec::with_capacity(1 << 12),
        }
    }

    fn taken(&self) -> i64 {
        taken() - self.before
    }

    fn put(&mut self, packet: SeenPacket) {
        let end = self.now + Dur::from_millis(5);
        while self.station.poll_timeout() <= end {
            self.now = self.now.max(self.station.poll_timeout());
            self.station.handle_timeout(self.now, &mut self.out);
            self.out.clear();
        }
        self.now = end;
        relay(&mut *self.station, self.now, packet, &mut self.out);
        self.out.clear();
    }

    fn open(&mut self, flow: u64) {
        let syn = packet_of(flow, Direction::Forward, 0, 0, Flags::SYN);
        let answer = packet_of(flow, Direction::Reverse, 1, 0, Flags::SYN | Flags::ACK);
        let at_zero = |packet: SeenPacket| SeenPacket {
            segment: Segment {
                seq: Seq(packet.segment.seq.0 - u32::from(packet.direction == Direction::Reverse)),
                ..packet.segment
            },
            ..packet
        };
        self.put(at_zero(syn));
        self.put(at_zero(answer));
        self.put(packet_of(flow, Direction::Forward, 1, 0, Flags::ACK));
    }

    fn transfer(&mut self, flow: u64, from: u64, segments: u64) {
        for index in from..from + segments {
            self.put(packet_of(flow, Direction::Forward, 1 + index * 1000, 1000, Flags::ACK));
            self.put(packet_of(flow, Direction::Reverse, 1 + (index + 1) * 1000, 0, Flags::ACK));
        }
    }

    fn close(&mut self, flow: u64, segments: u64) {
        let end = 1 + segments * 1000;
        self.put(packet_of(flow, Direction::Forward, end, 0, Flags::ACK | Flags::FIN));
        self.put(packet_of(flow, Direction::Reverse, end + 1, 0, Flags::ACK | Flags::FIN));
        let mut last = packet_of(flow, Direction::Forward, end + 1, 0, Flags::ACK);
        last.segment.ack = last.segment.ack.at(1);
        self.put(last);
    }
}

/// A long flow takes no more memory than a short one.
#[test]
fn memory_does_not_grow_with_what_a_flow_carries() {
    for machine in all() {
        let mut station = Measured::new(&machine);
        station.open(1);
        station.transfer(1, 0, 2000);
        let early = station.taken();
        station.transfer(1, 2000, 20_000);
        let late = station.taken();
        assert!(late <= early + SLACK, "{}: {early} bytes became {late}", machine.spec().name);
    }
}

/// Flows that are over leave nothing behind. A proxy is a peer of its own to each host, and has a test of its own.
#[test]
fn memory_does_not_grow_with_flows_that_end() {
    for machine in all().into_iter().filter(|machine| !machine.spec().has_tcp) {
        let mut station = Measured::new(&machine);
        let mut sizes = Vec::new();
        for flow in 0..4000 {
            station.open(flow);
            station.transfer(flow, 0, 3);
            station.close(flow, 3);
            if flow % 2000 == 1999 {
                sizes.push(station.taken());
            }
        }
        assert!(sizes[1] <= sizes[0] + SLACK, "{}: {sizes:?}", machine.spec().name);
    }
}

/// Flows that fall silent without an end are forgotten some day: by a time, or because others need the room.
#[test]
fn memory_is_bounded_with_flows_that_never_end() {
    for machine in all() {
        let mut station = Measured::new(&machine);
        let mut sizes = Vec::new();
        for flow in 0..30_000 {
            station.open(flow);
            station.put(packet_of(flow, Direction::Forward, 1, 1000, Flags::ACK));
            if flow % 15_000 == 14_999 {
                sizes.push(station.taken());
            }
        }
        assert!(sizes[1] <= sizes[0] + SLACK, "{}: {sizes:?}", machine.spec().name);
    }
}

/// What `airtcp schemes` prints is there, the defaults are legal, and names are not used twice.
#[test]
fn the_registry_is_well_formed() {
    let mut names = BTreeSet::new();
    for machine in all() {
        let spec = machine.spec();
        assert!(names.insert(spec.name), "two machines called {}", spec.name);
        assert!(!spec.summary.is_empty() && !spec.summary.ends_with('.'), "{}", spec.name);
        assert!(!spec.source.is_empty(), "{}", spec.name);
        assert_eq!(machine.check(), Ok(()), "{}", spec.name);
        for (key, property) in machine.schema()["properties"].as_object().unwrap() {
            assert!(
                property["description"].is_string() || property["$ref"].is_string(),
                "{key} has no words"
            );
        }
    }
}
