//! A device that loses packets.

use airtcp_live::PacketDevice;
use airtcp_proto::Stream;
use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Loses each packet with the same probability, each way by a random stream of its own.
pub struct Lossy<D> {
    device: D,
    loss: f64,
    incoming: RefCell<Stream>,
    outgoing: RefCell<Stream>,
}

impl<D> Lossy<D> {
    pub fn new(device: D, loss: f64, incoming: Stream, outgoing: Stream) -> Lossy<D> {
        Lossy { device, loss, incoming: incoming.into(), outgoing: outgoing.into() }
    }
}

impl<D: AsFd> AsFd for Lossy<D> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl<D: PacketDevice> PacketDevice for Lossy<D> {
    fn recv(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            let received = self.device.recv(buffer)?;
            if received.is_none() || !self.incoming.borrow_mut().chance(self.loss) {
                return Ok(received);
            }
        }
    }

    fn send(&self, packet: &[u8]) -> io::Result<()> {
        if self.outgoing.borrow_mut().chance(self.loss) { Ok(()) } else { self.device.send(packet) }
    }
}
