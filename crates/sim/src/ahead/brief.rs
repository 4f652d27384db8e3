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

/// An ACK to the sending end of a connection.
#[derive(Clone, Copy, Default, Debug)]
pub struct Brief {
    /// The connection's place.
    pub(super) place: u32,
    /// How many nanoseconds after the one before it comes.
    pub(super) gap: u32,
    /// The lower part of its acknowledgment number, of which [`ack_bits`](Brief::ack_bits) are enough.
    pub(super) ack: u32,
    pub(super) ack_bits: u32,
}

impl Brief {
    /// The most bits that the parts can have.
    pub(super) const PLACE: u32 = 22;
    pub(super) const GAP: u32 = 20;
    pub(super) const ACK: u32 = 20;

    #[inline]
    pub fn endpoint(self) -> u32 {
        self.place << 1
    }
}

/// The lowest `count` bits.
pub(super) fn lowest(bits: u64, count: u32) -> u64 {
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
        let (gap, news, place) = (at.since(self.last_at).0, ack.0.wrapping_sub(una.0), endpoint >> 1);
        let is_kept = form == self.form
            && gap >> Brief::GAP == 0
            && news >> Brief::ACK == 0
            && place >> Brief::PLACE == 0;
        if is_kept {
            let ack = lowest(ack.0.into(), Brief::ACK) as u32;
            self.keep(Brief { place, gap: gap as u32, ack, ack_bits: u32::BITS - news.leading_zeros() });
            self.last_at = at;
        }
        is_kept
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
            self.first_at.0 += u64::from(next.gap);
        }
        Some(first)
    }

    /// The header of an ACK that has just been popped. `seq` and `una` are RCV.NXT and SND.UNA at the end that it has
    /// reached.
    pub fn header(&self, brief: Brief, seq: Seq, una: Seq) -> Header {
        let news = lowest(brief.ack.wrapping_sub(una.0).into(), brief.ack_bits);
        Header::pure_ack(seq, una.at(news), self.form)
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
