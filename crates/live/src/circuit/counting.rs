//! Counts the data packets that come out of a circuit, in the order in which the link delivers them.

use crate::emulate::{PacketSocket, Prefix};
use airtcp_wire::ethernet;
use airtcp_wire::ip::{Addresses, Found, TCP, UDP};
use std::io;
use std::net::IpAddr;

/// Bytes of UDP's header.
const UDP_HEADER_LEN: usize = 8;

/// Which packets are counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Destinations of packets that came through the circuit.
    pub prefixes: Vec<Prefix>,
    /// If there is a port, only TCP packets to it count.
    pub port: Option<u16>,
    /// The receiving gateway's UDP port, whose packets are not data.
    pub gateway: u16,
}

/// Sees all packets from a link, including header packets, so that it knows which data came before which of them.
pub struct DataCounter {
    socket: PacketSocket,
    tally: Tally,
    /// For a packet that is cut from a longer one.
    room: Box<[u8]>,
}

/// The count up to the last frame seen.
struct Tally {
    counted: Counted,
    packets: u16,
    /// Payload of the last packet to the gateway: several header packets, if the kernel has merged them.
    last: Vec<u8>,
}

/// The kind of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen<'a> {
    Data,
    /// To the gateway, with this payload.
    ToGateway(&'a [u8]),
}

impl DataCounter {
    pub fn new(socket: PacketSocket, counted: Counted) -> DataCounter {
        let tally = Tally { counted, packets: 0, last: Vec::new() };
        DataCounter { socket, tally, room: vec![0; MAX_FRAME].into() }
    }

    /// Returns how many data packets have come since the last call and before this datagram to the gateway. If nobody
    /// has seen the datagram, counts until now. Shows each of these IP packets to `see`, if it is given.
    ///
    /// # Errors
    /// The kernel's.
    pub fn until(&mut self, datagram: &[u8], mut see: Option<impl FnMut(&[u8])>) -> io::Result<u16> {
        while !self.tally.has_seen(datagram) {
            let Some(uncut) = self.socket.recv_uncut()? else { break };
            let is_data = self.tally.see(uncut.frame, uncut.packets());
            if let Some(see) = see.as_mut().filter(|_| is_data) {
                uncut.cut(&mut self.room, |frame| {
                    ethernet::ip_at(frame).into_iter().for_each(|at| see(&frame[at..]))
                });
            }
        }
        Ok(std::mem::take(&mut self.tally.packets))
    }

    /// Is this packet one of those that are counted?
    pub fn counts(&self, packet: &[u8]) -> bool {
        self.tally.counted.read_packet(packet) == Some(Seen::Data)
    }
}

impl Tally {
    /// Returns whether it is data.
    fn see(&mut self, frame: &[u8], packets: u16) -> bool {
        let seen = self.counted.read(frame);
        match seen {
            Some(Seen::Data) => self.packets = self.packets.wrapping_add(packets),
            Some(Seen::ToGateway(payload)) => {
                self.last.clear();
                self.last.extend_from_slice(payload);
            }
            None => {}
        }
        seen == Some(Seen::Data)
    }

    /// Returns whether this datagram was in the last packet to the gateway.
    fn has_seen(&self, datagram: &[u8]) -> bool {
        !datagram.is_empty() && self.last.chunks(datagram.len()).any(|one| one == datagram)
    }
}

impl Counted {
    /// Classifies an Ethernet frame; `None` for one that is neither data nor to the gateway.
    fn read<'a>(&self, frame: &'a [u8]) -> Option<Seen<'a>> {
        self.read_packet(&frame[ethernet::ip_at(frame)?..])
    }

    fn read_packet<'a>(&self, packet: &'a [u8]) -> Option<Seen<'a>> {
        let found = Found::read(packet).ok()?;
        let transport = found.payload(packet)?;
        // Only the first fragment has ports.
        let port = transport.get(2..4).filter(|_| !found.is_fragment);
        let port = port.map(|port| u16::from_be_bytes([port[0], port[1]]));
        if found.protocol == UDP && port == Some(self.gateway) {
            return Some(Seen::ToGateway(transport.get(UDP_HEADER_LEN..)?));
        }
        let to: IpAddr = match found.addresses {
            Addresses::V4 { destination, .. } => destination.into(),
            Addresses::V6 { destination, .. } => destination.into(),
        };
        let is_counted = self.prefixes.iter().any(|prefix| prefix.covers(to))
            && self.port.is_none_or(|counted| found.protocol == TCP && port == Some(counted));
        is_counted.then_some(Seen::Data)
    }
}

/// Longest IP packet in bytes behind a link layer's header.
const MAX_FRAME: usize = (1 << 16) + 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: [u8; 4], port: u16, payload: &[u8]) -> Vec<u8> {
        let udp_len = (UDP_HEADER_LEN + payload.len()) as u16;
        let ip_len = (20 + udp_len).to_be_bytes();
        let ip = [&[0x45, 0, ip_len[0], ip_len[1], 0, 0, 0, 0, 64, UDP, 0, 0, 10, 1, 0, 1][..], &to].concat();
        let udp = [[7, 7], port.to_be_bytes(), udp_len.to_be_bytes(), [0, 0]].concat();
        // Padding to the minimum length of a frame.
        [&[0; 12][..], &[8, 0], &ip, &udp, payload, &[0; 9]].concat()
    }

    fn tally() -> Tally {
        let prefixes = vec!["10.2.0.0/16".parse().unwrap()];
        let counted = Counted { prefixes, port: None, gateway: 4007 };
        Tally { counted, packets: 0, last: Vec::new() }
    }

    #[test]
    fn data_and_header_packets_are_told_apart() {
        let mut tally = tally();
        tally.see(&frame([10, 2, 0, 9], 5000, b"data"), 3);
        tally.see(&frame([10, 3, 0, 9], 5000, b"others"), 1);
        // To the gateway itself, which the prefix covers.
        tally.see(&frame([10, 2, 0, 1], 4007, b"one.two."), 1);
        tally.see(&frame([10, 2, 0, 9], 4007 + 1, b"data"), 1);
        assert_eq!(tally.packets, 4);
        assert!(tally.has_seen(b"one.") && tally.has_seen(b"two."), "two came as one");
        assert!(!tally.has_seen(b"more"));
        tally.see(&frame([10, 2, 0, 1], 4007, b"more"), 1);
        assert!(tally.has_seen(b"more") && !tally.has_seen(b"two."));
    }

    #[test]
    fn of_one_port_tcp_alone_is_counted() {
        let mut tally = tally();
        tally.counted.port = Some(5000);
        let mut tcp = frame([10, 2, 0, 9], 5000, b"data");
        tally.see(&tcp, 1);
        assert_eq!(tally.packets, 0);
        tcp[14 + 9] = TCP;
        tally.see(&tcp, 1);
        tally.see(&tcp[..40], 1);
        assert_eq!(tally.packets, 1);
    }
}
