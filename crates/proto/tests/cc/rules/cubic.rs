use super::{RTT, assert_near, avoider, avoiding};
use crate::cc::model::Sender;
use airtcp_proto::cc::cubic::CubicRules;
use airtcp_proto::cc::{Build, WindowRules};
use airtcp_wire::{Dur, Time};

/// A sender in the avoidance stage that follows a loss at `w_max` segments, and when the stage began.
fn after_loss(w_max: u64, rtt: Dur, params: &[(&str, f64)]) -> (Sender, Time) {
    after_loss_of(Sender::new("cubic", params, &avoiding(w_max)), rtt)
}

fn after_loss_of(mut sender: Sender, rtt: Dur) -> (Sender, Time) {
    sender.lose(rtt);
    sender.repair(rtt);
    sender.round(rtt);
    let began = sender.now - rtt;
    (sender, began)
}

fn run_until(sender: &mut Sender, time: Time, rtt: Dur) {
    while sender.now < time {
        sender.round(rtt);
    }
}

/// RFC 9438 §4.6: β_cubic = 0.7.
#[test]
fn loss_leaves_seven_tenths() {
    let mut sender = avoider("cubic", 100);
    sender.lose(RTT);
    assert_eq!((sender.cc.cwnd(), sender.cc.ssthresh()), (70_000, 70_000));
}

/// RFC 9438 §4.2 Figures 1 and 2: K = ∛((W_max − cwnd_epoch)/C) after the loss the window is back at W_max, and between
/// it is W_max − C·(K − t)³.
#[test]
fn window_follows_the_cubic_function() {
    let w_max = 1000.0;
    let k = libm::cbrt(0.3 * w_max / 0.4);
    for part in [0.25, 0.5, 0.75, 1.0, 1.25] {
        let (mut sender, began) = after_loss(1000, RTT, &[]);
        run_until(&mut sender, began + Dur::from_secs_f64(part * k), RTT);
        // The window is set for one round trip ahead, and `now` is up to one past the instant.
        let t = sender.now.since(began).as_secs_f64();
        let (early, late) = (t - k - 0.1, t - k + 0.2);
        let expected = |x: f64| 0.4 * x * x * x + w_max;
        let cwnd = sender.cwnd();
        assert!(
            (expected(early) - 1.0..=expected(late) + 1.0).contains(&cwnd),
            "at {t} s: {cwnd}, not {} to {}",
            expected(early),
            expected(late)
        );
    }
}

/// RFC 9438 §4.3: on a short path it grows as an AIMD of β 0.7 and α 9/17 would, and as Reno from the prior window on.
#[test]
fn reno_friendly_region() {
    let rtt = Dur::from_millis(10);
    let (mut sender, _) = after_loss(40, rtt, &[]);
    let from = sender.cwnd();
    for _ in 0..10 {
        sender.round(rtt);
    }
    assert_near(sender.cwnd() - from, 10.0 * 9.0 / 17.0, 0.3);
    while sender.cwnd() < 40.0 {
        sender.round(rtt);
    }
    let from = sender.cwnd();
    for _ in 0..5 {
        sender.round(rtt);
    }
    assert_near(sender.cwnd() - from, 5.0, 0.3);
}

/// As [`after_loss`], by the rules of Linux.
fn after_loss_on_linux(w_max: u64, rtt: Dur) -> Sender {
    let build = Build { cubic: CubicRules::Linux, windows: WindowRules::Linux, ..avoiding(w_max) };
    after_loss_of(Sender::new("cubic", &[], &build), rtt).0
}

fn growth_in(sender: &mut Sender, rounds: u32, rtt: Dur) -> f64 {
    let from = sender.cwnd();
    (0..rounds).for_each(|_| sender.round(rtt));
    sender.cwnd() - from
}

/// Linux keeps α = 8/15 beyond the prior window, and its windows whole.
#[test]
fn linuxs_reno_friendly_region() {
    let rtt = Dur::from_millis(40);
    let mut sender = after_loss_on_linux(11, rtt);
    assert_eq!(sender.cc.ssthresh(), 7_000, "7.7 rounded down");
    assert_near(growth_in(&mut sender, 20, rtt), 20.0 * 8.0 / 15.0, 2.0);
}

/// Linux compares its windows when a stage begins and every 31 ms from then on: in round trips of 10 ms the first segment
/// comes in the fifth of them, where the RFC's rules have it in the second.
#[test]
fn linux_looks_every_31_ms() {
    let rtt = Dur::from_millis(10);
    let rounds_to_growth = |mut sender: Sender| {
        let from = sender.cwnd();
        (1..).find(|_| {
            sender.round(rtt);
            sender.cwnd() >= from + 1.0
        })
    };
    assert_eq!(rounds_to_growth(after_loss_on_linux(40, rtt)), Some(5));
    assert_eq!(rounds_to_growth(after_loss(40, rtt, &[]).0), Some(2));
}

