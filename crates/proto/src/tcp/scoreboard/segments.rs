//! The outstanding segments without their positions, which [`Ends`](super::ends::Ends) knows.

use super::sent::{Fate, Kept, Mark};
use crate::prefetch::prefetch;
use crate::ring::Ring;
use airtcp_wire::Time;

/// What is kept of each segment, in the order of sequence numbers.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// Without times, these are only counted.
    timed: Ring<Kept>,
    /// Without times: the marks of the first segments; all others have the default mark. Without SACK, losses are found
    /// at the front, so that there are few. Made when needed.
    marks: Option<Box<Ring<Mark>>>,
    is_untimed: bool,
}

impl Segments {
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.timed.len()
    }

    /// Forgets when segments were sent, those of the future, too.
    pub fn forget_times(&mut self) {
        let marks: Vec<_> = self.timed.iter().map(|sent| sent.mark()).collect();
        self.is_untimed = true;
        self.timed.forget();
        marks.into_iter().enumerate().for_each(|(index, mark)| self.mark(index, mark));
    }

    #[inline(always)]
    pub fn push(&mut self, sent: Kept) {
        if (self.timed.is_full() && self.is_untimed) || !self.timed.push_or_count(sent) {
            self.push_untimed(sent.mark());
        }
    }

    #[cold]
    #[inline(never)]
    fn push_untimed(&mut self, mark: Mark) {
        if self.timed.is_empty() {
            self.timed.count();
        }
        if mark != Mark::default() || self.marks.is_some() {
            self.mark(self.len() - 1, mark);
        }
    }

    /// The segment at `index`, which was sent at [`Time::ZERO`] if times are not kept.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<Kept> {
        match self.timed.get(index) {
            Some(sent) => Some(*sent),
            None => self.untimed(index),
        }
    }

    #[cold]
    #[inline(never)]
    fn untimed(&self, index: usize) -> Option<Kept> {
        let mark = self.marks.as_ref().and_then(|marks| marks.get(index));
        (self.is_untimed && index < self.len()).then(|| Kept::untimed(mark.copied().unwrap_or_default()))
    }

    #[inline]
    pub fn set(&mut self, index: usize, sent: Kept) {
        match self.timed.get_mut(index) {
            Some(kept) => *kept = sent,
            None => self.mark(index, sent.mark()),
        }
    }

    #[inline]
    pub fn set_fate(&mut self, index: usize, fate: Fate) {
        if let Some(kept) = self.timed.get_mut(index) {
            kept.set_fate(fate);
        } else if let Some(mut sent) = self.untimed(index) {
            sent.set_fate(fate);
            self.mark(index, sent.mark());
        }
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
    pub fn drop_first(&mut self, count: usize) {
        self.timed.drop_first(count);
        if self.marks.is_some() {
            self.drop_marks(count);
        }
    }

    /// Drops the first `count` segments, one at least. Returns when the first and the last of them were sent.
    #[inline(always)]
    pub fn take_first(&mut self, count: usize) -> (Time, Time) {
        let Some(first) = self.timed.front() else {
            self.drop_first(count);
            return (Time::ZERO, Time::ZERO);
        };
        let oldest_at = first.sent_at();
        let last = if count == 1 { None } else { self.timed.get(count - 1) };
        let newest_at = last.map_or(oldest_at, |last| last.sent_at());
        self.timed.drop_first(count);
        (oldest_at, newest_at)
    }

    #[cold]
    #[inline(never)]
    fn drop_marks(&mut self, count: usize) {
        self.marks.iter_mut().for_each(|marks| marks.drop_first(count.min(marks.len())));
    }

    /// When the first segment was sent, if times are kept.
    #[inline(always)]
    pub fn oldest_at(&self) -> Option<Time> {
        self.timed.front().map(|first| first.sent_at())
    }

    /// Prefetches the segment that is acknowledged next, and the place of the next new one.
    #[inline]
    pub fn prefetch(&self) {
        let ends = [self.timed.front(), self.timed.back()];
        ends.into_iter().flatten().for_each(prefetch);
    }

    /// Gives memory back if much more was outstanding before.
    pub fn shrink(&mut self) {
        self.timed.shrink();
        self.marks = self.marks.take().filter(|marks| !marks.is_empty());
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
            for (step, number) in steps {
                let index = number % timed.len().max(1);
                for segments in [&mut timed, &mut untimed] {
                    match step {
                        0 | 1 => segments.push(Kept::new(&sent(number == 0))),
                        2 if index < segments.len() => segments.set_fate(index, Fate::Lost),
                        3 if index < segments.len() => {
                            segments.set(index, Kept::new(&Sent { is_resent: true, ..sent(false) }));
                        }
                        4 if segments.len() > 0 => { segments.take_first(index + 1); }
                        _ => segments.shrink(),
                    }
                }
                prop_assert_eq!(timed.len(), untimed.len());
                for index in 0..timed.len() + 2 {
                    let marks = [&timed, &untimed].map(|segments| segments.get(index).map(Kept::mark));
                    prop_assert_eq!(marks[0], marks[1]);
                }
            }
        }
    }
}
