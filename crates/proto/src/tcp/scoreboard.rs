//! What has been sent and not yet cumulatively acknowledged, segment by segment.
//!
//! Positions are 64-bit: the SYN stands at 0, the first byte of data at 1, the FIN after the last byte.

use super::rate::Stamps;
use crate::prefetch::prefetch;
use crate::ring::Ring;
use airtcp_wire::{SackBlocks, Seq, Time};
use std::mem::offset_of;

/// Behind so many segments that are missing, a block is looked for where the last one ended.
const NEAR: usize = 4;

/// What the sender believes of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fate {
    /// On its way; counts in the pipe.
    #[default]
    InFlight,
    /// Deemed lost, waiting to be resent.
    Lost,
    /// Arrived, by SACK.
    Sacked,
}

/// One outstanding segment. It takes little room, for there are many.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    pub end: u64,
    /// Last transmission.
    pub sent_at: Time,
    length: u32,
    pub fate: Fate,
    is_resent: bool,
    /// Carries PSH.
    pub is_pushed: bool,
}

impl Sent {
    /// A segment of the stream that leaves for the first time.
    #[inline]
    pub fn new(now: Time, start: u64, end: u64, is_pushed: bool) -> Sent {
        let length = (end - start) as u32;
        Sent { end, sent_at: now, length, fate: Fate::InFlight, is_pushed, is_resent: false }
    }

    #[inline]
    pub fn start(&self) -> u64 {
        self.end - self.bytes()
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        u64::from(self.length)
    }

    #[inline]
    pub fn is_resent(&self) -> bool {
        self.is_resent
    }

    /// What lies below `ack` is acknowledged. Returns how many bytes that are.
    fn cut(&mut self, ack: u64) -> u64 {
        let bytes = ack - self.start();
        self.length -= bytes as u32;
        bytes
    }
}

/// Adjacent segments that are alike, and were sent in this order: of one fate and each sent once, or else a single one.
#[derive(Clone, Copy)]
pub struct Run {
    /// Where the first one begins and ends, and where the last one does.
    pub start: u64,
    pub first_end: u64,
    pub end: u64,
    /// When these two were sent last.
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

/// What the last ACK with SACK blocks has told.
#[derive(Debug, Default)]
struct Seen {
    /// What they cover is already marked.
    blocks: [(u64, u64); 4],
    /// As they stood in the ACK, if all of them are among `blocks`, and where that stood.
    told: SackBlocks,
    at: u64,
}

/// Segments that one ACK has acknowledged, each of them sent once.
#[derive(Clone, Copy)]
pub struct TakenOff {
    /// Where the oldest one began and the newest one ended.
    pub start: u64,
    pub end: u64,
    /// When these two were sent.
    pub oldest_at: Time,
    pub newest_at: Time,
}

/// The outstanding segments in sequence order, with totals that are always up to date. What only losses need comes first.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    /// One for each segment if the controller reads rate samples, else none.
    stamps: Ring<Stamps>,
    /// Of the last ACK, if any had blocks.
    seen: Option<Box<Seen>>,
    /// No lost segment has a lower number.
    next_lost: u64,
    /// The number behind the segment that was SACKed last: most likely the next block goes on there.
    next_sacked: u64,
    /// End of the highest SACKed segment.
    high_sacked: u64,
    sacked: u64,
    lost: u64,
    sacked_segments: u32,
    /// Of those that are out, how many were sent more than once.
    resent_segments: u32,
    /// What duplicate ACKs announce has left the pipe: Linux's stand-in for SACK.
    pub emulates_sack: bool,
    /// Bytes, in full segments, that duplicate ACKs have announced without saying which, and no cumulative ACK has told since.
    announced: u64,
    in_flight: u64,
    /// How many segments have been taken off: the number of the first one that is out.
    taken_off: u64,
    segments: Ring<Sent>,
}

impl Scoreboard {
    /// Its bytes from here on are touched where nothing is lost.
    pub const TOUCHED: usize = offset_of!(Scoreboard, emulates_sack);

    /// Fetches ahead the segment that is acknowledged next, and the place where one is added.
    #[inline]
    pub fn prefetch(&self) {
        let ends = [self.segments.front(), self.segments.back()];
        ends.into_iter().flatten().for_each(prefetch);
    }

    #[inline]
    pub fn push(&mut self, sent: Sent, stamps: Option<Stamps>) {
        debug_assert!(self.segments.back().is_none_or(|last| last.end == sent.start()));
        self.in_flight += sent.bytes();
        self.segments.push_back(sent);
        if let Some(stamps) = stamps {
            self.stamps.push_back(stamps);
        }
    }