/// Linux without a maximum of its own: 5 % a round trip at least; RFC 9438 §4.10 has t³ there.
#[test]
fn linux_after_a_timeout_grows_by_a_twentieth() {
    let build = Build { cubic: CubicRules::Linux, windows: WindowRules::Linux, ..avoiding(1000) };
    let mut sender = Sender::new("cubic", &[], &build);
    sender.fill();
    sender.timeout();
    while sender.cc.cwnd() < sender.cc.ssthresh() {
        sender.round(RTT);
    }
    assert_near(sender.cwnd(), 700.0, 40.0);
    let from = sender.cwnd();
    assert_near((from + growth_in(&mut sender, 10, RTT)) / from, f64::powi(1.05, 10), 0.02);
}

/// RFC 9438 §4.7: a loss below the last maximum makes the plateau lower than the window was.
#[test]
fn fast_convergence_lowers_the_plateau() {
    // Where the window stays for a while: the plateau.
    let plateau = |fast_convergence: f64| {
        let (mut sender, _) = after_loss(1000, RTT, &[("fast_convergence", fast_convergence)]);
        sender.lose(RTT);
        let lost_at = sender.cc.ssthresh() as f64 / 700.0;
        sender.repair(RTT);
        let (mut slowest, mut at) = (f64::MAX, 0.0);
        for _ in 0..150 {
            let before = sender.cwnd();
            sender.round(RTT);
            if sender.cwnd() - before < slowest {
                (slowest, at) = (sender.cwnd() - before, sender.cwnd());
            }
        }
        at / lost_at
    };
    assert_near(plateau(1.0), 0.85, 0.02);
    assert_near(plateau(0.0), 1.0, 0.02);
}

/// RFC 9438 §4.8: after a timeout the stage begins on its own plateau: K = 0, W_max = cwnd.
#[test]
fn stage_after_a_timeout_begins_on_the_plateau() {
    let mut sender = avoider("cubic", 1000);
    sender.fill();
    sender.timeout();
    while sender.cc.cwnd() < sender.cc.ssthresh() {
        sender.round(RTT);
    }
    let (began, from) = (sender.now, sender.cwnd());
    assert_near(from, 700.0, 2.0);
    run_until(&mut sender, began + Dur::from_secs(3), RTT);
    // C·t³ = 10.8; towards the old W_max it would have gone up by 200.
    assert_near(sender.cwnd() - from, 0.4 * 3.1 * 3.1 * 3.1, 4.0);
}

/// RFC 9438 §4.2: a target above 1.5 times the window is not pursued.
#[test]
fn growth_is_at_most_half_a_window_a_round_trip() {
    let rtt = Dur::from_secs(2);
    let (mut sender, _) = after_loss(200, rtt, &[("c", 100.0)]);
    for _ in 0..4 {
        let before = sender.cwnd();
        sender.round(rtt);
        assert!(sender.cwnd() <= 1.66 * before, "{before} to {}", sender.cwnd());
    }
}

/// RFC 9438 §4.2, §5.8: time in which the application limits the sender does not count.
#[test]
fn idle_time_does_not_count() {
    let (mut busy, began) = after_loss(1000, RTT, &[]);
    run_until(&mut busy, began + Dur::from_secs(3), RTT);
    let (mut idle, began) = after_loss(1000, RTT, &[]);
    run_until(&mut idle, began + Dur::from_secs(1), RTT);
    let window: Vec<u64> = idle.flying().collect();
    idle.wait(RTT);
    window.iter().for_each(|&offset| idle.arrive(&[offset], false));
    assert!(idle.is_idle());
    idle.wait(Dur::from_secs(60));
    let until = idle.now + Dur::from_secs(2);
    run_until(&mut idle, until, RTT);
    assert_near(idle.cwnd(), busy.cwnd(), 5.0);
}

/// RFC 9438 §4.9: W_max, K and the epoch are put back too, and growth continues as if nothing had been.
#[test]
fn spurious_loss_is_forgotten() {
    let (mut undisturbed, began) = after_loss(1000, RTT, &[]);
    run_until(&mut undisturbed, began + Dur::from_secs(2), RTT);
    let (mut disturbed, began) = after_loss(1000, RTT, &[]);
    run_until(&mut disturbed, began + Dur::from_secs(1), RTT);
    disturbed.lose(RTT);
    disturbed.repair(RTT);
    disturbed.spurious();
    run_until(&mut disturbed, began + Dur::from_secs(2), RTT);
    assert_near(disturbed.cwnd(), undisturbed.cwnd(), 3.0);
}

/// RFC 9438 §4.2, §5.8: nor does time in which a little is sent, but not a window's worth.
#[test]
fn time_limited_by_the_application_does_not_count() {
    let (mut busy, began) = after_loss(1000, RTT, &[]);
    run_until(&mut busy, began + Dur::from_secs(3), RTT);
    let (mut slack, began) = after_loss(1000, RTT, &[]);
    run_until(&mut slack, began + Dur::from_secs(1), RTT);
    for _ in 0..200 {
        let window: Vec<u64> = slack.flying().collect();
        slack.wait(RTT);
        slack.send();
        window.iter().for_each(|&offset| slack.arrive(&[offset], false));
    }
    let until = slack.now + Dur::from_secs(2);
    run_until(&mut slack, until, RTT);
    assert_near(slack.cwnd(), busy.cwnd(), 5.0);
}
