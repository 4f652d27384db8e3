//! The short way of new segments: several leave at once.
//!
//! Invariant: as in `plain`.

use crate::tcp::scoreboard::Outstanding;
use crate::tcp::sender::Sender;
use airtcp_wire::Time;

impl Sender {
    /// While the pacer holds data back: returns whether [`poll`](Sender::poll) certainly finds nothing that leaves all the
    /// same, and if so, notes waiting data as it does.
    #[inline(always)]
    pub fn waits_its_turn(&mut self) -> bool {
        let core = &self.core;
        let goes_first = self.persist.is_due() || core.allowance.has_probe() || core.allowance.has_resend();
        let waits = !goes_first && !core.board.is_empty();
        if waits {
            self.has_data_waiting = core.nxt() < self.write_end;
        }
        waits
    }

    /// Begins a burst of full segments of new data, under [`sends_new`](Sender::sends_new), the same that
    /// [`poll`](Sender::poll) would return one by one. `None`: something else may have to leave.
    #[inline(always)]
    pub fn begin_burst(&mut self, now: Time) -> Option<Burst> {
        let core = &self.core;
        let limit = self.write_end.min(self.peer_edge());
        if core.board.is_empty() || core.nxt() + core.mss() > limit {
            return None;
        }
        let (start, mss) = (core.nxt(), core.mss());
        let room = core.window().saturating_sub(core.board.in_flight());
        let last_start = limit.min(start + room).saturating_sub(mss);
        let (most, last) = match &self.pacer {
            Some(pacer) if pacer.next_departure() > now => (0, 0),
            None if self.keeps_window() => (u32::MAX, last_start),
            // Sending a segment may change the window or the pacer's schedule.
            _ => (1, last_start.min(start)),
        };
        Some(Burst { limit, next: start, mss, last_start, last, most, sent: 0 })
    }

    /// Sends the next segment of a burst that [continues](Burst::continues). Returns its start, and whether it carries PSH.
    #[inline(always)]
    pub fn next_in_burst(&mut self, now: Time, burst: &mut Burst) -> (u64, bool) {
        let (start, end) = (burst.next, burst.next + burst.mss);
        let is_pushed = self.push(burst.mss);
        self.core.push(Outstanding::new(now, start, end, is_pushed));
        burst.next = end;
        burst.sent += 1;
        (start, is_pushed)
    }

    /// Returns whether sending a segment leaves the window as it is. The first one in flight may change it nevertheless.
    #[inline]
    pub fn keeps_window(&self) -> bool {
        !self.core.cc.hears_sends() && !self.core.reduction.is_active()
    }

    /// Does the bookkeeping for the burst. Returns whether the window or the pacer keeps more full segments from leaving.
    #[inline(always)]
    pub fn end_burst(&mut self, now: Time, burst: &Burst) -> bool {
        let has_more = burst.next + burst.mss <= burst.limit;
        let is_blocked = burst.sent < burst.most && has_more && burst.next > burst.last_start;
        self.settle(now, burst, is_blocked);
        let is_over = is_blocked || (has_more && self.is_held_back(now));
        self.has_data_waiting |= is_over;
        is_over
    }

    /// Updates stamps, counters, timers and the pacer for the segments that have left.
    #[inline(always)]
    fn settle(&mut self, now: Time, burst: &Burst, is_blocked: bool) {
        let (nxt, mss) = (burst.next, burst.mss);
        let segments = u64::from(burst.sent);
        if segments > 0 {
            self.core.stamp(now, burst.sent, mss);
            let number = self.core.board.last_number();
            if let Some(timed) = &mut self.timed {
                timed.on_sent(now, nxt - (segments - 1) * mss);
            }
            self.note_sent(now, &Outstanding::new(now, nxt - mss, nxt, false), number);
            // A paced burst has one segment.
            self.pace(now, mss);
        }
        if is_blocked || segments > 0 {
            self.note_usage(is_blocked);
        }
    }
}

/// Full segments of new data that may leave at once; only one if the sender is paced.
pub struct Burst {
    /// End of the written data or of the peer's window, whichever comes first: no segment ends beyond.
    limit: u64,
    /// Where the next segment starts, and the length of each.
    next: u64,
    mss: u64,
    /// Where the last segment may start at most, given `limit` and the window.
    last_start: u64,
    /// The same bound, given `most`, too. 0: nothing may leave, for no segment of data starts there.
    last: u64,
    most: u32,
    pub sent: u32,
}

impl Burst {
    /// Returns whether another segment of the burst may leave.
    #[inline(always)]
    pub fn continues(&self) -> bool {
        self.next <= self.last
    }

    /// The length of each segment.
    #[inline(always)]
    pub fn mss(&self) -> u64 {
        self.mss
    }

    /// Limits a burst that has just begun to this many segments.
    pub fn limit_to(&mut self, segments: u32) {
        let last = segments.checked_sub(1).map_or(0, |others| self.next + u64::from(others) * self.mss);
        (self.most, self.last) = (self.most.min(segments), self.last.min(last));
    }
}
