//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers.
//!
//! Only whole packets: a fragment is an error, because nothing here reassembles. Options and extension headers are
//! skipped when they are read and never written.

use crate::checksum::Sum;
use crate::segment::Ecn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Protocol numbers.
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;

pub const IPV4_HEADER_LEN: usize = 20;
pub const IPV6_HEADER_LEN: usize = 40;

/// Source and destination, always of the same family.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Addresses {
    V4 { source: Ipv4Addr, destination: Ipv4Addr },
    V6 { source: Ipv6Addr, destination: Ipv6Addr },
}

impl Addresses {
    /// `None` when the families differ.
    pub fn new(source: IpAddr, destination: IpAddr) -> Option<Addresses> {
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Some(Addresses::V4 { source, destination }),
            (IpAddr::V6(source), IpAddr::V6(destination)) => Some(Addresses::V6 { source, destination }),
            _ => None,
        }
    }

    pub fn source(&self) -> IpAddr {
        match *self {
            Addresses::V4 { source, .. } => source.into(),
            Addresses::V6 { source, .. } => source.into(),
        }
    }

    /// Those of the way back.
    #[must_use]
    pub fn reversed(self) -> Addresses {
        match self {
            Addresses::V4 { source, destination } => {
                Addresses::V4 { source: destination, destination: source }
            }
            Addresses::V6 { source, destination } => {
                Addresses::V6 { source: destination, destination: source }
            }
        }
    }

    /// Length in bytes of the header that [`IpHeader::encode`] writes.
    pub fn header_len(&self) -> usize {
        match self {
            Addresses::V4 { .. } => IPV4_HEADER_LEN,
            Addresses::V6 { .. } => IPV6_HEADER_LEN,
        }
    }
}

/// What matters of an IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpHeader {
    pub addresses: Addresses,
    /// The transport's protocol number.
    pub protocol: u8,
    /// Differentiated services code point, six bits (RFC 2474 §3).
    pub dscp: u8,
    pub ecn: Ecn,
    /// Time to live or hop limit.
    pub hop_limit: u8,
    /// Bytes behind the IP header: transport header and payload.
    pub payload_len: usize,
}

/// Why an IP header cannot be read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IpError {
    #[error("IP header cut short: {0} bytes")]
    Truncated(usize),
    #[error("IP version {0} is neither 4 nor 6")]
    Version(u8),
    #[error("IPv4 header length of {0} bytes is below 20 or beyond the packet")]
    HeaderLength(usize),
    #[error("IP packet claims {claimed} bytes, {present} are present")]
    Length { claimed: usize, present: usize },
    #[error("wrong IPv4 header checksum")]
    Checksum,
    #[error("a fragment, and fragments are not reassembled")]
    Fragment,
    #[error("{0} bytes do not fit an IP packet")]
    TooLong(usize),
    #[error("{need} bytes of header do not fit a buffer of {room}")]
    Buffer { need: usize, room: usize },
}

impl IpHeader {
    /// Writes the header and answers its length in bytes.
    ///
    /// # Errors
    /// When `buffer` has no room, or the payload is longer than the length field can say.
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, IpError> {
        let (need, room) = (self.addresses.header_len(), buffer.len());
        let header = buffer.get_mut(..need).ok_or(IpError::Buffer { need, room })?;
        match &self.addresses {
            Addresses::V4 { source, destination } => self.encode_v4(source, destination, header)?,
            Addresses::V6 { source, destination } => self.encode_v6(source, destination, header)?,
        }
        Ok(need)
    }

    /// The byte that holds DSCP and ECN (RFC 3168 §5).
    fn traffic_class(&self) -> u8 {
        self.dscp << 2 | self.ecn as u8
    }

    fn encode_v4(&self, source: &Ipv4Addr, destination: &Ipv4Addr, header: &mut [u8]) -> Result<(), IpError> {
        let total = IPV4_HEADER_LEN + self.payload_len;
        let total = u16::try_from(total).map_err(|_| IpError::TooLong(total))?;
        header.fill(0);
        header[0] = 0x45;
        header[1] = self.traffic_class();
        header[2..4].copy_from_slice(&total.to_be_bytes());
        // An atomic datagram: DF set, so that the identification may be anything (RFC 6864 §4.1).
        header[6] = 0x40;
        header[8] = self.hop_limit;
        header[9] = self.protocol;
        header[12..16].copy_from_slice(&source.octets());
        header[16..20].copy_from_slice(&destination.octets());
        let checksum = Sum::of(header).checksum();
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        Ok(())
    }

