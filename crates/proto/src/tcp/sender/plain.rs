//! What an ACK and a new segment do where nothing is lost, resent or held back: the general path without what would
//! come to nothing.

use super::Sender;
use super::acks::Originals;
use crate::cc::PlainAck;
use crate::tcp::ack_summary::AckSummary;
use crate::tcp::core::Core;
use crate::tcp::recovery::LossRecovery;
use crate::tcp::scoreboard::Sent;
use airtcp_wire::{Header, Time};

impl Sender {
    /// Nothing is outstanding, nothing waits, nor was anything resent, and no timer runs.
    pub fn is_silent(&self) -> bool {
        self.core.board.is_empty()
            && self.unsent() == 0
            && self.core.stats.retransmissions == 0
            && self.rto_deadline.is_never()
            && self.persist.is_idle()
            && self.policy_deadline().is_never()
    }

    /// Nothing but new data leaves next, as the window and the pacer let it.
    pub fn sends_new(&self) -> bool {
        self.core.sends_new() && self.segment_timers.is_none() && self.persist.is_idle() && !self.is_closing
    }

    /// Under `sends_new`: each segment that is out was sent once and is in flight, and the window is the controller's.
    pub fn is_plain(&self) -> bool {
        let core = &self.core;
        core.board.is_plain() && core.is_plain() && self.policy.is_plain(core) && !self.counts()
    }

    /// [`handle_ack`](Sender::handle_ack) of a segment without text that acknowledges new data, at least a segment of it, and
    /// nothing else, under `is_plain`. Returns whether it does; if not, nothing has changed.
    #[inline(always)]
    pub fn handle_plain_ack(&mut self, now: Time, ack: u64, window: u64, segment: &Header) -> bool {
        let prior_una = self.core.una();
        let Core { board, sampler, .. } = &mut self.core;
        let prior_in_flight = board.in_flight();
        let mut newest = None;
        let taken = board.acknowledge_plain(ack, |taken, stamps| {
            sampler.on_stamps(now, (taken.newest_at, taken.end), stamps, &mut newest);
        });
        let Some(taken) = taken else { return false };
        let (acked, delivered) = (ack - prior_una, taken.end - taken.start);
        sampler.delivered += delivered;
        self.take_window(ack, window, segment.seq);
        let timestamps = segment.timestamps();
        let originals = Originals { oldest: Some(taken.oldest_at), newest: Some(taken.newest_at) };
        self.last_rtt = None;
        self.sample_rtt(now, &originals, timestamps.map(|ts| ts.echo));
        self.postpone_timer(now);
        self.policy.on_plain_ack(now, &taken);
        let plain = PlainAck {
            now,
            acked: acked.min(delivered),
            srtt: self.core.rtt.srtt(),
            min_rtt: self.core.rtt.min(),
            in_flight: self.core.board.in_flight(),
            is_cwnd_limited: self.is_cwnd_limited(),
        };
        if !self.core.cc.on_plain_ack(&plain) {
            let summary = AckSummary::plain(now, prior_una, acked, delivered, timestamps.map(|ts| ts.echo));
            let peer_timestamp = timestamps.map(|ts| ts.value);
            self.tell_controller(&summary, newest.as_ref(), peer_timestamp, prior_in_flight, false);
        }
        true
    }

    /// The pacer holds back what leaves in its turn, as [`poll`](Sender::poll) would find. Returns whether nothing is to leave
    /// before that.
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

    /// Begins to send full segments of new data, under `sends_new`, as the general path's [`poll`](Sender::poll) would answer
    /// them one by one. `None`: something else may have to leave.
    #[inline(always)]
    pub fn begin_burst(&mut self, now: Time) -> Option<Burst> {
        let core = &self.core;
        let limit = self.write_end.min(self.peer_edge);
        if core.board.is_empty() || core.nxt() + core.mss() > limit {
            return None;
        }
        let (start, mss) = (core.nxt(), core.mss());
        let room = core.window().saturating_sub(core.board.in_flight());
        let last_start = limit.min(start + room).saturating_sub(mss);
        let (most, last) = match &self.pacer {
            Some(pacer) if pacer.next_departure() > now => (0, 0),
            None if self.has_steady_window() => (u32::MAX, last_start),
            // What leaves may change what the next one may do.
            _ => (1, last_start.min(start)),
        };
        Some(Burst { limit, start, mss, last_start, last, most, sent: 0 })
    }

    /// May another segment leave?
    #[inline(always)]
    pub fn continues(&self, burst: &Burst) -> bool {
        self.core.nxt() <= burst.last
    }

    /// The next segment of a burst that [continues](Sender::continues): where it starts, and whether it is pushed.
    #[inline(always)]
    pub fn next_in_burst(&mut self, now: Time, burst: &mut Burst) -> (u64, bool) {
        let mss = self.core.mss();
        let is_pushed = self.push(mss);
        let core = &mut self.core;
        let (start, end) = (core.nxt(), core.nxt() + mss);
        core.push(Sent::new(now, start, end, is_pushed));
        burst.sent += 1;
        (start, is_pushed)
    }

    /// Is the window the same after a segment has left, unless that is the first one in flight? A controller that hears of sends may
    /// change it.
    #[inline]
    pub fn has_steady_window(&self) -> bool {
        !self.core.cc.hears_sends() && !self.core.reduction.goes_on()
    }

    /// What the segments of a burst leave behind. Returns whether nothing more may leave.
    #[inline(always)]
    pub fn end_burst(&mut self, now: Time, burst: &Burst) -> bool {
        let core = &self.core;
        let has_more = core.nxt() + core.mss() <= burst.limit;
        let is_blocked = burst.sent < burst.most && has_more && core.nxt() > burst.last_start;
        self.settle(now, burst, is_blocked);
        let is_over = is_blocked || (has_more && self.is_held_back(now));
        self.has_data_waiting |= is_over;
        is_over
    }

    /// Books the segments that have left.
    #[inline(always)]
    fn settle(&mut self, now: Time, burst: &Burst, is_blocked: bool) {
        let (nxt, mss) = (self.core.nxt(), self.core.mss());
        let segments = u64::from(burst.sent);
        if segments > 0 {
            self.core.stamp(now, burst.sent, mss);
            if self.timed.is_none() {
                self.timed = Some((burst.start + mss, now));
            }
            self.core.stats.data_segments_sent += segments;
            self.core.stats.data_bytes_sent += segments * mss;
            self.note_sent(now, &Sent::new(now, nxt - mss, nxt, false), self.core.board.last_number());
            // What is paced leaves one by one.
            self.pace(now, mss);
        }
        if is_blocked || segments > 0 {
            self.note_usage(is_blocked);
        }
    }
}

/// What a connection may send at once; if it is paced, one segment at a time.
pub struct Burst {
    /// The stream position that it does not exceed, by what is written and the peer's window.
    limit: u64,
    /// Where its first segment starts, and what each takes.
    start: u64,
    mss: u64,
    /// Where its last segment may start, given cwnd, too;
    last_start: u64,
    /// given how many it may send, too. No segment starts at 0.
    last: u64,
    most: u32,
    pub sent: u32,
}

impl Burst {
    /// Limits a burst that has just begun.
    pub fn limit_to(&mut self, segments: u32) {
        let last = segments.checked_sub(1).map_or(0, |others| self.start + u64::from(others) * self.mss);
        (self.most, self.last) = (self.most.min(segments), self.last.min(last));
    }
}
