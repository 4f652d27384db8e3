//! The headers in front of a segment's payload, tunnels included, that hold a length or a checksum.

use airtcp_wire::checksum::Sum;
use airtcp_wire::ethernet;
use airtcp_wire::ip::{Found, TCP, UDP};

const IPV4_IN_IP: u8 = 4;
const IPV6_IN_IP: u8 = 41;
const GRE: u8 = 47;

pub const UDP_HEADER_LEN: usize = 8;
/// VXLAN's header (RFC 7348 §5), and Geneve's without options (RFC 8926 §3.4).
const OVERLAY_HEADER_LEN: usize = 8;
/// EtherType of a bridged Ethernet frame, in GRE and Geneve.
const BRIDGED_ETHERNET: u16 = 0x6558;

/// GRE's flags (RFC 2890 §2): a checksum, a key, a sequence number.
const GRE_CHECKSUM: u16 = 0x8000;
const GRE_KEY: u16 = 0x2000;

/// Most headers: a tunnel in a tunnel.
const MOST: usize = 6;

/// A header, and its offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layer {
    V4(usize),
    V6(usize),
    /// UDP that carries a tunnel.
    Udp(usize),
    /// GRE with a checksum.
    Gre(usize),
}

/// All headers that have to be rewritten for each packet, except the transport header.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layers(Vec<Layer>);

impl Layers {
    /// Reads the headers from the outermost IP header, at `ip`, to the transport header at `start`. `None` if that is
    /// not there, is not TCP or UDP as `is_tcp` says, or belongs to a fragment.
    pub fn of(frame: &[u8], mut ip: usize, start: usize, is_tcp: bool) -> Option<Layers> {
        let mut layers = Layers::default();
        while layers.0.len() < MOST {
            let found = Found::read(frame.get(ip..)?).ok().filter(|found| !found.is_fragment)?;
            layers.0.push(if frame[ip] >> 4 == 4 { Layer::V4(ip) } else { Layer::V6(ip) });
            let next = ip + found.header_len;
            if next >= start {
                let protocol = if is_tcp { TCP } else { UDP };
                return (next == start && found.protocol == protocol).then_some(layers);
            }
            ip = layers.enter(frame, next, found.protocol)?;
        }
        None
    }

    /// Returns the offset of the IP header inside the tunnel whose own header is at `at`.
    fn enter(&mut self, frame: &[u8], at: usize, protocol: u8) -> Option<usize> {
        match protocol {
            IPV4_IN_IP | IPV6_IN_IP => Some(at),
            UDP => {
                self.0.push(Layer::Udp(at));
                let overlay = at + UDP_HEADER_LEN;
                let is_geneve = ethernet::ether_type(frame, overlay + 2)? == BRIDGED_ETHERNET;
                let options = if is_geneve { usize::from(frame[overlay] & 0x3f) * 4 } else { 0 };
                bridged(frame, overlay + OVERLAY_HEADER_LEN + options)
            }
            GRE => {
                let flags = ethernet::ether_type(frame, at)?;
                // Sequence numbers would repeat, and version 1 is another protocol.
                if flags & !(GRE_CHECKSUM | GRE_KEY) != 0 {
                    return None;
                }
                if flags & GRE_CHECKSUM != 0 {
                    self.0.push(Layer::Gre(at));
                }
                let inside = at + 4 + 4 * (flags & (GRE_CHECKSUM | GRE_KEY)).count_ones() as usize;
                match ethernet::ether_type(frame, at + 2)? {
                    BRIDGED_ETHERNET => bridged(frame, inside),
                    kind => ethernet::ip_behind(kind, frame, inside),
                }
            }
            _ => None,
        }
    }

    /// Writes lengths, identifications and checksums of packet `number`, whose transport segment is complete.
    pub fn write(&self, packet: &mut [u8], number: usize) {
        // The outer checksums cover the inner headers.
        for &layer in self.0.iter().rev() {
            match layer {
                Layer::V4(at) => {
                    let header_len = usize::from(packet[at] & 15) * 4;
                    let identification = usize::from(u16::from_be_bytes([packet[at + 4], packet[at + 5]]));
                    put(packet, at + 2, packet.len() - at);
                    put(packet, at + 4, identification.wrapping_add(number));
                    checksum(packet, at + 10, at..at + header_len, Sum::default());
                }
                Layer::V6(at) => put(packet, at + 4, packet.len() - at - 40),
                Layer::Udp(at) => self.write_udp(packet, at),
                Layer::Gre(at) => checksum(packet, at + 4, at..packet.len(), Sum::default()),
            }
        }
    }

    /// Writes a tunnel's UDP header. One without a checksum stays without (RFC 768; RFC 6935 §5 for IPv6).
    fn write_udp(&self, packet: &mut [u8], at: usize) {
        let len = packet.len() - at;
        put(packet, at + 4, len);
        if packet[at + 6..at + 8] == [0, 0] {
            return;
        }
        let before = self.0.iter().rev().find_map(|&layer| match layer {
            Layer::V4(ip) | Layer::V6(ip) if ip < at => Found::read(&packet[ip..]).ok(),
            _ => None,
        });
        let Some(found) = before else { return };
        let pseudo = Sum::pseudo_header(&found.addresses, UDP, len as u32);
        checksum(packet, at + 6, at..packet.len(), pseudo);
        if packet[at + 6..at + 8] == [0, 0] {
            packet[at + 6..at + 8].fill(0xff);
        }
    }
}

/// Returns the offset of the IP header in the Ethernet frame at `at`.
fn bridged(frame: &[u8], at: usize) -> Option<usize> {
    Some(at + ethernet::ip_at(frame.get(at..)?)?)
}

/// Writes the checksum of `range` and `more` to the field at `at`, which is in the range.
fn checksum(packet: &mut [u8], at: usize, range: std::ops::Range<usize>, more: Sum) {
    put(packet, at, 0);
    let sum = (Sum::of(&packet[range]) + more).checksum();
    put(packet, at, sum.into());
}

/// Writes the low 16 bits of `word`.
pub fn put(packet: &mut [u8], at: usize, word: usize) {
    packet[at..at + 2].copy_from_slice(&(word as u16).to_be_bytes());
}
