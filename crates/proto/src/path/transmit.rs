//! A transmitter of constant rate.

use super::Transmitter;
use airtcp_wire::{Dur, Rate, Time};

/// For how long each of `packets` packets of `bytes` holds the transmitter, if all of them wait from the beginning; fewer
/// where it serves no more. Of a cell these are the service times of paper 003's trace B.
pub fn service_times(transmitter: &mut dyn Transmitter, bytes: u32, packets: usize) -> Vec<Dur> {
    let mut free_at = Time::ZERO;
    let mut next = || {
        let start = free_at;
        free_at = transmitter.departure(start, bytes);
        (!free_at.is_never()).then(|| free_at.since(start))
    };
    (0..packets).map_while(|_| next()).collect()
}

/// Sends at one rate for ever. Rounds a packet's time down to the nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct FixedRate {
    rate: Rate,
    /// Two sizes and their times: most packets of a direction are alike, or alternate, and a division is expensive.
    memos: [(u32, Dur); 2],
}

impl FixedRate {
    pub fn new(rate: Rate) -> FixedRate {
        FixedRate { rate, memos: [(0, Dur::ZERO); 2] }
    }

    /// How long a packet takes.
    #[inline]
    pub(super) fn time_for(&mut self, bytes: u32) -> Dur {
        let [last, other] = &self.memos;
        if last.0 == bytes {
            last.1
        } else if other.0 == bytes {
            other.1
        } else {
            self.find_time_for(bytes)
        }
    }

    #[inline(never)]
    fn find_time_for(&mut self, bytes: u32) -> Dur {
        self.memos = [(bytes, self.rate.time_for(u64::from(bytes))), self.memos[0]];
        self.memos[0].1
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
