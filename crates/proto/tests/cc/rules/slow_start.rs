use super::RTT;
use crate::model::{Sender, plain};
use airtcp_proto::cc::Build;
use airtcp_proto::cc::slow_start::SlowStartKind;
use airtcp_wire::Dur;

fn hystart(is_paced: bool) -> Sender {
    let build = Build { slow_start: SlowStartKind::HystartPlusPlus, is_paced, ..plain() };
    Sender::new("reno", &[], &build)
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

/// A sender in conservative slow start. The round in which the RTT changes has ACKs of both, so that the next one tells.
fn in_css() -> Sender {
    let mut sender = hystart(false);
    sender.round(RTT);
    sender.round(RTT);
    sender.round(LONGER);
    assert_eq!(sender.cc.cwnd(), 80_000);
    sender.round(LONGER);
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
        assert!((1.05..=1.25).contains(&grown), "{grown}");
        rounds += 1;
    }
    assert!((4..=5).contains(&rounds), "{rounds}");
    let before = sender.cwnd();
    sender.round(LONGER);
    assert!(sender.cwnd() - before <= 1.0, "congestion avoidance");
}

/// RFC 9406 §4.2: when the RTT falls below the baseline again, leaving was spurious, and slow start resumes.
#[test]
fn hystart_resumes_slow_start_when_the_rtt_falls() {
    let mut sender = in_css();
    sender.round(RTT);
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
