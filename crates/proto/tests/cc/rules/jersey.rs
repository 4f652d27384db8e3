//! TCP Jersey and New Jersey: R = (RTT·R₋₁ + L)/((tₙ − tₙ₋₁) + RTT), and the window that a warning leaves.

use super::{assert_near, avoiding};
use crate::cc::model::Sender;
use airtcp_wire::Dur;

const RTT: Dur = Dur::from_millis(100);

/// A sender in congestion avoidance with a full window of 40 segments on its way for 100 ms.
fn flying(name: &str) -> Sender {
    let mut sender = Sender::new(name, &[], &avoiding(40));
    sender.receive_window = 40_000;
    sender.fill();
    sender.wait(RTT);
    sender
}

/// The next segment arrives.
fn arrive(sender: &mut Sender) {
    let next = sender.flying().next().expect("in flight");
    sender.arrive(&[next], false);
}

/// ssthresh in segments that a timeout leaves: ownd.
fn ownd(mut sender: Sender) -> f64 {
    sender.timeout();
    sender.ssthresh()
}

/// R after one more ACK of a segment of 1000 bytes, `gap` after the last.
fn next_rate(rate: f64, gap: Dur, srtt: Dur) -> f64 {
    (srtt.as_secs_f64() * rate + 1000.0) / (gap.as_secs_f64() + srtt.as_secs_f64())
}

/// The estimate by hand over ACKs at uneven times, by the sender's clock; the first ACK only starts it.
#[test]
fn the_rate_follows_the_acks() {
    let mut sender = flying("jersey");
    arrive(&mut sender);
    let mut rate = 0.0;
    for gap_ms in [10, 10, 30, 0, 5, 20, 10, 10] {
        let gap = Dur::from_millis(gap_ms);
        sender.wait(gap);
        arrive(&mut sender);
        rate = next_rate(rate, gap, sender.srtt);
    }
    assert_near(ownd(sender), rate * 0.1 / 1000.0, 0.01);
}

/// At a steady rate the estimate comes to it: a segment every 10 ms over 100 ms is ten.
#[test]
fn ownd_becomes_the_pipe() {
    for name in ["jersey", "new-jersey"] {
        let mut sender = flying(name);
        for _ in 0..1000 {
            sender.fill();
            let next = sender.flying().next().expect("in flight");
            sender.now = sender.now.max(sender.sent_at(next).expect("in flight") + RTT);
            sender.peer_timestamp = Some((sender.now.0 / 1_000_000) as u32);
            arrive(&mut sender);
            sender.wait(Dur::from_millis(10));
        }
        assert_near(ownd(sender), 10.0, 0.2);
    }
}

/// New Jersey reads the receiver's clock: ACKs that arrive together count as far apart as they were sent, also where the
/// clock wraps around and where one has overtaken another.
#[test]
fn new_jersey_uses_the_receivers_timestamps() {
    let mut sender = flying("new-jersey");
    let start = u32::MAX - 15;
    sender.peer_timestamp = Some(start);
    arrive(&mut sender);
    let mut rate = 0.0;
    for (sent_ms, gap_ms) in [(10, 10), (20, 10), (30, 10), (25, 0), (40, 10), (80, 40)] {
        sender.peer_timestamp = Some(start.wrapping_add(sent_ms));
        arrive(&mut sender);
        rate = next_rate(rate, Dur::from_millis(gap_ms), sender.srtt);
    }
    assert_near(ownd(sender), rate * 0.1 / 1000.0, 0.01);
}

/// Without timestamps New Jersey is Jersey.
#[test]
fn new_jersey_falls_back_to_the_senders_clock() {
    let life = |name: &str| {
        let mut sender = flying(name);
        for gap_ms in [10, 3, 0, 40, 7] {
            sender.wait(Dur::from_millis(gap_ms));
            arrive(&mut sender);
        }
        ownd(sender)
    };
    assert_eq!(life("new-jersey"), life("jersey"));
}

/// Three duplicate ACKs without a warning leave the window, a warning makes it ownd.
#[test]
fn a_warning_reduces_and_a_loss_does_not() {
    for name in ["jersey", "new-jersey"] {
        let mut sender = flying(name);
        for _ in 0..20 {
            sender.wait(Dur::from_millis(10));
            arrive(&mut sender);
        }
        let before = (sender.cwnd(), sender.ssthresh());
        sender.fill();
        sender.lose(RTT);
        assert_eq!((sender.cwnd(), sender.ssthresh()), before, "{name}");
        sender.repair(RTT);
        sender.fill();
        sender.wait(RTT);
        let next = sender.flying().next().expect("in flight");
        sender.arrive(&[next], true);
        assert!(sender.cwnd() < before.0, "{name}: {}", sender.cwnd());
        assert_eq!(sender.cwnd(), sender.ssthresh(), "{name}");
    }
}
