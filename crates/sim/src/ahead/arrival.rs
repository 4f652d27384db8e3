//! What comes back from the end that is ahead.

use airtcp_wire::{Header, Time};

/// What gets to a node.
#[derive(Clone, Copy, Default)]
pub struct Arrival {
    pub at: Time,
    pub what: What,
    /// That of what is no packet.
    pub header: Header,
}

/// What has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// New data or an ACK whose header is all of it, with the number of the sending end of its connection.
    Plain(u32),
    /// An ACK whose SACK blocks stand [beside](super::Ahead::pop_blocks), with the same number.
    Sacked(u32),
    /// A plain ACK from the receiver of a circuit's first control TCP, with the circuit's number.
    HeaderAck(u32),
    /// A packet.
    Packet(u32),
}

impl Default for What {
    fn default() -> What {
        What::Plain(0)
    }
}

impl What {
    /// The number of the sending end of its connection, if that is known.
    #[inline]
    pub fn endpoint(self) -> Option<u32> {
        match self {
            What::Plain(endpoint) | What::Sacked(endpoint) => Some(endpoint),
            What::HeaderAck(_) | What::Packet(_) => None,
        }
    }
}
