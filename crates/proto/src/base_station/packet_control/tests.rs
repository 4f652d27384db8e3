//! Packet timelines at the base station, each at three places of the sequence space, and random packets.

use super::*;
use crate::middlebox::{FlowId, Origin};
use airtcp_wire::{Dur, Ecn, Flags, SackBlocks, Segment, Seq, SynOptions, Timestamps};
use proptest::prelude::*;
use std::collections::BTreeMap;

const MSS: u32 = 1000;

/// Where position 0 of both hosts' streams stands: somewhere, before the wrap, and where the sign changes.
const PLACES: [u32; 3] = [1, u32::MAX - 2500, (1 << 31) - 1500];

struct Station {
    machine: PacketControl,
    base: Seq,
    now: Time,
    flow: FlowId,
}

impl Station {
    fn new(config: Config, base: u32) -> Station {
        config.check().unwrap();
        let machine = PacketControl { flows: Flows::new(config.max_flows), config };
        Station { machine, base: Seq(base), now: Time::ZERO, flow: FlowId(1) }
    }

    fn with_threshold(threshold: u32, base: u32) -> Station {
        Station::new(Config { threshold, ..Config::default() }, base)
    }

    /// The fixed host's data at `position`, `len` bytes of it.
    fn data(&self, position: u64, len: u32) -> SeenPacket {
        self.packet(Direction::Forward, Segment { seq: self.base.at(position), len, ..self.plain() })
    }

    /// The mobile host acknowledges everything before `position`.
    fn ack(&self, position: u64) -> SeenPacket {
        self.packet(Direction::Reverse, Segment { ack: self.base.at(position), ..self.plain() })
    }

    fn plain(&self) -> Segment {
        Segment { seq: self.base, ack: self.base, flags: Flags::ACK, window: 1000, ..Segment::default() }
    }

    fn packet(&self, direction: Direction, segment: Segment) -> SeenPacket {
        let bytes = 40 + segment.len;
        SeenPacket {
            flow: self.flow,
            direction,
            ecn: Ecn::NotEct,
            bytes,
            segment,
            origin: Origin { order: 7, ..Origin::default() },
        }
    }

    fn put(&mut self, packet: SeenPacket) -> Vec<SeenPacket> {
        self.now += Dur::from_millis(1);
        let mut out = Vec::new();
        if self.machine.handle_packet(self.now, &packet, &mut out) {
            out.insert(0, packet);
        }
        out
    }

    fn passes(&mut self, packet: SeenPacket) -> bool {
        let out = self.put(packet);
        assert!(out.is_empty() || out == [packet], "neither itself nor nothing: {out:?}");
        !out.is_empty()
    }

    /// `segments` full segments, and the ACK for the first `acked`.
    fn under_way(mut self, segments: u64, acked: u64) -> Station {
        for index in 0..segments {
            assert!(self.passes(self.data(index * u64::from(MSS), MSS)));
        }
        assert!(self.passes(self.ack(acked * u64::from(MSS))));
        self
    }
}

/// Paper 001 §V.B.1: with a threshold of 6 every second duplicate is dropped; in general every (threshold/3)-th passes,
/// and a new ACK begins anew.
#[test]
fn duplicates_pass_evenly() {
    for base in PLACES {
        for (threshold, expected) in [(3, "111111"), (6, "010101"), (9, "001001"), (12, "000100")] {
            let mut station = Station::with_threshold(threshold, base).under_way(20, 1);
            for acked in [1000, 2000] {
                assert_eq!(station.passes(station.ack(acked)), acked > 1000 || threshold == 3);
                let skipped = usize::from(acked == 1000);
                let passed: String = (skipped..6)
                    .map(|_| if station.passes(station.ack(acked)) { '1' } else { '0' })
                    .collect();
                assert_eq!(passed, expected[skipped..], "threshold {threshold}");
            }
        }
    }
}

/// The fixed host sees its third duplicate when the mobile host has sent `threshold` of them.
#[test]
fn the_third_one_that_passes_is_the_threshold_th() {
    for threshold in [3, 6, 9, 12, 30] {
        let mut station = Station::with_threshold(threshold, 1).under_way(40, 1);
        let passed = (1..=threshold).filter(|_| station.passes(station.ack(1000))).count();
        assert_eq!(passed, 3);
        assert_eq!((1..threshold).filter(|_| station.passes(station.ack(1000))).count(), 2);
    }
}

