//! ProbeRTT: halves what is in flight to measure the minimum RTT anew after five seconds without a sample as low (draft §5.3.4).

use super::{Bbr3, ShortTerm, State};
use crate::cc::Ack;
use crate::cc::bbr::control::LowFlight;
use airtcp_wire::{Dur, Time};

/// Least time between two probes (draft §2.16.2).
pub(super) const PROBE_INTERVAL: Dur = Dur::from_secs(5);

impl Bbr3 {
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let is_due = self.min_rtt.update(ack);
        if is_due && !self.is_idle_restart && !self.state.is_probe_rtt() {
            self.episode.save(self.cwnd, false);
            self.state = State::ProbeRtt(LowFlight::default());
            self.stop_probing();
        }
        if let State::ProbeRtt(mut probe) = self.state {
            self.low_rate.extend(ack.rate.total_delivered, ack.in_flight);
            let is_done = probe.advance(ack, self.probe_rtt_window(), &mut self.rounds);
            self.state = State::ProbeRtt(probe);
            if is_done {
                self.leave_probe_rtt(ack.now);
            }
        }
        if ack.delivered > 0 {
            self.is_idle_restart = false;
        }
    }

    /// Draft §5.3.4.4.
    pub(super) fn leave_probe_rtt(&mut self, now: Time) {
        self.min_rtt.postpone_probe(now);
        self.restore_window();
        self.short_term = ShortTerm::NONE;
        if self.is_pipe_known {
            self.start_down(now);
            // There is no queue left to drain.
            self.start_cruise();
        } else {
            self.state = State::Startup;
        }
    }
}
