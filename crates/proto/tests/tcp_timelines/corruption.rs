//! SpecTCP (paper 002 §II): a loss is corruption and leaves the window; ECN-Echo is congestion and halves it.

use crate::tcp_timelines::script::{MSS, Script, plain};
use airtcp_proto::tcp::{Reason, Recovery, TcpConfig, TimeoutPolicy};
use airtcp_wire::{Ecn, Flags};
use std::collections::BTreeMap;

fn spectcp() -> TcpConfig {
    TcpConfig { congestion_control: "spectcp".to_owned(), ecn: true, initial_ssthresh: Some(10), ..plain() }
}

/// In congestion avoidance with a window of ten, all of it out, one round trip later.
fn ten_out(config: &TcpConfig) -> Script {
    let mut script = Script::opened(config, 10);
    script.write(100);
    assert_eq!(script.sent().len(), 10);
    script.at(200);
    script
}

/// Stream numbers of what left with CWR.
fn reduced(script: &mut Script) -> Vec<u64> {
    let has_cwr = |flags: Flags| flags.contains(Flags::CWR);
    script.drain().iter().filter(|(_, t)| has_cwr(t.segment.flags)).map(|(_, t)| t.offset / MSS).collect()
}

/// Duplicate ACKs without ECN-Echo: the segment is resent, and each that has left the network lets a new one go.
#[test]
fn duplicate_acks_resend_and_leave_the_window() {
    let mut script = ten_out(&spectcp());
    script.acks(0, 3);
    assert_eq!(script.sent_why()[0], (200, 0, Reason::FastRetransmit));
    assert_eq!(script.windows(), (10 + 3, 10));
    script.acks(0, 6);
    assert_eq!(script.view().nxt / MSS, 10 + 9);
    script.at(300).ack(10);
    assert_eq!(script.windows(), (10, 10));
    assert_eq!(script.connection.stats().cwnd_reductions, 0);
}

/// The same however losses are repaired: two holes leave cwnd and ssthresh as they were.
#[test]
fn no_recovery_reduces_what_the_controller_leaves() {
    for recovery in [Recovery::Newreno, Recovery::Sack, Recovery::RackTlp] {
        for prr in [false, true] {
            let sack = recovery != Recovery::Newreno;
            let mut script = ten_out(&TcpConfig { recovery, sack, prr, ..spectcp() });
            for right in [2, 3, 4, 6, 7, 8, 9, 10] {
                match (sack, right) {
                    (false, _) => script.ack(0),
                    (true, ..=4) => script.sack(0, &[(1, right)]),
                    (true, _) => script.sack(0, &[(5, right), (1, 4)]),
                };
            }
            script.at(300).ack(4);
            acknowledge_all(script.at(400));
            assert_eq!(script.windows(), (10, 10), "{recovery:?}");
            assert!(!script.view().in_recovery, "{recovery:?}");
            assert_eq!(script.connection.stats().timeouts, 0, "{recovery:?}");
            assert_eq!(script.connection.stats().retransmissions, 2, "{recovery:?}");
        }
    }
}

fn acknowledge_all(script: &mut Script) {
    script.ack(script.view().nxt / MSS);
}

/// ECN-Echo: "fast recovery as in the current TCP" halves, and once a window (RFC 3168 §6.1.2).
#[test]
fn ecn_echo_halves_once_a_window() {
    let mut script = ten_out(&spectcp());
    // RFC 5681 §3.1 eq. (4): of nine that are still out, 4.5.
    script.ack_with(1, Flags::ECE);
    assert_eq!(script.windows(), (4, 4));
    for acked in 2..=10 {
        script.ack_with(acked, Flags::ECE);
    }
    assert_eq!(script.windows(), (4, 4));
    assert_eq!(reduced(&mut script), [10]);
    script.at(300).ack_with(12, Flags::ECE);
    assert_eq!(script.windows(), (2, 2));
    assert_eq!(script.connection.stats().cwnd_reductions, 2);
}

/// A loss that reduced nothing does not answer for the ECN-Echo that follows, nor does it tell the receiver with CWR to
/// stop echoing.
#[test]
fn ecn_echo_halves_during_recovery_and_cwr_is_for_it_alone() {
    let mut script = ten_out(&spectcp());
    script.acks(0, 6);
    assert_eq!(reduced(&mut script), [] as [u64; 0]);
    script.ack_with(0, Flags::ECE);
    assert_eq!(script.connection.stats().cwnd_reductions, 1);
    assert_eq!(script.windows().1, 5);
    script.at(300).ack(14);
    acknowledge_all(script.at(400));
    assert_eq!(script.connection.stats().cwnd_reductions, 1);
    assert_eq!(reduced(&mut script).len(), 1);
}

