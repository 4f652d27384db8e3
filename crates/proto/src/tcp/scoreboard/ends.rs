//! Where the outstanding segments end.

use crate::ring::Ring;

/// The ends of adjacent segments, by index. Mostly all segments have the same size, so that there is no need to keep each end.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// The end of the first segment; `u64::MAX`, which no ACK reaches, if the sizes differ.
    first: u64,
    /// The size of all other segments. 0, which no segment has, if the sizes differ or nothing has been pushed yet.
    size: u64,
    /// The end of each segment, if the sizes differ.
    uneven: Option<Box<Ring<u64>>>,
}

impl Ends {
    /// The end of the segment at `index`, which there must be.
    #[inline(always)]
    pub fn get(&self, index: usize) -> u64 {
        match &self.uneven {
            None => self.first + index as u64 * self.size,
            Some(ends) => ends.get(index).copied().unwrap_or_default(),
        }
    }

    /// The end of the segment at `index`, if the one before it ends at `before`.
    #[inline(always)]
    pub fn following(&self, before: u64, index: usize) -> u64 {
        match &self.uneven {
            None => before + self.size,
            Some(ends) => ends.get(index).copied().unwrap_or_default(),
        }
    }

    /// Adds a segment of `bytes` that ends at `end`. `count` are there already.
    #[inline(always)]
    pub fn push(&mut self, end: u64, bytes: u64, count: usize) {
        if bytes != self.size {
            self.push_other(end, bytes, count);
        }
        debug_assert_eq!(self.get(count), end);
    }

    #[inline(never)]
    fn push_other(&mut self, end: u64, bytes: u64, count: usize) {
        if count == 0 {
            *self = Ends { first: end, size: bytes, uneven: None };
            return;
        }
        let mut ends = self.uneven.take().unwrap_or_else(|| {
            let mut ends = Box::<Ring<u64>>::default();
            (0..count).for_each(|index| ends.push_back(self.get(index)));
            ends
        });
        ends.push_back(end);
        *self = Ends { first: u64::MAX, size: 0, uneven: Some(ends) };
    }

    /// Nothing is outstanding, and the next segment does not begin where the last one ended.
    pub fn restart(&mut self) {
        *self = Ends::default();
    }

    /// Drops the segments below `position` if they are one or two, the last of them ends there and all have the same size.
    /// Returns how many they are.
    #[inline(always)]
    pub fn drop_even(&mut self, position: u64) -> Option<usize> {
        let count = match position.wrapping_sub(self.first) {
            0 => 1,
            beyond if beyond == self.size => 2,
            _ => return None,
        };
        self.first = position + self.size;
        Some(count)
    }

    /// Drops the first `count` segments.
    #[inline]
    pub fn drop_first(&mut self, count: usize) {
        match &mut self.uneven {
            None => self.first += count as u64 * self.size,
            Some(ends) => ends.drop_first(count),
        }
    }

    /// How many of `count` segments end at `position` or before.
    #[inline]
    pub fn count_below(&self, position: u64, count: usize) -> usize {
        match (&self.uneven, position.checked_sub(self.first)) {
            (Some(ends), _) => ends.partition_point(|end| *end <= position),
            (None, Some(beyond)) if count > 0 => count.min((beyond / self.size) as usize + 1),
            _ => 0,
        }
    }

    /// Gives memory back if much more was outstanding before.
    pub fn shrink(&mut self) {
        self.uneven.iter_mut().for_each(|ends| ends.shrink());
    }
}
