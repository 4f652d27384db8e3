//! When the receiver acknowledges.

use super::config::TcpConfig;
use airtcp_wire::{Dur, Time};

/// ACKs of segments beyond a gap that leave at once: so many make the sender retransmit (RFC 5681 §3.2).
const PROMPT_DUPLICATES: u32 = 3;

/// The longest time for which an ACK of a segment beyond a gap is held back (Linux's `tcp_comp_sack_delay_ns`).
const LONGEST_COMPRESSION: Dur = Dur::from_millis(1);

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
    compression: Compression,
}

/// Linux's way with segments beyond a gap: after the first ones an ACK stands for several.
#[derive(Clone, Copy, Debug)]
struct Compression {
    most: u32,
    delay: Dur,
    /// RCV.NXT, at which the gap begins.
    gap: u64,
    prompt: u32,
    held: u32,
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
            compression: Compression {
                most: config.compressed_acks,
                delay: LONGEST_COMPRESSION,
                gap: 0,
                prompt: 0,
                held: 0,
            },
        }
    }

    /// A round trip of the handshake took `rtt`: Linux compresses for 5 % of that.
    pub fn on_handshake(&mut self, rtt: Dur) {
        self.compression.delay = (rtt / 20).min(LONGEST_COMPRESSION);
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

    /// Data beyond a gap that begins at `next`, of which SACK tells (RFC 5681 §4.2: at once).
    pub fn on_data_beyond(&mut self, now: Time, next: u64) {
        let compression = &mut self.compression;
        if compression.gap != next {
            (compression.gap, compression.prompt) = (next, 0);
        }
        if compression.held >= compression.most || self.quick_left > 0 {
            self.quick_left = self.quick_left.saturating_sub(1);
            self.is_due = true;
        } else if compression.prompt < PROMPT_DUPLICATES {
            compression.prompt += 1;
            self.is_due = true;
        } else {
            compression.held += 1;
            self.deadline = self.deadline.min(now + compression.delay);
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
        self.compression.held = 0;
    }
}