/// §V.B.1: old ACKs are dropped immediately, at any threshold.
#[test]
fn old_acks_are_dropped() {
    for base in PLACES {
        let mut station = Station::with_threshold(3, base).under_way(5, 4);
        assert!(!station.passes(station.ack(3000)));
        assert!(!station.passes(station.ack(0)));
        assert!(station.passes(station.ack(5000)));
    }
}

/// RFC 5681 §2: an ACK that changes the window is no duplicate, nor is one while nothing is outstanding.
#[test]
fn window_updates_and_signs_of_life_pass() {
    let mut station = Station::with_threshold(12, 1).under_way(5, 1);
    for window in [900, 0, 1000, 5000] {
        let mut update = station.ack(1000);
        update.segment.window = window;
        assert!(station.passes(update));
    }
    assert!(station.passes(station.ack(5000)));
    for _ in 0..10 {
        assert!(station.passes(station.ack(5000)));
    }
}

/// An ACK on the mobile host's own data passes with it, old or duplicate, and counts as no duplicate.
#[test]
fn a_piggybacked_ack_is_never_dropped() {
    for base in PLACES {
        let mut station = Station::with_threshold(9, base).under_way(9, 2);
        for (acked, passed_before) in [(2000, 0), (2000, 1), (1000, 2), (4000, 3), (4000, 4)] {
            let mut data = station.ack(acked);
            data.segment.len = 500;
            data.segment.seq = station.base.at(500 * passed_before);
            assert!(station.passes(data));
        }
        assert!(!station.passes(station.ack(4000)), "the first duplicate");
        assert!(!station.passes(station.ack(2000)), "old: a data segment moved the last ACK on");
    }
}

/// SACK blocks do not save a duplicate from being dropped.
#[test]
fn duplicates_with_sack_count() {
    let mut station = Station::with_threshold(6, 1).under_way(9, 2);
    let passed = (0..4u64).map(|index| {
        let mut sack = SackBlocks::default();
        sack.push(station.base.at(3000), station.base.at(4000 + 1000 * index));
        let mut ack = station.ack(2000);
        ack.segment.sack = sack;
        station.passes(ack)
    });
    assert_eq!(passed.collect::<Vec<_>>(), [false, true, false, true]);
}

/// §V.B.2: what has been acknowledged is dropped, and every second copy answered.
#[test]
fn every_second_copy_of_acknowledged_data_is_answered() {
    for base in PLACES {
        let mut station = Station::with_threshold(9, base).under_way(5, 3);
        for copy in 1..=6 {
            let out = station.put(station.data(1000, MSS));
            match copy % 2 {
                1 => assert_eq!(out, []),
                _ => {
                    let answer = out[0];
                    assert_eq!(out.len(), 1);
                    assert_eq!(answer, SeenPacket { origin: Origin::default(), ..station.ack(3000) });
                }
            }
        }
        assert!(station.passes(station.data(3000, MSS)), "not acknowledged");
        assert!(station.passes(station.data(2500, MSS)), "acknowledged in part");
    }
}

/// A host that goes back N resends each segment once; its first is the one that it insists on.
#[test]
fn copies_are_counted_for_each_segment() {
    let mut station = Station::with_threshold(9, 1).under_way(9, 5);
    for position in [0, 1000, 2000] {
        assert_eq!(station.put(station.data(position, MSS)), []);
    }
    assert_eq!(station.put(station.data(0, MSS)).len(), 1);
    assert_eq!(station.put(station.data(0, MSS)), []);
}

/// The answer is acceptable to a host that checks timestamps (RFC 7323 §5): the mobile host's latest clock, the echo of
/// what advanced the ACK; and it stands at the mobile host's SND.NXT with the latest window.
#[test]
fn the_answer_says_what_the_mobile_host_said_last() {
    let mut station = Station::with_threshold(12, 1);
    let stamped = |mut packet: SeenPacket, value, echo| {
        packet.segment.timestamps = Some(Timestamps { value, echo });
        packet
    };
    station.passes(station.data(0, MSS));
    station.passes(station.data(1000, MSS));
    let mut data = stamped(station.ack(1000), 70, 10);
    data.segment.len = 300;
    assert!(station.passes(data));
    let mut duplicate = stamped(station.ack(1000), 80, 10);
    duplicate.segment.seq = station.base.at(300);
    assert!(!station.passes(duplicate));
    let mut update = duplicate;
    update.segment.window = 2000;
    assert!(station.passes(update));
    assert_eq!(station.put(station.data(0, MSS)), []);
    let answer = station.put(station.data(0, MSS))[0];
    let Segment { seq, ack, window, timestamps, len, flags, .. } = answer.segment;
    assert_eq!((seq, ack, window), (station.base.at(300), station.base.at(1000), 2000));
    assert_eq!(timestamps, Some(Timestamps { value: 80, echo: 10 }));
    assert_eq!((len, flags, answer.bytes, answer.direction), (0, Flags::ACK, 52, Direction::Reverse));
}

