//! What comes back from the end that is ahead, in 32 bytes: much is under way at once.

use airtcp_wire::{Header, Time};

/// What gets to a node.
#[derive(Clone, Copy, Default)]
pub struct Arrival {
    pub at: Time,
    /// An ACK has no text: where the length of that would be stands what has come.
    header: Header,
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

impl Arrival {
    #[inline(always)]
    pub fn new(at: Time, what: What, mut header: Header) -> Arrival {
        debug_assert_eq!(header.len, 0);
        header.len = what.code();
        Arrival { at, header }
    }

    #[inline(always)]
    pub fn what(&self) -> What {
        What::of_code(self.header.len)
    }

    /// The header of what is no packet.
    #[inline(always)]
    pub fn header(&self) -> Header {
        let mut header = self.header;
        header.len = 0;
        header
    }
}

/// Neither connections nor packets are more than this leaves room for.
const NUMBER_BITS: u32 = 30;

impl What {
    /// Which kind it is, and below that its number. The commonest kind is 0.
    #[inline(always)]
    fn code(self) -> u32 {
        match self {
            What::Plain(endpoint) => endpoint,
            What::Sacked(endpoint) => 1 << NUMBER_BITS | endpoint,
            What::HeaderAck(circuit) => 2 << NUMBER_BITS | circuit,
            What::Packet(id) => 3 << NUMBER_BITS | id,
        }
    }

    #[inline(always)]
    fn of_code(code: u32) -> What {
        let number = code & ((1 << NUMBER_BITS) - 1);
        match code >> NUMBER_BITS {
            0 => What::Plain(code),
            1 => What::Sacked(number),
            2 => What::HeaderAck(number),
            _ => What::Packet(number),
        }
    }

    /// The number of the sending end of its connection, if that is known.
    #[inline]
    pub fn endpoint(self) -> Option<u32> {
        match self {
            What::Plain(endpoint) | What::Sacked(endpoint) => Some(endpoint),
            What::HeaderAck(_) | What::Packet(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::{Flags, Seq};

    #[test]
    fn an_arrival_takes_32_bytes_and_loses_nothing() {
        assert_eq!(size_of::<Arrival>(), 32);
        let mut header = Header::new(Seq(9), Flags::ACK, None);
        (header.ack, header.window) = (Seq(7), 8);
        let last = (1 << NUMBER_BITS) - 1;
        for what in [What::Plain(last), What::Sacked(last), What::HeaderAck(1), What::Packet(last)] {
            let arrival = Arrival::new(Time(5), what, header);
            assert_eq!((arrival.at, arrival.what(), arrival.header()), (Time(5), what, header));
        }
    }
}
