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
use std::collections::{BTreeMap, VecDeque};
use std::mem::offset_of;
use std::ops::Range;

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
    fn count(&mut self, reason: Reason) {
        self.retransmissions += 1;
        self.timeouts += u64::from(reason == Reason::Timeout);
        self.fast_retransmits += u64::from(reason == Reason::FastRetransmit);
    }
}

/// A range of stream bytes that share their history.
#[derive(Clone, Debug)]
struct Piece {
    start: u64,
    /// At most one packet's payload.
    bytes: u32,
    /// Orders of the copies that are not known to be lost: mostly one, or [`NONE`], and then the others.
    copy: u32,
    #[allow(clippy::box_collection, reason = "hardly any piece has others, and this takes eight bytes")]
    others: Option<Box<Vec<u32>>>,
}

/// No copy has this order.
const NONE: u32 = u32::MAX;

impl Piece {
    /// A range that was sent once.
    fn new(range: &Range<u64>) -> Piece {
        Piece { start: range.start, bytes: (range.end - range.start) as u32, copy: 0, others: None }
    }

    fn range(&self) -> Range<u64> {
        self.start..self.end()
    }

    fn end(&self) -> u64 {
        self.start + u64::from(self.bytes)
    }

    fn copies(&self) -> impl Iterator<Item = u32> {
        let others = self.others.iter().flat_map(|others| others.iter().copied());
        Some(self.copy).filter(|copy| *copy != NONE).into_iter().chain(others)
    }

    fn add(&mut self, order: u32) {
        match self.copy {
            NONE => self.copy = order,
            _ => self.others.get_or_insert_default().push(order),
        }
    }

    fn forget(&mut self, order: u32) {
        if self.copy == order {
            self.copy = NONE;
        } else if let Some(others) = &mut self.others {
            others.retain(|copy| *copy != order);
        }
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
    spurious: Spurious,
}

impl Doubtful {
    /// The undecided retransmissions that may overlap `range`.
    fn near(&self, range: &Range<u64>) -> impl Iterator<Item = (&(u64, u32), &Undecided)> {
        self.undecided.range(near(range, self.longest))
    }

    /// A copy of `range` has arrived at the receiver.
    fn delivered(&mut self, range: &Range<u64>, order: u32) {
        let mut decided: SmallVec<[(u64, u32); 4]> = SmallVec::new();
        for (&key, retry) in self.undecided.range_mut(near(range, self.longest)) {
            if retry.order > order {
                retry.missing = retry.missing.iter().flat_map(|missing| without(missing, range)).collect();
            }
            if retry.missing.is_empty() {
                self.spurious.count(retry.reason);
                decided.push(key);
            }
        }
        decided.iter().for_each(|key| _ = self.undecided.remove(key));
    }
}

/// The history of one connection's data. The fields that are read where nothing is resent come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Truth {
    /// Disjoint, by start. Nearly all come last and go first.
    pieces: VecDeque<Piece>,
    /// Boxed, because many connections resend only what is known to be lost.
    doubtful: Option<Box<Doubtful>>,
    resent: u32,
}

impl Truth {
    /// How many of its first bytes are touched where nothing is resent.
    pub const TOUCHED: usize = offset_of!(Truth, resent);

    /// Returns `true` if [`acknowledged`](Truth::acknowledged) has nothing to forget.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Does [`delivered`](Truth::delivered) have to be called?
    #[inline]
    pub fn is_undecided(&self) -> bool {
        self.doubtful.as_ref().is_some_and(|doubtful| !doubtful.undecided.is_empty())
    }

    /// The retransmissions that were found spurious.
    pub fn spurious(&self) -> Spurious {
        self.doubtful.as_ref().map(|doubtful| doubtful.spurious).unwrap_or_default()
    }

    /// `range` is sent again. `has_received` answers whether the receiver has a range. Returns the copy's order.
    pub fn resent(
        &mut self,
        range: Range<u64>,
        reason: Reason,
        has_received: impl Fn(&Range<u64>) -> bool,
    ) -> u32 {
        self.resent += 1;
        let order = self.resent;
        let mut missing = SmallVec::new();
        let mut needed = false;
        self.visit(&range, |part, piece| {
            if !has_received(&part) {
                needed |= piece.copies().next().is_none();
                missing.push(part);
                piece.add(order);
            }
        });
        if needed {
            return order;
        }
        let doubtful = self.doubtful.get_or_insert_default();
        match missing.is_empty() {
            true => doubtful.spurious.count(reason),
            false => {
                doubtful.longest = doubtful.longest.max((range.end - range.start) as u32);
                doubtful.undecided.insert((range.start, order), Undecided { order, reason, missing });
            }
        }
        order
    }

