//! The Westwood family: what the ACKs' rate makes of the window after a loss.

use super::{assert_near, avoiding};
use crate::cc::model::Sender;
use airtcp_proto::cc::{Build, WindowRules};
use airtcp_wire::{Dur, Time};

const MEMBERS: [&str; 3] = ["westwood", "westwood-nr", "westwood-plus"];
const GAP: Dur = Dur::from_millis(10);
/// RTTmin, of which the path carries one segment every [`GAP`]: a pipe of ten and a half segments.
const RTT_MIN: Dur = Dur::from_millis(105);

/// What the pipe makes of ssthresh, in segments: the authors' ns-2 code takes whole ones.
fn pipe_by(name: &str) -> f64 {
    if name == "westwood-nr" { 10.0 } else { 10.5 }
}

/// A sender of a window of 40 over a pipe of ten and a half, whose ACKs have come every 10 ms for `seconds`.
fn clocked(name: &str, params: &[(&str, f64)], seconds: u64) -> Sender {
    clocked_by(WindowRules::Rfc, name, params, seconds)
}

fn clocked_by(windows: WindowRules, name: &str, params: &[(&str, f64)], seconds: u64) -> Sender {
    let mut sender = Sender::new(name, params, &Build { windows, ..avoiding(40) });
    sender.receive_window = 40_000;
    sender.fill();
    sender.wait(RTT_MIN);
    clock(&mut sender, Dur::from_secs(seconds));
    sender
}

/// In-order arrivals, one every 10 ms.
fn clock(sender: &mut Sender, time: Dur) {
    let end: Time = sender.now + time;
    while sender.now < end {
        arrive_next(sender);
    }
}

/// The first segment in flight arrives, not before it can, and 10 ms pass.
fn arrive_next(sender: &mut Sender) {
    sender.fill();
    let next = sender.flying().next().expect("in flight");
    let sent = sender.sent_at(next).expect("in flight");
    sender.now = sender.now.max(sent + RTT_MIN);
    sender.arrive(&[next], false);
    sender.wait(GAP);
}

/// The first segment in flight is lost; ten above it arrive at the same rate.
fn lose(sender: &mut Sender) {
    let above: Vec<u64> = sender.flying().skip(1).take(10).collect();
    for offset in above {
        sender.arrive(&[offset], false);
        sender.wait(GAP);
    }
}

/// Mascolo et al. 2001 §3: after three duplicate ACKs ssthresh = B·RTTmin and cwnd is at most that; RTTmin is of the first
/// segments, before the queue was there.
#[test]
fn loss_leaves_the_pipe() {
    for name in MEMBERS {
        let mut sender = clocked(name, &[], 10);
        lose(&mut sender);
        assert_near(sender.ssthresh(), pipe_by(name), 0.2);
        assert_near(sender.cwnd(), pipe_by(name), 0.2);
    }
}

/// Linux's tcp_westwood: half of the window while the loss is being repaired, then the pipe, and not less where the window
/// was smaller: a random loss says nothing about the path.
#[test]
fn plus_leaves_recovery_with_the_pipe() {
    let mut sender = clocked_by(WindowRules::Linux, "westwood-plus", &[], 10);
    for _ in 0..3 {
        let half = sender.cwnd() / 2.0;
        lose(&mut sender);
        assert_near(sender.ssthresh() / half, 1.0, 0.1);
        while sender.in_recovery {
            arrive_next(&mut sender);
        }
        assert_near(sender.ssthresh(), 10.0, 1.0);
        assert_near(sender.cwnd(), 10.0, 1.0);
        clock(&mut sender, Dur::from_millis(500));
    }
}

/// Mascolo et al. 2001 §3: after a timeout the same ssthresh, and one segment.
#[test]
fn timeout_leaves_the_pipe_as_ssthresh() {
    for name in MEMBERS {
        let mut sender = clocked(name, &[], 10);
        sender.timeout();
        assert_near(sender.ssthresh(), pipe_by(name), 0.2);
        assert_eq!(sender.cc.cwnd(), 1000);
    }
}

