//! What was spurious, by the truth that only the simulator knows.
//!
//! A retransmission is spurious if the receiver gets all its bytes from earlier copies: it has them already, or they
//! are under way and arrive. It was needed if, for some of its bytes, all earlier copies are lost. Until the fate of
//! the earlier copies is known, the retransmission is undecided.
//!
//! Only ranges that were lost or resent are remembered, and only until they are cumulatively acknowledged: packets
//! that arrive at the first attempt cost nothing here. The first copy of a range has order 0, retransmissions count up.

use airtcp_proto::tcp::Reason;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;
use std::slice;

/// Retransmissions found spurious, by what they were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spurious {
    pub retransmissions: u64,
    /// Those that a timeout sent.
    pub timeouts: u64,
    /// Those that began a fast retransmit.
    pub fast_retransmits: u64,
}

impl Spurious {
    /// Counts a retransmission that was sent for this reason.
    pub fn count(&mut self, reason: Reason) {
        self.retransmissions += 1;
        self.timeouts += u64::from(reason == Reason::Timeout);
        self.fast_retransmits += u64::from(reason == Reason::FastRetransmit);
    }
}

/// A range of stream bytes that share their history.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    /// At most one packet's payload.
    bytes: u32,
    /// Order of the only copy that is not known to be lost, [`NONE`] or [`SEVERAL`].
    copy: u32,
}

/// No copy has these orders.
const NONE: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

impl Piece {
    /// A range that was sent once.
    fn new(range: &Range<u64>) -> Piece {
        Piece { start: range.start, bytes: (range.end - range.start) as u32, copy: 0 }
    }

    fn range(&self) -> Range<u64> {
        self.start..self.end()
    }

    fn end(&self) -> u64 {
        self.start + u64::from(self.bytes)
    }
}

/// A retransmission whose earlier copies are still under way.
#[derive(Clone, Debug)]
struct Undecided {
    order: u32,
    reason: Reason,
    /// Bytes that no earlier copy has brought yet.
    missing: SmallVec<[Range<u64>; 2]>,
}

/// Retransmissions that are not known to be needed.
#[derive(Clone, Debug, Default)]
struct Doubtful {
    /// By start and order.
    undecided: BTreeMap<(u64, u32), Undecided>,
    /// Length of the longest retransmission so far that was undecided.
    longest: u32,
    /// The copies of pieces that have [`SEVERAL`], by the piece's start.
    copies: BTreeMap<u64, Vec<u32>>,
}

impl Doubtful {
    /// The undecided retransmissions that may overlap `range`.
    fn near(&self, range: &Range<u64>) -> impl Iterator<Item = (&(u64, u32), &Undecided)> {
        self.undecided.range(near(range, self.longest))
    }

    /// A copy of `range` has arrived at the receiver.
    fn delivered(&mut self, range: &Range<u64>, order: u32, mut on_spurious: impl FnMut(Reason)) {
        let mut decided: SmallVec<[(u64, u32); 4]> = SmallVec::new();
        for (&key, retry) in self.undecided.range_mut(near(range, self.longest)) {
            if retry.order > order {
                retry.missing = retry.missing.iter().flat_map(|missing| without(missing, range)).collect();
            }
            if retry.missing.is_empty() {
                on_spurious(retry.reason);
                decided.push(key);
            }
        }
        decided.iter().for_each(|key| _ = self.undecided.remove(key));
    }
}

/// The history of one connection's data.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// Boxed, because mostly there is nothing to remember.
    history: Option<Box<History>>,
}

