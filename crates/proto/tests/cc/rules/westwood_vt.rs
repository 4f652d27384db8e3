//! WestwoodVT: Δ by eq. (2) of the paper, and what each verdict leaves of the window.

use super::{assert_near, avoiding};
use crate::cc::model::{Sender, plain};
use airtcp_wire::Dur;

const BASE_RTT: Dur = Dur::from_millis(100);

/// A sender in congestion avoidance with so many segments outstanding, the first of which took BaseRTT.
fn outstanding(name: &str, segments: u64) -> Sender {
    let mut sender = Sender::new(name, &[], &avoiding(segments));
    sender.receive_window = 1000 * segments;
    sender.round(BASE_RTT);
    assert_eq!(sender.nxt - sender.una, 1000 * segments);
    sender
}

/// cwnd in segments before and after a loss that is found `rtt` after the segments left.
fn across_a_loss(sender: &mut Sender, rtt: Dur) -> (f64, f64) {
    let before = sender.cwnd();
    sender.lose(rtt);
    (before, sender.cwnd())
}

/// §2 with α = 14 and β = 16: 40 segments are worth Δ = 40·(1 − 100/RTT), which is 13.3, 15 and 16.5 at these RTTs.
#[test]
fn three_verdicts() {
    for (rtt_ms, is_reduced) in [(150, false), (160, false), (170, true)] {
        let (before, after) = across_a_loss(&mut outstanding("westwood-vt", 40), Dur::from_millis(rtt_ms));
        assert_eq!(after < before, is_reduced, "RTT {rtt_ms} ms: {before} to {after}");
    }
}

/// §2: corruption leaves ssthresh, too.
#[test]
fn corruption_leaves_no_trace_in_ssthresh() {
    let mut sender = outstanding("westwood-vt", 40);
    let before = sender.ssthresh();
    sender.lose(Dur::from_millis(150));
    assert_eq!(sender.ssthresh(), before);
}

/// §2: between α and β the decision is left to the next three duplicate ACKs, whichever way it falls.
#[test]
fn undecided_until_the_next_three_duplicates() {
    for (rtt_ms, is_reduced) in [(150, false), (170, true)] {
        let mut sender = outstanding("westwood-vt", 40);
        let (before, after) = across_a_loss(&mut sender, Dur::from_millis(160));
        assert_eq!(before, after);
        sender.repair(Dur::from_millis(160));
        sender.round(Dur::from_millis(160));
        let (before, after) = across_a_loss(&mut sender, Dur::from_millis(rtt_ms));
        assert_eq!(after < before, is_reduced, "RTT {rtt_ms} ms: {before} to {after}");
    }
}

/// §2: congestion, and all that the paper does not speak of (a loss in slow start, a timeout), is answered as WestwoodNR does.
#[test]
fn congestion_is_answered_as_westwood_nr_does() {
    let windows = |name: &str, act: &dyn Fn(&mut Sender)| {
        let mut sender = outstanding(name, 40);
        act(&mut sender);
        (sender.cwnd(), sender.ssthresh())
    };
    let in_slow_start = |name: &str| {
        let mut sender = Sender::new(name, &[], &plain());
        sender.round(BASE_RTT);
        sender.lose(BASE_RTT);
        (sender.cwnd(), sender.ssthresh())
    };
    let acts: [&dyn Fn(&mut Sender); 2] =
        [&|sender| sender.lose(Dur::from_millis(170)), &|sender| sender.timeout()];
    for act in acts {
        assert_eq!(windows("westwood-vt", act), windows("westwood-nr", act));
    }
    assert_eq!(in_slow_start("westwood-vt"), in_slow_start("westwood-nr"));
    assert!(in_slow_start("westwood-vt").1 < 1000.0);
}

/// Fig. 1(a) with 1040-byte packets: BaseRTT 46.5 ms, 4.16 ms a packet at the bottleneck, a queue of 20. A window of 20,
/// ns-2's default, stands in the queue with 9 segments at most: Δ never reaches α, and even a queue that overflows is
/// corruption. A window that does not bind fills the queue, and its overflow is congestion.
#[test]
fn a_window_of_twenty_never_sees_congestion() {
    let base = Dur::from_micros(46_500);
    let service = Dur::from_micros(4_160);
    let is_reduced = |window: u64| {
        let mut sender = Sender::new("westwood-vt", &[], &avoiding(window));
        sender.receive_window = 1000 * window;
        sender.round(base);
        let (before, after) = across_a_loss(&mut sender, service * window);
        after < before
    };
    assert_near(20.0 * (1.0 - 46.5 / (20.0 * 4.16)), 8.8, 0.1);
    assert!(!is_reduced(20));
    assert_near(31.0 * (1.0 - 46.5 / (31.0 * 4.16)), 19.8, 0.1);
    assert!(is_reduced(31));
}
