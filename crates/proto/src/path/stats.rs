//! What a link counts.

use crate::queue::DropCause;
use airtcp_wire::{Dur, Time};

/// What a link did since it was made, or since [`Link::reset_stats`](super::Link::reset_stats).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkStats {
    /// Packets handed to the link.
    pub arrived_packets: u64,
    /// Packets that the transmitter took up, also if they were then corrupted.
    pub sent_packets: u64,
    pub sent_bytes: u64,
    /// Time for which the transmitter held a packet.
    pub busy: Dur,
    /// Packets waiting, averaged over time.
    pub mean_queue_packets: f64,
    pub max_queue_packets: u32,
    /// Packets that the queue marked.
    pub marked_packets: u64,
    /// Packets lost by [`DropCause`], in the order of that enum.
    dropped: [u64; 4],
}

impl LinkStats {
    /// Packets lost for this reason.
    pub fn dropped(&self, cause: DropCause) -> u64 {
        self.dropped[cause as usize]
    }
}

/// The running counts behind [`LinkStats`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    since: Time,
    arrived_packets: u64,
    sent_packets: u64,
    sent_bytes: u64,
    /// Includes what is still to come of the packet in the transmitter.
    busy: Dur,
    waiting: u32,
    max_waiting: u32,
    /// The sum of the times at which packets left the queue less the sum of those at which they joined it. With
    /// `waiting · now` added, this is the integral of the queue's length in packet-nanoseconds, modulo 2⁶⁴.
    area: u64,
    marked_before: u64,
    dropped: [u64; 4],
}

impl Counters {
    #[inline]
    pub fn on_arrival(&mut self, now: Time) {
        self.arrived_packets += 1;
        self.waiting += 1;
        self.area = self.area.wrapping_sub(now.0);
    }

    #[inline]
    pub fn on_leave_queue(&mut self, at: Time) {
        self.waiting -= 1;
        self.area = self.area.wrapping_add(at.0);
    }

    /// The queue has changed; packets that were dropped or went straight to the transmitter do not count.
    #[inline]
    pub fn note_length(&mut self) {
        self.max_waiting = self.max_waiting.max(self.waiting);
    }

    #[inline]
    pub fn on_send(&mut self, bytes: u32, held: Dur) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(bytes);
        self.busy += held;
    }

    pub fn on_drop(&mut self, cause: DropCause) {
        self.dropped[cause as usize] += 1;
    }

    pub fn reset(&mut self, now: Time, free_at: Time, marked: u64) {
        *self = Counters {
            since: now,
            busy: free_at.since(now),
            waiting: self.waiting,
            max_waiting: self.waiting,
            area: now.0.wrapping_mul(u64::from(self.waiting)).wrapping_neg(),
            marked_before: marked,
            ..Counters::default()
        };
    }

    pub fn read(&self, now: Time, free_at: Time, marked: u64) -> LinkStats {
        let area = self.area.wrapping_add(now.0.wrapping_mul(u64::from(self.waiting)));
        let elapsed = now.since(self.since).0.max(1);
        LinkStats {
            arrived_packets: self.arrived_packets,
            sent_packets: self.sent_packets,
            sent_bytes: self.sent_bytes,
            busy: self.busy.saturating_sub(free_at.since(now)),
            mean_queue_packets: area as f64 / elapsed as f64,
            max_queue_packets: self.max_waiting,
            marked_packets: marked - self.marked_before,
            dropped: self.dropped,
        }
    }
}
