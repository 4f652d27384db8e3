//! The minimum RTT, and PROBE_RTT, which drains the queues to measure it anew when ten seconds brought no sample as
//! low (draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.5).

use super::{Bbr1, Phase};
use crate::cc::Ack;
use crate::cc::bbr::control::{LowFlight, MIN_RTT_WINDOW, MIN_WINDOW_SEGMENTS};
use airtcp_wire::{Dur, Time};

pub(super) type ProbeRtt = LowFlight;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// `None` before the first ACK.
    sample: Option<(Dur, Time)>,
}

impl MinRtt {
    /// [`Dur::MAX`] before the first sample.
    #[inline]
    pub fn value(&self) -> Dur {
        self.sample.map_or(Dur::MAX, |(value, _)| value)
    }

    /// Takes an ACK's sample; returns whether the old minimum had expired.
    fn update(&mut self, ack: &Ack) -> bool {
        // What the handshake has measured counts.
        let (value, stamp) = *self.sample.get_or_insert((ack.min_rtt, ack.now));
        let is_expired = ack.now > stamp + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt.filter(|&rtt| rtt < value || is_expired) {
            self.sample = Some((rtt, ack.now));
        }
        is_expired
    }

    fn confirm(&mut self, now: Time) {
        if let Some((_, stamp)) = &mut self.sample {
            *stamp = now;
        }
    }
}

impl Bbr1 {
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let is_expired = self.min_rtt.update(ack);
        if is_expired && !self.is_idle_restart && !matches!(self.phase, Phase::ProbeRtt(_)) {
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
        self.min_rtt.confirm(now);
        self.cwnd = self.cwnd.max(self.episode.good_cwnd());
        if self.full_pipe.is_full {
            self.enter_probe_bw(now);
        } else {
            self.phase = Phase::Startup;
        }
    }

    /// An idle spell has drained the queue as well as a probe would; sending resumes at the estimated rate.
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
