//! Tahoe, Reno, NewReno, SACK, RACK-TLP.

use crate::tcp_timelines::script::{MSS, Script, plain};
use airtcp_proto::cc::WindowRules;
use airtcp_proto::tcp::{Reason, Recovery, RtoConfig, RtoTimers, TcpConfig, TimeoutPolicy};
use airtcp_wire::Flags;

/// Ten segments out, ssthresh high.
fn ten_out(recovery: Recovery) -> Script {
    let has_sack = matches!(recovery, Recovery::Sack | Recovery::RackTlp);
    let mut script = Script::opened(&TcpConfig { recovery, sack: has_sack, ..plain() }, 10);
    script.write(100);
    assert_eq!(script.sent().len(), 10);
    script.at(200);
    script
}

/// RFC 5681 §3.2 steps 2 to 4: the third duplicate ACK resends the segment, halves, and inflates by three; each further
/// one by one.
#[test]
fn third_duplicate_ack_retransmits_and_inflates() {
    let mut script = ten_out(Recovery::Reno);
    script.acks(0, 2);
    assert_eq!(script.sent(), [] as [u64; 0]);
    script.ack(0);
    assert_eq!(script.sent_why(), [(200, 0, Reason::FastRetransmit)]);
    assert_eq!(script.windows(), (5 + 3, 5));
    script.acks(0, 2);
    assert_eq!(script.windows().0, 10);
    assert_eq!(script.sent(), [] as [u64; 0]);
    script.acks(0, 2);
    assert_eq!(script.sent(), [10, 11]);
}

/// RFC 5681 §3.2 step 6: the ACK of new data deflates to ssthresh.
#[test]
fn reno_deflates_at_the_first_new_ack() {
    let mut script = ten_out(Recovery::Reno);
    script.acks(0, 9);
    script.drain();
    script.at(300).ack(10);
    assert_eq!(script.windows(), (5, 5));
}

/// The weakness for which NewReno was made: with two losses, Reno leaves recovery at the first partial ACK.
#[test]
fn reno_leaves_recovery_at_a_partial_ack_and_newreno_does_not() {
    for (recovery, resent) in [(Recovery::Reno, vec![]), (Recovery::Newreno, vec![4])] {
        let mut script = ten_out(recovery);
        script.acks(0, 8);
        script.drain();
        script.at(300).ack(4);
        let again: Vec<_> = script.sent().into_iter().filter(|&segment| segment < 10).collect();
        assert_eq!(again, resent, "{recovery:?}");
    }
}

/// ns-2's Reno until 2004 finds the second loss of a window by duplicate ACKs, as often as it takes; RFC 6582's rule
/// does not let Reno do so.
#[test]
fn ns2_reno_retransmits_again_within_one_window() {
    for (recovery, times) in [(Recovery::RenoNs2, 3), (Recovery::Reno, 1)] {
        let mut script = ten_out(recovery);
        script.acks(0, 8);
        for acked in [4, 7] {
            script.ack(acked).acks(acked, 3);
        }
        let again = script.sent_why().into_iter().filter(|sent| sent.2 == Reason::FastRetransmit);
        let again: Vec<u64> = again.map(|(_, segment, _)| segment).collect();
        assert_eq!(again, [0, 4, 7][..times], "{recovery:?}");
    }
}

/// With `bugfix_`, ns-2's duplicate ACKs resend nothing after a timeout, until what was sent before it is acknowledged;
/// but they inflate the window by three and then one each.
#[test]
fn ns2_reno_inflates_without_a_retransmission_after_a_timeout() {
    let mut script = ten_out(Recovery::RenoNs2);
    script.at(1300).drain();
    script.at(1400).ack(1).ack(10);
    script.drain();
    let cwnd = script.windows().0;
    script.acks(10, 2);
    assert_eq!(script.windows().0, cwnd);
    script.ack(10);
    assert_eq!(script.windows().0, cwnd + 3);
    script.acks(10, 2);
    assert_eq!(script.windows().0, cwnd + 5);
    assert!(script.sent_why().iter().all(|sent| sent.2 == Reason::New));
    script.at(1500).ack(11);
    assert_eq!(script.windows().0, cwnd + 1, "slow start goes on");
    script.acks(11, 3);
    assert!(script.sent_why().iter().any(|sent| (sent.1, sent.2) == (11, Reason::FastRetransmit)));
}

/// RFC 5681 §3.1 eq. (4) halves what is outstanding. ns-2's `slowdown` halves cwnd, before 2006 with `int(cwnd)/2`.
#[test]
fn ns2_halves_cwnd_and_not_what_is_outstanding() {
    for (windows, expected) in
        [(WindowRules::Rfc, 3500), (WindowRules::Ns2, 5500), (WindowRules::Ns2Whole, 5000)]
    {
        let mut script = Script::opened(&TcpConfig { windows, ..plain() }, 11);
        script.write(7).at(200).acks(0, 3);
        assert_eq!(script.view().ssthresh, expected, "{windows:?}");
    }
}

