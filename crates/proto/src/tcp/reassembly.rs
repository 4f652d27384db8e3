//! Which bytes of the peer's stream have arrived, and the SACK blocks that report them.

use smallvec::{SmallVec, smallvec};

/// The most ranges above RCV.NXT that are kept. Text that would make one more is dropped, as if it had been lost. A segment
/// moves all of them at most, so that a hostile peer costs tens of microseconds a segment.
const MOST_RANGES: usize = 1 << 14;

/// What became of a range that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    New,
    /// All of it had arrived before.
    Known,
    /// There is no room for another range.
    Refused,
}

/// Received ranges above RCV.NXT. Positions are those of the scoreboard.
#[derive(PartialEq, Debug, Default)]
pub struct Reassembly {
    next: u64,
    /// Data behind the first gap, and a duplicate to report. Allocated when first needed, and then kept.
    above: Option<Box<Above>>,
}

impl Reassembly {
    /// RCV.NXT.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Data has arrived in order up to `end`, with no gap open.
    #[inline]
    pub fn advance(&mut self, end: u64) {
        debug_assert!(!self.has_gap());
        self.next = end;
    }

    #[inline]
    pub fn has_gap(&self) -> bool {
        self.above.as_ref().is_some_and(|above| !above.ranges.is_empty())
    }

    /// Returns whether there is something for SACK to report: data behind a gap, or a duplicate.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.above.as_ref().is_some_and(|above| !above.ranges.is_empty() || above.duplicate_len > 0)
    }

    /// Notes a duplicate for the next ACK to report (RFC 2883).
    pub fn note_duplicate(&mut self, range: (u64, u64)) {
        let above = self.above.get_or_insert_default();
        (above.duplicate_start, above.duplicate_len) = (range.0, (range.1 - range.0) as u32);
    }

    pub fn take_duplicate(&mut self) -> Option<(u64, u64)> {
        let above = self.above.as_mut().filter(|above| above.duplicate_len > 0)?;
        let end = above.duplicate_start + u64::from(std::mem::take(&mut above.duplicate_len));
        Some((above.duplicate_start, end))
    }

    /// The number of ranges above RCV.NXT.
    pub fn kept(&self) -> usize {
        self.above.as_ref().map_or(0, |above| above.ranges.len())
    }

    /// Position after the last byte that has arrived.
    pub fn end(&self) -> u64 {
        self.above.as_ref().and_then(|above| above.end()).unwrap_or(self.next)
    }

    pub fn contains(&self, start: u64, end: u64) -> bool {
        end <= self.next || self.block_at(start).is_some_and(|block| end <= block.1)
    }

    /// The first contiguous part of `start..end` that has arrived before.
    #[inline]
    pub fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        match start < self.next {
            true => Some((start, end.min(self.next))),
            false => self.above.as_ref()?.overlap(start, end),
        }
    }

    /// How many SACK blocks precede the one that `start..end` touches.
    pub fn rank(&self, start: u64, end: u64) -> usize {
        self.blocks().take_while(|&(left, right)| right < start || end < left).count()
    }

    /// Where the range behind a gap ends that changed last. A position at which nothing can be
    /// [added](Reassembly::extend) if there is none.
    #[inline]
    pub fn last_end(&self) -> u64 {
        self.above.as_ref().map_or(self.next, |above| above.recent[0].end_after(self.next))
    }

    /// Adds `start..end` if it extends the range that changed last and touches no other. Returns whether it does.
    #[inline]
    pub fn extend(&mut self, start: u64, end: u64) -> bool {
        self.above.as_mut().is_some_and(|above| above.extend(start, end))
    }

    /// Adds `start..end`, which has arrived. Returns what became of it.
    pub fn insert(&mut self, start: u64, end: u64) -> Inserted {
        if end <= self.next {
            return Inserted::Known;
        }
        match &mut self.above {
            Some(above) if start > self.next => return above.insert(start, end),
            Some(above) => self.next = above.absorb(end),
            None if start > self.next => self.above = Some(Box::new(Above::new(start, end))),
            None => self.next = end,
        }
        Inserted::New
    }

    /// The range around `position`, if it is above RCV.NXT.
    pub fn block_at(&self, position: u64) -> Option<(u64, u64)> {
        self.above.as_ref()?.block_at(position)
    }

    /// Up to four distinct ranges, the most recently changed first.
    #[inline]
    pub fn blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let recent = self.above.as_ref().map_or(&[][..], |above| &above.recent);
        recent.iter().filter_map(|range| range.after(self.next))
    }
}

