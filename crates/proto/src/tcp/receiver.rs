//! The receiving half: RCV.NXT, the window, when to acknowledge, what to echo.

use super::ack_policy::AckPolicy;
use super::config::TcpConfig;
use super::reassembly::{Inserted, Reassembly};
use super::spurious::timestamp;
use crate::cc::WindowRules;
use airtcp_wire::{Dur, Ecn, Header, SackBlocks, Segment, Seq, Time, Timestamps};

/// The receiving half of a connection. Laid out as [`Connection`](super::connection::Connection) says.
#[derive(Debug)]
#[repr(C)]
pub struct Receiver {
    /// Position of the peer's FIN; [`UNKNOWN`] before it is known.
    fin: u64,
    pub reassembly: Reassembly,
    /// Position up to which the application has read.
    read: u64,
    buffer: u32,
    segment_size: u32,
    /// Right edge of the window that was advertised last.
    advertised: u64,
    /// Text in order up to there leaves the window open by more than half, and nothing lies behind a gap or is to be reported as
    /// a duplicate: what brings such a thing about, or the stream's end, sets this to 0.
    quiet_until: u64,
    /// RCV.NXT and `read` when the last window was advertised, and that window as it stood in the header. On the SYN-ACK, nothing
    /// had been read.
    told: (u64, u64),
    /// If all had been read and the right edge had moved: how much was offered then, and how far from RCV.NXT that edge was.
    reach: (u32, u32),
    /// What the last segment's text was kept for.
    accepted: (u64, u64),
    /// When it was taken.
    ts_recent_at: Time,
    irs: Seq,
    ts_recent: u32,
    /// The last timestamp of ours that came back with data.
    last_echo: u32,
    /// By so much a timestamp may be older.
    paws_window: u32,
    told_window: u16,
    window_shift: u8,
    sends_sack: bool,
    sends_dsack: bool,
    /// Congestion Experienced was seen and CWR not yet (RFC 3168 §6.1.3).
    echo_congestion: bool,
    pub acks: AckPolicy,
}

/// No stream ends there.
const UNKNOWN: u64 = u64::MAX;

/// No window that is offered is as large.
const NO_REACH: (u32, u32) = (u32::MAX, 0);

/// No window is larger (RFC 7323 §2.3).
const LARGEST_WINDOW: u64 = 0xffff << 14;

/// A timestamp that has not been renewed for so long says nothing about age (RFC 7323 §5.5).
const LONGEST_TIMESTAMP_AGE: Dur = Dur::from_secs(24 * 24 * 3600);

/// An ACK that is held back reports no more blocks than these and the newest (Linux's `TCP_SACK_BLOCKS_EXPECTED`).
const HELD_BLOCKS: usize = 2;

/// A host that puts segments in another order within a tick is forgiven (Linux's `TCP_PAWS_WINDOW`).
const PAWS_WINDOW: u32 = 1;

/// Where a segment lies (RFC 9293 §3.10.7.4, first).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It may be used, from this position on.
    Window(u64),
    /// Text or a FIN that an honest peer sends again when an ACK was lost.
    Repeated,
    /// Nothing that an honest peer sends, but for probes without text.
    Outside,
}

impl Receiver {
    pub fn new(config: &TcpConfig) -> Receiver {
        let buffer = config.receive_window.0.min(LARGEST_WINDOW);
        Receiver {
            irs: Seq(0),
            reassembly: Reassembly::default(),
            read: 1,
            fin: UNKNOWN,
            buffer: buffer as u32,
            segment_size: config.segment_payload(),
            advertised: 0,
            quiet_until: 0,
            window_shift: if config.window_scaling { scale_for(buffer) } else { 0 },
            acks: AckPolicy::new(config),
            sends_sack: false,
            sends_dsack: false,
            ts_recent: 0,
            paws_window: if config.windows == WindowRules::Linux { PAWS_WINDOW } else { 0 },
            ts_recent_at: Time::ZERO,
            last_echo: 0,
            told: (0, 0),
            reach: NO_REACH,
            told_window: 0,
            accepted: (0, 0),
            echo_congestion: false,
        }
    }

