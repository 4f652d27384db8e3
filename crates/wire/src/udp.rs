//! UDP headers (RFC 768).

use crate::checksum::Sum;
use crate::tcp::Ports;

pub const HEADER_LEN: usize = 8;

/// The header in front of `payload_len` bytes. `sum` is the sum over the pseudo header and the payload. `None` if the
/// length does not fit into 16 bits.
pub fn encode(ports: Ports, payload_len: usize, sum: Sum) -> Option<[u8; HEADER_LEN]> {
    let len = u16::try_from(HEADER_LEN + payload_len).ok()?;
    let mut header = [0; HEADER_LEN];
    header[..2].copy_from_slice(&ports.source.to_be_bytes());
    header[2..4].copy_from_slice(&ports.destination.to_be_bytes());
    header[4..6].copy_from_slice(&len.to_be_bytes());
    let checksum = match (sum + Sum::of(&header)).checksum() {
        // Zero on the wire means that there is no checksum.
        0 => 0xffff,
        checksum => checksum,
    };
    header[6..].copy_from_slice(&checksum.to_be_bytes());
    Some(header)
}