/// The data behind the first gap.
#[derive(PartialEq, Debug, Default)]
struct Above {
    /// In order, disjoint, not touching, all above RCV.NXT. Mostly there is only one.
    ranges: SmallVec<[(u64, u64); 1]>,
    /// The ranges that changed last, most recent first.
    recent: [Recent; 4],
    /// Index in `ranges` of the first of those, and where the range above it begins; `limit` is 0 once that range is gone.
    growing: u32,
    limit: u64,
    /// The duplicate to report, if it has a length.
    duplicate_len: u32,
    duplicate_start: u64,
}

/// The ends of a range, modulo 2³²: what is above RCV.NXT lies in one window. Empty if there is none.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Recent {
    start: u32,
    end: u32,
}

impl Recent {
    fn new(range: (u64, u64)) -> Recent {
        Recent { start: range.0 as u32, end: range.1 as u32 }
    }

    /// The range itself, which lies above `next`.
    #[inline]
    fn after(self, next: u64) -> Option<(u64, u64)> {
        let start = next + u64::from(self.start.wrapping_sub(next as u32));
        (self.start != self.end).then(|| (start, self.end_after(next)))
    }

    fn begins_in(self, range: (u64, u64)) -> bool {
        self.start != self.end && u64::from(self.start.wrapping_sub(range.0 as u32)) < range.1 - range.0
    }

    #[inline]
    fn end_after(self, next: u64) -> u64 {
        next + u64::from(self.end.wrapping_sub(next as u32))
    }
}

impl Above {
    /// The first range behind a gap.
    fn new(start: u64, end: u64) -> Above {
        let range = (start, end);
        let none = Recent::default();
        Above {
            ranges: smallvec![range],
            recent: [Recent::new(range), none, none, none],
            limit: u64::MAX,
            ..Above::default()
        }
    }

    fn end(&self) -> Option<u64> {
        self.ranges.last().map(|range| range.1)
    }

    /// Returns whether `start` lies beyond all that has arrived, and does not touch it.
    #[inline]
    fn is_beyond(&self, start: u64) -> bool {
        self.ranges.last().is_none_or(|last| last.1 < start)
    }

    /// The first range that ends beyond `position`.
    fn first_beyond(&self, position: u64) -> Option<(u64, u64)> {
        self.ranges.get(self.ranges.partition_point(|range| range.1 <= position)).copied()
    }

