//! Which segment leaves next, if any may.

use super::Sender;
use crate::tcp::copies::TAIL;
use crate::tcp::core::{Core, Phase};
use crate::tcp::outgoing::{Outgoing, Reason};
use crate::tcp::recovery::LossRecovery;
use crate::tcp::scoreboard::{Fate, Outstanding};
use airtcp_wire::{Dur, Rate, Time};

impl Sender {
    /// The pacing rate. Zero: not paced.
    #[inline(always)]
    fn pacing_rate(&self) -> Rate {
        self.core.cc.pacing_rate().unwrap_or_else(|| self.rate_of_window())
    }

    /// Linux's rule for controllers that have no rate: twice cwnd a round trip in slow start, 1.2 times it afterwards.
    #[inline(never)]
    fn rate_of_window(&self) -> Rate {
        let cc = &self.core.cc;
        match self.core.rtt.srtt() {
            srtt if srtt == Dur::ZERO || !self.paces_always => Rate(0),
            srtt => Rate::of(cc.cwnd(), srtt).mul_f64(if cc.cwnd() < cc.ssthresh() / 2 { 2.0 } else { 1.2 }),
        }
    }

    /// Marks outstanding segments with more than `payload` bytes lost.
    #[inline]
    pub fn resend_longer_than(&mut self, payload: u64) {
        for index in 0..self.core.board.len() {
            if self.core.board.get(index).is_some_and(|sent| self.payload(&sent) > payload) {
                self.core.mark_lost(index);
            }
        }
    }

    /// See [`Connection::first_in_vain`](crate::tcp::Connection::first_in_vain).
    pub fn first_in_vain(&self) -> (u32, u64) {
        (self.retries, self.core.board.get(0).map_or(0, |first| self.payload(&first)))
    }

