//! CUBIC's window (RFC 9438) for a flow in competition, in packets and seconds.

use airtcp_wire::{Dur, Time};

/// RFC 9438 §4.1, §4.6.
const C: f64 = 0.4;
pub const BETA: f64 = 0.7;
/// RFC 9438 §4.3: α_cubic.
pub const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    w_max: f64,
    epoch: Time,
    k_s: f64,
    /// Reno's window.
    w_est: f64,
}

impl Cubic {
    /// Starts on the plateau.
    pub fn new(window: f64, now: Time) -> Cubic {
        Cubic { w_max: window, epoch: now, k_s: 0.0, w_est: window }
    }

    /// The window after another `delivered` packets, at an RTT of `rtt_s`.
    pub fn grow(&mut self, window: f64, delivered: f64, now: Time, rtt_s: f64) -> f64 {
        // RFC 9438 §4.2: the window of one round trip from now, at most half as much again.
        let from_plateau = now.since(self.epoch).as_secs_f64() + rtt_s - self.k_s;
        let target = self.w_max + C * from_plateau * from_plateau * from_plateau;
        // RFC 9438 §4.3.
        self.w_est += ALPHA * delivered / window;
        let towards = ((target - window) / window).clamp(0.0, 0.5) * delivered;
        (window + towards).max(self.w_est.min(window + delivered))
    }

    /// The window after a congestion event.
    pub fn reduce(&mut self, window: f64, now: Time) -> f64 {
        // RFC 9438 §4.7.
        self.w_max = if window < self.w_max { window * (1.0 + BETA) / 2.0 } else { window };
        let reduced = window * BETA;
        self.k_s = libm::cbrt((self.w_max - reduced).max(0.0) / C);
        self.epoch = now;
        self.w_est = reduced;
        reduced
    }

    /// Leaves out time that was not spent in competition.
    pub fn skip(&mut self, pause: Dur) {
        self.epoch += pause;
    }
}