    /// The peer's SYN has been accepted.
    pub fn on_syn(&mut self, now: Time, segment: &Segment, config: &TcpConfig) {
        self.irs = segment.seq;
        self.reassembly.insert(0, 1);
        self.ts_recent = segment.timestamps.map_or(0, |ts| ts.value);
        self.ts_recent_at = now;
        self.sends_sack = config.sack && segment.syn.sack_permitted;
        self.sends_dsack = self.sends_sack && config.dsack;
        if segment.syn.window_scale.is_none() {
            self.window_shift = 0;
        }
        self.buffer = self.buffer.min(0xffff << self.window_shift);
        self.advertised = 1 + self.buffer().min(0xffff);
    }

    /// TIME-WAIT has begun, in which Linux reports no duplicate.
    pub fn end_dsack(&mut self) {
        self.sends_dsack = false;
    }

    pub fn window_shift(&self) -> u8 {
        self.window_shift
    }

    /// Position in the peer's stream of a segment's first sequence number.
    #[inline]
    pub fn position(&self, segment: &Header) -> Option<u64> {
        segment.seq.offset(self.irs, self.reassembly.next())
    }

    /// Is the segment's timestamp older than the last one accepted (RFC 7323 §5.3 R1: PAWS)?
    #[inline]
    pub fn is_old_timestamp(&self, now: Time, segment: &Header) -> bool {
        segment.timestamps().is_some_and(|ts| self.is_old(now, ts))
    }

    #[inline(always)]
    fn is_old(&self, now: Time, ts: Timestamps) -> bool {
        is_before(ts.value, self.ts_recent.wrapping_sub(self.paws_window))
            && now.since(self.ts_recent_at) < LONGEST_TIMESTAMP_AGE
    }

    /// Does a SYN begin another connection, rather than be a stray of this one (RFC 6191 §2, RFC 9293 §3.10.7.4)? Its sequence
    /// number is beyond all that came here, or its timestamp is newer.
    pub fn is_new_incarnation(&self, now: Time, syn: &Header) -> bool {
        let is_newer = syn.timestamps().is_some_and(|ts| is_before(self.ts_recent, ts.value));
        let is_beyond = self.position(syn).is_some_and(|position| position >= self.reassembly.next());
        !self.is_old_timestamp(now, syn) && (is_newer || is_beyond)
    }

    /// RFC 9293 §3.10.7.4, first, with two allowances of Linux's: the window begins where the last ACK that was sent had it,
    /// and its right edge belongs to it, for a peer that has filled it, or probes it, speaks from there.
    #[inline]
    pub fn place(&self, segment: &Header) -> Place {
        let Some(start) = self.position(segment) else { return Place::Outside };
        let (length, next) = (u64::from(segment.seq_len()), self.reassembly.next());
        // Position 0 is the SYN's: no text lies there.
        if start > 0 && start + length >= self.last_ack_sent() && start <= self.limit_position() {
            Place::Window(start)
        } else if length > 0 && start < next && start + self.buffer() >= next {
            Place::Repeated
        } else {
            Place::Outside
        }
    }

    /// Is it known where the peer's stream ends?
    pub fn knows_end(&self) -> bool {
        self.fin != UNKNOWN
    }

    /// Does the segment begin where the last one ended, and not with an old timestamp?
    #[inline(always)]
    pub fn is_next(&self, now: Time, segment: &Header) -> bool {
        segment.seq == self.irs.at(self.reassembly.next()) && !self.is_old_timestamp(now, segment)
    }

    /// [`handle`](Receiver::handle) of a segment with text and without FIN, where the stream's end is not known. `None`: it is
    /// not acceptable, and nothing is taken.
    #[inline(always)]
    pub fn take_text(&mut self, now: Time, segment: &Header, ecn: Ecn) -> Option<bool> {
        let is_next = segment.seq == self.irs.at(self.reassembly.next());
        if !is_next || !self.is_quiet(segment) || ecn == Ecn::Ce {
            return self.take_other_text(now, *segment, ecn);
        }
        if let Some(ts) = segment.timestamps() {
            if self.is_old(now, ts) {
                return None;
            }
            self.note_round_trip(now, ts);
        }
        // The end of a round trip may have ended the calm.
        match self.acks.is_calm(now) {
            true => self.take_quiet_text(now, segment),
            false => self.take_quick_text(now, *segment),
        }
        Some(false)
    }

