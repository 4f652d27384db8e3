//! Whole packets: an IP header, a transport header and a payload.

use crate::checksum::Sum;
use crate::ip::{Addresses, IpError, IpHeader, TCP, UDP};
use crate::segment::{Ecn, Segment};
use crate::tcp::{self, Ports, TcpError};
use crate::udp;
use std::net::SocketAddr;
use std::ops::Range;

/// Length in bytes of the longest headers that are written: IPv6 without extensions, TCP with 40 bytes of options.
pub const MAX_HEADERS_LEN: usize = crate::ip::IPV6_HEADER_LEN + tcp::MAX_HEADER_LEN;

const HOP_LIMIT: u8 = 64;

/// The addresses and ports of both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Endpoints {
    pub addresses: Addresses,
    pub ports: Ports,
}

impl Endpoints {
    /// `None` if one address is IPv4 and the other IPv6.
    pub fn new(source: SocketAddr, destination: SocketAddr) -> Option<Endpoints> {
        Some(Endpoints {
            addresses: Addresses::new(source.ip(), destination.ip())?,
            ports: Ports { source: source.port(), destination: destination.port() },
        })
    }

    pub fn source(&self) -> SocketAddr {
        SocketAddr::new(self.addresses.source(), self.ports.source)
    }

    /// The endpoints of a packet in the opposite direction.
    #[must_use]
    pub fn reversed(self) -> Endpoints {
        Endpoints { addresses: self.addresses.reversed(), ports: self.ports.reversed() }
    }
}

/// A TCP packet that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcpPacket {
    pub endpoints: Endpoints,
    pub ecn: Ecn,
    pub segment: Segment,
    /// The payload's place in the packet. Its length is the segment's.
    pub payload: Range<usize>,
}

/// Why a packet cannot be read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    #[error(transparent)]
    Ip(#[from] IpError),
    #[error(transparent)]
    Tcp(#[from] TcpError),
    #[error("transport protocol {0} is not TCP")]
    NotTcp(u8),
    #[error("the segment declares {segment} bytes of payload, but {given} were given")]
    Payload { segment: u32, given: usize },
    #[error("a packet of {need} bytes does not fit in a buffer of {room}")]
    Buffer { need: usize, room: usize },
}

/// Writes the packet that carries `segment` with `payload`, and returns its length in bytes.
///
/// # Errors
/// `buffer` is too small, the packet is too long for IP, or the length of `payload` is not the segment's.
pub fn encode_tcp(
    endpoints: &Endpoints,
    ecn: Ecn,
    segment: &Segment,
    payload: &[u8],
    buffer: &mut [u8],
) -> Result<usize, PacketError> {
    if payload.len() != segment.len as usize {
        return Err(PacketError::Payload { segment: segment.len, given: payload.len() });
    }
    let room = buffer.len();
    let headers = encode_tcp_headers(endpoints, ecn, segment, Sum::of(payload), buffer)?;
    let need = headers + payload.len();
    buffer.get_mut(headers..need).ok_or(PacketError::Buffer { need, room })?.copy_from_slice(payload);
    Ok(need)
}

/// Writes only the headers of the packet that carries `segment`, and returns their length in bytes. `payload` is the
/// sum over the payload: `Sum::default()` for a payload of zeros.
///
/// # Errors
/// `buffer` is too small or the packet is too long for IP.
pub fn encode_tcp_headers(
    endpoints: &Endpoints,
    ecn: Ecn,
    segment: &Segment,
    payload: Sum,
    buffer: &mut [u8],
) -> Result<usize, PacketError> {
    let transport_len = tcp::header_len(segment) + segment.len as usize;
    let at = encode_ip(endpoints, ecn, TCP, transport_len, buffer)?;
    let pseudo = Sum::pseudo_header(&endpoints.addresses, TCP, transport_len as u32);
    Ok(at + tcp::encode(segment, endpoints.ports, pseudo + payload, &mut buffer[at..])?)
}

/// Writes only the headers of a UDP packet, and returns their length in bytes. `payload` is as in
/// [`encode_tcp_headers`].
///
/// # Errors
/// `buffer` is too small or the packet is too long for IP.
pub fn encode_udp_headers(
    endpoints: &Endpoints,
    ecn: Ecn,
    payload_len: usize,
    payload: Sum,
    buffer: &mut [u8],
) -> Result<usize, PacketError> {
    let transport_len = udp::HEADER_LEN + payload_len;
    let at = encode_ip(endpoints, ecn, UDP, transport_len, buffer)?;
    let pseudo = Sum::pseudo_header(&endpoints.addresses, UDP, transport_len as u32);
    let header = udp::encode(endpoints.ports, payload_len, pseudo + payload)
        .ok_or(PacketError::Ip(IpError::TooLong(transport_len)))?;
    let (need, room) = (at + header.len(), buffer.len());
    buffer.get_mut(at..need).ok_or(PacketError::Buffer { need, room })?.copy_from_slice(&header);
    Ok(need)
}

fn encode_ip(
    endpoints: &Endpoints,
    ecn: Ecn,
    protocol: u8,
    payload_len: usize,
    buffer: &mut [u8],
) -> Result<usize, IpError> {
    let addresses = endpoints.addresses;
    IpHeader { addresses, protocol, dscp: 0, ecn, hop_limit: HOP_LIMIT, payload_len }.encode(buffer)
}

/// Reads the TCP packet that begins at `bytes[0]`. Never panics.
///
/// # Errors
/// The bytes are not a whole TCP packet with correct checksums; see [`PacketError`].
pub fn decode_tcp(bytes: &[u8]) -> Result<TcpPacket, PacketError> {
    decode_tcp_by(bytes, |ip, transport| {
        tcp::decode(transport, Sum::pseudo_header(&ip.addresses, TCP, ip.payload_len as u32))
    })
}

/// As [`decode_tcp`], for a packet whose TCP checksum the kernel vouches for. It need not be in the packet yet.
///
/// # Errors
/// As [`decode_tcp`].
pub fn decode_tcp_vouched_for(bytes: &[u8]) -> Result<TcpPacket, PacketError> {
    decode_tcp_by(bytes, |_, transport| tcp::decode_vouched_for(transport))
}

fn decode_tcp_by(
    bytes: &[u8],
    decode: impl FnOnce(&IpHeader, &[u8]) -> Result<(Ports, Segment, usize), TcpError>,
) -> Result<TcpPacket, PacketError> {
    let (ip, at) = IpHeader::decode(bytes)?;
    if ip.protocol != TCP {
        return Err(PacketError::NotTcp(ip.protocol));
    }
    let end = at + ip.payload_len;
    let (ports, segment, header_len) = decode(&ip, &bytes[at..end])?;
    let endpoints = Endpoints { addresses: ip.addresses, ports };
    Ok(TcpPacket { endpoints, ecn: ip.ecn, segment, payload: at + header_len..end })
}
