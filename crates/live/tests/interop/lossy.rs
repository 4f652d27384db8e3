//! A device that loses packets.

use airtcp_live::PacketDevice;
use airtcp_proto::Chance;
use airtcp_wire::packet::decode_tcp;
use airtcp_wire::{Flags, Segment};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Loses each packet with the same probability, each way by a random stream of its own, and remembers the peer's SYN.
pub struct Lossy<D> {
    device: D,
    loss: f64,
    incoming: Chance,
    outgoing: Chance,
    syn: Option<Segment>,
}

impl<D> Lossy<D> {
    pub fn new(device: D, loss: f64, incoming: Chance, outgoing: Chance) -> Lossy<D> {
        Lossy { device, loss, incoming, outgoing, syn: None }
    }

    /// The SYN, or SYN with ACK, that came in.
    pub fn received_syn(&self) -> Option<Segment> {
        self.syn
    }

    fn watch(&mut self, packet: &[u8]) {
        let segment = decode_tcp(packet).ok().map(|packet| packet.segment);
        if let Some(segment) = segment.filter(|segment| segment.flags.contains(Flags::SYN)) {
            self.syn = Some(segment);
        }
    }
}

impl<D: AsFd> AsFd for Lossy<D> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl<D: PacketDevice> PacketDevice for Lossy<D> {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            let received = self.device.recv(buffer)?;
            if let Some(len) = received {
                self.watch(&buffer[..len]);
            }
            if received.is_none() || !self.incoming.happens(self.loss) {
                return Ok(received);
            }
        }
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        if self.outgoing.happens(self.loss) { Ok(()) } else { self.device.send(packet) }
    }
}
