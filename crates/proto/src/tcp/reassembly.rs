//! Which bytes of the peer's stream have arrived, and the SACK blocks that say so.

use std::collections::BTreeMap;

/// Ranges above RCV.NXT that are remembered at most. Text that would make one more is not kept, as if it had been lost.
const MOST_RANGES: usize = 1 << 16;

/// What became of a range that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    New,
    /// All of it had arrived before.
    Known,
    /// There is no room to remember it.
    Refused,
}

/// Received ranges above RCV.NXT. Positions are those of [`super::scoreboard`].
#[derive(Debug, Default)]
pub struct Reassembly {
    next: u64,
    /// What lies behind the first gap; since there was one, kept for its room.
    above: Option<Box<Above>>,
}

impl Reassembly {
    /// RCV.NXT.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// What is next has arrived up to `end`, where nothing above has.
    #[inline]
    pub fn advance(&mut self, end: u64) {
        debug_assert!(!self.has_gap());
        self.next = end;
    }

    #[inline]
    pub fn has_gap(&self) -> bool {
        self.above.as_ref().is_some_and(|above| !above.ranges.is_empty())
    }

    /// Ranges that are remembered.
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

    /// The first part of `start..end` that has arrived before.
    #[inline]
    pub fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        match start < self.next {
            true => Some((start, end.min(self.next))),
            false => self.above.as_ref()?.overlap(start, end, start == self.next),
        }
    }

    /// How many blocks are reported before the one that `start..end` belongs to.
    pub fn rank(&self, start: u64, end: u64) -> usize {
        self.blocks().take_while(|&(left, right)| right < start || end < left).count()
    }

    /// `start..end` has arrived. Answers what became of it.
    #[inline]
    pub fn insert(&mut self, start: u64, end: u64) -> Inserted {
        match &mut self.above {
            Some(above) if above.grows_by(start, end) => above.grow(end),
            _ => return self.insert_anywhere(start, end),
        }
        Inserted::New
    }

    fn insert_anywhere(&mut self, start: u64, end: u64) -> Inserted {
        if end <= self.next {
            return Inserted::Known;
        }
        if start > self.next {
            return self.above.get_or_insert_default().insert(start, end);
        }
        self.next = self.above.as_mut().map_or(end, |above| above.absorb(end));
        Inserted::New
    }

    /// The range around `position`, if it is above RCV.NXT.
    pub fn block_at(&self, position: u64) -> Option<(u64, u64)> {
        self.above.as_ref()?.block_at(position)
    }

    /// Up to four ranges, the most recently changed first, none twice.
    #[inline]
    pub fn blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.above.iter().flat_map(|above| above.blocks(self.next))
    }
}

/// What lies behind a gap.
#[derive(Debug, Default)]
struct Above {
    /// End of each range by its start. Disjoint, not touching, all above RCV.NXT. Of the one that grows the end is in `growing`.
    ranges: BTreeMap<u64, u64>,
    growing: Option<Growing>,
    /// The ranges that changed last, most recent first. What begins below RCV.NXT is none any more; of two that begin at the
    /// same place the first one counts.
    recent: [(u64, u64); 4],
}

/// The range that changed last: what comes next behind a hole most likely continues it.
#[derive(Clone, Copy, Debug)]
struct Growing {
    start: u64,
    end: u64,
    /// Where the next range above begins.
    limit: u64,
}

impl Above {
    fn end(&self) -> Option<u64> {
        self.ranges.last_key_value().map(|(&start, &end)| self.end_of(start, end))
    }

    /// The first part of `start..end` that has arrived before; `is_next`: it begins at RCV.NXT.
    #[inline]
    fn overlap(&self, start: u64, end: u64, is_next: bool) -> Option<(u64, u64)> {
        if self.grows_by(start, end) || self.is_beyond(start) {
            return None;
        }
        let (left, right) = self.block_at(start).or_else(|| self.first_within(start, end, is_next))?;
        Some((left.max(start), right.min(end)))
    }

    /// The first range that begins in `start..end`.
    fn first_within(&self, start: u64, end: u64, is_next: bool) -> Option<(u64, u64)> {
        let (&left, &right) = match is_next {
            true => self.ranges.first_key_value().filter(|(left, _)| **left < end)?,
            false => self.ranges.range(start..end).next()?,
        };
        Some((left, self.end_of(left, right)))
    }

    /// Does `start` lie beyond the range that changed last, which is the highest?
    #[inline]
    fn is_beyond(&self, start: u64) -> bool {
        self.growing.is_some_and(|growing| growing.limit == u64::MAX && start > growing.end)
    }

    /// Does `start..end` continue the range that changed last, and touch no other?
    #[inline]
    fn grows_by(&self, start: u64, end: u64) -> bool {
        self.growing.is_some_and(|growing| start == growing.end && end < growing.limit)
    }

