//! What a sending host leaves to its interface, done here: checksums, and cutting what is longer than a packet.
//!
//! Between the interfaces of one machine nobody does that work: the other end of a veth hands over segments of up to
//! 64 KiB without checksums, together with a description of what is missing (`struct virtio_net_hdr`). A path is for
//! packets, each with a fate of its own, and so is whoever they reach.

use airtcp_wire::checksum::Sum;
use airtcp_wire::ethernet;

/// Length in bytes of `struct virtio_net_hdr`.
pub const DESCRIPTION_LEN: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP: u8 = 5;
/// A flag on top of the kind: the first packet carries CWR.
const GSO_ECN: u8 = 0x80;

const UDP_HEADER_LEN: usize = 8;
/// Flags that only the first packet keeps, and those that only the last one does.
const CWR: u8 = 0x80;
const FIN_PSH: u8 = 0x09;

/// What is left to do for a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offload {
    /// Where the transport header stands, and its checksum in it. That field holds the pseudo header's sum.
    checksum: Option<(usize, usize)>,
    /// What to cut it into: the kind, and the longest payload in bytes.
    gso: Option<(u8, usize)>,
}

/// How a frame leaves: in one piece or more. The frame itself is the caller's.
#[derive(Debug, Default)]
pub struct Pieces {
    offload: Offload,
    headers_len: usize,
    /// Payload that has left.
    done: usize,
    finished: bool,
}

impl Offload {
    /// Reads the kernel's description of a frame; fields are in the host's byte order.
    pub fn read(description: &[u8; DESCRIPTION_LEN]) -> Offload {
        let word = |at: usize| usize::from(u16::from_ne_bytes([description[at], description[at + 1]]));
        let kind = description[1] & !GSO_ECN;
        Offload {
            checksum: (description[0] & NEEDS_CHECKSUM != 0).then(|| (word(6), word(8))),
            gso: (kind != GSO_NONE).then(|| (kind, word(4))),
        }
    }

    /// The same for a frame into which bytes were put before the transport header.
    #[must_use]
    pub fn shifted(self, by: usize) -> Offload {
        Offload { checksum: self.checksum.map(|(start, at)| (start + by, at)), ..self }
    }
}

impl Pieces {
    /// `None` for a frame whose description makes no sense, or of a kind that no host sends by itself.
    pub fn of(frame: &[u8], offload: Offload) -> Option<Pieces> {
        if let Some((start, at)) = offload.checksum
            && start + at + 2 > frame.len()
        {
            return None;
        }
        let headers_len = match offload.gso {
            None => frame.len(),
            Some((kind, size)) => {
                let (start, _) = offload.checksum?;
                ethernet::ip_at(frame).filter(|ip| ip + 20 <= start && size > 0)?;
                match kind {
                    GSO_TCPV4 | GSO_TCPV6 => start + usize::from(frame.get(start + 12)? >> 4) * 4,
                    GSO_UDP => start + UDP_HEADER_LEN,
                    _ => return None,
                }
            }
        };
        let fits = headers_len <= frame.len() && (offload.gso.is_none() || frame.len() > headers_len);
        fits.then_some(Pieces { offload, headers_len, done: 0, finished: false })
    }

    /// Nothing to hand out.
    pub fn none() -> Pieces {
        Pieces { finished: true, ..Pieces::default() }
    }

