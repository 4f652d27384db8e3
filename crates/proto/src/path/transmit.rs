//! A transmitter of constant rate.

use super::Transmitter;
use airtcp_wire::{Dur, Rate, Time};

/// Sends at one rate for ever. Rounds a packet's time down to the nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct FixedRate {
    rate: Rate,
    /// The last packet's size and time: most packets of a direction are alike, and a division is dear.
    memo: (u32, Dur),
}

impl FixedRate {
    pub fn new(rate: Rate) -> FixedRate {
        FixedRate { rate, memo: (0, Dur::ZERO) }
    }
}

impl Transmitter for FixedRate {
    #[inline]
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        if self.memo.0 != bytes {
            self.memo = (bytes, self.rate.time_for(u64::from(bytes)));
        }
        start + self.memo.1
    }
}
