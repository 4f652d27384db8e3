//! What follows from losses: short-term bounds while not probing, a long-term bound while probing, and how both are undone if the
//! losses prove spurious (draft §5.5.10, §5.5.11).

use super::{Bbr3, State};
use crate::cc::{Ack, RateSample};
use airtcp_wire::{Rate, Time};

/// Bounds that hold until the next probe for bandwidth.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ShortTerm {
    pub bw: Rate,
    pub inflight: u64,
}

impl ShortTerm {
    pub const NONE: ShortTerm = ShortTerm { bw: Rate(u64::MAX), inflight: u64::MAX };
}

/// What the last round trip delivered and lost (draft §2.10). Its rounds are not [`Rounds`](super::Rounds): a loss begins one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LatestRound {
    bw: Rate,
    pub inflight: u64,
    begun_at: u64,
    pub is_round_start: bool,
    has_loss: bool,
    /// ACKs of this round that marked losses.
    pub loss_events: u32,
}

impl LatestRound {
    pub fn observe(&mut self, ack: &Ack, rate: Rate) {
        self.bw = self.bw.max(rate);
        self.inflight = self.inflight.max(ack.rate.delivered);
        self.is_round_start = ack.rate.prior_delivered >= self.begun_at;
        if self.is_round_start {
            self.begun_at = ack.rate.total_delivered;
        }
    }

    /// Ends an ACK's processing: a new round starts from its sample.
    pub fn advance(&mut self, ack: &Ack, rate: Rate) {
        if self.is_round_start {
            (self.bw, self.inflight) = (rate, ack.rate.delivered);
            (self.has_loss, self.loss_events) = (false, 0);
        }
    }

    pub fn forget(&mut self) {
        (self.bw, self.inflight, self.has_loss) = (Rate(0), 0, false);
    }
}

/// The state before the losses of this round (draft §5.5.11.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    short_term: ShortTerm,
    long_term_inflight: u64,
    /// Startup or Up, if the losses ended it.
    pub state: Option<State>,
}

impl Default for Undo {
    fn default() -> Undo {
        Undo { short_term: ShortTerm::NONE, long_term_inflight: u64::MAX, state: None }
    }
}

impl Bbr3 {
    pub(super) fn note_loss(&mut self) {
        if !self.latest.has_loss {
            self.latest.begun_at = self.total_delivered;
            self.episode.save(self.cwnd, self.state.is_probe_rtt());
            self.undo = Undo {
                short_term: self.short_term,
                long_term_inflight: self.long_term_inflight,
                state: None,
            };
        }
        self.latest.has_loss = true;
    }

    /// Draft §5.5.10.2.
    pub(super) fn judge_losses(&mut self, ack: &Ack) {
        let sample = &ack.rate;
        if sample.newly_lost == 0 {
            return;
        }
        self.note_loss();
        self.latest.loss_events += 1;
        if self.probe.is_sample && self.is_inflight_too_high(sample) {
            let inflight = self.inflight_at_loss(sample);
            self.bound_inflight(ack.now, (!sample.is_app_limited).then_some(inflight));
        }
    }

    pub(super) fn judge_mark(&mut self, now: Time, in_flight: u64) {
        if self.probe.is_sample {
            self.bound_inflight(now, Some(in_flight));
        }
    }

    pub(super) fn is_inflight_too_high(&self, sample: &RateSample) -> bool {
        sample.lost_since as f64 > sample.tx_in_flight as f64 * self.rules.loss_threshold
    }

    /// What was in flight when the loss rate crossed the threshold: draft §5.5.10.2 solves for it.
    fn inflight_at_loss(&self, sample: &RateSample) -> u64 {
        let threshold = self.rules.loss_threshold;
        let inflight_before = sample.tx_in_flight.saturating_sub(sample.newly_lost);
        let lost_before = sample.lost_since.saturating_sub(sample.newly_lost);
        let tolerable = threshold * inflight_before as f64 - lost_before as f64;
        inflight_before + (tolerable.max(0.0) / (1.0 - threshold).max(f64::EPSILON)) as u64
    }

    /// Draft §5.5.10.2, HandleInflightTooHigh. `None`: the application, not the path, determined what was in flight.
    fn bound_inflight(&mut self, now: Time, inflight: Option<u64>) {
        self.probe.was_too_high = true;
        // One reaction per probe.
        self.probe.is_sample = false;
        if let Some(inflight) = inflight {
            self.long_term_inflight = inflight.max((self.target_inflight() as f64 * self.rules.beta) as u64);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now);
        }
    }

    /// Tightens the short-term bounds, once per round trip (draft §5.5.10.3).
    pub(super) fn tighten_short_term(&mut self) {
        if self.state.is_accelerating() || !self.latest.has_loss {
            return;
        }
        let beta = self.rules.beta;
        let bound = self.short_term;
        let bw = if bound.bw == ShortTerm::NONE.bw { self.max_bw() } else { bound.bw };
        let inflight = if bound.inflight == u64::MAX { self.cwnd } else { bound.inflight };
        self.short_term = ShortTerm {
            bw: self.latest.bw.max(bw.mul_f64(beta)),
            inflight: self.latest.inflight.max((inflight as f64 * beta) as u64),
        };
    }

    /// Draft §5.5.11.2.
    pub(super) fn undo_losses(&mut self) {
        self.latest.has_loss = false;
        self.full_pipe.restart(Rate(0));
        self.short_term.bw = self.short_term.bw.max(self.undo.short_term.bw);
        self.short_term.inflight = self.short_term.inflight.max(self.undo.short_term.inflight);
        self.long_term_inflight = self.long_term_inflight.max(self.undo.long_term_inflight);
        let was_ended = self.undo.state.take().filter(|&state| state != self.state);
        if was_ended == Some(State::Startup) {
            self.is_pipe_known = false;
        }
        match was_ended {
            _ if self.state.is_probe_rtt() => {}
            Some(State::Startup) => self.state = State::Startup,
            Some(_) => self.start_refill(),
            None => {}
        }
    }
}
