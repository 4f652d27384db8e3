//! The timers of everything but links.
//!
//! A TCP restarts its timers with every ACK, almost always to a later time. So an entry that was pushed stays where it
//! is. When it comes up too early, its owner is asked for the true deadline, and another entry is pushed. A timer that
//! is restarted a thousand times between two expiries costs one push.

use airtcp_wire::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The owner of a timer; below [`LONE`], or from there on for owners who set their timer only when it has expired.
pub type TimerId = u32;

/// The first of the owners who [set one deadline at a time](Timers::set_next).
pub const LONE: TimerId = 1 << 24;

/// The two earliest entries of an owner. The second lets a paced sender keep the entry of its retransmission timer
/// while those of its pacer come and go.
#[derive(Clone, Copy)]
struct Earliest {
    first: Time,
    second: Time,
}

const NONE: Earliest = Earliest { first: Time::NEVER, second: Time::NEVER };

/// The entries of each owner. Several [`Timers`] may share it, as long as each owner keeps to one of them.
#[derive(Default)]
pub struct Pushed(Vec<Earliest>);

impl Pushed {
    /// Does the owner's first entry come up at that time or before?
    #[inline(always)]
    pub fn is_by(&self, id: TimerId, at: Time) -> bool {
        self.0.get(id as usize).is_some_and(|pushed| pushed.first <= at)
    }
}

/// Timers in the order of their deadlines; those with the same deadline in the order in which they were pushed.
pub struct Timers {
    /// The deadline of the earliest entry.
    next: Time,
    /// The earliest entry, unless it has just been popped. Its owner most likely pushes another one soon. If that comes
    /// first, the heap is not touched.
    first: Option<Entry>,
    others: BinaryHeap<Reverse<Entry>>,
    pushes: u64,
}

impl Default for Timers {
    fn default() -> Timers {
        let others = BinaryHeap::default();
        Timers { next: Time::NEVER, first: None, others, pushes: 0 }
    }
}

/// Deadline, number of the push and owner, from the highest bits down, so that one comparison does.
type Entry = u128;

const ID_BITS: u32 = 25;

impl Timers {
    /// Sets the owner's timer to `deadline`.
    #[inline]
    pub fn set(&mut self, pushed: &mut Pushed, id: TimerId, deadline: Time) {
        if !pushed.is_by(id, deadline) {
            self.push(pushed, id, deadline);
        }
    }

    /// Sets the timer of a [lone](LONE) owner, which has expired or was never set.
    pub fn set_next(&mut self, id: TimerId, deadline: Time) {
        debug_assert!(id >= LONE);
        if !deadline.is_never() {
            self.insert_new(id, deadline);
        }
    }

    #[inline(never)]
    fn push(&mut self, Pushed(pushed): &mut Pushed, id: TimerId, deadline: Time) {
        debug_assert!(id < LONE);
        if deadline.is_never() {
            return;
        }
        if pushed.len() <= id as usize {
            pushed.resize(id as usize + 1, NONE);
        }
        let pushed = &mut pushed[id as usize];
        if deadline < pushed.first {
            *pushed = Earliest { first: deadline, second: pushed.first };
            self.insert_new(id, deadline);
        }
    }

    #[inline(always)]
    fn insert_new(&mut self, id: TimerId, deadline: Time) {
        let key = self.pushes << ID_BITS | u64::from(id);
        self.pushes += 1;
        self.insert(u128::from(deadline.0) << 64 | u128::from(key));
    }

    #[inline(always)]
    fn insert(&mut self, entry: Entry) {
        let earliest = match self.first {
            None => self.exchange(entry),
            Some(first) => {
                self.others.push(Reverse(entry.max(first)));
                entry.min(first)
            }
        };
        (self.first, self.next) = (Some(earliest), deadline(earliest));
    }

    /// Exchanges the entry for the earliest of the others if that is earlier. Returns the earlier of the two.
    #[inline]
    fn exchange(&mut self, entry: Entry) -> Entry {
        match self.others.peek_mut() {
            Some(mut other) if other.0 < entry => std::mem::replace(&mut other.0, entry),
            _ => entry,
        }
    }

    /// The earliest entry in the heap.
    #[inline]
    fn second(&self) -> Option<Entry> {
        self.others.peek().map(|Reverse(entry)| *entry)
    }

    /// When [`pop`](Timers::pop) must be called.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// The owner of the next entry, for prefetching.
    #[inline]
    pub fn peek(&self) -> Option<TimerId> {
        self.first.or_else(|| self.second()).map(owner)
    }

    /// Takes the earliest entry. Returns its owner, who compares its true deadline with the time and calls
    /// [`set`](Timers::set) again; `None` if the entry was superseded.
    pub fn pop(&mut self, Pushed(pushed): &mut Pushed) -> Option<TimerId> {
        let entry = self.first.take().or_else(|| self.others.pop().map(|Reverse(entry)| entry))?;
        self.next = self.second().map_or(Time::NEVER, deadline);
        let id = owner(entry);
        if id >= LONE {
            return Some(id);
        }
        let pushed = &mut pushed[id as usize];
        if pushed.first != deadline(entry) {
            return None;
        }
        *pushed = Earliest { first: pushed.second, second: Time::NEVER };
        Some(id)
    }

