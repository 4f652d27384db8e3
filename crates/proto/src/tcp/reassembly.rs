//! Which bytes of the peer's stream have arrived, and the SACK blocks that say so.

/// Received ranges above RCV.NXT. Positions are those of [`super::scoreboard`].
#[derive(Debug, Default)]
pub struct Reassembly {
    next: u64,
    /// Disjoint, not touching, in order, all above `next`.
    ranges: Vec<(u64, u64)>,
    /// A position inside each of the ranges that changed last, most recent first.
    recent: [u64; 4],
}

impl Reassembly {
    /// RCV.NXT.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    #[inline]
    pub fn has_gap(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Ranges that are remembered.
    pub fn kept(&self) -> usize {
        self.ranges.len()
    }

    pub fn contains(&self, start: u64, end: u64) -> bool {
        end <= self.next
            || self
                .range_at(start)
                .is_some_and(|index| self.ranges[index].0 <= start && end <= self.ranges[index].1)
    }

    /// `start..end` has arrived. Answers whether any of it is new.
    #[inline]
    pub fn insert(&mut self, start: u64, end: u64) -> bool {
        if self.contains(start, end) {
            return false;
        }
        if start > self.next {
            self.insert_above(start, end);
            return true;
        }
        self.next = end;
        if !self.ranges.is_empty() {
            let absorbed = self.ranges.partition_point(|range| range.0 <= end);
            if let Some(last) = absorbed.checked_sub(1) {
                self.next = end.max(self.ranges[last].1);
                self.ranges.drain(..absorbed);
            }
        }
        true
    }

    fn insert_above(&mut self, start: u64, end: u64) {
        // The ranges that touch start..end are first..last.
        let first = self.ranges.partition_point(|range| range.1 < start);
        let last = self.ranges.partition_point(|range| range.0 <= end);
        if first == last {
            self.ranges.insert(first, (start, end));
        } else {
            self.ranges[first] = (self.ranges[first].0.min(start), self.ranges[last - 1].1.max(end));
            self.ranges.drain(first + 1..last);
        }
        self.remember(start);
    }

    /// RFC 2018 §4: the first block holds the segment that has just arrived, the others repeat recent ones.
    fn remember(&mut self, position: u64) {
        let range = self.range_at(position);
        let stale = (0..3).find(|&slot| self.range_at(self.recent[slot]) == range).unwrap_or(3);
        self.recent.copy_within(..stale, 1);
        self.recent[0] = position;
    }

    fn range_at(&self, position: u64) -> Option<usize> {
        let index = self.ranges.partition_point(|range| range.1 <= position);
        (self.ranges.get(index)?.0 <= position).then_some(index)
    }

    /// The range around `position`, if it is above RCV.NXT.
    pub fn block_at(&self, position: u64) -> Option<(u64, u64)> {
        self.range_at(position).map(|index| self.ranges[index])
    }

    /// Up to four ranges, the most recently changed first, none twice.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let index = move |slot: usize| self.range_at(self.recent[slot]);
        (0..4)
            .filter(move |&slot| {
                index(slot).is_some() && (0..slot).all(|earlier| index(earlier) != index(slot))
            })
            .filter_map(move |slot| Some(self.ranges[index(slot)?]))
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
        reassembly.ranges.iter().map(|(left, right)| right - left).sum()
    }

    #[test]
    fn rfc2018_4_most_recent_block_first() {
        let mut reassembly = Reassembly::default();
        for (start, end) in [(10, 20), (30, 40), (50, 60)] {
            assert!(reassembly.insert(start, end));
        }
        assert_eq!(blocks(&reassembly), [(50, 60), (30, 40), (10, 20)]);
        reassembly.insert(20, 30);
        assert_eq!(blocks(&reassembly), [(10, 40), (50, 60)]);
        reassembly.insert(0, 10);
        assert_eq!(reassembly.next(), 40);
        assert_eq!(blocks(&reassembly), [(50, 60)]);
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
                bytes[start as usize..end as usize].fill(true);
                prop_assert_eq!(reassembly.insert(start, end), is_new);
                let next = bytes.iter().position(|&byte| !byte).unwrap_or(80) as u64;
                prop_assert_eq!(reassembly.next(), next);
                prop_assert_eq!(held(&reassembly), bytes[next as usize..].iter().filter(|&&byte| byte).count() as u64);
                let blocks = blocks(&reassembly);
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
