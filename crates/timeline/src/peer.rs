//! The peer that the script plays. It fills in what a line omits from a segment, as a real peer would.

use crate::log::Log;
use crate::script::{Pattern, Setup};
use airtcp_wire::{Dur, Flags, SackBlocks, Segment, Seq, SynOptions, Time, Timestamps};

/// Makes sequence numbers wrap within the first few segments.
pub const ISS: Seq = Seq(u32::MAX - 2500);

/// Value of the peer's timestamp clock at time 0.
const CLOCK_START: u32 = 700_000;

/// Payload of the segments that the peer's MSS asks for, in bytes; a round number.
const SEGMENT: u16 = 1000;

const TIMESTAMP_BYTES: u16 = 12;

/// What the two SYNs negotiate, as far as it affects how the stack's segments are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreed {
    pub timestamps: bool,
    /// Window scale of the stack's segments.
    pub shift: u8,
}

impl Agreed {
    /// Returns the window that a segment from the stack offers, in bytes.
    pub fn window(self, segment: &Segment) -> u64 {
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.shift };
        u64::from(segment.window) << shift
    }
}

#[derive(Debug)]
pub struct Peer<'a> {
    setup: &'a Setup,
    /// Relative sequence number of the next segment.
    next: i64,
    ack: i64,
    window: u64,
    /// Scale of the peer's own windows; 0 until both SYNs carried the option.
    shift: u8,
    offered_shift: Option<u8>,
    has_timestamps: bool,
    /// TS.Recent (RFC 7323 §4.3).
    recent: u32,
}

impl<'a> Peer<'a> {
    pub fn new(setup: &'a Setup) -> Peer<'a> {
        let (next, ack, window) = (0, 0, setup.peer_window);
        Peer { setup, next, ack, window, shift: 0, offered_shift: None, has_timestamps: false, recent: 0 }
    }

    /// Returns the segments of a line played at `now`, after `log` was sent.
    pub fn segments(&mut self, pattern: &Pattern, now: Time, log: &Log) -> Vec<Segment> {
        self.take_handshake(log);
        let ranges = pattern.ranges(self.next).into_iter();
        ranges.map(|range| self.segment(pattern, range, now, log)).collect()
    }

    fn segment(&mut self, pattern: &Pattern, (start, end): (i64, i64), now: Time, log: &Log) -> Segment {
        self.update_recent(log);
        self.ack = pattern.ack.unwrap_or(self.ack);
        self.window = pattern.window.unwrap_or(self.window);
        let mut segment = Segment {
            seq: number(ISS, start),
            flags: pattern.flags,
            len: (end - start) as u32,
            sack: self.blocks(pattern, log),
            ..Segment::default()
        };
        if pattern.flags.contains(Flags::ACK) {
            segment.ack = number(log.iss(), self.ack);
        }
        let mut has_timestamps = self.has_timestamps;
        if pattern.flags.contains(Flags::SYN) {
            (segment.syn, has_timestamps) = pattern.syn.unwrap_or_else(|| self.offer(log));
            segment.window = self.window.min(0xffff) as u16;
            self.has_timestamps = has_timestamps;
            self.offered_shift = segment.syn.window_scale;
        } else {
            segment.window = (self.window >> self.shift) as u16;
        }
        if has_timestamps && !pattern.stamps.are_absent {
            segment.timestamps = Some(self.stamps(pattern, now, log));
        }
        self.next = self.next.max(start + i64::from(segment.seq_len()));
        segment
    }

    /// Returns the options of the peer's SYN. A SYN-ACK offers only what the SYN did (RFC 7323 §2.2, §3.2;
    /// RFC 2018 §2).
    fn offer(&self, log: &Log) -> (SynOptions, bool) {
        let setup = self.setup;
        let (mut options, mut has_timestamps) = (setup.peer, setup.peer_timestamps);
        let spare = if has_timestamps && setup.timestamps { TIMESTAMP_BYTES } else { 0 };
        options.mss = options.mss.or(Some(SEGMENT + spare));
        if let Some(syn) = log.syn() {
            options.window_scale = options.window_scale.filter(|_| syn.syn.window_scale.is_some());
            options.sack_permitted &= syn.syn.sack_permitted;
            has_timestamps &= syn.timestamps.is_some();
        }
        (options, has_timestamps)
    }

    /// Applies what both SYNs negotiated, once both have been sent.
    fn take_handshake(&mut self, log: &Log) {
        if self.next == 0 {
            return;
        }
        if let Some(syn) = log.syn() {
            self.has_timestamps &= syn.timestamps.is_some();
            self.shift = self.offered_shift.filter(|_| syn.syn.window_scale.is_some()).unwrap_or(0);
        }
    }

    /// Returns what is in force at the end.
    pub fn agreed(&mut self, log: &Log) -> Agreed {
        self.take_handshake(log);
        let shift = log.syn().and_then(|syn| syn.syn.window_scale);
        Agreed {
            timestamps: self.has_timestamps,
            shift: shift.filter(|_| self.offered_shift.is_some()).unwrap_or(0),
        }
    }

    /// Sets TS.Recent to the TSval of the last segment that covers the next byte this end expects.
    fn update_recent(&mut self, log: &Log) {
        let (iss, last_ack) = (log.iss(), self.ack);
        let holds = |segment: &&Segment| {
            let start = i64::from(segment.seq.distance(iss));
            (start..start + i64::from(segment.seq_len())).contains(&last_ack)
        };
        let holder = log.segments().rev().find(holds);
        if let Some(stamps) = holder.and_then(|segment| segment.timestamps) {
            self.recent = stamps.value;
        }
    }

    fn stamps(&self, pattern: &Pattern, now: Time, log: &Log) -> Timestamps {
        let value = pattern.stamps.value.unwrap_or(now.since(Time::ZERO));
        let echo = pattern.stamps.echo.and_then(|then| log.stamp_at(Time::ZERO + then));
        let has_ack = pattern.flags.contains(Flags::ACK);
        Timestamps { value: clock(value), echo: echo.unwrap_or(if has_ack { self.recent } else { 0 }) }
    }

    fn blocks(&self, pattern: &Pattern, log: &Log) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        for &(left, right) in &pattern.sack {
            blocks.push(number(log.iss(), left), number(log.iss(), right));
        }
        blocks
    }
}

/// Returns the peer's timestamp clock at `since_start`.
pub fn clock(since_start: Dur) -> u32 {
    CLOCK_START.wrapping_add(since_start.as_millis() as u32)
}

/// Returns the sequence number `offset` after the initial one.
pub fn number(iss: Seq, offset: i64) -> Seq {
    Seq(iss.0.wrapping_add(offset as u32))
}
