//! What comes back from the end that is ahead.

use airtcp_wire::{Header, Time};

/// What gets to a node. There are many: each takes half a cache line.
#[derive(Clone, Copy, Default)]
pub struct Arrival {
    pub at: Time,
    /// The header of an ACK that is no packet. An ACK has no payload: the length holds what has come.
    header: Header,
}

impl Arrival {
    /// An ACK that is no packet.
    #[inline(always)]
    pub fn ack(at: Time, what: What, mut header: Header) -> Arrival {
        debug_assert!(header.len == 0);
        header.len = what.packed();
        Arrival { at, header }
    }

    #[inline]
    pub fn packet(at: Time, id: u32) -> Arrival {
        Arrival::ack(at, What::Packet(id), Header::default())
    }

    #[inline(always)]
    pub fn what(&self) -> What {
        What::unpacked(self.header.len)
    }

    #[inline(always)]
    pub fn header(&self) -> Header {
        let mut header = self.header;
        header.len = 0;
        header
    }
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

    /// In four bytes, of which two bits tell the kind.
    #[inline(always)]
    fn packed(self) -> u32 {
        let (kind, number) = match self {
            What::Plain(endpoint) => (0, endpoint),
            What::Sacked(endpoint) => (1, endpoint),
            What::HeaderAck(circuit) => (2, circuit),
            What::Packet(id) => (3, id),
        };
        debug_assert!(number >> NUMBER_BITS == 0);
        kind << NUMBER_BITS | number
    }

    #[inline(always)]
    fn unpacked(packed: u32) -> What {
        // Most are plain, and their number is all.
        if packed >> NUMBER_BITS == 0 { What::Plain(packed) } else { What::unpacked_other(packed) }
    }

    #[inline]
    fn unpacked_other(packed: u32) -> What {
        let number = packed & ((1 << NUMBER_BITS) - 1);
        match packed >> NUMBER_BITS {
            1 => What::Sacked(number),
            2 => What::HeaderAck(number),
            _ => What::Packet(number),
        }
    }
}

/// Room for the number of an endpoint, a circuit or a packet.
const NUMBER_BITS: u32 = 30;

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::{Flags, Seq};

    #[test]
    fn what_has_come_stands_in_the_place_of_the_length() {
        let mut header = Header::new(Seq(5), Flags::ACK, None);
        header.ack = Seq(7);
        for number in [0, 7, (1 << NUMBER_BITS) - 1] {
            for kind in [What::Plain, What::Sacked, What::HeaderAck, What::Packet] {
                let arrival = Arrival::ack(Time(3), kind(number), header);
                assert_eq!((arrival.what(), arrival.header()), (kind(number), header));
            }
        }
        assert_eq!(size_of::<Arrival>(), 32);
    }
}
