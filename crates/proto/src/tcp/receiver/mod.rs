//! The receiving half: RCV.NXT, the window, when to acknowledge, what to echo.

#[cfg(feature = "shortcuts")]
mod shortcut;

use super::ack_policy::AckPolicy;
use super::config::TcpConfig;
use super::reassembly::{Inserted, Reassembly};
use super::spurious::timestamp;
use crate::cc::WindowRules;
use crate::until::Until;
use airtcp_wire::{Dur, Ecn, Flags, Header, SackBlocks, Segment, Seq, Time, Timestamps};
use std::mem::offset_of;
use std::ops::Range;

/// The receiving half of a connection. Laid out as [`Connection`](super::connection::Connection) says.
#[derive(PartialEq, Debug)]
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
    /// Until where RCV.NXT may come by text in order that leaves the window more than half open. Ended while something lies
    /// behind a gap, is to be reported as a duplicate, or the stream's end is known.
    expected: Until<u64>,
    /// RCV.NXT and `read` when the last window was advertised, modulo 2³²: they have moved by one window since at most. (1, 0)
    /// after the SYN-ACK. The window itself is `told_window`.
    told: (u32, u32),
    /// If everything had been read and the right edge had moved when the last window was advertised: the most that could be
    /// offered then, and how far the edge was from RCV.NXT. Otherwise [`NO_REACH`].
    reach: (u32, u32),
    recent: RecentTimestamp,
    irs: Seq,
    /// The last timestamp of ours that data has echoed.
    last_echo: u32,
    told_window: u16,
    window_shift: u8,
    sends_sack: bool,
    sends_dsack: bool,
    /// Congestion Experienced was seen and CWR not yet (RFC 3168 §6.1.3).
    echo_congestion: bool,
    pub acks: AckPolicy,
}

/// TS.Recent, which ACKs echo (RFC 7323 §4.3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RecentTimestamp {
    /// When it was last updated.
    pub at: Time,
    pub value: u32,
    /// How much older an acceptable timestamp may be.
    paws_window: u32,
}

/// The position of a FIN that is unknown.
const UNKNOWN: u64 = u64::MAX;

/// A `reach` that matches no window, for none is as large.
const NO_REACH: (u32, u32) = (u32::MAX, 0);

/// No window is larger (RFC 7323 §2.3).
const LARGEST_WINDOW: u64 = 0xffff << 14;

/// After so long without an update, TS.Recent no longer tells old segments from new ones (RFC 7323 §5.5).
const LONGEST_TIMESTAMP_AGE: Dur = Dur::from_secs(24 * 24 * 3600);

/// The most SACK blocks, besides the newest, that an ACK may have that is held back (Linux's `TCP_SACK_BLOCKS_EXPECTED`).
const HELD_BLOCKS: usize = 2;

/// Tolerates hosts that reorder segments within a tick of the timestamp clock (Linux's `TCP_PAWS_WINDOW`).
const PAWS_WINDOW: u32 = 1;

/// What a segment's place makes of it (RFC 9293 §3.10.7.4, first).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acceptability {
    /// In the window: acceptable, and it starts at this position.
    Acceptable(u64),
    /// Below the window: text or a FIN that an honest peer resends if an ACK was lost.
    Repeated,
    /// Elsewhere: no honest peer sends such segments, except as probes without text.
    Unacceptable,
}

impl RecentTimestamp {
    pub const NONE: RecentTimestamp = RecentTimestamp { at: Time::ZERO, value: 0, paws_window: 0 };

    /// PAWS (RFC 7323 §5.3 R1): returns whether `ts` is older.
    #[inline(always)]
    pub fn is_after(&self, now: Time, ts: Timestamps) -> bool {
        is_before(ts.value, self.value.wrapping_sub(self.paws_window))
            && now.since(self.at) < LONGEST_TIMESTAMP_AGE
    }

    /// A segment that spans Last.ACK.sent has the timestamp `ts` (RFC 7323 §4.3 (2)).
    #[inline(always)]
    pub fn renew(&mut self, now: Time, ts: Timestamps) {
        // A value older than PAWS allows gets here only if this one is outdated (`is_after`), and replaces it.
        if self.value.wrapping_sub(ts.value).wrapping_sub(1) >= self.paws_window {
            (self.value, self.at) = (ts.value, now);
        }
    }
}