/// The timer expires twice on the same segment: RFC 5681 §3.1 holds ssthresh, ns-2 halves what is left of cwnd.
#[test]
fn ns2_halves_at_each_timeout() {
    for (windows, expected) in [(WindowRules::Rfc, 5000), (WindowRules::Ns2, 2000)] {
        let mut script = Script::opened(&TcpConfig { windows, ..plain() }, 10);
        script.write(10).at(5_000);
        assert_eq!(script.view().ssthresh, expected, "{windows:?}");
    }
}

/// RFC 6582 §3.2 step 3: a partial ACK resends the next hole, deflates by what it acknowledges and adds a segment back;
/// the full ACK ends with ssthresh.
#[test]
fn newreno_partial_ack_deflates_and_resends() {
    let mut script = ten_out(Recovery::Newreno);
    script.acks(0, 8);
    assert_eq!(script.sent(), [0, 10, 11, 12]);
    assert_eq!(script.windows().0, 13);
    script.at(300).ack(4);
    assert_eq!(script.windows().0, 13 - 4 + 1);
    assert_eq!(script.sent_why()[0], (300, 4, Reason::Retransmit));
    script.at(400).ack(13);
    assert_eq!(script.windows(), (5, 5));
    assert!(!script.view().in_recovery);
}

/// RFC 6582 §3.2 step 2: duplicate ACKs of what was sent before the timeout do not begin another fast retransmit.
#[test]
fn no_fast_retransmit_below_recover_after_a_timeout() {
    let mut script = ten_out(Recovery::Newreno);
    script.at(1300);
    assert_eq!(script.sent_why(), [(1100, 0, Reason::Timeout)]);
    script.ack(1).acks(1, 5);
    assert_eq!(script.connection.stats().fast_retransmits, 0);
}

/// RFC 3042 §2: each of the first two duplicate ACKs lets one new segment go, and cwnd stays.
#[test]
fn limited_transmit_sends_on_the_first_two_duplicates() {
    let mut script = Script::opened(&TcpConfig { limited_transmit: true, ..plain() }, 4);
    script.write(100);
    script.drain();
    script.at(200).ack(0);
    assert_eq!(script.sent(), [4]);
    script.ack(0);
    assert_eq!(script.sent(), [5]);
    script.ack(0);
    assert_eq!(script.sent(), [0]);
    // RFC 5681 §3.2 step 2: what limited transmit sent is no part of FlightSize.
    assert_eq!(script.windows().1, 2);
}

/// Tahoe: the third duplicate ACK begins slow start from one segment with everything outstanding.
#[test]
fn tahoe_slow_starts_and_goes_back() {
    let mut script = ten_out(Recovery::Tahoe);
    script.acks(0, 3);
    assert_eq!(script.sent(), [0]);
    assert_eq!(script.windows(), (1, 5));
    script.at(300).ack(1);
    assert_eq!(script.sent(), [1, 2]);
}

/// RFC 6675 §5: several holes are resent in order as the pipe allows, each once, before new data.
#[test]
fn sack_repairs_several_holes_in_one_round_trip() {
    let mut script = ten_out(Recovery::Sack);
    // 0, 2 and 5 are lost.
    script.sack(0, &[(1, 2)]).sack(0, &[(3, 4), (1, 2)]);
    assert_eq!(script.sent(), [] as [u64; 0]);
    script.sack(0, &[(3, 5), (1, 2)]);
    assert_eq!(script.sent_why()[0], (200, 0, Reason::FastRetransmit));
    assert_eq!(script.windows(), (5, 5));
    script.sack(0, &[(6, 7), (3, 5), (1, 2)]);
    script
        .sack(0, &[(6, 8), (3, 5), (1, 2)])
        .sack(0, &[(6, 9), (3, 5), (1, 2)])
        .sack(0, &[(6, 10), (3, 5), (1, 2)]);
    // pipe: 0 again, 2 again, then 5 once more than two segments above it are SACKed; then new data up to 5.
    assert_eq!(script.sent(), [2, 5, 10, 11]);
    assert_eq!(script.view().in_flight, 5 * MSS);
    script.at(300).ack(10);
    assert!(!script.view().in_recovery);
    assert_eq!(script.connection.stats().retransmissions, 3);
    assert_eq!(script.connection.stats().cwnd_reductions, 1);
}

/// RFC 6675 §4 NextSeg (3) and (4): without new data, the room goes to what may be lost, and once to the last segment.
#[test]
fn sack_speculates_when_there_is_no_new_data() {
    let mut script = Script::opened(&TcpConfig { recovery: Recovery::Sack, sack: true, ..plain() }, 10);
    script.write(10);
    script.drain();
    script.at(200);
    for right in 2..=7 {
        script.sack(0, &[(1, right)]);
    }
    script.sack(0, &[(8, 9), (1, 7)]);
    // With room for one more, only the last segment is out and not SACKed; then 8 is, and 7 lies below it.
    assert_eq!(script.sent(), [0, 9, 7]);
}

