//! A controller as the sender holds it: values needed at every step are cached.

use super::{Ack, Congestion, CongestionControl};
use airtcp_wire::{Rate, Time};

/// A controller with the windows that it answered last. They change by nothing but its hooks.
pub struct Governor {
    controller: Box<dyn CongestionControl>,
    cwnd: u64,
    ssthresh: u64,
    hears_sends: bool,
}

impl From<Box<dyn CongestionControl>> for Governor {
    fn from(controller: Box<dyn CongestionControl>) -> Governor {
        let (cwnd, ssthresh) = controller.windows();
        let hears_sends = controller.hears_sends();
        Governor { controller, cwnd, ssthresh, hears_sends }
    }
}

impl Governor {
    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.cwnd
    }

    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    #[inline]
    fn refresh(&mut self) {
        (self.cwnd, self.ssthresh) = self.controller.windows();
    }

    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.controller.on_ack(ack);
        self.refresh();
    }

    #[inline]
    pub fn on_plain_ack(&mut self, acked: u64, is_cwnd_limited: bool) -> bool {
        let windows = self.controller.on_plain_ack(acked, is_cwnd_limited);
        if let Some(windows) = windows {
            (self.cwnd, self.ssthresh) = windows;
        }
        windows.is_some()
    }

    pub fn on_congestion(&mut self, event: &Congestion) {
        self.controller.on_congestion(event);
        self.refresh();
    }

    pub fn on_recovery_exit(&mut self, now: Time) {
        self.controller.on_recovery_exit(now);
        self.refresh();
    }

    pub fn on_spurious(&mut self, now: Time, cwnd: u64, ssthresh: u64) {
        self.controller.on_spurious(now, cwnd, ssthresh);
        self.refresh();
    }

    pub fn on_restart(&mut self, now: Time, rtos: u64) {
        self.controller.on_restart(now, rtos);
        self.refresh();
    }

    #[inline]
    pub fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        if self.hears_sends {
            self.controller.on_sent(now, bytes, in_flight);
            self.refresh();
        }
    }

    #[inline]
    pub fn hears_sends(&self) -> bool {
        self.hears_sends
    }

    pub fn reads_rate(&self) -> bool {
        self.controller.reads_rate()
    }

    pub fn governs_recovery(&self) -> bool {
        self.controller.governs_recovery()
    }

    #[inline]
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.controller.pacing_rate()
    }
}