/// Mascolo et al. 2001 §2.3: a duplicate ACK counts one segment, the cumulative ACK behind it does not count it again, so
/// that the estimate does not jump when the hole closes.
#[test]
fn estimate_is_steady_through_a_loss() {
    for name in MEMBERS {
        let mut sender = clocked(name, &[], 10);
        for _ in 0..3 {
            lose(&mut sender);
            while sender.in_recovery {
                arrive_next(&mut sender);
            }
            clock(&mut sender, Dur::from_millis(500));
        }
        sender.timeout();
        assert_near(sender.ssthresh(), 10.5, 1.5);
    }
}

/// Mascolo et al. 2001 §2.2: the filter's time constant is τ.
#[test]
fn original_filter_has_its_time_constant() {
    let mut sender = clocked("westwood", &[("tau_s", 2.0)], 2);
    lose(&mut sender);
    assert_near(sender.ssthresh() / 10.5, 1.0 - libm::exp(-1.0), 0.02);
}

/// Mascolo et al. 2001 §2.2: silence counts as samples of zero, so that the estimate fades.
#[test]
fn original_estimate_fades_in_silence() {
    let mut sender = clocked("westwood", &[("virtual_samples", 10.0)], 10);
    sender.wait(Dur::from_secs(1));
    lose(&mut sender);
    assert_near(sender.ssthresh() / 10.5, libm::exp(-1.0), 0.06);
}

/// The authors' ns-2 code: B = 19/21·B + (b + b₋₁)/21, whatever the time between.
#[test]
fn nr_filter_weighs_every_ack_alike() {
    let mut sender = clocked("westwood-nr", &[], 0);
    let mut estimate = 0.0;
    let mut last = 0.0;
    for gap_ms in [0, 10, 20, 5, 10, 40] {
        sender.wait(Dur::from_millis(gap_ms));
        let next = sender.flying().next().expect("in flight");
        sender.arrive(&[next], false);
        if gap_ms > 0 {
            let sample = 1e6 / f64::from(gap_ms as u32);
            estimate = 19.0 / 21.0 * estimate + (sample + last) / 21.0;
            last = sample;
        }
    }
    sender.timeout();
    assert_eq!(sender.ssthresh(), (estimate * 0.105 / 1000.0).floor());
}

/// The authors' ns-2 code: a timeout in slow start divides ssthresh by a factor that grows by 1/4, up to 4.
#[test]
fn nr_timeouts_in_slow_start_count_more() {
    let mut sender = clocked("westwood-nr", &[("timeout_step", 1.0)], 10);
    sender.timeout();
    assert_eq!(sender.ssthresh(), 10.0);
    sender.send();
    sender.wait(GAP);
    let next = sender.flying().next().expect("in flight");
    sender.arrive(&[next], false);
    sender.fill();
    let before = sender.ssthresh();
    sender.timeout();
    assert_near(sender.ssthresh(), before / 2.0, 0.5);
}

/// Grieco and Mascolo 2004: ACKs that arrive in bunches do not inflate a sample of a whole round trip, as they do the
/// per-ACK samples.
#[test]
fn plus_is_not_misled_by_bunched_acks() {
    let pipe = |name: &str| {
        let mut sender = clocked(name, &[], 10);
        for _ in 0..100 {
            for spacing_us in [10, 10, 10, 10, 49_950] {
                let next = sender.flying().next().expect("in flight");
                sender.arrive(&[next], false);
                sender.fill();
                sender.wait(Dur::from_micros(spacing_us));
            }
        }
        sender.timeout();
        sender.ssthresh()
    };
    assert_near(pipe("westwood-plus"), 10.0, 1.0);
    assert!(pipe("westwood-nr") > 50.0);
}

/// ns-2's sender counts an RTT in ticks of its clock: RTTmin is the whole ticks that fit into it, at least one.
#[test]
fn nr_knows_rtt_min_in_ticks() {
    // Of 105 ms: all of it, 5 of 20, one of half a second. The estimate is a little under a segment every 10 ms.
    for (tick_s, pipe) in [(0.0, 10.0), (0.02, 9.0), (0.5, 49.0)] {
        let mut sender = clocked("westwood-nr", &[("rtt_min_tick_s", tick_s)], 10);
        sender.timeout();
        assert_eq!(sender.ssthresh(), pipe);
    }
}
