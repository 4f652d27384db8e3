//! BBR version 3 (draft-ietf-ccwg-bbr-06).
//!
//! ```text
//!     Startup ──1──► Drain ──2──► Down ──3──► Cruise ──4──► Refill ──5──► Up       from any, every 5 s: ProbeRtt, for 200 ms
//!                                 ▲ └────────4─────────────────▲           │       and a round; then on to Cruise, or to
//!                                 └───────────────────6────────────────────┘       Startup if the pipe was never full
//!
//!     1  three rounds without 25 % more (§5.3.1.2), or a round in which six ACKs or more mark losses, above 2 % (§5.3.1.3)
//!     2  in flight ≤ BDP, or three rounds later (§5.3.2)
//!     3  in flight ≤ BDP, and below the long-term bound with its headroom
//!     4  2 to 3 s since the cycle began, or as many rounds as Reno would need to grow back (§5.3.3.8)
//!     5  a round
//!     6  no more bandwidth is found, or the probe loses more than 2 % (§5.3.3.7)
//!
//!     max_bw   highest delivery rate of the last two probing cycles       bw   min(max_bw, short-term bound)
//!     min_rtt  lowest RTT of the last 10 s                                BDP  bw · min_rtt
//!
//!     pacing   0.99 · pacing_gain · bw (§5.6.2)
//!     cwnd     goes to cwnd_gain · BDP + what ACKs lately brought beyond bw, at most to the bounds in flight (§5.6.4)
//!
//!                pacing_gain     cwnd_gain (§5.6.1)   long-term bound (§5.6.4.7)   short-term bounds
//!     Startup    4·ln 2 = 2.77   2                    -                            not drawn in
//!     Drain      0.5             2                    -                            in force
//!     Down       0.9             2                    as it is                     in force
//!     Cruise     1               2                    less 15 %                    in force
//!     Refill     1               2                    as it is                     lifted
//!     Up         1.25            2.25                 rises by 1, 2, 4 … segments  lifted
//!     ProbeRtt   1               0.5                  less 15 %                    in force
//! ```
//!
//! This is version 1's model with bounds that losses set: a long-term bound on what may be in flight, learnt when a probe for
//! bandwidth loses more than 2 % in a round trip, and short-term bounds on rate and flight that hold until the next probe. So it
//! keeps its rate up to about 1 % of random loss and gives way beyond.
//!
//! Where the interface says less than the draft needs:
//! - Losses are judged once per ACK, by the in-flight and loss counts of the newest packet that the ACK acknowledges
//!   (§5.5.10.2 judges each lost packet by its own). So the excess in one ACK counts as one step.
//! - A discontiguous lost range (§5.3.1.3) is an ACK that marks losses.
//! - SACK is assumed: the exception for connections without it (§5.3.1.3, §5.5.10.2) is not made.
//! - On restart from idle, the flow need not count as application-limited (§5.4.1): it is enough that nothing is in flight.
//!
//! The draft leaves ECN open (§3.7), except that a mark must count as congestion. Here a mark counts as a loss: it tightens the
//! short-term bounds and ends a probe.

mod loss;
mod probe_bw;
mod probe_rtt;
mod startup;
mod window;

use super::control::{Episode, LowFlight, Pacing};
use super::model::{AckAggregation, FullPipe, LowRateSpan, MinRtt, Rounds, WindowedMax, delivery_rate};
use crate::cc::registry::{ControllerSpec, Param, Values};
use crate::cc::{Ack, Build, Cause, Congestion, CongestionControl};
use crate::rng::{Chance, Chances};
use airtcp_wire::{Rate, Time};
use loss::{LatestRound, ShortTerm, Undo};
use probe_bw::Probe;
use window::WindowLimit;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "bbr3",
    summary: "BBR version 3: like version 1, but bounded where probing loses more than 2 % in a round trip",
    source: "draft-ietf-ccwg-bbr-06",
    params: &[
        Param {
            name: "loss_threshold",
            default: 0.02,
            min: 0.0,
            max: 1.0,
            doc: "Loss rate that a probe may cause in a round trip (LossThresh, draft §2.8)",
        },
        Param {
            name: "beta",
            default: 0.7,
            min: 0.0,
            max: 1.0,
            doc: "Smallest share of itself to which a bound falls in a round trip (Beta, draft §2.8)",
        },
        Param {
            name: "headroom",
            default: 0.15,
            min: 0.0,
            max: 1.0,
            doc: "Share of the long-term bound left to others while cruising (Headroom, draft §2.8)",
        },
    ],
    ordered: &[],
    changes: &[],
    exemptions: &[],
    build,
};

