//! How much may be in flight (draft §5.6.4).

use super::{Bbr3, State};
use crate::cc::Ack;
use crate::cc::bbr::control::MIN_WINDOW_SEGMENTS;
use airtcp_wire::{Dur, Rate};

/// Was the window used up in this round trip or in the one before (C.is_cwnd_limited, draft §2.2)?
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowLimit {
    this_round: bool,
    last_round: bool,
}

impl WindowLimit {
    #[inline]
    pub fn observe(&mut self, is_used_up: bool) {
        self.this_round |= is_used_up;
    }

    pub fn begin_round(&mut self) {
        (self.last_round, self.this_round) = (self.this_round, false);
    }

    pub fn is_reached(&self) -> bool {
        self.this_round || self.last_round
    }
}

impl Bbr3 {
    /// Draft §5.6.4.6, SetCwnd.
    pub(super) fn update_window(&mut self, ack: &Ack) {
        let max_inflight = self.max_inflight();
        if self.is_pipe_known {
            self.cwnd = (self.cwnd + ack.delivered).min(max_inflight);
        } else if self.cwnd < max_inflight || ack.rate.total_delivered < self.initial_window {
            self.cwnd += ack.delivered;
        }
        if ack.delivered > 0 {
            self.cwnd = self.cwnd.max(self.least());
        }
        if self.state.is_probe_rtt() {
            self.cwnd = self.cwnd.min(self.probe_rtt_window());
        }
        self.cwnd = self.cwnd.min(self.model_bound());
    }

    /// Draft §5.6.4.7.
    fn model_bound(&self) -> u64 {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.long_term_inflight,
            State::Cruise | State::ProbeRtt(_) => self.inflight_with_headroom(),
            State::Startup | State::Drain { .. } => u64::MAX,
        };
        long_term.min(self.short_term.inflight).max(self.least())
    }

    fn least(&self) -> u64 {
        MIN_WINDOW_SEGMENTS * self.mss
    }

    pub(super) fn bdp(&self, bw: Rate, gain: f64) -> u64 {
        match self.min_rtt.value() {
            Dur::MAX => self.initial_window,
            min_rtt => (bw.bytes_in(min_rtt) as f64 * gain) as u64,
        }
    }

    /// The estimated bandwidth-delay product, unless congestion has cut the window below (draft §5.3.3.8.3).
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp(self.bw(), 1.0).min(self.cwnd)
    }

    /// Bytes in flight that fill the path at the rate `bw`.
    pub(super) fn inflight(&self, bw: Rate) -> u64 {
        self.quantized(self.bdp(bw, 1.0))
    }

    fn max_inflight(&self) -> u64 {
        self.quantized(self.bdp(self.bw(), self.state.cwnd_gain()) + self.extra_acked.get())
    }

    /// Draft §5.6.4.2, QuantizationBudget, with §5.5.8.1's budget of three quanta.
    fn quantized(&self, inflight: u64) -> u64 {
        let budget = 3 * self.pacing.quantum(2 * self.mss);
        let probing = if self.state == State::Up { 2 * self.mss } else { 0 };
        inflight.max(budget).max(self.least()) + probing
    }

    /// Leaves room for others below the long-term bound (draft §5.3.3.9).
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        if self.long_term_inflight == u64::MAX {
            return u64::MAX;
        }
        let headroom = ((self.long_term_inflight as f64 * self.rules.headroom) as u64).max(self.mss);
        self.long_term_inflight.saturating_sub(headroom).max(self.least())
    }

    pub(super) fn probe_rtt_window(&self) -> u64 {
        self.bdp(self.bw(), self.state.cwnd_gain()).max(self.least())
    }
}
