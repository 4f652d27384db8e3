//! A TCP segment as structured data, which the machines exchange and the codec reads and writes.

use crate::seq::Seq;

/// The control bits of a TCP header (RFC 9293 §3.1, RFC 3168 §6.1): its 14th byte, and above that the reserved bits of
/// its 13th byte.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    pub const FIN: Flags = Flags(0x01);
    pub const SYN: Flags = Flags(0x02);
    pub const RST: Flags = Flags(0x04);
    pub const PSH: Flags = Flags(0x08);
    pub const ACK: Flags = Flags(0x10);
    pub const URG: Flags = Flags(0x20);
    pub const ECE: Flags = Flags(0x40);
    pub const CWR: Flags = Flags(0x80);
    /// Explicit loss notification: the segment that this duplicate ACK misses was lost to corruption (Balakrishnan &
    /// Katz 1998). The paper takes a reserved bit without saying which. This is the first, farthest from the one that
    /// ECN used.
    pub const ELN: Flags = Flags(0x800);

    #[inline]
    pub fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    #[inline]
    pub fn set(&mut self, other: Flags) {
        self.0 |= other.0;
    }

    #[inline]
    pub fn put(&mut self, other: Flags, is_set: bool) {
        self.0 = self.0 & !other.0 | if is_set { other.0 } else { 0 };
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl std::fmt::Debug for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE", "9", "10", "ELN"];
        let set: Vec<_> = (0..12).filter(|bit| self.0 >> bit & 1 == 1).map(|bit| names[bit]).collect();
        f.write_str(&set.join("|"))
    }
}

/// The ECN field of an IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    #[default]
    NotEct = 0,
    Ect1 = 1,
    Ect0 = 2,
    Ce = 3,
}

impl Ecn {
    /// Reads the two low bits of `bits`, the byte with DSCP and ECN.
    #[inline]
    pub fn from_bits(bits: u8) -> Ecn {
        match bits & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// May a queue mark this packet instead of dropping it?
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }
}

/// The timestamps option (RFC 7323 §3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timestamps {
    pub value: u32,
    pub echo: u32,
}

/// Up to four SACK blocks; the left edge is inclusive, the right edge exclusive (RFC 2018 §3). The first block holds
/// the segment received last, or a duplicate (RFC 2883).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    len: u8,
    blocks: [(Seq, Seq); 4],
}

impl SackBlocks {
    pub const NONE: SackBlocks = SackBlocks { len: 0, blocks: [(Seq(0), Seq(0)); 4] };

    /// Adds a block; a fifth is ignored.
    #[inline]
    pub fn push(&mut self, left: Seq, right: Seq) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    #[inline]
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// The first block, if these blocks are equal to `last` except that the first may reach further.
    #[inline(always)]
    pub fn grown(&self, last: &SackBlocks) -> Option<(Seq, Seq)> {
        let (&(left, right), others) = self.as_slice().split_first()?;
        let (&(last_left, last_right), last_others) = last.as_slice().split_first()?;
        let has_grown = left == last_left && right.distance(last_right) >= 0 && others == last_others;
        has_grown.then_some((left, right))
    }

    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl std::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.as_slice().iter().map(|(l, r)| format!("{}..{}", l.0, r.0))).finish()
    }
}

/// Options that only a SYN has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SynOptions {
    /// Largest segment that the sender of this SYN can receive (RFC 9293 §3.7.1).
    pub mss: Option<u16>,
    /// Window scale shift count (RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// SACK-permitted (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Fast Open (RFC 7413 §4.1.1).
    pub fast_open: FastOpen,
}

/// What a SYN's Fast Open option is: absent, empty, or a cookie of so many bytes (RFC 7413 §4.1.1). The cookie itself is in the
/// packet: [`tcp::cookie`](crate::tcp::cookie) reads it, [`tcp::set_cookie`](crate::tcp::set_cookie) writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FastOpen(
    /// The option's length; 0 without the option.
    u8,
);

impl FastOpen {
    pub const ABSENT: FastOpen = FastOpen(0);
    /// A SYN that asks for a cookie.
    pub const REQUEST: FastOpen = FastOpen(2);

    /// An option with a cookie of `bytes`; `None` if it may not be so long: 4 to 16 bytes, and an even number.
    pub const fn cookie(bytes: usize) -> Option<FastOpen> {
        match bytes {
            4..=16 if bytes.is_multiple_of(2) => Some(FastOpen(2 + bytes as u8)),
            _ => None,
        }
    }

    /// Length of the option in bytes, without padding.
    #[inline]
    pub fn octets(self) -> usize {
        self.0.into()
    }

    #[inline]
    pub fn is_absent(self) -> bool {
        self == FastOpen::ABSENT
    }

    #[inline]
    pub fn has_cookie(self) -> bool {
        self.0 > FastOpen::REQUEST.0
    }
}

/// One TCP segment without the bytes of its payload. The driver keeps those, and finds them by their stream offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    pub seq: Seq,
    /// Meaningful with [`Flags::ACK`].
    pub ack: Seq,
    pub flags: Flags,
    /// As in the header, not scaled.
    pub window: u16,
    /// Payload length in bytes.
    pub len: u32,
    pub timestamps: Option<Timestamps>,
    pub sack: SackBlocks,
    pub syn: SynOptions,
}

impl Segment {
    /// Sequence space that the segment occupies: its payload, plus one for SYN and one for FIN.
    #[inline]
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.0 & 1) + u32::from(self.flags.0 >> 1 & 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(ranges: &[(u32, u32)]) -> SackBlocks {
        let mut sack = SackBlocks::default();
        ranges.iter().for_each(|&(left, right)| sack.push(Seq(left), Seq(right)));
        sack
    }

    #[test]
    fn blocks_have_grown_if_the_first_one_alone_reaches_further() {
        let last = blocks(&[(u32::MAX - 9, u32::MAX), (20, 30)]);
        let grown = |ranges: &[(u32, u32)]| blocks(ranges).grown(&last);
        assert_eq!(grown(&[(u32::MAX - 9, 5), (20, 30)]), Some((Seq(u32::MAX - 9), Seq(5))));
        assert_eq!(grown(&[(u32::MAX - 9, u32::MAX), (20, 30)]), Some((Seq(u32::MAX - 9), Seq(u32::MAX))));
        assert_eq!(grown(&[(u32::MAX - 9, u32::MAX - 1), (20, 30)]), None, "it has shrunk");
        assert_eq!(grown(&[(20, 40), (u32::MAX - 9, u32::MAX)]), None, "another one has grown");
        assert_eq!(grown(&[(u32::MAX - 9, 5)]), None, "the other one is gone");
        assert_eq!(grown(&[]), None);
        assert_eq!(blocks(&[]).grown(&blocks(&[])), None);
    }
}
