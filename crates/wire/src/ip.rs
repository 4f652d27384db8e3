//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers.
//!
//! Options and extension headers are skipped on reading, and never written. [`Found`] reads whatever an interface or a
//! capture hands over; [`IpHeader::decode`] accepts only whole packets.

mod found;

use crate::checksum::Sum;
use crate::segment::Ecn;
pub use found::Found;
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
    /// `None` if the families differ.
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

    /// The addresses of a packet in the opposite direction.
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

/// The fields of an IP header that matter here.
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
    #[error("IP packet claims {claimed} bytes, but {present} are present")]
    Length { claimed: usize, present: usize },
    #[error("wrong IPv4 header checksum")]
    Checksum,
    #[error("a fragment; fragments are not reassembled")]
    Fragment,
    #[error("{0} bytes do not fit in an IP packet")]
    TooLong(usize),
    #[error("a header of {need} bytes does not fit in a buffer of {room}")]
    Buffer { need: usize, room: usize },
}

impl IpHeader {
    /// Writes the header and returns its length in bytes.
    ///
    /// # Errors
    /// `buffer` has no room, or the payload is too long for the length field.
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
        // An atomic datagram: DF is set, so the identification may be anything (RFC 6864 §4.1).
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

    /// Reads the header of the packet that begins at `bytes[0]`. Also returns the number of bytes in front of its
    /// transport header. Bytes beyond the packet's own length are padding and ignored.
    ///
    /// # Errors
    /// The header is wrong, or the packet is a fragment, since nothing here reassembles; see [`IpError`].
    pub fn decode(bytes: &[u8]) -> Result<(IpHeader, usize), IpError> {
        let found = Found::read(bytes)?;
        if let Addresses::V4 { .. } = found.addresses
            && !Sum::of(&bytes[..found.header_len]).is_good()
        {
            return Err(IpError::Checksum);
        }
        let claimed = found.claimed;
        if claimed < found.header_len || claimed > bytes.len() {
            return Err(IpError::Length { claimed, present: bytes.len() });
        }
        if found.is_fragment {
            return Err(IpError::Fragment);
        }
        let Found { addresses, protocol, dscp, ecn, hop_limit, header_len, .. } = found;
        let payload_len = claimed - header_len;
        Ok((IpHeader { addresses, protocol, dscp, ecn, hop_limit, payload_len }, header_len))
    }
}