fn build(build: &Build, values: &Values) -> Box<dyn CongestionControl> {
    let rules = Rules {
        loss_threshold: values.get("loss_threshold"),
        beta: values.get("beta"),
        headroom: values.get("headroom"),
    };
    Box::new(Bbr3::new(build, rules))
}

#[derive(Clone, Copy, Debug)]
struct Rules {
    loss_threshold: f64,
    beta: f64,
    headroom: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Startup,
    Drain { since_round: u64 },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt(LowFlight),
}

/// 4·ln 2: the least pacing gain that doubles the sending rate each round (draft §2.5).
const STARTUP_GAIN: f64 = 4.0 * std::f64::consts::LN_2;

impl State {
    /// Draft §5.6.1.
    fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_GAIN,
            State::Drain { .. } => 0.5,
            State::Down => 0.9,
            State::Up => 1.25,
            State::Cruise | State::Refill | State::ProbeRtt(_) => 1.0,
        }
    }

    /// Draft §5.6.1.
    fn cwnd_gain(self) -> f64 {
        match self {
            State::Up => 2.25,
            State::ProbeRtt(_) => 0.5,
            _ => 2.0,
        }
    }

    fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Is it sending more to see whether that fits? Losses do not count as less bandwidth then (draft §5.3.3.9).
    fn is_accelerating(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }

    fn is_probe_rtt(self) -> bool {
        matches!(self, State::ProbeRtt(_))
    }
}

struct Bbr3 {
    mss: u64,
    initial_window: u64,
    rules: Rules,
    cwnd: u64,
    state: State,
    chance: Chance,
    rounds: Rounds,
    /// Delivery rates in bits per second, by probing cycles: this one and the one before.
    max_bw: WindowedMax<2>,
    cycles: u64,
    /// Bytes in flight that a probe has found to be too many; `u64::MAX` if no probe has.
    long_term_inflight: u64,
    short_term: ShortTerm,
    latest: LatestRound,
    undo: Undo,
    probe: Probe,
    min_rtt: MinRtt,
    /// Is the current acceleration over?
    full_pipe: FullPipe,
    /// Has the pipe ever been full?
    is_pipe_known: bool,
    aggregation: AckAggregation,
    /// Over one round in Startup, and over ten afterwards.
    extra_acked: WindowedMax<10>,
    low_rate: LowRateSpan,
    window_limit: WindowLimit,
    pacing: Pacing,
    episode: Episode,
    is_idle_restart: bool,
    total_delivered: u64,
}

impl Bbr3 {
    fn new(build: &Build, rules: Rules) -> Bbr3 {
        Bbr3 {
            mss: build.mss,
            initial_window: build.initial_window,
            rules,
            cwnd: build.initial_window,
            state: State::Startup,
            chance: Chances::new(build.seed).chance("bbr3"),
            rounds: Rounds::default(),
            max_bw: WindowedMax::default(),
            cycles: 0,
            long_term_inflight: u64::MAX,
            short_term: ShortTerm::NONE,
            latest: LatestRound::default(),
            undo: Undo::default(),
            probe: Probe::default(),
            min_rtt: MinRtt::new(probe_rtt::PROBE_INTERVAL),
            full_pipe: FullPipe::default(),
            is_pipe_known: false,
            aggregation: AckAggregation::default(),
            extra_acked: WindowedMax::default(),
            low_rate: LowRateSpan::default(),
            window_limit: WindowLimit::default(),
            pacing: Pacing::new(build, STARTUP_GAIN),
            episode: Episode::default(),
            is_idle_restart: false,
            total_delivered: 0,
        }
    }

