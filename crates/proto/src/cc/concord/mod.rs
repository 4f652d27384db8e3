//! Concord: CUBIC that yields to find out whose queue it sees, and judges whether corruption explains losses.
//!
//! A loss on a wireless link says little, and a queue that a sender sees may be its own, a rival's, or a random delay. Concord asks two
//! questions, and answers each by an experiment:
//!
//! 1. *Whose is the queue?* It yields: for a few round trips, it keeps no more in flight than the path holds. Its own queue drains. A
//!    rival's queue stays, and then Concord competes, as CUBIC. If the delivery rate falls with the window, there was no queue: round trips
//!    vary, and the window returns to its old value.
//! 2. *Does corruption explain the losses?* The loss rate is learnt while hardly anything queues and the window is low. At a higher load,
//!    only losses beyond that rate are congestion ([`corruption`]). A rate may be learnt in error from a router that drops before it queues.
//!    Concord detects that by looking with less in flight: losses that vanish with the load are congestion.
//!
//! ```text
//!            queue, plateau,                queue, or more losses than
//!  ┌───────┐ heavy loss     ┌───────┐       corruption explains        ┌───────┐
//!  │ Start │───────────────▶│ Delay │─────────────────────────────────▶│ Yield │
//!  └───────┘                └───────┘◀─────────────────────────────────└───────┘
//!      ▲                     ▲  │ ▲ │     the queue drains: it was ours  ▲   │ it stays:
//!      │ timeout             │  │ │ │ from time to time    ┌──────┐      │   │ a rival's
//!                            │  │ │ └─────────────────────▶│ Look │      │   ▼
//!                 no queue   │  │ └────────────────────────└──────┘   ┌─────────┐
//!                            │  └────────────────────────────────────▶│ Compete │
//!                            └────── losses without corruption; ECN ──└─────────┘
//! ```
//!
//! If nothing corrupts packets, every loss under load is congestion, and the answer is CUBIC's. The answer to ECN-Echo is CUBIC's, too
//! (RFC 9438 §4.6). After a round that loses more than it delivers, the window is what the round delivered, whatever the cause.
//!
//! # Related work
//! Copa (switches modes by whether the queue empties), Nimbus (detects elastic rivals by pulses), Vegas, Veno and Westwood (judge a loss by
//! delay or rate), BBR (models rate and delay). `docs/concord.md` says what differs.

mod compete;
mod corruption;
mod cubic;
mod delay;
mod look;
mod path;
mod rounds;
mod start;
#[cfg(test)]
mod tests;
mod yielding;

use super::bbr::model::Rounds;
use super::registry::{ControllerSpec, Param, Values};
use super::{Ack, Build, Cause, Congestion, CongestionControl};
use airtcp_wire::{Rate, Time};
use compete::Compete;
use corruption::Corruption;
use delay::Delay;
use look::Look;
use path::Path;
use rounds::{News, Tally};
use start::Start;
use yielding::Yield;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "concord",
    summary: "CUBIC that yields to find out whose queue it is, and judges whether corruption explains its losses",
    source: "airtcp (docs/concord.md)",
    params: &[
        part(
            "explain",
            1.0,
            "1: losses explained by corruption do not count as congestion; 0: all losses do",
        ),
        part("compete", 1.0, "1: compete with a rival's queue as CUBIC does; 0: yield to it"),
        part("doubt", 1.0, "1: undo a yield after which the rate falls with the window; 0: keep it"),
        part("look", 1.0, "1: check from time to time whether losses vanish with the load; 0: do not"),
        Param {
            name: "variation",
            default: 1.0,
            min: 0.0,
            max: 10.0,
            doc: "Weight of the variation between successive round trips in the delay that triggers a yield",
        },
    ],
    ordered: &[],
    changes: &[],
    exemptions: &[],
    build,
};

/// A parameter that switches a part of the controller off, to measure its effect (`docs/concord.md`).
const fn part(name: &'static str, default: f64, doc: &'static str) -> Param<'static> {
    Param { name, default, min: 0.0, max: 1.0, doc }
}

