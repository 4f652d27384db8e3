//! A controller as the sender holds it, with the values that are needed at every step.

use super::unlimited::Unlimited;
use super::{Ack, Build, Congestion, CongestionControl, Limits, PlainAck};
use crate::prefetch::prefetch;
use airtcp_wire::{Rate, Time};

/// A controller and its limits, which only its hooks change.
pub struct Governor {
    controller: Box<dyn CongestionControl>,
    /// False until data is sent, since many connections only receive. Until then [`Unlimited`], which takes no memory, stands in.
    has_controller: bool,
    hears_sends: bool,
    limits: Limits,
}

impl From<Box<dyn CongestionControl>> for Governor {
    fn from(controller: Box<dyn CongestionControl>) -> Governor {
        let (limits, hears_sends) = (controller.limits(), controller.hears_sends());
        Governor { controller, has_controller: true, hears_sends, limits }
    }
}

impl Governor {
    /// A governor without a controller, with the limits that the controller will begin with.
    pub fn before_data(build: &Build) -> Governor {
        let limits = Limits::new(build.initial_window, build.initial_ssthresh, None);
        Governor { controller: Box::new(Unlimited), has_controller: false, hears_sends: false, limits }
    }

    #[inline]
    pub fn has_controller(&self) -> bool {
        self.has_controller
    }

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

    /// Calls a hook of the controller, if there is one, and updates the limits.
    #[inline]
    fn tell(&mut self, hook: impl FnOnce(&mut dyn CongestionControl)) {
        if self.has_controller {
            hook(&mut *self.controller);
            self.limits = self.controller.limits();
        }
    }

    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.tell(|controller| controller.on_ack(ack));
    }

    #[inline]
    pub fn on_plain_ack(&mut self, ack: &PlainAck) -> bool {
        self.controller.on_plain_ack(ack, &mut self.limits)
    }

    pub fn on_congestion(&mut self, event: &Congestion) {
        self.tell(|controller| controller.on_congestion(event));
    }

    pub fn on_recovery_exit(&mut self, now: Time) {
        self.tell(|controller| controller.on_recovery_exit(now));
    }

    pub fn on_spurious(&mut self, now: Time, cwnd: u64, ssthresh: u64) {
        self.tell(|controller| controller.on_spurious(now, cwnd, ssthresh));
    }

    pub fn on_restart(&mut self, now: Time, rtos: u64) {
        self.tell(|controller| controller.on_restart(now, rtos));
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
        self.tell(|controller| controller.on_sent(now, bytes, in_flight));
    }

    #[cold]
    fn tell_sent_alone(&mut self, now: Time) {
        self.tell(|controller| controller.on_sent_alone(now));
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
        self.limits.pacing_rate()
    }
}