    /// A copy was lost; `una` is what the sender knows to be acknowledged.
    pub fn lost(&mut self, range: Range<u64>, order: u32, una: u64) {
        if range.end <= una {
            return;
        }
        let forget = |piece: &mut Piece| piece.forget(order);
        match order {
            0 => self.visit(&range, |_, piece| forget(piece)),
            _ => {
                self.split(range.end);
                self.split(range.start);
                self.within(&range).for_each(forget);
            }
        }
        let places = self.places(&range);
        let Some(doubtful) = self.doubtful.as_mut().filter(|doubtful| !doubtful.undecided.is_empty()) else {
            return;
        };
        let is_needed =
            |retry: &Undecided| self.pieces.range(places.clone()).any(|piece| is_hopeless(retry, piece));
        let needed: SmallVec<[(u64, u32); 4]> =
            doubtful.near(&range).filter(|(_, retry)| is_needed(retry)).map(|(&key, _)| key).collect();
        needed.iter().for_each(|key| _ = doubtful.undecided.remove(key));
    }

    /// A copy has arrived at the receiver.
    pub fn delivered(&mut self, range: Range<u64>, order: u32) {
        if let Some(doubtful) = &mut self.doubtful {
            doubtful.delivered(&range, order);
        }
    }

    /// Everything below `una` is acknowledged. Pieces that an undecided retransmission needs are kept, and those above.
    #[inline]
    pub fn acknowledged(&mut self, una: u64) {
        if self.pieces.front().is_some_and(|first| first.end() <= una) {
            self.forget_below(una);
        }
    }

    fn forget_below(&mut self, una: u64) {
        while let Some(first) = self.pieces.front()
            && first.end() <= una
            && !self.is_waited_for(&first.range())
        {
            self.pieces.pop_front();
        }
        if self.pieces.is_empty() {
            self.pieces = VecDeque::new();
        }
    }

    fn is_waited_for(&self, range: &Range<u64>) -> bool {
        let mut retries = self.doubtful.iter().flat_map(|doubtful| doubtful.near(range));
        retries.any(|(_, retry)| retry.missing.iter().any(|missing| overlap(missing, range)))
    }

    /// Counts anew. Retransmissions that are still undecided will not count.
    pub fn begin_measurement(&mut self) {
        self.doubtful = None;
    }

    /// Index of the first piece that begins at `position` or later.
    fn place(&self, position: u64) -> usize {
        self.pieces.partition_point(|piece| piece.start < position)
    }

    /// Indices of the pieces that begin within `range`.
    fn places(&self, range: &Range<u64>) -> Range<usize> {
        self.place(range.start)..self.place(range.end)
    }

    /// The pieces that begin within `range`.
    fn within(&mut self, range: &Range<u64>) -> impl Iterator<Item = &mut Piece> {
        self.pieces.range_mut(self.places(range))
    }

    /// The piece before the one at `place`.
    fn before(&mut self, place: usize) -> Option<&mut Piece> {
        self.pieces.get_mut(place.checked_sub(1)?)
    }

    /// Cuts the piece that has `position` inside it in two.
    fn split(&mut self, position: u64) {
        let place = self.place(position);
        if let Some(lower) = self.before(place).filter(|lower| lower.end() > position) {
            let mut upper = lower.clone();
            lower.bytes = (position - lower.start) as u32;
            (upper.start, upper.bytes) = (position, upper.bytes - lower.bytes);
            self.pieces.insert(place, upper);
        }
    }

    /// Visits pieces that cover `range` exactly. A part without a piece was sent once, and gets one.
    fn visit(&mut self, range: &Range<u64>, mut visit: impl FnMut(Range<u64>, &mut Piece)) {
        let place = self.place(range.end);
        match self.before(place) {
            // Most ranges are whole segments, as before.
            Some(piece) if piece.range() == *range => visit(range.clone(), piece),
            Some(piece) if piece.end() > range.start => {
                self.cover(range);
                self.within(range).for_each(|piece| visit(piece.range(), piece));
            }
            _ => {
                let mut piece = Piece::new(range);
                visit(range.clone(), &mut piece);
                if self.pieces.is_empty() {
                    // Mostly few packets are lost at a time.
                    self.pieces.reserve_exact(2);
                }
                self.pieces.insert(place, piece);
            }
        }
    }

    /// Makes pieces that cover `range` exactly. A part without a piece was sent once.
    fn cover(&mut self, range: &Range<u64>) {
        self.split(range.end);
        self.split(range.start);
        let (mut at, mut place) = (range.start, self.place(range.start));
        while at < range.end {
            let next = self.pieces.get(place).map_or(range.end, |piece| piece.start.min(range.end));
            if at < next {
                self.pieces.insert(place, Piece::new(&(at..next)));
            }
            at = self.pieces.get(place).map_or(range.end, Piece::end);
            place += 1;
        }
    }
}

/// Keys of the retransmissions that may overlap `range`, if none is longer than `longest`.
fn near(range: &Range<u64>, longest: u32) -> Range<(u64, u32)> {
    (range.start.saturating_sub(u64::from(longest)), 0)..(range.end, 0)
}

