//! Data packets on their way from the device into the tunnel queue.

use crate::offload::{Offload, Part, Pieces};
use crate::tun::PacketDevice;
use airtcp_wire::checksum::Sum;
use airtcp_wire::ip::{Found, TCP};
use std::io;
use std::net::IpAddr;

/// Longest packet in bytes that IP can carry.
const MAX_PACKET: usize = 1 << 16;

/// Packets of at least this length use a buffer for the longest packet, which is used again.
const LONG: usize = MAX_PACKET / 4;

/// Offset of the checksum in TCP's header.
const TCP_CHECKSUM_AT: usize = 16;

/// Buffers kept for later packets.
const MOST_SPARE: usize = 64;

/// A data packet that waits. It may be a long one, which the device cuts into several.
pub struct WaitingPacket {
    buffer: Vec<u8>,
    len: usize,
    headers_len: usize,
    offload: Offload,
    /// Packets and bytes after it has been cut.
    pub packets: u16,
    pub wire_len: u32,
}

impl WaitingPacket {
    fn new(buffer: Vec<u8>, part: Part) -> WaitingPacket {
        let Part { len, headers_len, offload, packets, wire_len } = part;
        WaitingPacket {
            buffer,
            len,
            headers_len,
            offload,
            packets: packets as u16,
            wire_len: wire_len as u32,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// The DSCP (six bits).
    pub fn dscp(&self) -> u8 {
        match *self.bytes() {
            [version, class, ..] if version >> 4 == 6 => (version << 4 | class >> 4) >> 2,
            [_, class, ..] => class >> 2,
            _ => 0,
        }
    }

    /// As it leaves, with checksums, and with the one of `masks` as source that is of its family. `None` if the device cuts it into
    /// several.
    pub fn on_wire(&self, masks: &[IpAddr]) -> Option<Vec<u8>> {
        if self.packets != 1 {
            return None;
        }
        let mut packet = vec![0; self.len];
        let len = Pieces::of_packet(self.bytes(), self.offload)?.next_into(self.bytes(), &mut packet)?;
        packet.truncate(len);
        mask(&mut packet, masks);
        Some(packet)
    }

    /// # Errors
    /// The device's.
    pub fn send(&self, device: &mut impl PacketDevice) -> io::Result<()> {
        let bytes = self.bytes();
        if device.has_offloads() {
            device.send_offloaded(bytes, self.headers_len, self.offload)
        } else {
            device.send(bytes)
        }
    }
}

/// The last received packet, as far as it has not been passed on.
pub struct Intake {
    frame: Vec<u8>,
    len: usize,
    pieces: Pieces,
    /// Buffers of packets that have left.
    spare: Vec<Vec<u8>>,
}

impl Intake {
    pub fn new() -> Intake {
        Intake { frame: vec![0; MAX_PACKET], len: 0, pieces: Pieces::none(), spare: Vec::new() }
    }

    /// Returns the next packet. Cuts packets longer than `most` bytes, if they can be cut.
    ///
    /// # Errors
    /// The device's.
    pub fn next(&mut self, device: &mut impl PacketDevice, most: usize) -> io::Result<Option<WaitingPacket>> {
        loop {
            if let Some(packet) = self.part(most) {
                return Ok(Some(packet));
            }
            let Some(len) = device.recv(&mut self.frame)? else { return Ok(None) };
            self.len = len;
            let offload = device.offload();
            if is_of_the_device(&self.frame[..len]) {
                continue;
            }
            match Pieces::of_packet(&self.frame[..len], offload) {
                Some(pieces) => self.pieces = pieces,
                // Pass on what cannot be parsed: the kernel knows what it means.
                None => {
                    return Ok(Some(self.whole(Part {
                        len,
                        headers_len: 0,
                        offload,
                        packets: 1,
                        wire_len: len,
                    })));
                }
            }
        }
    }

    fn part(&mut self, most: usize) -> Option<WaitingPacket> {
        if let Some(part) = self.pieces.whole_within(self.len, most) {
            return Some(self.whole(part));
        }
        let room = self.pieces.longest_part(self.len, most);
        let mut buffer = if room < LONG { vec![0; room] } else { self.spare() };
        let part = self.pieces.next_part_into(&self.frame[..self.len], most, &mut buffer)?;
        Some(WaitingPacket::new(buffer, part))
    }

    fn whole(&mut self, part: Part) -> WaitingPacket {
        self.pieces = Pieces::none();
        if part.len < LONG {
            return WaitingPacket::new(self.frame[..part.len].to_vec(), part);
        }
        let next = self.spare();
        WaitingPacket::new(std::mem::replace(&mut self.frame, next), part)
    }

    /// A buffer for the longest packet.
    fn spare(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| vec![0; MAX_PACKET])
    }

    /// Reuses the buffer of a packet that has left.
    pub fn take_back(&mut self, packet: WaitingPacket) {
        if packet.buffer.len() == MAX_PACKET && self.spare.len() < MOST_SPARE {
            self.spare.push(packet.buffer);
        }
    }
}

/// Gives a TCP packet the one of these addresses as source that is of its family, as NAT does.
fn mask(packet: &mut [u8], masks: &[IpAddr]) {
    let Ok(Found { addresses, protocol: TCP, header_len, is_fragment: false, .. }) = Found::read(packet)
    else {
        return;
    };
    let Some(mask) = masks.iter().find(|mask| mask.is_ipv4() == addresses.source().is_ipv4()) else { return };
    let (at, source) = match mask {
        IpAddr::V4(address) => (12, address.octets().to_vec()),
        IpAddr::V6(address) => (8, address.octets().to_vec()),
    };
    let checksum_at = header_len + TCP_CHECKSUM_AT;
    let Some(&[high, low]) = packet.get(checksum_at..checksum_at + 2) else { return };
    let before = &mut packet[at..at + source.len()];
    // RFC 1624 §3
    let sum = Sum::of(&[!high, !low]) + Sum::of(before).negated() + Sum::of(&source);
    before.copy_from_slice(&source);
    packet[checksum_at..checksum_at + 2].copy_from_slice(&sum.checksum().to_be_bytes());
}

/// Returns whether the kernel sent this to neighbours on the device, for example to announce IPv6. Nobody needs it.
fn is_of_the_device(packet: &[u8]) -> bool {
    let is_multicast = packet.get(24) == Some(&0xff);
    packet.is_empty() || packet[0] >> 4 == 6 && is_multicast
}