    fn max_bw(&self) -> Rate {
        Rate(self.max_bw.get())
    }

    fn bw(&self) -> Rate {
        self.max_bw().min(self.short_term.bw)
    }

    fn is_limited(&self, ack: &Ack) -> bool {
        ack.rate.is_app_limited || self.low_rate.covers(&ack.rate)
    }

    /// Takes a valid rate sample (draft §5.2.3).
    fn update_model(&mut self, ack: &Ack, rate: Rate) {
        self.latest.observe(ack, rate);
        self.update_max_bw(ack, rate);
        if self.latest.is_round_start {
            self.tighten_short_term();
        }
        let (bw, is_known) = (self.bw(), self.is_pipe_known);
        if self.rounds.is_start && !is_known {
            self.extra_acked = WindowedMax::default();
        }
        let excess = self.aggregation.excess(ack.now, ack.delivered, bw, self.cwnd);
        self.extra_acked.update(self.rounds.count, excess);
        self.look_for_full_pipe(ack, rate);
        self.check_startup(ack);
        self.check_drain(ack);
        self.advance_probe_bw(ack, rate);
        self.latest.advance(ack, rate);
    }

    /// Draft §5.5.5.
    fn update_max_bw(&mut self, ack: &Ack, rate: Rate) {
        self.rounds.update(&ack.rate);
        if self.rounds.is_start {
            self.probe.rounds_since_up += 1;
            self.window_limit.begin_round();
        }
        if rate >= self.max_bw() || !self.is_limited(ack) {
            self.max_bw.update(self.cycles, rate.0);
        }
    }

    fn restart_from_idle(&mut self, now: Time) {
        self.is_idle_restart = true;
        self.aggregation.restart(now);
        match self.state {
            State::ProbeRtt(probe) if probe.is_past(now) => self.leave_probe_rtt(now),
            state if state.is_probe_bw() => self.pacing.set(self.bw(), 1.0, self.is_pipe_known),
            _ => {}
        }
    }

    fn restore_window(&mut self) {
        self.cwnd = self.cwnd.max(self.episode.good_cwnd());
    }
}

impl CongestionControl for Bbr3 {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.total_delivered = ack.rate.total_delivered;
        self.pacing.observe_rtt(ack.srtt);
        self.rounds.is_start = false;
        self.judge_losses(ack);
        if let Some(rate) = delivery_rate(&ack.rate) {
            self.update_model(ack, rate);
        }
        self.update_min_rtt(ack);
        self.pacing.set(self.bw(), self.state.pacing_gain(), self.is_pipe_known);
        if self.episode.ends_with(ack) {
            self.restore_window();
        }
        self.update_window(ack);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.note_loss();
        match event.cause {
            Cause::Ecn => self.judge_mark(event.now, event.in_flight),
            Cause::Loss => self.episode.begin(event),
            Cause::Timeout => {
                self.episode.begin(event);
                // Draft §5.6.4.4: what is in flight, now that all is deemed lost, and one segment.
                self.cwnd = self.mss;
            }
        }
    }

    fn on_recovery_exit(&mut self, _now: Time) {
        if self.episode.finish() {
            self.restore_window();
        }
    }

    fn on_spurious(&mut self, _now: Time, _cwnd: u64, _ssthresh: u64) {
        self.episode.finish();
        self.restore_window();
        self.undo_losses();
    }

    fn on_sent(&mut self, _now: Time, _bytes: u64, in_flight: u64) {
        self.window_limit.observe(in_flight + self.mss > self.cwnd);
    }

    fn on_sent_alone(&mut self, now: Time) {
        if self.total_delivered > 0 && !self.episode.is_active() {
            self.restart_from_idle(now);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing.rate())
    }

    fn governs_recovery(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