fn build(build: &Build, values: &Values) -> Box<dyn CongestionControl> {
    Box::new(Concord::new(build, values))
}

/// The least window in packets: a receiver that acknowledges every other segment must not stall the sender.
const LEAST_WINDOW: f64 = 4.0;
/// The largest window in bytes, as for every controller.
const MOST_WINDOW: f64 = (1u64 << 40) as f64;
/// Packets above the BDP that a drained queue may hold: what a delayed ACK holds back.
const MARGIN: f64 = 1.5;
/// Pacing rate in windows per round trip: high enough that the window limits, and in Start that it doubles.
const PACE: f64 = 1.5;
const PACE_OF_START: f64 = 2.0;
/// The RTT assumed before the first sample, for pacing only (draft-ietf-ccwg-bbr §5.6.2).
const NOMINAL_RTT_S: f64 = 0.001;

#[derive(Clone, Debug)]
enum Phase {
    Start(Start),
    Delay(Delay),
    Yield(Yield),
    Look(Look),
    Compete(Compete),
}

#[derive(Clone, Copy, Debug)]
struct Parts {
    compete: bool,
    doubt: bool,
    look: bool,
}

struct Concord {
    mss: f64,
    initial_window: f64,
    parts: Parts,
    /// Packets.
    window: f64,
    phase: Phase,
    path: Path,
    corruption: Corruption,
    rounds: Rounds,
    round: Tally,
    /// Did the last ACK report losses?
    was_losing: bool,
    /// The window at the beginning of this round.
    window_now: f64,
    /// The window at the beginning of the previous round, when the data was sent that is acknowledged now.
    window_then: f64,
    /// The window that the last yield, look or reduction left. Losses at a window no larger are not our doing.
    low_water: f64,
    /// The window to which growth in Delay returns quickly.
    goal: f64,
    tests: yielding::Tests,
    looks: look::Looks,
    /// Seconds.
    srtt_s: f64,
    /// Phase and window before the last timeout, as long as only that can prove spurious.
    before: Option<(Phase, f64)>,
}

impl Concord {
    fn new(build: &Build, values: &Values) -> Concord {
        let on = |name| values.get(name) >= 0.5;
        let initial_window = build.initial_window as f64 / build.mss as f64;
        Concord {
            mss: build.mss as f64,
            initial_window,
            parts: Parts { compete: on("compete"), doubt: on("doubt"), look: on("look") },
            window: initial_window,
            phase: Phase::Start(Start::new(build.initial_ssthresh as f64 / build.mss as f64)),
            path: Path::new(values.get("variation")),
            corruption: Corruption::new(on("explain")),
            rounds: Rounds::default(),
            round: Tally::new(Time::ZERO),
            was_losing: false,
            window_now: 0.0,
            window_then: 0.0,
            low_water: 0.0,
            goal: 0.0,
            tests: yielding::Tests::default(),
            looks: look::Looks::default(),
            srtt_s: NOMINAL_RTT_S,
            before: None,
        }
    }

    fn news(&mut self, ack: &Ack) -> News {
        let lost = ack.rate.newly_lost as f64 / self.mss;
        let begins = lost > 0.0 && !self.was_losing;
        self.was_losing = lost > 0.0;
        News { delivered: ack.delivered as f64 / self.mss, lost, loss_events: f64::from(begins) }
    }

    /// What is in flight when the queue is empty, in packets.
    fn bdp(&self) -> f64 {
        self.path.bdp_of_all(self.corruption.lost_share())
    }

    /// As [`bdp`](Concord::bdp), by the last three rounds, and with what a receiver may hold back.
    fn drained(&self) -> f64 {
        (self.path.bdp(3, self.corruption.lost_share()) + MARGIN).max(LEAST_WINDOW)
    }

    /// Adds an ACK's losses to the account for which they are evidence, if any.
    fn book(&mut self, news: &News) {
        if matches!(self.phase, Phase::Start(_))
            || matches!(&self.phase, Phase::Delay(delay) if delay.is_draining())
        {
            return;
        }
        let is_short = self.path.queue_now_s() <= self.path.threshold_s() / 2.0;
        if is_short && self.window_then <= 1.03 * self.low_water + 1.0 {
            self.corruption.add_quiet(news);
        } else if !is_short || self.window_then > 1.06 * self.low_water + 2.0 {
            self.corruption.add_loaded(news);
        }
    }

