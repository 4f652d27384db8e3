//! The persist timer: when to probe a window that keeps the sender from sending (RFC 9293 §3.8.6.1).

use airtcp_wire::{Dur, Time};

#[derive(Clone, Copy, Debug)]
pub struct Persist {
    deadline: Time,
    /// Probes since the window was last open.
    probes: u32,
    is_due: bool,
}

impl Default for Persist {
    fn default() -> Persist {
        Persist { deadline: Time::NEVER, probes: 0, is_due: false }
    }
}

impl Persist {
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    pub fn probes(&self) -> u32 {
        self.probes
    }

    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// Returns whether no probe is due or scheduled, and none was sent since the window was last open.
    pub fn is_idle(&self) -> bool {
        self.deadline.is_never() && self.probes == 0 && !self.is_due
    }

    /// Schedules a probe if none is: after `rto`, doubled with each probe, but at most after `most`.
    pub fn arm(&mut self, now: Time, rto: Dur, most: Dur) {
        if self.deadline.is_never() {
            self.deadline = now + (rto * (1 << self.probes.min(10))).min(most);
        }
    }

    /// Stops the timer until the next [`arm`](Persist::arm), without forgetting the probes.
    pub fn postpone(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// The window is open.
    pub fn stop(&mut self) {
        self.deadline = Time::NEVER;
        self.probes = 0;
    }

    pub fn handle_timeout(&mut self, now: Time) {
        if self.deadline <= now {
            self.deadline = Time::NEVER;
            self.is_due = true;
        }
    }

    pub fn on_probe(&mut self) {
        self.is_due = false;
        self.probes += 1;
    }
}
