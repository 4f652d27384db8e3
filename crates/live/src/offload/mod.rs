//! Does what a sending host leaves to its interface: checksums, and cutting what is longer than a packet.
//!
//! Between the interfaces of one machine, nobody does that work. The other end of a veth pair hands over segments of
//! up to 64 KiB without checksums, together with a description of what is missing (`struct virtio_net_hdr`). A path
//! needs packets, each with a fate of its own, and so do their receivers.

mod layers;

use airtcp_wire::checksum::Sum;
use airtcp_wire::ethernet;
use layers::{Layers, UDP_HEADER_LEN, put};

/// Length in bytes of `struct virtio_net_hdr`.
pub const DESCRIPTION_LEN: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const HAS_GOOD_CHECKSUM: u8 = 2;
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP: u8 = 5;
/// A flag on top of the kind: the first packet carries CWR.
const GSO_ECN: u8 = 0x80;

/// Offsets of the checksum in TCP's and UDP's header, and the length of the shortest TCP header.
const TCP_CHECKSUM_AT: usize = 16;
const UDP_CHECKSUM_AT: usize = 6;
const TCP_HEADER_LEN: usize = 20;
/// Flags that only the first packet keeps, and those that only the last one does.
const CWR: u8 = 0x80;
const FIN_PSH: u8 = 0x09;

/// What is left to do for a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offload {
    /// Offset of the transport header, and of the checksum within it. The checksum field holds the pseudo header's
    /// sum.
    checksum: Option<(usize, usize)>,
    /// The kind of packets to cut it into, and their longest payload in bytes.
    gso: Option<(u8, usize)>,
    /// The kernel has verified the checksum.
    is_good: bool,
}

/// The packets of a frame, one or several. The caller has the frame itself.
#[derive(Debug, Default)]
pub struct Pieces {
    offload: Offload,
    /// Headers of a frame that is to be cut.
    layers: Layers,
    headers_len: usize,
    /// Bytes of payload that have been handed out.
    done: usize,
    finished: bool,
}

/// Several of a frame's packets in one.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// In bytes.
    pub len: usize,
    pub headers_len: usize,
    pub offload: Offload,
    /// Number of its packets once they are cut, and their total length in bytes.
    pub packets: usize,
    pub wire_len: usize,
}

impl Offload {
    /// Reads the kernel's description of a frame; fields are in the host's byte order.
    pub fn read(description: &[u8; DESCRIPTION_LEN]) -> Offload {
        let word = |at: usize| usize::from(u16::from_ne_bytes([description[at], description[at + 1]]));
        let kind = description[1] & !GSO_ECN;
        Offload {
            checksum: (description[0] & NEEDS_CHECKSUM != 0).then(|| (word(6), word(8))),
            gso: (kind != GSO_NONE).then(|| (kind, word(4))),
            is_good: description[0] & HAS_GOOD_CHECKSUM != 0,
        }
    }

    /// For a TCP packet without a checksum. If there is a `size`, the packet is to be cut into segments of at most
    /// that many bytes of payload.
    pub fn of_tcp(is_ipv4: bool, ip_header_len: usize, size: Option<usize>) -> Offload {
        let kind = if is_ipv4 { GSO_TCPV4 } else { GSO_TCPV6 };
        Offload {
            checksum: Some((ip_header_len, TCP_CHECKSUM_AT)),
            gso: size.map(|size| (kind, size)),
            is_good: false,
        }
    }

    /// Encodes the kernel's description of a packet with headers of this length.
    pub fn write(&self, headers_len: usize) -> [u8; DESCRIPTION_LEN] {
        let mut description = [0; DESCRIPTION_LEN];
        let mut word = |at: usize, word: usize| {
            description[at..at + 2].copy_from_slice(&(word as u16).to_ne_bytes());
        };
        if let Some((_, size)) = self.gso {
            word(2, headers_len);
            word(4, size);
        }
        let (start, at) = self.checksum.unwrap_or_default();
        word(6, start);
        word(8, at);
        description[0] = if self.checksum.is_some() { NEEDS_CHECKSUM } else { 0 };
        description[1] = self.gso.map_or(GSO_NONE, |(kind, _)| kind);
        description
    }