/// All copies of the piece that left before the retransmission are lost, and it is missing.
fn is_hopeless(retry: &Undecided, piece: &Piece) -> bool {
    piece.copies().all(|copy| copy >= retry.order)
        && retry.missing.iter().any(|missing| overlap(missing, &piece.range()))
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

    fn counts(truth: &Truth) -> (u64, u64, u64) {
        let Spurious { retransmissions, timeouts, fast_retransmits } = truth.spurious();
        (retransmissions, timeouts, fast_retransmits)
    }

    #[test]
    fn what_the_receiver_has_is_spurious_at_once() {
        let mut truth = Truth::default();
        truth.resent(0..100, Reason::FastRetransmit, ALL);
        assert_eq!(counts(&truth), (1, 0, 1));
        assert!(!truth.is_undecided());
    }

    #[test]
    fn what_was_lost_is_needed() {
        let mut truth = Truth::default();
        truth.lost(0..100, 0, 0);
        truth.resent(0..100, Reason::Timeout, NOTHING);
        assert!(!truth.is_undecided());
        truth.acknowledged(100);
        assert_eq!(counts(&truth), (0, 0, 0));
        assert!(truth.is_empty());
    }

    #[test]
    fn a_late_original_decides() {
        for arrives in [false, true] {
            let mut truth = Truth::default();
            let order = truth.resent(0..100, Reason::Timeout, NOTHING);
            assert!(truth.is_undecided());
            // The copy overtakes its original: that says nothing about the original.
            truth.delivered(0..100, order);
            truth.acknowledged(100);
            assert!(truth.is_undecided());
            match arrives {
                true => truth.delivered(0..100, 0),
                false => truth.lost(0..100, 0, 50),
            }
            assert!(!truth.is_undecided());
            assert_eq!(counts(&truth), if arrives { (1, 1, 0) } else { (0, 0, 0) });
        }
    }

    #[test]
    fn a_retransmission_of_two_segments_is_needed_if_one_was_lost() {
        let mut truth = Truth::default();
        truth.lost(100..150, 0, 0);
        truth.resent(50..200, Reason::Retransmit, |range| range.end <= 100);
        truth.delivered(150..200, 0);
        assert_eq!(counts(&truth), (0, 0, 0));
        assert!(!truth.is_undecided());
    }

    #[test]
    fn a_lost_retransmission_makes_the_next_one_needed_only_if_nothing_else_is_under_way() {
        let mut truth = Truth::default();
        let first = truth.resent(0..100, Reason::Timeout, NOTHING);
        truth.lost(0..100, first, 0);
        truth.resent(0..100, Reason::Timeout, NOTHING);
        truth.delivered(0..100, 0);
        assert_eq!(counts(&truth), (2, 2, 0));
    }

    /// Segments of one size on a path that loses, delays and overtakes: verdicts agree with looking back at the end.
    fn play(script: Vec<(u64, bool, bool)>) {
        let mut truth = Truth::default();
        // Per segment: has the receiver got it, and the copies (order, fate so far).
        let mut received = [false; 4];
        let mut copies: Vec<(u64, u32, Option<bool>)> = (0..4).map(|segment| (segment, 0, None)).collect();
        let mut verdict_inputs = Vec::new();
        let range = |segment: u64| segment * 10..segment * 10 + 10;
        for (pick, resend, arrives) in script {
            if resend {
                let segment = pick % 4;
                let order = truth.resent(range(segment), Reason::Retransmit, |_| received[segment as usize]);
                copies.push((segment, order, None));
                verdict_inputs.push((segment, order));
                continue;
            }
            let open: Vec<usize> = (0..copies.len()).filter(|&i| copies[i].2.is_none()).collect();
            if open.is_empty() {
                continue;
            }
            let chosen = &mut copies[open[pick as usize % open.len()]];
            chosen.2 = Some(arrives);
            match arrives {
                true => {
                    received[chosen.0 as usize] = true;
                    truth.delivered(range(chosen.0), chosen.1);
                }
                false => truth.lost(range(chosen.0), chosen.1, 0),
            }
        }
        let spurious = verdict_inputs.iter().filter(|(segment, order)| {
            copies.iter().any(|copy| copy.0 == *segment && copy.1 < *order && copy.2 == Some(true))
        });
        assert_eq!(truth.spurious().retransmissions, spurious.count() as u64);
        if copies.iter().all(|copy| copy.2.is_some()) {
            assert!(!truth.is_undecided());
        }
        truth.begin_measurement();
        truth.acknowledged(40);
        assert!(truth.is_empty());
    }

    proptest! {
        #[test]
        fn verdicts_agree_with_hindsight(
            script in prop::collection::vec((0u64..100, any::<bool>(), any::<bool>()), 0..40)
        ) {
            play(script);
        }
    }
}
