//! BBR version 1, as deployed in Linux (draft-cardwell-iccrg-bbr-congestion-control-00, and what Linux has added:
//! compensation for ACK aggregation, and a long-term rate where it takes losses for a policer's).
//!
//! ```text
//!     Startup ── three rounds without 25 % more ──► Drain ── in flight ≤ BDP ──► ProbeBw ◄─┐ eight phases,
//!        ▲                                                                       │  ▲ └────┘ over and over
//!        │                                 min_rtt is 10 s old (from any state)  ▼  │
//!        └───────── if the pipe has never been full ──────────────────────── ProbeRtt, for 200 ms and a round
//!
//!     bw       highest delivery rate of the last ten rounds, of ACKs that the application did not hold down
//!     min_rtt  lowest RTT of the last 10 s
//!     BDP      bw · min_rtt
//!
//!     pacing   0.99 · pacing_gain · bw; until the pipe has been full, it only rises
//!     cwnd     goes, by what is delivered, to cwnd_gain · BDP + three quanta + what ACKs lately brought beyond bw
//!
//!                pacing_gain                        cwnd_gain
//!     Startup    2/ln 2 = 2.89                      2.89         doubles the rate each round
//!     Drain      ln 2/2 = 0.35                      2.89         takes away the queue that this has built
//!     ProbeBw    5/4, 3/4, then six times 1         2            each for about a min_rtt (§4.3.4)
//!     ProbeRtt   1                                  4 segments   empties the queue to see the path alone (§4.3.5)
//! ```
//!
//! [`window`] has cwnd (§4.2.3), [`control`](super::control) the pacing rate, [`model`](super::model) the estimators.
//!
//! Losses do not enter the model, unless more than a fifth of what is delivered is lost: then [`long_term`] replaces bw and the cycle.
//! In the first round of a recovery the window follows what is delivered, after a timeout it starts over from one segment, and after
//! the episode it is what it was before. ECN is ignored.
//!
//! Left out: the allowance for packets that the pacer has yet to release, of which there are none in flight here; and the flag of a
//! delayed ACK, which keeps Linux from taking its RTT for a new minimum.

mod long_term;
mod probe_bw;
mod probe_rtt;
mod window;

use super::control::{Episode, LowFlight, Pacing};
use super::model::{
    AckAggregation, FullPipe, LowRateSpan, MIN_RTT_WINDOW, MinRtt, Rounds, WindowedMax, delivery_rate,
};
use crate::cc::registry::ControllerSpec;
use crate::cc::{Ack, Build, Cause, Congestion, CongestionControl};
use crate::rng::{Chance, Chances};
use airtcp_wire::{Rate, Time};
use long_term::{Event, LongTerm, Totals};
use probe_bw::Cycle;
use window::{Target, TenRounds};

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "bbr",
    summary: "BBR version 1 as in Linux: paced at the highest recent delivery rate, insensitive to random loss",
    source: "draft-cardwell-iccrg-bbr-congestion-control-00",
    params: &[],
    ordered: &[],
    changes: &[],
    exemptions: &[],
    build: |build, _| Box::new(Bbr1::new(build)),
};

/// 2/ln 2: the least gain that doubles the sending rate each round trip.
const STARTUP_GAIN: f64 = 2.0 / std::f64::consts::LN_2;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    Startup,
    Drain,
    ProbeBw(Cycle),
    ProbeRtt(LowFlight),
}

struct Bbr1 {
    mss: u64,
    initial_window: u64,
    cwnd: u64,
    phase: Phase,
    chance: Chance,
    /// Delivery rates in bits per second, by rounds. Linux forgets those more than ten rounds old.
    max_bw: WindowedMax<11>,
    long_term: LongTerm,
    min_rtt: MinRtt,
    rounds: Rounds,
    full_pipe: FullPipe,
    aggregation: AckAggregation,
    extra_acked: TenRounds,
    target: Target,
    low_rate: LowRateSpan,
    pacing: Pacing,
    episode: Episode,
    /// In the first round of a recovery: cwnd follows what is in flight.
    is_conserving: bool,
    is_idle_restart: bool,
    totals: Totals,
    /// Bytes marked lost with this ACK. What a timer marks counts in `totals` alone.
    newly_lost: u64,
}

impl Bbr1 {
    fn new(build: &Build) -> Bbr1 {
        Bbr1 {
            mss: build.mss,
            initial_window: build.initial_window,
            cwnd: build.initial_window,
            phase: Phase::Startup,
            chance: Chances::new(build.seed).chance("bbr"),
            max_bw: WindowedMax::default(),
            long_term: LongTerm::default(),
            min_rtt: MinRtt::new(MIN_RTT_WINDOW),
            rounds: Rounds::default(),
            full_pipe: FullPipe::default(),
            aggregation: AckAggregation::default(),
            extra_acked: TenRounds::default(),
            target: Target::default(),
            low_rate: LowRateSpan::default(),
            pacing: Pacing::new(build, STARTUP_GAIN),
            episode: Episode::default(),
            is_conserving: false,
            is_idle_restart: false,
            totals: Totals::default(),
            newly_lost: 0,
        }
    }