    /// Returns whether the kernel vouches for the checksum, because it has verified it or has not written it yet.
    pub fn is_vouched_for(&self) -> bool {
        self.is_good || self.checksum.is_some()
    }

    /// Longest payload in bytes of the TCP segments that the packet consists of, if there are several.
    pub fn tcp_segment_len(&self) -> Option<usize> {
        self.gso
            .filter(|(kind, size)| matches!(*kind, GSO_TCPV4 | GSO_TCPV6) && *size > 0)
            .map(|(_, size)| size)
    }

    /// The offload of a frame into which `by` bytes were inserted in front of the transport header.
    #[must_use]
    pub fn shifted(self, by: usize) -> Offload {
        Offload { checksum: self.checksum.map(|(start, at)| (start + by, at)), ..self }
    }
}

impl Pieces {
    /// The packets of an Ethernet frame. `None` if its description makes no sense, or is of a kind that no host sends
    /// by itself.
    pub fn of(frame: &[u8], offload: Offload) -> Option<Pieces> {
        Pieces::behind(frame, ethernet::ip_at, offload)
    }

    /// The packets of an IP packet.
    pub fn of_packet(packet: &[u8], offload: Offload) -> Option<Pieces> {
        Pieces::behind(packet, |_| Some(0), offload)
    }

    fn behind(frame: &[u8], ip_at: impl FnOnce(&[u8]) -> Option<usize>, offload: Offload) -> Option<Pieces> {
        if let Some((start, at)) = offload.checksum
            && start + at + 2 > frame.len()
        {
            return None;
        }
        let (layers, headers_len) = match offload.gso {
            None => (Layers::default(), frame.len()),
            Some(gso) => headers(frame, ip_at(frame)?, offload.checksum?, gso)?,
        };
        let fits = headers_len <= frame.len() && (offload.gso.is_none() || frame.len() > headers_len);
        fits.then_some(Pieces { offload, layers, headers_len, done: 0, finished: false })
    }

    /// Nothing to hand out.
    pub fn none() -> Pieces {
        Pieces { finished: true, ..Pieces::default() }
    }

    /// The whole frame of this length as one part, if nothing of it has been handed out and it is no longer than
    /// `most` bytes after the cutting.
    pub fn whole_within(&self, len: usize, most: usize) -> Option<Part> {
        let payload = len - self.headers_len.min(len);
        let size = self.offload.gso.map_or(payload, |(_, size)| size);
        let packets = payload.div_ceil(size.max(1)).max(1);
        let wire_len = packets * self.headers_len + payload;
        let Pieces { headers_len, offload, .. } = *self;
        let is_whole = !self.finished && self.done == 0 && (wire_len <= most || packets == 1);
        is_whole.then_some(Part { len, headers_len, offload, packets, wire_len })
    }

    /// Room in bytes that [`Pieces::next_part_into`] needs at most for a frame of this length.
    pub fn longest_part(&self, len: usize, most: usize) -> usize {
        let packet = self.headers_len + self.offload.gso.map_or(len, |(_, size)| size);
        len.min(most.max(packet))
    }

    /// Writes as many of the remaining packets as one frame can hold within `most` bytes, with each packet's headers
    /// counted, but at least one. The frame's description lets others cut it later. `None` when all packets have been
    /// handed out.
    pub fn next_part_into(&mut self, frame: &[u8], most: usize, out: &mut [u8]) -> Option<Part> {
        if self.finished {
            return None;
        }
        let payload = &frame[self.headers_len..];
        let (kind, size) = self.offload.gso.unwrap_or((GSO_NONE, payload.len()));
        let packets = (most / (self.headers_len + size).max(1)).max(1);
        let piece = &payload[self.done..self.done.saturating_add(size * packets).min(payload.len())];
        let len = self.headers_len + piece.len();
        let part = out.get_mut(..len)?;
        part[..self.headers_len].copy_from_slice(&frame[..self.headers_len]);
        part[self.headers_len..].copy_from_slice(piece);
        let is_last = self.done + piece.len() == payload.len();
        let mut offload = self.offload;
        if kind != GSO_NONE {
            self.write_transport(kind, frame, part, is_last);
            self.write_pseudo_sum(frame.len(), part);
            self.layers.write(part, self.done / size);
            offload.gso = (piece.len() > size).then_some((kind, size));
        }
        let packets = piece.len().div_ceil(size.max(1)).max(1);
        self.done += piece.len();
        self.finished = is_last;
        Some(Part {
            len,
            headers_len: self.headers_len,
            offload,
            packets,
            wire_len: packets * self.headers_len + piece.len(),
        })
    }

