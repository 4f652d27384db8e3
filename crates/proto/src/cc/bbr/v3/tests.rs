use super::*;
use crate::cc::bbr::control::MIN_WINDOW_SEGMENTS;
use crate::cc::pipe::{MSS, Pipe, test_build};
use airtcp_wire::Dur;

const RATE: Rate = Rate(10_000_000);
const RTT: Dur = Dur::from_millis(40);
const RULES: Rules = Rules { loss_threshold: 0.02, beta: 0.7, headroom: 0.15 };

fn pipe_of(rate: Rate, rtt: Dur, queue: u64, loss: f64) -> Pipe<Bbr3> {
    Pipe::new(Box::new(Bbr3::new(&test_build(), RULES)), rate, rtt, queue, loss)
}

fn pipe(loss: f64) -> Pipe<Bbr3> {
    pipe_of(RATE, RTT, 100, loss)
}

/// The states that the pipe goes through, and when each begins.
fn states(pipe: &mut Pipe<Bbr3>, duration: Dur) -> Vec<(Time, State)> {
    let mut seen: Vec<(Time, State)> = Vec::new();
    pipe.run_watching(pipe.now + duration, |pipe| {
        let state = pipe.cc.state;
        if seen.last().is_none_or(|(_, last)| std::mem::discriminant(last) != std::mem::discriminant(&state))
        {
            seen.push((pipe.now, state));
        }
    });
    seen
}

/// Draft §A.1.
#[test]
fn startup_ends_on_a_plateau_with_the_bandwidth_known_within_2_percent() {
    let mut pipe = pipe_of(Rate(200_000_000), RTT, 2000, 0.0);
    let (mut rounds, mut rounds_at_plateau) = (Vec::new(), 0);
    let end = pipe.now + Dur::from_secs(2);
    pipe.run_watching(end, |pipe| {
        let bbr = &pipe.cc;
        if bbr.rounds.is_start && bbr.state == State::Startup {
            rounds.push(bbr.max_bw());
            rounds_at_plateau += u32::from(bbr.max_bw().0 > 190_000_000);
        }
    });
    let growing = rounds.windows(2).skip(3).filter(|pair| pair[0] < Rate(80_000_000));
    growing.for_each(|pair| assert!(pair[1].0 >= pair[0].0 * 18 / 10, "{} to {}", pair[0], pair[1]));
    assert!((2..=4).contains(&rounds_at_plateau), "{rounds_at_plateau}");
    assert!(pipe.cc.max_bw().0.abs_diff(200_000_000) < 4_000_000, "{}", pipe.cc.max_bw());
}

/// Draft §5.3.1.3: many losses in a round end Startup and bound what may be in flight.
#[test]
fn startup_ends_on_loss() {
    let mut pipe = pipe_of(Rate(100_000_000), RTT, 40, 0.0);
    let mut bound = None;
    let end = pipe.now + Dur::from_secs(1);
    pipe.run_watching(end, |pipe| {
        if bound.is_none() && pipe.cc.state != State::Startup {
            bound = Some((pipe.cc.full_pipe.is_full, pipe.cc.long_term_inflight, pipe.cc.undo.state));
        }
    });
    let (is_plateau, inflight, undo) = bound.expect("it ends");
    assert!(!is_plateau && undo == Some(State::Startup));
    let (bdp, queue) = (pipe.bdp(), 40 * MSS);
    assert!(inflight > bdp / 2 && inflight <= bdp + queue + 10 * MSS, "{inflight} of {bdp}");
}

/// Draft §A.3, and §5.3.3.9 for the order of what follows.
#[test]
fn drain_ends_at_the_bdp_and_the_cycle_turns() {
    let mut pipe = pipe(0.0);
    let names: Vec<String> = states(&mut pipe, Dur::from_secs(5))
        .into_iter()
        .map(|(_, state)| format!("{state:?}").split(' ').next().unwrap_or_default().to_owned())
        .collect();
    // Drain leaves nothing for the first Down to do.
    let expected = ["Startup", "Drain", "Cruise", "Refill", "Up", "Down", "Cruise"];
    assert_eq!(names[..expected.len()], expected);
    let gains = [
        State::Startup,
        State::Drain { since_round: 0 },
        State::Down,
        State::Cruise,
        State::Refill,
        State::Up,
    ]
    .map(State::pacing_gain);
    assert_eq!(gains, [STARTUP_GAIN, 0.5, 0.9, 1.0, 1.0, 1.25]);
}

