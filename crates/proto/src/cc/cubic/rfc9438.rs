//! CUBIC by RFC 9438.

use crate::cc::registry::Values;
use crate::cc::{Ack, Avoidance, Cause, Congestion, Window};
use airtcp_wire::{Dur, Time};

/// Windows here are in segments, times in seconds, as in the RFC.
#[derive(Clone, Debug)]
pub struct Rfc9438 {
    beta: f64,
    c: f64,
    fast_convergence: bool,
    /// W_max of the last reduction. `None` before the first loss and after a timeout, where the next stage starts from its own
    /// window.
    w_max: Option<f64>,
    /// cwnd when ssthresh was last set.
    cwnd_prior: f64,
    /// `None` until the first growth of a congestion avoidance stage.
    epoch: Option<Epoch>,
    last_ack: Time,
    was_idle: bool,
}

/// A congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    w_max: f64,
    k: f64,
    /// Reno's window.
    w_est: f64,
}

impl Rfc9438 {
    pub fn new(values: &Values) -> Rfc9438 {
        Rfc9438 {
            beta: values.get("beta"),
            c: values.get("c"),
            fast_convergence: values.get("fast_convergence") >= 0.5,
            w_max: None,
            cwnd_prior: 0.0,
            epoch: None,
            last_ack: Time::ZERO,
            was_idle: false,
        }
    }

    fn start_epoch(&self, now: Time, cwnd: f64) -> Epoch {
        // RFC 9438 §4.8, §4.10: a stage without a W_max of its own starts on the plateau.
        let w_max = self.w_max.unwrap_or(cwnd).max(cwnd);
        // RFC 9438 §4.2 Figure 2.
        let k = libm::cbrt((w_max - cwnd) / self.c);
        Epoch { start: now, w_max, k, w_est: cwnd }
    }

    /// RFC 9438 §4.2 Figure 1.
    fn w_cubic(&self, epoch: &Epoch, t: Dur) -> f64 {
        let from_plateau = t.as_secs_f64() - epoch.k;
        self.c * from_plateau * from_plateau * from_plateau + epoch.w_max
    }

    /// RFC 9438 §4.3: α_cubic keeps the mean of the Reno-friendly window at Reno's until the window is back at `cwnd_prior`.
    fn alpha(&self, w_est: f64) -> f64 {
        if w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) }
    }
}

impl Avoidance for Rfc9438 {
    fn observe(&mut self, ack: &Ack, window: &mut Window) {
        if window.in_slow_start() {
            self.epoch = None;
        }
        let gap = ack.now.since(self.last_ack);
        if let Some(epoch) = &mut self.epoch {
            // RFC 9438 §4.2, §5.8: time in which the application limits the sender does not count. A sender with data to send leaves the
            // pipe empty for one round trip at most.
            if !ack.is_cwnd_limited {
                epoch.start += gap;
            } else if self.was_idle {
                epoch.start += gap.saturating_sub(ack.srtt);
            }
        }
        self.last_ack = ack.now;
        self.was_idle = ack.in_flight == 0;
    }

    fn increase(&mut self, ack: &Ack, acked: u64, window: &mut Window) {
        let cwnd = window.segments();
        let segments_acked = acked as f64 / window.mss() as f64;
        let mut epoch = self.epoch.unwrap_or_else(|| self.start_epoch(ack.now, cwnd));
        // RFC 9438 §4.3 Figure 4.
        epoch.w_est += self.alpha(epoch.w_est) * segments_acked / cwnd;
        self.epoch = Some(epoch);

        let t = ack.now.since(epoch.start);
        let growth = if self.w_cubic(&epoch, t) < epoch.w_est {
            epoch.w_est - cwnd
        } else {
            // RFC 9438 §4.2: the window of one round trip from now, at most half as much again; §4.4, §4.5.
            let target = self.w_cubic(&epoch, t + ack.srtt).clamp(cwnd, 1.5 * cwnd);
            (target - cwnd) / cwnd * segments_acked
        };
        // A window that was reset below where the stage left it grows no faster than in slow start.
        window.grow(growth.min(segments_acked) * window.mss() as f64);
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        let cwnd = window.segments();
        let falls = self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = match event.cause {
            // RFC 9438 §4.8.
            Cause::Timeout => None,
            // RFC 9438 §4.7.
            _ if falls && self.fast_convergence => Some(cwnd * (1.0 + self.beta) / 2.0),
            _ => Some(cwnd),
        };
        self.cwnd_prior = cwnd;
        self.epoch = None;
        // RFC 9438 §4.6.
        Some(window.ssthresh_for(self.beta * event.flight_size as f64))
    }

    fn restart(&mut self, _now: Time, _window: &mut Window) {
        // The window is no longer the one that the stage describes.
        self.epoch = None;
    }
}
