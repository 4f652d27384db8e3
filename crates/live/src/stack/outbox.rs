//! Outgoing packets. Consecutive segments of one connection leave as one long packet, which the device cuts again.

use super::fast_open::Cookie;
use crate::offload::Offload;
use crate::tun::PacketDevice;
use airtcp_proto::tcp::Transmit;
use airtcp_wire::checksum::Sum;
use airtcp_wire::packet::{Endpoints, MAX_HEADERS_LEN, encode_tcp_headers};
use airtcp_wire::tcp::{header_len, set_cookie};
use airtcp_wire::{Flags, Segment};

/// Longest packet in bytes that IP's length fields allow.
const MAX_PACKET: usize = (1 << 16) - 1;

/// Offset of the checksum in a TCP header.
const CHECKSUM_AT: usize = 16;

/// Flags that only the last of several segments may have.
const LAST: Flags = Flags(Flags::FIN.0 | Flags::PSH.0);
/// Flags of segments that leave alone.
const ALONE: Flags = Flags(Flags::SYN.0 | Flags::RST.0 | Flags::URG.0 | Flags::CWR.0);

pub struct Outbox {
    /// Room for the headers, and behind it the payload.
    buffer: Box<[u8]>,
    waiting: Option<Waiting>,
}

struct Waiting {
    endpoints: Endpoints,
    /// The first segment, with the length and the flags of all.
    whole: Transmit,
    /// Payload in bytes of each segment but the last, which may have less.
    size: u32,
    is_complete: bool,
    /// Of a SYN with room for one.
    cookie: Option<Cookie>,
}

impl Outbox {
    pub fn new() -> Outbox {
        Outbox { buffer: vec![0; MAX_HEADERS_LEN + MAX_PACKET].into(), waiting: None }
    }

    /// Adds a segment, whose payload `fill` writes. Waiting segments leave first, unless this one continues them.
    pub fn put(
        &mut self,
        device: &mut impl PacketDevice,
        endpoints: &Endpoints,
        transmit: &Transmit,
        fill: impl FnOnce(&mut [u8]),
    ) {
        let segment = &transmit.segment;
        let continues = device.has_offloads()
            && self.waiting.as_ref().is_some_and(|waiting| waiting.is_continued_by(endpoints, transmit));
        if !continues {
            self.send(device);
            self.waiting = Some(Waiting::for_first(endpoints, transmit));
        }
        let Some(waiting) = &mut self.waiting else { return };
        let at = MAX_HEADERS_LEN + waiting.whole.segment.len as usize;
        if let Some(room) = self.buffer.get_mut(at..at + segment.len as usize) {
            fill(room);
            waiting.add(segment);
        }
    }

    /// The SYN that waits, with room for a Fast Open cookie, carries this one.
    pub fn seal(&mut self, cookie: Option<Cookie>) {
        self.waiting.iter_mut().for_each(|waiting| waiting.cookie = cookie);
    }

    /// Sends what waits. A packet that cannot leave is lost, as on any link.
    pub fn send(&mut self, device: &mut impl PacketDevice) {
        let Some(Waiting { endpoints, whole, size, cookie, .. }) = self.waiting.take() else { return };
        let ip_len = endpoints.addresses.header_len();
        let headers_len = ip_len + header_len(&whole.segment);
        let start = MAX_HEADERS_LEN - headers_len;
        let end = MAX_HEADERS_LEN + whole.segment.len as usize;
        let (headers, payload) = self.buffer[start..end].split_at_mut(headers_len);
        let sum = if device.has_offloads() { Sum::default() } else { Sum::of(payload) };
        if encode_tcp_headers(&endpoints, whole.ecn, &whole.segment, sum, headers).is_err() {
            return;
        }
        if let Some(cookie) = cookie {
            set_cookie(&mut headers[ip_len..], cookie.as_slice());
        }
        let packet = &mut self.buffer[start..end];
        let _ = if device.has_offloads() {
            let transport_len = (packet.len() - ip_len) as u32;
            // The field holds the pseudo header's sum; the offload engine adds the rest.
            let pseudo =
                !Sum::pseudo_header(&endpoints.addresses, airtcp_wire::ip::TCP, transport_len).checksum();
            packet[ip_len + CHECKSUM_AT..][..2].copy_from_slice(&pseudo.to_be_bytes());
            let is_ipv4 = endpoints.source().is_ipv4();
            let cut = (whole.segment.len > size).then_some(size as usize);
            device.send_offloaded(packet, headers_len, Offload::of_tcp(is_ipv4, ip_len, cut))
        } else {
            device.send(packet)
        };
    }
}

impl Waiting {
    fn for_first(endpoints: &Endpoints, transmit: &Transmit) -> Waiting {
        let nothing = Segment { len: 0, ..transmit.segment };
        Waiting {
            endpoints: *endpoints,
            whole: Transmit { segment: nothing, ..*transmit },
            size: transmit.segment.len,
            is_complete: false,
            cookie: None,
        }
    }

    /// Returns whether this segment may join the packet.
    fn is_continued_by(&self, endpoints: &Endpoints, transmit: &Transmit) -> bool {
        let (before, next) = (&self.whole.segment, &transmit.segment);
        let expected =
            Segment { seq: before.seq.at(before.len.into()), len: next.len, flags: next.flags, ..*before };
        let headers_len = endpoints.addresses.header_len() + header_len(before);
        !self.is_complete
            && *next == expected
            && self.endpoints == *endpoints
            && self.whole.ecn == transmit.ecn
            && Flags(next.flags.0 & !LAST.0) == before.flags
            && (1..=self.size).contains(&next.len)
            && headers_len + (before.len + next.len) as usize <= MAX_PACKET
    }

    fn add(&mut self, segment: &Segment) {
        self.whole.segment.len += segment.len;
        self.whole.segment.flags.set(segment.flags);
        self.is_complete = segment.len < self.size || segment.flags.0 & (LAST.0 | ALONE.0) != 0;
    }
}

#[cfg(test)]
mod tests;
