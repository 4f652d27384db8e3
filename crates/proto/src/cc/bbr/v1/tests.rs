use super::*;
use crate::cc::bbr::control::MIN_WINDOW_SEGMENTS;
use crate::cc::pipe::{MSS, Pipe, test_build};
use airtcp_wire::Dur;

const RATE: Rate = Rate(10_000_000);
const RTT: Dur = Dur::from_millis(40);

fn pipe(loss: f64) -> Pipe<Bbr1> {
    Pipe::new(Box::new(Bbr1::new(&test_build())), RATE, RTT, 100, loss)
}

fn is_probe_bw(bbr: &Bbr1) -> bool {
    matches!(bbr.phase, Phase::ProbeBw(_))
}

#[test]
fn startup_doubles_the_rate_each_round_and_leaves_on_a_plateau() {
    let mut pipe = Pipe::new(Box::new(Bbr1::new(&test_build())), Rate(200_000_000), RTT, 2000, 0.0);
    let (mut rounds, mut last) = (Vec::new(), Phase::Startup);
    let end = pipe.now + Dur::from_secs(2);
    pipe.run_watching(end, |pipe| {
        let bbr = &pipe.cc;
        if bbr.rounds.is_start && bbr.phase == Phase::Startup {
            rounds.push(bbr.bw());
        }
        assert!(bbr.phase != Phase::Startup || last == Phase::Startup, "never back");
        last = bbr.phase;
    });
    let growing = rounds.windows(2).skip(3).filter(|pair| pair[0] < Rate(80_000_000));
    growing.for_each(|pair| assert!(pair[1].0 >= pair[0].0 * 18 / 10, "{} to {}", pair[0], pair[1]));
    let plateau = rounds.iter().filter(|bw| bw.0 > 190_000_000).count();
    assert!((3..=5).contains(&plateau), "{plateau} rounds at the full rate");
    assert!(is_probe_bw(&pipe.cc));
}

#[test]
fn drain_ends_when_no_more_than_the_bdp_is_in_flight() {
    let mut pipe = pipe(0.0);
    let (mut previous, mut seen) = (Phase::Startup, Vec::new());
    let end = pipe.now + Dur::from_secs(3);
    pipe.run_watching(end, |pipe| {
        let phase = pipe.cc.phase;
        if previous == Phase::Drain && phase != Phase::Drain {
            seen.push(pipe.in_flight() <= pipe.cc.inflight(1.0));
        }
        if previous == Phase::Startup && phase == Phase::Drain {
            assert!(pipe.in_flight() > 3 * pipe.bdp() / 2, "startup leaves a queue");
        }
        previous = phase;
    });
    assert_eq!(seen, [true]);
}

#[test]
fn the_cycle_probes_then_drains_then_cruises_for_six_phases() {
    let mut pipe = pipe(0.0);
    pipe.run(Dur::from_secs(3));
    let mut gains: Vec<f64> = Vec::new();
    let end = pipe.now + Dur::from_secs(1);
    let mut last = None;
    pipe.run_watching(end, |pipe| {
        if last != Some(pipe.cc.phase) {
            gains.push(pipe.cc.pacing_gain());
            last = Some(pipe.cc.phase);
        }
    });
    let first = gains.iter().position(|&gain| gain == 1.25).expect("probes within a second");
    assert_eq!(gains[first..first + 9], [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25]);
}

#[test]
fn the_first_phase_is_drawn_and_is_never_the_slow_one() {
    let first = |seed| {
        let mut bbr = Bbr1::new(&Build { seed, ..test_build() });
        bbr.enter_probe_bw(Time::ZERO);
        let Phase::ProbeBw(cycle) = bbr.phase else { panic!() };
        (cycle.pacing_gain(), format!("{cycle:?}"))
    };
    let drawn: std::collections::BTreeSet<String> = (0..100).map(|seed| first(seed).1).collect();
    assert_eq!(drawn.len(), 7);
    assert!((0..100).all(|seed| first(seed).0 != 0.75));
    assert_eq!(first(3), first(3));
}

/// A standing queue from the fifth second on hides the propagation delay.
fn pipe_with_rising_rtt() -> Pipe<Bbr1> {
    let mut pipe = pipe(0.0);
    pipe.run(Dur::from_secs(5));
    pipe.rtt = RTT + Dur::from_millis(20);
    pipe
}

