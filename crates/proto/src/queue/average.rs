//! The moving average of a queue's length by which routers judge congestion (Floyd and Jacobson 1993, §4).

use crate::choice::Faults;
use airtcp_wire::{Bytes, Dur, Probability, Time};

/// Checks the keys of a discipline that its average needs.
pub(super) fn check(weight: Probability, mean_packet: Bytes, faults: &mut Faults) {
    faults.refuse_if(weight.get() == 0.0, "weight", "must be above zero");
    faults.refuse_if(mean_packet == Bytes(0), "mean_packet", "must be above zero");
}

#[derive(Clone, Debug)]
pub(super) struct Average {
    pub value: f64,
    /// Weight of the instantaneous queue.
    weight: f64,
    mean_packet_time: Dur,
    idle_since: Option<Time>,
}

impl Average {
    /// `mean_packet_time`: how long the link takes for a mean packet, which tells how many it could have sent while idle.
    pub fn new(weight: f64, mean_packet_time: Dur) -> Average {
        Average { value: 0.0, weight, mean_packet_time, idle_since: Some(Time::ZERO) }
    }

    /// A packet arrives at a queue of length `queue`. Idle time counts as if mean packets had found the queue empty all the while.
    pub fn on_arrival(&mut self, now: Time, queue: f64) {
        if let Some(since) = self.idle_since.take() {
            let missed = now.since(since).0 / self.mean_packet_time.0.max(1);
            self.value *= libm::pow(1.0 - self.weight, missed as f64);
        }
        self.value += self.weight * (queue - self.value);
    }

    /// The transmitter finds nothing to send.
    pub fn on_idle(&mut self, now: Time) {
        self.idle_since = Some(now);
    }
}