impl Truth {
    /// Returns `true` if [`acknowledged`](Truth::acknowledged) has nothing to forget.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.history.is_none()
    }

    /// Does [`delivered`](Truth::delivered) have to be called?
    #[inline]
    pub fn is_undecided(&self) -> bool {
        self.history.as_ref().is_some_and(|history| history.undecided().is_some())
    }

    /// `range` is sent again. `has_received` answers whether the receiver has a range. Returns the copy's order, and
    /// whether it is known to be spurious.
    pub fn resent(
        &mut self,
        range: Range<u64>,
        reason: Reason,
        has_received: impl Fn(&Range<u64>) -> bool,
    ) -> (u32, bool) {
        self.history.get_or_insert_default().resent(range, reason, has_received)
    }

    /// A copy was lost; `una` is what the sender knows to be acknowledged.
    pub fn lost(&mut self, range: Range<u64>, order: u32, una: u64) {
        if range.end > una || self.is_undecided() {
            self.history.get_or_insert_default().lost(&range, order);
        }
    }

    /// A copy has arrived at the receiver. Passes why the retransmissions that are spurious by that were sent to
    /// `on_spurious`.
    pub fn delivered(&mut self, range: Range<u64>, order: u32, on_spurious: impl FnMut(Reason)) {
        if let Some(doubtful) = self.history.as_mut().and_then(|history| history.doubtful.as_mut()) {
            doubtful.delivered(&range, order, on_spurious);
        }
    }

    /// Everything below `una` is acknowledged. Pieces that an undecided retransmission needs are kept, and those above.
    // Not inlined, because the callers are hot, and mostly have nothing to forget.
    #[inline(never)]
    pub fn acknowledged(&mut self, una: u64) {
        let first = self.history.as_ref().and_then(|history| history.first());
        if first.is_some_and(|first| first.end() <= una) {
            self.forget_below(una);
        }
    }

    #[cold]
    fn forget_below(&mut self, una: u64) {
        self.history.take_if(|history| history.forgets_all_below(una));
    }

    /// Retransmissions that are still undecided will not count.
    pub fn begin_measurement(&mut self) {
        let doubtful = self.history.as_mut().and_then(|history| history.doubtful.as_mut());
        doubtful.into_iter().for_each(|doubtful| doubtful.undecided.clear());
    }
}

/// What is remembered of one connection's data. Orders count from 1 again in the next history: no copy that is still
/// under way overlaps its pieces.
#[derive(Clone, Debug, Default)]
struct History {
    /// Disjoint, by start. Nearly all come last and go first. Mostly few packets are lost at a time.
    list: SmallVec<[Piece; 2]>,
    /// How many at the beginning of `list` have gone. If any is left, at least half is.
    gone: u32,
    resent: u32,
    /// Boxed, because many connections resend only what is known to be lost.
    doubtful: Option<Box<Doubtful>>,
}

impl History {
    fn first(&self) -> Option<&Piece> {
        self.list.get(self.gone as usize)
    }

    fn pieces(&self) -> &[Piece] {
        &self.list[self.gone as usize..]
    }

    fn pieces_mut(&mut self) -> &mut [Piece] {
        &mut self.list[self.gone as usize..]
    }

    /// Has the connection any undecided retransmissions? Returns what is known about them.
    fn undecided(&self) -> Option<&Doubtful> {
        self.doubtful.as_deref().filter(|doubtful| !doubtful.undecided.is_empty())
    }

    fn resent(
        &mut self,
        range: Range<u64>,
        reason: Reason,
        has_received: impl Fn(&Range<u64>) -> bool,
    ) -> (u32, bool) {
        self.resent += 1;
        let order = self.resent;
        let mut missing = SmallVec::new();
        let mut needed = false;
        for place in self.cover(&range) {
            let piece = &self.pieces()[place];
            let part = piece.range();
            if !has_received(&part) {
                needed |= self.copies(piece).is_empty();
                missing.push(part);
                self.add(place, order);
            }
        }
        let is_spurious = missing.is_empty();
        if !needed && !is_spurious {
            let doubtful = self.doubtful.get_or_insert_default();
            doubtful.longest = doubtful.longest.max((range.end - range.start) as u32);
            doubtful.undecided.insert((range.start, order), Undecided { order, reason, missing });
        }
        (order, is_spurious)
    }

