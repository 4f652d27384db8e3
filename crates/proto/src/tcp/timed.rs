//! The segment that is timed, where it is one at a time and never a resent one (Karn).

use airtcp_wire::{Dur, Time};

/// The timed segment, and when those after it left.
#[derive(Debug)]
pub struct Timed {
    /// Where the segment ends; [`NONE`] if none is timed.
    end: u64,
    sent_at: Time,
    /// Its number on the scoreboard.
    number: u64,
    /// When the last segment left.
    last_at: Time,
    /// How long after the segment before it each later one left: seven bits a byte, the lowest first, beside [`MORE`].
    gaps: Vec<u8>,
}

/// No ACK reaches this.
const NONE: u64 = u64::MAX;
/// In a byte of a gap: more bytes follow.
const MORE: u8 = 1 << 7;
/// Bytes by which `gaps` grows: there are many.
const FEW: usize = 16;

impl Default for Timed {
    fn default() -> Timed {
        Timed { end: NONE, sent_at: Time::ZERO, number: 0, last_at: Time::ZERO, gaps: Vec::new() }
    }
}

impl Timed {
    /// `segments` have left, the first of them with this end and number. It is timed if no other one is.
    #[inline(never)]
    pub fn on_sent(&mut self, now: Time, segments: u32, end: u64, number: u64) {
        let mut later = segments;
        if self.end == NONE {
            (self.end, self.sent_at, self.number, self.last_at) = (end, now, number, now);
            self.gaps.clear();
            later -= 1;
        }
        for _ in 0..later {
            self.push(now.since(self.last_at));
            self.last_at = now;
        }
    }

    fn push(&mut self, gap: Dur) {
        let mut rest = gap.0;
        loop {
            if self.gaps.len() == self.gaps.capacity() {
                self.gaps.reserve_exact(FEW);
            }
            let more = rest >> 7;
            self.gaps.push(rest as u8 & !MORE | if more > 0 { MORE } else { 0 });
            if more == 0 {
                return;
            }
            rest = more;
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
        let later = first - self.number - 1;
        Some((self.sent_at, self.sent_at + self.first_gaps(later)))
    }

    /// The sum of the first `count` gaps.
    fn first_gaps(&self, count: u64) -> Dur {
        let mut bytes = self.gaps.iter();
        Dur((0..count).map(|_| next_gap(&mut bytes)).sum())
    }
}

fn next_gap<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> u64 {
    let (mut gap, mut shift) = (0, 0);
    for byte in bytes {
        gap |= u64::from(byte & !MORE) << shift;
        shift += 7;
        if byte & MORE == 0 {
            break;
        }
    }
    gap
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
