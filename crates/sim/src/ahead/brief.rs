//! Plain ACKs that come soon after one another, in few bytes each.

use super::packed::Packed;
use airtcp_proto::ring::Ring;
use airtcp_wire::{Header, Seq, Time};

/// ACKs without timestamps that reach the run's end of the path, in order of time. With thousands of connections, almost
/// all ACKs under way can be here. What they have in common is kept once. What the end that they reach knows is left
/// out: their sequence number, and the upper bits of an acknowledgment number not far above SND.UNA.
#[derive(Default)]
pub struct Briefs {
    /// The first ones, at most [`AT_HAND`].
    first: Ring<Brief>,
    others: Packed,
    /// When the first arrives, and when the last does.
    first_at: Time,
    last_at: Time,
    /// The [form](Header::form) of all.
    form: u32,
}

/// So many of the next ACKs can be [looked at](Briefs::endpoint).
const AT_HAND: usize = 16;

/// An ACK to the sending end of a connection. From the lowest bit: its kind, the connection's place, the lower part of its
/// acknowledgment number, and how many nanoseconds after the one before it comes, its gap. The kind is the number of bytes
/// that the gap takes, or [`WIDE`](Brief::WIDE). Bytes above those may have any value.
#[derive(Clone, Copy, Default, Debug)]
pub struct Brief(pub(super) u64);

impl Brief {
    const KIND: u32 = 2;
    /// The kind that takes all 8 bytes.
    const WIDE: u64 = 3;
    /// Bits of its place, of its gap, and of its acknowledgment number, which also limit its news.
    pub(super) const PLACE: u32 = 22;
    pub(super) const GAP: u32 = 20;
    pub(super) const NEWS: u32 = 20;
    /// Bits of place and acknowledgment number in the other kinds.
    const NARROW_PLACE: u32 = 14;
    const NARROW_NEWS: u32 = 16;
    const NARROW: u32 = Brief::KIND + Brief::NARROW_PLACE + Brief::NARROW_NEWS;

    /// An ACK with the number `ack`, which is `news` above SND.UNA. `None` if a part is too large.
    pub(super) fn new(place: u64, gap: u64, news: u64, ack: Seq) -> Option<Brief> {
        let ack = u64::from(ack.0);
        let gap_bytes = u64::from((u64::BITS - gap.leading_zeros()).div_ceil(8));
        if news >> Brief::NARROW_NEWS | place >> Brief::NARROW_PLACE == 0 && gap_bytes < Brief::WIDE {
            let parts =
                (gap << Brief::NARROW_NEWS | lowest(ack, Brief::NARROW_NEWS)) << Brief::NARROW_PLACE | place;
            return Some(Brief(parts << Brief::KIND | gap_bytes));
        }
        if news >> Brief::NEWS | place >> Brief::PLACE | gap >> Brief::GAP != 0 {
            return None;
        }
        let parts = (gap << Brief::NEWS | lowest(ack, Brief::NEWS)) << Brief::PLACE | place;
        Some(Brief(parts << Brief::KIND | Brief::WIDE))
    }

    #[inline]
    fn is_wide(self) -> bool {
        lowest(self.0, Brief::KIND) == Brief::WIDE
    }

    /// How many of its bytes matter.
    #[inline]
    pub(super) fn bytes(self) -> usize {
        match self.is_wide() {
            true => size_of::<Brief>(),
            false => Brief::NARROW as usize / 8 + lowest(self.0, Brief::KIND) as usize,
        }
    }

    #[inline]
    pub fn endpoint(self) -> u32 {
        let bits = if self.is_wide() { Brief::PLACE } else { Brief::NARROW_PLACE };
        lowest(self.0 >> Brief::KIND, bits) as u32 * 2
    }

    pub(super) fn gap(self) -> u64 {
        match self.is_wide() {
            true => self.0 >> (u64::BITS - Brief::GAP),
            false => lowest(self.0 >> Brief::NARROW, 8 * lowest(self.0, Brief::KIND) as u32),
        }
    }

    /// Its acknowledgment number, which is not far above `una`.
    pub(super) fn ack_above(self, una: Seq) -> Seq {
        let (place, bits) = match self.is_wide() {
            true => (Brief::PLACE, Brief::NEWS),
            false => (Brief::NARROW_PLACE, Brief::NARROW_NEWS),
        };
        let ack = self.0 >> (Brief::KIND + place);
        una.at(lowest(ack.wrapping_sub(u64::from(una.0)), bits))
    }
}

/// The lowest `count` bits.
#[inline]
fn lowest(bits: u64, count: u32) -> u64 {
    bits & ((1 << count) - 1)
}

