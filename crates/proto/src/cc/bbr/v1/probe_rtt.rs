//! PROBE_RTT: drains the queues to measure the minimum RTT anew after ten seconds without a sample as low
//! (draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.5).

use super::{Bbr1, Phase};
use crate::cc::Ack;
use crate::cc::bbr::control::{LowFlight, MIN_WINDOW_SEGMENTS};
use airtcp_wire::Time;

impl Bbr1 {
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let is_due = self.min_rtt.update(ack);
        if is_due && !self.is_idle_restart && !matches!(self.phase, Phase::ProbeRtt(_)) {
            self.episode.save(self.cwnd, false);
            self.phase = Phase::ProbeRtt(LowFlight::default());
        }
        if let Phase::ProbeRtt(mut probe) = self.phase {
            self.low_rate.extend(ack.rate.total_delivered, ack.in_flight);
            let is_done = probe.advance(ack, self.probe_rtt_window(), &mut self.rounds);
            self.phase = Phase::ProbeRtt(probe);
            if is_done {
                self.leave_probe_rtt(ack.now);
            }
        }
        if ack.delivered > 0 {
            self.is_idle_restart = false;
        }
    }

    pub(super) fn probe_rtt_window(&self) -> u64 {
        MIN_WINDOW_SEGMENTS * self.mss
    }

    fn leave_probe_rtt(&mut self, now: Time) {
        self.min_rtt.postpone_probe(now);
        self.cwnd = self.cwnd.max(self.episode.good_cwnd());
        if self.full_pipe.is_full {
            self.enter_probe_bw(now);
        } else {
            self.phase = Phase::Startup;
        }
    }

    /// Sending resumes at the estimated rate: idleness has drained the queue as well as a probe would.
    pub(super) fn restart_from_idle(&mut self, now: Time) {
        self.is_idle_restart = true;
        self.aggregation.restart(now);
        match self.phase {
            Phase::ProbeBw(_) => self.pacing.set(self.bw(), 1.0, self.full_pipe.is_full),
            Phase::ProbeRtt(probe) if probe.is_past(now) => self.leave_probe_rtt(now),
            _ => {}
        }
    }
}