    /// Writes the next packet of `frame` to `out`, and returns its length; `None` when all have been handed out.
    pub fn next_into(&mut self, frame: &[u8], out: &mut [u8]) -> Option<usize> {
        if self.finished {
            return None;
        }
        let payload = &frame[self.headers_len..];
        let (kind, size) = self.offload.gso.unwrap_or((GSO_NONE, 0));
        let piece = &payload[self.done..(self.done + size).min(payload.len())];
        let len = self.headers_len + piece.len();
        let packet = out.get_mut(..len)?;
        packet[..self.headers_len].copy_from_slice(&frame[..self.headers_len]);
        packet[self.headers_len..].copy_from_slice(piece);
        let is_last = self.done + piece.len() == payload.len();
        if kind != GSO_NONE {
            self.write_transport(kind, frame, packet, is_last);
        }
        if let Some((start, at)) = self.offload.checksum {
            // The pseudo header's sum includes the whole frame's length. In one's complement, −x is !x.
            let [before, now] = [frame.len() - start, len - start].map(|len| len as u32);
            let lengths = Sum::of(&(!before).to_be_bytes()) + Sum::of(&now.to_be_bytes());
            let checksum = (Sum::of(&packet[start..]) + lengths).checksum();
            // RFC 768: a UDP checksum that is zero is sent as ones. To TCP both are the same.
            let checksum = if checksum == 0 { u16::MAX } else { checksum };
            put(packet, start + at, checksum.into());
        }
        self.layers.write(packet, self.done.checked_div(size).unwrap_or(0));
        self.done += piece.len();
        self.finished = is_last;
        Some(len)
    }

    /// Adjusts a part's checksum field, which holds the pseudo header's sum, to the part's own length.
    fn write_pseudo_sum(&self, whole: usize, part: &mut [u8]) {
        let Some((start, at)) = self.offload.checksum else { return };
        let field = start + at..start + at + 2;
        let [before, now] = [whole - start, part.len() - start].map(|len| len as u32);
        let sum = Sum::of(&part[field]) + Sum::of(&(!before).to_be_bytes()) + Sum::of(&now.to_be_bytes());
        put(part, start + at, (!sum.checksum()).into());
    }

    /// Writes what differs from packet to packet in the transport header, except the checksum.
    fn write_transport(&self, kind: u8, frame: &[u8], packet: &mut [u8], is_last: bool) {
        let Some((start, _)) = self.offload.checksum else { return };
        if kind == GSO_UDP {
            return put(packet, start + 4, packet.len() - start);
        }
        let seq = start + 4..start + 8;
        let first = u32::from_be_bytes(frame[seq.clone()].try_into().expect("four bytes"));
        packet[seq].copy_from_slice(&first.wrapping_add(self.done as u32).to_be_bytes());
        let cleared = if self.done > 0 { CWR } else { 0 } | if is_last { 0 } else { FIN_PSH };
        packet[start + 13] &= !cleared;
    }
}

/// Reads the headers of a frame that is to be cut, and their length in bytes; `None` if the description does not fit
/// them.
fn headers(
    frame: &[u8],
    ip: usize,
    (start, at): (usize, usize),
    (kind, size): (u8, usize),
) -> Option<(Layers, usize)> {
    let (checksum_at, transport_len) = match kind {
        GSO_TCPV4 | GSO_TCPV6 => (TCP_CHECKSUM_AT, usize::from(frame.get(start + 12)? >> 4) * 4),
        GSO_UDP => (UDP_CHECKSUM_AT, UDP_HEADER_LEN),
        _ => return None,
    };
    let is_sane = size > 0 && at == checksum_at && (kind == GSO_UDP || transport_len >= TCP_HEADER_LEN);
    let layers = is_sane.then(|| Layers::of(frame, ip, start, kind != GSO_UDP))??;
    Some((layers, start + transport_len))
}

#[cfg(test)]
mod tests;