    /// Stamps are kept from now on: what is out was sent before anything was delivered.
    pub fn keep_stamps(&mut self) {
        let unread = |sent: &Sent| Stamps::new(sent.sent_at);
        self.stamps = Ring::default();
        self.segments.iter().map(unread).for_each(|stamps| self.stamps.push_back(stamps));
    }

    /// Much was out that is acknowledged by now: its room is given back.
    pub fn shrink(&mut self) {
        self.segments.shrink();
        self.stamps.shrink();
    }

    #[inline]
    fn drop_first(&mut self, count: usize) {
        self.segments.drop_first(count);
        self.taken_off += count as u64;
        if !self.stamps.is_empty() {
            self.stamps.drop_first(count);
        }
    }

    /// The run that begins with the segment at `index`, as far as it lies below `limit`.
    #[inline]
    fn run(&self, index: usize, limit: u64) -> Option<Run> {
        let first = self.segments.get(index).filter(|sent| sent.end <= limit)?;
        let &Sent { end, sent_at, fate, is_resent, .. } = first;
        let mut run = Run {
            start: first.start(),
            first_end: end,
            end,
            oldest_at: sent_at,
            newest_at: sent_at,
            fate,
            is_resent,
            count: 1,
        };
        let is_alike = |sent: &&Sent| sent.end <= limit && sent.fate == fate && !sent.is_resent;
        while !is_resent
            && run.end < limit
            && let Some(sent) = self.segments.get(index + run.count).filter(is_alike)
        {
            (run.end, run.newest_at) = (sent.end, sent.sent_at);
            run.count += 1;
        }
        Some(run)
    }

