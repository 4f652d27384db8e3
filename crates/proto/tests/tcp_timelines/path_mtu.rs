//! RFC 1191, RFC 8201: what the machine does when its driver has learned another MTU.

use crate::tcp_timelines::script::{Script, plain};
use airtcp_proto::tcp::Reason;
use airtcp_wire::{Ecn, Flags};

fn lens(script: &mut Script) -> Vec<(u32, Reason)> {
    script.drain().iter().map(|(_, transmit)| (transmit.segment.len, transmit.reason)).collect()
}

#[test]
fn new_segments_fit_and_are_no_longer_than_negotiated() {
    let mut script = Script::opened(&plain(), 10);
    for (limit, len) in [(500, 500), (250, 250), (5_000, 1_000), (200, 200)] {
        script.connection.limit_mss(limit);
        script.write(1);
        assert_eq!(lens(&mut script), vec![(len, Reason::New); 1_000 / len as usize]);
    }
}

/// RFC 1191 §6.4: that is no congestion.
#[test]
fn what_was_too_long_is_resent_at_once_and_the_window_stays() {
    let mut script = Script::opened(&plain(), 10);
    script.write(2);
    script.connection.limit_mss(500);
    script.write(1);
    script.drain();
    let before = script.connection.sender_view();
    script.connection.resend_longer_than(500);
    script.write(0);
    assert_eq!(lens(&mut script), [(1_000, Reason::Retransmit); 2]);
    let after = script.connection.sender_view();
    assert_eq!((after.cwnd, after.ssthresh, after.in_recovery), (before.cwnd, before.ssthresh, false));
}

#[test]
fn the_first_segment_in_vain_is_told() {
    let mut script = Script::opened(&plain(), 10);
    assert_eq!(script.connection.first_in_vain(), (0, 0));
    script.write(1);
    script.at(7_500);
    assert_eq!(script.connection.first_in_vain(), (3, 1_000));
    script.ack(1);
    assert_eq!(script.connection.first_in_vain(), (0, 0));
}

/// A sending half that rests, because it has sent nothing yet, would forget it.
#[test]
fn the_limit_outlasts_a_time_of_only_receiving() {
    let mut script = Script::opened(&plain(), 10);
    script.data(0, 1_000, Ecn::NotEct, Flags(0));
    script.connection.limit_mss(500);
    (1..20).for_each(|at| _ = script.data(at * 1_000, 1_000, Ecn::NotEct, Flags(0)));
    script.drain();
    script.write(1);
    assert_eq!(lens(&mut script), [(500, Reason::New); 2]);
}
