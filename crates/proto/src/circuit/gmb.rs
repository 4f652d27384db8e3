//! The GMB sender (§4.5.2): sends at the guaranteed minimum bandwidth, unconditionally and without header packets.

use super::tunnel_queue::{Leaving, TunnelQueue};
use airtcp_wire::{Dur, Rate, Time};

/// The paper's timer.
const TICK: Dur = Dur::from_millis(1);
/// The bucket counts in units of 1/1000 bit, which a rate of 1 bit/s lets pass in one tick.
const UNITS_PER_BYTE: i64 = 8000;

/// A leaky bucket. While packets wait, what it sends over any time differs from the rate by at most the largest packet and one tick's
/// worth.
#[derive(Debug)]
pub struct Gmb {
    pub rate: Rate,
    next_tick: Time,
    /// What may still be sent; below zero, the overdraft of the last packet.
    bucket: i64,
}

impl Gmb {
    pub fn new(rate: Rate, now: Time) -> Gmb {
        Gmb { rate, next_tick: now + TICK, bucket: 0 }
    }

    /// A packet has come to an empty queue. What could have been sent before is forfeited.
    pub fn on_backlog(&mut self, now: Time) {
        self.handle_timeout(now);
        self.bucket = self.bucket.min(0);
    }

    pub fn handle_timeout(&mut self, now: Time) {
        if self.next_tick <= now {
            let ticks = now.since(self.next_tick).0 / TICK.0 + 1;
            self.next_tick += TICK * ticks;
            let worth = i64::try_from(u128::from(self.rate.0) * u128::from(ticks)).unwrap_or(i64::MAX);
            self.bucket = self.bucket.saturating_add(worth);
        }
    }

    /// When to call [`handle_timeout`](Gmb::handle_timeout) and then [`poll`](Gmb::poll).
    pub fn poll_timeout(&self, queue: &TunnelQueue) -> Time {
        if queue.is_empty() { Time::NEVER } else { self.next_tick }
    }

    pub fn poll(&mut self, now: Time, queue: &mut TunnelQueue) -> Option<Leaving> {
        if self.bucket <= 0 {
            return None;
        }
        match queue.pop(now) {
            Some(leaving) => {
                self.bucket -= i64::from(leaving.bytes()) * UNITS_PER_BYTE;
                Some(leaving)
            }
            None => {
                self.bucket = 0;
                None
            }
        }
    }
}
