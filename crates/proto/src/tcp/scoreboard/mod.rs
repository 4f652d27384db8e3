//! The segments that have been sent and not yet cumulatively acknowledged.
//!
//! Positions are 64-bit: the SYN stands at 0, the first byte of data at 1, the FIN after the last byte.

mod ends;
mod outstanding;

pub use outstanding::{Fate, Outstanding};

use super::stamps::Stamps;
use crate::prefetch::prefetch;
use crate::ring::Ring;
use airtcp_wire::{SackBlocks, Seq, Time};
use ends::Ends;
use outstanding::Kept;

/// How many segments beyond the last SACKed one are searched for a block's start, before the whole board is.
const NEAR: usize = 4;

/// Adjacent segments of one fate, each sent once and in this order; or a single segment that was resent.
#[derive(Clone, Copy)]
pub struct Run {
    /// Start and end of the first segment, and end of the last.
    pub start: u64,
    pub first_end: u64,
    pub end: u64,
    /// Last transmission of the first segment, and of the last.
    pub oldest_at: Time,
    pub newest_at: Time,
    pub fate: Fate,
    pub is_resent: bool,
    count: usize,
}

impl Run {
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// A call in the last place, which takes no registers from the usual case.
#[cold]
#[inline(never)]
fn push_growing(stamps: &mut Ring<Stamps>, last: Stamps) {
    stamps.push_back(last);
}

/// What ACKs with SACK blocks have reported.
#[derive(Debug, Default)]
struct Seen {
    /// One more than the number of the segment that was SACKed last: the next block most likely continues there.
    next: u64,
    /// End of the highest SACKed segment.
    high: u64,
    /// The last ACK's blocks. Segments that these cover are marked already.
    blocks: [(u64, u64); 4],
    /// The blocks as that ACK had them, if all of them are in `blocks`, and the position that the ACK acknowledged.
    told: SackBlocks,
    at: u64,
}

/// Segments that one ACK has acknowledged, each of them sent once.
#[derive(Clone, Copy)]
pub struct TakenOff {
    /// Start of the oldest segment and end of the newest.
    pub start: u64,
    pub end: u64,
    /// When these two were sent.
    pub oldest_at: Time,
    pub newest_at: Time,
}

/// The outstanding segments in sequence order, with totals that are always current. These are less than 2³¹ bytes, as no window is
/// larger than 2³⁰ (RFC 7323 §2.3). Fields that only losses need come first.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    /// One entry per segment, if the controller reads rate samples.
    stamps: Option<Box<Ring<Stamps>>>,
    /// What ACKs with SACK blocks have reported, if there were any.
    seen: Option<Box<Seen>>,
    /// No segment with a lower number is marked lost.
    next_lost: u64,
    sacked: u32,
    lost: u32,
    sacked_segments: u32,
    /// Outstanding segments that were sent more than once.
    resent_segments: u32,
    /// Segments that duplicate ACKs announce have left the pipe: Linux's stand-in for SACK.
    pub emulates_sack: bool,
    /// Bytes, in full segments, that duplicate ACKs have announced and no cumulative ACK has covered since.
    announced: u32,
    in_flight: u32,
    /// Segments ever taken off, which is the number of the first outstanding one.
    taken_off: u64,
    segments: Ring<Kept>,
    ends: Ends,
    /// SND.UNA, where the first segment begins.
    una: u64,
}

impl Scoreboard {
    /// SND.UNA
    #[inline(always)]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// With an empty board, an ACK up to `end` covers what was never on it.
    pub fn skip_to(&mut self, end: u64) {
        debug_assert!(self.is_empty());
        self.una = end;
        self.ends.restart();
    }

    /// Prefetches the segment that is acknowledged next, and the place of the next new one.
    #[inline]
    pub fn prefetch(&self) {
        [self.segments.front(), self.segments.back()].into_iter().flatten().for_each(prefetch);
    }