    /// The same of text that follows such text in one burst, with the same timestamp.
    #[inline(always)]
    pub fn take_next_text(&mut self, now: Time, segment: &Header) -> bool {
        let is_quiet = self.is_quiet(segment) && self.acks.is_calm(now);
        if is_quiet {
            self.take_quiet_text(now, segment);
        }
        is_quiet
    }

    /// Does text that comes next leave windows and gaps as they are?
    #[inline(always)]
    fn is_quiet(&self, segment: &Header) -> bool {
        self.reassembly.next() + u64::from(segment.len) <= self.quiet_until
    }

    #[inline(always)]
    fn take_quiet_text(&mut self, now: Time, segment: &Header) {
        self.advance(now, segment);
        self.acks.on_calm_data(now, u64::from(segment.len));
    }

    /// The same where the calm is over: the ACK may be a quick one, or the window grow.
    #[inline(never)]
    fn take_quick_text(&mut self, now: Time, segment: Header) {
        self.advance(now, &segment);
        self.acks.on_data(now, u64::from(segment.len), self.reassembly.next());
    }

    /// Takes text that comes next and leaves windows and gaps as they are.
    #[inline(always)]
    fn advance(&mut self, now: Time, segment: &Header) {
        let start = self.reassembly.next();
        let end = start + u64::from(segment.len);
        if let Some(ts) = segment.timestamps() {
            self.note_timestamp(now, ts, start);
        }
        self.reassembly.advance(end);
        self.accepted = (start, end);
    }

    // The segment is no reference, so that what is expected need not lie in memory.
    #[inline(never)]
    fn take_other_text(&mut self, now: Time, segment: Header, ecn: Ecn) -> Option<bool> {
        let segment = &segment;
        if self.is_old_timestamp(now, segment) {
            return None;
        }
        // RFC 7323 §4.3 (2): behind a gap no timestamp is noted.
        if ecn != Ecn::Ce && self.extend_last(segment) {
            segment.timestamps().into_iter().for_each(|ts| self.note_round_trip(now, ts));
            self.acknowledge_beyond(now);
            return Some(false);
        }
        let Place::Window(start) = self.place(segment) else { return None };
        self.forget_accepted();
        Some(self.handle(now, segment, start, ecn))
    }

    /// Takes text that goes on where the range ends that changed last, as most text behind a gap does. Returns whether it did.
    #[inline]
    fn extend_last(&mut self, segment: &Header) -> bool {
        let start = self.reassembly.last_end();
        let end = start + u64::from(segment.len);
        let extends = segment.seq == self.irs.at(start)
            && end <= self.limit_position()
            && self.reassembly.extend(start, end);
        if extends {
            self.accepted = (start, end);
        }
        extends
    }

    /// [`handle`](Receiver::handle) of a segment without text that is next.
    #[inline]
    pub fn note_plain_ack(&mut self, now: Time, segment: &Header) {
        if let Some(ts) = segment.timestamps() {
            self.note_timestamp(now, ts, self.reassembly.next());
        }
    }

    /// A segment that was sent again in vain: its ACK was lost, so that there is one at once (RFC 5681 §4.2).
    #[cold]
    pub fn on_repeated(&mut self, segment: &Header) {
        let Some(start) = self.position(segment) else { return };
        self.note_overlap(start, start + u64::from(segment.seq_len()));
        self.acks.on_duplicate();
    }

    /// Takes the text, FIN, timestamp and ECN marks of an acceptable segment that begins at `start`. Returns whether all of
    /// it had come before.
    #[inline(always)]
    pub fn handle(&mut self, now: Time, segment: &Header, start: u64, ecn: Ecn) -> bool {
        if let Some(ts) = segment.timestamps() {
            self.note_timestamp(now, ts, start);
        }
        segment.seq_len() > 0 && self.handle_text(now, segment, start, ecn)
    }

