//! ProbeBW: a cycle of Down (drain), Cruise, Refill (fill the pipe to its estimate) and Up (try for more), as often as Reno would need
//! on the same path (draft §5.3.3).

use super::{Bbr3, ShortTerm, State};
use crate::cc::Ack;
use airtcp_wire::{Dur, Rate, Time};

/// Reno needs as many round trips as it has segments in flight. Beyond this many, it is not waited for (draft §5.3.3.8.2).
const MAX_RENO_ROUNDS: u64 = 63;

/// For which packets ACKs arrive (draft §2.14).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum AckPhase {
    #[default]
    NotProbing,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Draft §2.14.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    acks: AckPhase,
    /// Do samples come from packets sent while probing, and has no loss among them been answered?
    pub is_sample: bool,
    /// Bytes acknowledged since the long-term bound was last raised.
    up_acked: u64,
    /// Bytes to be acknowledged for each segment by which the bound rises.
    acked_per_segment: u64,
    up_rounds: u32,
    pub rounds_since_up: u64,
    wait: Dur,
    cycle_start: Time,
    /// Did the last probe lose too much?
    pub was_too_high: bool,
    /// Did this probe stop where the last one had lost too much?
    was_precautionary: bool,
}

impl Bbr3 {
    pub(super) fn start_down(&mut self, now: Time) {
        self.latest.forget();
        self.pick_wait();
        self.probe.cycle_start = now;
        self.probe.acks = AckPhase::ProbeStopping;
        self.begin_phase(State::Down);
    }

    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    pub(super) fn start_refill(&mut self) {
        self.short_term = ShortTerm::NONE;
        (self.probe.up_rounds, self.probe.up_acked) = (0, 0);
        self.probe.was_precautionary = false;
        self.probe.acks = AckPhase::Refilling;
        self.begin_phase(State::Refill);
    }

    fn start_up(&mut self, rate: Rate) {
        self.probe.is_sample = true;
        self.probe.acks = AckPhase::ProbeStarting;
        self.full_pipe.restart(rate);
        self.begin_phase(State::Up);
        self.steepen();
    }

    fn begin_phase(&mut self, state: State) {
        self.rounds.restart(self.total_delivered);
        self.state = state;
    }

    /// Ends a probe for bandwidth that ProbeRTT interrupts.
    pub(super) fn stop_probing(&mut self) {
        self.probe.acks = AckPhase::ProbeStopping;
        self.rounds.restart(self.total_delivered);
    }

    /// Draft §5.3.3.8.3, PickProbeWait.
    fn pick_wait(&mut self) {
        self.probe.rounds_since_up = u64::from(self.chance.happens(0.5));
        self.probe.wait = Dur::from_secs_f64(2.0 + self.chance.f64());
    }

    /// Draft §5.3.3.9, UpdateProbeBWCyclePhase.
    pub(super) fn advance_probe_bw(&mut self, ack: &Ack, rate: Rate) {
        if !self.is_pipe_known || self.adapt_long_term(ack) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(ack.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(ack) => self.start_cruise(),
            // Refill has lasted a round and filled the pipe.
            State::Refill if self.rounds.is_start => self.start_up(rate),
            State::Up => self.check_up(ack, rate),
            _ => {}
        }
    }

    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds = (self.target_inflight() / self.mss).min(MAX_RENO_ROUNDS);
        now > self.probe.cycle_start + self.probe.wait || self.probe.rounds_since_up >= reno_rounds
    }

    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        ack.in_flight <= self.inflight_with_headroom().min(self.inflight(self.max_bw()))
    }

    /// Draft §5.3.3.7, except for losses, which end a probe where they are judged.
    fn check_up(&mut self, ack: &Ack, rate: Rate) {
        let is_risky = self.probe.was_too_high && ack.in_flight >= self.long_term_inflight;
        self.probe.was_precautionary |= is_risky;
        if !is_risky && self.is_held_by_long_term() {
            // The bound, not the path, keeps the rate from growing.
            self.full_pipe.restart(rate);
        }
        if is_risky || self.full_pipe.is_full {
            self.probe.was_too_high = false;
            self.start_down(ack.now);
        }
    }

    fn is_held_by_long_term(&self) -> bool {
        self.window_limit.is_reached() && self.cwnd >= self.long_term_inflight
    }

    /// Draft §5.3.3.9, AdaptLongTermModel. Returns whether another phase has begun.
    fn adapt_long_term(&mut self, ack: &Ack) -> bool {
        if self.probe.acks == AckPhase::ProbeStarting && self.rounds.is_start {
            self.probe.acks = AckPhase::ProbeFeedback;
        }
        if self.probe.acks == AckPhase::ProbeStopping && self.rounds.is_start && self.close_probe(ack) {
            self.start_refill();
            return true;
        }
        if !self.is_inflight_too_high(&ack.rate) && self.long_term_inflight != u64::MAX {
            self.long_term_inflight = self.long_term_inflight.max(ack.rate.tx_in_flight);
            if self.state == State::Up {
                self.raise_long_term(ack);
            }
        }
        false
    }

    /// The last sample of a probe has come. Returns whether the probe should be repeated at once: it was stopped as a precaution and
    /// lost nothing.
    fn close_probe(&mut self, ack: &Ack) -> bool {
        self.probe.is_sample = false;
        self.probe.acks = AckPhase::NotProbing;
        if self.state.is_probe_bw() && !self.is_limited(ack) {
            self.cycles += 1;
        }
        self.state.is_probe_bw() && self.probe.was_precautionary && !self.probe.was_too_high
    }

    /// The bound rises by 1, 2, 4 … segments in successive round trips (draft §5.3.3.5).
    fn steepen(&mut self) {
        self.probe.acked_per_segment = (self.cwnd >> self.probe.up_rounds).max(self.mss);
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(30);
    }

    fn raise_long_term(&mut self, ack: &Ack) {
        if !self.is_held_by_long_term() {
            return;
        }
        self.probe.up_acked += ack.delivered;
        let segments = self.probe.up_acked / self.probe.acked_per_segment;
        self.probe.up_acked -= segments * self.probe.acked_per_segment;
        self.long_term_inflight += segments * self.mss;
        if self.rounds.is_start {
            self.steepen();
        }
    }
}
