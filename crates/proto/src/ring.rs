//! A queue of plain values in one block of memory, which is hardly larger than necessary.

/// A FIFO whose values can also be read by index: a `VecDeque` for plain values.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Box<[T]>,
    /// Slot of the first value.
    head: u32,
    len: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { slots: Box::default(), head: 0, len: 0 }
    }
}

/// Least number of slots by which a ring grows. Only the first block has a single slot, since many connections send a SYN and no data.
const FEW: usize = 4;

/// Fewer free slots than this are not given back.
const MANY: usize = 32;

impl<T: Copy + Default> Ring<T> {
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Would another value need more memory?
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() == self.slots.len()
    }

    /// The slot `index` places behind the head. A branch is cheaper than a remainder, since it mostly goes as it did the last time.
    #[inline(always)]
    fn slot(&self, index: usize) -> Option<&T> {
        let (slot, room) = (self.head as usize + index, self.slots.len());
        if slot < room { self.slots.get(slot) } else { self.slots.get(slot - room) }
    }

    #[inline(always)]
    fn slot_mut(&mut self, index: usize) -> Option<&mut T> {
        let (slot, room) = (self.head as usize + index, self.slots.len());
        if slot < room { self.slots.get_mut(slot) } else { self.slots.get_mut(slot - room) }
    }

    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.len() { self.slot(index) } else { None }
    }

    #[inline]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index < self.len() { self.slot_mut(index) } else { None }
    }

    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.slots.get(self.head as usize) }
    }

    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        if self.is_empty() { None } else { self.slots.get_mut(self.head as usize) }
    }

    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len().wrapping_sub(1))
    }

    #[inline(always)]
    pub fn push_back(&mut self, value: T) {
        if self.is_full() {
            self.grow();
        }
        let len = self.len;
        self.len = len + 1;
        if let Some(place) = self.slot_mut(len as usize) {
            *place = value;
        }
    }

    /// Makes a little more room. Not twice as much, since there are many rings, and large ones.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let more = if self.is_empty() { 1 } else { (self.len() / 16).max(FEW) };
        // A large block grows where it is, or moves without being copied.
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        let (end, head) = (slots.len(), self.head as usize);
        slots.reserve_exact(more);
        slots.resize(end + more, T::default());
        if head > 0 {
            slots.copy_within(head..end, head + more);
            self.head += more as u32;
        }
        self.slots = slots.into();
    }

    /// Shrinks the room to twice the number of values, if that gives back at least half of it.
    pub fn shrink(&mut self) {
        let room = 2 * self.len();
        if self.slots.len() > 2 * room + MANY {
            self.move_to(room);
        }
    }

    /// Moves all values to a new block with `room` slots, in which the first value is at the front.
    #[cold]
    fn move_to(&mut self, room: usize) {
        let (before, behind) = self.slots.split_at(self.head as usize);
        let behind = &behind[..behind.len().min(self.len())];
        let mut slots = Vec::with_capacity(room);
        slots.extend_from_slice(behind);
        slots.extend_from_slice(&before[..self.len() - behind.len()]);
        slots.resize(room, T::default());
        (self.slots, self.head) = (slots.into(), 0);
    }

    /// Removes the first value.
    #[inline]
    pub fn drop_front(&mut self) {
        self.drop_first(1);
    }

    /// Removes the first `count` values.
    #[inline]
    pub fn drop_first(&mut self, count: usize) {
        debug_assert!(count <= self.len());
        let (head, room) = (self.head as usize + count, self.slots.len());
        self.head = if head < room { head } else { head - room } as u32;
        self.len -= count as u32;
    }

    #[inline]
    pub fn clear(&mut self) {
        (self.head, self.len) = (0, 0);
    }

    /// The number of values at the front that satisfy `is_first`. No value behind one that does not may satisfy it.
    pub fn partition_point(&self, is_first: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).is_some_and(&is_first) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|index| self.get(index))
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
                    // Much goes at once, now and then.
                    Some(value) if value > 96 => {
                        ring.drop_first(ring.len() / 8 * 7);
                        deque.drain(..deque.len() / 8 * 7);
                        ring.shrink();
                    }
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
