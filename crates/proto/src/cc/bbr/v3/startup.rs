//! Startup and Drain: find the bandwidth by doubling, then drain the queue that this has built (draft §5.3.1, §5.3.2).

use super::{Bbr3, State};
use crate::cc::Ack;
use airtcp_wire::Rate;

/// ACKs that mark losses within a round before they can end Startup (draft §5.3.1.3).
const LOSS_EVENTS: u32 = 6;

/// Rounds after which Drain ends whatever is in flight (draft §5.3.2).
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3 {
    /// Draft §5.3.1.2.
    pub(super) fn look_for_full_pipe(&mut self, ack: &Ack, rate: Rate) {
        if self.rounds.is_start && !self.is_limited(ack) {
            self.full_pipe.observe(rate);
            self.is_pipe_known |= self.full_pipe.is_full;
        }
    }

    pub(super) fn check_startup(&mut self, ack: &Ack) {
        if self.state != State::Startup {
            return;
        }
        if self.has_lost_too_much(ack) {
            self.undo.state = Some(State::Startup);
            self.is_pipe_known = true;
            self.long_term_inflight = self.bdp(self.bw(), 1.0).max(self.latest.inflight);
        }
        if self.is_pipe_known {
            self.state = State::Drain { since_round: self.rounds.count };
        }
    }

    /// Draft §5.3.1.3: more than the threshold, in several places, over a round trip of a loss episode.
    fn has_lost_too_much(&self, ack: &Ack) -> bool {
        self.latest.is_round_start
            && self.episode.is_active()
            && self.latest.loss_events >= LOSS_EVENTS
            && self.is_inflight_too_high(&ack.rate)
    }

    pub(super) fn check_drain(&mut self, ack: &Ack) {
        if let State::Drain { since_round } = self.state
            && (ack.in_flight <= self.inflight(self.bw()) || self.rounds.count > since_round + DRAIN_ROUNDS)
        {
            self.start_down(ack.now);
        }
    }
}