/// Acknowledged data that says more than its data goes on.
#[test]
fn a_retransmission_with_news_for_the_mobile_host_passes() {
    let mut station = Station::with_threshold(9, 1).under_way(5, 5);
    let mut with_ack = station.data(0, MSS);
    with_ack.segment.ack = station.base.at(400);
    assert!(station.passes(with_ack), "acknowledges new data of the mobile host's");
    assert!(!station.passes(with_ack), "which the second copy does not");
    let mut with_window = with_ack;
    with_window.segment.window = 77;
    assert!(station.passes(with_window));
    let mut with_cwr = with_window;
    with_cwr.segment.flags.set(Flags::CWR);
    assert!(station.passes(with_cwr));
    assert!(station.passes(SeenPacket { ecn: Ecn::Ce, ..with_window }));
    let mut keep_alive = station.data(4999, 1);
    keep_alive.segment.window = 77;
    keep_alive.segment.ack = station.base.at(400);
    assert!(station.passes(keep_alive));
}

#[test]
fn what_opens_and_closes_a_flow_passes() {
    for flag in [Flags::SYN, Flags::FIN, Flags::RST] {
        for direction in [Direction::Forward, Direction::Reverse] {
            for _ in 0..3 {
                let mut station = Station::with_threshold(12, 1).under_way(5, 5);
                let mut packet = station.packet(direction, station.plain());
                packet.segment.len = 10;
                packet.segment.flags = Flags::ACK | flag;
                assert!(station.passes(packet), "{direction:?} {flag:?}");
            }
        }
    }
}

/// The first that is seen of a flow lies in its middle: nothing is known yet, and nothing is dropped.
#[test]
fn a_flow_may_be_met_in_its_middle() {
    for base in PLACES {
        let mut station = Station::with_threshold(9, base);
        for _ in 0..4 {
            assert!(station.passes(station.ack(9000)), "no data has been seen");
        }
        assert!(station.passes(station.data(12_000, MSS)));
        assert!(station.passes(station.data(7000, MSS)), "no ACK has been seen since");
        assert!(station.passes(station.ack(15_000)), "more than the data that has been seen");
        assert!(station.passes(station.data(7000, MSS)));
        assert!(station.passes(station.ack(12_000)), "none of the data that has been seen");
        assert!(station.passes(station.data(7000, MSS)));
        assert!(station.passes(station.ack(13_000)));
        assert!(!station.passes(station.data(7000, MSS)));
        assert!(station.passes(station.data(13_000, MSS)));
        assert!(!station.passes(station.ack(13_000)));
    }
}

/// A forged ACK for data never sent cannot cause unreceived data to be dropped, and data far beyond any window cannot
/// make such an ACK credible.
#[test]
fn what_was_not_sent_cannot_be_acknowledged() {
    for base in PLACES {
        let mut station = Station::with_threshold(9, base).under_way(5, 3);
        assert!(station.passes(station.data(1 << 31, MSS)));
        assert!(station.passes(station.ack(1 << 30)));
        assert!(station.passes(station.data(5000, MSS)));
        assert!(station.passes(station.data(3000, MSS)));
        assert!(!station.passes(station.data(0, MSS)));
    }
}

/// The answer holds the SACK blocks that the mobile host reports, without one for what it has got twice (RFC 2883 §4).
#[test]
fn an_answer_hands_sack_blocks_on() {
    let mut station = Station::with_threshold(3, 1).under_way(5, 1);
    let block = |from, to| (station.base.at(from), station.base.at(to));
    let with = |blocks: &[(Seq, Seq)]| {
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|(left, right)| sack.push(*left, *right));
        sack
    };
    let (duplicate, held) = (block(0, 1000), block(3000, 5000));
    let mut ack = station.ack(1000);
    ack.segment.sack = with(&[duplicate, held]);
    assert!(station.passes(ack));
    assert!(station.put(station.data(0, MSS)).is_empty());
    let answer = station.put(station.data(0, MSS))[0];
    assert_eq!((answer.segment.sack, answer.bytes), (with(&[held]), 40 + 12));
}