    /// The next range to send, if one may leave now.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        if self.unsent() == 0 && self.core.board.is_empty() {
            return None;
        }
        let outgoing = self.poll_outstanding(now);
        if outgoing.is_none() {
            self.has_data_waiting = self.core.nxt() < self.write_end;
        }
        match self.copies.is_some() {
            true => outgoing.or_else(|| self.poll_copy(now)),
            false => outgoing,
        }
    }

    /// The next copy of the tail, if all that was written has left.
    #[cold]
    pub fn poll_copy(&mut self, now: Time) -> Option<Outgoing> {
        if self.copies.is_none() || self.unsent() > 0 || self.core.board.lost() > 0 || self.is_held_back(now)
        {
            return None;
        }
        let Core { board, .. } = &self.core;
        let copies = self.copies.as_mut()?;
        if copies.is_new_tail(self.core.nxt()) {
            let tail = board.len().saturating_sub(TAIL)..board.len();
            let segments = tail.filter_map(|index| board.get(index)).filter(|sent| sent.start > 0);
            segments.for_each(|sent| copies.add(Outgoing::of(&sent, Reason::Copy)));
        }
        let room = self.core.window().saturating_sub(board.in_flight());
        let has_arrived = |segment: &Outgoing| {
            let sent = board.get(board.index_at(segment.start));
            segment.end <= board.una() || sent.is_some_and(|sent| sent.fate == Fate::Sacked)
        };
        let copy = copies.poll(board.una(), room, has_arrived)?;
        self.core.stats.copies += 1;
        self.pace(now, copy.end - copy.start);
        Some(copy)
    }

    fn poll_outstanding(&mut self, now: Time) -> Option<Outgoing> {
        // A probe that was due may be needless by now: nobody may have asked for it before an ACK came.
        if self.persist.is_due()
            && let Some(probe) = self.window_probe(now)
        {
            return Some(probe);
        }
        if self.core.allowance.has_probe()
            && let Some(probe) = self.tail_loss_probe(now)
        {
            return Some(probe);
        }
        if !self.core.allowance.has_resend() && self.is_held_back(now) {
            return None;
        }
        // F-RTO (RFC 5682 §2.1 step 2b): new segments go before retransmissions.
        if self.core.allowance.has_new()
            && let Some(outgoing) = self.poll_new(now)
        {
            return Some(outgoing);
        }
        if let Some(index) = self.core.board.first_lost() {
            return self.poll_lost(now, index);
        }
        self.core.allowance.end_resends();
        self.poll_new(now)
    }

    fn poll_lost(&mut self, now: Time, index: usize) -> Option<Outgoing> {
        let (bytes, in_flight) = (self.core.board.get(index)?.bytes(), self.core.board.in_flight());
        let reason = match self.core.allowance.take_resend() {
            Some(reason) => reason,
            // A FIN may make a segment one longer than a window of one segment.
            None if in_flight == 0 || in_flight + bytes <= self.core.window() => Reason::Retransmit,
            None => {
                self.note_usage(true);
                return None;
            }
        };
        self.resend(now, index, reason)
    }

    fn resend(&mut self, now: Time, index: usize, reason: Reason) -> Option<Outgoing> {
        let core = &mut self.core;
        let sent = core.resend(now, index)?;
        core.stats.retransmissions += 1;
        if reason != Reason::TailLossProbe {
            core.spurious.on_resent();
        }
        self.core.stats.retransmitted_bytes += self.payload(&sent);
        // Karn: no sample from a segment whose range has been resent.
        self.timed.iter_mut().for_each(|timed| timed.on_resent(sent.start));
        let restarts = self.restarts_at_fast_retransmit && reason == Reason::FastRetransmit;
        if index == 0 && (restarts || self.policy.rearms_timer()) {
            debug_assert!(!self.leaves_timers_open(), "what plain ACKs leave open is settled before");
            self.rto_deadline = self.core.rtt.deadline(now);
        }
        self.after_send(now, &sent, self.core.board.number(index));
        let outgoing = Outgoing::of(&sent, reason);
        if sent.start > 0 && self.unsent() == 0 {
            self.copies.iter_mut().for_each(|copies| copies.add(outgoing));
        }
        Some(outgoing)
    }

    fn poll_new(&mut self, now: Time) -> Option<Outgoing> {
        let core = &self.core;
        let unsent = self.unsent();
        if unsent == 0 {
            return self.poll_without_data(now);
        }
        let in_flight = core.board.in_flight();
        let (payload, length) = self.next_segment();
        if length == 0 || self.must_wait_for_more(length, unsent) {
            self.watch_window(now);
            return None;
        }
        if in_flight + payload > core.window() && !core.allowance.has_new() {
            self.note_usage(true);
            return None;
        }
        self.core.allowance.use_new();
        Some(self.send_new(now, length))
    }

    /// Payload of the next new segment, and the sequence space that it takes, within the peer's window and one segment. The
    /// FIN goes with the last byte; in Linux, where a write sends at once what it may, only if that byte had to wait.
    #[inline]
    fn next_segment(&self) -> (u64, u64) {
        let room = self.peer_edge().saturating_sub(self.core.nxt());
        let data = self.write_end.saturating_sub(self.core.nxt());
        let payload = data.min(self.core.mss()).min(room);
        let is_joined = data == 0 || self.has_data_waiting || !self.core.spurious.is_linuxs();
        let takes_fin =
            self.is_closing && is_joined && payload == data && payload < room && self.unsent() > data;
        (payload, payload + u64::from(takes_fin))
    }

    fn poll_without_data(&mut self, now: Time) -> Option<Outgoing> {
        let core = &mut self.core;
        if core.board.in_flight() < core.window() {
            core.sampler.on_app_limited(core.board.in_flight());
            if core.phase() == Phase::Recovery && core.board.in_flight() + core.mss() <= core.window() {
                self.policy.speculate(core);
                let index = core.board.first_lost()?;
                return self.resend(now, index, Reason::Retransmit);
            }
        }
        None
    }

    /// Nagle (RFC 9293 §3.7.4) and the sender's side of silly window avoidance (§3.8.6.2.1).
    fn must_wait_for_more(&self, length: u64, unsent: u64) -> bool {
        let core = &self.core;
        if self.must_wait_for_room() {
            return true;
        }
        if length >= core.mss() || (length < unsent && length * 2 >= u64::from(self.peer_window_max.max(1))) {
            return false;
        }
        let is_last = core.nxt() + length >= self.write_end;
        !is_last || (self.has_nagle && !self.is_closing && self.awaits_short_segment())
    }

    /// Nagle's algorithm waits for all that is outstanding, Minshall's variant (Linux) for a segment that was not full.
    fn awaits_short_segment(&self) -> bool {
        let core = &self.core;
        // A SYN that is outstanding is no data.
        let una = core.una().max(1);
        core.nxt() > una && (!core.spurious.is_linuxs() || self.short_end > una)
    }

    /// Linux sends no part of a segment into a window that is too small for all of it before the persist timer has expired.
    pub(super) fn must_wait_for_room(&self) -> bool {
        let wanted = self.unsent().min(self.core.mss());
        self.core.spurious.is_linuxs() && self.peer_edge().saturating_sub(self.core.nxt()) < wanted
    }

    /// Returns whether the next segment, of `length` bytes, carries PSH: at the end of the data (RFC 9293 §3.9.1.2), and as
    /// in Linux after more than half of the peer's largest window without PSH.
    #[inline]
    pub(super) fn push(&mut self, length: u64) -> bool {
        let end = self.core.nxt() + length;
        let is_pushed = end >= self.write_end || end > self.unpushed_limit;
        if is_pushed {
            self.unpushed_limit = end + u64::from(self.peer_window_max / 2);
        }
        is_pushed
    }

    pub(super) fn send_new(&mut self, now: Time, length: u64) -> Outgoing {
        let is_pushed = self.push(length);
        let core = &mut self.core;
        if core.board.is_empty() && core.nxt() > 0 {
            core.sampler.on_app_limited(0);
            let (idle, rto) = (now.since(self.last_sent_at), core.rtt.rto());
            if idle > rto {
                core.cc.on_restart(now, (idle.0 - 1) / rto.0.max(1));
            }
        }
        if core.phase() == Phase::Open {
            core.inflation.on_sent(length);
        }
        let sent = Outstanding::new(now, core.nxt(), core.nxt() + length, is_pushed);
        let payload = self.payload(&sent);
        if payload < self.core.mss() {
            self.short_end = sent.end;
        }
        if payload < length {
            self.core.stats.without_data += u32::from(payload == 0);
            self.core.stats.no_data += (length - payload) as u32;
        }
        self.launch(now, sent)
    }

    /// Puts a new segment on the scoreboard.
    #[inline(always)]
    pub(super) fn launch(&mut self, now: Time, sent: Outstanding) -> Outgoing {
        self.core.push(sent);
        self.core.stamp(now, 1, sent.bytes());
        let number = self.core.board.last_number();
        self.timed.iter_mut().for_each(|timed| timed.on_sent(now, sent.end));
        self.after_send(now, &sent, number);
        self.note_usage(false);
        Outgoing::of(&sent, Reason::New)
    }

    #[inline(always)]
    pub(super) fn note_usage(&mut self, is_blocked: bool) {
        let core = &self.core;
        let is_limited = is_blocked || core.board.in_flight() >= core.window();
        self.usage.note(is_limited, core.flight_size(), core.una(), core.nxt());
    }

    fn after_send(&mut self, now: Time, sent: &Outstanding, number: u64) {
        self.note_sent(now, sent, number);
        self.pace(now, sent.bytes());
    }

    /// The pacer books `bytes` that have left.
    #[inline(always)]
    pub(super) fn pace(&mut self, now: Time, bytes: u64) {
        if self.is_paced() {
            let rate = self.pacing_rate();
            self.pacer.iter_mut().for_each(|pacer| pacer.on_sent(now, bytes, rate));
        }
    }

    /// Tells everything but the pacer that the segment with this number has left.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, now: Time, sent: &Outstanding, number: u64) {
        self.last_sent_at = now;
        let in_flight = self.core.board.in_flight();
        self.core.cc.on_sent(now, sent.bytes(), in_flight);
        self.core.reduction.on_sent(sent.bytes());
        self.policy.on_sent(&self.core, now, sent, number);
        // With a timer for each segment, plain ACKs compute every deadline at once.
        match self.leaves_timers_open() {
            true => self.policy.postpone_probe(now, true),
            false => self.start_timers(now, sent.end),
        }
    }

    /// Starts the timers for a segment that ends at `end` and has just left.
    // Not inlined: most new data leaves while a plain ACK has restarted the timer anyway.
    #[inline(never)]
    fn start_timers(&mut self, now: Time, end: u64) {
        if self.rto_deadline.is_never() || self.segment_timers.is_some() {
            self.start_rto(now, end);
        }
        let Sender { core, policy, rto_deadline, .. } = self;
        policy.schedule_probe(core, now, || core.oldest_deadline(now).min(*rto_deadline));
    }

    #[inline(never)]
    pub(super) fn start_rto(&mut self, now: Time, end: u64) {
        self.rto_deadline = match &mut self.segment_timers {
            Some(timers) => {
                timers.start(end, &self.core.rtt, now);
                timers.next()
            }
            // RFC 6298 §5.1.
            None => self.core.rtt.deadline(now),
        };
    }

    /// RFC 8985 §7.3: a new segment if the peer's window has room, else the last one again.
    fn tail_loss_probe(&mut self, now: Time) -> Option<Outgoing> {
        self.core.allowance.use_probe();
        let last = self.core.board.len().checked_sub(1)?;
        self.core.stats.tail_loss_probes += 1;
        let (_, length) = self.next_segment();
        self.rto_deadline = Time::NEVER;
        match length {
            0 => self.resend(now, last, Reason::TailLossProbe),
            _ => Some(self.send_new(now, length)),
        }
    }

    /// The peer's window keeps the sender from sending: if nothing is outstanding whose ACK could open it, a probe leaves
    /// after an RTO (RFC 9293 §3.8.6.1).
    fn watch_window(&mut self, now: Time) {
        if self.core.board.is_empty() {
            self.persist.arm(now, self.core.rtt.rto(), self.core.rtt.longest());
        }
    }

    /// A zero-window probe: one octet beyond the window, not on the scoreboard, because the peer most likely drops it. Linux
    /// sends as much of a segment as the window holds, or else an empty one below SND.UNA, which the peer must answer.
    fn window_probe(&mut self, now: Time) -> Option<Outgoing> {
        self.persist.on_probe();
        if self.unsent() == 0 || !self.core.board.is_empty() {
            return None;
        }
        let is_linuxs = self.core.spurious.is_linuxs();
        if is_linuxs && let (_, length @ 1..) = self.next_segment() {
            self.persist.stop();
            return Some(self.send_new(now, length));
        }
        self.watch_window(now);
        let (start, end) = match is_linuxs {
            true => (self.core.una() - 1, self.core.una() - 1),
            false => (self.core.nxt(), self.core.nxt() + 1),
        };
        self.probed_end = end;
        Some(Outgoing { start, end, is_pushed: false, reason: Reason::WindowProbe })
    }

    /// The text that leaves with a SYN (RFC 7413 §2): what the application has written, at most `most` bytes. It stands on the
    /// scoreboard behind the SYN, which goes alone if it is resent. Returns its length in bytes.
    pub fn send_with_syn(&mut self, now: Time, most: u64) -> u64 {
        let length = self.write_end.saturating_sub(self.core.nxt()).min(most);
        if length > 0 {
            self.send_new(now, length);
        }
        length
    }

    /// The next text, or FIN, that leaves before the handshake is complete (RFC 7413 §4.2.2), while the SYN is outstanding.
    pub fn poll_early(&mut self, now: Time) -> Option<Outgoing> {
        let (payload, length) = self.next_segment();
        let data_in_flight = self.core.board.in_flight().saturating_sub(1);
        let has_room = data_in_flight + payload <= self.core.window();
        let may_leave = length > 0 && has_room && !self.is_held_back(now);
        (may_leave && !self.must_wait_for_more(length, self.unsent())).then(|| self.send_new(now, length))
    }

    /// What was sent with the SYN has not been taken: it is resent at once, and that is no sign of congestion
    /// (RFC 7413 §4.2.1).
    pub fn resend_early(&mut self) {
        (0..self.core.board.len()).for_each(|index| self.core.mark_lost(index));
    }

    /// The SYN, for the first time or again.
    pub fn poll_syn(&mut self, now: Time) -> Option<Outgoing> {
        if self.core.nxt() == 0 {
            return Some(self.send_new(now, 1));
        }
        let index = self.core.board.first_lost()?;
        let reason = self.core.allowance.take_resend().unwrap_or(Reason::Retransmit);
        self.resend(now, index, reason)
    }
}
