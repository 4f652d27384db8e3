//! The minimum RTT, and ProbeRTT, which halves what is in flight to measure it anew when five seconds brought no
//! sample as low (draft §5.3.4).

use super::{Bbr3, ShortTerm, State};
use crate::cc::Ack;
use crate::cc::bbr::control::{LowFlight, MIN_RTT_WINDOW};
use airtcp_wire::{Dur, Time};

/// Least time between two probes (draft §2.16.2).
const PROBE_INTERVAL: Dur = Dur::from_secs(5);

#[derive(Clone, Copy, Debug)]
struct Minimum {
    value: Dur,
    stamp: Time,
}

/// The minimum over ten seconds is what the model uses; the one over five says when to probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// `None` before the first ACK.
    minima: Option<(Minimum, Minimum)>,
}

impl MinRtt {
    /// [`Dur::MAX`] before the first sample.
    #[inline]
    pub fn value(&self) -> Dur {
        self.minima.map_or(Dur::MAX, |(long, _)| long.value)
    }

    /// Takes an ACK's sample; returns whether it is time for ProbeRTT. Draft §5.3.4.3, UpdateMinRTT.
    fn update(&mut self, ack: &Ack) -> bool {
        // What the handshake has measured counts.
        let first = Minimum { value: ack.min_rtt, stamp: ack.now };
        let (long, short) = self.minima.get_or_insert((first, first));
        let is_expired = ack.now > short.stamp + PROBE_INTERVAL;
        if let Some(value) = ack.rtt.filter(|&rtt| rtt < short.value || is_expired) {
            *short = Minimum { value, stamp: ack.now };
        }
        if short.value < long.value || ack.now > long.stamp + MIN_RTT_WINDOW {
            *long = *short;
        }
        is_expired
    }

    fn postpone_probe(&mut self, now: Time) {
        if let Some((_, short)) = &mut self.minima {
            short.stamp = now;
        }
    }
}

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
