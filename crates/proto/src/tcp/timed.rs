//! The segment that is timed, where it is one at a time and never a resent one (Karn).

use airtcp_wire::{Dur, Time};

/// The timed segment, and when those after it left.
#[derive(Debug)]
pub struct Timed {
    /// Where the segment ends; [`NONE`] if none is timed.
    end: u64,
    sent_at: Time,
    /// The lower half of its number on the scoreboard.
    number: u32,
    /// When the last segment left.
    last_at: Time,
    gaps: Gaps,
}

/// No ACK reaches this.
const NONE: u64 = u64::MAX;

impl Default for Timed {
    fn default() -> Timed {
        Timed { end: NONE, sent_at: Time::ZERO, number: 0, last_at: Time::ZERO, gaps: Gaps::default() }
    }
}

impl Timed {
    /// `segments` have left, the first of them with this end and number. It is timed if no other one is.
    #[inline]
    pub fn on_sent(&mut self, now: Time, segments: u32, end: u64, number: u64) {
        let mut later = segments;
        if self.end == NONE {
            (self.end, self.sent_at, self.number, self.last_at) = (end, now, number as u32, now);
            self.gaps.used = 0;
            later -= 1;
        }
        for _ in 0..later {
            if !self.gaps.push(now.since(self.last_at)) {
                return self.stop();
            }
            self.last_at = now;
        }
    }

    /// What starts at `start` is resent.
    pub fn on_resent(&mut self, start: u64) {
        if self.end > start {
            self.stop();
        }
    }

    /// Times no segment until the next one leaves. Gives memory back.
    pub fn stop(&mut self) {
        *self = Timed::default();
    }

    /// If everything below `una` has been acknowledged, and with it the timed segment: when that left, and when the last
    /// acknowledged one did, behind which the board begins with the segment `first`. No segment is timed then.
    #[inline]
    pub fn take(&mut self, una: u64, first: u64) -> Option<(Time, Time)> {
        if una < self.end {
            return None;
        }
        self.end = NONE;
        let later = (first as u32).wrapping_sub(self.number) - 1;
        Some((self.sent_at, self.sent_at + self.gaps.first(later)))
    }
}

/// How long after the segment before it each later one left. A gap takes as many bytes as it has groups of seven bits.
/// In the lowest bits of the first byte, a 1 behind one 0 less than there are bytes says how many these are; the gap
/// has the bits above.
#[derive(Debug, Default)]
struct Gaps {
    bytes: Box<[u8]>,
    /// How many bytes hold gaps.
    used: u32,
}

/// A gap is written as this many bytes, which are also the most that it can take.
const WORD: usize = size_of::<u64>();
/// Bytes by which [`Gaps`] grow: there are many.
const FEW: usize = 16;
/// Bytes that they have at first. An allocator adds about 8 of its own, and rounds up.
const FIRST: usize = FEW + 8;

impl Gaps {
    /// Returns whether there is room for the gap, which must not last for two years.
    #[inline]
    fn push(&mut self, gap: Dur) -> bool {
        let count = (u64::BITS - (gap.0 | 1).leading_zeros()).div_ceil(7);
        let used = self.used as usize;
        if used + WORD > self.bytes.len() {
            self.grow();
        }
        let code = gap.0 << count | 1 << (count - 1);
        match self.bytes.get_mut(used..used + WORD) {
            Some(place) if count as usize <= WORD => place.copy_from_slice(&code.to_le_bytes()),
            _ => return false,
        }
        self.used += count;
        true
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes).into_vec();
        let more = if bytes.is_empty() { FIRST } else { FEW };
        bytes.reserve_exact(more);
        bytes.resize(bytes.len() + more, 0);
        self.bytes = bytes.into();
    }

    /// The sum of the first `count` gaps.
    fn first(&self, count: u32) -> Dur {
        let (mut sum, mut bytes) = (0, &self.bytes[..]);
        for _ in 0..count {
            let Some((word, _)) = bytes.split_first_chunk() else { break };
            let word = u64::from_le_bytes(*word);
            let count = word.trailing_zeros() + 1;
            sum += (word & u64::MAX >> (u64::BITS - 8 * count)) >> count;
            bytes = &bytes[count as usize..];
        }
        Dur(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever an ACK covers beside the timed segment, it is known when the last of that left.
        #[test]
        fn times_are_exact(bursts in prop::collection::vec((0u64..u64::MAX >> 8, 0u32..60, 1u32..5), 1..30), beyond in 0usize..99) {
            let (mut timed, mut sent) = (Timed::default(), Vec::new());
            let mut now = Time(1);
            for (gap, shift, segments) in bursts {
                now += Dur(gap >> shift);
                timed.on_sent(now, segments, 10 * (sent.len() as u64 + 1), sent.len() as u64);
                (0..segments).for_each(|_| sent.push(now));
            }
            let covered = beyond % sent.len() + 1;
            prop_assert_eq!(timed.take(9, 0), None);
            let expected = Some((sent[0], sent[covered - 1]));
            prop_assert_eq!(timed.take(10 * covered as u64, covered as u64), expected);
            prop_assert_eq!(timed.take(u64::MAX - 1, 99), None);
        }
    }

    #[test]
    fn after_two_years_no_segment_is_timed() {
        for (gap, is_timed) in [(1 << 56, false), ((1 << 56) - 1, true)] {
            let mut timed = Timed::default();
            timed.on_sent(Time(5), 1, 10, 0);
            timed.on_sent(Time(5 + gap), 1, 20, 1);
            assert_eq!(timed.take(20, 2), is_timed.then_some((Time(5), Time(5 + gap))));
        }
    }

    /// Karn.
    #[test]
    fn a_resent_segment_is_not_timed() {
        let mut timed = Timed::default();
        timed.on_sent(Time(5), 2, 10, 0);
        timed.on_resent(10);
        assert_eq!(timed.take(20, 2), Some((Time(5), Time(5))));
        timed.on_sent(Time(6), 1, 30, 2);
        timed.on_resent(20);
        assert_eq!(timed.take(30, 3), None);
    }
}
