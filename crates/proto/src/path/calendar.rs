//! A priority queue for many packets under way (a calendar queue). An entry is a number whose upper half is the time.
//!
//! One heap of all entries would touch memory far apart for each of them. Here time is divided into days of equal length. A day's
//! entries are unsorted until the day comes; only today's are in a heap.

use airtcp_wire::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A day has 2¹⁸ ns, about a quarter of a millisecond.
const DAY_BITS: u32 = 18;
/// Days in the calendar.
const DAYS: usize = 1024;

/// [`Calendar::guess`] looks for entries behind this many others among tomorrow's.
const TOMORROW: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct Calendar {
    today: u64,
    /// All entries until the end of today. Not empty if there is any entry at all.
    due: BinaryHeap<Reverse<u128>>,
    /// The entries of the days that follow, each day at its number modulo [`DAYS`].
    days: Vec<Vec<u128>>,
    /// A bit for each element of `days` that is not empty.
    busy: [u64; DAYS / 64],
    /// Entries of days beyond the calendar.
    later: BinaryHeap<Reverse<u128>>,
}

/// The time of an entry.
pub(super) fn time(number: u128) -> Time {
    Time((number >> 64) as u64)
}

fn day(number: u128) -> u64 {
    time(number).0 >> DAY_BITS
}

impl Calendar {
    pub fn new() -> Calendar {
        let days = vec![Vec::new(); DAYS];
        Calendar { today: 0, due: BinaryHeap::new(), days, busy: [0; DAYS / 64], later: BinaryHeap::new() }
    }

    pub fn push(&mut self, number: u128) {
        let day = day(number);
        if self.due.is_empty() {
            self.today = day;
        }
        if day <= self.today {
            self.due.push(Reverse(number));
        } else if day - self.today < DAYS as u64 {
            let place = day as usize % DAYS;
            self.days[place].push(number);
            self.busy[place / 64] |= 1 << (place % 64);
        } else {
            self.later.push(Reverse(number));
        }
    }

    /// The smallest entry.
    #[inline]
    pub fn first(&self) -> Option<u128> {
        self.due.peek().map(|Reverse(number)| *number)
    }

    /// A cheap guess at the entry that comes out after `skipped` others. For tomorrow's entries the guess goes through all of them as
    /// today's come out.
    #[inline]
    pub fn guess(&self, skipped: usize) -> Option<u128> {
        if skipped < TOMORROW {
            return self.due.as_slice().get(skipped).map(|Reverse(number)| *number);
        }
        let tomorrow = &self.days[(self.today as usize + 1) % DAYS];
        tomorrow.get(self.due.len().wrapping_sub(1)).copied()
    }

    /// Removes and returns the smallest entry.
    pub fn pop(&mut self) -> Option<u128> {
        let Reverse(first) = self.due.pop()?;
        if self.due.is_empty() {
            self.turn_page();
        }
        Some(first)
    }

    /// Makes the next day that has entries today.
    fn turn_page(&mut self) {
        let later = self.later.peek().map(|Reverse(number)| day(*number));
        let Some(next) = self.next_busy_day().into_iter().chain(later).min() else { return };
        self.today = next;
        let place = next as usize % DAYS;
        self.due.extend(self.days[place].drain(..).map(Reverse));
        self.busy[place / 64] &= !(1 << (place % 64));
        while self.later.peek().is_some_and(|Reverse(number)| day(*number) <= next) {
            self.due.extend(self.later.pop());
        }
    }

    fn next_busy_day(&self) -> Option<u64> {
        let first = (self.today as usize + 1) % DAYS;
        let words = self.busy.len();
        // The first word is searched twice: from the first day on, and in the end for the days before it.
        let place = (0..=words).find_map(|step| {
            let index = (first / 64 + step) % words;
            let word = match step {
                0 => self.busy[index] & (u64::MAX << (first % 64)),
                _ => self.busy[index],
            };
            (word != 0).then(|| index * 64 + word.trailing_zeros() as usize)
        })?;
        Some(self.today + 1 + ((place + DAYS - first) % DAYS) as u64)
    }

    /// Removes all entries and returns them in no order.
    pub fn drain(&mut self) -> Vec<u128> {
        let calendar = std::mem::replace(self, Calendar::new());
        let heaped = calendar.due.into_iter().chain(calendar.later).map(|Reverse(number)| number);
        heaped.chain(calendar.days.into_iter().flatten()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is put in, near and far, sooner or later than what has been taken out: the smallest comes out first.
        #[test]
        fn the_smallest_comes_out_first(
            steps in prop::collection::vec(prop::option::weighted(0.6, (0u64..6, 0u64..100)), 1..400),
        ) {
            let (mut calendar, mut sorted) = (Calendar::new(), std::collections::BTreeSet::new());
            let mut now = 0;
            for (count, step) in (0u64..).zip(steps) {
                match step {
                    Some((magnitude, factor)) => {
                        let at = now + factor * 1000u64.pow(magnitude.min(3) as u32) * [1, 300][(magnitude > 4) as usize];
                        let number = u128::from(at) << 64 | u128::from(count);
                        calendar.push(number);
                        sorted.insert(number);
                    }
                    None => {
                        let first = sorted.pop_first();
                        prop_assert_eq!(calendar.pop(), first);
                        now = first.map_or(now, |first| time(first).0);
                    }
                }
                prop_assert_eq!(calendar.first(), sorted.first().copied());
            }
            let mut rest = calendar.drain();
            rest.sort_unstable();
            prop_assert!(rest.into_iter().eq(sorted));
        }
    }
}