    /// Adds a new segment after all others. If stamps are kept, its own are to be [pushed](Scoreboard::push_stamps), too.
    #[inline(always)]
    pub fn push(&mut self, sent: Outstanding) {
        debug_assert_eq!(self.last().map_or(self.una, |last| last.end), sent.start);
        self.in_flight += sent.bytes() as u32;
        self.ends.push(sent.end, sent.bytes(), self.len());
        self.segments.push_back(Kept::new(&sent));
    }

    pub fn push_stamps(&mut self, stamps: Stamps) {
        match &mut self.stamps {
            Some(ring) if ring.is_full() => push_growing(ring, stamps),
            Some(ring) => ring.push_back(stamps),
            None => {}
        }
    }

    /// Keeps stamps from now on. Segments that are outstanding were sent before anything was delivered.
    pub fn keep_stamps(&mut self) {
        let mut stamps = Box::<Ring<_>>::default();
        self.segments.iter().for_each(|sent| stamps.push_back(Stamps::new(sent.sent_at())));
        self.stamps = Some(stamps);
    }

    /// Gives memory back if much more was outstanding before.
    pub fn shrink(&mut self) {
        self.segments.shrink();
        self.ends.shrink();
        self.stamps.iter_mut().for_each(|stamps| stamps.shrink());
    }

    #[inline]
    fn drop_first(&mut self, count: usize) {
        self.segments.drop_first(count);
        self.ends.drop_first(count);
        self.taken_off += count as u64;
        self.stamps.iter_mut().for_each(|stamps| stamps.drop_first(count));
    }

    /// The run that begins with the segment at `index` and ends at `limit` at most.
    #[inline(always)]
    fn run(&self, index: usize, limit: u64) -> Option<Run> {
        let first = self.segments.get(index)?;
        let (end, sent_at) = (self.ends.get(index), first.sent_at());
        if end > limit {
            return None;
        }
        let mut run = Run {
            start: self.start(index),
            first_end: end,
            end,
            oldest_at: sent_at,
            newest_at: sent_at,
            fate: first.fate(),
            is_resent: first.is_resent(),
            count: 1,
        };
        while !run.is_resent
            && run.end < limit
            && let Some(sent) = self.segments.get(index + run.count)
            && let end = self.ends.following(run.end, index + run.count)
            && end <= limit
            && sent.fate() == run.fate
            && !sent.is_resent()
        {
            (run.end, run.newest_at) = (end, sent.sent_at());
            run.count += 1;
        }
        Some(run)
    }