#[test]
fn drain_leaves_no_more_than_the_bdp_in_flight() {
    let mut pipe = pipe(0.0);
    let mut left_with = None;
    let mut was_draining = false;
    let end = pipe.now + Dur::from_secs(3);
    pipe.run_watching(end, |pipe| {
        let is_draining = matches!(pipe.cc.state, State::Drain { .. });
        if was_draining && !is_draining {
            left_with = Some((pipe.in_flight(), pipe.cc.inflight(pipe.cc.bw())));
        }
        was_draining = is_draining;
    });
    let (in_flight, bdp) = left_with.expect("it ends");
    assert!(in_flight <= bdp);
}

/// Draft §5.3.3.8.2: after as many round trips as there are segments in flight, or 2 to 3 seconds; later
/// where ProbeRTT comes between.
#[test]
fn probes_for_bandwidth_at_renos_pace_or_every_few_seconds() {
    let least_gap = |rtt_ms| {
        let mut pipe = pipe_of(RATE, Dur::from_millis(rtt_ms), 100, 0.0);
        pipe.run(Dur::from_secs(3));
        let seen = states(&mut pipe, Dur::from_secs(60));
        let starts: Vec<Time> =
            seen.iter().filter(|(_, state)| *state == State::Refill).map(|(at, _)| *at).collect();
        starts.windows(2).map(|pair| pair[1].since(pair[0])).min().expect("it probes")
    };
    // 11 segments: 11 round trips, and a few for the probe.
    let short = least_gap(10);
    assert!(short > Dur::from_millis(11 * 11) && short < Dur::from_millis(18 * 13), "{short}");
    let long = least_gap(100);
    assert!(long > Dur::from_secs(2) && long < Dur::from_millis(4500), "{long}");
}

/// Draft §A.10.
#[test]
fn probe_rtt_comes_every_five_seconds_and_halves_what_is_in_flight_for_200_ms() {
    let mut pipe = pipe(0.0);
    pipe.run(Dur::from_secs(3));
    pipe.rtt = RTT + Dur::from_millis(20);
    let end = pipe.now + Dur::from_secs(14);
    let (mut spells, mut low_since): (Vec<(Time, Time)>, Option<Time>) = (Vec::new(), None);
    let mut began = None;
    pipe.run_watching(end, |pipe| {
        let bbr = &pipe.cc;
        match (bbr.state.is_probe_rtt(), began) {
            (true, None) => began = Some(pipe.now),
            (false, Some(at)) => {
                spells.push((at, low_since.take().expect("it comes down first")));
                let held = pipe.now.since(spells[spells.len() - 1].1);
                assert!(
                    held > Dur::from_millis(200) && held < Dur::from_millis(200) + pipe.rtt * 2,
                    "{held}"
                );
                began = None;
            }
            _ => {}
        }
        if bbr.state.is_probe_rtt() {
            assert!(bbr.cwnd() <= bbr.bdp(bbr.bw(), 0.5).max(MIN_WINDOW_SEGMENTS * MSS));
            if pipe.in_flight() <= bbr.probe_rtt_window() {
                low_since.get_or_insert(pipe.now);
            }
        }
    });
    assert!(spells.len() >= 2, "{spells:?}");
    let apart = spells[1].0.since(spells[0].0);
    assert!(apart > Dur::from_secs(5) && apart < Dur::from_secs(6), "{apart}");
    assert!(pipe.cc.min_rtt.value() >= pipe.rtt, "the old minimum has expired");
    assert!(pipe.cc.max_bw().0 > RATE.0 * 95 / 100, "what was sent slowly does not count");
}