    /// Writes the next packet of `frame` to `out`, and answers its length; `None` when all have left.
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
            self.write_headers(kind, frame, packet, is_last);
        }
        if let Some((start, at)) = self.offload.checksum {
            // The sum of the pseudo header counts the whole frame's length. In one's complement, −x is !x.
            let [before, now] = [frame.len() - start, len - start].map(|len| len as u32);
            let lengths = Sum::of(&(!before).to_be_bytes()) + Sum::of(&now.to_be_bytes());
            let checksum = (Sum::of(&packet[start..]) + lengths).checksum();
            // RFC 768: a UDP checksum that is zero is sent as ones. To TCP both are the same.
            let checksum = if checksum == 0 { u16::MAX } else { checksum };
            packet[start + at..start + at + 2].copy_from_slice(&checksum.to_be_bytes());
        }
        self.done += piece.len();
        self.finished = is_last;
        Some(len)
    }

    /// What differs from packet to packet, but for the transport's checksum.
    fn write_headers(&self, kind: u8, frame: &[u8], packet: &mut [u8], is_last: bool) {
        let Some((start, _)) = self.offload.checksum else { return };
        let Some(ip) = ethernet::ip_at(packet) else { return };
        let number = self.done / self.offload.gso.map_or(1, |(_, size)| size);
        let put = |packet: &mut [u8], at: usize, word: usize| {
            packet[at..at + 2].copy_from_slice(&(word as u16).to_be_bytes());
        };
        let len = packet.len();
        if packet[ip] >> 4 == 4 {
            let identification = usize::from(u16::from_be_bytes([packet[ip + 4], packet[ip + 5]]));
            put(packet, ip + 2, len - ip);
            put(packet, ip + 4, identification.wrapping_add(number));
            put(packet, ip + 10, 0);
            let checksum = Sum::of(&packet[ip..start]).checksum();
            put(packet, ip + 10, checksum.into());
        } else {
            put(packet, ip + 4, len - ip - 40);
        }
        if kind == GSO_UDP {
            return put(packet, start + 4, len - start);
        }
        let seq = start + 4..start + 8;
        let first = u32::from_be_bytes(frame[seq.clone()].try_into().expect("four bytes"));
        packet[seq].copy_from_slice(&first.wrapping_add(self.done as u32).to_be_bytes());
        let cleared = if self.done > 0 { CWR } else { 0 } | if is_last { 0 } else { FIN_PSH };
        packet[start + 13] &= !cleared;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::packet::{Endpoints, decode_tcp, encode_tcp};
    use airtcp_wire::{Ecn, Flags, Segment};
    use proptest::prelude::*;

    const ETHERNET: usize = 14;

    fn endpoints(v6: bool) -> Endpoints {
        let addresses = if v6 { ["[fd00::1]:4000", "[fd00::2]:9"] } else { ["10.0.0.1:4000", "10.0.0.2:9"] };
        let [source, destination] = addresses.map(|address| address.parse().unwrap());
        Endpoints::new(source, destination).unwrap()
    }

    /// A TCP frame as a sending host leaves it: the checksum field holds the pseudo header's sum.
    fn unfinished(v6: bool, payload: &[u8], flags: Flags) -> (Vec<u8>, usize) {
        let mut frame = vec![0; ETHERNET + 120 + payload.len()];
        frame[12..14].copy_from_slice(&if v6 { 0x86ddu16 } else { 0x0800 }.to_be_bytes());
        let segment = Segment { len: payload.len() as u32, flags, ..Segment::default() };
        let len = encode_tcp(&endpoints(v6), Ecn::Ect0, &segment, payload, &mut frame[ETHERNET..]).unwrap();
        frame.truncate(ETHERNET + len);
        let start = ETHERNET + if v6 { 40 } else { 20 };
        frame[start + 16..start + 18].fill(0);
        let pseudo = Sum::pseudo_header(&endpoints(v6).addresses, 6, (frame.len() - start) as u32);
        frame[start + 16..start + 18].copy_from_slice(&(!pseudo.checksum()).to_be_bytes());
        (frame, start)
    }

    proptest! {
        /// The packets carry the payload in order, in headers that a receiver accepts.
        #[test]
        fn a_long_segment_becomes_packets(
            v6: bool,
            payload in prop::collection::vec(any::<u8>(), 1..9000),
            size in 1usize..3000,
            whole: bool,
        ) {
            let (frame, start) = unfinished(v6, &payload, Flags::ACK | Flags::PSH | Flags::CWR);
            let kind = if v6 { GSO_TCPV6 } else { GSO_TCPV4 };
            let offload = Offload { checksum: Some((start, 16)), gso: (!whole).then_some((kind, size)) };
            let mut pieces = Pieces::of(&frame, offload).unwrap();
            let (mut buffer, mut received) = (vec![0; 10_000], Vec::new());
            while let Some(len) = pieces.next_into(&frame, &mut buffer) {
                let packet = decode_tcp(&buffer[ETHERNET..len]).unwrap();
                prop_assert_eq!(packet.segment.seq.0, received.len() as u32);
                prop_assert_eq!(packet.segment.flags.contains(Flags::CWR), received.is_empty());
                let piece = &buffer[ETHERNET..len][packet.payload];
                prop_assert!(whole || piece.len() <= size);
                received.extend_from_slice(piece);
                prop_assert_eq!(packet.segment.flags.contains(Flags::PSH), received.len() == payload.len());
            }
            prop_assert_eq!(received, payload);
        }

        #[test]
        fn nonsense_is_refused_or_ends(
            frame in prop::collection::vec(any::<u8>(), 0..300),
            description: [u8; DESCRIPTION_LEN],
            ip: bool,
        ) {
            let mut frame = frame;
            if ip && frame.len() > 14 {
                frame[12..15].copy_from_slice(&[8, 0, 0x45]);
            }
            if let Some(mut pieces) = Pieces::of(&frame, Offload::read(&description)) {
                let mut buffer = vec![0; 400];
                prop_assert!((0..400).any(|_| pieces.next_into(&frame, &mut buffer).is_none()));
            }
        }
    }
}
