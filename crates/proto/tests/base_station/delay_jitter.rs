//! The delay-jitter algorithm against its statement.

use crate::base_station::bench::relay;
use airtcp_proto::Chances;
use airtcp_proto::base_station::{Machine, MachineBuild, delay_jitter::Config};
use airtcp_proto::middlebox::{Direction, FlowId, Middlebox, Origin, SeenPacket};
use airtcp_proto::tcp::profile;
use airtcp_wire::{Dur, Ecn, Flags, Segment, Seq, Time};

const DELAY: Dur = Dur::from_millis(200);

fn packet(flow: u64, direction: Direction, number: u32, len: u32) -> SeenPacket {
    SeenPacket {
        flow: FlowId(flow),
        direction,
        ecn: Ecn::NotEct,
        bytes: 40 + len,
        segment: Segment { seq: Seq(number), len, flags: Flags::ACK, ..Segment::default() },
        origin: Origin { order: number, ..Origin::default() },
    }
}

fn build(probability: f64, overtaking: bool) -> Box<dyn Middlebox> {
    let config = Config { probability, delay: DELAY, overtaking };
    config.check().unwrap();
    let tcp = profile::rfc();
    config.build(MachineBuild { tcp: &tcp, hosts: &tcp, chance: Chances::new(5).chance("jitter") })
}

/// Sends a data packet of each of `flows` every `gap`; answers each one's flow, number and delay, as they leave.
fn run(machine: &mut dyn Middlebox, flows: u64, packets: u32, gap: Dur) -> Vec<(u64, u32, Dur)> {
    let mut left = Vec::new();
    let mut note = |now: Time, out: &mut Vec<SeenPacket>| {
        for packet in out.drain(..) {
            let sent = Time::ZERO + gap * u64::from(packet.segment.seq.0);
            left.push((packet.flow.0, packet.segment.seq.0, now.since(sent)));
        }
    };
    let mut out = Vec::new();
    for number in 0..packets {
        let now = Time::ZERO + gap * u64::from(number);
        while machine.poll_timeout() <= now {
            let at = machine.poll_timeout();
            machine.handle_timeout(at, &mut out);
            note(at, &mut out);
        }
        for flow in 0..flows {
            relay(&mut *machine, now, packet(flow, Direction::Forward, number, 1000), &mut out);
        }
        note(now, &mut out);
    }
    while !machine.poll_timeout().is_never() {
        let at = machine.poll_timeout();
        machine.handle_timeout(at, &mut out);
        note(at, &mut out);
    }
    left
}

/// Mean and mean deviation in ms.
fn moments(left: &[(u64, u32, Dur)]) -> (f64, f64) {
    let delays: Vec<f64> = left.iter().map(|(_, _, delay)| delay.0 as f64 / 1e6).collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    (mean, delays.iter().map(|delay| (delay - mean).abs()).sum::<f64>() / delays.len() as f64)
}

/// The mean grows by p·D and the mean deviation by 2·p·(1−p)·D, where packets do not wait for each other.
#[test]
fn mean_and_deviation_grow_as_stated() {
    for probability in [0.05, 0.1, 0.3] {
        for (overtaking, gap) in [(true, Dur::from_millis(10)), (false, Dur::from_millis(250))] {
            let left = run(&mut *build(probability, overtaking), 1, 40_000, gap);
            assert_eq!(left.len(), 40_000);
            let (mean, deviation) = moments(&left);
            let stated = (probability * 200.0, 2.0 * probability * (1.0 - probability) * 200.0);
            assert!((mean / stated.0 - 1.0).abs() < 0.05, "p {probability}: mean {mean}, not {}", stated.0);
            assert!(
                (deviation / stated.1 - 1.0).abs() < 0.05,
                "p {probability}: {deviation}, not {}",
                stated.1
            );
        }
    }
}

/// Packets close together wait for the delayed one before them: the mean grows by more, and the deviation is no more
/// than it would be.
#[test]
fn in_order_the_mean_suffers() {
    let (mean, deviation) = moments(&run(&mut *build(0.1, false), 1, 40_000, Dur::from_millis(10)));
    let (stated_mean, stated_deviation) =
        moments(&run(&mut *build(0.1, true), 1, 40_000, Dur::from_millis(10)));
    assert!(mean > 4.0 * stated_mean, "{mean} against {stated_mean}");
    assert!(deviation < 2.0 * stated_deviation, "{deviation} against {stated_deviation}");
}

/// Each flow keeps its order, and none waits for another.
#[test]
fn flows_keep_their_order_and_do_not_wait_for_each_other() {
    let left = run(&mut *build(0.2, false), 3, 2000, Dur::from_millis(7));
    assert_eq!(left.len(), 6000);
    for flow in 0..3 {
        let numbers: Vec<u32> = left.iter().filter(|(of, _, _)| *of == flow).map(|(_, n, _)| *n).collect();
        assert!(numbers.is_sorted());
    }
    assert!(left.iter().any(|(_, _, delay)| *delay == Dur::ZERO));
    assert!(!left.is_sorted_by_key(|(_, number, _)| *number), "the flows are delayed apart");
}

/// ACKs, control packets and what the mobile host sends are not delayed.
#[test]
fn only_data_to_the_mobile_host_is_delayed() {
    let mut machine = build(1.0, false);
    for packet in [
        packet(1, Direction::Forward, 1, 0),
        packet(1, Direction::Reverse, 1, 0),
        packet(1, Direction::Reverse, 1, 1000),
    ] {
        let mut out = Vec::new();
        relay(&mut *machine, Time::ZERO, packet, &mut out);
        assert_eq!(out, [packet]);
    }
    let mut out = Vec::new();
    relay(&mut *machine, Time::ZERO, packet(1, Direction::Forward, 1, 1000), &mut out);
    assert_eq!((out.len(), machine.poll_timeout()), (0, Time::ZERO + DELAY));
}

#[test]
fn probabilities_lie_between_zero_and_one() {
    let check = |probability| Config { probability, ..Config::default() }.check().is_ok();
    assert!(check(0.0) && check(1.0) && !check(-0.1) && !check(1.1) && !check(f64::NAN));
}
