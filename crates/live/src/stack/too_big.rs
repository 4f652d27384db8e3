//! Routers' messages that a packet is too long for the next link.

use airtcp_wire::Seq;
use airtcp_wire::checksum::Sum;
use airtcp_wire::ip::{Addresses, Found, TCP};
use airtcp_wire::packet::Endpoints;
use airtcp_wire::tcp::Ports;

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

/// Bytes of an ICMP header. The packet that was too long is quoted behind it.
const HEADER_LEN: usize = 8;

/// Destination unreachable, fragmentation needed (RFC 1191 §4), or Packet Too Big (RFC 4443 §3.2), of a TCP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooBig {
    /// Addresses and ports of the packet that was too long.
    pub endpoints: Endpoints,
    pub seq: Seq,
    /// Longest packet in bytes that passes, as the router says; 0 if it does not say (RFC 1191 §5).
    pub mtu: u32,
}

impl TooBig {
    /// Reads a packet; `None` if it is anything else, or damaged.
    pub fn read(bytes: &[u8]) -> Option<TooBig> {
        let outer = Found::read(bytes).ok().filter(|outer| !outer.is_fragment)?;
        let message = bytes.get(outer.header_len..outer.claimed)?;
        let (is_ours, sum, mtu) = match (outer.addresses, outer.protocol) {
            (Addresses::V4 { .. }, ICMP) => {
                (message.get(..2)? == [3, 4], Sum::default(), u32::from(be16(message, 6)?))
            }
            (Addresses::V6 { .. }, ICMPV6) => {
                let pseudo = Sum::pseudo_header(&outer.addresses, ICMPV6, message.len() as u32);
                (message.get(..2)? == [2, 0], pseudo, be32(message, 4)?)
            }
            _ => return None,
        };
        let quoted = message.get(HEADER_LEN..)?;
        let inner = Found::read(quoted).ok().filter(|inner| !inner.is_fragment && inner.protocol == TCP)?;
        let tcp = quoted.get(inner.header_len..)?;
        let ports = Ports { source: be16(tcp, 0)?, destination: be16(tcp, 2)? };
        let endpoints = Endpoints { addresses: inner.addresses, ports };
        let is_good = (sum + Sum::of(message)).is_good();
        (is_ours && is_good).then_some(TooBig { endpoints, seq: Seq(be32(tcp, 4)?), mtu })
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}
