//! The fields that every segment has, in a form to carry and queue many of them.

use crate::segment::{Flags, Segment, Timestamps};
use crate::seq::Seq;

/// A segment without SACK blocks and without the options of a SYN, in 24 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header {
    pub seq: Seq,
    /// Meaningful with [`Flags::ACK`].
    pub ack: Seq,
    /// Payload length in bytes.
    pub len: u32,
    /// The control bits, and above them whether the segment has timestamps.
    bits: u16,
    /// As in the header, not scaled.
    pub window: u16,
    timestamps: Timestamps,
}

const TIMESTAMPS_BIT: u32 = 15;
const HAS_TIMESTAMPS: u16 = 1 << TIMESTAMPS_BIT;

impl Header {
    #[inline(always)]
    pub fn new(seq: Seq, flags: Flags, timestamps: Option<Timestamps>) -> Header {
        let mark = if timestamps.is_some() { HAS_TIMESTAMPS } else { 0 };
        let timestamps = timestamps.unwrap_or_default();
        Header { seq, bits: flags.0 | mark, timestamps, ..Header::default() }
    }

    #[inline(always)]
    pub fn flags(&self) -> Flags {
        Flags(self.bits & !HAS_TIMESTAMPS)
    }

    #[inline(always)]
    pub fn put(&mut self, flag: Flags, is_set: bool) {
        // No branch, as new data calls this.
        self.bits = self.bits & !flag.0 | flag.0 & u16::from(is_set).wrapping_neg();
    }

    #[inline(always)]
    pub fn timestamps(&self) -> Option<Timestamps> {
        (self.bits & HAS_TIMESTAMPS != 0).then_some(self.timestamps)
    }

    /// Sets the echo of the timestamps, if the segment has any.
    #[inline(always)]
    pub fn echo(&mut self, echo: u32) {
        self.timestamps.echo = echo;
    }

    /// Are ACK and perhaps PSH the only control bits, with timestamps or without as given?
    #[inline(always)]
    pub fn is_plain(&self, has_timestamps: bool) -> bool {
        self.bits & !Flags::PSH.0 == Flags::ACK.0 | u16::from(has_timestamps) << TIMESTAMPS_BIT
    }

    /// Sequence space that the segment occupies: its payload, plus one for SYN and one for FIN.
    #[inline]
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.bits & 1) + u32::from(self.bits >> 1 & 1)
    }
}

impl From<&Segment> for Header {
    #[inline]
    fn from(segment: &Segment) -> Header {
        let &Segment { seq, ack, flags, window, len, timestamps, .. } = segment;
        Header { ack, window, len, ..Header::new(seq, flags, timestamps) }
    }
}

impl From<&Header> for Segment {
    #[inline]
    fn from(header: &Header) -> Segment {
        let &Header { seq, ack, window, len, .. } = header;
        let (flags, timestamps) = (header.flags(), header.timestamps());
        Segment { seq, ack, flags, window, len, timestamps, ..Segment::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_header_takes_24_bytes() {
        assert_eq!(size_of::<Header>(), 24);
    }

    proptest! {
        #[test]
        fn a_segment_without_options_survives(
            (seq, ack, len, window) in (any::<u32>(), any::<u32>(), 0u32..1 << 20, any::<u16>()),
            flags in 0u16..0x1000,
            stamps: Option<(u32, u32)>,
        ) {
            let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            let (seq, ack, flags) = (Seq(seq), Seq(ack), Flags(flags));
            let segment = Segment { seq, ack, flags, window, len, timestamps, ..Segment::default() };
            let header = Header::from(&segment);
            prop_assert_eq!(Segment::from(&header), segment);
            prop_assert_eq!(header.seq_len(), segment.seq_len());
            prop_assert_eq!(header.is_plain(stamps.is_some()), flags.0 & !Flags::PSH.0 == Flags::ACK.0);
            prop_assert!(!header.is_plain(stamps.is_none()));
        }
    }
}
