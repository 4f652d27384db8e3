//! The messages between the two ends of a TCP circuit: the payloads of their UDP datagrams. `docs/circuit-wire.md`
//! specifies them.
//!
//! Nothing in a datagram is trusted before its tag is checked: only who has the circuit's key can send anything valid.
//! There is no FIN and no RST, so no message can close a control TCP.

mod control;
mod handshake;
mod keepalive;
mod mark;
mod repair;
mod tag;

pub use control::{Header, compress, decode, decompress, encode};
pub use handshake::{Hello, Nonce, REPAIRS_VERSION, Terms, VERSION, Welcome};
pub use keepalive::{decode_keepalive, encode_keepalive};
pub use mark::Mark;
pub use repair::{FINGERPRINT_LEN, Fingerprint, MAX_SOURCES, REPAIR_LEN, Repair};
pub use tag::{FingerprintKey, Key, KeyError, SessionKey};

use std::ops::RangeInclusive;

/// Default UDP ports of receiving gateways.
pub const PORTS: RangeInclusive<u16> = 4007..=4038;

/// The most control TCPs that a circuit can have: the first byte has five bits for their number.
pub const MAX_CONTROLS: u16 = 32;

/// Length of the longest datagram in bytes, other than a repair: an ACK with four SACK blocks.
pub const MAX_DATAGRAM: usize = 64;

/// Length in bytes of the tag at the end of a session's packet.
pub const TAG_LEN: usize = 4;

/// The kind of a datagram, in the three upper bits of its first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// From the sender: a combination of data packets, which stands in for lost ones.
    Repair = 0,
    Hello = 1,
    Welcome = 2,
    /// From the sender: a header packet, or a packet of TCP's handshake.
    Header = 3,
    /// From the sender: a compressed header packet.
    Compressed = 4,
    /// From the receiver.
    Ack = 5,
    Ping = 6,
    Pong = 7,
}

impl Kind {
    /// The kind of a datagram, and the number of its control TCP.
    pub fn of(datagram: &[u8]) -> Option<(Kind, u16)> {
        let first = *datagram.first()?;
        let kind = match first >> 5 {
            0 => Kind::Repair,
            1 => Kind::Hello,
            2 => Kind::Welcome,
            3 => Kind::Header,
            4 => Kind::Compressed,
            5 => Kind::Ack,
            6 => Kind::Ping,
            _ => Kind::Pong,
        };
        Some((kind, u16::from(first & 31)))
    }

    fn first_byte(self, control: u16) -> u8 {
        (self as u8) << 5 | (control as u8 & 31)
    }
}

/// Why a datagram is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CircuitError {
    #[error("a datagram of {0} bytes is not a circuit message")]
    Length(usize),
    #[error("a field has a value that is not allowed")]
    Field,
    #[error("it uses version {0}; this is version {VERSION} or {REPAIRS_VERSION}")]
    Version(u8),
    #[error("its tag is wrong: damaged, forged, or from another session")]
    Tag,
}

/// The payload of a UDP datagram, as it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    len: usize,
    bytes: [u8; MAX_DATAGRAM],
}

impl Datagram {
    fn new() -> Datagram {
        Datagram { len: 0, bytes: [0; MAX_DATAGRAM] }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The last bytes.
    fn tag(&self) -> &[u8] {
        &self.bytes[self.len - TAG_LEN..self.len]
    }
}

/// The number nearest to `near` whose low `bits` are `low`.
fn expand(low: u64, bits: u32, near: u64) -> u64 {
    let span = 1u64 << bits;
    let candidate = near & !(span - 1) | low;
    if candidate.saturating_add(span / 2) < near {
        candidate.saturating_add(span)
    } else if candidate > near.saturating_add(span / 2) && candidate >= span {
        candidate - span
    } else {
        candidate
    }
}

/// Splits the first `N` bytes off.
fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(first)
}

#[cfg(test)]
mod tests;
