use super::{RTT, assert_near, avoider, avoiding};
use crate::cc::model::{Sender, plain};
use airtcp_proto::cc::Build;
use airtcp_wire::Dur;

/// RFC 5681 §3.1 eq. (2): one SMSS an ACK, so that the window doubles in a round trip.
#[test]
fn slow_start_doubles() {
    let mut sender = Sender::new("reno", &[], &plain());
    for expected in [20_000, 40_000, 80_000] {
        sender.round(RTT);
        assert_eq!(sender.cc.cwnd(), expected);
    }
}

/// RFC 5681 §3.1: avoidance begins where cwnd reaches ssthresh, not an ACK later.
#[test]
fn slow_start_stops_at_ssthresh() {
    let build = Build { initial_ssthresh: 15_500, byte_counting_limit: None, ..plain() };
    let mut sender = Sender::new("reno", &[], &build);
    sender.fill();
    let window: Vec<u64> = sender.flying().collect();
    sender.wait(RTT);
    sender.arrive(&window, false);
    // 5 500 bytes reach ssthresh; the other 4 500 add 4.5/15.5 of a segment.
    assert_eq!(sender.cc.cwnd(), 15_500 + 4_500_000 / 15_500);
}

/// RFC 5681 §3.1 eq. (3): about one SMSS a round trip.
#[test]
fn avoidance_adds_a_segment_a_round_trip() {
    let mut sender = avoider("reno", 10);
    for rounds in 1..=10 {
        sender.round(RTT);
        assert_near(sender.cwnd(), 10.0 + f64::from(rounds), 0.1 * f64::from(rounds));
    }
}

/// Growth in segments over one window of which each ACK covers two segments.
fn growth_with_delayed_acks(limit: Option<u32>) -> f64 {
    let build = Build { byte_counting_limit: limit, ..avoiding(20) };
    let mut sender = Sender::new("reno", &[], &build);
    sender.fill();
    let window: Vec<u64> = sender.flying().collect();
    sender.wait(RTT);
    for pair in window.chunks(2) {
        sender.arrive(pair, false);
        sender.fill();
    }
    sender.cwnd() - 20.0
}

/// RFC 3465 §2.1: counting bytes makes up for delayed ACKs; RFC 2581's counting of ACKs grows half as fast.
#[test]
fn delayed_acks_halve_growth_only_where_acks_are_counted() {
    assert_near(growth_with_delayed_acks(Some(1)), 0.5, 0.02);
    assert_near(growth_with_delayed_acks(Some(2)), 1.0, 0.05);
    assert_near(growth_with_delayed_acks(None), 1.0, 0.05);
}

/// RFC 5681 §3.1 eq. (4), §3.2 step 2.
#[test]
fn loss_halves_flight_size() {
    let mut sender = avoider("reno", 20);
    sender.lose(RTT);
    assert_eq!(sender.cc.ssthresh(), 10_000);
    assert_eq!(sender.cc.cwnd(), 10_000);
}

/// RFC 5681 §3.2 step 2: what is sent beyond the window while the hole is open does not count, and a timeout in recovery
/// counts the window of the loss.
#[test]
fn flight_behind_an_open_hole_does_not_count() {
    let mut sender = avoider("reno", 20);
    sender.lose(RTT);
    let hole = sender.send().expect("the retransmission");
    for _ in 0..200 {
        sender.fill();
        let above: Vec<u64> = sender.flying().filter(|&offset| offset != hole).take(1).collect();
        sender.arrive(&above, false);
    }
    assert!(sender.nxt - sender.una > 100_000);
    sender.timeout();
    assert_eq!(sender.cc.ssthresh(), 10_000);
}

/// RFC 5681 §3.1 eq. (4): never below two segments; and the loss window is one.
#[test]
fn timeout_leaves_one_segment_and_two_of_ssthresh() {
    let mut sender = avoider("reno", 3);
    sender.fill();
    sender.timeout();
    assert_eq!((sender.cc.cwnd(), sender.cc.ssthresh()), (1000, 2000));
}

/// RFC 5681 §3.1: when the timer expires again on the same segment ssthresh is held constant.
#[test]
fn repeated_timeout_keeps_ssthresh() {
    let mut sender = avoider("reno", 20);
    sender.fill();
    sender.timeout();
    sender.send();
    sender.timeout();
    assert_eq!((sender.cc.cwnd(), sender.cc.ssthresh()), (1000, 10_000));
}

/// RFC 3168 §6.1.2: ECN-Echo has a loss's effect on the window, which does not grow meanwhile. FlightSize is what the ACK leaves outstanding: 19 segments.
#[test]
fn ecn_echo_halves_once_a_window() {
    let mut sender = avoider("reno", 20);
    sender.fill();
    let window: Vec<u64> = sender.flying().collect();
    sender.wait(RTT);
    for &offset in &window {
        sender.arrive(&[offset], true);
    }
    assert_eq!((sender.cc.cwnd(), sender.cc.ssthresh()), (9500, 9500));
}

/// RFC 5681 §4.1: the restart window is the initial one.
#[test]
fn restart_begins_with_the_initial_window() {
    let mut sender = Sender::new("reno", &[], &plain());
    sender.round(RTT);
    sender.cc.on_restart(sender.now, 1);
    assert_eq!(sender.cc.cwnd(), 10_000);
}

/// RFC 2861 §1 names the danger: a window that was not used is not validated by its ACKs.
#[test]
fn window_that_is_not_used_does_not_grow() {
    let mut sender = avoider("reno", 20);
    for _ in 0..50 {
        let offset = sender.send().expect("room");
        sender.wait(RTT);
        sender.arrive(&[offset], false);
    }
    assert_eq!(sender.cc.cwnd(), 20_000);
}

/// What SACK has reported counts once: the ACK that fills the hole is worth the hole.
#[test]
fn sacked_bytes_are_not_counted_again() {
    let build = Build { byte_counting_limit: None, ..plain() };
    let mut sender = Sender::new("reno", &[], &build);
    sender.fill();
    sender.wait(RTT);
    sender.arrive(&[1000], false);
    sender.arrive(&[2000], false);
    assert_eq!(sender.cc.cwnd(), 10_000, "duplicate ACKs do not grow the window");
    sender.fill();
    sender.arrive(&[0], false);
    assert_eq!(sender.una, 3000);
    assert!(sender.cc.cwnd() <= 11_000, "{}", sender.cc.cwnd());
}

/// RFC 4015 §3.2: after a spurious timeout the sender continues where it was.
#[test]
fn spurious_timeout_is_undone() {
    let mut sender = avoider("reno", 20);
    sender.fill();
    sender.timeout();
    sender.wait(Dur::from_millis(10));
    sender.spurious();
    assert_eq!((sender.cc.cwnd(), sender.cc.ssthresh()), (20_000, 20_000));
}
