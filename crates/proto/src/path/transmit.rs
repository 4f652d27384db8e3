//! The transmitter of constant rate.

use super::Transmitter;
use airtcp_wire::{Dur, Rate, Time};

/// How long each of `packets` packets of `bytes` occupies the transmitter, if all of them wait from the beginning. Fewer times if the
/// transmitter stops serving. For a cell, these are the service times of paper 003's trace B.
pub fn service_times(transmitter: &mut dyn Transmitter, bytes: u32, packets: usize) -> Vec<Dur> {
    let mut free_at = Time::ZERO;
    let mut next = || {
        let start = free_at;
        free_at = transmitter.departure(start, bytes);
        (!free_at.is_never()).then(|| free_at.since(start))
    };
    (0..packets).map_while(|_| next()).collect()
}

/// Sends at a constant rate. Rounds a packet's time down to the nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct FixedRate {
    rate: Rate,
}

impl FixedRate {
    pub fn new(rate: Rate) -> FixedRate {
        FixedRate { rate }
    }

    /// How long a packet of `bytes` takes.
    #[inline]
    pub(super) fn time_for(self, bytes: u32) -> Dur {
        self.rate.time_for(u64::from(bytes))
    }
}

impl Transmitter for FixedRate {
    fn fixed(&self) -> Option<FixedRate> {
        Some(*self)
    }

    #[inline]
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        start + self.time_for(bytes)
    }
}
