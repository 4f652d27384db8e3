//! Sets of stream positions.

use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;

/// Limit on the ranges kept; beyond it the first is forgotten.
const MOST: usize = 1 << 16;

/// Disjoint ranges that do not touch, as start → end.
#[derive(Clone, Debug, Default)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds `range` and returns the parts that are new.
    pub fn insert(&mut self, range: Range<u64>) -> SmallVec<[Range<u64>; 2]> {
        let mut new = SmallVec::new();
        if range.is_empty() {
            return new;
        }
        let (mut start, mut at) = (range.start, range.start);
        if let Some((&left, &end)) = self.0.range(..=range.start).next_back()
            && end >= range.start
        {
            (start, at) = (left, end);
        }
        let mut last = at.max(range.end);
        while let Some((&next, &end)) = self.0.range(start + 1..=range.end).next() {
            if at < next {
                new.push(at..next);
            }
            at = at.max(end);
            last = last.max(end);
            self.0.remove(&next);
        }
        if at < range.end {
            new.push(at..range.end);
        }
        self.0.insert(start, last);
        if self.0.len() > MOST {
            self.0.pop_first();
        }
        new
    }

    /// Forgets everything below `position`.
    pub fn forget_below(&mut self, position: u64) {
        while let Some(entry) = self.0.first_entry() {
            if *entry.key() >= position {
                return;
            }
            let end = entry.remove();
            if end > position {
                self.0.insert(position, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn what_was_new_is_what_a_set_of_positions_says(
            steps in prop::collection::vec((0u64..60, 0u64..12, any::<bool>()), 0..60)
        ) {
            let (mut ranges, mut model) = (Ranges::default(), BTreeSet::new());
            for (start, len, forget) in steps {
                if forget {
                    ranges.forget_below(start);
                    model.retain(|position| *position >= start);
                    continue;
                }
                let new: Vec<u64> = ranges.insert(start..start + len).into_iter().flatten().collect();
                let expected: Vec<u64> =
                    (start..start + len).filter(|position| model.insert(*position)).collect();
                prop_assert_eq!(new, expected);
                let kept: Vec<u64> = ranges.0.iter().flat_map(|(&start, &end)| start..end).collect();
                prop_assert_eq!(kept, model.iter().copied().collect::<Vec<_>>());
            }
        }
    }
}
