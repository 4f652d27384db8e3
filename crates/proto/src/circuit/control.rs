//! The sender of one control TCP (§4.5.1): credit for data packets, paid in header packets.

use super::compression::Compressor;
use super::config::Config;
use super::control_packet_len;
use super::fec::Repeater;
use super::sender::Output;
use super::tunnel_queue::TunnelQueue;
use crate::tcp::{Connection, Transmit};
use airtcp_wire::Time;

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

    /// The next packet. A header packet says that `sent` data packets have been sent, if that is reported.
    pub fn poll(&mut self, now: Time, queue: &mut TunnelQueue, sent: Option<u16>) -> Option<Output> {
        if self.held.is_none() && !self.may_forward(now, queue) {
            self.held = self.poll_tcp(now, queue);
        }
        if self.may_forward(now, queue) {
            let item = queue.pop()?;
            self.forwarded += i64::from(item.bytes);
            return Some(Output::Data(item));
        }
        self.held.take().map(|transmit| self.header(transmit, sent))
    }

    fn may_forward(&self, now: Time, queue: &TunnelQueue) -> bool {
        let Some(bytes) = queue.first_bytes() else { return false };
        if self.forwarded >= self.vmss {
            return false;
        }
        let allowance = if self.held.is_some() { 0 } else { self.connection.allowance(now) as i64 };
        let credit = allowance - allowance % self.vmss - self.forwarded;
        if i64::from(bytes) > self.vmss { credit >= i64::from(bytes) } else { credit > 0 }
    }

    /// Asks TCP for a segment, with virtual bytes to send as long as data waits or has left ahead of its header packet.
    /// A header packet, new or sent again, is worth VMSS bytes of data.
    fn poll_tcp(&mut self, now: Time, queue: &TunnelQueue) -> Option<Transmit> {
        let is_wanted = !queue.is_empty() || self.forwarded >= self.vmss;
        self.connection.set_unsent(if is_wanted { self.vmss as u64 } else { 0 });
        let transmit = self.connection.poll_transmit(now)?;
        let gained = self.forwarded - i64::from(transmit.segment.len);
        // What nothing waits for is not saved up.
        self.forwarded = if queue.is_empty() { gained.max(self.forwarded.min(-self.vmss)) } else { gained };
        Some(transmit)
    }

    fn header(&mut self, mut transmit: Transmit, sent: Option<u16>) -> Output {
        if let Some(sent) = sent.filter(|_| transmit.segment.len > 0) {
            transmit.segment.window = sent;
        }
        let uncompressed = control_packet_len(&transmit.segment);
        let bytes = match &mut self.compressor {
            Some(compressor) => compressor.compress(&transmit.segment, uncompressed),
            None => uncompressed,
        };
        let repeats = if transmit.segment.len > 0 { self.repeater.repeats(&transmit.segment) } else { 0 };
        Output::Header { control: self.number, transmit, bytes, repeats }
    }
}