    fn handle_text(&mut self, now: Time, segment: &Header, start: u64, ecn: Ecn) -> bool {
        self.quiet_until = 0;
        self.note_congestion(segment, ecn);
        if let Some(ts) = segment.timestamps() {
            self.note_round_trip(now, ts);
        }
        let text_end = start + u64::from(segment.len);
        let is_last = segment.flags().contains(airtcp_wire::Flags::FIN) && self.ends_at(text_end);
        // What lies beyond the window is not kept, nor what lies beyond the peer's last byte.
        let end = (text_end + u64::from(is_last)).min(self.limit_position()).min(self.last_position());
        if start >= end {
            // RFC 9293 §3.10.7.4: a probe of a closed window is acknowledged.
            self.acks.demand();
            return false;
        }
        self.insert(now, start, end)
    }

    /// Is a FIN at `position` the stream's end? Not where another one was believed, where more of the stream has come, or
    /// beyond the window.
    fn ends_at(&mut self, position: u64) -> bool {
        if !self.knows_end() && self.reassembly.end() <= position && position < self.limit_position() {
            self.fin = position;
        }
        self.fin == position
    }

    /// Position after the peer's FIN, as far as that is known.
    fn last_position(&self) -> u64 {
        self.fin.saturating_add(1)
    }

    #[inline]
    fn limit_position(&self) -> u64 {
        self.advertised.max(self.reassembly.next())
    }

    /// The stream's range that the last segment's text was kept for.
    #[inline]
    pub fn accepted(&self) -> (u64, u64) {
        self.accepted
    }

    /// Another segment comes, of which nothing is accepted yet.
    #[inline]
    pub fn forget_accepted(&mut self) {
        self.accepted = (0, 0);
    }

    fn insert(&mut self, now: Time, start: u64, end: u64) -> bool {
        if self.reassembly.extend(start, end) {
            self.accepted = (start, end);
            self.acknowledge_beyond(now);
            return false;
        }
        let (had_gap, next) = (self.reassembly.has_gap(), self.reassembly.next());
        if start < next || had_gap {
            self.note_overlap(start, end);
        }
        let crowds = self.acks.is_holding() && self.reassembly.rank(start, end) >= HELD_BLOCKS;
        let inserted = self.reassembly.insert(start, end);
        match inserted {
            Inserted::New => self.accepted = (start.max(next), end),
            Inserted::Known if end <= next => {
                self.acks.on_duplicate();
                return true;
            }
            Inserted::Known => {}
            Inserted::Refused => {
                self.acks.demand();
                return false;
            }
        }
        if crowds {
            self.acks.demand();
        } else if self.reassembly.next() == next {
            self.acknowledge_beyond(now);
        } else if had_gap {
            // RFC 5681 §4.2: filling a gap: at once.
            self.acks.demand();
        } else {
            if self.has_finished() {
                self.acks.on_fin(end - start - 1);
            }
            self.acks.on_data(now, end - start, self.reassembly.next());
        }
        inserted == Inserted::Known
    }

    /// Text has arrived behind a gap. RFC 5681 §4.2: at once; Linux leaves itself time if there is SACK.
    #[inline]
    fn acknowledge_beyond(&mut self, now: Time) {
        match self.sends_sack {
            true => self.acks.on_data_beyond(now, self.reassembly.next()),
            false => self.acks.demand(),
        }
    }

    /// RFC 2883 §4: what of a segment has come before is reported, the first contiguous part of it.
    fn note_overlap(&mut self, start: u64, end: u64) {
        if self.sends_dsack
            && let Some(overlap) = self.reassembly.overlap(start, end)
        {
            self.reassembly.note_duplicate(overlap);
            self.quiet_until = 0;
        }
    }

    #[inline]
    fn note_timestamp(&mut self, now: Time, ts: Timestamps, start: u64) {
        // RFC 7323 §4.3 (2). What is older here by more than the allowance has outlived the last one, see `is_old_timestamp`.
        if start <= self.last_ack_sent()
            && self.ts_recent.wrapping_sub(ts.value).wrapping_sub(1) >= self.paws_window
        {
            (self.ts_recent, self.ts_recent_at) = (ts.value, now);
        }
    }