/// A flow that carries more than the sequence space holds.
#[test]
fn sequence_numbers_wrap() {
    let mut station = Station::with_threshold(6, 1);
    let step = (1u64 << 29) + 12_345;
    for round in 0..20 {
        let position = round * step;
        assert!(station.passes(station.data(position, MSS)));
        assert!(station.passes(station.data(position + u64::from(MSS), MSS)));
        assert!(station.passes(station.ack(position + u64::from(MSS))));
        assert!(!station.passes(station.ack(position + u64::from(MSS))));
        assert!(!station.passes(station.data(position, MSS)));
    }
}

fn closed(position: u64, mut packet: SeenPacket, base: Seq) -> SeenPacket {
    packet.segment.flags.set(Flags::FIN);
    packet.segment.ack = base.at(position);
    packet
}

/// The state goes when both sides have closed and know it, or when one resets; not when only one has closed.
#[test]
fn the_state_of_a_flow_goes_with_it() {
    let mut station = Station::with_threshold(9, 1).under_way(2, 2);
    let base = station.base;
    assert!(station.passes(closed(0, station.data(2000, 0), base)));
    assert!(station.passes(station.ack(2001)));
    assert_eq!(station.machine.flows.len(), 1, "the mobile host may still send");
    assert!(station.passes(closed(2001, station.ack(2001), base)));
    assert_eq!(station.machine.flows.len(), 1);
    let mut last = station.data(2001, 0);
    last.segment.ack = base.at(1);
    assert!(station.passes(last));
    assert_eq!(station.machine.flows.len(), 0);
    assert!(station.passes(last), "and stays away");
    assert!(station.passes(closed(2001, station.ack(2001), base)));
    assert_eq!(station.machine.flows.len(), 0);

    for direction in [Direction::Forward, Direction::Reverse] {
        let mut station = Station::with_threshold(9, 1).under_way(2, 1);
        let mut reset = station.packet(direction, station.plain());
        reset.segment.flags = Flags::RST;
        assert!(station.passes(reset));
        assert_eq!(station.machine.flows.len(), 0);
    }
}

/// Beyond `max_flows`, the flow that was silent for longest makes room.
#[test]
fn the_least_recently_seen_flow_is_forgotten() {
    let mut station = Station::new(Config { max_flows: 3, ..Config::default() }, 1);
    for id in [1, 2, 3, 1, 4] {
        station.flow = FlowId(id);
        assert!(station.passes(station.data(0, MSS)));
    }
    let is_known = |id| station.machine.flows.get(station.now, FlowId(id)).is_some();
    assert_eq!([1, 2, 3, 4].map(is_known), [true, false, true, true]);
    station.flow = FlowId(2);
    assert!(station.passes(station.ack(1000)), "the ACK of an unknown flow passes");
    assert_eq!(station.machine.flows.len(), 3);
}

#[test]
fn each_filter_can_be_switched_off() {
    let mut station = Station::new(Config { ack_filter: false, ..Config::default() }, 1).under_way(5, 3);
    assert!(station.passes(station.ack(3000)) && station.passes(station.ack(1000)));
    assert!(!station.passes(station.data(0, MSS)));
    let mut station = Station::new(Config { data_filter: false, ..Config::default() }, 1).under_way(5, 3);
    assert!(!station.passes(station.ack(3000)) && !station.passes(station.ack(1000)));
    assert!(station.passes(station.data(0, MSS)) && station.passes(station.data(0, MSS)));
}

#[test]
fn thresholds_are_multiples_of_three() {
    let check = |threshold, max_flows| Config { threshold, max_flows, ..Config::default() }.check();
    assert!([3, 6, 9, 12, 300].iter().all(|threshold| check(*threshold, 1).is_ok()));
    assert!([0, 1, 2, 4, 10].iter().all(|threshold| check(*threshold, 1).is_err()));
    assert!(check(9, 0).is_err());
}

