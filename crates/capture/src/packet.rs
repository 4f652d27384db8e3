//! Parses TCP packets from captured frames, which may be truncated.

use crate::file::Frame;
use airtcp_wire::ip::{Addresses, Found, IPV6_HEADER_LEN, TCP};
use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Ecn, Segment, Time, ethernet, tcp};

/// Longest plausible TCP segment, in bytes. Offload engines produce shorter ones.
const LONGEST: usize = 1 << 20;

/// A TCP packet as the tap saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TappedPacket {
    pub time: Time,
    pub endpoints: Endpoints,
    pub ecn: Ecn,
    /// IPv4's identification field; zero carries no information.
    pub id: u16,
    /// Length of the IP packet in bytes.
    pub bytes: u32,
    pub segment: Segment,
}

/// What a frame contains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dissected {
    Tcp(TappedPacket),
    /// A valid packet of another protocol.
    Other,
    Skipped(String),
}

/// Returns the name of a supported link type, given its tcpdump.org number.
pub fn link_name(link_type: u16) -> Option<&'static str> {
    Some(match link_type {
        0 | 108 => "loopback",
        1 => "Ethernet",
        12 | 14 | 101 => "raw IP",
        113 => "Linux cooked",
        228 => "raw IPv4",
        229 => "raw IPv6",
        276 => "Linux cooked v2",
        _ => return None,
    })
}

/// Parses the TCP packet in a frame.
pub fn dissect(frame: &Frame) -> Dissected {
    if link_name(frame.link_type).is_none() {
        return Dissected::Skipped(format!("link type {} is not supported", frame.link_type));
    }
    let found =
        ip_at(frame.link_type, frame.data).and_then(|at| Some((at, Found::read(&frame.data[at..]).ok()?)));
    match found {
        Some((at, ip)) => transport(frame, at, &ip),
        None if frame.data.len() < frame.original_len as usize && frame.data.len() < 54 => {
            Dissected::Skipped("cut short before its TCP header".to_owned())
        }
        None => Dissected::Other,
    }
}

/// Returns the offset of the IP packet.
fn ip_at(link_type: u16, data: &[u8]) -> Option<usize> {
    let behind = |kind_at, at| ethernet::ip_behind(ethernet::ether_type(data, kind_at)?, data, at);
    let at = match link_type {
        0 | 108 => 4,
        1 => ethernet::ip_at(data)?,
        113 => behind(14, 16)?,
        276 => behind(0, 20)?,
        _ => 0,
    };
    (at <= data.len()).then_some(at)
}

/// `at`: offset of the IP packet in the frame.
fn transport(frame: &Frame, at: usize, ip: &Found) -> Dissected {
    if ip.protocol != TCP {
        return Dissected::Other;
    }
    if ip.is_fragment {
        return Dissected::Skipped("a fragment; fragments are not reassembled".to_owned());
    }
    let claimed = claimed_len(frame, at, ip);
    let present = &frame.data[at..][..claimed.min(frame.data.len() - at)];
    let (ports, mut segment, header_len) =
        match tcp::decode_captured(present.get(ip.header_len..).unwrap_or_default()) {
            Ok(decoded) => decoded,
            Err(error) => return Dissected::Skipped(error.to_string()),
        };
    let len = claimed.saturating_sub(ip.header_len);
    if len < header_len || len > LONGEST {
        return Dissected::Skipped(format!("a TCP header of {header_len} bytes in a segment of {len}"));
    }
    segment.len = (len - header_len) as u32;
    Dissected::Tcp(TappedPacket {
        time: frame.time,
        endpoints: Endpoints { addresses: ip.addresses, ports },
        ecn: ip.ecn,
        id: ip.id,
        bytes: claimed as u32,
        segment,
    })
}

/// Returns the length of the packet in bytes. The length field is zero if an offload engine was to fill it in; the
/// length is then the frame's, less the link-layer header.
fn claimed_len(frame: &Frame, at: usize, ip: &Found) -> usize {
    let is_open = match ip.addresses {
        Addresses::V4 { .. } => ip.claimed == 0,
        Addresses::V6 { .. } => ip.claimed == IPV6_HEADER_LEN,
    };
    if is_open { (frame.original_len as usize).saturating_sub(at) } else { ip.claimed }
}
