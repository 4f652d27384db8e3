//! A queue of plain values in one block of memory, whose size is a power of two: a place costs a mask.

/// First in, first out, with every value in reach by its place. As `VecDeque`, but for values that are plain.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Box<[T]>,
    head: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { slots: Box::default(), head: 0, len: 0 }
    }
}

/// Slots of the first block.
const FIRST: usize = 4;

impl<T: Copy + Default> Ring<T> {
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Would another value take more memory?
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len == self.slots.len()
    }

    #[inline]
    fn slot(&self, index: usize) -> usize {
        (self.head + index) & self.slots.len().wrapping_sub(1)
    }

    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.len { self.slots.get(self.slot(index)) } else { None }
    }

    #[inline]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let slot = self.slot(index);
        if index < self.len { self.slots.get_mut(slot) } else { None }
    }

    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.get_mut(0)
    }

    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len.wrapping_sub(1))
    }

    #[inline(always)]
    pub fn push_back(&mut self, value: T) {
        if self.is_full() {
            self.grow();
        }
        let slot = self.slot(self.len);
        if let Some(place) = self.slots.get_mut(slot) {
            *place = value;
        }
        self.len += 1;
    }

    /// Twice the room. What stands before the head moves behind what was the end.
    #[cold]
    fn grow(&mut self) {
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.rotate_left(self.head);
        let more = self.len.max(FIRST);
        slots.reserve_exact(more);
        slots.resize(self.len + more, T::default());
        (self.slots, self.head) = (slots.into(), 0);
    }

    /// Forgets the first value.
    #[inline]
    pub fn drop_front(&mut self) {
        self.drop_first(1);
    }

    /// Forgets the first `count` values.
    #[inline]
    pub fn drop_first(&mut self, count: usize) {
        debug_assert!(count <= self.len);
        self.head = self.slot(count);
        self.len -= count;
    }

    /// The number of values at the front for which `holds` holds, if it holds for none behind one for which it does not.
    pub fn partition_point(&self, holds: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).is_some_and(&holds) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).filter_map(|index| self.get(index))
    }

    /// Puts what `change` makes of each value in its place.
    pub fn update(&mut self, mut change: impl FnMut(&mut T)) {
        (0..self.len).for_each(|index| self.get_mut(index).into_iter().for_each(&mut change));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agrees_with_a_deque(steps in prop::collection::vec(prop::option::weighted(0.6, 0u32..100), 0..200)) {
            let (mut ring, mut deque) = (Ring::default(), VecDeque::new());
            for step in steps {
                match step {
                    Some(value) => { ring.push_back(value); deque.push_back(value); }
                    None if !deque.is_empty() => { ring.drop_front(); deque.pop_front(); }
                    None => {}
                }
                prop_assert_eq!(ring.len(), deque.len());
                prop_assert!(ring.iter().eq(deque.iter()));
                prop_assert_eq!((ring.front(), ring.back()), (deque.front(), deque.back()));
            }
            let mut sorted = Ring::default();
            (0..37).for_each(|value| sorted.push_back(value));
            (0..37).for_each(|value| assert_eq!(sorted.partition_point(|other| *other < value), value));
        }
    }
}
