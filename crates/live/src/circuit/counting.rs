//! Counts the data packets that come out of a circuit, as the link has them.

use crate::emulate::{PacketSocket, Prefix};
use airtcp_wire::ip::{Addresses, Found, TCP, UDP};
use airtcp_wire::{circuit, ethernet};
use std::io;
use std::net::IpAddr;

/// Bytes of UDP's header.
const UDP_HEADER_LEN: usize = 8;

/// What is counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Packets for these came through the circuit.
    pub prefixes: Vec<Prefix>,
    /// Of these such as are TCP for this port alone, if there is one.
    pub port: Option<u16>,
    /// The UDP port of the receiving gateway, whose packets are no data.
    pub gateway: u16,
}

/// Sees what comes by a link, header packets too: so it knows which data came before which of them.
pub struct DataCounter {
    socket: PacketSocket,
    tally: Tally,
}

/// What has come, up to the last frame that was seen.
struct Tally {
    counted: Counted,
    packets: u16,
    /// The payload of the last packet to the gateway: several header packets, if the kernel put them together.
    last: Vec<u8>,
}

/// What a packet is here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen<'a> {
    Data,
    /// To the gateway, with its payload.
    Gateways(&'a [u8]),
    Others,
}

impl DataCounter {
    pub fn new(socket: PacketSocket, counted: Counted) -> DataCounter {
        DataCounter { socket, tally: Tally { counted, packets: 0, last: Vec::new() } }
    }

    /// Data packets that have come since the last time, and before this datagram to the gateway; if nobody has seen that, until now.
    ///
    /// # Errors
    /// The kernel's.
    pub fn until(&mut self, datagram: &[u8]) -> io::Result<u16> {
        while !self.tally.has_seen(datagram) {
            let Some((frame, packets)) = self.socket.recv_uncut()? else { break };
            self.tally.see(frame, packets);
        }
        Ok(std::mem::take(&mut self.tally.packets))
    }
}

impl Tally {
    fn see(&mut self, frame: &[u8], packets: u16) {
        match self.counted.see(frame) {
            Seen::Data => self.packets = self.packets.wrapping_add(packets),
            Seen::Gateways(payload) => {
                self.last.clear();
                self.last.extend_from_slice(payload);
            }
            Seen::Others => {}
        }
    }

    /// Did this datagram come last of those to the gateway?
    fn has_seen(&self, datagram: &[u8]) -> bool {
        !datagram.is_empty() && self.last.chunks(datagram.len()).any(|one| one == datagram)
    }
}

impl Counted {
    /// Of an Ethernet frame.
    fn see<'a>(&self, frame: &'a [u8]) -> Seen<'a> {
        self.read(frame).unwrap_or(Seen::Others)
    }

    fn read<'a>(&self, frame: &'a [u8]) -> Option<Seen<'a>> {
        let packet = &frame[ethernet::ip_at(frame)?..];
        let found = Found::read(packet).ok()?;
        let transport = packet.get(found.header_len..found.claimed)?;
        // Only the first fragment has ports.
        let port = transport.get(2..4).filter(|_| !found.is_fragment);
        let port = port.map(|port| u16::from_be_bytes([port[0], port[1]]));
        if found.protocol == UDP && port == Some(self.gateway) {
            let payload = transport.get(UDP_HEADER_LEN..)?;
            // What is longer is no header packet, nor several.
            return Some(Seen::Gateways(&payload[..payload.len().min(MOST_TOGETHER)]));
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

/// Bytes of as many datagrams as the kernel gives as one.
const MOST_TOGETHER: usize = 64 * circuit::MAX_DATAGRAM;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: [u8; 4], port: u16, payload: &[u8]) -> Vec<u8> {
        let udp_len = (UDP_HEADER_LEN + payload.len()) as u16;
        let ip_len = (20 + udp_len).to_be_bytes();
        let ip = [&[0x45, 0, ip_len[0], ip_len[1], 0, 0, 0, 0, 64, UDP, 0, 0, 10, 1, 0, 1][..], &to].concat();
        let udp = [[7, 7], port.to_be_bytes(), udp_len.to_be_bytes(), [0, 0]].concat();
        // Behind it is what makes it as long as the least frame.
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