    fn encode_v6(&self, source: &Ipv6Addr, destination: &Ipv6Addr, header: &mut [u8]) -> Result<(), IpError> {
        let len = u16::try_from(self.payload_len).map_err(|_| IpError::TooLong(self.payload_len))?;
        header[..4].copy_from_slice(&(6 << 28 | u32::from(self.traffic_class()) << 20).to_be_bytes());
        header[4..6].copy_from_slice(&len.to_be_bytes());
        header[6] = self.protocol;
        header[7] = self.hop_limit;
        header[8..24].copy_from_slice(&source.octets());
        header[24..40].copy_from_slice(&destination.octets());
        Ok(())
    }

    /// Reads the header of the packet that begins at `bytes[0]`, and answers how many bytes to skip to its
    /// transport header. Bytes behind the packet's own length are padding and ignored.
    ///
    /// # Errors
    /// Whatever is wrong with the header; see [`IpError`].
    pub fn decode(bytes: &[u8]) -> Result<(IpHeader, usize), IpError> {
        match bytes.first().map(|first| first >> 4) {
            None => Err(IpError::Truncated(0)),
            Some(4) => decode_v4(bytes),
            Some(6) => decode_v6(bytes),
            Some(version) => Err(IpError::Version(version)),
        }
    }
}

fn decode_v4(bytes: &[u8]) -> Result<(IpHeader, usize), IpError> {
    let fixed = bytes.first_chunk::<IPV4_HEADER_LEN>().ok_or(IpError::Truncated(bytes.len()))?;
    let header_len = usize::from(fixed[0] & 0x0f) * 4;
    let header = bytes.get(..header_len).ok_or(IpError::HeaderLength(header_len))?;
    if header_len < IPV4_HEADER_LEN {
        return Err(IpError::HeaderLength(header_len));
    }
    if !Sum::of(header).is_good() {
        return Err(IpError::Checksum);
    }
    let total = usize::from(be16(fixed, 2));
    if total < header_len || total > bytes.len() {
        return Err(IpError::Length { claimed: total, present: bytes.len() });
    }
    // More fragments, or an offset.
    if be16(fixed, 6) & 0x3fff != 0 {
        return Err(IpError::Fragment);
    }
    let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
    let header = IpHeader {
        addresses: Addresses::V4 { source: address(12), destination: address(16) },
        protocol: fixed[9],
        dscp: fixed[1] >> 2,
        ecn: Ecn::from_bits(fixed[1]),
        hop_limit: fixed[8],
        payload_len: total - header_len,
    };
    Ok((header, header_len))
}

fn decode_v6(bytes: &[u8]) -> Result<(IpHeader, usize), IpError> {
    let fixed = bytes.first_chunk::<IPV6_HEADER_LEN>().ok_or(IpError::Truncated(bytes.len()))?;
    let end = IPV6_HEADER_LEN + usize::from(be16(fixed, 4));
    let packet = bytes.get(..end).ok_or(IpError::Length { claimed: end, present: bytes.len() })?;
    let (protocol, transport) = skip_extensions(packet, fixed[6])?;
    let traffic_class = (be16(fixed, 0) >> 4) as u8;
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[at..at + 16]);
        Ipv6Addr::from(octets)
    };
    let header = IpHeader {
        addresses: Addresses::V6 { source: address(8), destination: address(24) },
        protocol,
        dscp: traffic_class >> 2,
        ecn: Ecn::from_bits(traffic_class),
        hop_limit: fixed[7],
        payload_len: end - transport,
    };
    Ok((header, transport))
}

/// The first header that is not a hop-by-hop, routing or destination options header (RFC 8200 §4), and its position.
fn skip_extensions(packet: &[u8], first: u8) -> Result<(u8, usize), IpError> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;

    let (mut protocol, mut at) = (first, IPV6_HEADER_LEN);
    loop {
        match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION => {
                let &[next, units] =
                    packet.get(at..).and_then(<[u8]>::first_chunk).ok_or(IpError::Truncated(packet.len()))?;
                protocol = next;
                at += 8 + usize::from(units) * 8;
                if at > packet.len() {
                    return Err(IpError::Truncated(packet.len()));
                }
            }
            FRAGMENT => return Err(IpError::Fragment),
            _ => return Ok((protocol, at)),
        }
    }
}

/// The big-endian 16-bit word at `at`.
fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
