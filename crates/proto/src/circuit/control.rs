//! The sender of one control TCP (§4.5.1): header packets pay for data packets.

use super::compression::Compressor;
use super::config::Config;
use super::control_packet_len;
use super::fec::Repeater;
use super::sender::Output;
use super::tunnel_queue::TunnelQueue;
use crate::tcp::{Connection, Transmit};
use airtcp_wire::{Ecn, Segment, Time};

/// A control TCP and its account.
///
/// The credit is what TCP may send beyond its outstanding virtual bytes, in whole VMSS, less what has been forwarded for the next header
/// packet. Data leaves first; once VMSS bytes have left, their header packet follows. A packet of up to VMSS bytes leaves while there is
/// any credit, and an overdraft counts towards the next header packet. A longer packet waits for credit of its whole length; header
/// packets that TCP sends meanwhile save credit for it.
///
/// If the data ends within a VMSS, no header packet follows until more data completes it: data triggers header packets (§4.4,
/// property 1). A retransmission of TCP needs no such trigger. It leaves when TCP says so, after up to VMSS bytes of waiting data; if no
/// data waits, one VMSS of credit is kept.
pub struct Control {
    pub connection: Connection,
    number: u16,
    pub(super) vmss: i64,
    /// Bytes forwarded for the next header packet; below zero, credit kept from header packets that have left.
    pub(super) forwarded: i64,
    /// A header packet that leaves as soon as the data has left that it pays for.
    pub(super) held: Option<Transmit>,
    pub(super) compressor: Option<Compressor>,
    pub(super) repeater: Repeater,
}

impl Control {
    pub fn new(config: &Config, number: u16, connection: Connection) -> Control {
        let (vmss, compressor) = (config.vmss.0 as i64, Compressor::new(config));
        let repeater = Repeater::new(config.fec.repeats());
        Control { connection, number, vmss, forwarded: 0, held: None, compressor, repeater }
    }

    pub fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.connection.handle_segment(now, segment, ecn);
        // Nobody needs the events.
        while self.connection.poll_event().is_some() {}
    }

    /// The next packet. A header packet is written to `out`; it reports that `sent` data packets have been sent, if that is given.
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
            return self.forward(now, queue);
        } else if !self.poll_tcp(now, queue, out) {
            return None;
        }
        if self.may_forward(queue, || 0) {
            self.held = Some(*out);
            return self.forward(now, queue);
        }
        Some(self.header(out, sent))
    }

    /// May the first waiting packet leave? `allowance` is what TCP may send, in bytes.
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

    fn forward(&mut self, now: Time, queue: &mut TunnelQueue) -> Option<Output> {
        let leaving = queue.pop(now)?;
        self.forwarded += i64::from(leaving.bytes());
        Some(leaving.into())
    }

    /// Asks TCP for a segment. TCP has virtual bytes to send while data waits or has left ahead of its header packet. A header packet,
    /// new or retransmitted, pays for VMSS bytes of data. Returns whether there is a segment.
    fn poll_tcp(&mut self, now: Time, queue: &TunnelQueue, out: &mut Transmit) -> bool {
        let is_wanted = !queue.is_empty() || self.forwarded >= self.vmss;
        self.connection.set_unsent(if is_wanted { self.vmss as u64 } else { 0 });
        if !self.connection.poll_transmit_into(now, out) {
            return false;
        }
        let gained = self.forwarded - i64::from(out.segment.len);
        // While no data waits, no more than one VMSS of credit is saved.
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
