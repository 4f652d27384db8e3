//! Packets as the path sees them.

use crate::trial::application::{FIRST_PORT, MOST_FLOWS};
use crate::trial::circuit::number_at;
use airtcp_wire::circuit::Kind;
use airtcp_wire::ip::{Addresses, Found, IpHeader, UDP};
use airtcp_wire::packet::decode_tcp;
use airtcp_wire::{Segment, ethernet};
use std::net::IpAddr;

/// Direction of a connection's packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    FromSender,
    FromReceiver,
}

/// A packet of one of the run's flows. `bytes` is the IP packet's length.
#[derive(Clone, Debug, PartialEq)]
pub enum MeteredPacket {
    Tcp {
        flow: usize,
        bytes: u64,
        /// The sender's port, which identifies the connection.
        port: u16,
        direction: Direction,
        segment: Segment,
        /// The IP header's identification, which distinguishes the copies of a segment.
        id: u16,
    },
    Datagram {
        flow: usize,
        bytes: u64,
        payload_bytes: u64,
    },
}

/// A header packet of one of the run's circuits, or an ACK of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControlPacket {
    /// Number of the circuit.
    pub number: usize,
    pub from: IpAddr,
    pub bytes: u64,
    pub is_ack: bool,
}

/// In bytes.
const UDP_HEADER_LEN: usize = 8;

impl ControlPacket {
    /// Reads an Ethernet frame. `None` for everything else, including other datagrams of circuits.
    pub fn of_frame(frame: &[u8]) -> Option<ControlPacket> {
        let packet = &frame[ethernet::ip_at(frame)?..];
        let found = Found::read(packet).ok().filter(|found| found.protocol == UDP)?;
        let udp = found.payload(packet)?;
        let port = |at: usize| Some(u16::from_be_bytes([*udp.get(at)?, *udp.get(at + 1)?]));
        let (kind, _) = Kind::of(udp.get(UDP_HEADER_LEN..)?)?;
        let (is_ack, port) = match kind {
            Kind::Header | Kind::Compressed => (false, port(2)?),
            Kind::Ack => (true, port(0)?),
            _ => return None,
        };
        let from = match found.addresses {
            Addresses::V4 { source, .. } => source.into(),
            Addresses::V6 { source, .. } => source.into(),
        };
        Some(ControlPacket { number: number_at(port)?, from, bytes: found.claimed as u64, is_ack })
    }
}

impl MeteredPacket {
    /// Reads an Ethernet frame.
    pub fn of_frame(frame: &[u8]) -> Option<MeteredPacket> {
        MeteredPacket::read(&frame[ethernet::ip_at(frame)?..])
    }

    /// Reads an IP packet. `None` if it is of no flow, as an ICMP message is.
    pub fn read(bytes: &[u8]) -> Option<MeteredPacket> {
        let (ip, at) = IpHeader::decode(bytes).ok()?;
        let length = (at + ip.payload_len) as u64;
        if ip.protocol == UDP {
            let port = bytes.get(at + 2..at + 4)?;
            let flow = flow_at(u16::from_be_bytes([port[0], port[1]]))?;
            let payload_bytes = ip.payload_len.saturating_sub(8) as u64;
            return Some(MeteredPacket::Datagram { flow, bytes: length, payload_bytes });
        }
        let packet = decode_tcp(bytes).ok()?;
        let ports = packet.endpoints.ports;
        let (flow, port, direction) = match flow_at(ports.destination) {
            Some(flow) => (flow, ports.source, Direction::FromSender),
            None => (flow_at(ports.source)?, ports.destination, Direction::FromReceiver),
        };
        let id = u16::from_be_bytes([bytes[4], bytes[5]]);
        Some(MeteredPacket::Tcp { flow, bytes: length, port, direction, segment: packet.segment, id })
    }

    /// Returns whether it carries application data.
    pub fn is_data(&self) -> bool {
        match self {
            MeteredPacket::Tcp { segment, .. } => segment.len > 0,
            MeteredPacket::Datagram { .. } => true,
        }
    }

    pub fn bytes(&self) -> u64 {
        match *self {
            MeteredPacket::Tcp { bytes, .. } | MeteredPacket::Datagram { bytes, .. } => bytes,
        }
    }

    pub fn flow(&self) -> usize {
        match *self {
            MeteredPacket::Tcp { flow, .. } | MeteredPacket::Datagram { flow, .. } => flow,
        }
    }
}

/// The flow whose receiver has this port.
fn flow_at(port: u16) -> Option<usize> {
    port.checked_sub(FIRST_PORT).map(usize::from).filter(|&flow| flow < MOST_FLOWS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::packet::{Endpoints, encode_tcp};
    use airtcp_wire::{Ecn, Flags, Seq};
    use proptest::prelude::*;

    fn bytes(from: (u8, u16), to: (u8, u16), segment: &Segment) -> Vec<u8> {
        let at = |(host, port): (u8, u16)| ([10, 77, 0, host], port).into();
        let mut buffer = [0; 1500];
        let payload = vec![0; segment.len as usize];
        let endpoints = Endpoints::new(at(from), at(to)).unwrap();
        let len = encode_tcp(&endpoints, Ecn::NotEct, segment, &payload, &mut buffer).unwrap();
        buffer[..len].to_vec()
    }

    #[test]
    fn ports_tell_flow_connection_and_way() {
        let data = Segment { seq: Seq(7), flags: Flags::ACK, len: 100, ..Segment::default() };
        let ack = Segment { len: 0, ..data };
        let there = MeteredPacket::read(&bytes((1, 20_001), (2, FIRST_PORT + 3), &data)).unwrap();
        let back = MeteredPacket::read(&bytes((2, FIRST_PORT + 3), (1, 20_001), &ack)).unwrap();
        assert!(there.is_data() && !back.is_data());
        assert_eq!([&there, &back].map(MeteredPacket::bytes), [140, 40]);
        let told = |packet: &MeteredPacket| match *packet {
            MeteredPacket::Tcp { flow, port, direction, .. } => (flow, port, direction),
            MeteredPacket::Datagram { .. } => unreachable!(),
        };
        assert_eq!(told(&there), (3, 20_001, Direction::FromSender));
        assert_eq!(told(&back), (3, 20_001, Direction::FromReceiver));
        assert_eq!(MeteredPacket::read(&bytes((1, 20_001), (2, 80), &data)), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_not(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = MeteredPacket::read(&bytes);
        }
    }
}