#[test]
fn probe_rtt_comes_ten_seconds_after_the_last_minimum_and_holds_four_packets_for_200_ms() {
    let mut pipe = pipe_with_rising_rtt();
    let (mut minimum_at, mut entered, mut low_since, mut left) = (pipe.now, None, None, None);
    let end = pipe.now + Dur::from_secs(12);
    let mut last_min = pipe.cc.min_rtt.value();
    pipe.run_watching(end, |pipe| {
        let is_probing = matches!(pipe.cc.phase, Phase::ProbeRtt(_));
        if entered.is_none() && pipe.cc.min_rtt.value() < last_min {
            (minimum_at, last_min) = (pipe.now, pipe.cc.min_rtt.value());
        }
        match (is_probing, entered, left) {
            (true, None, _) => entered = Some(pipe.now),
            (false, Some(_), None) => left = Some(pipe.now),
            _ => {}
        }
        if is_probing {
            assert!(pipe.cc.cwnd() <= MIN_WINDOW_SEGMENTS * MSS);
            if pipe.in_flight() <= MIN_WINDOW_SEGMENTS * MSS {
                low_since.get_or_insert(pipe.now);
            }
        }
    });
    let (entered, low_since, left) = (entered.unwrap(), low_since.unwrap(), left.expect("it ends"));
    assert!(entered.since(minimum_at) <= Dur::from_secs(11), "{minimum_at} {entered}");
    let held = left.since(low_since);
    assert!(held > Dur::from_millis(200) && held < Dur::from_millis(200) + pipe.rtt * 2, "{held}");
    assert_eq!(pipe.cc.min_rtt.value(), pipe.rtt + RATE.time_for(MSS), "the new propagation delay");
    assert!(is_probe_bw(&pipe.cc) && pipe.cc.cwnd() > pipe.bdp(), "the window is restored");
}

#[test]
fn the_bandwidth_estimate_outlives_probe_rtt() {
    let mut pipe = pipe_with_rising_rtt();
    let end = pipe.now + Dur::from_secs(12);
    pipe.run_watching(end, |pipe| {
        assert!(pipe.cc.bw().0 > RATE.0 * 95 / 100, "{} in {:?}", pipe.cc.bw(), pipe.cc.phase);
    });
}

#[test]
fn random_loss_leaves_the_bandwidth_estimate() {
    let mut pipe = pipe(0.1);
    pipe.run(Dur::from_secs(5));
    let end = pipe.now + Dur::from_secs(30);
    let mut estimates: Vec<u64> = Vec::new();
    pipe.run_watching(end, |pipe| estimates.push(pipe.cc.bw().0));
    estimates.sort_unstable();
    let quantile = |share: f64| estimates[(estimates.len() as f64 * share) as usize] as f64 / RATE.0 as f64;
    println!(
        "bw estimate: least {:.3} median {:.3} most {:.3}",
        quantile(0.0),
        quantile(0.5),
        quantile(0.999)
    );
    // A sample taken while cruising lacks the tenth that never arrives.
    assert!(quantile(0.5) > 0.9 && quantile(0.0) > 0.7 && quantile(0.999) < 1.02);
}

#[test]
fn recovery_begins_with_packet_conservation_and_ends_with_the_window_before_it() {
    let mut pipe = pipe(0.0);
    pipe.run(Dur::from_secs(3));
    let (before, in_flight) = (pipe.cc.cwnd(), pipe.in_flight());
    let event = Congestion {
        now: pipe.now,
        cause: Cause::Loss,
        is_repeated_timeout: false,
        survivors: 0,
        total_lost: 0,
        flight_size: in_flight,
        in_flight: in_flight - MSS,
        srtt: RTT,
        min_rtt: RTT,
        una: 0,
        nxt: 0,
    };
    pipe.cc.on_congestion(&event);
    assert_eq!(pipe.cc.cwnd(), in_flight, "one leaves, one enters");
    pipe.cc.on_congestion(&Congestion { in_flight: MSS, ..event });
    assert_eq!(pipe.cc.cwnd(), in_flight, "a recovery that follows at once is the same one");
    pipe.run(RTT);
    assert!(pipe.cc.cwnd().abs_diff(before) <= 2 * MSS, "{} {before}", pipe.cc.cwnd());

    let before = pipe.cc.cwnd();
    pipe.cc.on_congestion(&Congestion { cause: Cause::Timeout, in_flight: 0, ..event });
    assert_eq!(pipe.cc.cwnd(), MSS);
    pipe.cc.on_spurious(pipe.now, MSS, MSS);
    assert_eq!(pipe.cc.cwnd(), before);
    assert!(pipe.cc.governs_recovery());
}

