//! What is foreseen to arrive at the end that is ahead, and back from there.

use airtcp_wire::Header;

/// A packet of which nobody but its destination will hear any more. Only one that a link or a station has kept is in the
/// slab.
#[derive(Clone, Copy, Debug)]
pub enum Arrival {
    /// New data from this end of a connection. Its payload starts at the stream position `offset`.
    Data { endpoint: u32, header: Header, offset: u64 },
    /// An ACK to this end of a connection.
    Ack { endpoint: u32, header: Header },
    /// An ACK with SACK blocks, which are [kept separately](super::Ahead::pop_blocks).
    SackedAck { endpoint: u32, header: Header },
    /// An ACK from the receiver of a circuit's first control TCP.
    HeaderAck { circuit: u16, header: Header },
    /// A packet that is in the slab.
    Kept(u32),
}

impl Default for Arrival {
    fn default() -> Arrival {
        Arrival::Kept(0)
    }
}

impl Arrival {
    /// The sending end of its connection, if that is known.
    #[inline]
    pub fn endpoint(&self) -> Option<u32> {
        match *self {
            Arrival::Data { endpoint, .. }
            | Arrival::Ack { endpoint, .. }
            | Arrival::SackedAck { endpoint, .. } => Some(endpoint),
            Arrival::HeaderAck { .. } | Arrival::Kept(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There may be many.
    #[test]
    fn an_arrival_and_its_time_take_less_than_a_cache_line() {
        assert!(size_of::<(airtcp_wire::Time, Arrival)>() <= 48);
    }
}
