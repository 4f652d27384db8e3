//! A controller as the sender holds it: values needed at every step are cached.

use super::{Ack, Congestion, CongestionControl, Limits, PlainAck};
use crate::prefetch::prefetch;
use airtcp_wire::{Rate, Time};

/// A controller with the limits that it answered last. They change by nothing but its hooks.
pub struct Governor {
    controller: Box<dyn CongestionControl>,
    limits: Limits,
    hears_sends: bool,
}

impl From<Box<dyn CongestionControl>> for Governor {
    fn from(controller: Box<dyn CongestionControl>) -> Governor {
        Governor { limits: controller.limits(), hears_sends: controller.hears_sends(), controller }
    }
}

impl Governor {
    /// Fetches the controller ahead.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&*self.controller);
    }

    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.limits.cwnd
    }

    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.limits.ssthresh
    }

    #[inline]
    fn refresh(&mut self) {
        self.limits = self.controller.limits();
    }

    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.controller.on_ack(ack);
        self.refresh();
    }

    #[inline]
    pub fn on_plain_ack(&mut self, ack: &PlainAck) -> bool {
        self.controller.on_plain_ack(ack, &mut self.limits)
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

    #[inline(always)]
    pub fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        if self.hears_sends {
            self.tell_sent(now, bytes, in_flight);
        }
        if in_flight == bytes {
            self.tell_sent_alone(now);
        }
    }

    #[inline(never)]
    fn tell_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        self.controller.on_sent(now, bytes, in_flight);
        self.refresh();
    }

    #[cold]
    fn tell_sent_alone(&mut self, now: Time) {
        self.controller.on_sent_alone(now);
        self.refresh();
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
        self.limits.pacing_rate
    }
}