impl Receiver {
    /// The byte range of a `Receiver` that text in order touches.
    pub const TOUCHED: Range<usize> = offset_of!(Receiver, reassembly)..size_of::<Receiver>();

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
            expected: Until::default(),
            window_shift: if config.window_scaling { scale_for(buffer) } else { 0 },
            acks: AckPolicy::new(config),
            sends_sack: false,
            sends_dsack: false,
            recent: RecentTimestamp {
                paws_window: if config.windows == WindowRules::Linux { PAWS_WINDOW } else { 0 },
                ..RecentTimestamp::NONE
            },
            last_echo: 0,
            told: (0, 0),
            reach: NO_REACH,
            told_window: 0,
            echo_congestion: false,
        }
    }

    /// The peer's SYN has been accepted.
    pub fn on_syn(&mut self, now: Time, segment: &Segment, config: &TcpConfig) {
        self.irs = segment.seq;
        self.reassembly.insert(0, 1);
        self.recent.value = segment.timestamps.map_or(0, |ts| ts.value);
        self.recent.at = now;
        self.sends_sack = config.sack && segment.syn.sack_permitted;
        self.sends_dsack = self.sends_sack && config.dsack;
        if segment.syn.window_scale.is_none() {
            self.window_shift = 0;
        }
        self.buffer = self.buffer.min(0xffff << self.window_shift);
        self.advertised = 1 + self.buffer().min(0xffff);
    }

    /// TIME-WAIT has begun, in which no DSACKs are sent, as in Linux.
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

    /// PAWS (RFC 7323 §5.3 R1): returns whether the segment's timestamp is older than TS.Recent.
    #[inline]
    pub fn is_old_timestamp(&self, now: Time, segment: &Header) -> bool {
        segment.timestamps().is_some_and(|ts| self.recent.is_after(now, ts))
    }

    /// Returns whether a SYN opens a new connection and is no stray of this one (RFC 6191 §2, RFC 9293 §3.10.7.4): its
    /// timestamp is newer, or, if not older, its sequence number lies beyond all that was received here.
    pub fn is_new_incarnation(&self, now: Time, syn: &Header) -> bool {
        let is_newer = syn.timestamps().is_some_and(|ts| is_before(self.recent.value, ts.value));
        let is_beyond = self.position(syn).is_some_and(|position| position >= self.reassembly.next());
        !self.is_old_timestamp(now, syn) && (is_newer || is_beyond)
    }

    /// RFC 9293 §3.10.7.4, first, with two allowances of Linux's: the window begins where the last ACK put it, and includes
    /// its right edge, from which a peer sends that has filled the window or probes it.
    #[inline]
    pub fn acceptability(&self, segment: &Header) -> Acceptability {
        let Some(start) = self.position(segment) else { return Acceptability::Unacceptable };
        let (length, next) = (u64::from(segment.seq_len()), self.reassembly.next());
        // Position 0 is the SYN's: no text lies there.
        if start > 0 && start + length >= self.last_ack_sent() && start <= self.limit_position() {
            Acceptability::Acceptable(start)
        } else if length > 0 && start < next && start + self.buffer() >= next {
            Acceptability::Repeated
        } else {
            Acceptability::Unacceptable
        }
    }

    /// Returns whether the position of the peer's FIN is known.
    pub fn knows_end(&self) -> bool {
        self.fin != UNKNOWN
    }

    /// Known data has arrived again: most likely its ACK was lost, so that another one leaves at once (RFC 5681 §4.2).
    #[cold]
    pub fn on_repeated(&mut self, segment: &Header) {
        let Some(start) = self.position(segment) else { return };
        self.note_overlap(start, start + u64::from(segment.seq_len()));
        self.acks.on_duplicate();
    }

    /// Takes the text, FIN, timestamp and ECN marks of an acceptable segment that begins at `start`. Returns whether all of
    /// its text had arrived before.
    #[inline(always)]
    pub fn handle(&mut self, now: Time, segment: &Header, start: u64, ecn: Ecn) -> bool {
        if let Some(ts) = segment.timestamps() {
            self.note_timestamp(now, ts, start);
        }
        segment.seq_len() > 0 && self.handle_text(now, segment, start, ecn)
    }

    fn handle_text(&mut self, now: Time, segment: &Header, start: u64, ecn: Ecn) -> bool {
        self.expected.end();
        self.note_congestion(segment, ecn);
        if let Some(ts) = segment.timestamps() {
            self.note_round_trip(now, ts);
        }
        let text_end = start + u64::from(segment.len);
        let is_last = segment.flags().contains(Flags::FIN) && self.ends_at(text_end);
        // Nothing beyond the window or beyond the peer's FIN is kept.
        let end = (text_end + u64::from(is_last)).min(self.limit_position()).min(self.last_position());
        if start >= end {
            // RFC 9293 §3.10.7.4: a probe of a closed window is acknowledged.
            self.acks.demand();
            return false;
        }
        self.insert(now, start, end)
    }

    /// Returns whether a FIN at `position` is the stream's end. A FIN is not believed if another one was before, if data has
    /// arrived beyond it, or if it lies beyond the window.
    fn ends_at(&mut self, position: u64) -> bool {
        if !self.knows_end() && self.reassembly.end() <= position && position < self.limit_position() {
            self.fin = position;
        }
        self.fin == position
    }

    /// Position after the peer's FIN; [`UNKNOWN`] before it is known.
    fn last_position(&self) -> u64 {
        self.fin.saturating_add(1)
    }

    #[inline]
    fn limit_position(&self) -> u64 {
        self.advertised.max(self.reassembly.next())
    }

    /// Of the text from `start` to `end`, the part that is still to come, or has come only in part, and lies in the window
    /// and below the peer's FIN; `None` if there is none.
    pub fn missing(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let (start, end) = (start.max(self.reassembly.next()), end.min(self.limit_position()).min(self.fin));
        (start < end && !self.reassembly.contains(start, end)).then_some((start, end))
    }

    /// Returns whether a range has come that was [missing](Receiver::missing).
    pub fn has_come(&self, (start, end): (u64, u64)) -> bool {
        self.reassembly.contains(start, end)
    }

    fn insert(&mut self, now: Time, start: u64, end: u64) -> bool {
        if self.reassembly.extend(start, end) {
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
            Inserted::Known if end <= next => {
                self.acks.on_duplicate();
                return true;
            }
            Inserted::New | Inserted::Known => {}
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
            // RFC 5681 §4.2: a segment that fills a gap is acknowledged at once.
            self.acks.demand();
        } else {
            if self.has_finished() {
                self.acks.on_fin(end - start - 1);
            }
            self.acks.on_data(now, (end - start) as u32, self.reassembly.next());
        }
        inserted == Inserted::Known
    }

    /// Text has arrived behind a gap. RFC 5681 §4.2: it is acknowledged at once; with SACK, Linux may hold the ACK back.
    #[inline]
    fn acknowledge_beyond(&mut self, now: Time) {
        match self.sends_sack {
            true => self.acks.on_data_beyond(now, self.reassembly.next()),
            false => self.acks.demand(),
        }
    }

    /// RFC 2883 §4: the next ACK reports the first contiguous part of `start..end` that had arrived before.
    fn note_overlap(&mut self, start: u64, end: u64) {
        if self.sends_dsack
            && let Some(overlap) = self.reassembly.overlap(start, end)
        {
            self.reassembly.note_duplicate(overlap);
            self.expected.end();
        }
    }

    #[inline]
    fn note_timestamp(&mut self, now: Time, ts: Timestamps, start: u64) {
        if start <= self.last_ack_sent() {
            self.recent.renew(now, ts);
        }
    }

    /// The first data that echoes one of our timestamps measures the receiver's RTT.
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
        if segment.flags().contains(Flags::CWR) {
            self.echo_congestion = false;
        }
        if ecn == Ecn::Ce {
            self.echo_congestion = true;
        }
    }

    /// All data and the FIN have arrived.
    pub fn has_finished(&self) -> bool {
        self.reassembly.next() > self.fin
    }

    /// Position after the last readable byte: RCV.NXT, not counting the FIN.
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
        if self.expected.covers(next) {
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

    /// Asks for a window update if a window that was more than half closed has opened (RFC 9293 §3.8.6.2.2).
    #[cold]
    fn tell_opened(&mut self, half: u64) {
        let is_open = self.right_edge() >= self.advertised + half.min(u64::from(self.segment_size));
        if is_open && !self.has_finished() {
            self.acks.demand();
        }
    }

    /// Stream offset of the window's right edge.
    pub fn limit(&self) -> u64 {
        self.limit_position().saturating_sub(1)
    }

    /// Changes the size of the buffer. It must not become smaller while there is text: what lies as far below the window
    /// as the buffer is long counts as repeated.
    pub fn set_buffer(&mut self, bytes: u64) {
        self.buffer = bytes.min(0xffff << self.window_shift) as u32;
    }

    #[inline(always)]
    fn buffer(&self) -> u64 {
        u64::from(self.buffer)
    }

    /// RCV.NXT when the last ACK left.
    #[inline(always)]
    fn last_ack_sent(&self) -> u64 {
        let next = self.reassembly.next();
        next - u64::from((next as u32).wrapping_sub(self.told.0))
    }

    /// Returns whether `told` is still so, if RCV.NXT is `next`.
    #[inline(always)]
    fn is_told(&self, next: u64) -> bool {
        (next as u32, self.read as u32) == self.told
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

    /// Fills in SEG.ACK, SEG.WND, the echoed timestamp and ECE of a segment that leaves now, but not its SACK blocks.
    #[inline(always)]
    pub fn acknowledge(&mut self, segment: &mut Header) {
        let next = self.reassembly.next();
        if self.echo_congestion {
            segment.put(Flags::ECE, true);
        }
        let is_told = self.is_told(next) && !self.acks.is_scheduled();
        if !is_told {
            self.tell(next);
        }
        segment.ack = self.irs.at(next);
        segment.window = self.told_window;
        segment.echo(self.recent.value);
    }

    /// Updates what ACKs say, after data has arrived or was read.
    #[inline(always)]
    fn tell(&mut self, next: u64) {
        let most = self.most_offered();
        let (offered, reach) = self.reach;
        let is_same = self.read == next && most as u32 == offered && self.may_move_to(next + most);
        match is_same {
            true => self.advertised = next + u64::from(reach),
            false => self.tell_other(next, most),
        }
        self.told = (next as u32, self.read as u32);
        let is_expected = !self.expected.has_ended() || (!self.knows_end() && !self.reassembly.has_news());
        self.expected = match is_expected {
            true => Until::new(self.advertised.saturating_sub(most / 2) + 1),
            false => Until::default(),
        };
        self.acks.on_ack_sent();
    }

    /// Computes a window that may differ from the last one.
    #[inline(never)]
    fn tell_other(&mut self, next: u64, most: u64) {
        // Nothing new in order, as behind a gap: the last window is advertised again.
        if most as u32 == self.reach.0 && self.is_told(next) {
            return;
        }
        let (open, edge) = (self.right_edge(), self.advertised);
        self.advertised = open.max(edge);
        let window = self.window(next);
        // RFC 7323 §2.4: data that was in an advertised window must stay in it.
        self.advertised = self.advertised.max(next + (window << self.window_shift));
        self.told_window = window as u16;
        let can_repeat = self.read == next && open > edge;
        self.reach = if can_repeat { (most as u32, (self.advertised - next) as u32) } else { NO_REACH };
    }

    /// The window as the header has it, scaled. It is rounded up, because an advertised right edge should not move back
    /// (RFC 9293 §3.8.6), but never beyond the buffer (RFC 7323 §2.4 allows either).
    #[inline(always)]
    fn window(&self, next: u64) -> u64 {
        let (open, unit) = (self.advertised.saturating_sub(next), 1 << self.window_shift);
        let up = (open + unit - 1) >> self.window_shift;
        let fits = next + (up << self.window_shift) <= self.read + self.buffer();
        if fits { up } else { open >> self.window_shift }.min(0xffff)
    }

    /// [`acknowledge`](Receiver::acknowledge) for a SYN-ACK, whose window is not scaled (RFC 7323 §2.2).
    pub fn acknowledge_syn(&mut self, segment: &mut Segment) {
        let next = self.reassembly.next();
        segment.ack = self.irs.at(next);
        segment.window = self.buffer().min(0xffff) as u16;
        self.told = (next as u32, 0);
        if let Some(ts) = &mut segment.timestamps {
            ts.echo = self.recent.value;
        }
        // The SYN had text (RFC 7413).
        if next > 1 {
            self.advertised = self.advertised.max(next + u64::from(segment.window));
            self.acks.on_ack_sent();
        }
    }

    /// Returns whether there are SACK blocks or a DSACK to report.
    #[inline(always)]
    pub fn has_blocks(&self) -> bool {
        self.expected.has_ended() && self.sends_sack && self.reassembly.has_news()
    }

    /// Adds the SACK blocks of a segment that leaves now: four, or three beside timestamps.
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
}

/// Compares timestamps modulo 2³² (RFC 7323 §5.2).
#[inline]
fn is_before(value: u32, other: u32) -> bool {
    (value.wrapping_sub(other) as i32) < 0
}

/// The smallest shift with which the whole buffer can be advertised (RFC 7323 §2.3: at most 14).
fn scale_for(buffer: u64) -> u8 {
    (0..14).find(|shift| buffer >> shift <= 0xffff).unwrap_or(14)
}