    /// Takes what is below `ack` off the board, run by run, telling `each`, with the stamps of its last segment. A segment that
    /// is only partly acknowledged stays with its rest.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64, mut each: impl FnMut(&Run, Option<&Stamps>)) {
        while let Some(run) = self.run(0, ack) {
            each(&run, self.stamps.get(run.count - 1));
            self.drop_first(run.count);
            self.discount(run.fate, run.bytes());
            self.sacked_segments -= if run.fate == Fate::Sacked { run.count as u32 } else { 0 };
            self.resent_segments -= u32::from(run.is_resent);
        }
        if let Some(first) = self.segments.front_mut().filter(|first| first.start() < ack) {
            let (fate, bytes) = (first.fate, first.cut(ack));
            self.discount(fate, bytes);
        }
    }

    /// The same where everything that is out [was sent once and is in flight](Scoreboard::is_plain), telling only what has
    /// stamps. Returns what was taken off; `None`: `ack` lies within the first segment, and nothing has changed.
    #[inline(always)]
    pub fn acknowledge_plain(&mut self, ack: u64, tell: impl FnOnce(&TakenOff, &Stamps)) -> Option<TakenOff> {
        let first = self.segments.front()?;
        let (start, oldest_at) = (first.start(), first.sent_at);
        let (mut end, mut newest_at) = (start, oldest_at);
        let count = self.segments.drop_while(|sent| {
            let is_below = sent.end <= ack;
            if is_below {
                (end, newest_at) = (sent.end, sent.sent_at);
            }
            is_below
        });
        if count == 0 {
            return None;
        }
        let taken_off = TakenOff { start, end, oldest_at, newest_at };
        self.in_flight -= ack - start;
        self.taken_off += count as u64;
        if let Some(stamps) = self.stamps.get(count - 1) {
            tell(&taken_off, stamps);
            self.stamps.drop_first(count);
        }
        if ack > end {
            self.segments.front_mut().into_iter().for_each(|next| _ = next.cut(ack));
        }
        Some(taken_off)
    }

    #[inline]
    fn discount(&mut self, fate: Fate, bytes: u64) {
        match fate {
            Fate::InFlight => self.in_flight -= bytes,
            Fate::Lost => self.lost -= bytes,
            Fate::Sacked => self.sacked -= bytes,
        }
    }

    /// If the blocks of an ACK at that position are those of the last one, but that the first one may reach further: that one. For
    /// [`sack`](Scoreboard::sack) it stands for all of them.
    #[inline(always)]
    pub fn grown_block(&mut self, at: u64, sack: &SackBlocks) -> Option<(Seq, Seq)> {
        let seen = self.seen.as_mut().filter(|seen| seen.at == at)?;
        let grown = sack.grown(&seen.told)?;
        seen.told = *sack;
        Some(grown)
    }

    /// [`sack`](Scoreboard::sack) will be told all of these blocks of an ACK at that position; `None`: not all.
    pub fn note_told(&mut self, at: u64, sack: Option<&SackBlocks>) {
        let seen = self.seen.get_or_insert_default();
        (seen.told, seen.at) = (sack.copied().unwrap_or_default(), at);
    }

    /// Marks what `blocks`, four at most, cover as SACKed, telling `each` of every run for which that is new, with the stamps of
    /// its last segment.
    pub fn sack(&mut self, blocks: &[(u64, u64)], mut each: impl FnMut(&Run, Option<&Stamps>)) {
        let told = &mut self.seen.get_or_insert_default().blocks;
        match growth(told, blocks) {
            Some(range) if range.2 < range.1 => self.sack_range(range, &mut each),
            Some(_) => {}
            None => self.sack_others(blocks, &mut each),
        }
    }

    /// The same where more than one block may be news, or another than the first.
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
        // Of a segment that begins before the block, not all has arrived.
        index += usize::from(self.segments.get(index).is_some_and(|sent| sent.start() < left));
        let mut end = left;
        while end < right
            && let Some(run) = self.run(index, right)
        {
            let places = index..index + run.count;
            (index, end) = (places.end, run.end);
            if run.fate == Fate::Sacked {
                continue;
            }
            each(&run, self.stamps.get(index - 1));
            for place in places {
                if let Some(sent) = self.segments.get_mut(place) {
                    sent.fate = Fate::Sacked;
                }
            }
            self.discount(run.fate, run.bytes());
            self.sacked += run.bytes();
            self.sacked_segments += run.count as u32;
            self.high_sacked = self.high_sacked.max(run.end);
        }
        self.next_sacked = self.number(index);
    }

    /// Index of the first segment that ends beyond `position`.
    fn index_above(&self, position: u64) -> usize {
        let next = self.index_of(self.next_sacked);
        let covers = |sent: &Sent| sent.start() <= position && position < sent.end;
        let is_there = |index: &usize| self.segments.get(*index).is_some_and(covers);
        (next..next + NEAR)
            .find(is_there)
            .unwrap_or_else(|| self.segments.partition_point(|sent| sent.end <= position))
    }

    /// A duplicate ACK without SACK announces a segment of `mss` bytes, of those that are out beside the hole. Returns the
    /// bytes that are news.
    pub fn announce(&mut self, mss: u64) -> u64 {
        let holes = self.lost.div_ceil(mss).max(1);
        let limit = (self.segments.len() as u64).saturating_sub(holes) * mss;
        let news = mss.min(limit.saturating_sub(self.announced));
        self.announced += news;
        news
    }

    /// A cumulative ACK of `acked` bytes over a hole of one segment: returns how many of them were announced before.
    pub fn tell_announced(&mut self, acked: u64, mss: u64) -> u64 {
        let known = self.announced.min((acked.div_ceil(mss).max(1) - 1) * mss);
        self.announced -= known;
        known
    }

    pub fn forget_announced(&mut self) {
        self.announced = 0;
    }

    pub fn announced(&self) -> u64 {
        self.announced
    }

    /// Each segment has a number, in the order in which they were first sent.
    #[inline]
    pub fn number(&self, index: usize) -> u64 {
        self.taken_off + index as u64
    }

    /// That of the last one.
    #[inline]
    pub fn last_number(&self) -> u64 {
        self.number(self.segments.len()) - 1
    }

    /// Index of the segment with this number, or of the first one if that has been taken off.
    #[inline]
    pub fn index_of(&self, number: u64) -> usize {
        number.saturating_sub(self.taken_off) as usize
    }

    /// Index of the segment that starts at or after `position`.
    #[inline]
    pub fn index_at(&self, position: u64) -> usize {
        self.segments.partition_point(|sent| sent.start() < position)
    }

    #[inline]
    pub fn get(&self, index: usize) -> Option<&Sent> {
        self.segments.get(index)
    }

    pub fn first(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub fn last(&self) -> Option<&Sent> {
        self.segments.back()
    }

    /// Deems a segment in flight lost; others are left alone. Returns its bytes, 0 if it was not in flight.
    pub fn mark_lost(&mut self, index: usize) -> u64 {
        let Some(sent) = self.segments.get_mut(index).filter(|sent| sent.fate == Fate::InFlight) else {
            return 0;
        };
        sent.fate = Fate::Lost;
        let bytes = sent.bytes();
        let number = self.taken_off + index as u64;
        self.next_lost = if self.lost == 0 { number } else { self.next_lost.min(number) };
        self.in_flight -= bytes;
        self.lost += bytes;
        bytes
    }

    /// Deems everything in flight from the segment at `index` up to `position` lost; returns how many bytes that were.
    pub fn mark_lost_between(&mut self, index: usize, position: u64) -> u64 {
        (index..self.index_at(position)).map(|index| self.mark_lost(index)).sum()
    }

    /// Takes back every verdict of loss that has not led to a retransmission.
    pub fn unmark_lost(&mut self) {
        self.segments.update(|sent| {
            if sent.fate == Fate::Lost {
                sent.fate = Fate::InFlight;
            }
        });
        self.in_flight += self.lost;
        self.lost = 0;
    }

    /// The first lost segment: what is resent next.
    #[inline]
    pub fn first_lost(&mut self) -> Option<usize> {
        if self.lost == 0 { None } else { self.find_first_lost() }
    }

    fn find_first_lost(&mut self) -> Option<usize> {
        let mut index = self.index_of(self.next_lost);
        while self.segments.get(index)?.fate != Fate::Lost {
            index += 1;
        }
        self.next_lost = self.number(index);
        Some(index)
    }

    /// The segment at `index` is resent: it is in flight again. At what time, and with which stamps.
    pub fn resend(&mut self, now: Time, index: usize, stamps: Option<Stamps>) {
        let Some(sent) = self.segments.get_mut(index) else { return };
        let (fate, bytes) = (sent.fate, sent.bytes());
        self.resent_segments += u32::from(!sent.is_resent());
        sent.fate = Fate::InFlight;
        sent.is_resent = true;
        sent.sent_at = now;
        self.discount(fate, bytes);
        self.in_flight += bytes;
        if let (Some(place), Some(stamps)) = (self.stamps.get_mut(index), stamps) {
            *place = stamps;
        }
    }

    /// Bytes in flight: RFC 6675's pipe.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        match self.announced {
            0 => self.in_flight,
            announced if self.emulates_sack => self.in_flight.saturating_sub(announced),
            _ => self.in_flight,
        }
    }

    #[inline]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    #[inline]
    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    pub fn high_sacked(&self) -> u64 {
        self.high_sacked
    }

    /// Is everything that is out on its way for the first time, as far as is known?
    pub fn is_plain(&self) -> bool {
        self.lost == 0 && self.sacked == 0 && self.resent_segments == 0 && self.announced == 0
    }

    pub fn len(&self) -> usize {
        self.segments.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    #[cfg(test)]
    fn check(&self) {
        let sum = |fate| self.segments.iter().filter(|sent| sent.fate == fate).map(Sent::bytes).sum::<u64>();
        assert_eq!(
            (sum(Fate::InFlight), sum(Fate::Lost), sum(Fate::Sacked)),
            (self.in_flight, self.lost, self.sacked)
        );
        let sacked = self.segments.iter().filter(|sent| sent.fate == Fate::Sacked).count();
        assert_eq!(sacked as u32, self.sacked_segments);
        let resent = self.segments.iter().filter(|sent| sent.is_resent()).count();
        assert_eq!(resent as u32, self.resent_segments);
    }
}

/// Most often the first block has grown, and the others are what was told before: then what is told now, which is noted, and up to
/// where that was known.
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
        board.push(Sent::new(Time::ZERO, start, end, false), Some(Stamps::new(Time(start))));
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
        ]
    }

    /// draft-ietf-ccwg-bbr §4.1.3.5.1: what duplicate ACKs announce is delivered when they come, and counts once.
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

    /// Duplicates never announce the hole itself.
    #[test]
    fn one_segment_is_missing_whatever_is_announced() {
        let mut board = Scoreboard::default();
        (0..3).for_each(|n| push(&mut board, 10 * n, 10 * n + 10));
        assert_eq!((0..5).map(|_| board.announce(10)).sum::<u64>(), 20);
    }

    proptest! {
        /// Totals agree with the segments after any sequence of operations, and what is SACKed is never resent.
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
                        // As on the wire: the newest first, and what an ACK has covered is reported no more.
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
                }
                board.check();
                prop_assert_eq!(board.in_flight() + board.lost() + board.sacked(), nxt - una);
            }
        }
    }
}