    fn lost(&mut self, range: &Range<u64>, order: u32) {
        let places = match order {
            0 => self.cover(range),
            _ => self.cut(range),
        };
        for place in places.clone() {
            self.forget(place, order);
        }
        let Some(doubtful) = self.undecided() else { return };
        let is_needed = |retry: &Undecided| {
            self.pieces()[places.clone()].iter().any(|piece| self.is_hopeless(retry, piece))
        };
        let needed: SmallVec<[(u64, u32); 4]> =
            doubtful.near(range).filter(|(_, retry)| is_needed(retry)).map(|(&key, _)| key).collect();
        if let Some(doubtful) = &mut self.doubtful {
            needed.iter().for_each(|key| _ = doubtful.undecided.remove(key));
        }
    }

    /// All copies of the piece that left before the retransmission are lost, and it is missing.
    fn is_hopeless(&self, retry: &Undecided, piece: &Piece) -> bool {
        self.copies(piece).iter().all(|copy| *copy >= retry.order)
            && retry.missing.iter().any(|missing| overlap(missing, &piece.range()))
    }

    /// Forgets the pieces below `una` that no undecided retransmission needs. Returns whether nothing is left.
    fn forgets_all_below(&mut self, una: u64) -> bool {
        while let Some(first) = self.first() {
            if first.end() > una || self.is_waited_for(&first.range()) {
                return false;
            }
            self.drop_first();
        }
        true
    }

    fn is_waited_for(&self, range: &Range<u64>) -> bool {
        let mut retries = self.undecided().into_iter().flat_map(|doubtful| doubtful.near(range));
        retries.any(|(_, retry)| retry.missing.iter().any(|missing| overlap(missing, range)))
    }

    /// Orders of the piece's copies that are not known to be lost.
    fn copies<'a>(&'a self, piece: &'a Piece) -> &'a [u32] {
        match piece.copy {
            NONE => &[],
            SEVERAL => self.doubtful.as_ref().map_or(&[], |doubtful| &doubtful.copies[&piece.start]),
            _ => slice::from_ref(&piece.copy),
        }
    }

    /// Adds a copy of the piece in that place.
    fn add(&mut self, place: usize, order: u32) {
        let piece = &mut self.pieces_mut()[place];
        if piece.copy == NONE {
            piece.copy = order;
            return;
        }
        let (start, copy) = (piece.start, mem::replace(&mut piece.copy, SEVERAL));
        let copies = self.doubtful.get_or_insert_default().copies.entry(start).or_default();
        copies.extend(Some(copy).filter(|copy| *copy != SEVERAL));
        copies.push(order);
    }

    /// Forgets a copy of the piece in that place.
    fn forget(&mut self, place: usize, order: u32) {
        let piece = &mut self.pieces_mut()[place];
        if piece.copy == order {
            piece.copy = NONE;
        } else if piece.copy == SEVERAL {
            let start = piece.start;
            let several = self.doubtful.as_mut().and_then(|doubtful| doubtful.copies.get_mut(&start));
            several.into_iter().for_each(|copies| copies.retain(|copy| *copy != order));
        }
    }

    fn drop_first(&mut self) {
        let first = self.pieces()[0];
        if first.copy == SEVERAL {
            self.doubtful.iter_mut().for_each(|doubtful| _ = doubtful.copies.remove(&first.start));
        }
        self.gone += 1;
        let gone = self.gone as usize;
        if gone < self.list.len() && 2 * gone >= self.list.len() {
            self.list.drain(..gone);
            self.gone = 0;
        }
    }

    fn insert(&mut self, place: usize, piece: Piece) {
        self.list.insert(self.gone as usize + place, piece);
    }

    /// Index of the first piece that begins at `position` or later.
    fn place(&self, position: u64) -> usize {
        self.pieces().partition_point(|piece| piece.start < position)
    }

    /// The piece before the one at `place`.
    fn before(&mut self, place: usize) -> Option<&mut Piece> {
        self.pieces_mut().get_mut(place.checked_sub(1)?)
    }