    fn end_round(&mut self, now: Time) {
        (self.window_then, self.window_now) = (self.window_now, self.window);
        let round = std::mem::replace(&mut self.round, Tally::new(now));
        if round.samples == 0 {
            return;
        }
        self.path.end_round(&round, now);
        let queue_s = self.path.queue_s(round.min_s());
        if queue_s > self.path.threshold_s() {
            self.tests.last_queue = now;
        }
        self.advance(&round, queue_s, now);
        // More lost than delivered: whatever the cause, so large a window is useless.
        if round.lost > round.delivered.max(LEAST_WINDOW) {
            let left = self.window.min(round.delivered);
            // A hand-over loses a single round. Growth returns to what CUBIC would have left.
            self.goal = left.max(cubic::BETA * self.window);
            self.window = left;
        }
    }

    fn advance(&mut self, round: &Tally, queue_s: f64, now: Time) {
        match self.phase.clone() {
            Phase::Start(start) => self.start_round(start, round),
            Phase::Delay(delay) => self.delay_round(delay, round, queue_s, now),
            Phase::Yield(yielding) => self.yield_round(yielding, round, queue_s, now),
            Phase::Look(look) => self.look_round(look, round, now),
            Phase::Compete(compete) => self.compete_round(compete, queue_s, now),
        }
    }

    fn least_window(&self) -> f64 {
        if matches!(self.phase, Phase::Start(_)) { 1.0 } else { LEAST_WINDOW }
    }

    fn bound_window(&mut self) {
        self.window = self.window.clamp(self.least_window(), MOST_WINDOW / self.mss);
    }
}

impl CongestionControl for Concord {
    fn cwnd(&self) -> u64 {
        (self.window * self.mss) as u64
    }

    fn on_ack(&mut self, ack: &Ack) {
        let news = self.news(ack);
        if let Some(rtt) = ack.rtt {
            self.path.sample(rtt.as_secs_f64(), ack.now);
        }
        self.round.add(ack, &news);
        if ack.srtt.0 == 0 {
            return;
        }
        self.srtt_s = ack.srtt.as_secs_f64();
        match self.phase.clone() {
            Phase::Start(start) => self.start_ack(start, ack, &news),
            Phase::Compete(compete) => self.compete_ack(compete, ack, &news),
            _ => {}
        }
        self.book(&news);
        self.rounds.update(&ack.rate);
        if self.rounds.is_start {
            self.end_round(ack.now);
        }
        self.bound_window();
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.cause {
            // The ACK's losses have been accounted for. If anything proves spurious from now on, it is not the timeout before.
            Cause::Loss => self.before = None,
            Cause::Ecn => self.answer_ecn(event.now),
            Cause::Timeout => self.start_over(event),
        }
        self.bound_window();
    }

    fn on_spurious(&mut self, _now: Time, _cwnd: u64, _ssthresh: u64) {
        if let Some((phase, window)) = self.before.take() {
            self.phase = phase;
            self.window = window;
        }
    }

    /// RFC 2861 §3.1: half of the window for each RTO of idleness, down to the restart window.
    fn on_restart(&mut self, _now: Time, rtos: u64) {
        let halved = self.window * 0.5f64.powi(rtos.min(64) as i32);
        self.goal = self.goal.max(self.window);
        self.window = halved.max(self.initial_window.min(self.window));
    }

    fn pacing_rate(&self) -> Option<Rate> {
        // A look has to be smooth: a token bucket treats bursts differently from the same rate without them.
        let gain = match self.phase {
            Phase::Start(_) => PACE_OF_START,
            Phase::Look(_) => 1.0,
            _ => PACE,
        };
        let packets = gain * self.window / self.srtt_s;
        Some(Rate(((packets * self.mss * 8.0) as u64).max(1)))
    }

    fn governs_recovery(&self) -> bool {
        true
    }
}
