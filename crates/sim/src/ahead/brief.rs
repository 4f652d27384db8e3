//! Plain ACKs that come soon after one another, in 8 bytes each.

use airtcp_proto::ring::Ring;
use airtcp_wire::{Header, Seq, Time};

/// ACKs without timestamps that reach the run's end of the path, in order of time. With thousands of connections, almost
/// all ACKs under way can be here. What they have in common is kept once. What the end that they reach knows is left
/// out: their sequence number, and the upper bits of an acknowledgment number not far above SND.UNA.
#[derive(Default)]
pub struct Briefs {
    acks: Ring<Brief>,
    /// When the first arrives, and when the last does.
    first_at: Time,
    last_at: Time,
    /// The [form](Header::form) of all.
    form: u32,
}

/// An ACK to a connection's sending end. From the lowest bit: the lower part of its acknowledgment number, how many
/// nanoseconds after the one before it comes, and the number of the end.
#[derive(Clone, Copy, Default)]
pub struct Brief(u64);

/// Bits of the first two parts. The rest suffices for all ends that can have a [timer](crate::schedule::TimerId).
const PART: u32 = 20;

impl Brief {
    #[inline]
    pub fn endpoint(self) -> u32 {
        (self.0 >> (2 * PART)) as u32
    }

    fn gap(self) -> u64 {
        lowest(self.0 >> PART)
    }
}

/// The part in the lowest bits.
fn lowest(bits: u64) -> u64 {
    bits & ((1 << PART) - 1)
}

impl Briefs {
    /// When the first arrives.
    #[inline]
    pub fn next(&self) -> Time {
        if self.acks.is_empty() { Time::NEVER } else { self.first_at }
    }

    /// Takes the ACK of this number and [form](Header::form), if it can be kept here. `una` is SND.UNA at the end that
    /// it reaches. Returns whether it is kept.
    pub fn push(&mut self, at: Time, endpoint: u32, ack: Seq, form: u32, una: Seq) -> bool {
        if self.acks.is_empty() {
            (self.first_at, self.last_at, self.form) = (at, at, form);
        }
        let (gap, news) = (at.since(self.last_at).0, u64::from(ack.0.wrapping_sub(una.0)));
        let is_kept = form == self.form && lowest(gap) == gap && lowest(news) == news;
        if is_kept {
            debug_assert!(endpoint >> (u64::BITS - 2 * PART) == 0);
            let ack = lowest(u64::from(ack.0));
            self.acks.push_back(Brief((u64::from(endpoint) << PART | gap) << PART | ack));
            self.last_at = at;
        }
        is_kept
    }

    pub fn pop(&mut self) -> Option<Brief> {
        let first = *self.acks.front()?;
        self.acks.drop_front();
        if let Some(next) = self.acks.front() {
            self.first_at.0 += next.gap();
        }
        Some(first)
    }

    /// The header of an ACK that has just been popped. `seq` and `una` are RCV.NXT and SND.UNA at the end that it has
    /// reached.
    pub fn header(&self, brief: Brief, seq: Seq, una: Seq) -> Header {
        let news = lowest(brief.0.wrapping_sub(u64::from(una.0)));
        Header::pure_ack(seq, una.at(news), self.form)
    }

    /// The sending end that the ACK behind this number of others reaches.
    #[inline]
    pub fn endpoint(&self, skipped: usize) -> Option<u32> {
        self.acks.get(skipped).map(|brief| brief.endpoint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::Flags;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn an_ack_takes_8_bytes() {
        assert_eq!(size_of::<Brief>(), 8);
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
                let is_kept = briefs.push(later, endpoint as u32, ack.ack, ack.form(), una);
                let is_near = ack.ack.0.wrapping_sub(una.0) <= 0xf_ffff;
                let follows = expected.back().is_none_or(|last| gap <= 0xf_ffff && last.2.window == window);
                prop_assert_eq!(is_kept, is_near && follows);
                if is_kept {
                    (at, number) = (later, ack.ack);
                    expected.push_back((at, endpoint as u32, ack));
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
