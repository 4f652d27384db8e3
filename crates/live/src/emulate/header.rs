//! What the path needs to know of a packet's headers, read from whatever bytes arrive.

use airtcp_wire::Ecn;
use airtcp_wire::ip::{IPV4_HEADER_LEN, IPV6_HEADER_LEN};
use std::net::IpAddr;

/// How a device's packets begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// With the IP header, as on a TUN device.
    Ip,
    /// With an Ethernet header. What is not IP, such as ARP, crosses the path like any packet.
    Ethernet,
}

const ETHERNET_HEADER_LEN: usize = 14;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// IEEE 802.1Q and 802.1ad tags.
const ETHERTYPE_VLAN: [u16; 2] = [0x8100, 0x88a8];
const TAG_LEN: usize = 4;
const TCP: u8 = 6;
const UDP: u8 = 17;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// What the link charges: the IP packet's length, or, of what is no IP packet, all behind the Ethernet header.
    pub bytes: u32,
    /// Stands for addresses, protocol and ports.
    pub flow: u32,
    pub ecn: Ecn,
    /// The version if it is an IP packet, and where its header stands.
    pub ip: Option<(Version, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    V4,
    V6,
}

impl Header {
    /// Of any bytes at all: what cannot be read as IP is a packet without a flow.
    pub fn read(framing: Framing, frame: &[u8]) -> Header {
        let at = match framing {
            Framing::Ip => Some(0),
            Framing::Ethernet => behind_ethernet(frame),
        };
        at.and_then(|at| read_ip(frame, at)).unwrap_or_else(|| {
            let link_layer = if framing == Framing::Ethernet { ETHERNET_HEADER_LEN } else { 0 };
            let bytes = frame.len().saturating_sub(link_layer) as u32;
            Header { bytes, flow: 0, ecn: Ecn::NotEct, ip: None }
        })
    }

    /// Where the packet goes.
    pub fn destination(&self, frame: &[u8]) -> Option<IpAddr> {
        let (version, at) = self.ip?;
        let ip = &frame[at..];
        match version {
            Version::V4 => ip[16..].first_chunk::<4>().map(|&octets| octets.into()),
            Version::V6 => ip[24..].first_chunk::<16>().map(|&octets| octets.into()),
        }
    }

    /// Writes Congestion Experienced into the packet (RFC 3168 §5). Answers whether that is new.
    pub fn mark(&self, frame: &mut [u8]) -> bool {
        let Some((version, at)) = self.ip else { return false };
        let ip = &mut frame[at..];
        let before = be16(ip, 0);
        match version {
            Version::V6 => ip[1] |= (Ecn::Ce as u8) << 4,
            Version::V4 => {
                ip[1] |= Ecn::Ce as u8;
                let checksum = updated_checksum(be16(ip, 10), before, be16(ip, 0));
                ip[10..12].copy_from_slice(&checksum.to_be_bytes());
            }
        }
        be16(ip, 0) != before
    }
}

/// RFC 1624 §3 (eqn. 3): a header's checksum after one of its words has changed.
fn updated_checksum(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded + (folded >> 16)) as u16)
}

/// Where the IP header stands in an Ethernet frame.
pub fn behind_ethernet(frame: &[u8]) -> Option<usize> {
    let mut at = ETHERNET_HEADER_LEN;
    loop {
        match be16(frame.get(at - 2..at)?, 0) {
            ETHERTYPE_IPV4 | ETHERTYPE_IPV6 => return Some(at),
            tag if ETHERTYPE_VLAN.contains(&tag) => at += TAG_LEN,
            _ => return None,
        }
    }
}

fn read_ip(frame: &[u8], at: usize) -> Option<Header> {
    let ip = frame.get(at..)?;
    let header = match ip.first()? >> 4 {
        4 => read_v4(ip)?,
        6 => read_v6(ip)?,
        _ => return None,
    };
    let version = if ip[0] >> 4 == 4 { Version::V4 } else { Version::V6 };
    Some(Header { ip: Some((version, at)), ..header })
}

fn read_v4(ip: &[u8]) -> Option<Header> {
    let fixed = ip.first_chunk::<IPV4_HEADER_LEN>()?;
    let (header_len, total) = (usize::from(fixed[0] & 15) * 4, usize::from(be16(fixed, 2)));
    if header_len < IPV4_HEADER_LEN || total < header_len || total > ip.len() {
        return None;
    }
    // More fragments, or an offset: only the first one has ports, and all must be of one flow.
    let is_fragment = be16(fixed, 6) & 0x3fff != 0;
    let transport = ip[..total].get(header_len..).filter(|_| !is_fragment);
    let flow = flow(&fixed[12..20], fixed[9], transport);
    Some(Header { bytes: total as u32, flow, ecn: Ecn::from_bits(fixed[1]), ip: None })
}

/// Of packets with extension headers, the flow is the addresses and the first header's number.
fn read_v6(ip: &[u8]) -> Option<Header> {
    let fixed = ip.first_chunk::<IPV6_HEADER_LEN>()?;
    let total = IPV6_HEADER_LEN + usize::from(be16(fixed, 4));
    let transport = ip.get(IPV6_HEADER_LEN..total)?;
    let flow = flow(&fixed[8..40], fixed[6], Some(transport));
    Some(Header { bytes: total as u32, flow, ecn: Ecn::from_bits(fixed[1] >> 4), ip: None })
}

/// FNV-1a of addresses, protocol and ports.
fn flow(addresses: &[u8], protocol: u8, transport: Option<&[u8]>) -> u32 {
    const BASIS: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let has_ports = [TCP, UDP].contains(&protocol);
    let ports = transport.filter(|_| has_ports).and_then(|transport| transport.get(..4)).unwrap_or_default();
    let bytes = addresses.iter().chain([&protocol]).chain(ports);
    bytes.fold(BASIS, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME))
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