    /// Does what [`set`](Timers::set) and [`pop`](Timers::pop) would if this owner were the next. Returns whether it
    /// is; if not, nothing has changed.
    #[inline]
    pub fn pass(&mut self, pushed: &mut Pushed, id: TimerId, deadline: Time) -> bool {
        if deadline == self.next() {
            return self.pass_set(pushed, id, deadline);
        }
        let is_next = deadline < self.next();
        // `set` would push the first entry down and `pop` would bring it up again; both forget the second.
        if is_next && let Some(pushed) = pushed.0.get_mut(id as usize) {
            pushed.second = Time::NEVER;
        }
        is_next
    }

    /// As [`pass`](Timers::pass) if the earliest entry, which may be this owner's, has that deadline.
    fn pass_set(&mut self, pushed: &mut Pushed, id: TimerId, deadline: Time) -> bool {
        let is_next = self.peek() == Some(id)
            && pushed.0.get(id as usize).is_some_and(|pushed| pushed.first == deadline);
        if is_next {
            self.pop(pushed);
        }
        is_next
    }
}

fn owner(entry: Entry) -> TimerId {
    (entry & ((1 << ID_BITS) - 1)) as TimerId
}

fn deadline(entry: Entry) -> Time {
    Time((entry >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Timers that share their entries' times with no others.
    #[derive(Default)]
    struct Alone {
        timers: Timers,
        pushed: Pushed,
    }

    impl Alone {
        fn set(&mut self, id: TimerId, deadline: Time) {
            self.timers.set(&mut self.pushed, id, deadline);
        }

        fn pop(&mut self) -> Option<TimerId> {
            self.timers.pop(&mut self.pushed)
        }

        fn pass(&mut self, id: TimerId, deadline: Time) -> bool {
            self.timers.pass(&mut self.pushed, id, deadline)
        }

        fn entries(&self) -> usize {
            usize::from(self.timers.first.is_some()) + self.timers.others.len()
        }
    }

    #[test]
    fn a_timer_restarted_later_costs_one_entry() {
        let mut timers = Alone::default();
        (100..200).for_each(|at| timers.set(0, Time(at)));
        assert_eq!(timers.entries(), 1);
    }

    #[test]
    fn an_owner_without_a_deadline_takes_no_room() {
        let mut timers = Alone::default();
        timers.set(7, Time::NEVER);
        timers.timers.set_next(LONE + 7, Time::NEVER);
        timers.timers.set_next(LONE + 7, Time(3));
        timers.set(4, Time(5));
        assert_eq!(timers.pushed.0.len(), 5);
        assert_eq!([(); 3].map(|()| timers.pop()), [Some(LONE + 7), Some(4), None]);
    }

    #[test]
    fn a_pacing_timer_leaves_the_retransmission_timer_where_it_is() {
        let mut timers = Alone::default();
        timers.set(0, Time(1000));
        for at in 0..100 {
            timers.set(0, Time(at));
            assert_eq!(timers.pop(), Some(0));
            timers.set(0, Time(1000 + at));
        }
        assert_eq!(timers.entries(), 1);
    }

    #[test]
    fn passing_is_setting_and_popping_where_nothing_is_due_before() {
        let [mut passed, mut popped] = [(); 2].map(|()| {
            let mut timers = Alone::default();
            for (id, at) in [(0, 300), (0, 200), (1, 100)] {
                timers.set(id, Time(at));
            }
            timers
        });
        assert!(!passed.pass(0, Time(100)), "another owner's timer was set to that time before");
        for (id, at) in [(0, 99), (1, 100), (0, 200)] {
            assert!(passed.pass(id, Time(at)));
            popped.set(id, Time(at));
            assert_eq!(popped.pop(), Some(id));
        }
        let rest = |mut timers: Alone| -> Vec<_> {
            std::iter::from_fn(|| {
                Some(timers.timers.next()).filter(|at| !at.is_never()).map(|at| (at, timers.pop()))
            })
            .collect()
        };
        assert_eq!(rest(passed), rest(popped));
    }

    proptest! {
        /// Whatever is set in whatever order, each owner is woken at its last deadline, in order of time.
        #[test]
        fn every_owner_is_woken_at_its_deadline(sets in prop::collection::vec((0u32..5, 1u64..50), 1..200)) {
            let mut timers = Alone::default();
            let mut deadlines = [Time::NEVER; 5];
            let mut now = Time::ZERO;
            let mut fired = |timers: &mut Alone, deadlines: &mut [Time; 5], until: Time| {
                while timers.timers.next() <= until {
                    now = timers.timers.next();
                    let Some(id) = timers.pop() else { continue };
                    if deadlines[id as usize] <= now {
                        assert_eq!(deadlines[id as usize], now, "late");
                        deadlines[id as usize] = Time::NEVER;
                    }
                    timers.set(id, deadlines[id as usize]);
                }
            };
            for (step, (id, ahead)) in sets.into_iter().enumerate() {
                let at = Time(step as u64 * 3);
                fired(&mut timers, &mut deadlines, at);
                deadlines[id as usize] = Time(at.0 + ahead);
                timers.set(id, deadlines[id as usize]);
            }
            fired(&mut timers, &mut deadlines, Time(1_000_000));
            prop_assert_eq!(deadlines, [Time::NEVER; 5]);
        }
    }
}