    /// Cuts the piece that has `position` inside it in two.
    fn split(&mut self, position: u64) {
        let place = self.place(position);
        let Some(lower) = self.before(place).filter(|lower| lower.end() > position) else { return };
        let upper = Piece { start: position, bytes: (lower.end() - position) as u32, copy: lower.copy };
        lower.bytes -= upper.bytes;
        let start = lower.start;
        self.insert(place, upper);
        if upper.copy == SEVERAL
            && let Some(doubtful) = &mut self.doubtful
        {
            let copies = doubtful.copies[&start].clone();
            doubtful.copies.insert(position, copies);
        }
    }

    /// Splits pieces that are only partly in `range`. Returns the places of those in it.
    fn cut(&mut self, range: &Range<u64>) -> Range<usize> {
        self.split(range.end);
        self.split(range.start);
        self.place(range.start)..self.place(range.end)
    }

    /// Makes pieces that cover `range` exactly, and returns their places. A part without a piece was sent once, and gets
    /// one.
    fn cover(&mut self, range: &Range<u64>) -> Range<usize> {
        let place = self.place(range.end);
        match self.before(place) {
            // Most ranges are whole segments, as before.
            Some(piece) if piece.range() == *range => place - 1..place,
            Some(piece) if piece.end() > range.start => self.fill(range),
            _ => {
                self.insert(place, Piece::new(range));
                place..place + 1
            }
        }
    }

    /// As [`cover`](History::cover), where pieces overlap the range.
    fn fill(&mut self, range: &Range<u64>) -> Range<usize> {
        let first = self.cut(range).start;
        let (mut at, mut place) = (range.start, first);
        while at < range.end {
            let next = self.pieces().get(place).map_or(range.end, |piece| piece.start.min(range.end));
            if at < next {
                self.insert(place, Piece::new(&(at..next)));
            }
            at = self.pieces().get(place).map_or(range.end, Piece::end);
            place += 1;
        }
        first..place
    }
}