    #[inline]
    fn grow(&mut self, to: u64) {
        let Some(growing) = &mut self.growing else { return };
        growing.end = to;
        let range = (growing.start, to);
        match self.recent[0].0 == range.0 {
            true => self.recent[0] = range,
            // Text of another range has come again meanwhile.
            false => self.remember(range),
        }
    }

    /// The true end of the range that is kept with these.
    #[inline]
    fn end_of(&self, start: u64, end: u64) -> u64 {
        self.growing.filter(|growing| growing.start == start).map_or(end, |growing| growing.end)
    }

    /// Puts the end of the range that grew in its place.
    fn settle(&mut self) {
        if let Some(growing) = self.growing.take() {
            self.ranges.insert(growing.start, growing.end);
        }
    }

    /// Takes out the ranges that begin at `end` or before, and answers where the last of them ends, or `end`.
    fn absorb(&mut self, mut end: u64) -> u64 {
        while let Some(range) = self.ranges.first_entry()
            && *range.key() <= end
        {
            let start = *range.key();
            let settled = range.remove();
            end = end.max(self.end_of(start, settled));
            self.growing = self.growing.filter(|growing| growing.start != start);
        }
        end
    }

    fn insert(&mut self, start: u64, end: u64) -> Inserted {
        let known = if self.is_beyond(start) { None } else { self.block_at(start) };
        match known.filter(|known| end <= known.1) {
            Some(known) => {
                self.remember(known);
                Inserted::Known
            }
            None => self.insert_unknown(start, end),
        }
    }

    fn insert_unknown(&mut self, start: u64, mut end: u64) -> Inserted {
        let is_beyond = self.is_beyond(start);
        self.settle();
        let mut from = start;
        // The ranges that touch start..end become part of it, from the last one down.
        while !is_beyond
            && let Some((&left, &right)) = self.ranges.range(..=end).next_back()
            && right >= start
        {
            self.ranges.remove(&left);
            (from, end) = (from.min(left), end.max(right));
        }
        if self.ranges.len() >= MOST_RANGES {
            return Inserted::Refused;
        }
        self.ranges.insert(from, end);
        let above = if is_beyond { None } else { self.ranges.range(end..).next() };
        let limit = above.map_or(u64::MAX, |(&above, _)| above);
        self.growing = Some(Growing { start: from, end, limit });
        self.recent
            .iter_mut()
            .filter(|range| (from..end).contains(&range.0))
            .for_each(|range| range.0 = from);
        self.remember((from, end));
        Inserted::New
    }

    /// RFC 2018 §4: the first block holds the segment that has just arrived, the others repeat recent ones.
    fn remember(&mut self, range: (u64, u64)) {
        let stale = (0..3).find(|&slot| self.recent[slot].0 == range.0).unwrap_or(3);
        self.recent.copy_within(..stale, 1);
        self.recent[0] = range;
    }

    fn block_at(&self, position: u64) -> Option<(u64, u64)> {
        if let Some(growing) = self.growing
            && (growing.start..growing.end).contains(&position)
        {
            return Some((growing.start, growing.end));
        }
        let (&left, &right) = self.ranges.range(..=position).next_back()?;
        (position < right).then_some((left, right))
    }

    #[inline]
    fn blocks(&self, next: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let is_first = |slot: usize| self.recent[..slot].iter().all(|known| known.0 != self.recent[slot].0);
        (0..4).filter(move |&slot| self.recent[slot].0 > next && is_first(slot)).map(|slot| self.recent[slot])
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
        above.ranges.iter().map(|(&left, &right)| above.end_of(left, right) - left).sum()
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
        /// Against a plain set of bytes: RCV.NXT, what has arrived, and blocks that are true and start with the newest.
        #[test]
        fn agrees_with_a_set_of_bytes(segments in prop::collection::vec((0u64..60, 1u64..9), 1..60)) {
            let mut reassembly = Reassembly::default();
            let mut bytes = [false; 80];
            for (start, len) in segments {
                let end = start + len;
                let is_new = !bytes[start as usize..end as usize].iter().all(|&byte| byte);
                let shared = (start..end).find(|&byte| bytes[byte as usize]);
                let shared = shared.map(|from| (from, (from..end).find(|&byte| !bytes[byte as usize]).unwrap_or(end)));
                prop_assert_eq!(reassembly.overlap(start, end), shared);
                bytes[start as usize..end as usize].fill(true);
                prop_assert_eq!(reassembly.insert(start, end) == Inserted::New, is_new);
                let next = bytes.iter().position(|&byte| !byte).unwrap_or(80) as u64;
                prop_assert_eq!(reassembly.next(), next);
                prop_assert_eq!(held(&reassembly), bytes[next as usize..].iter().filter(|&&byte| byte).count() as u64);
                let blocks = blocks(&reassembly);
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
