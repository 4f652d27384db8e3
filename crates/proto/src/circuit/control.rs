//! The sender of one control TCP (§4.5.1): credit for data packets, paid in header packets.

use super::compression::Compressor;
use super::config::Config;
use super::control_packet_len;
use super::fec::Repeater;
use super::sender::Output;
use super::tunnel_queue::TunnelQueue;
use crate::queue::Item;
use crate::tcp::{Burst, Connection, Transmit};
use airtcp_wire::{Ecn, Header, Segment, Time};

/// A control TCP and its account.
///
/// The credit is what TCP lets it send beyond its outstanding virtual bytes, in whole VMSS, less what has been forwarded
/// for the header packet to come. Data leaves first; once VMSS bytes have left, so does their header packet. A packet up
/// to VMSS long leaves while there is any credit, and what it overdraws counts for the next header packet; a longer one
/// waits for its whole length, and header packets that TCP lets go meanwhile save credit for it.
///
/// When the data ends amid a VMSS, no header packet follows until more data completes it: data triggers header packets
/// (§4.4, property 1). A repair of TCP's is no such trigger. It leaves when TCP says so, with VMSS bytes of the data that
/// waits before it; without any, one VMSS of credit is kept.
pub struct Control {
    pub connection: Connection,
    number: u16,
    vmss: i64,
    /// Bytes forwarded for the header packet to come; below zero, credit kept from header packets that have left.
    forwarded: i64,
    /// Leaves as soon as the data that it lets pass has left.
    held: Option<Transmit>,
    compressor: Option<Compressor>,
    repeater: Repeater,
}

impl Control {
    pub fn new(config: &Config, number: u16, connection: Connection) -> Control {
        let (vmss, compressor) = (config.vmss.0 as i64, Compressor::new(config));
        let repeater = Repeater::new(config.fec);
        Control { connection, number, vmss, forwarded: 0, held: None, compressor, repeater }
    }

    pub fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.connection.handle_segment(now, segment, ecn);
        // Nobody is there to be told.
        while self.connection.poll_event().is_some() {}
    }

    /// The next packet. A header packet is put into `out`, and says that `sent` data packets have been sent, if that is
    /// reported.
    pub fn poll(
        &mut self,
        now: Time,
        queue: &mut TunnelQueue,
        sent: Option<u16>,
        out: &mut Transmit,
    ) -> Option<Output> {
        if let Some(held) = &self.held {
            *out = *held;
            self.held = None;
        } else if self.may_forward(queue, || self.connection.allowance(now)) {
            return self.forward(queue);
        } else if !self.poll_tcp(now, queue, out) {
            return None;
        }
        if self.may_forward(queue, || 0) {
            self.held = Some(*out);
            return self.forward(queue);
        }
        Some(self.header(out, sent))
    }

    /// Begins to let data pass that needs no more than one packet for a header packet: what [`poll`](Control::poll) would answer
    /// by turns, [`next_in_burst`](Control::next_in_burst) answers together, until [`end_burst`](Control::end_burst). `None`:
    /// something else may have to leave.
    #[inline]
    pub fn begin_burst(&mut self, now: Time, queue: &TunnelQueue) -> Option<Burst> {
        let is_plain = self.held.is_none() && self.compressor.is_none() && !self.repeater.is_in_use();
        if !is_plain || !self.is_due_after_first(queue) {
            return None;
        }
        self.connection.set_unsent(self.vmss as u64 * queue.len() as u64);
        self.connection.begin_burst(now)
    }

    /// May another data packet leave, and its header packet with it?
    #[inline]
    pub fn continues(&self, burst: &Burst, queue: &TunnelQueue) -> bool {
        self.connection.continues(burst) && self.is_due_after_first(queue)
    }

    /// Will the packet that waits first be followed by a header packet at once?
    #[inline]
    fn is_due_after_first(&self, queue: &TunnelQueue) -> bool {
        queue.first_bytes().map(i64::from).is_some_and(|bytes| {
            bytes <= self.vmss && self.forwarded < self.vmss && self.forwarded + bytes >= self.vmss
        })
    }

    /// Makes of `header`, which is the header packet before, the one that follows the data packet that leaves. Of a burst that
    /// [continues](Control::continues). Returns where its virtual bytes begin.
    #[inline]
    pub fn next_in_burst(&mut self, now: Time, burst: &mut Burst, item: &Item, header: &mut Header) -> u64 {
        // Each is all that there is to send when it leaves.
        self.connection.set_unsent(self.vmss as u64);
        if burst.sent == 0 {
            *header = self.connection.open_burst(now);
        }
        let offset = self.connection.next_in_burst(now, burst, header);
        self.forwarded += i64::from(item.bytes) - i64::from(header.len);
        offset
    }

    /// Returns whether that was all that may leave.
    #[inline]
    pub fn end_burst(&mut self, now: Time, burst: &Burst, queue: &TunnelQueue) -> bool {
        self.connection.set_unsent(if queue.is_empty() { 0 } else { self.vmss as u64 });
        self.connection.end_burst(now, burst)
    }

    /// May the packet that waits first leave? `allowance` is what TCP lets it send.
    #[inline]
    fn may_forward(&self, queue: &TunnelQueue, allowance: impl FnOnce() -> u64) -> bool {
        let Some(bytes) = queue.first_bytes() else { return false };
        if self.forwarded >= self.vmss {
            return false;
        }
        let allowance = allowance() as i64;
        let credit = allowance - allowance % self.vmss - self.forwarded;
        if i64::from(bytes) > self.vmss { credit >= i64::from(bytes) } else { credit > 0 }
    }

    fn forward(&mut self, queue: &mut TunnelQueue) -> Option<Output> {
        let item = queue.pop()?;
        self.forwarded += i64::from(item.bytes);
        Some(Output::Data(item))
    }

    /// Asks TCP for a segment, with virtual bytes to send as long as data waits or has left ahead of its header packet.
    /// A header packet, new or sent again, is worth VMSS bytes of data. Returns whether there is one.
    fn poll_tcp(&mut self, now: Time, queue: &TunnelQueue, out: &mut Transmit) -> bool {
        let is_wanted = !queue.is_empty() || self.forwarded >= self.vmss;
        self.connection.set_unsent(if is_wanted { self.vmss as u64 } else { 0 });
        if !self.connection.poll_transmit_into(now, out) {
            return false;
        }
        let gained = self.forwarded - i64::from(out.segment.len);
        // What nothing waits for is not saved up.
        self.forwarded = if queue.is_empty() { gained.max(self.forwarded.min(-self.vmss)) } else { gained };
        true
    }

    fn header(&mut self, out: &mut Transmit, sent: Option<u16>) -> Output {
        let segment = &mut out.segment;
        if let Some(sent) = sent.filter(|_| segment.len > 0) {
            segment.window = sent;
        }
        let uncompressed = control_packet_len(segment);
        let bytes = match &mut self.compressor {
            Some(compressor) => compressor.compress(segment, uncompressed),
            None => uncompressed,
        };
        let repeats = if segment.len > 0 { self.repeater.repeats(segment) } else { 0 };
        Output::Header { control: self.number, bytes, repeats }
    }
}
