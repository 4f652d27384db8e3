//! Slow start, ECN, Nagle, the peer's window.

use crate::tcp_timelines::script::{MSS, Script, plain};
use airtcp_proto::cc::WindowRules;
use airtcp_proto::tcp::{Reason, Recovery, TcpConfig};
use airtcp_wire::{Ecn, Flags};

/// RFC 5681 §3.1: cwnd grows by a segment for each ACK of new data.
#[test]
fn slow_start_doubles_the_window_each_round_trip() {
    let mut script = Script::connected(&plain(), 100);
    script.write(100);
    assert_eq!(script.sent(), [0, 1]);
    script.at(200).ack(1);
    assert_eq!(script.sent(), [2, 3]);
    script.ack(2);
    assert_eq!(script.sent(), [4, 5]);
    for n in 3..=6 {
        script.at(300).ack(n);
    }
    assert_eq!(script.sent(), [6, 7, 8, 9, 10, 11, 12, 13]);
    assert_eq!(script.windows().0, 8);
}

/// RFC 5681 §3.1 eq. (3): above ssthresh, about one segment a round trip.
#[test]
fn congestion_avoidance_adds_a_segment_each_round_trip() {
    let config = TcpConfig { initial_ssthresh: Some(4), ..plain() };
    let mut script = Script::opened(&config, 4);
    script.write(100);
    assert_eq!(script.sent(), [0, 1, 2, 3]);
    for n in 1..=4 {
        script.at(200).ack(n);
    }
    assert_eq!(script.windows().0, 4);
    script.at(300).ack(5);
    assert_eq!(script.windows().0, 5);
}

/// RFC 9293 §3.8.6: nothing is sent beyond the peer's window, however large cwnd is.
#[test]
fn the_peers_window_binds() {
    let config = TcpConfig { initial_window: 10, ..plain() };
    let mut script = Script::with_window(&config, 100, 3 * MSS);
    script.write(100);
    assert_eq!(script.sent(), [0, 1, 2]);
    script.at(200).ack(1);
    assert_eq!(script.sent(), [3]);
    script.window(5 * MSS).ack(2);
    assert_eq!(script.sent(), [4, 5, 6]);
}

/// RFC 9293 §3.7.4: a small segment waits while data is outstanding; without Nagle it does not.
#[test]
fn nagle_holds_a_small_segment_back() {
    for (nagle, first_batch) in [(true, 1), (false, 2)] {
        let mut script = Script::opened(&TcpConfig { nagle, ..plain() }, 10);
        script.connection.write(10);
        script.at(100);
        script.write(0);
        script.connection.write(10);
        script.write(0);
        assert_eq!(script.sent().len(), first_batch, "nagle = {nagle}");
    }
}

/// RFC 3168 §6.1.2: the sender reduces once a window however many ACKs carry ECE, and says CWR on the first new segment.
#[test]
fn ecn_echo_reduces_once_a_window_and_cwr_is_sent_once() {
    let config = TcpConfig { ecn: true, initial_ssthresh: Some(10), ..plain() };
    let mut script = Script::opened(&config, 10);
    script.write(100);
    let ect = |script: &mut Script| {
        script.drain().iter().map(|(_, t)| (t.ecn, t.segment.flags.contains(Flags::CWR))).collect::<Vec<_>>()
    };
    assert_eq!(ect(&mut script), vec![(Ecn::Ect0, false); 10]);
    for n in 1..=10 {
        script.at(200).ack_with(n, Flags::ECE);
    }
    // FlightSize was nine segments when the first echo came.
    assert_eq!(script.view().cwnd, 4500);
    assert_eq!(script.connection.stats().cwnd_reductions, 1);
    let after = ect(&mut script);
    assert_eq!(after, [(Ecn::Ect0, true), (Ecn::Ect0, false), (Ecn::Ect0, false), (Ecn::Ect0, false)]);
    script.at(300).ack_with(11, Flags::ECE);
    assert_eq!(script.connection.stats().cwnd_reductions, 2, "the next window may reduce again");
}

/// Ten segments out, and ECN-Echo with the first ACK; Linux's way of answering.
fn echoed() -> Script {
    let config = TcpConfig {
        ecn: true,
        prr: true,
        sack: true,
        recovery: Recovery::RackTlp,
        initial_ssthresh: Some(10),
        windows: WindowRules::Linux,
        ..plain()
    };
    let mut script = Script::opened(&config, 10);
    script.write(100).at(200).drain();
    script.ack_with(1, Flags::ECE);
    script
}