/// RFC 2018 §8 and RFC 6675 §5.1: after a timeout what was SACKed is not resent.
#[test]
fn a_timeout_resends_only_what_was_not_sacked() {
    let mut script = ten_out(Recovery::Sack);
    script.sack(0, &[(1, 2)]).sack(0, &[(1, 2), (8, 9)]);
    script.drain();
    script.at(1300);
    assert_eq!(script.sent_why(), [(1100, 0, Reason::Timeout)]);
    script.ack(2);
    assert_eq!(script.sent(), [2, 3]);
    script.at(1400).ack(8);
    assert!(!script.sent().contains(&8));
}

/// Go-back-N resends everything outstanding as the window opens, selective repeat that segment only (paper 003 §III).
#[test]
fn the_timeout_policies_differ_in_what_they_resend() {
    let resent = |timeout_policy| {
        let mut script = Script::opened(&TcpConfig { timeout_policy, ..plain() }, 10);
        script.write(10);
        script.drain();
        script.at(1300);
        script.ack(1).at(1310).ack(2).at(1320).ack(3);
        script.sent()
    };
    assert_eq!(resent(TimeoutPolicy::GoBackN), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(resent(TimeoutPolicy::SelectiveRepeat), [0]);
}

fn rack() -> TcpConfig {
    TcpConfig { recovery: Recovery::RackTlp, sack: true, ..plain() }
}

/// RFC 8985 §6.2 step 5: without signs of reordering, three SACKed segments show the loss at once.
#[test]
fn rack_marks_what_was_sent_before_a_delivered_segment() {
    let mut script = Script::opened(&rack(), 10);
    script.write(100);
    script.drain();
    script.at(200).sack(0, &[(1, 2)]).sack(0, &[(1, 3)]);
    assert_eq!(script.sent(), [] as [u64; 0]);
    script.sack(0, &[(1, 4)]);
    assert_eq!(script.sent()[0], 0);
}

/// RFC 8985 §6.2 step 5: with fewer SACKs the reordering window (a quarter of the smallest RTT) passes first.
#[test]
fn rack_waits_for_the_reordering_window() {
    let mut script = Script::opened(&rack(), 10);
    script.write(3);
    script.drain();
    script.at(200).sack(0, &[(1, 2)]);
    script.at(224);
    assert_eq!(script.sent(), [] as [u64; 0]);
    script.at(226);
    assert_eq!(script.sent_why()[0], (225, 0, Reason::FastRetransmit));
}

/// RFC 5681 §4.3: losses in two successive windows are two signs of congestion, also where the second one is found and resent
/// before recovery from the first is over.
#[test]
fn a_loss_in_the_next_window_reduces_again_when_the_first_recovery_is_over() {
    for (lost, reductions) in [(Some(10), 2), (None, 1)] {
        let mut script = Script::opened(&rack(), 10);
        script.write(100).at(200).sack(0, &[(1, 10)]).drain();
        let next = lost.map_or(10, |lost| lost + 1);
        script.at(300).sack(0, &[(next, 14), (1, 10)]);
        assert_eq!(script.sent().contains(&10), lost.is_some());
        script.at(400).sack(10, &[(next, 14)]);
        assert_eq!(script.connection.stats().cwnd_reductions, reductions, "{lost:?}");
        assert_eq!(script.view().in_recovery, lost.is_some());
    }
}

/// RFC 8985 §6: a lost retransmission is found without a timeout.
#[test]
fn rack_finds_a_lost_retransmission() {
    let mut script = Script::opened(&rack(), 10);
    script.write(100);
    script.drain();
    script.at(200);
    for right in 2..=10 {
        script.sack(0, &[(1, right)]);
    }
    let first: Vec<_> = script.sent();
    assert_eq!(first[0], 0);
    // The new segments sent after the retransmission arrive; it does not.
    script.at(300);
    for right in 11..=13 {
        script.sack(0, &[(1, right)]);
    }
    assert!(script.sent().contains(&0));
    assert_eq!(script.connection.stats().timeouts, 0);
}

/// RFC 8985 §7: two round trips of silence bring a probe with the last segment, long before the timer.
#[test]
fn a_tail_loss_probe_resends_the_last_segment() {
    let mut script = Script::opened(&rack(), 10);
    script.write(4);
    script.drain();
    script.at(900);
    assert_eq!(script.sent_why(), [(300, 3, Reason::TailLossProbe)]);
    assert_eq!(script.connection.stats().timeouts, 0);
}

/// RFC 6937 §3.1: with proportional rate reduction one segment leaves for about two that arrive.
#[test]
fn prr_spreads_the_reduction() {
    let mut script = Script::opened(&TcpConfig { prr: true, ..rack() }, 20);
    script.write(100);
    script.drain();
    script.at(200);
    for right in 2..=20 {
        script.sack(0, &[(1, right)]);
    }
    assert_eq!(script.view().in_flight / MSS, 10);
    assert_eq!(script.sent().len(), 10);
}

/// Paper 004 §2: a loss taken for corruption leaves cwnd, "as if the packet loss has never been occurred". Whatever the
/// recovery, the segment is resent, each duplicate ACK lets one new segment out, and as many as before are in flight when
/// recovery is over.
#[test]
fn a_window_that_is_left_alone_keeps_the_sending_rate() {
    for recovery in [Recovery::Reno, Recovery::Newreno, Recovery::Sack, Recovery::RackTlp] {
        let has_sack = matches!(recovery, Recovery::Sack | Recovery::RackTlp);
        let config = TcpConfig {
            congestion_control: "westwood-vt".to_owned(),
            initial_ssthresh: Some(10),
            recovery,
            sack: has_sack,
            prr: has_sack,
            ..plain()
        };
        let mut script = Script::opened(&config, 10);
        script.write(100).at(200).ack(1);
        assert_eq!(script.sent(), (0..11).collect::<Vec<_>>(), "{recovery:?}");
        for right in 3..=10 {
            let block = [(2, right)];
            script.sack(1, if has_sack { &block } else { &[] });
        }
        assert_eq!(script.sent(), [1, 11, 12, 13, 14, 15, 16, 17, 18], "{recovery:?}");
        script.at(300).ack(11);
        assert!(!script.view().in_recovery, "{recovery:?}");
        assert_eq!(script.windows(), (10, 10), "{recovery:?}");
        assert_eq!(script.view().in_flight, 10 * MSS, "{recovery:?}");
        assert_eq!(script.connection.stats().cwnd_reductions, 0, "{recovery:?}");
    }
}

/// Paper 001 §II.B and §IV: a timeout reduces cwnd to the initial window, "two segments", and the first two are resent.
#[test]
fn a_timeout_resends_as_much_as_the_loss_window_holds() {
    for loss_window in 0..=5 {
        for recovery in [Recovery::Reno, Recovery::Newreno, Recovery::Sack] {
            let config = TcpConfig { loss_window, recovery, sack: recovery == Recovery::Sack, ..plain() };
            let mut script = Script::opened(&config, 10);
            script.write(100).drain();
            let held = u64::from(loss_window).max(1);
            assert_eq!(script.at(1200).sent(), (0..held).collect::<Vec<_>>(), "{recovery:?}");
            assert_eq!(script.windows(), (held, 5), "{recovery:?}");
        }
    }
}

/// TCP Jersey: three duplicate ACKs are answered by a retransmission alone, and if they carry a congestion warning
/// (ECN-Echo) by a reduction, too, told to the receiver by CWR (RFC 3168 §6.1.2).
#[test]
fn jersey_reduces_on_duplicate_acks_with_a_warning_only() {
    for (flags, reductions) in [(Flags(0), 0), (Flags::ECE, 1)] {
        let config = TcpConfig {
            congestion_control: "jersey".to_owned(),
            initial_ssthresh: Some(10),
            ecn: true,
            ..plain()
        };
        let mut script = Script::opened(&config, 10);
        script.write(100).at(200).ack(1).drain();
        for _ in 0..3 {
            script.ack_with(1, flags);
        }
        assert_eq!(script.sent()[0], 1);
        assert_eq!(script.connection.stats().cwnd_reductions, reductions);
        script.at(300).ack(11).write(100);
        let says_cwr = script.drain().iter().any(|(_, sent)| sent.segment.flags.contains(Flags::CWR));
        assert_eq!(says_cwr, reductions > 0);
    }
}

/// A receiver reports all that is out and discards it: the timer resends the first segment, whatever SACK has said of it.
#[test]
fn what_was_reported_and_discarded_is_resent() {
    for recovery in [Recovery::Sack, Recovery::RackTlp] {
        for timers in [RtoTimers::Connection, RtoTimers::Segment] {
            let plain = plain();
            let rto = RtoConfig { timers, ..plain.rto.clone() };
            let config = TcpConfig { recovery, sack: true, rto, ..plain };
            let mut script = Script::opened(&config, 4);
            script.write(4).drain();
            script.at(200).sack(0, &[(0, 4)]);
            assert_eq!(script.sent(), [] as [u64; 0]);
            script.at(5_000);
            assert_eq!(script.sent().first(), Some(&0), "{recovery:?} {timers:?}");
            script.ack(4);
            assert_eq!(script.view().in_flight, 0);
        }
    }
}