/// Keys of the retransmissions that may overlap `range`, if none is longer than `longest`.
fn near(range: &Range<u64>, longest: u32) -> Range<(u64, u32)> {
    (range.start.saturating_sub(u64::from(longest)), 0)..(range.end, 0)
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// What is left of `range` below and above `hole`.
fn without(range: &Range<u64>, hole: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let below = range.start..range.end.min(hole.start);
    let above = range.start.max(hole.end)..range.end;
    [below, above].into_iter().filter(|part| part.start < part.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOTHING: fn(&Range<u64>) -> bool = |_| false;
    const ALL: fn(&Range<u64>) -> bool = |_| true;

    /// A history that counts what it finds spurious.
    #[derive(Default)]
    struct Counted {
        truth: Truth,
        spurious: Spurious,
    }

    impl Counted {
        fn resent(
            &mut self,
            range: Range<u64>,
            reason: Reason,
            has_received: impl Fn(&Range<u64>) -> bool,
        ) -> u32 {
            let (order, is_spurious) = self.truth.resent(range, reason, has_received);
            if is_spurious {
                self.spurious.count(reason);
            }
            order
        }

        fn delivered(&mut self, range: Range<u64>, order: u32) {
            self.truth.delivered(range, order, |reason| self.spurious.count(reason));
        }

        fn counts(&self) -> (u64, u64, u64) {
            let Spurious { retransmissions, timeouts, fast_retransmits } = self.spurious;
            (retransmissions, timeouts, fast_retransmits)
        }
    }

    #[test]
    fn what_the_receiver_has_is_spurious_at_once() {
        let mut counted = Counted::default();
        counted.resent(0..100, Reason::FastRetransmit, ALL);
        assert_eq!(counted.counts(), (1, 0, 1));
        assert!(!counted.truth.is_undecided());
    }

    #[test]
    fn what_was_lost_is_needed() {
        let mut counted = Counted::default();
        counted.truth.lost(0..100, 0, 0);
        counted.resent(0..100, Reason::Timeout, NOTHING);
        assert!(!counted.truth.is_undecided());
        counted.truth.acknowledged(100);
        assert_eq!(counted.counts(), (0, 0, 0));
        assert!(counted.truth.is_empty());
    }

    #[test]
    fn a_late_original_decides() {
        for arrives in [false, true] {
            let mut counted = Counted::default();
            let order = counted.resent(0..100, Reason::Timeout, NOTHING);
            assert!(counted.truth.is_undecided());
            // The copy overtakes its original: that says nothing about the original.
            counted.delivered(0..100, order);
            counted.truth.acknowledged(100);
            assert!(counted.truth.is_undecided());
            match arrives {
                true => counted.delivered(0..100, 0),
                false => counted.truth.lost(0..100, 0, 50),
            }
            assert!(!counted.truth.is_undecided());
            assert_eq!(counted.counts(), if arrives { (1, 1, 0) } else { (0, 0, 0) });
        }
    }

    #[test]
    fn a_retransmission_of_two_segments_is_needed_if_one_was_lost() {
        let mut counted = Counted::default();
        counted.truth.lost(100..150, 0, 0);
        counted.resent(50..200, Reason::Retransmit, |range| range.end <= 100);
        counted.delivered(150..200, 0);
        assert_eq!(counted.counts(), (0, 0, 0));
        assert!(!counted.truth.is_undecided());
    }

    #[test]
    fn a_lost_retransmission_makes_the_next_one_needed_only_if_nothing_else_is_under_way() {
        let mut counted = Counted::default();
        let first = counted.resent(0..100, Reason::Timeout, NOTHING);
        counted.truth.lost(0..100, first, 0);
        counted.resent(0..100, Reason::Timeout, NOTHING);
        counted.delivered(0..100, 0);
        assert_eq!(counted.counts(), (2, 2, 0));
    }

    /// Segments of one size on a path that loses, delays and overtakes: verdicts agree with looking back at the end.
    /// Each round sends new segments, and ends once all of them are acknowledged; copies may come later.
    fn play(script: Vec<(u64, bool, bool)>) {
        let mut counted = Counted::default();
        // Per segment of the round: has the receiver got it. And the copies (segment, order, fate so far).
        let (mut first, mut received) = (0, [false; 4]);
        let sent = |first| (first..first + 4).map(|segment| (segment, 0, None));
        let mut copies: Vec<(u64, u32, Option<bool>)> = sent(first).collect();
        let mut resent = Vec::new();
        let range = |segment: u64| segment * 10..segment * 10 + 10;
        for (pick, resend, arrives) in script {
            if resend {
                let place = (pick % 4) as usize;
                let segment = first + pick % 4;
                let order = counted.resent(range(segment), Reason::Retransmit, |_| received[place]);
                resent.push((segment, copies.len()));
                copies.push((segment, order, None));
                continue;
            }
            let open: Vec<usize> = (0..copies.len()).filter(|&i| copies[i].2.is_none()).collect();
            if open.is_empty() {
                continue;
            }
            let (segment, order, fate) = &mut copies[open[pick as usize % open.len()]];
            *fate = Some(arrives);
            match arrives {
                true => {
                    (segment.checked_sub(first))
                        .into_iter()
                        .for_each(|place| received[place as usize] = true);
                    counted.delivered(range(*segment), *order);
                }
                false => counted.truth.lost(range(*segment), *order, first * 10),
            }
            if received == [true; 4] {
                (first, received) = (first + 4, [false; 4]);
                counted.truth.acknowledged(first * 10);
                copies.extend(sent(first));
            }
        }
        let spurious = resent.iter().filter(|(segment, place)| {
            copies[..*place].iter().any(|copy| copy.0 == *segment && copy.2 == Some(true))
        });
        assert_eq!(counted.spurious.retransmissions, spurious.count() as u64);
        if copies.iter().all(|copy| copy.2.is_some()) {
            assert!(!counted.truth.is_undecided());
        }
        counted.truth.begin_measurement();
        counted.truth.acknowledged(first * 10 + 40);
        assert!(counted.truth.is_empty());
    }

    proptest! {
        #[test]
        fn verdicts_agree_with_hindsight(
            script in prop::collection::vec((0u64..100, any::<bool>(), any::<bool>()), 0..80)
        ) {
            play(script);
        }
    }
}