    /// Takes the segments below `ack` off the board, and passes each run and the stamps of its last segment to `each`. The
    /// rest of a segment that is acknowledged in part stays.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64, mut each: impl FnMut(&Run, Option<&Stamps>)) {
        while let Some(run) = self.run(0, ack) {
            each(&run, self.stamps(run.count - 1));
            self.drop_first(run.count);
            self.una = run.end;
            self.discount(run.fate, run.bytes());
            self.sacked_segments -= if run.fate == Fate::Sacked { run.count as u32 } else { 0 };
            self.resent_segments -= u32::from(run.is_resent);
        }
        if let Some(first) = self.segments.get(0).filter(|_| self.una < ack) {
            self.discount(first.fate(), ack - self.una);
            self.una = ack;
        }
    }

    /// [`acknowledge`](Scoreboard::acknowledge) if every outstanding segment [was sent once and is in
    /// flight](Scoreboard::is_plain). Calls `tell` only if stamps are kept. Returns `None`, with nothing changed, if `ack`
    /// lies within the first segment.
    #[inline(always)]
    pub fn acknowledge_plain(&mut self, ack: u64, tell: impl FnOnce(&TakenOff, &Stamps)) -> Option<TakenOff> {
        let oldest_at = self.oldest_at()?;
        // Most ACKs cover two segments or one (RFC 1122 §4.2.3.2).
        let (count, end) = match self.ends.drop_even(ack) {
            Some(count) => (count, ack),
            None => self.drop_ends(ack)?,
        };
        let last = if count == 1 { None } else { self.segments.get(count - 1) };
        let newest_at = last.map_or(oldest_at, |last| last.sent_at());
        self.segments.drop_first(count);
        let taken_off = TakenOff { start: self.una, end, oldest_at, newest_at };
        self.in_flight -= (ack - self.una) as u32;
        self.una = ack;
        self.taken_off += count as u64;
        if let Some(stamps) = &mut self.stamps {
            if let Some(last) = stamps.get(count - 1) {
                tell(&taken_off, last);
            }
            stamps.drop_first(count);
        }
        Some(taken_off)
    }

    /// Drops the ends of the segments that `ack` covers. Returns how many they are and the last end; `None` if it covers none.
    #[inline(never)]
    fn drop_ends(&mut self, ack: u64) -> Option<(usize, u64)> {
        let count = self.count_below(ack);
        let end = self.ends.get(count.checked_sub(1)?);
        self.ends.drop_first(count);
        Some((count, end))
    }

    #[inline]
    fn discount(&mut self, fate: Fate, bytes: u64) {
        let bytes = bytes as u32;
        match fate {
            Fate::InFlight => self.in_flight -= bytes,
            Fate::Lost => self.lost -= bytes,
            Fate::Sacked => self.sacked -= bytes,
        }
    }

    /// The first block of an ACK of `at`, if only its right edge differs from the last ACK's blocks. Then
    /// [`sack`](Scoreboard::sack) needs no other block.
    #[inline(always)]
    pub fn grown_block(&mut self, at: u64, sack: &SackBlocks) -> Option<(Seq, Seq)> {
        let seen = self.seen.as_mut().filter(|seen| seen.at == at)?;
        let grown = sack.grown(&seen.told)?;
        seen.told = *sack;
        Some(grown)
    }

    /// Notes the blocks of an ACK of `at` if [`sack`](Scoreboard::sack) is about to get all of them; `None` if it is not.
    pub fn note_told(&mut self, at: u64, sack: Option<&SackBlocks>) {
        let seen = self.seen.get_or_insert_default();
        (seen.told, seen.at) = (sack.copied().unwrap_or_default(), at);
    }

    /// Marks the segments that `blocks` (at most four) cover SACKed, and passes each newly SACKed run to `each`, with the
    /// stamps of its last segment.
    pub fn sack(&mut self, blocks: &[(u64, u64)], mut each: impl FnMut(&Run, Option<&Stamps>)) {
        let told = &mut self.seen.get_or_insert_default().blocks;
        match growth(told, blocks) {
            Some(range) if range.2 < range.1 => self.sack_range(range, &mut each),
            Some(_) => {}
            None => self.sack_others(blocks, &mut each),
        }
    }

    /// [`sack`](Scoreboard::sack) if more than the first block may have changed.
    fn sack_others(&mut self, blocks: &[(u64, u64)], each: &mut impl FnMut(&Run, Option<&Stamps>)) {
        let told = &mut self.seen.get_or_insert_default().blocks;
        let seen = *told;
        told.iter_mut().zip(blocks).for_each(|(slot, block)| *slot = *block);
        let known = |left| seen.iter().find(|(l, r)| (*l..=*r).contains(&left)).map_or(left, |(_, r)| *r);
        let told_anew = blocks.iter().zip(seen).filter(|(block, slot)| *block != slot);
        let mut news = told_anew
            .map(|(&(left, right), _)| (left, right, known(left)))
            .filter(|(_, right, known)| known < right);
        let Some(first) = news.next() else { return };
        match news.next() {
            None => self.sack_range(first, each),
            Some(second) => {
                // Older blocks follow newer ones on the wire. After a lost ACK several are news, and that is no reordering:
                // RFC 8985 §6.2 step 3 takes them in ascending order.
                let mut all: Vec<_> = [first, second].into_iter().chain(news).collect();
                all.sort_unstable();
                all.into_iter().for_each(|range| self.sack_range(range, each));
            }
        }
    }

    /// Marks the segments that lie within left..right and end beyond `from`.
    fn sack_range(
        &mut self,
        (left, right, from): (u64, u64, u64),
        each: &mut impl FnMut(&Run, Option<&Stamps>),
    ) {
        let mut index = self.index_above(from);
        // A segment that begins before the block has not arrived entirely.
        index += usize::from(self.get(index).is_some_and(|sent| sent.start < left));
        let (mut end, mut high) = (left, 0);
        while end < right
            && let Some(run) = self.run(index, right)
        {
            let places = index..index + run.count;
            (index, end) = (places.end, run.end);
            if run.fate == Fate::Sacked {
                continue;
            }
            each(&run, self.stamps(index - 1));
            for place in places {
                self.set_fate(place, Fate::Sacked);
            }
            self.discount(run.fate, run.bytes());
            self.sacked += run.bytes() as u32;
            self.sacked_segments += run.count as u32;
            high = run.end;
        }
        let next = self.number(index);
        let seen = self.seen.get_or_insert_default();
        (seen.next, seen.high) = (next, seen.high.max(high));
    }

    /// Index of the first segment that ends beyond `position`.
    fn index_above(&self, position: u64) -> usize {
        let next = self.index_of(self.seen.as_ref().map_or(0, |seen| seen.next));
        let covers = |sent: Outstanding| sent.start <= position && position < sent.end;
        let is_there = |index: &usize| self.get(*index).is_some_and(covers);
        (next..next + NEAR).find(is_there).unwrap_or_else(|| self.count_below(position))
    }

    /// A duplicate ACK without SACK announces that a segment of `mss` bytes has arrived, but never the hole itself. Returns
    /// the newly announced bytes.
    pub fn announce(&mut self, mss: u64) -> u64 {
        let holes = self.lost().div_ceil(mss).max(1);
        let limit = ((self.len() as u64).saturating_sub(holes) * mss).min(u32::MAX.into());
        let news = mss.min(limit.saturating_sub(self.announced()));
        self.announced += news as u32;
        news
    }

    /// A cumulative ACK covers `acked` bytes, among them a hole of one segment. Returns how many of them had been announced.
    pub fn tell_announced(&mut self, acked: u64, mss: u64) -> u64 {
        let known = self.announced().min((acked.div_ceil(mss).max(1) - 1) * mss);
        self.announced -= known as u32;
        known
    }

    pub fn forget_announced(&mut self) {
        self.announced = 0;
    }

    pub fn announced(&self) -> u64 {
        self.announced.into()
    }

    /// The number of the segment at `index`. Segments are numbered in the order in which they were first sent.
    #[inline]
    pub fn number(&self, index: usize) -> u64 {
        self.taken_off + index as u64
    }

    /// The number of the last segment.
    #[inline]
    pub fn last_number(&self) -> u64 {
        self.number(self.len()) - 1
    }

    /// Index of the segment with this number, or of the first one if that has been taken off.
    #[inline]
    pub fn index_of(&self, number: u64) -> usize {
        number.saturating_sub(self.taken_off) as usize
    }

    /// Index of the segment that starts at or after `position`.
    #[inline]
    pub fn index_at(&self, position: u64) -> usize {
        match position.checked_sub(1) {
            Some(before) if before >= self.una => (self.count_below(before) + 1).min(self.len()),
            _ => 0,
        }
    }

    /// How many segments end at `position` or before.
    fn count_below(&self, position: u64) -> usize {
        self.ends.count_below(position, self.len())
    }

    #[inline(always)]
    fn stamps(&self, index: usize) -> Option<&Stamps> {
        self.stamps.as_ref()?.get(index)
    }

    /// The position at which the segment at `index` begins.
    #[inline(always)]
    fn start(&self, index: usize) -> u64 {
        index.checked_sub(1).map_or(self.una, |before| self.ends.get(before))
    }

    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<Outstanding> {
        let sent = self.segments.get(index)?;
        Some(Outstanding {
            start: self.start(index),
            end: self.ends.get(index),
            sent_at: sent.sent_at(),
            fate: sent.fate(),
            is_resent: sent.is_resent(),
            is_pushed: sent.is_pushed(),
        })
    }

    pub fn first(&self) -> Option<Outstanding> {
        self.get(0)
    }

    /// When the first segment was sent last.
    #[inline(always)]
    pub fn oldest_at(&self) -> Option<Time> {
        self.segments.front().map(|first| first.sent_at())
    }

    #[inline(always)]
    fn set_fate(&mut self, index: usize, fate: Fate) {
        self.segments.get_mut(index).into_iter().for_each(|sent| sent.set_fate(fate));
    }

    pub fn last(&self) -> Option<Outstanding> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Marks the segment at `index` lost if it is in flight. Returns its bytes, 0 if it was not in flight.
    pub fn mark_lost(&mut self, index: usize) -> u64 {
        let Some(sent) = self.get(index).filter(|sent| sent.fate == Fate::InFlight) else { return 0 };
        self.set_fate(index, Fate::Lost);
        let number = self.number(index);
        self.next_lost = if self.lost == 0 { number } else { self.next_lost.min(number) };
        self.in_flight -= sent.bytes() as u32;
        self.lost += sent.bytes() as u32;
        sent.bytes()
    }

    /// Marks everything in flight lost from the segment at `index` up to `position`. Returns how many bytes that were.
    pub fn mark_lost_between(&mut self, index: usize, position: u64) -> u64 {
        (index..self.index_at(position)).map(|index| self.mark_lost(index)).sum()
    }

    /// Marks lost segments that have not been resent as in flight again.
    pub fn unmark_lost(&mut self) {
        self.fly_again(Fate::Lost);
        self.in_flight += self.lost;
        self.lost = 0;
    }

    /// Segments with this fate are in flight again.
    fn fly_again(&mut self, fate: Fate) {
        for index in 0..self.len() {
            if self.segments.get(index).is_some_and(|sent| sent.fate() == fate) {
                self.set_fate(index, Fate::InFlight);
            }
        }
    }

    /// Takes back all that SACK has reported: what was SACKed is in flight again.
    pub fn forget_sacked(&mut self) {
        self.fly_again(Fate::Sacked);
        self.in_flight += self.sacked;
        (self.sacked, self.sacked_segments, self.seen) = (0, 0, None);
    }

    /// The index of the first lost segment, which is resent next.
    #[inline]
    pub fn first_lost(&mut self) -> Option<usize> {
        if self.lost == 0 { None } else { self.find_first_lost() }
    }

    fn find_first_lost(&mut self) -> Option<usize> {
        let mut index = self.index_of(self.next_lost);
        while self.segments.get(index)?.fate() != Fate::Lost {
            index += 1;
        }
        self.next_lost = self.number(index);
        Some(index)
    }

    /// The segment at `index` is resent and in flight again. `stamps` are its new ones, if stamps are kept.
    pub fn resend(&mut self, now: Time, index: usize, stamps: Option<Stamps>) {
        let Some(sent) = self.get(index) else { return };
        let resent = Outstanding { sent_at: now, fate: Fate::InFlight, is_resent: true, ..sent };
        self.segments.get_mut(index).into_iter().for_each(|place| *place = Kept::new(&resent));
        self.resent_segments += u32::from(!sent.is_resent);
        let (fate, bytes) = (sent.fate, sent.bytes());
        self.discount(fate, bytes);
        self.in_flight += bytes as u32;
        if let (Some(ring), Some(stamps)) = (&mut self.stamps, stamps) {
            ring.get_mut(index).into_iter().for_each(|place| *place = stamps);
        }
    }

    /// Bytes in flight: RFC 6675's pipe.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        match self.announced {
            0 => self.in_flight.into(),
            _ => self.in_flight_before(0),
        }
    }

    /// Bytes in flight before the last `bytes` were sent.
    pub fn in_flight_before(&self, bytes: u64) -> u64 {
        let announced = if self.emulates_sack { self.announced() } else { 0 };
        (u64::from(self.in_flight) - bytes).saturating_sub(announced)
    }

    #[inline]
    pub fn lost(&self) -> u64 {
        self.lost.into()
    }

    #[inline]
    pub fn sacked(&self) -> u64 {
        self.sacked.into()
    }

    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    pub fn high_sacked(&self) -> u64 {
        self.seen.as_ref().map_or(0, |seen| seen.high)
    }

    /// Returns whether every outstanding segment was sent once and is in flight, and duplicate ACKs have announced nothing.
    pub fn is_plain(&self) -> bool {
        self.lost == 0 && self.sacked == 0 && self.resent_segments == 0 && self.announced == 0
    }

    pub fn len(&self) -> usize {
        self.segments.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cfg(test)]
    fn check(&self) {
        let segments = || (0..self.len()).filter_map(|index| self.get(index));
        let sum = |fate| segments().filter(|sent| sent.fate == fate).map(|sent| sent.bytes()).sum::<u64>();
        assert_eq!(
            (sum(Fate::InFlight), sum(Fate::Lost), sum(Fate::Sacked)),
            (self.in_flight.into(), self.lost(), self.sacked())
        );
        let sacked = segments().filter(|sent| sent.fate == Fate::Sacked).count();
        assert_eq!(sacked as u32, self.sacked_segments);
        let resent = segments().filter(|sent| sent.is_resent).count();
        assert_eq!(resent as u32, self.resent_segments);
    }
}

