//! TCP packets out of captured frames, which may be cut short.

use crate::file::Frame;
use airtcp_wire::ip::{Addresses, TCP};
use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Ecn, Segment, Time, tcp};
use etherparse::{EtherType, IpNumber, LaxIpPayloadSlice, LaxNetSlice, LaxSlicedPacket};

/// Longest TCP segment that is believed, in bytes: what offload engines hand down is shorter.
const LONGEST: usize = 1 << 20;

/// A TCP packet as the tap saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    pub time: Time,
    pub endpoints: Endpoints,
    pub ecn: Ecn,
    /// IPv4's identification; zero says nothing.
    pub id: u16,
    /// Length of the IP packet in bytes.
    pub bytes: u32,
    pub segment: Segment,
}

/// What a frame is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dissected {
    Tcp(Packet),
    /// Sound, and something else.
    Other,
    Skipped(String),
}

/// The link types that are understood: tcpdump.org's number, and their names.
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

/// Finds the TCP packet in a frame.
pub fn dissect(frame: &Frame) -> Dissected {
    if link_name(frame.link_type).is_none() {
        return Dissected::Skipped(format!("link type {} is not understood", frame.link_type));
    }
    match sliced(frame.link_type, frame.data).and_then(|sliced| sliced.net) {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let (source, destination) = (header.source_addr(), header.destination_addr());
            let network = Network {
                addresses: Addresses::V4 { source, destination },
                ecn: Ecn::from_bits(header.ecn().value()),
                id: header.identification(),
                claimed: usize::from(header.total_len()),
                header_len: header.slice().len(),
            };
            transport(frame, &network, ip.payload())
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let (source, destination) = (header.source_addr(), header.destination_addr());
            let (header_len, payload_len) = (header.slice().len(), usize::from(header.payload_length()));
            let network = Network {
                addresses: Addresses::V6 { source, destination },
                ecn: Ecn::from_bits(header.traffic_class()),
                id: 0,
                claimed: if payload_len == 0 { 0 } else { header_len + payload_len },
                header_len: header_len + ip.extensions().slice().len(),
            };
            transport(frame, &network, ip.payload())
        }
        Some(LaxNetSlice::Arp(_)) => Dissected::Other,
        None if frame.data.len() < frame.original_len as usize && frame.data.len() < 54 => {
            Dissected::Skipped("cut short before its TCP header".to_owned())
        }
        None => Dissected::Other,
    }
}

/// What is needed of an IP header.
struct Network {
    addresses: Addresses,
    ecn: Ecn,
    id: u16,
    /// Length in bytes that the packet claims; zero where an offload engine is to fill it in.
    claimed: usize,
    /// With options and extension headers.
    header_len: usize,
}

fn sliced(link_type: u16, data: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    let ether_type = |at: usize| Some(EtherType(u16::from_be_bytes([*data.get(at)?, *data.get(at + 1)?])));
    match link_type {
        0 | 108 => LaxSlicedPacket::from_ip(data.get(4..)?).ok(),
        1 => LaxSlicedPacket::from_ethernet(data).ok(),
        113 => Some(LaxSlicedPacket::from_ether_type(ether_type(14)?, data.get(16..)?)),
        276 => Some(LaxSlicedPacket::from_ether_type(ether_type(0)?, data.get(20..)?)),
        _ => LaxSlicedPacket::from_ip(data).ok(),
    }
}

fn transport(frame: &Frame, network: &Network, payload: &LaxIpPayloadSlice) -> Dissected {
    if payload.ip_number != IpNumber(TCP) {
        return Dissected::Other;
    }
    if payload.fragmented {
        return Dissected::Skipped("a fragment, and fragments are not reassembled".to_owned());
    }
    let (ports, mut segment, header_len) = match tcp::decode_captured(payload.payload) {
        Ok(decoded) => decoded,
        Err(error) => return Dissected::Skipped(error.to_string()),
    };
    let len = match network.claimed {
        0 => unclaimed_len(frame, payload),
        claimed => claimed.saturating_sub(network.header_len),
    };
    if len < header_len || len > LONGEST {
        return Dissected::Skipped(format!("a TCP header of {header_len} bytes in a segment of {len}"));
    }
    segment.len = (len - header_len) as u32;
    Dissected::Tcp(Packet {
        time: frame.time,
        endpoints: Endpoints { addresses: network.addresses, ports },
        ecn: network.ecn,
        id: network.id,
        bytes: (network.header_len + len) as u32,
        segment,
    })
}

/// Length of a segment whose IP header leaves it open: what the frame was long, without the headers before it.
fn unclaimed_len(frame: &Frame, payload: &LaxIpPayloadSlice) -> usize {
    let before = payload.payload.as_ptr().addr() - frame.data.as_ptr().addr();
    (frame.original_len as usize).saturating_sub(before)
}