    /// The first part of `start..end` that has arrived before.
    #[inline]
    fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        if self.is_beyond(start) {
            return None;
        }
        let (left, right) = self.first_beyond(start).filter(|range| range.0 < end)?;
        Some((left.max(start), right.min(end)))
    }

    #[inline]
    fn extend(&mut self, start: u64, end: u64) -> bool {
        let extends = self.recent[0].end == start as u32 && end < self.limit;
        if extends {
            self.recent[0].end = end as u32;
            self.ranges[self.growing as usize].1 = end;
        }
        extends
    }

    /// RCV.NXT moves to `end`: removes the ranges that this reaches, and returns where the contiguous data then ends.
    fn absorb(&mut self, mut end: u64) -> u64 {
        let mut reached = 0;
        while let Some(&range) = self.ranges.get(reached).filter(|range| range.0 <= end) {
            reached += 1;
            end = end.max(range.1);
            self.forget(range);
            match self.growing.checked_sub(1) {
                Some(growing) => self.growing = growing,
                None => self.limit = 0,
            }
        }
        if reached > 0 {
            self.ranges.drain(..reached);
        }
        end
    }

    fn forget(&mut self, range: (u64, u64)) {
        let is_it = |recent: &&mut Recent| recent.start == range.0 as u32;
        self.recent.iter_mut().filter(is_it).for_each(|recent| *recent = Recent::default());
    }

    fn insert(&mut self, start: u64, end: u64) -> Inserted {
        let low = match self.is_beyond(start) {
            true => self.ranges.len(),
            false => self.ranges.partition_point(|range| range.1 < start),
        };
        // The number of ranges that touch start..end and merge with it.
        let touched = self.ranges[low..].iter().take_while(|range| range.0 <= end).count();
        if touched == 0 {
            if self.ranges.len() >= MOST_RANGES {
                return Inserted::Refused;
            }
            self.ranges.insert(low, (start, end));
            self.remember(low);
            return Inserted::New;
        }
        let (first, last) = (self.ranges[low], self.ranges[low + touched - 1]);
        let is_known = first.0 <= start && end <= first.1;
        self.ranges[low] = (start.min(first.0), end.max(last.1));
        self.ranges.drain(low + 1..low + touched);
        self.remember(low);
        if is_known { Inserted::Known } else { Inserted::New }
    }

    /// RFC 2018 §4: the first block holds the segment that has just arrived, the others repeat recent ones. Blocks that the
    /// first one has absorbed are dropped.
    fn remember(&mut self, index: usize) {
        let range = self.ranges[index];
        let mut stale = 3;
        for slot in (0..4).rev() {
            if self.recent[slot].begins_in(range) {
                self.recent[slot] = Recent::default();
                stale = slot;
            }
        }
        self.recent.copy_within(..stale, 1);
        self.recent[0] = Recent::new(range);
        self.growing = index as u32;
        self.limit = self.ranges.get(index + 1).map_or(u64::MAX, |above| above.0);
    }

    fn block_at(&self, position: u64) -> Option<(u64, u64)> {
        self.first_beyond(position).filter(|range| range.0 <= position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks(reassembly: &Reassembly) -> Vec<(u64, u64)> {
        reassembly.blocks().collect()
    }

    fn held(reassembly: &Reassembly) -> u64 {
        let Some(above) = &reassembly.above else { return 0 };
        above.ranges.iter().map(|(left, right)| right - left).sum()
    }

    #[test]
    fn rfc2018_4_most_recent_block_first() {
        let mut reassembly = Reassembly::default();
        for (start, end) in [(10, 20), (30, 40), (50, 60)] {
            assert_eq!(reassembly.insert(start, end), Inserted::New);
        }
        assert_eq!(blocks(&reassembly), [(50, 60), (30, 40), (10, 20)]);
        reassembly.insert(20, 30);
        assert_eq!(blocks(&reassembly), [(10, 40), (50, 60)]);
        reassembly.insert(0, 10);
        assert_eq!(reassembly.next(), 40);
        assert_eq!(blocks(&reassembly), [(50, 60)]);
    }

    #[test]
    fn holes_have_a_bound() {
        let mut reassembly = Reassembly::default();
        (0..100_000u64).for_each(|hole| _ = reassembly.insert(10 + 4 * hole, 12 + 4 * hole));
        assert_eq!(reassembly.kept(), MOST_RANGES);
        assert_eq!(reassembly.insert(10, 16), Inserted::New, "what closes a hole is kept");
        assert_eq!(reassembly.insert(0, 10), Inserted::New);
        assert_eq!(reassembly.next(), 16);
    }

    proptest! {
        /// RCV.NXT and the ranges agree with a plain set of bytes; blocks are true, and the newest comes first.
        #[test]
        fn agrees_with_a_set_of_bytes(
            segments in prop::collection::vec((0u64..60, 1u64..9), 1..60),
            // Where 32 bits end, too.
            first in prop::sample::select(vec![0, (1 << 32) - 40, (1 << 33) - 20]),
        ) {
            let mut reassembly = Reassembly::default();
            reassembly.advance(first);
            let mut bytes = [false; 80];
            for (start, len) in segments {
                let end = start + len;
                let is_new = !bytes[start as usize..end as usize].iter().all(|&byte| byte);
                let shared = (start..end).find(|&byte| bytes[byte as usize]);
                let shared = shared.map(|from| (from, (from..end).find(|&byte| !bytes[byte as usize]).unwrap_or(end)));
                let shared = shared.map(|(left, right)| (first + left, first + right));
                prop_assert_eq!(reassembly.overlap(first + start, first + end), shared);
                bytes[start as usize..end as usize].fill(true);
                let inserted = reassembly.extend(first + start, first + end)
                    || reassembly.insert(first + start, first + end) == Inserted::New;
                prop_assert_eq!(inserted, is_new);
                let next = bytes.iter().position(|&byte| !byte).unwrap_or(80) as u64;
                prop_assert_eq!(reassembly.next(), first + next);
                prop_assert_eq!(held(&reassembly), bytes[next as usize..].iter().filter(|&&byte| byte).count() as u64);
                let blocks: Vec<_> =
                    reassembly.blocks().map(|(left, right)| (left - first, right - first)).collect();
                prop_assert_eq!(reassembly.has_gap(), bytes[next as usize..].contains(&true));
                if is_new && start > next {
                    prop_assert!(blocks[0].0 <= start && end <= blocks[0].1);
                }
                for (left, right) in blocks {
                    prop_assert!(bytes[left as usize..right as usize].iter().all(|&byte| byte));
                    prop_assert!(!bytes[right as usize] && !bytes[left as usize - 1]);
                }
            }
        }
    }
}
