//! The outstanding segments without their positions, which [`Ends`](super::ends::Ends) knows.

use super::sent::{Fate, Kept, Mark};
use crate::prefetch::prefetch;
use crate::ring::Ring;
use airtcp_wire::Time;

/// What is kept of each segment, in the order of sequence numbers.
#[derive(Debug)]
pub(super) enum Segments {
    Timed(Ring<Kept>),
    Untimed(Untimed),
}

/// Segments of which nobody asks when they were sent.
#[derive(Debug, Default)]
pub(super) struct Untimed {
    len: u32,
    /// The marks of the first segments; all others have the default mark. Without SACK, losses are found at the front,
    /// so that there are few. Made when needed.
    marks: Option<Box<Ring<Mark>>>,
}

impl Default for Segments {
    fn default() -> Segments {
        Segments::Timed(Ring::default())
    }
}

impl Segments {
    /// Forgets when segments were sent, those of the future, too.
    pub fn forget_times(&mut self) {
        if let Segments::Timed(timed) = self {
            let mut untimed = Untimed::default();
            timed.iter().for_each(|sent| untimed.push(sent.mark()));
            *self = Segments::Untimed(untimed);
        }
    }

    #[inline(always)]
    pub fn push(&mut self, sent: Kept) {
        match self {
            Segments::Timed(timed) => timed.push_back(sent),
            Segments::Untimed(untimed) => untimed.push(sent.mark()),
        }
    }

    /// The segment at `index`, which was sent at [`Time::ZERO`] if times are not kept.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<Kept> {
        match self {
            Segments::Timed(timed) => timed.get(index).copied(),
            Segments::Untimed(untimed) => untimed.get(index),
        }
    }

    #[inline]
    pub fn set(&mut self, index: usize, sent: Kept) {
        match self {
            Segments::Timed(timed) => timed.get_mut(index).into_iter().for_each(|kept| *kept = sent),
            Segments::Untimed(untimed) => untimed.mark(index, sent.mark()),
        }
    }

    #[inline]
    pub fn set_fate(&mut self, index: usize, fate: Fate) {
        if let Segments::Timed(timed) = self {
            timed.get_mut(index).into_iter().for_each(|kept| kept.set_fate(fate));
        } else if let Some(mut sent) = self.get(index) {
            sent.set_fate(fate);
            self.set(index, sent);
        }
    }

    #[inline(always)]
    pub fn drop_first(&mut self, count: usize) {
        match self {
            Segments::Timed(timed) => timed.drop_first(count),
            Segments::Untimed(untimed) => untimed.drop_first(count),
        }
    }

    /// Drops the first `count` segments, one at least. Returns when the first and the last of them were sent.
    #[inline(always)]
    pub fn take_first(&mut self, count: usize) -> (Time, Time) {
        let times = match self {
            Segments::Timed(timed) => {
                let oldest_at = timed.front().map_or(Time::ZERO, |first| first.sent_at());
                let last = if count == 1 { None } else { timed.get(count - 1) };
                (oldest_at, last.map_or(oldest_at, |last| last.sent_at()))
            }
            Segments::Untimed(_) => (Time::ZERO, Time::ZERO),
        };
        self.drop_first(count);
        times
    }

    /// When the first segment was sent, if times are kept.
    #[inline(always)]
    pub fn oldest_at(&self) -> Option<Time> {
        match self {
            Segments::Timed(timed) => timed.front().map(|first| first.sent_at()),
            Segments::Untimed(_) => None,
        }
    }

    /// Prefetches the segment that is acknowledged next, and the place of the next new one.
    #[inline]
    pub fn prefetch(&self) {
        if let Segments::Timed(timed) = self {
            [timed.front(), timed.back()].into_iter().flatten().for_each(prefetch);
        }
    }

    /// Gives memory back if much more was outstanding before.
    pub fn shrink(&mut self) {
        match self {
            Segments::Timed(timed) => timed.shrink(),
            Segments::Untimed(Untimed { marks, .. }) => _ = marks.take_if(|marks| marks.is_empty()),
        }
    }
}

impl Untimed {
    #[inline(always)]
    fn push(&mut self, mark: Mark) {
        self.len += 1;
        if mark != Mark::default() || self.marks.is_some() {
            self.mark(self.len as usize - 1, mark);
        }
    }

    #[cold]
    #[inline(never)]
    fn get(&self, index: usize) -> Option<Kept> {
        let mark = self.marks.as_ref().and_then(|marks| marks.get(index));
        (index < self.len as usize).then(|| Kept::untimed(mark.copied().unwrap_or_default()))
    }

    #[cold]
    #[inline(never)]
    fn mark(&mut self, index: usize, mark: Mark) {
        if mark == Mark::default() && self.marks.as_ref().is_none_or(|marks| marks.len() <= index) {
            return;
        }
        let marks = self.marks.get_or_insert_default();
        while marks.len() <= index {
            marks.push_back(Mark::default());
        }
        marks.get_mut(index).into_iter().for_each(|place| *place = mark);
    }

    #[inline(always)]
    fn drop_first(&mut self, count: usize) {
        self.len -= count as u32;
        if self.marks.is_some() {
            self.drop_marks(count);
        }
    }

    #[cold]
    #[inline(never)]
    fn drop_marks(&mut self, count: usize) {
        self.marks.iter_mut().for_each(|marks| marks.drop_first(count.min(marks.len())));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sent;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Without times, the rest is as with them.
        #[test]
        fn all_but_the_times_is_the_same(steps in prop::collection::vec((0u8..5, 0usize..40), 1..200)) {
            let (mut timed, mut untimed) = (Segments::default(), Segments::default());
            let sent = |is_pushed| Sent::new(Time(7), 0, 1, is_pushed);
            (0..3).for_each(|_| timed.push(Kept::new(&sent(true))));
            (0..3).for_each(|_| untimed.push(Kept::new(&sent(true))));
            untimed.forget_times();
            let mut len = 3;
            for (step, number) in steps {
                let index = number % len.max(1);
                let covers = match step {
                    4 if len > 0 => index + 1,
                    _ => 0,
                };
                for segments in [&mut timed, &mut untimed] {
                    match step {
                        0 | 1 => segments.push(Kept::new(&sent(number == 0))),
                        2 if index < len => segments.set_fate(index, Fate::Lost),
                        3 if index < len => {
                            segments.set(index, Kept::new(&Sent { is_resent: true, ..sent(false) }));
                        }
                        4 if len > 0 => { segments.take_first(covers); }
                        _ => segments.shrink(),
                    }
                }
                len = len + usize::from(step < 2) - covers;
                for index in 0..len + 2 {
                    let marks = [&timed, &untimed].map(|segments| segments.get(index).map(Kept::mark));
                    prop_assert_eq!(marks[0], marks[1]);
                }
            }
        }
    }
}