/// RFC 9937 §6.2 in Linux's state CWR: of ten segments five are to stay, and one leaves for two that arrive, until as many
/// are in flight as cwnd allows. It grows again once what was sent after the echo has been acknowledged.
#[test]
fn with_prr_the_answer_to_ecn_echo_takes_a_round_trip_in_which_nothing_grows() {
    let mut script = echoed();
    let sent: Vec<_> = (2..=10).map(|n| script.ack(n).sent().len()).collect();
    assert_eq!(sent, [1, 1, 0, 1, 0, 1, 0, 0, 1]);
    script.at(300).ack(11);
    assert_eq!((script.view().cwnd, script.view().ssthresh), (5000, 5000));
    (12..=16).for_each(|n| _ = script.ack(n));
    assert_eq!(script.view().cwnd, 6000);
}

/// RFC 3168 §6.1.2: one reduction for the marks and losses of one window.
#[test]
fn a_loss_found_while_the_answer_to_ecn_echo_goes_on_reduces_no_further() {
    let mut script = echoed();
    script.sack(1, &[(2, 5)]);
    assert!(script.view().in_recovery);
    assert_eq!((script.view().ssthresh, script.connection.stats().cwnd_reductions), (5000, 1));
}

/// RFC 3168 §6.1.5: a retransmission is not ECN-capable.
#[test]
fn retransmissions_are_not_ecn_capable() {
    let mut script = Script::opened(&TcpConfig { ecn: true, ..plain() }, 5);
    script.write(5);
    script.drain();
    script.at(200).acks(0, 3);
    let resent = script.drain();
    assert_eq!((resent[0].1.reason, resent[0].1.ecn), (Reason::FastRetransmit, Ecn::NotEct));
}

/// RFC 9293 §3.8.6.1: a closed window is probed with an octet, at growing intervals, for as long as it is closed; when
/// it opens, sending goes on.
#[test]
fn a_zero_window_is_probed_until_it_opens() {
    let mut script = Script::opened(&plain(), 2);
    script.write(6);
    script.drain();
    script.at(200).window(0).ack(2);
    // Two segments' worth was promised before; nothing is out any more.
    assert_eq!(script.sent(), [] as [u64; 0]);
    script.at(8000);
    let probes = script.drain();
    assert!(
        probes
            .iter()
            .all(|(_, t)| t.reason == Reason::WindowProbe && t.segment.len == 1 && t.offset == 2 * MSS)
    );
    let times: Vec<_> = probes.iter().map(|(at, _)| at.0 / 1_000_000_000).collect();
    assert_eq!(times, [1, 3, 7]);
    script.window(60_000).ack(2);
    // RFC 5681 §4.1: after so long a silence the window is the initial one again.
    assert_eq!(script.sent(), [2, 3]);
}

/// RFC 9293 §3.8.6.1: the probe's octet counts as sent when the peer takes it.
#[test]
fn a_probe_octet_that_the_peer_takes_is_not_sent_again() {
    let mut script = Script::opened(&plain(), 2);
    script.write(3);
    script.at(200).window(0).ack(2);
    script.at(1500);
    script.drain();
    script.window(60_000);
    let mut taken = script.header(2, 0);
    taken.ack = airtcp_wire::Seq(taken.ack.0.wrapping_add(1));
    script.input(taken, Ecn::NotEct);
    let sent = script.drain();
    assert_eq!((sent[0].1.offset, sent[0].1.segment.len), (2 * MSS + 1, 999));
}

/// A timeout has answered to what the receiver echoes; no retransmission carries the CWR that it waits for. As in Linux,
/// slow start goes on all the same: else what was lost would be repaired a segment a round trip.
#[test]
fn slow_start_after_a_timeout_goes_on_while_congestion_is_echoed() {
    let mut script = Script::opened(&TcpConfig { ecn: true, ..plain() }, 10);
    script.write(10).drain();
    script.at(1200).ack_with(1, Flags::ECE).at(1300).ack_with(3, Flags::ECE);
    assert_eq!(script.windows(), (3, 5));
    script.at(1400).ack_with(6, Flags::ECE);
    assert_eq!(script.windows(), (4, 5));
}