/// Mostly the first block has grown, and the others are as before. If so, notes that, and returns the block and its right
/// edge before. `None` otherwise.
#[inline]
fn growth(told: &mut [(u64, u64)], blocks: &[(u64, u64)]) -> Option<(u64, u64, u64)> {
    let ([(left, right), others @ ..], [grown, known @ ..]) = (blocks, told) else { return None };
    let has_grown = *left == grown.0 && known.starts_with(others);
    has_grown.then(|| (*left, *right, std::mem::replace(&mut grown.1, *right)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn push(board: &mut Scoreboard, start: u64, end: u64) {
        if board.stamps.is_none() {
            board.keep_stamps();
        }
        board.push(Outstanding::new(Time::ZERO, start, end, false));
        board.push_stamps(Stamps::new(Time(start)));
    }

    #[derive(Clone, Debug)]
    enum Op {
        Send(u64),
        Ack(u64),
        Sack(u64, u64),
        Lose(u64),
        Resend,
        LoseAll,
        Unmark,
        Renege,
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            3 => (1u64..4).prop_map(Op::Send),
            2 => (0u64..6).prop_map(Op::Ack),
            3 => (0u64..20, 1u64..8).prop_map(|(l, n)| Op::Sack(l, n)),
            2 => (0u64..20).prop_map(Op::Lose),
            2 => Just(Op::Resend),
            1 => Just(Op::LoseAll),
            1 => Just(Op::Unmark),
            1 => Just(Op::Renege),
        ]
    }

    /// draft-ietf-ccwg-bbr §4.1.3.5.1: what duplicate ACKs announce counts as delivered when they arrive, and only once.
    #[test]
    fn duplicate_acks_announce_deliveries_that_the_cumulative_ack_repeats() {
        let mut board = Scoreboard { emulates_sack: true, ..Scoreboard::default() };
        (0..7).for_each(|n| push(&mut board, 10 * n, 10 * n + 10));
        assert_eq!((0..3).map(|_| board.announce(10)).sum::<u64>(), 30);
        assert_eq!(board.in_flight(), 40);
        board.acknowledge(40, |_, _| ());
        assert_eq!((board.tell_announced(40, 10), board.in_flight()), (30, 30));
        board.acknowledge(60, |_, _| ());
        assert_eq!(board.tell_announced(20, 10), 0, "nothing is left of the announcement");
    }

    proptest! {
        /// Where nothing was lost, `acknowledge_plain` does what `acknowledge` does, for segments of any length.
        #[test]
        fn a_plain_ack_takes_off_the_same(
            lengths in prop::collection::vec(1u64..4, 1..40),
            acks in prop::collection::vec(1u64..9, 1..30),
        ) {
            let (mut plain, mut general) = (Scoreboard::default(), Scoreboard::default());
            for length in lengths {
                for board in [&mut plain, &mut general] {
                    let start = board.last().map_or(0, |last| last.end);
                    push(board, start, start + length);
                }
            }
            for acked in acks {
                let ack = (plain.una() + acked).min(plain.last().map_or(plain.una(), |last| last.end));
                let mut expected = None;
                general.acknowledge(ack, |run, stamps| {
                    expected = Some((run.start, run.end, run.newest_at, format!("{stamps:?}")));
                });
                let mut newest = String::new();
                let taken = plain.acknowledge_plain(ack, |_, stamps| newest = format!("{:?}", Some(stamps)));
                prop_assert_eq!(taken.map(|taken| (taken.start, taken.end, taken.newest_at, newest)), expected);
                if taken.is_none() {
                    plain.acknowledge(ack, |_, _| ());
                }
                let state = |board: &Scoreboard| (board.una(), board.len(), board.in_flight(), board.number(0));
                prop_assert_eq!(state(&plain), state(&general));
            }
        }
    }

    /// Duplicates never announce the hole itself.
    #[test]
    fn one_segment_is_missing_whatever_is_announced() {
        let mut board = Scoreboard::default();
        (0..3).for_each(|n| push(&mut board, 10 * n, 10 * n + 10));
        assert_eq!((0..5).map(|_| board.announce(10)).sum::<u64>(), 20);
    }

    proptest! {
        /// Totals agree with the segments after any sequence of operations, and SACKed segments are never resent.
        #[test]
        fn totals_agree(ops in prop::collection::vec(op(), 1..120)) {
            let mut board = Scoreboard::default();
            let (mut una, mut nxt) = (0, 0);
            let mut blocks: Vec<(u64, u64)> = Vec::new();
            for op in ops {
                match op {
                    Op::Send(n) => { push(&mut board, nxt, nxt + n); nxt += n; }
                    Op::Ack(n) => {
                        let mut told = una;
                        una = (una + n).min(nxt);
                        board.acknowledge(una, |run, _| {
                            assert_eq!(run.start, told, "runs are told in a row");
                            told = run.end;
                        });
                        prop_assert!(told <= una);
                    }
                    Op::Sack(l, n) => {
                        let block = ((una + l).min(nxt), (una + l + n).min(nxt));
                        // As on the wire: the newest block comes first, and acknowledged ones are reported no more.
                        blocks.retain(|old| old.0 > una && *old != block);
                        blocks.insert(0, block);
                        blocks.truncate(3);
                        let (before, mut news) = (board.sacked(), 0);
                        board.sack(&blocks, |run, _| {
                            assert_ne!(run.fate, Fate::Sacked);
                            news += run.bytes();
                        });
                        prop_assert_eq!(board.sacked(), before + news);
                    }
                    Op::Lose(at) => { board.mark_lost(at as usize); }
                    Op::Resend => if let Some(index) = board.first_lost() {
                        prop_assert!((0..index).all(|i| board.get(i).unwrap().fate != Fate::Lost));
                        board.resend(Time::ZERO, index, None);
                    },
                    Op::LoseAll => { board.mark_lost_between(0, nxt); prop_assert_eq!(board.in_flight(), 0); }
                    Op::Unmark => board.unmark_lost(),
                    Op::Renege => { board.forget_sacked(); prop_assert_eq!(board.sacked(), 0); }
                }
                board.check();
                prop_assert_eq!(board.in_flight() + board.lost() + board.sacked(), nxt - una);
            }
        }
    }
}
