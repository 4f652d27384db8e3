//! What a link counts.

use crate::queue::DropCause;
use airtcp_wire::{Dur, Time};

/// What a link did since it was made, or since [`Link::reset_stats`](super::Link::reset_stats).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkStats {
    /// Packets handed to the link.
    pub arrived_packets: u64,
    /// Packets that the transmitter took up, those corrupted on the way included.
    pub sent_packets: u64,
    pub sent_bytes: u64,
    /// How long the transmitter was occupied.
    pub busy: Dur,
    /// Packets waiting, averaged over time.
    pub mean_queue_packets: f64,
    pub max_queue_packets: u32,
    /// The largest value of RED's average queue, in the unit it counts in; `None` for a queue without an average.
    pub max_average_queue: Option<f64>,
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

/// What the running counts already include although it lies in the future.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead {
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub busy: Dur,
    /// Modulo 2⁶⁴.
    pub wait_ns: u64,
    /// Packets waiting now.
    pub waiting: u64,
    /// Packets that the queue has marked so far.
    pub marked: u64,
}

/// The running counts behind [`LinkStats`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    since: Time,
    arrived_packets: u64,
    sent_packets: u64,
    sent_bytes: u64,
    busy: Dur,
    /// The sum of all packets' waiting times, which is the integral of the queue's length. Modulo 2⁶⁴. A packet that has joined
    /// and not left yet counts as minus the time of its joining.
    wait_ns: u64,
    max_waiting: u64,
    max_average: Option<f64>,
    marked_before: u64,
    dropped: [u64; 4],
}

impl Counters {
    #[inline]
    pub fn on_arrivals(&mut self, packets: u64) {
        self.arrived_packets += packets;
    }

    /// A packet joins the queue for an unknown time.
    #[inline]
    pub fn on_join(&mut self, now: Time) {
        self.wait_ns = self.wait_ns.wrapping_sub(now.0);
    }

    /// A packet that joined the queue leaves it.
    #[inline]
    pub fn on_leave(&mut self, at: Time) {
        self.wait_ns = self.wait_ns.wrapping_add(at.0);
    }

    /// A packet joins the queue for a known time.
    #[inline]
    pub fn on_wait(&mut self, wait: Dur) {
        self.wait_ns = self.wait_ns.wrapping_add(wait.0);
    }

    #[inline]
    pub fn max_waiting(&self) -> u64 {
        self.max_waiting
    }

    #[inline]
    pub fn on_queue_length(&mut self, packets: usize) {
        self.max_waiting = self.max_waiting.max(packets as u64);
    }

    #[inline]
    pub fn on_average(&mut self, average: Option<f64>) {
        if average > self.max_average {
            self.max_average = average;
        }
    }

    /// The transmitter takes up packets of one size.
    #[inline]
    pub fn on_send(&mut self, packets: u64, bytes: u32, held: Dur) {
        self.sent_packets += packets;
        self.sent_bytes += packets * u64::from(bytes);
        self.busy += held * packets;
    }

    /// The transmitter is occupied, whatever it sends.
    pub fn on_busy(&mut self, held: Dur) {
        self.busy += held;
    }

    pub fn on_lost(&mut self, cause: DropCause) {
        self.dropped[cause as usize] += 1;
    }

    pub fn reset(&mut self, now: Time, ahead: Ahead) {
        *self = Counters {
            since: now,
            sent_packets: ahead.sent_packets,
            sent_bytes: ahead.sent_bytes,
            busy: ahead.busy,
            wait_ns: ahead.wait_ns,
            max_waiting: ahead.waiting,
            marked_before: ahead.marked,
            ..Counters::default()
        };
    }

    pub fn read(&self, now: Time, ahead: &Ahead) -> LinkStats {
        let elapsed = now.since(self.since).0.max(1);
        LinkStats {
            arrived_packets: self.arrived_packets,
            sent_packets: self.sent_packets - ahead.sent_packets,
            sent_bytes: self.sent_bytes - ahead.sent_bytes,
            busy: self.busy - ahead.busy,
            mean_queue_packets: self.wait_ns.wrapping_sub(ahead.wait_ns) as f64 / elapsed as f64,
            max_queue_packets: self.max_waiting.min(u64::from(u32::MAX)) as u32,
            max_average_queue: self.max_average,
            marked_packets: ahead.marked - self.marked_before,
            dropped: self.dropped,
        }
    }
}
