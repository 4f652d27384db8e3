//! Bursts: data packets that leave one after the other, each followed by its header packet. This is what most often leaves the only
//! control TCP of a circuit.
//!
//! Invariant: [`transmit`] sends a data packet and its header packet together, with the effect of two calls of
//! [`Sender::poll_transmit`]. It is the only door. Without this folder, `no_shortcut.rs` stands in for it.

use super::Sender;
use super::control::Control;
use super::outlet::{Outlet, Pair};
use super::plain_packet_len;
use super::tunnel_queue::TunnelQueue;
use crate::marks::{self, Mark};
use crate::queue::Item;
use crate::tcp::Burst;
use airtcp_wire::{Header, Time};

/// Sends data packets, each followed by a header packet, as long as nothing else may have to leave. Returns whether any left.
#[inline]
pub fn transmit(now: Time, outlet: &mut impl Outlet) -> bool {
    let mut any = false;
    while let Some(mut burst) = outlet.sender().begin_burst(now) {
        outlet.begin_burst();
        let mut header = Header::default();
        while let Some(pair) = outlet.sender().next_in_burst(now, &mut burst, &mut header) {
            marks::hit(Mark::Pair);
            outlet.take(&header, pair);
        }
        any |= burst.sent > 0;
        if outlet.sender().end_burst(now, &burst) {
            break;
        }
    }
    any
}

impl Sender {
    /// Begins a burst, which must be [ended](Sender::end_burst). `None` if something else may have to leave.
    #[inline]
    fn begin_burst(&mut self, now: Time) -> Option<Burst> {
        if self.gmb.is_some() || self.rests(now) {
            return None;
        }
        let [control] = &mut self.controls[..] else { return None };
        let burst = control.begin_burst(now, &self.queue)?;
        self.rests_until = Time::ZERO;
        Some(burst)
    }

    /// The next data packet, if it and a header packet may leave. `header` is the previous header packet of the burst, which becomes
    /// the one that follows this data packet.
    #[inline]
    fn next_in_burst(&mut self, now: Time, burst: &mut Burst, header: &mut Header) -> Option<Pair> {
        let [control] = &mut self.controls[..] else { return None };
        if !control.continues(burst, &self.queue) {
            return None;
        }
        let item = *self.queue.first()?;
        self.queue.drop_first(&item);
        self.sent = self.sent.wrapping_add(1);
        let offset = control.next_in_burst(now, burst, &item, header);
        if self.losses.is_some() {
            header.window = self.sent;
        }
        let ecn = control.connection.new_data_ecn();
        Some(Pair { item, bytes: plain_packet_len(header, 0), ecn, offset })
    }

    /// Ends a burst. Returns whether nothing more may leave now.
    #[inline]
    fn end_burst(&mut self, now: Time, burst: &Burst) -> bool {
        let is_over = self.controls[0].end_burst(now, burst, &self.queue);
        self.update_windows();
        if is_over {
            self.come_to_rest();
        }
        is_over
    }
}

impl Control {
    #[inline]
    fn begin_burst(&mut self, now: Time, queue: &TunnelQueue) -> Option<Burst> {
        let is_plain = self.held.is_none() && self.compressor.is_none() && !self.repeater.is_in_use();
        if !is_plain || !self.is_due_after_first(queue) {
            return None;
        }
        self.connection.set_unsent(self.vmss as u64 * queue.len() as u64);
        self.connection.begin_burst(now)
    }

    /// May another data packet leave, and its header packet with it?
    #[inline]
    fn continues(&self, burst: &Burst, queue: &TunnelQueue) -> bool {
        burst.continues() && self.is_due_after_first(queue)
    }

    /// Is a header packet due right after the first data packet of the queue?
    #[inline]
    fn is_due_after_first(&self, queue: &TunnelQueue) -> bool {
        queue.first_bytes().map(i64::from).is_some_and(|bytes| {
            bytes <= self.vmss && self.forwarded < self.vmss && self.forwarded + bytes >= self.vmss
        })
    }

    /// Makes `header` the header packet that follows the data packet `item`. Returns the stream offset of its virtual bytes.
    #[inline]
    fn next_in_burst(&mut self, now: Time, burst: &mut Burst, item: &Item, header: &mut Header) -> u64 {
        // The TCP never has more to send than the present header packet.
        self.connection.set_unsent(self.vmss as u64);
        if burst.sent == 0 {
            *header = self.connection.open_burst(now, burst);
        }
        let offset = self.connection.next_in_burst(now, burst, header);
        self.forwarded += i64::from(item.bytes) - i64::from(header.len);
        offset
    }

    #[inline]
    fn end_burst(&mut self, now: Time, burst: &Burst, queue: &TunnelQueue) -> bool {
        self.connection.set_unsent(if queue.is_empty() { 0 } else { self.vmss as u64 });
        self.connection.end_burst(now, burst)
    }
}