/// Draft §5.5.10.3: rate and flight fall by no more than 30 % a round, and not below what is delivered.
#[test]
fn losses_while_cruising_draw_the_short_term_bounds_in() {
    let mut bbr = Bbr3::new(&test_build(), RULES);
    bbr.max_bw.update(0, 10_000_000);
    (bbr.state, bbr.is_pipe_known, bbr.cwnd) = (State::Cruise, true, 100_000);
    bbr.note_loss();
    bbr.tighten_short_term();
    assert_eq!(bbr.short_term, ShortTerm { bw: Rate(7_000_000), inflight: 70_000 });
    bbr.latest.inflight = 60_000;
    bbr.tighten_short_term();
    assert_eq!(bbr.short_term, ShortTerm { bw: Rate(4_900_000), inflight: 60_000 });
    bbr.state = State::Up;
    bbr.tighten_short_term();
    assert_eq!(bbr.short_term.inflight, 60_000, "not while probing");
}

/// Draft §5.5.11.2.
#[test]
fn spurious_losses_are_taken_back() {
    let mut pipe = pipe(0.0);
    pipe.run(Dur::from_secs(3));
    let bbr = &mut *pipe.cc;
    let cwnd = bbr.cwnd();
    bbr.state = State::Up;
    bbr.probe.is_sample = true;
    let event = Congestion {
        now: pipe.now,
        cause: Cause::Timeout,
        is_repeated_timeout: false,
        survivors: 0,
        total_lost: 0,
        flight_size: cwnd,
        in_flight: 0,
        srtt: RTT,
        min_rtt: RTT,
        una: 0,
        nxt: cwnd,
    };
    bbr.on_congestion(&event);
    assert_eq!(bbr.cwnd(), MSS);
    bbr.judge_mark(pipe.now, 20_000);
    assert!(bbr.state == State::Down && bbr.long_term_inflight < u64::MAX);
    bbr.on_spurious(pipe.now, MSS, MSS);
    assert_eq!((bbr.cwnd(), bbr.state, bbr.long_term_inflight), (cwnd, State::Refill, u64::MAX));
}

/// Draft §5.5.10.2: a probe that overflows the buffer is bounded at what fitted.
#[test]
fn a_shallow_buffer_bounds_the_flight_and_keeps_loss_low() {
    let mut pipe = pipe_of(Rate(50_000_000), RTT, 20, 0.0);
    pipe.run(Dur::from_secs(10));
    let (drops, delivered) = (pipe.drops, pipe.delivered);
    let share = pipe.utilisation(Dur::from_secs(60));
    let loss = (pipe.drops - drops) as f64 * MSS as f64 / (pipe.delivered - delivered) as f64;
    assert!(pipe.cc.long_term_inflight <= pipe.bdp() + 40 * MSS, "{}", pipe.cc.long_term_inflight);
    assert!(share > 0.8 && loss < 0.01, "{share} {loss}");
}

#[test]
fn the_parameters_are_those_of_the_draft() {
    let defaults = SPEC.params.iter().map(|param| param.default);
    assert!(defaults.eq([RULES.loss_threshold, RULES.beta, RULES.headroom]));
}

/// Where a single lost packet is more than 2 % of a flight (under 50 packets), 1 % of random loss costs more than
/// the draft's aim (§3.1): each probe ends early.
#[test]
fn holds_its_rate_up_to_1_percent_of_random_loss_and_gives_way_beyond() {
    let utilisation = |rtt_ms, loss| {
        let mut pipe = pipe_of(RATE, Dur::from_millis(rtt_ms), 50, loss);
        pipe.run(Dur::from_secs(2));
        let share = pipe.utilisation(Dur::from_secs(60));
        println!(
            "v3 loss {loss} rtt {rtt_ms} ms: {share:.4} timeouts {} drops {}",
            pipe.timeouts, pipe.drops
        );
        share
    };
    for (rtt_ms, floor_at_1_percent) in [(10, 0.9), (40, 0.7), (100, 0.8)] {
        assert!(utilisation(rtt_ms, 0.0) > 0.95);
        assert!(utilisation(rtt_ms, 0.005) > 0.85);
        assert!(utilisation(rtt_ms, 0.01) > floor_at_1_percent);
        assert!(utilisation(rtt_ms, 0.05) < 0.7);
    }
}