/// §II (ii): while corruption is repaired, congestion avoidance goes on: a segment for each window that arrives. With ECN-Echo the
/// loss was congestion, and nothing grows.
#[test]
fn by_the_second_mechanism_the_window_grows_slowly_while_corruption_is_repaired() {
    for (is_echoed, repair_growth, cwnd) in
        [(false, 0.0, 20), (false, 0.5, 20), (false, 1.0, 21), (true, 0.0, 10), (true, 1.0, 10)]
    {
        let cc = BTreeMap::from([("repair_growth".to_owned(), repair_growth)]);
        let avoiding =
            TcpConfig { initial_ssthresh: Some(20), recovery: Recovery::Sack, sack: true, ..spectcp() };
        let mut script = Script::opened(&TcpConfig { cc, ..avoiding }, 20);
        script.write(100).at(200).sack(0, &[(1, 4)]);
        if is_echoed {
            script.ack_with(0, Flags::ECE);
        }
        (5..=25).for_each(|right| _ = script.sack(0, &[(1, right)]));
        script.at(300).ack(25);
        assert_eq!(script.windows().0, cwnd, "{repair_growth} {is_echoed}");
    }
}

/// The timer, without ECN-Echo: cwnd and ssthresh stay, and only the timer backs off (RFC 6298 §5.5).
#[test]
fn the_timer_leaves_the_window_and_backs_off() {
    let mut script = ten_out(&spectcp());
    script.at(3200);
    let timeouts: Vec<_> =
        script.sent_why().into_iter().filter(|(_, _, reason)| *reason == Reason::Timeout).collect();
    assert_eq!(timeouts, [(1100, 0, Reason::Timeout), (3100, 0, Reason::Timeout)]);
    assert_eq!(script.windows(), (10, 10));
    assert_eq!(script.connection.stats().cwnd_reductions, 0);
}

/// With the window left as it is, go-back-N resends all of it at once, selective repeat the first segment.
#[test]
fn the_window_that_stays_is_what_a_timeout_resends() {
    let resent = |timeout_policy| {
        let mut script = ten_out(&TcpConfig { timeout_policy, ..spectcp() });
        script.at(1200).sent()
    };
    assert_eq!(resent(TimeoutPolicy::GoBackN), (0..10).collect::<Vec<_>>());
    assert_eq!(resent(TimeoutPolicy::SelectiveRepeat), [0]);
}

/// "Times out without receiving any ECN-ECHO packet" is the condition: a timeout in a window that was marked is
/// congestion (RFC 5681 §3.1).
#[test]
fn a_timeout_in_a_marked_window_is_congestion() {
    let mut script = ten_out(&spectcp());
    script.ack_with(1, Flags::ECE);
    script.at(2000);
    assert_eq!(script.connection.stats().timeouts, 1);
    assert_eq!(script.windows(), (1, 2));
}

/// RFC 3168 §6.1.5: retransmissions are not ECN-capable. With RFC 2481's form, which paper 002 used, they are.
#[test]
fn retransmissions_are_ecn_capable_only_in_the_older_form() {
    for (ecn_retransmissions, expected) in [(false, Ecn::NotEct), (true, Ecn::Ect0)] {
        let mut script = ten_out(&TcpConfig { ecn_retransmissions, ..spectcp() });
        script.acks(0, 4);
        let out = script.drain();
        let marks: Vec<_> = out.iter().map(|(_, transmit)| (transmit.offset / MSS, transmit.ecn)).collect();
        assert_eq!(marks[..2], [(0, expected), (10, Ecn::Ect0)]);
    }
}

/// RFC 3168 §6.1.2: CWR is on the first new segment after a reduction. In the older form the retransmission has it.
#[test]
fn retransmissions_carry_cwr_only_in_the_older_form() {
    for (ecn_retransmissions, first) in [(false, 10), (true, 0)] {
        let mut script = ten_out(&TcpConfig { ecn: true, ecn_retransmissions, ..plain() });
        script.acks(0, 10);
        assert_eq!(reduced(&mut script), [first]);
    }
}