    /// The first data that echoes a timestamp came a round trip after it.
    #[inline(always)]
    fn note_round_trip(&mut self, now: Time, ts: Timestamps) {
        if ts.echo != self.last_echo {
            self.end_round_trip(now, ts);
        }
    }

    #[inline(never)]
    fn end_round_trip(&mut self, now: Time, ts: Timestamps) {
        self.last_echo = ts.echo;
        let age_ms = timestamp(now).wrapping_sub(ts.echo);
        if age_ms < i32::MAX as u32 {
            self.acks.on_rtt(Dur::from_millis(u64::from(age_ms)));
        }
    }

    #[inline]
    fn note_congestion(&mut self, segment: &Header, ecn: Ecn) {
        // RFC 3168 §6.1.3: CWR ends the echo, CE (again) starts it.
        if segment.flags().contains(airtcp_wire::Flags::CWR) {
            self.echo_congestion = false;
        }
        if ecn == Ecn::Ce {
            self.echo_congestion = true;
        }
    }

    /// Stream offset after the peer's last byte, as far as that is known.
    pub fn data_end(&self) -> u64 {
        if self.knows_end() { self.fin - 1 } else { u64::MAX }
    }

    /// All data and the FIN have arrived.
    pub fn has_finished(&self) -> bool {
        self.reassembly.next() > self.fin
    }

    /// Position after the last readable byte: RCV.NXT without the FIN.
    #[inline]
    fn readable_end(&self) -> u64 {
        self.reassembly.next() - u64::from(self.has_finished())
    }

    #[inline(always)]
    pub fn readable(&self) -> u64 {
        self.readable_end().saturating_sub(self.read)
    }

    /// Bytes received in order over the connection's life.
    pub fn received(&self) -> u64 {
        self.readable_end().saturating_sub(1)
    }

    /// The application has taken `bytes`.
    #[inline]
    pub fn read(&mut self, bytes: u64) {
        self.read_to(self.read + bytes.min(self.readable()));
    }

    /// The application has taken all that is readable.
    #[inline(always)]
    pub fn read_all(&mut self) {
        let next = self.reassembly.next();
        if next <= self.quiet_until {
            self.read = next;
        } else if self.readable() > 0 {
            self.read(u64::MAX);
        }
    }

    fn read_to(&mut self, position: u64) {
        self.read = position;
        let half = self.most_offered() / 2;
        if self.advertised < self.reassembly.next() + half {
            self.tell_opened(half);
        }
    }

    /// A window that was nearly closed has opened: tell (RFC 9293 §3.8.6.2.2).
    #[cold]
    fn tell_opened(&mut self, half: u64) {
        let is_open = self.right_edge() >= self.advertised + half.min(u64::from(self.segment_size));
        if is_open && !self.has_finished() {
            self.acks.demand();
        }
    }

    /// Stream offset beyond which nothing is accepted.
    pub fn limit(&self) -> u64 {
        self.limit_position().saturating_sub(1)
    }

    #[inline(always)]
    fn buffer(&self) -> u64 {
        u64::from(self.buffer)
    }

    /// RCV.NXT when the last ACK left.
    #[inline(always)]
    fn last_ack_sent(&self) -> u64 {
        self.told.0
    }

    #[inline(always)]
    fn most_offered(&self) -> u64 {
        self.acks.offered().unwrap_or(u64::MAX).min(self.buffer())
    }

    /// RFC 9293 §3.8.6.2.2: the right edge moves by at least a segment or half the buffer, or stays.
    #[inline(always)]
    fn may_move_to(&self, edge: u64) -> bool {
        edge >= self.advertised + u64::from(self.segment_size.min(self.buffer / 2))
    }

    #[inline(always)]
    fn right_edge(&self) -> u64 {
        let offered = self.reassembly.next() + self.most_offered();
        let open = (self.read + self.buffer()).min(offered);
        if self.may_move_to(open) { open } else { self.advertised }
    }

    /// Fills the acknowledgment's part of a segment that leaves now, but for [SACK](Receiver::fill_sack): ACK, window,
    /// timestamps' echo.
    #[inline(always)]
    pub fn acknowledge(&mut self, segment: &mut Header) {
        let next = self.reassembly.next();
        let is_told = (next, self.read) == self.told && !self.acks.is_scheduled();
        if !is_told {
            self.tell(next);
        }
        segment.ack = self.irs.at(next);
        segment.window = self.told_window;
        segment.echo(self.ts_recent);
    }

