//! When the receiver acknowledges.

use super::config::TcpConfig;
use airtcp_wire::{Dur, Time};

/// Immediate and delayed acknowledgments (RFC 9293 §3.8.6.3, RFC 5681 §4.2).
#[derive(Clone, Debug)]
pub struct AckPolicy {
    every_bytes: u64,
    delay: Dur,
    tick: Dur,
    quick_left: u32,
    pending_bytes: u64,
    is_due: bool,
    deadline: Time,
}

impl AckPolicy {
    pub fn new(config: &TcpConfig) -> AckPolicy {
        AckPolicy {
            // A segment counts as full although the peer's may be a little smaller.
            every_bytes: u64::from(config.ack_every.saturating_sub(1)) * u64::from(config.segment_payload())
                + 1,
            delay: config.delayed_ack,
            tick: config.delayed_ack_tick,
            quick_left: config.quick_acks,
            pending_bytes: 0,
            is_due: false,
            deadline: Time::NEVER,
        }
    }

    /// In-order data that closes no gap.
    #[inline]
    pub fn on_data(&mut self, now: Time, bytes: u64) {
        self.pending_bytes += bytes;
        if self.pending_bytes >= self.every_bytes || self.quick_left > 0 {
            self.quick_left = self.quick_left.saturating_sub(1);
            self.is_due = true;
        } else if self.deadline.is_never() {
            self.deadline =
                if self.tick == Dur::ZERO { now + self.delay } else { Time(now.0 + 1).round_up(self.tick) };
        }
    }

    /// An ACK must leave at once.
    #[inline]
    pub fn demand(&mut self) {
        self.is_due = true;
    }

    #[inline]
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    pub fn handle_timeout(&mut self, now: Time) {
        if now >= self.deadline {
            self.is_due = true;
        }
    }

    /// A segment with an ACK has left.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        self.pending_bytes = 0;
        self.is_due = false;
        self.deadline = Time::NEVER;
    }
}