/// At 100 ms and a tenth lost the Linux kernel, too, is at 0.88 of what the loss leaves. On this pipe, which has no
/// cumulative acknowledgments, recoveries follow each other more closely than on a path.
#[test]
fn random_loss_of_up_to_a_tenth_costs_little_more_than_itself() {
    for (rtt_ms, floor) in [(10, 0.95), (40, 0.86), (100, 0.84)] {
        for loss in [0.0, 0.01, 0.05, 0.10] {
            let cc = Box::new(Bbr1::new(&test_build()));
            let mut pipe = Pipe::new(cc, RATE, Dur::from_millis(rtt_ms), 50, loss);
            pipe.run(Dur::from_secs(2));
            let share = pipe.utilisation(Dur::from_secs(60));
            println!(
                "v1 loss {loss} rtt {rtt_ms} ms: {share:.4} timeouts {} drops {}",
                pipe.timeouts, pipe.drops
            );
            assert!(share >= floor * (1.0 - loss), "loss {loss}, {rtt_ms} ms: {share}");
        }
    }
}

/// Share of the time in which the long-term rate is used, and its greatest distance from `expected`.
fn long_term(mut pipe: Pipe<Bbr1>, expected: Rate) -> (f64, f64) {
    pipe.run(Dur::from_secs(5));
    let (mut used, mut acks, mut farthest) = (0, 0, 0.0_f64);
    let end = pipe.now + Dur::from_secs(60);
    pipe.run_watching(end, |pipe| {
        acks += 1;
        if let Some(rate) = pipe.cc.long_term.rate() {
            used += 1;
            farthest = farthest.max((rate.0 as f64 / expected.0 as f64 - 1.0).abs());
            assert!(!is_probe_bw(&pipe.cc) || pipe.cc.pacing_gain() == 1.0);
        }
    });
    (f64::from(used) / f64::from(acks), farthest)
}

#[test]
fn where_a_fourth_is_lost_the_average_rate_replaces_the_highest() {
    let (share, _) = long_term(pipe(0.25), RATE);
    assert!(share > 0.5, "{share}");
    let (share, _) = long_term(pipe(0.10), RATE);
    assert_eq!(share, 0.0, "a tenth is far from the threshold");
}

#[test]
fn behind_a_policer_the_rate_becomes_the_policers() {
    let mut pipe = pipe(0.0);
    pipe.is_policer = true;
    let (share, farthest) = long_term(pipe, RATE);
    println!("used {share:.2} of the time, off by up to {farthest:.3}");
    assert!(share > 0.3 && farthest < 0.1, "{share} {farthest}");
}

#[test]
fn a_spurious_episode_and_a_timeout_reach_the_sampling() {
    let mut pipe = pipe(0.25);
    while pipe.cc.long_term.rate().is_none() {
        pipe.run(RTT);
    }
    pipe.cc.on_spurious(pipe.now, MSS, MSS);
    assert_eq!(pipe.cc.long_term.rate(), None);
    let event = Congestion {
        now: pipe.now,
        cause: Cause::Timeout,
        is_repeated_timeout: false,
        survivors: 0,
        total_lost: pipe.cc.totals.lost + 7 * MSS,
        flight_size: 7 * MSS,
        in_flight: 0,
        srtt: RTT,
        min_rtt: RTT,
        una: 0,
        nxt: 7 * MSS,
    };
    let lost = pipe.cc.totals.lost;
    pipe.cc.on_congestion(&event);
    assert_eq!(pipe.cc.totals.lost, lost + 7 * MSS, "what it declares lost counts at once");
}

#[test]
fn after_a_blackout_the_rate_comes_back() {
    let mut pipe = pipe(0.0);
    pipe.run(Dur::from_secs(3));
    pipe.loss = 1.0;
    pipe.run(Dur::from_secs(4));
    assert!(pipe.timeouts >= 3);
    pipe.loss = 0.0;
    pipe.run(Dur::from_secs(2));
    assert!(pipe.utilisation(Dur::from_secs(5)) > 0.9);
}
