use super::RTT;
use crate::cc::model::{Sender, plain};
use airtcp_proto::cc::Build;
use airtcp_proto::cc::slow_start::SlowStartKind;
use airtcp_wire::Dur;

fn hystart(is_paced: bool) -> Sender {
    with(SlowStartKind::HystartPlusPlus, is_paced)
}

fn with(slow_start: SlowStartKind, is_paced: bool) -> Sender {
    Sender::new("reno", &[], &Build { slow_start: Some(slow_start), is_paced, ..plain() })
}

const LONGER: Dur = Dur::from_millis(120);

/// RFC 3465 §2.3: L = 2 in slow start, but L = 1 after a timeout.
#[test]
fn byte_counting_is_limited_and_more_so_after_a_timeout() {
    let build = Build { byte_counting_limit: Some(2), ..plain() };
    let mut sender = Sender::new("reno", &[], &build);
    sender.fill();
    sender.wait(RTT);
    sender.arrive(&[0, 1000, 2000], false);
    assert_eq!(sender.cc.cwnd(), 12_000);
    sender.fill();
    sender.timeout();
    sender.send();
    sender.wait(RTT);
    sender.arrive(&[3000], false);
    sender.fill();
    sender.arrive(&[4000, 5000], false);
    assert_eq!(sender.cc.cwnd(), 3000);
}

/// A sender that entered conservative slow start with the eighth ACK of its third round trip.
fn in_css() -> Sender {
    let mut sender = hystart(false);
    sender.round(RTT);
    sender.round(RTT);
    sender.round(LONGER);
    assert_eq!(sender.cc.cwnd(), 40_000 + 7_000 + 33_000 / 4);
    sender
}

/// RFC 9406 §4.2: a round of eight samples with a longer RTT brings conservative slow start, a quarter as fast, and after
/// five rounds of it congestion avoidance.
#[test]
fn hystart_leaves_slow_start_by_way_of_css() {
    let mut sender = in_css();
    let mut rounds = 0;
    while sender.cc.ssthresh() == u64::MAX {
        let before = sender.cwnd();
        sender.round(LONGER);
        let grown = sender.cwnd() / before;
        assert!((1.0..=1.25).contains(&grown), "{grown}");
        rounds += 1;
    }
    // With the round in which it began, and the ACK that ends the last.
    assert_eq!(rounds, 5);
    let before = sender.cwnd();
    sender.round(LONGER);
    assert!(sender.cwnd() - before <= 1.0, "congestion avoidance");
}

/// RFC 9406 §4.2: when the RTT falls below the baseline again, leaving was spurious, and slow start resumes.
#[test]
fn hystart_resumes_slow_start_when_the_rtt_falls() {
    let mut sender = in_css();
    sender.round(RTT);
    assert!(sender.cc.cwnd() > 90_000, "{}", sender.cc.cwnd());
    let before = sender.cc.cwnd();
    sender.round(RTT);
    assert_eq!(sender.cc.cwnd(), 2 * before);
    assert_eq!(sender.cc.ssthresh(), u64::MAX);
}

/// RFC 9406 §4.3: an increase below max(4 ms, RTT/8) is no sign.
#[test]
fn hystart_overlooks_small_increases() {
    let mut sender = hystart(false);
    sender.round(RTT);
    sender.round(RTT);
    for extra_ms in [3, 6, 9, 12] {
        let before = sender.cc.cwnd();
        sender.round(RTT + Dur::from_millis(extra_ms));
        assert_eq!(sender.cc.cwnd(), 2 * before);
    }
}

/// RFC 9406 §4.3: L is 8 without pacing and infinite with it.
#[test]
fn hystart_counts_eight_segments_an_ack_unless_it_paces() {
    for (is_paced, grown) in [(false, 8), (true, 10)] {
        let mut sender = hystart(is_paced);
        sender.fill();
        let window: Vec<u64> = sender.flying().collect();
        sender.wait(RTT);
        sender.arrive(&window, false);
        assert_eq!(sender.cc.cwnd(), 10_000 + 1000 * grown);
    }
}

/// RFC 9406 §4.3: only the initial slow start is HyStart++'s.
#[test]
fn hystart_is_for_the_initial_slow_start_only() {
    let mut sender = hystart(false);
    for _ in 0..3 {
        sender.round(RTT);
    }
    sender.timeout();
    sender.round(RTT);
    for _ in 0..4 {
        let before = sender.cc.cwnd();
        sender.round(LONGER);
        assert!(sender.cc.cwnd() >= (2 * before).min(sender.cc.ssthresh()), "{before}");
    }
}

/// RFC 9406 §4.3: nor does it end one that begins after idleness.
#[test]
fn hystart_is_not_for_the_slow_start_after_idleness() {
    let mut sender = in_css();
    while sender.cc.ssthresh() == u64::MAX {
        sender.round(LONGER);
    }
    let ssthresh = sender.cc.ssthresh();
    sender.cc.on_restart(sender.now, 1);
    sender.round(LONGER);
    assert_eq!(sender.cc.ssthresh(), ssthresh);
}

/// Ha and Rhee 2011: slow start ends at once when the RTT has grown by an eighth, and in a small window never.
#[test]
fn linux_hystart_leaves_when_the_rtt_grows() {
    let mut sender = with(SlowStartKind::Hystart, false);
    sender.round(RTT);
    sender.round(LONGER);
    // At the ninth sample.
    assert_eq!(sender.cc.ssthresh(), 20_000 + 8_000);
    assert!(sender.cwnd() - sender.ssthresh() < 1.0, "congestion avoidance");
}

/// Ha and Rhee 2011: ACKs one after the other for half an RTT mean a window of half the pipe; Linux waits for a whole RTT
/// when the sender paces.
#[test]
fn linux_hystart_leaves_on_a_long_train() {
    let left_at = |is_paced| {
        let mut sender = with(SlowStartKind::Hystart, is_paced);
        sender.round(RTT);
        sender.round(RTT);
        sender.fill();
        let window: Vec<u64> = sender.flying().collect();
        sender.wait(RTT);
        for offset in window {
            sender.arrive(&[offset], false);
            sender.fill();
            sender.wait(Dur::from_micros(1500));
        }
        sender.cc.ssthresh()
    };
    // The 35th ACK comes 51 ms after the first.
    assert_eq!(left_at(false), 40_000 + 34_000);
    assert_eq!(left_at(true), u64::MAX);
}
