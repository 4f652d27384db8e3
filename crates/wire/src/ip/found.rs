//! IP headers as they are found: the packet may be cut short, damaged, or a fragment.

use super::{Addresses, IPV4_HEADER_LEN, IPV6_HEADER_LEN, IpError};
use crate::segment::Ecn;
use crate::words::be16;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The content of an IP header, valid or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    pub addresses: Addresses,
    /// The transport's protocol number.
    pub protocol: u8,
    /// Differentiated services code point, six bits (RFC 2474 §3).
    pub dscp: u8,
    pub ecn: Ecn,
    /// Time to live or hop limit.
    pub hop_limit: u8,
    /// IPv4's identification; zero in IPv6.
    pub id: u16,
    /// Bytes in front of the transport header, options and extension headers included.
    pub header_len: usize,
    /// Length of the whole packet in bytes, as the header claims.
    pub claimed: usize,
    /// Only the first fragment has a transport header.
    pub is_fragment: bool,
}

impl Found {
    /// Reads the header at `bytes[0]`. Checks neither its checksum nor the packet's length.
    ///
    /// # Errors
    /// There is no whole IP header.
    pub fn read(bytes: &[u8]) -> Result<Found, IpError> {
        match bytes.first().map(|first| first >> 4) {
            None => Err(IpError::Truncated(0)),
            Some(4) => read_v4(bytes),
            Some(6) => read_v6(bytes),
            Some(version) => Err(IpError::Version(version)),
        }
    }

    /// What is behind the header, without padding. `bytes` are those that were read; `None` if they are not the whole packet.
    pub fn payload<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.get(self.header_len..self.claimed)
    }
}

fn read_v4(bytes: &[u8]) -> Result<Found, IpError> {
    let fixed = bytes.first_chunk::<IPV4_HEADER_LEN>().ok_or(IpError::Truncated(bytes.len()))?;
    let header_len = usize::from(fixed[0] & 0x0f) * 4;
    if !(IPV4_HEADER_LEN..=bytes.len()).contains(&header_len) {
        return Err(IpError::HeaderLength(header_len));
    }
    let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
    Ok(Found {
        addresses: Addresses::V4 { source: address(12), destination: address(16) },
        protocol: fixed[9],
        dscp: fixed[1] >> 2,
        ecn: Ecn::from_bits(fixed[1]),
        hop_limit: fixed[8],
        id: be16(fixed, 4),
        header_len,
        claimed: usize::from(be16(fixed, 2)),
        // There are more fragments, or an offset.
        is_fragment: be16(fixed, 6) & 0x3fff != 0,
    })
}

fn read_v6(bytes: &[u8]) -> Result<Found, IpError> {
    let fixed = bytes.first_chunk::<IPV6_HEADER_LEN>().ok_or(IpError::Truncated(bytes.len()))?;
    let transport = Transport::behind_extensions(bytes, fixed[6])?;
    let traffic_class = (be16(fixed, 0) >> 4) as u8;
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[at..at + 16]);
        Ipv6Addr::from(octets)
    };
    Ok(Found {
        addresses: Addresses::V6 { source: address(8), destination: address(24) },
        protocol: transport.protocol,
        dscp: traffic_class >> 2,
        ecn: Ecn::from_bits(traffic_class),
        hop_limit: fixed[7],
        id: 0,
        header_len: transport.at,
        claimed: IPV6_HEADER_LEN + usize::from(be16(fixed, 4)),
        is_fragment: transport.is_fragment,
    })
}

/// The first header that is not a hop-by-hop, routing, fragment or destination options header (RFC 8200 §4).
struct Transport {
    protocol: u8,
    at: usize,
    is_fragment: bool,
}

impl Transport {
    fn behind_extensions(packet: &[u8], first: u8) -> Result<Transport, IpError> {
        const HOP_BY_HOP: u8 = 0;
        const ROUTING: u8 = 43;
        const FRAGMENT: u8 = 44;
        const DESTINATION: u8 = 60;

        let mut found = Transport { protocol: first, at: IPV6_HEADER_LEN, is_fragment: false };
        while [HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION].contains(&found.protocol) {
            let truncated = IpError::Truncated(packet.len());
            let &[next, units] = packet.get(found.at..).and_then(<[u8]>::first_chunk).ok_or(truncated)?;
            // A fragment header has no length: that byte is reserved (RFC 8200 §4.5).
            let is_fragment = found.protocol == FRAGMENT;
            let len = if is_fragment { 8 } else { 8 + usize::from(units) * 8 };
            found = Transport { protocol: next, at: found.at + len, is_fragment };
            if found.at > packet.len() {
                return Err(truncated);
            }
            // What follows in a later fragment is no header.
            if is_fragment {
                break;
            }
        }
        Ok(found)
    }
}