fn segment() -> impl Strategy<Value = Segment> {
    let flags = prop_oneof![
        20 => Just(Flags::ACK),
        1 => Just(Flags::ACK | Flags::FIN),
        1 => Just(Flags::SYN),
        1 => Just(Flags::SYN | Flags::ACK),
        1 => Just(Flags::RST),
        1 => Just(Flags::ACK | Flags::CWR),
        1 => Just(Flags(0)),
    ];
    let stamps = prop_oneof![
        Just(None),
        (0..50u32, 0..50u32).prop_map(|(value, echo)| Some(Timestamps { value, echo }))
    ];
    // Close together, so that there are duplicates, around the wrap.
    let place = || (0..40u32).prop_map(|steps| Seq((steps * 250).wrapping_sub(5000)));
    (place(), place(), flags, 0..3u16, prop_oneof![Just(0), Just(1), Just(250), Just(1000)], stamps).prop_map(
        |(seq, ack, flags, window, len, timestamps)| Segment {
            seq,
            ack,
            flags,
            window,
            len,
            timestamps,
            sack: SackBlocks::default(),
            syn: SynOptions::default(),
        },
    )
}

fn packet() -> impl Strategy<Value = SeenPacket> {
    let ecn = prop_oneof![5 => Just(Ecn::NotEct), 1 => Just(Ecn::Ce)];
    (0..4u64, any::<bool>(), ecn, segment(), any::<u32>()).prop_map(|(flow, back, ecn, segment, order)| {
        SeenPacket {
            flow: FlowId(flow),
            direction: if back { Direction::Reverse } else { Direction::Forward },
            ecn,
            bytes: 40 + segment.len,
            segment,
            origin: Origin { order, ..Origin::default() },
        }
    })
}

/// What a filter may take away, judged from all that has been seen of a flow so far.
#[derive(Default)]
struct Seen {
    /// Largest ACK of the mobile host, while the filter knows the flow.
    acked: Option<Seq>,
}

impl Seen {
    /// May this packet be dropped?
    fn may_drop(&self, packet: &SeenPacket) -> bool {
        let Segment { seq, len, ack, flags, .. } = packet.segment;
        let is_plain = [Flags::SYN, Flags::FIN, Flags::RST].iter().all(|flag| !flags.contains(*flag));
        let Some(acked) = self.acked else { return false };
        is_plain
            && match packet.direction {
                Direction::Forward => len > 0 && seq.at(len.into()).distance(acked) <= 0,
                Direction::Reverse => len == 0 && flags.contains(Flags::ACK) && ack.distance(acked) <= 0,
            }
    }

    fn note(&mut self, packet: &SeenPacket) {
        let Segment { ack, flags, .. } = packet.segment;
        if flags.contains(Flags::SYN) || flags.contains(Flags::RST) {
            self.acked = None;
        } else if packet.direction == Direction::Reverse
            && flags.contains(Flags::ACK)
            && self.acked.is_none_or(|acked| ack.distance(acked) > 0)
        {
            self.acked = Some(ack);
        }
    }
}

proptest! {
    /// Neither new data nor new ACKs nor what opens and closes is ever dropped; what comes out is what went in or an ACK
    /// of what the mobile host has acknowledged; no more flows are known than allowed.
    #[test]
    fn nothing_new_is_lost_and_nothing_invented(
        threshold in (1..5u32).prop_map(|steps| 3 * steps),
        max_flows in 1..5u32,
        packets in prop::collection::vec(packet(), 1..300),
    ) {
        let config = Config { threshold, max_flows, ..Config::default() };
        let mut station = Station::new(config, 0);
        let mut seen: BTreeMap<FlowId, Seen> = BTreeMap::new();
        for packet in packets {
            let known = seen.entry(packet.flow).or_default();
            let out = station.put(packet);
            if out != [packet] {
                prop_assert!(known.may_drop(&packet), "{packet:?}");
            }
            for made in out.iter().filter(|made| **made != packet) {
                prop_assert_eq!(made.direction, Direction::Reverse);
                prop_assert_eq!((made.flow, made.segment.len, made.segment.flags), (packet.flow, 0, Flags::ACK));
                prop_assert_eq!(packet.direction, Direction::Forward);
                prop_assert!(known.acked.is_some_and(|acked| made.segment.ack.distance(acked) <= 0));
                prop_assert_eq!(made.origin, Origin::default());
            }
            prop_assert!(out.len() <= 1);
            known.note(&packet);
            prop_assert!(station.machine.flows.len() <= max_flows as usize);
        }
    }
}
