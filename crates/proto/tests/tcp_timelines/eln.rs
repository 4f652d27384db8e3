//! Explicit loss notification, the sender's part (Balakrishnan & Katz 1998): it resends without reducing.

use crate::tcp_timelines::script::{Script, plain};
use airtcp_proto::tcp::{Reason, Recovery, TcpConfig};
use airtcp_wire::Flags;

fn ten_out(eln: bool) -> Script {
    let mut script = Script::opened(&TcpConfig { recovery: Recovery::Newreno, eln, ..plain() }, 10);
    script.write(100);
    script.drain();
    script.at(200);
    script
}

fn told(script: &mut Script, acked: u64, times: usize) {
    (0..times).for_each(|_| {
        script.ack_with(acked, Flags::ELN);
    });
}

#[test]
fn a_corrupted_segment_is_resent_and_the_window_stays() {
    let mut script = ten_out(true);
    let before = script.windows();
    told(&mut script, 0, 3);
    assert_eq!(script.sent_why()[0], (200, 0, Reason::FastRetransmit));
    assert_eq!(script.windows(), (before.0 + 3, before.1), "inflated by three, not reduced");
    script.at(300).ack(10);
    assert_eq!(script.windows(), before);
}

/// Tahoe has no recovery to go through: the segment is resent, and that is all.
#[test]
fn tahoe_resends_and_goes_on() {
    let config = TcpConfig { recovery: Recovery::Tahoe, eln: true, ..plain() };
    let mut script = Script::opened(&config, 10);
    script.write(100);
    script.drain();
    script.at(200);
    told(&mut script, 0, 3);
    assert_eq!(script.sent_why(), [(200, 0, Reason::FastRetransmit)]);
    script.at(300).ack(10);
    assert_eq!(script.windows().0, 11);
}

#[test]
fn the_bit_says_nothing_to_a_stack_that_does_not_know_it() {
    let mut script = ten_out(false);
    told(&mut script, 0, 3);
    assert_eq!(script.windows(), (5 + 3, 5));
}

/// Of two losses in one window the second one was congestion: the episode is answered to after all, once.
#[test]
fn one_congestion_loss_of_the_episode_is_answered_to() {
    let mut script = ten_out(true);
    told(&mut script, 0, 3);
    script.at(300).ack(4);
    script.drain();
    let ssthresh = script.windows().1;
    script.ack(4);
    let answered = script.windows().1;
    assert!(answered < ssthresh, "{answered}");
    script.acks(4, 3);
    assert_eq!(script.windows().1, answered);
}

/// A timeout stays what it is.
#[test]
fn a_timeout_reduces_whatever_the_bit_said() {
    let mut script = ten_out(true);
    told(&mut script, 0, 1);
    script.at(1500);
    assert_eq!(script.windows(), (1, 5));
}
