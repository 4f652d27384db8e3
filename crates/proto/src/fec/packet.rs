//! IP packets as symbols of the code.

use super::{Symbol, gf256};
use airtcp_wire::checksum::Sum;
use airtcp_wire::ip::Found;

/// Bytes of the length in front of a packet.
const LENGTH_LEN: usize = 2;

/// What both ends see of an IP packet, behind its length (RFC 8681 §3.2: the source ADU information). What routers change is zero:
/// traffic class, hop limit, IPv4's checksum, and IPv4's identification where it identifies nothing (RFC 6864 §4.1).
///
/// Also a linear combination of such packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet(Vec<u8>);

impl Packet {
    /// That of a packet as it was sent or has arrived. Bytes beyond its own length are padding. `None` if it is no whole IP packet.
    pub fn of(packet: &[u8]) -> Option<Packet> {
        let found = Found::read(packet).ok()?;
        found.payload(packet)?;
        let claimed = found.claimed;
        let mut bytes = Vec::with_capacity(LENGTH_LEN + claimed);
        bytes.extend(u16::try_from(claimed).ok()?.to_be_bytes());
        bytes.extend(&packet[..claimed]);
        mask(&mut bytes[LENGTH_LEN..]);
        Some(Packet(bytes))
    }

    /// A combination, as [`Packet::bytes`] gives it.
    pub fn coded(bytes: &[u8]) -> Packet {
        Packet(bytes.to_vec())
    }

    /// The length and the packet, or their combination with others.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Without the zeros with which a combination has filled it up. `None` if this is no packet.
    pub(super) fn trimmed(&self) -> Option<Packet> {
        let whole = Packet::of(self.0.get(LENGTH_LEN..)?)?;
        (whole.0[..] == *self.0.get(..whole.0.len())?).then_some(whole)
    }

    /// A packet that can be handed on: not ECN-capable, since nobody marked it, and otherwise as it would have come behind `like`.
    pub(super) fn restored(&self, like: Seen) -> Vec<u8> {
        let mut packet = self.0[LENGTH_LEN..].to_vec();
        let class = like.dscp << 2;
        if packet[0] >> 4 == 4 {
            (packet[1], packet[8]) = (class, like.hop_limit);
            let header_len = usize::from(packet[0] & 0x0f) * 4;
            let checksum = Sum::of(&packet[..header_len]).checksum();
            packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        } else {
            packet[0] |= class >> 4;
            packet[1] |= class << 4;
            packet[7] = like.hop_limit;
        }
        packet
    }
}

/// Clears what changes on the way.
fn mask(packet: &mut [u8]) {
    if packet[0] >> 4 == 4 {
        // DF, and neither MF nor an offset.
        let is_atomic = packet[6] & 0x7f == 0x40 && packet[7] == 0;
        (packet[1], packet[8]) = (0, 0);
        packet[10..12].fill(0);
        if is_atomic {
            packet[4..6].fill(0);
        }
    } else {
        packet[0] &= 0xf0;
        packet[1] &= 0x0f;
        packet[7] = 0;
    }
}

impl Symbol for Packet {
    fn add_scaled(&mut self, other: &Packet, factor: u8) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        gf256::add_scaled(&mut self.0, &other.0, factor);
    }

    fn scale(&mut self, factor: u8) {
        self.0.iter_mut().for_each(|byte| *byte = gf256::product(*byte, factor));
    }
}

/// What the way has made of the last packet that came, of what a repair does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    pub dscp: u8,
    pub hop_limit: u8,
}

impl Seen {
    /// `packet` is a whole IP packet.
    pub fn of(packet: &[u8]) -> Option<Seen> {
        let Found { dscp, hop_limit, .. } = Found::read(packet).ok()?;
        Some(Seen { dscp, hop_limit })
    }
}
