//! What the path needs to know of a packet's headers. Any bytes can be read.

use airtcp_wire::circuit::Mark;
use airtcp_wire::ip::{Addresses, Found, TCP, UDP};
use airtcp_wire::{Ecn, ethernet};
use std::net::IpAddr;

/// How a device's packets begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// With the IP header, as on a TUN device.
    Ip,
    /// With an Ethernet header. Other frames than IP, such as ARP, cross the path like any packet.
    Ethernet,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Bytes that the link charges: the IP packet's length, or, if this is no IP packet, everything behind the
    /// Ethernet header.
    pub bytes: u32,
    /// A hash of addresses, protocol and ports.
    pub flow: u32,
    pub ecn: Ecn,
    /// Whether this is a header packet of a circuit: it has the mark that gateways give them.
    pub is_header: bool,
    /// Version of an IP packet, and where its header begins.
    pub ip: Option<(Version, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    V4,
    V6,
}

impl Header {
    /// Reads any bytes. What cannot be read as IP is a packet without a flow.
    pub fn read(framing: Framing, frame: &[u8]) -> Header {
        let at = match framing {
            Framing::Ip => Some(0),
            Framing::Ethernet => ethernet::ip_at(frame),
        };
        at.and_then(|at| read_ip(frame, at)).unwrap_or_else(|| {
            let link_layer = if framing == Framing::Ethernet { ethernet::HEADER_LEN } else { 0 };
            let bytes = frame.len().saturating_sub(link_layer) as u32;
            Header { bytes, flow: 0, ecn: Ecn::NotEct, is_header: false, ip: None }
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

    /// Sets Congestion Experienced in the packet (RFC 3168 §5). Returns whether that is new.
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

fn read_ip(frame: &[u8], at: usize) -> Option<Header> {
    let ip = frame.get(at..)?;
    let found = Found::read(ip).ok()?;
    let transport = found.payload(ip)?;
    let (version, addresses) = match found.addresses {
        Addresses::V4 { .. } => (Version::V4, &ip[12..20]),
        Addresses::V6 { .. } => (Version::V6, &ip[8..40]),
    };
    // Only the first fragment has ports, and all fragments must be of one flow.
    let has_ports = [TCP, UDP].contains(&found.protocol) && !found.is_fragment;
    let ports = transport.get(..4).filter(|_| has_ports).unwrap_or_default();
    Some(Header {
        bytes: found.claimed as u32,
        flow: flow(addresses, found.protocol, ports),
        ecn: found.ecn,
        is_header: Mark::default().is_on(found.dscp),
        ip: Some((version, at)),
    })
}

/// FNV-1a.
fn flow(addresses: &[u8], protocol: u8, ports: &[u8]) -> u32 {
    const BASIS: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let bytes = addresses.iter().chain([&protocol]).chain(ports);
    bytes.fold(BASIS, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME))
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UDP over IPv6 behind destination options or a fragment header, with four bytes of payload.
    fn packet(extension: u8, ports: [u8; 4]) -> Vec<u8> {
        let fixed = [&[0x60, 0, 0, 0, 0, 20, extension, 64][..], &[1; 32]].concat();
        [fixed, vec![17, 0, 0, 0, 0, 0, 0, 0], ports.to_vec(), vec![0, 12, 0, 0, 9, 9, 9, 9]].concat()
    }

    fn flow_of(extension: u8, ports: [u8; 4]) -> u32 {
        let header = Header::read(Framing::Ip, &packet(extension, ports));
        assert_eq!((header.bytes, header.ip), (60, Some((Version::V6, 0))));
        header.flow
    }

    #[test]
    fn ports_are_read_behind_extension_headers_and_not_in_fragments() {
        const FRAGMENT: u8 = 44;
        const DESTINATION: u8 = 60;
        assert_ne!(flow_of(DESTINATION, [0, 1, 0, 2]), flow_of(DESTINATION, [0, 1, 0, 3]));
        assert_eq!(flow_of(FRAGMENT, [0, 1, 0, 2]), flow_of(FRAGMENT, [0, 1, 0, 3]));
    }
}
