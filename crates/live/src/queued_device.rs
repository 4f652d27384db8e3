//! A device without a kernel, for tests.

use crate::offload::Offload;
use crate::tun::PacketDevice;
use airtcp_wire::packet::Endpoints;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Packets that have arrived, and packets that have been sent.
pub struct QueuedDevice {
    pub arrived: VecDeque<(Vec<u8>, Offload)>,
    pub sent: Vec<(Vec<u8>, Offload)>,
    /// Packets that `sent` may hold.
    pub room: usize,
    /// See [`PacketDevice::repeats_first_every`].
    pub repeats_every: Option<u32>,
    offload: Offload,
    has_offloads: bool,
    file: File,
}

impl QueuedDevice {
    pub fn new(has_offloads: bool) -> QueuedDevice {
        let file = File::open("/dev/null").unwrap();
        QueuedDevice {
            arrived: VecDeque::new(),
            sent: Vec::new(),
            room: usize::MAX,
            repeats_every: None,
            offload: Offload::default(),
            has_offloads,
            file,
        }
    }
}

impl AsFd for QueuedDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl PacketDevice for QueuedDevice {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some((packet, offload)) = self.arrived.pop_front() else { return Ok(None) };
        buffer[..packet.len()].copy_from_slice(&packet);
        self.offload = offload;
        Ok(Some(packet.len()))
    }

    fn offload(&self) -> Offload {
        self.offload
    }

    fn has_room(&self, _endpoints: &Endpoints) -> bool {
        self.sent.len() < self.room
    }

    fn repeats_first_every(&self, _endpoints: &Endpoints) -> Option<u32> {
        self.repeats_every
    }

    fn has_offloads(&self) -> bool {
        self.has_offloads
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.sent.push((packet.to_vec(), Offload::default()));
        Ok(())
    }

    fn send_offloaded(&mut self, packet: &[u8], _headers_len: usize, offload: Offload) -> io::Result<()> {
        self.sent.push((packet.to_vec(), offload));
        Ok(())
    }
}