impl Briefs {
    /// When the first arrives.
    #[inline]
    pub fn next(&self) -> Time {
        if self.first.is_empty() { Time::NEVER } else { self.first_at }
    }

    /// Takes the ACK of this number and [form](Header::form) to this sending end, if it can be kept here. `una` is
    /// SND.UNA at that end. Returns whether it is kept.
    pub fn push(&mut self, at: Time, endpoint: u32, ack: Seq, form: u32, una: Seq) -> bool {
        debug_assert!(endpoint & 1 == 0);
        if self.first.is_empty() {
            (self.first_at, self.last_at, self.form) = (at, at, form);
        }
        let (gap, news) = (at.since(self.last_at).0, ack.0.wrapping_sub(una.0));
        let brief = Brief::new(u64::from(endpoint >> 1), gap, news.into(), ack);
        let Some(brief) = brief.filter(|_| form == self.form) else { return false };
        self.keep(brief);
        self.last_at = at;
        true
    }

    fn keep(&mut self, brief: Brief) {
        match self.first.len() < AT_HAND && self.others.is_empty() {
            true => self.first.push_back(brief),
            false => self.others.push(brief),
        }
    }

    pub fn pop(&mut self) -> Option<Brief> {
        let first = *self.first.front()?;
        self.first.drop_front();
        if let Some(brief) = self.others.pop() {
            self.first.push_back(brief);
        }
        if let Some(next) = self.first.front() {
            self.first_at.0 += next.gap();
        }
        Some(first)
    }

    /// The header of an ACK that has just been popped. `seq` and `una` are RCV.NXT and SND.UNA at the end that it has
    /// reached.
    pub fn header(&self, brief: Brief, seq: Seq, una: Seq) -> Header {
        Header::pure_ack(seq, brief.ack_above(una), self.form)
    }

    /// The sending end that the ACK behind this number of others reaches, if it is at hand.
    #[inline]
    pub fn endpoint(&self, skipped: usize) -> Option<u32> {
        self.first.get(skipped).map(|brief| brief.endpoint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::Flags;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn ten_thousand_connections_take_5_bytes_an_ack() {
        let bytes = |place, gap| Brief::new(place, gap, 24_000, Seq(7)).map(Brief::bytes);
        assert_eq!([bytes(9_999, 0), bytes(9_999, 166)], [Some(4), Some(5)]);
        assert_eq!([bytes(1 << 14, 0), bytes(1, 1 << 16), bytes(1 << 22, 0)], [Some(8), Some(8), None]);
    }

    proptest! {
        /// What is popped is what was pushed. Only what differs, comes late or acknowledges much is refused.
        #[test]
        fn acks_come_out_as_they_went_in(
            steps in prop::collection::vec(
                (
                    prop::sample::select(vec![0, 1, 0xf_ffff, 0x10_0000, 1 << 40]),
                    prop::sample::select(vec![0, 1_000, 0xf_ffff, 0x10_0000]),
                    prop::sample::select(vec![1u16, 1, 1, 2]),
                    0usize..3,
                ),
                1..200,
            ),
            first: u32,
        ) {
            let (mut briefs, mut expected) = (Briefs::default(), VecDeque::<(Time, u32, Header)>::new());
            let (mut at, mut number, mut una) = (Time(5), Seq(first), Seq(first));
            for (endpoint, (gap, news, window, popped)) in steps.into_iter().enumerate() {
                let mut ack = Header::new(Seq(7), Flags::ACK, None);
                (ack.ack, ack.window) = (number.at(news), window);
                let later = Time(at.0 + gap);
                let is_kept = briefs.push(later, 2 * endpoint as u32, ack.ack, ack.form(), una);
                let is_near = ack.ack.0.wrapping_sub(una.0) <= 0xf_ffff;
                let follows = expected.back().is_none_or(|last| gap <= 0xf_ffff && last.2.window == window);
                prop_assert_eq!(is_kept, is_near && follows);
                if is_kept {
                    (at, number) = (later, ack.ack);
                    expected.push_back((at, 2 * endpoint as u32, ack));
                }
                for _ in 0..popped {
                    prop_assert_eq!(briefs.next(), expected.front().map_or(Time::NEVER, |first| first.0));
                    let (brief, first) = (briefs.pop(), expected.pop_front());
                    prop_assert_eq!(brief.map(Brief::endpoint), first.map(|first| first.1));
                    if let (Some(brief), Some((.., ack))) = (brief, first) {
                        prop_assert_eq!(briefs.header(brief, Seq(7), una), ack);
                        una = ack.ack;
                    }
                }
            }
        }
    }
}