    /// Something has come, or was read, since the last ACK.
    #[inline(always)]
    fn tell(&mut self, next: u64) {
        let most = self.most_offered();
        let (offered, reach) = self.reach;
        let is_same = self.read == next && most as u32 == offered && self.may_move_to(next + most);
        match is_same {
            true => self.advertised = next + u64::from(reach),
            false => self.tell_other(next, most),
        }
        self.told = (next, self.read);
        let is_quiet = self.quiet_until > 0 || (!self.knows_end() && !self.reassembly.has_news());
        self.quiet_until = if is_quiet { self.advertised.saturating_sub(most / 2) } else { 0 };
        self.acks.on_ack_sent();
    }

    /// The window may be another one than that told last.
    #[inline(never)]
    fn tell_other(&mut self, next: u64, most: u64) {
        // Behind a gap, nothing has come in order, and what was told last is told again.
        if most as u32 == self.reach.0 && (next, self.read) == self.told {
            return;
        }
        let (open, edge) = (self.right_edge(), self.advertised);
        self.advertised = open.max(edge);
        let window = self.window(next);
        // RFC 7323 §2.4: what any ACK has had in the window stays in it.
        self.advertised = self.advertised.max(next + (window << self.window_shift));
        self.told_window = window as u16;
        let can_repeat = self.read == next && open > edge;
        self.reach = if can_repeat { (most as u32, (self.advertised - next) as u32) } else { NO_REACH };
    }

    /// The window in units of its scale. It is rounded up, since a right edge that was advertised should not move back
    /// (RFC 9293 §3.8.6), but never beyond the buffer (RFC 7323 §2.4 allows either).
    #[inline(always)]
    fn window(&self, next: u64) -> u64 {
        let (open, unit) = (self.advertised.saturating_sub(next), 1 << self.window_shift);
        let up = (open + unit - 1) >> self.window_shift;
        let fits = next + (up << self.window_shift) <= self.read + self.buffer();
        if fits { up } else { open >> self.window_shift }.min(0xffff)
    }

    /// As [`acknowledge`](Receiver::acknowledge) on a SYN-ACK, whose window is not scaled (RFC 7323 §2.2).
    pub fn acknowledge_syn(&mut self, segment: &mut Segment) {
        segment.ack = self.irs.at(1);
        segment.window = self.buffer().min(0xffff) as u16;
        self.told = (1, 0);
        if let Some(ts) = &mut segment.timestamps {
            ts.echo = self.ts_recent;
        }
    }

    /// Is there something to report by SACK?
    #[inline(always)]
    pub fn has_blocks(&self) -> bool {
        self.quiet_until == 0 && self.sends_sack && self.reassembly.has_news()
    }

    /// The blocks of a segment that leaves now, beside timestamps if it has those.
    pub fn fill_sack(&mut self, has_timestamps: bool, sack: &mut SackBlocks) {
        let mut room = if has_timestamps { 3 } else { 4 };
        // RFC 2883 §4: the duplicate comes first; the block that it lies in is the one that changed last.
        if let Some((left, right)) = self.reassembly.take_duplicate() {
            sack.push(self.irs.at(left), self.irs.at(right));
            room -= 1;
        }
        for (left, right) in self.reassembly.blocks().take(room) {
            sack.push(self.irs.at(left), self.irs.at(right));
        }
    }

    #[inline]
    pub fn echoes_congestion(&self) -> bool {
        self.echo_congestion
    }
}

/// Timestamps are compared modulo 2³² (RFC 7323 §5.2).
#[inline]
fn is_before(value: u32, other: u32) -> bool {
    (value.wrapping_sub(other) as i32) < 0
}

/// The smallest shift with which the whole buffer can be advertised (RFC 7323 §2.3: at most 14).
fn scale_for(buffer: u64) -> u8 {
    (0..14).find(|shift| buffer >> shift <= 0xffff).unwrap_or(14)
}
