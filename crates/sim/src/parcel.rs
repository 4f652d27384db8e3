//! A packet of a connection by value.

use airtcp_wire::{Ecn, Header, tcp};
use std::ops::Range;

pub const IP_HEADER_BYTES: u32 = 20;

/// A packet as it reaches an end of its connection. It has no SACK blocks and no options of a SYN, or these are beside it.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    pub header: Header,
    /// Stream position of the first payload byte.
    pub offset: u64,
    pub ecn: Ecn,
    /// Length of the IP packet.
    pub bytes: u32,
    /// Which copy of its bytes it carries: see [`crate::truth`].
    pub order: u32,
}

impl Parcel {
    /// A packet as it is sent, without SACK blocks, which carries its bytes for the first time.
    #[inline(always)]
    pub fn new(header: Header, offset: u64, ecn: Ecn) -> Parcel {
        Parcel { header, offset, ecn, bytes: plain_bytes(&header), order: 0 }
    }

    /// The stream positions of its payload.
    #[inline(always)]
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + u64::from(self.header.len)
    }
}

/// Length in bytes of the packet with this header and no SACK blocks.
#[inline(always)]
pub fn plain_bytes(header: &Header) -> u32 {
    IP_HEADER_BYTES + tcp::plain_header_len(header, 0) as u32 + header.len
}
