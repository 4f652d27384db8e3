//! Text that most often comes: it begins at RCV.NXT and changes nothing but that and what is to be acknowledged. And what a
//! receiver's rest needs to know.
//!
//! Invariant: text below the bound [`expected`](Receiver::is_expected) is taken as [`Receiver::handle`] takes it, without the steps
//! that would have no effect. Doors: [`Receiver::take_text`], [`Receiver::take_next_text`]. Only the connection's shortcuts call
//! them, so nothing stands in for this folder.

use super::{Acceptability, Receiver, RecentTimestamp};
use airtcp_wire::{Ecn, Header, Seq, Time, Timestamps};

impl Receiver {
    /// RCV.NXT
    #[inline(always)]
    pub fn rcv_nxt(&self) -> Seq {
        self.irs.at(self.reassembly.next())
    }

    /// Returns whether the segment begins at RCV.NXT and passes PAWS.
    #[inline(always)]
    pub fn is_next(&self, now: Time, segment: &Header) -> bool {
        segment.seq == self.rcv_nxt() && !self.is_old_timestamp(now, segment)
    }

    /// [`handle`](Receiver::handle) for text without FIN while the stream's end is unknown. `None`: the segment is not
    /// acceptable, and nothing has changed.
    #[inline(always)]
    pub fn take_text(&mut self, now: Time, segment: &Header, ecn: Ecn) -> Option<bool> {
        let is_next = segment.seq == self.irs.at(self.reassembly.next());
        if !is_next || !self.is_expected(segment) || ecn == Ecn::Ce {
            return self.take_other_text(now, *segment, ecn);
        }
        if let Some(ts) = segment.timestamps() {
            if self.recent.is_after(now, ts) {
                return None;
            }
            self.note_round_trip(now, ts);
        }
        // Asked only now, because the end of a round trip may change what the ACK policy expects.
        match self.acks.is_expected(now) {
            true => self.take_expected_text(now, segment),
            false => self.take_quick_text(now, *segment),
        }
        Some(false)
    }

    /// [`take_text`](Receiver::take_text) for text that follows such text in one burst, with the same timestamp. Returns
    /// whether the text was taken; if not, nothing has changed.
    #[inline(always)]
    pub fn take_next_text(&mut self, now: Time, segment: &Header) -> bool {
        let is_expected = self.is_expected(segment) && self.acks.is_expected(now);
        if is_expected {
            self.take_expected_text(now, segment);
        }
        is_expected
    }

    /// Returns whether this text, if it begins at RCV.NXT, changes nothing but RCV.NXT and what is to be acknowledged.
    #[inline(always)]
    fn is_expected(&self, segment: &Header) -> bool {
        self.expected.covers(self.reassembly.next() + u64::from(segment.len))
    }

    #[inline(always)]
    fn take_expected_text(&mut self, now: Time, segment: &Header) {
        self.advance(now, segment);
        self.acks.on_expected_data(now, segment.len);
    }

    /// [`take_expected_text`](Receiver::take_expected_text) where the ACK policy expects none: a quick ACK may be due, or the window
    /// may grow.
    #[inline(never)]
    fn take_quick_text(&mut self, now: Time, segment: Header) {
        self.advance(now, &segment);
        self.acks.on_data(now, segment.len, self.reassembly.next());
    }

    /// Takes [expected](Receiver::is_expected) text.
    #[inline(always)]
    fn advance(&mut self, now: Time, segment: &Header) {
        let start = self.reassembly.next();
        let end = start + u64::from(segment.len);
        if let Some(ts) = segment.timestamps() {
            self.note_next_timestamp(now, ts);
        }
        self.reassembly.advance(end);
    }

    // The segment is passed by value, so that the fast path can keep it in registers.
    #[inline(never)]
    fn take_other_text(&mut self, now: Time, segment: Header, ecn: Ecn) -> Option<bool> {
        let segment = &segment;
        if self.is_old_timestamp(now, segment) {
            return None;
        }
        // RFC 7323 §4.3 (2): text behind a gap does not update TS.Recent.
        if ecn != Ecn::Ce && self.extend_last(segment) {
            segment.timestamps().into_iter().for_each(|ts| self.note_round_trip(now, ts));
            self.acknowledge_beyond(now);
            return Some(false);
        }
        let Acceptability::Acceptable(start) = self.acceptability(segment) else { return None };
        Some(self.handle(now, segment, start, ecn))
    }

    /// Takes text that extends the range that changed last, as most text behind a gap does. Returns whether it does.
    #[inline]
    fn extend_last(&mut self, segment: &Header) -> bool {
        let start = self.reassembly.last_end();
        let end = start + u64::from(segment.len);
        segment.seq == self.irs.at(start)
            && end <= self.limit_position()
            && self.reassembly.extend(start, end)
    }

    /// [`handle`](Receiver::handle) for a segment without text at RCV.NXT.
    #[inline]
    pub fn note_plain_ack(&mut self, now: Time, segment: &Header) {
        if let Some(ts) = segment.timestamps() {
            self.note_next_timestamp(now, ts);
        }
    }

    /// [`note_timestamp`](Receiver::note_timestamp) of a segment that begins at RCV.NXT.
    #[inline(always)]
    fn note_next_timestamp(&mut self, now: Time, ts: Timestamps) {
        if self.reassembly.next() as u32 == self.told.0 {
            self.recent.renew(now, ts);
        }
    }

    /// Returns whether less than half of the window is left, so that reading, even nothing, may ask for a window update.
    pub fn is_half_used(&self) -> bool {
        self.advertised < self.reassembly.next() + self.most_offered() / 2
    }

    pub fn recent(&self) -> RecentTimestamp {
        self.recent
    }

    /// The window as the last header had it, scaled.
    pub fn told_window(&self) -> u16 {
        self.told_window
    }
}
