//! Vegas, Veno and Hybla, which look at the RTT.

use super::{RTT, assert_near, avoider, avoiding};
use crate::cc::model::{Sender, plain};
use airtcp_wire::Dur;

/// The RTT at which a window of `cwnd` segments has `queued` of them in the queue: cwnd·(RTT − base)/base.
fn rtt_with(queued: f64, cwnd: f64) -> Dur {
    RTT.mul_f64(1.0 + queued / cwnd)
}

/// A Vegas sender in avoidance that has seen the path without a queue.
fn vegas() -> Sender {
    let mut sender = avoider("vegas", 20);
    for _ in 0..3 {
        sender.round(RTT);
    }
    sender
}

/// Brakmo et al. 1994 §3.2 with Linux's α 2 and β 4: below α the window grows by a segment a round trip, above β it
/// shrinks by one, between it stays.
#[test]
fn vegas_keeps_two_to_four_segments_queued() {
    for (queued, step) in [(0.5, 1.0), (3.2, 0.0), (4.2, 0.0), (7.5, -1.0)] {
        let mut sender = vegas();
        let rtt = rtt_with(queued, sender.cwnd());
        sender.round(rtt);
        sender.round(rtt);
        let before = sender.cwnd();
        sender.round(rtt);
        assert_near(sender.cwnd() - before, step, 1e-9);
    }
}

/// Linux's γ 1: slow start ends at the rate that the path carried.
#[test]
fn vegas_leaves_slow_start_when_a_queue_builds() {
    let mut sender = Sender::new("vegas", &[], &plain());
    sender.round(RTT);
    sender.round(RTT);
    for _ in 0..3 {
        sender.round(RTT.mul_f64(2.0));
    }
    assert!(sender.cc.ssthresh() <= sender.cc.cwnd());
    assert!(sender.cwnd() < 100.0, "{}", sender.cwnd());
}

/// Brakmo et al. 1994 §3.3: the window doubles every other round trip.
#[test]
fn vegas_may_double_every_other_round_trip() {
    let windows = |rounds: f64| {
        let mut sender = Sender::new("vegas", &[("slow_start_rounds", rounds)], &plain());
        for _ in 0..6 {
            sender.round(RTT);
        }
        sender.cwnd()
    };
    assert_near(windows(1.0), 640.0, 1.0);
    assert_near(windows(2.0), 80.0, 10.0);
}

#[test]
fn vegas_halves_on_loss() {
    let mut sender = avoider("vegas", 20);
    sender.lose(RTT);
    assert_eq!(sender.cc.cwnd(), 10_000);
}

/// A Veno sender in avoidance with about `queued` segments in the queue by its own measure, cwnd·(RTT − base)/RTT.
fn veno(queued: f64) -> (Sender, Dur) {
    let mut sender = avoider("veno", 20);
    sender.round(RTT);
    let rtt = RTT.mul_f64(1.0 / (1.0 - queued / 25.0));
    for _ in 0..4 {
        sender.round(rtt);
    }
    (sender, rtt)
}

/// Fu and Liew 2003: with N < β a loss is random and leaves 4/5, otherwise half.
#[test]
fn veno_gives_up_a_fifth_on_a_random_loss() {
    for (queued, left) in [(0.0, 0.8), (1.5, 0.8), (6.0, 0.5)] {
        let (mut sender, rtt) = veno(queued);
        sender.fill();
        let flight = (sender.nxt - sender.una) as f64 / 1000.0;
        sender.lose(rtt);
        assert_near(sender.ssthresh(), left * flight, 1.0);
    }
}

/// Fu and Liew 2003: a timeout means congestion however short the queue.
#[test]
fn veno_halves_on_timeout() {
    let (mut sender, _) = veno(0.0);
    sender.fill();
    let flight = sender.in_flight();
    sender.timeout();
    assert_eq!((sender.cc.cwnd(), sender.cc.ssthresh()), (1000, flight / 2));
}

/// Fu and Liew 2003: with N ≥ β the window grows every other round trip only.
#[test]
fn veno_grows_half_as_fast_with_a_queue() {
    for (queued, growth) in [(0.0, 1.0), (6.0, 0.5)] {
        let (mut sender, rtt) = veno(queued);
        let before = sender.cwnd();
        sender.round(rtt);
        assert_near(sender.cwnd() - before, growth, 0.06);
    }
}

/// Caini and Firrincieli 2004: with ρ = RTT/25 ms the window grows by 2^ρ − 1 segments an ACK in slow start.
#[test]
fn hybla_slow_start() {
    for (rtt_ms, an_ack) in [(10, 1.0), (25, 1.0), (50, 3.0), (100, 15.0), (550, 65_535.0)] {
        let mut sender = Sender::new("hybla", &[], &plain());
        let offset = sender.send().expect("room");
        sender.fill();
        sender.wait(Dur::from_millis(rtt_ms));
        sender.arrive(&[offset], false);
        assert_near(sender.cwnd() - 10.0, an_ack, 1e-6 * an_ack);
    }
}

/// Caini and Firrincieli 2004: and by ρ² segments a round trip after it.
#[test]
fn hybla_avoidance() {
    for (rtt_ms, a_round) in [(10, 1.0), (50, 4.0), (100, 16.0)] {
        let mut sender = Sender::new("hybla", &[], &avoiding(200));
        sender.round(Dur::from_millis(rtt_ms));
        assert_near(sender.cwnd() - 200.0, a_round, 0.05 * a_round);
    }
}

/// Queueing does not make the path longer: ρ follows the smallest SRTT.
#[test]
fn hybla_is_not_sped_up_by_a_queue() {
    let mut sender = Sender::new("hybla", &[], &avoiding(200));
    sender.round(Dur::from_millis(50));
    let before = sender.cwnd();
    sender.round(Dur::from_millis(100));
    assert_near(sender.cwnd() - before, 4.0, 0.2);
}
