//! What comes back from the end that is ahead.

use airtcp_wire::{Header, Time};

/// Something that reaches the run's end of the path. There may be many: each takes half a cache line.
#[derive(Clone, Copy, Default)]
pub struct Arrival {
    pub at: Time,
    /// The header of an ACK that is not in the slab. An ACK has no payload, so its length field holds [`What`] has
    /// arrived.
    header: Header,
}

impl Arrival {
    /// `ack` is ignored for a [`What::Packet`].
    #[inline(always)]
    pub fn new(at: Time, what: What, mut ack: Header) -> Arrival {
        debug_assert!(ack.len == 0);
        ack.len = what.packed();
        Arrival { at, header: ack }
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

/// What arrives, with the number of the sending end of its connection, of its circuit, or of the packet in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// New data or an ACK of a connection that consists of its header alone.
    Plain(u32),
    /// An ACK of a connection with SACK blocks, which are [kept separately](super::Ahead::pop_blocks).
    Sacked(u32),
    /// A plain ACK from the receiver of a circuit's first control TCP.
    HeaderAck(u32),
    Packet(u32),
}

impl Default for What {
    fn default() -> What {
        What::Plain(0)
    }
}

impl What {
    /// The sending end of its connection, if that is known.
    #[inline]
    pub fn endpoint(self) -> Option<u32> {
        match self {
            What::Plain(endpoint) | What::Sacked(endpoint) => Some(endpoint),
            What::HeaderAck(_) | What::Packet(_) => None,
        }
    }

    /// Packs the kind into the two highest bits and the number into the others.
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
        let number = packed & ((1 << NUMBER_BITS) - 1);
        match packed >> NUMBER_BITS {
            0 => What::Plain(number),
            1 => What::Sacked(number),
            2 => What::HeaderAck(number),
            _ => What::Packet(number),
        }
    }
}

const NUMBER_BITS: u32 = 30;

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::{Flags, Seq};

    #[test]
    fn what_has_arrived_is_kept_in_the_length_field() {
        let mut header = Header::new(Seq(5), Flags::ACK, None);
        header.ack = Seq(7);
        for number in [0, 7, (1 << NUMBER_BITS) - 1] {
            for kind in [What::Plain, What::Sacked, What::HeaderAck, What::Packet] {
                let arrival = Arrival::new(Time(3), kind(number), header);
                assert_eq!((arrival.what(), arrival.header()), (kind(number), header));
            }
        }
        assert_eq!(size_of::<Arrival>(), 32);
    }
}
