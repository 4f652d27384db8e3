//! Eifel (RFC 3522, RFC 4015) and F-RTO (RFC 5682).

use crate::tcp_timelines::script::{MSS, Script, plain};
use airtcp_proto::tcp::{Reason, Recovery, TcpConfig};

fn eifel() -> TcpConfig {
    TcpConfig { timestamps: true, eifel: true, recovery: Recovery::Newreno, packet_size: 1052, ..plain() }
}

/// RFC 3522 §3.2: an ACK that echoes an older timestamp than the retransmission's was for the original; RFC 4015 §3.2:
/// cwnd and ssthresh come back, and new data follows instead of retransmissions.
#[test]
fn eifel_undoes_a_spurious_timeout() {
    let mut script = Script::opened(&eifel(), 10);
    script.write(100);
    script.drain();
    script.at(1150);
    assert_eq!(script.sent_why(), [(1100, 0, Reason::Timeout)]);
    // The originals, sent at 100 ms, were only delayed.
    script.ack_echoing(2, 100);
    assert_eq!(script.connection.stats().spurious_detected, 1);
    assert_eq!(script.view().ssthresh, u64::MAX);
    // FlightSize 8 + 2 acknowledged, then slow start's growth by this ACK.
    assert!(script.windows().0 >= 10);
    let sent = script.sent();
    assert_eq!(sent[0], 10, "new data, not what is outstanding: {sent:?}");
    assert_eq!(script.connection.stats().retransmissions, 1);
}

/// RFC 3522 §3.2: the retransmission's own timestamp means that it was needed.
#[test]
fn eifel_keeps_a_genuine_timeout() {
    let mut script = Script::opened(&eifel(), 10);
    script.write(100);
    script.at(1200).ack_echoing(1, 1100);
    assert_eq!(script.connection.stats().spurious_detected, 0);
    assert_eq!(script.windows().1, 5);
    assert_eq!(script.sent()[11], 1, "go-back-N goes on");
}

/// RFC 3522 §3.2 with a fast retransmit: reordering, not loss.
#[test]
fn eifel_undoes_a_spurious_fast_retransmit() {
    let mut script = Script::opened(&eifel(), 10);
    script.write(100);
    script.at(200).acks(0, 3);
    assert_eq!(script.windows().1, 5);
    script.at(210).ack_echoing(4, 100);
    assert_eq!(script.connection.stats().spurious_detected, 1);
    assert!(!script.view().in_recovery);
    assert_eq!(script.view().ssthresh, u64::MAX);
}

/// RFC 4015 §3.2 step 9: the RTO is kept above the delay that made the timer expire.
#[test]
fn the_eifel_response_adapts_the_rto() {
    let mut script = Script::opened(&eifel(), 10);
    script.write(100);
    script.at(1150).ack_echoing(2, 100);
    script.at(1300).ack_echoing(3, 100);
    assert!(script.view().srtt.as_millis() >= 1150, "{:?}", script.view());
}

fn f_rto() -> TcpConfig {
    TcpConfig { f_rto: true, recovery: Recovery::Newreno, ..plain() }
}

/// RFC 5682 §2.1: after the timeout, an ACK that advances lets two new segments go; another one that advances shows
/// that the originals were on their way.
#[test]
fn f_rto_finds_a_spurious_timeout() {
    let mut script = Script::opened(&f_rto(), 10);
    script.write(100);
    script.drain();
    script.at(1150);
    assert_eq!(script.sent(), [0]);
    script.ack(1);
    assert_eq!(script.sent(), [10, 11], "step 2b: two new segments");
    script.ack(2);
    assert_eq!(script.connection.stats().spurious_detected, 1);
    assert_eq!(script.view().ssthresh, u64::MAX);
    assert_eq!(script.connection.stats().retransmissions, 1);
}

/// RFC 5682 §2.1 step 3a: a duplicate after the two new segments means that the timeout was genuine.
#[test]
fn f_rto_keeps_a_genuine_timeout() {
    let mut script = Script::opened(&f_rto(), 10);
    script.write(100);
    script.at(1150).ack(1);
    script.drain();
    script.acks(1, 1);
    assert_eq!(script.connection.stats().spurious_detected, 0);
    script.at(1250).ack(2);
    assert!(script.sent().iter().all(|&segment| segment < 10), "what was out before is resent");
}

/// RFC 5682 §2.1 step 2a: a duplicate as the first ACK is conventional recovery.
#[test]
fn f_rto_gives_up_at_a_duplicate() {
    let mut script = Script::opened(&f_rto(), 10);
    script.write(100);
    script.at(1150).ack(0);
    script.drain();
    script.at(1200).ack(1);
    assert_eq!(script.sent(), [1, 2]);
    assert_eq!(script.view().cwnd, 2 * MSS);
}
