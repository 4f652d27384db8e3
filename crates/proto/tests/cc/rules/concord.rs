//! Concord where nothing is measured yet or nothing is sent: ECN, timeouts, idleness.

use super::{RTT, assert_near};
use crate::cc::model::{Sender, plain};
use airtcp_wire::Dur;

fn sender() -> Sender {
    let mut sender = Sender::new("concord", &[], &plain());
    for _ in 0..3 {
        sender.round(RTT);
    }
    sender
}

/// RFC 9438 §4.6, RFC 3168 §6.1.2: as a loss, and once a window.
#[test]
fn ecn_echo_is_answered_as_cubic_answers_it() {
    let mut sender = sender();
    let before = sender.cwnd();
    sender.fill();
    let flying: Vec<u64> = sender.flying().collect();
    sender.wait(RTT);
    sender.arrive(&flying[..1], true);
    let answered = sender.cwnd();
    assert_near(answered, 0.7 * before, 1.0);
    sender.arrive(&flying[1..3], true);
    assert_near(sender.cwnd(), answered, 1.0);
}

/// RFC 5681 §3.1: the loss window, and slow start to what CUBIC would have left.
#[test]
fn a_timeout_leaves_one_segment() {
    let mut sender = sender();
    let before = sender.cwnd();
    sender.fill();
    sender.timeout();
    assert_eq!(sender.cwnd(), 1.0);
    for _ in 0..10 {
        sender.round(RTT);
    }
    assert!(sender.cwnd() > 0.6 * before, "{} of {before}", sender.cwnd());
}

/// RFC 2861 §3.1: half for each RTO, down to the restart window.
#[test]
fn idleness_halves_the_window_down_to_the_restart_window() {
    let mut sender = sender();
    let before = sender.cwnd();
    assert!(before >= 40.0);
    sender.cc.on_restart(sender.now, 1);
    assert_near(sender.cwnd(), before / 2.0, 1.0);
    sender.wait(Dur::from_secs(60));
    sender.cc.on_restart(sender.now, 60);
    assert_eq!(sender.cwnd(), 10.0);
}