    /// The rate at which to send.
    fn bw(&self) -> Rate {
        self.long_term.rate().unwrap_or_else(|| self.max_bw())
    }

    /// The highest recent delivery rate.
    fn max_bw(&self) -> Rate {
        Rate(self.max_bw.get())
    }

    fn pacing_gain(&self) -> f64 {
        match self.phase {
            Phase::Startup => STARTUP_GAIN,
            Phase::Drain => 1.0 / STARTUP_GAIN,
            Phase::ProbeBw(_) if self.long_term.rate().is_some() => 1.0,
            Phase::ProbeBw(cycle) => cycle.pacing_gain(),
            Phase::ProbeRtt(_) => 1.0,
        }
    }

    fn update_model(&mut self, ack: &Ack) {
        self.rounds.is_start = false;
        if let Some(rate) = delivery_rate(&ack.rate) {
            self.rounds.update(&ack.rate);
            self.is_conserving &= !self.rounds.is_start;
            let is_limited = self.is_limited(ack);
            self.sample_long_term(ack.now, self.newly_lost > 0, self.rounds.is_start, is_limited);
            if !is_limited || rate >= self.max_bw() {
                self.max_bw.update(self.rounds.count, rate.0);
            }
            let excess = self.aggregation.excess(ack.now, ack.delivered, self.bw(), self.cwnd);
            self.extra_acked.update(self.rounds.is_start, excess);
            self.advance_cycle(ack);
            if self.rounds.is_start && !is_limited {
                self.full_pipe.observe(self.max_bw());
            }
        }
        self.check_drain(ack);
        self.update_min_rtt(ack);
    }

    fn is_limited(&self, ack: &Ack) -> bool {
        ack.rate.is_app_limited || self.low_rate.covers(&ack.rate)
    }

    fn sample_long_term(&mut self, now: Time, has_loss: bool, is_round_start: bool, is_app_limited: bool) {
        let is_probe_bw = matches!(self.phase, Phase::ProbeBw(_));
        let event = Event { has_loss, is_round_start, is_app_limited, is_probe_bw };
        if self.long_term.observe(event, &self.totals) {
            self.enter_probe_bw(now);
        }
    }

    fn check_drain(&mut self, ack: &Ack) {
        if self.phase == Phase::Startup && self.full_pipe.is_full {
            self.phase = Phase::Drain;
        }
        if self.phase == Phase::Drain && ack.in_flight <= self.inflight(1.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    fn look_again_for_full_pipe(&mut self) {
        if !self.full_pipe.is_full {
            self.full_pipe.restart(Rate(0));
        }
    }

    fn restore_window(&mut self) {
        self.is_conserving = false;
        self.cwnd = self.cwnd.max(self.episode.good_cwnd());
    }
}

impl CongestionControl for Bbr1 {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.totals.observe(ack);
        self.newly_lost = ack.rate.newly_lost - ack.rate.lost_by_timer;
        self.pacing.observe_rtt(ack.srtt);
        self.update_model(ack);
        self.pacing.set(self.bw(), self.pacing_gain(), self.full_pipe.is_full);
        self.update_window(ack);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if event.cause == Cause::Ecn {
            return;
        }
        self.episode.save(self.cwnd, matches!(self.phase, Phase::ProbeRtt(_)));
        let was_active = self.episode.is_active();
        self.episode.begin(event);
        if event.cause == Cause::Loss {
            // To Linux, one recovery right after another is one. It conserves packets only in the first round of the first.
            if was_active {
                return;
            }
            self.is_conserving = true;
            self.rounds.restart(self.totals.delivered);
            // Room for the present retransmission. ACKs open the window from there.
            self.cwnd = event.in_flight + self.mss;
        } else {
            self.is_conserving = false;
            self.look_again_for_full_pipe();
            self.totals.lost = event.total_lost;
            self.sample_long_term(event.now, true, true, false);
            self.cwnd = self.mss + event.survivors;
        }
    }

    fn on_spurious(&mut self, _now: Time, _cwnd: u64, _ssthresh: u64) {
        self.long_term.restart();
        self.look_again_for_full_pipe();
        self.episode.finish();
        self.restore_window();
    }

    fn hears_sends(&self) -> bool {
        false
    }

    fn on_sent_alone(&mut self, now: Time) {
        if self.totals.delivered > 0 && !self.episode.is_active() {
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
