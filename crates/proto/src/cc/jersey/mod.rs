//! TCP Jersey and TCP New Jersey: routers say when they are congested, and everything else that is lost was corrupted.
//!
//! A router that warns of congestion (CW) marks every packet while its queue is long, as
//! [`congestion_warning`](crate::queue::congestion_warning) does; the receiver echoes the mark. The window then becomes what the
//! path has been seen to carry, ownd = RTTmin·R. Three duplicate ACKs without a warning are answered by a retransmission only.
//!
//! Our reading: the mark is ECN's and its echo ECN-Echo, so that it reduces the window once a window of data
//! (RFC 3168 §6.1.2), whether the ACK that carries it is a duplicate or not. The window is lowered to ownd, never raised to
//! it.

pub mod new;
pub mod original;

use super::westwood::AckedCount;
use super::{Ack, Avoidance, Cause, Congestion, Window};
use airtcp_wire::{Dur, Time};

/// By which clock a member takes the time between two ACKs, tₙ − tₙ₋₁.
pub trait AckClock: Send + Clone {
    /// `None` on the first ACK.
    fn tick(&mut self, ack: &Ack) -> Option<Dur>;
}

/// The sender's own clock: when the ACK arrived.
#[derive(Clone, Debug, Default)]
pub struct SendersClock {
    last: Option<Time>,
}

impl AckClock for SendersClock {
    fn tick(&mut self, ack: &Ack) -> Option<Dur> {
        let last = self.last.replace(ack.now)?;
        Some(ack.now.since(last))
    }
}

/// Reno's growth, with ownd in place of half the window, and no answer to a loss without a warning.
#[derive(Clone, Debug)]
pub struct Jersey<C> {
    clock: C,
    count: AckedCount,
    /// R in bytes per second.
    rate: f64,
    min_rtt: Dur,
}

impl<C: AckClock> Jersey<C> {
    pub fn new(clock: C) -> Jersey<C> {
        Jersey { clock, count: AckedCount::default(), rate: 0.0, min_rtt: Dur::ZERO }
    }

    /// ownd = RTTmin·R, in bytes.
    fn ownd(&self) -> f64 {
        self.min_rtt.as_secs_f64() * self.rate
    }

    /// R = (RTT·R₋₁ + L)/((tₙ − tₙ₋₁) + RTT).
    fn estimate(&mut self, length: u64, since_last: Dur, rtt: Dur) {
        let rtt = rtt.as_secs_f64();
        let divisor = since_last.as_secs_f64() + rtt;
        if divisor > 0.0 {
            self.rate = (rtt * self.rate + length as f64) / divisor;
        }
    }
}

impl<C: AckClock> Avoidance for Jersey<C> {
    fn observe(&mut self, ack: &Ack, window: &mut Window) {
        if ack.min_rtt != Dur::MAX {
            self.min_rtt = ack.min_rtt;
        }
        let length = self.count.count(ack, window.mss);
        if let Some(since_last) = self.clock.tick(ack) {
            self.estimate(length, since_last, ack.srtt);
        }
    }

    fn increase(&mut self, _ack: &Ack, acked: u64, window: &mut Window) {
        window.grow_additively(acked, 1.0);
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        match event.cause {
            // A warning is told by itself, also of the third duplicate ACK.
            Cause::Loss => None,
            Cause::Ecn | Cause::Timeout => Some(window.ssthresh_for(self.ownd())),
        }
    }
}
