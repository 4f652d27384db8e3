//! The sending half: acknowledgments in, the next segment's range out.

use super::config::{RtoTimers, RttTiming, TcpConfig, TimeoutPolicy};
use super::connection::Reason;
use super::core::{AckSummary, Core, Phase};
use super::pacer::Pacer;
use super::persist::Persist;
use super::rate::Newest;
use super::recovery::{self, LossRecovery};
use super::scoreboard::{Fate, Sent};
use super::segment_timers::SegmentTimers;
use super::spurious::{Verdict, timestamp};
use super::usage::WindowUsage;
use crate::cc::{Ack, CongestionControl};
use airtcp_wire::{Dur, Rate, Seq, Time};
use std::cell::Cell;
use std::ops::RangeInclusive;

/// Two ticks of a Linux clock (`TCP_TIMEOUT_MIN`).
const EXPEDITED_SYN: Dur = Dur::from_millis(8);

/// An acknowledgment in the sender's terms: positions, bytes.
#[derive(Clone, Copy, Debug)]
pub struct AckIn<'a> {
    pub ack: u64,
    /// SACK blocks above SND.UNA.
    pub blocks: &'a [(u64, u64)],
    /// The range that the ACK reports as received twice (RFC 2883).
    pub dsack: Option<(u64, u64)>,
    /// The advertised window in bytes.
    pub window: u64,
    /// Sequence number of the segment that carries it.
    pub seq: Seq,
    /// The segment has sequence space of its own, so it is no duplicate ACK.
    pub has_payload: bool,
    pub ece: bool,
    /// What a duplicate ACK misses was corrupted.
    pub eln: bool,
    /// Echoed timestamp.
    pub echo: Option<u32>,
    /// The peer's own.
    pub peer_timestamp: Option<u32>,
}

/// When the segments that an ACK reports, and that were never resent, had been sent. RFC 7323 §4.3 times the oldest, with
/// the delay of a delayed ACK; a controller wants to know of the newest.
#[derive(Clone, Copy, Default)]
struct Originals {
    oldest: Option<Time>,
    newest: Option<Time>,
}

impl Originals {
    fn with(self, sent_at: Time) -> Originals {
        Originals { oldest: self.oldest.or(Some(sent_at)), newest: Some(sent_at) }
    }

    fn then(self, later: Originals) -> Originals {
        Originals { oldest: self.oldest.or(later.oldest), newest: later.newest.or(self.newest) }
    }
}

/// A range of the stream to put into a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    pub start: u64,
    pub end: u64,
    pub is_pushed: bool,
    pub reason: Reason,
}

/// The sending half of a connection.
pub struct Sender {
    pub core: Core,
    policy: Box<dyn LossRecovery>,
    timeout_policy: TimeoutPolicy,
    has_nagle: bool,
    restarts_at_fast_retransmit: bool,
    timing: RttTiming,
    /// End and send time of the one segment that is timed (Karn).
    timed: Option<(u64, Time)>,
    pacer: Option<Pacer>,
    paces_always: bool,
    /// Position after the last byte written; the FIN, if any, stands there.
    write_end: u64,
    /// Position after the last segment that carried PSH.
    pushed_end: u64,
    is_closing: bool,
    /// Data was left when nothing more could be sent.
    has_data_waiting: bool,
    /// Position after the last segment that was not full.
    short_end: u64,
    /// Right edge of the peer's window, and the largest window it ever offered.
    peer_edge: u64,
    peer_window_max: u64,
    /// SND.WND, SND.WL1 and SND.WL2: the last window, and the segment that told it.
    last_window: u64,
    window_seq: Seq,
    window_ack: u64,
    usage: WindowUsage,
    last_sent_at: Time,
    rto_deadline: Time,
    /// If each segment has a timer; `rto_deadline` is then the earliest of them.
    segment_timers: Option<SegmentTimers>,
    persist: Persist,
    /// Position after the octet that the last zero-window probe carried.
    probed_end: u64,
    pub retries: u32,
    /// Expiries that do not double a SYN's RTO.
    pub syn_linear: u32,
    pub last_rtt: Option<Dur>,
}

impl Sender {
    pub fn new(config: &TcpConfig, cc: Box<dyn CongestionControl>, mss: u64, has_sack: bool) -> Sender {
        Sender {
            core: Core::new(config, cc, mss, has_sack),
            policy: recovery::build(config, has_sack),
            timeout_policy: config.timeout_policy,
            has_nagle: config.nagle,
            restarts_at_fast_retransmit: config.rto.restart_at_fast_retransmit,
            timing: config.rto.timing,
            timed: None,
            pacer: None,
            paces_always: config.pacing,
            write_end: 1,
            pushed_end: 1,
            is_closing: false,
            has_data_waiting: false,
            short_end: 0,
            peer_edge: 1,
            peer_window_max: 0,
            last_window: 0,
            window_seq: Seq(0),
            window_ack: 0,
            usage: WindowUsage::default(),
            last_sent_at: Time::ZERO,
            rto_deadline: Time::NEVER,
            segment_timers: (config.rto.timers == RtoTimers::Segment).then(SegmentTimers::default),
            persist: Persist::default(),
            probed_end: 0,
            retries: 0,
            syn_linear: 0,
            last_rtt: None,
        }
    }

    /// The handshake is over: what was negotiated replaces what was assumed for the SYN.
    pub fn establish(
        &mut self,
        config: &TcpConfig,
        cc: Box<dyn CongestionControl>,
        mss: u64,
        has_sack: bool,
    ) {
        self.core.sampler.is_read = cc.reads_rate();
        self.core.cc = cc;
        self.core.mss = mss;
        self.core.initial_window = mss * u64::from(config.initial_window);
        self.core.set_sack(config, has_sack);
        self.policy = recovery::build(config, has_sack);
        // A controller that paces does so from the start.
        if self.paces_always || self.core.cc.pacing_rate().is_some() {
            self.pacer = Some(Pacer::new(2 * mss));
        }
    }

    /// The handshake begins anew, with what the application has said so far.
    pub fn restart(&mut self, config: &TcpConfig, cc: Box<dyn CongestionControl>, mss: u64) {
        let (write_end, is_closing, stats) = (self.write_end, self.is_closing, self.core.stats);
        *self = Sender { write_end, is_closing, ..Sender::new(config, cc, mss, false) };
        self.core.stats = stats;
    }

    pub fn write(&mut self, bytes: u64) {
        self.write_end = self.write_end.saturating_add(bytes);
    }

    pub fn set_unsent(&mut self, bytes: u64) {
        self.write_end = self.core.nxt.max(1) + bytes;
    }

    /// Bytes of new data that cwnd and the peer's window let leave now; none before what is lost, or while pacing.
    pub fn allowance(&self, now: Time) -> u64 {
        let core = &self.core;
        let is_paced = self.pacer.as_ref().is_some_and(|pacer| pacer.next_departure() > now);
        if core.board.lost() > 0 || is_paced {
            return 0;
        }
        let room = self.peer_edge.saturating_sub(core.nxt);
        core.window().saturating_sub(core.board.in_flight()).min(room)
    }

    pub fn close(&mut self) {
        self.is_closing = true;
    }

    /// The window on a SYN or SYN-ACK, never scaled.
    pub fn on_initial_window(&mut self, window: u64, seq: Seq) {
        (self.window_seq, self.window_ack) = (seq, self.core.una);
        self.peer_edge = self.core.una.max(1) + window;
        self.peer_window_max = window;
        self.last_window = window;
    }

    #[inline]
    fn data_end(&self) -> u64 {
        self.write_end + u64::from(self.is_closing)
    }

    pub fn is_fin(&self, end: u64) -> bool {
        self.is_closing && end == self.write_end + 1
    }

    /// Bytes of a segment that are neither SYN nor FIN.
    fn payload(&self, sent: &Sent) -> u64 {
        sent.bytes() - u64::from(sent.start == 0) - u64::from(self.is_fin(sent.end))
    }

    /// What an ACK may acknowledge (RFC 5961 §5.2): nothing older than a window, as far as there was one, nor what was never
    /// sent. A zero-window probe's octet was.
    #[inline]
    pub fn acceptable_acks(&self) -> RangeInclusive<u64> {
        let core = &self.core;
        core.una.saturating_sub(self.peer_window_max).max(1)..=core.nxt.max(self.probed_end)
    }

    /// Zero-window probes in a row.
    pub fn window_probes(&self) -> u32 {
        self.persist.probes()
    }

    /// All that was written and the FIN have been acknowledged.
    pub fn is_finished(&self) -> bool {
        self.is_closing && self.core.una == self.write_end + 1
    }

    /// Segments that are remembered.
    pub fn kept(&self) -> usize {
        self.core.board.len() + self.policy.kept()
    }

    /// Bytes from SND.UNA to the right edge of the peer's window.
    pub fn peer_window(&self) -> u64 {
        self.peer_edge.saturating_sub(self.core.una)
    }

    pub fn unsent(&self) -> u64 {
        self.data_end() - self.core.nxt
    }

    /// Nothing is outstanding, nor was anything resent, so an ACK of `ack` can tell of nothing but the peer's window.
    #[inline]
    pub fn is_idle_at(&self, ack: u64) -> bool {
        self.core.board.is_empty() && ack == self.core.una && self.core.stats.retransmissions == 0
    }

    /// Takes an acceptable ACK in.
    pub fn handle_ack(&mut self, now: Time, ack: &AckIn<'_>) {
        self.last_rtt = None;
        self.accept_probed_octet(ack.ack);
        if ack.ack > self.core.nxt {
            return;
        }
        if ack.ack < self.core.una {
            return self.handle_old_ack(now, ack);
        }
        let prior_in_flight = self.core.board.in_flight();
        let was_held = self.core.holds_growth();
        let (summary, newest, originals) = self.update_scoreboard(now, ack);
        self.update_window(ack.ack, ack.window, ack.seq);
        if summary.acked > 0 {
            self.retries = 0;
            self.core.limited_sent = 0;
        }
        self.sample_rtt(now, &summary, &originals);
        self.recover(&summary, ack);
        let rate = self.core.sampler.sample(now, &newest, self.core.rtt.min());
        self.tell_controller(now, ack, &summary, prior_in_flight, was_held, rate);
        self.restart_timer(now, summary.acked > 0);
        if summary.acked > 0 || summary.sacked > 0 {
            self.policy.schedule_probe(&self.core, now, self.rto_deadline);
        }
    }

    /// An ACK that another one has overtaken: nothing but its SACK blocks may be news.
    fn handle_old_ack(&mut self, now: Time, ack: &AckIn<'_>) {
        if ack.blocks.is_empty() && ack.dsack.is_none() {
            return;
        }
        let una = self.core.una;
        let ack = AckIn { ack: una, has_payload: true, eln: false, ece: false, echo: None, ..*ack };
        let (summary, _, _) = self.update_scoreboard(now, &ack);
        self.recover(&summary, &ack);
    }

    /// A zero-window probe's octet that the peer had room for after all.
    fn accept_probed_octet(&mut self, ack: u64) {
        if self.persist.probes() > 0
            && ack == self.core.nxt + 1
            && self.core.board.is_empty()
            && ack <= self.data_end()
        {
            self.core.nxt = ack;
            self.core.una = ack;
        }
    }

    #[inline]
    fn update_scoreboard(&mut self, now: Time, ack: &AckIn<'_>) -> (AckSummary, Newest, Originals) {
        let is_window_update = match self.core.spurious.is_linuxs() {
            true => self.is_window_news(ack.ack, ack.window, ack.seq),
            // RFC 5681 §2.
            false => ack.window != self.last_window,
        };
        let counts_duplicates = self.core.counts_duplicates();
        let Core { board, sampler, una, nxt, recover, mss, .. } = &mut self.core;
        let policy = &mut self.policy;
        let (delivered_before, prior_lost) = (sampler.delivered, sampler.lost);
        let mut newest = Newest::default();
        let originals = Cell::new(Originals::default());
        let mut fills_hole = false;
        let mut original_delivered = false;
        let mut deliver = |sent: &Sent| {
            sampler.on_delivered(now, sent, &mut newest);
            policy.on_delivered(now, sent, ack.echo);
            if !sent.is_resent() {
                originals.set(originals.get().with(sent.sent_at));
                original_delivered |= sent.end <= *recover;
            }
        };
        // In Linux's order, for the last one timed is RACK's.
        let sacked_before = board.sacked();
        if !ack.blocks.is_empty() {
            board.sack(ack.blocks, &mut deliver);
        }
        let sacked = board.sacked() - sacked_before;
        let sacked_originals = originals.take();
        board.acknowledge(ack.ack, |sent| {
            fills_hole |= sent.is_resent();
            if sent.fate != Fate::Sacked {
                deliver(sent);
            }
        });
        if fills_hole {
            // Karn: what lay behind a hole may have arrived long before this ACK.
            originals.set(Originals::default());
        }
        let named = sampler.delivered - delivered_before;
        let acked = ack.ack - *una;
        let is_repeated = acked == 0 && !ack.has_payload && !is_window_update;
        let is_duplicate = is_repeated && *nxt > *una;
        if is_duplicate && counts_duplicates {
            sampler.on_announced(now, board.announce(*mss));
        } else if acked > 0 {
            sampler.on_known(board.tell_announced(acked, *mss));
        }
        let delivered = match board.emulates_sack {
            true => sampler.delivered.saturating_sub(delivered_before),
            false => named,
        };
        let summary = AckSummary {
            now,
            prior_una: *una,
            acked,
            delivered,
            sacked,
            // RFC 6675 §2: with SACK, a duplicate is what tells something new, whatever the window does.
            is_duplicate: is_duplicate || (acked == 0 && sacked > 0),
            is_repeated,
            has_dsack: ack.dsack.is_some(),
            prior_lost,
            echo: ack.echo,
            ece: ack.ece,
            // Linux without SACK: nor does it prove a timeout spurious.
            original_delivered: original_delivered && !(fills_hole && board.emulates_sack),
        };
        self.core.una = ack.ack;
        (summary, newest, originals.get().then(sacked_originals))
    }

    /// The peer's window of `window` bytes beyond `ack`, from a segment with sequence number `seq`. An edge that moves back is
    /// obeyed (RFC 9293 §3.8.6).
    #[inline]
    pub fn update_window(&mut self, ack: u64, window: u64, seq: Seq) {
        // Linux waits anew from each answer to a probe.
        if self.core.spurious.is_linuxs() {
            self.persist.put_off();
        }
        if !self.is_window_news(ack, window, seq) {
            return;
        }
        (self.window_seq, self.window_ack, self.last_window) = (seq, ack, window);
        self.peer_window_max = self.peer_window_max.max(window);
        self.peer_edge = ack + window;
        if self.peer_edge > self.core.nxt && !self.must_wait_for_room() {
            self.persist.stop();
        }
    }

    /// RFC 9293 §3.10.7.4 (SND.WL1 and SND.WL2); of two segments that differ in nothing else, Linux believes the one with the
    /// larger window, or with none.
    #[inline]
    fn is_window_news(&self, ack: u64, window: u64, seq: Seq) -> bool {
        let age = seq.distance(self.window_seq);
        ack > self.window_ack || age > 0 || (age == 0 && (window > self.last_window || window == 0))
    }

    #[inline]
    fn sample_rtt(&mut self, now: Time, summary: &AckSummary, originals: &Originals) {
        let since = |sent_at| now.since(sent_at);
        let sample = match self.timing {
            RttTiming::OneAtATime => {
                let timed = self.timed.filter(|(end, _)| summary.prior_una + summary.acked >= *end);
                if timed.is_some() {
                    self.timed = None;
                }
                timed.map(|(_, sent_at)| since(sent_at))
            }
            RttTiming::EveryAck => originals.oldest.map(since).or_else(|| {
                // Karn: a resent segment's RTT is known only by the timestamp that its ACK echoes (RFC 7323 §4).
                let echo = summary.echo.filter(|_| summary.acked > 0)?;
                Some(Dur::from_millis(u64::from(timestamp(now).wrapping_sub(echo))))
            }),
        };
        if let Some(sample) = sample {
            self.last_rtt = Some(originals.newest.map_or(sample, since));
            self.core.handle_rtt(now, sample, self.last_rtt.unwrap_or(sample));
        }
    }

    fn recover(&mut self, summary: &AckSummary, ack: &AckIn<'_>) {
        let now = summary.now;
        if summary.acked > 0 {
            self.core.dupacks = 0;
            self.core.is_corruption = false;
        } else if summary.is_duplicate {
            self.core.dupacks += 1;
            self.core.stats.duplicate_acks_received += 1;
            self.core.note_cause(now, ack.eln);
        }
        if let Some(range) = ack.dsack {
            self.note_duplicate(range, summary.prior_una);
        }
        let was_recovering = self.core.phase == Phase::Recovery;
        let is_undone =
            (self.core.phase != Phase::Open || summary.has_dsack) && self.judge_spurious(summary, ack);
        self.core.end_ecn_reduction();
        // Linux looks for losses again at the next ACK.
        if !(is_undone && was_recovering && self.core.spurious.is_linuxs()) {
            self.policy.on_ack(&mut self.core, summary);
        }
        if ack.ece {
            self.core.handle_ecn_echo(now);
        }
        if let Some(prr) = &mut self.core.prr {
            let is_safe = summary.acked > 0 && self.core.sampler.lost == summary.prior_lost;
            prr.on_ack(summary.delivered, self.core.board.in_flight(), is_safe);
        }
    }

    /// A DSACK counts if it is about a segment that has been resent: one that was acknowledged before, or one still
    /// outstanding.
    fn note_duplicate(&mut self, (start, end): (u64, u64), prior_una: u64) {
        let board = &self.core.board;
        let is_resent = || board.get(board.index_at(start)).is_some_and(Sent::is_resent);
        if end <= prior_una || is_resent() {
            self.core.spurious.on_duplicate(end);
        }
    }

    /// Answers whether it has undone the episode.
    fn judge_spurious(&mut self, summary: &AckSummary, ack: &AckIn<'_>) -> bool {
        if ack.ece {
            self.core.spurious.forget();
        }
        let is_spurious = self.core.spurious.all_were_duplicates()
            || (self.core.phase != Phase::Open && self.core.spurious.eifel_says_spurious(summary));
        if is_spurious {
            self.undo(summary, ack.ece);
            return true;
        }
        let has_new_data = self.unsent() > 0 && self.peer_edge > self.core.nxt;
        let verdict = self.core.spurious.handle_f_rto(summary, self.core.una, has_new_data);
        match verdict {
            Verdict::Nothing => {}
            Verdict::SendNew => self.core.extra_segments = 2,
            Verdict::Genuine => self.core.extra_segments = 0,
            Verdict::Spurious => self.undo(summary, ack.ece),
        }
        self.core.spurious.close_eifel(summary);
        verdict == Verdict::Spurious
    }

    fn undo(&mut self, summary: &AckSummary, ece: bool) {
        self.core.undo(summary.now, summary.acked, ece);
        self.policy.on_undo(&self.core);
        if let Some(timers) = &mut self.segment_timers {
            timers.resume(&self.core.rtt, summary.now);
        }
    }

    #[inline]
    fn tell_controller(
        &mut self,
        now: Time,
        ack: &AckIn<'_>,
        summary: &AckSummary,
        prior_in_flight: u64,
        was_held: bool,
        rate: crate::cc::RateSample,
    ) {
        let core = &mut self.core;
        core.cc.on_ack(&Ack {
            now,
            acked: summary.acked,
            delivered: summary.delivered,
            is_duplicate: summary.is_duplicate,
            rtt: self.last_rtt,
            srtt: core.rtt.srtt(),
            min_rtt: core.rtt.min(),
            prior_in_flight,
            in_flight: core.board.in_flight(),
            in_recovery: was_held || core.is_reducing(),
            in_loss: core.phase == Phase::Loss,
            is_cwnd_limited: self.usage.is_limited(core.cc.cwnd() < core.cc.ssthresh(), core.cc.cwnd()),
            ece: ack.ece,
            peer_timestamp: ack.peer_timestamp,
            una: core.una,
            nxt: core.nxt,
            rate,
        });
    }

    /// The controller's rate, or Linux's rule for controllers that have none: twice cwnd a round trip in slow start,
    /// 1.2 times it afterwards. Zero: not paced.
    fn pacing_rate(&self) -> Rate {
        let cc = &self.core.cc;
        cc.pacing_rate().unwrap_or_else(|| match self.core.rtt.srtt() {
            srtt if srtt == Dur::ZERO || !self.paces_always => Rate(0),
            srtt => Rate::of(cc.cwnd(), srtt).mul_f64(if cc.cwnd() < cc.ssthresh() / 2 { 2.0 } else { 1.2 }),
        })
    }

    /// RFC 6298 §5: (5.2) all acknowledged: off; (5.3) new data acknowledged: restart.
    #[inline]
    fn restart_timer(&mut self, now: Time, has_progress: bool) {
        if self.segment_timers.is_some() {
            self.settle_segment_timers();
        } else if self.core.board.is_empty() {
            self.rto_deadline = Time::NEVER;
        } else if has_progress || self.rto_deadline.is_never() {
            self.rto_deadline = self.core.rtt.deadline(now);
        }
    }

    #[cold]
    fn settle_segment_timers(&mut self) {
        let Some(timers) = &mut self.segment_timers else { return };
        timers.acknowledge(self.core.una);
        self.rto_deadline = timers.next();
    }

    /// The earliest of the sender's timers.
    #[inline]
    pub fn deadline(&self, now: Time) -> Time {
        let pacing = match &self.pacer {
            Some(pacer) if pacer.next_departure() > now && self.has_something_to_send() => {
                pacer.next_departure()
            }
            _ => Time::NEVER,
        };
        self.rto_deadline.min(self.persist.deadline()).min(self.policy.deadline()).min(pacing)
    }

    fn has_something_to_send(&self) -> bool {
        (self.core.board.lost() > 0 || self.unsent() > 0) && self.core.board.in_flight() < self.core.window()
    }

    pub fn handle_timeout(&mut self, now: Time) {
        if self.policy.deadline() <= now {
            self.policy.handle_timeout(&mut self.core, now);
        }
        self.persist.handle_timeout(now);
        // RFC 8985 §7.2: a probe takes the place of a timeout that is due at the same time.
        if self.rto_deadline <= now && !self.core.is_probe_due {
            self.handle_rto(now);
        }
    }

    /// RFC 6298 §5.4 to 5.6.
    fn handle_rto(&mut self, now: Time) {
        self.rto_deadline = Time::NEVER;
        let Some((index, retries)) = self.expired_segment(now) else { return };
        self.retries = retries;
        self.timed = None;
        if self.core.una > 0 || retries > self.syn_linear {
            self.core.rtt.on_expiry();
        }
        if self.core.una == 0 {
            // A SYN was lost: no window to reduce (RFC 5681 §3.1 sees to the initial window).
            self.core.stats.timeouts += 1;
            self.core.forced = Some(Reason::Timeout);
            self.core.mark_first_lost();
            return;
        }
        let was_open = self.core.phase == Phase::Open;
        let is_repeated = self.core.begin_loss(now, retries);
        self.mark_timed_out(now, index);
        self.policy.on_timeout();
        self.core.enter_loss(now, is_repeated);
        self.core.spurious.on_timeout(was_open, retries);
    }

    /// Whose timer has expired, and how often in a row: the first segment's, or with a timer a segment perhaps a later
    /// one's.
    fn expired_segment(&mut self, now: Time) -> Option<(usize, u32)> {
        let Some(timers) = &mut self.segment_timers else { return Some((0, self.retries + 1)) };
        let board = &self.core.board;
        let expired = std::iter::from_fn(|| timers.expire(now))
            .filter_map(|(end, expiries)| Some((board.index_at(end).checked_sub(1)?, expiries)))
            .find(|&(index, _)| board.get(index).is_some_and(|sent| sent.fate != Fate::Sacked));
        self.rto_deadline = timers.next();
        expired
    }

    /// Marks lost what an expiry declares lost, from the segment at `index` on.
    fn mark_timed_out(&mut self, now: Time, index: usize) {
        self.core.survivors = 0;
        if self.timeout_policy == TimeoutPolicy::SelectiveRepeat {
            return self.core.mark_lost(index);
        }
        let Some(timers) = &mut self.segment_timers else {
            return self.policy.mark_timed_out(&mut self.core, index, now);
        };
        // Paper 003 §III: go-back-N resets the timers and resends all that is outstanding.
        self.core.mark_all_lost_from(index);
        if let Some(first) = self.core.board.get(index) {
            timers.stop_between(first.end, self.core.recover);
            self.rto_deadline = timers.next();
        }
    }

    /// The next range to send, if one may leave now.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        if self.unsent() == 0 && self.core.board.is_empty() {
            return None;
        }
        let outgoing = self.poll_outstanding(now);
        if outgoing.is_none() {
            self.has_data_waiting = self.core.nxt < self.write_end;
        }
        outgoing
    }

    fn poll_outstanding(&mut self, now: Time) -> Option<Outgoing> {
        if self.persist.is_due() {
            return self.window_probe(now);
        }
        if self.core.is_probe_due {
            return self.tail_loss_probe(now);
        }
        if self.core.forced.is_none() && self.pacer.as_ref().is_some_and(|pacer| pacer.next_departure() > now)
        {
            return None;
        }
        // F-RTO (RFC 5682 §2.1 step 2b): new segments go before retransmissions.
        if self.core.extra_segments > 0
            && let Some(outgoing) = self.poll_new(now)
        {
            return Some(outgoing);
        }
        if let Some(index) = self.core.board.first_lost() {
            return self.poll_lost(now, index);
        }
        self.core.forced = None;
        self.poll_new(now)
    }

    fn poll_lost(&mut self, now: Time, index: usize) -> Option<Outgoing> {
        let (bytes, in_flight) = (self.core.board.get(index)?.bytes(), self.core.board.in_flight());
        let reason = match self.core.forced.take() {
            Some(reason) => reason,
            // A FIN may make a segment one longer than a window of one segment.
            None if in_flight == 0 || in_flight + bytes <= self.core.window() => Reason::Retransmit,
            None => {
                self.note_usage(true);
                return None;
            }
        };
        Some(self.resend(now, index, reason))
    }

    fn resend(&mut self, now: Time, index: usize, reason: Reason) -> Outgoing {
        let core = &mut self.core;
        let in_flight = core.board.in_flight();
        let sampler = &mut core.sampler;
        core.board.resend(index, |sent| sampler.on_send(now, false, in_flight, sent));
        let sent = *core.board.get(index).expect("just resent");
        core.stats.retransmissions += 1;
        if reason != Reason::TailLossProbe {
            core.spurious.on_resent();
        }
        self.core.stats.retransmitted_bytes += self.payload(&sent);
        // Karn: no sample from a segment whose range has been resent.
        self.timed = self.timed.filter(|(end, _)| *end <= sent.start);
        let restarts = self.restarts_at_fast_retransmit && reason == Reason::FastRetransmit;
        if index == 0 && (restarts || self.policy.rearms_timer()) {
            self.rto_deadline = self.core.rtt.deadline(now);
        }
        self.after_send(now, &sent);
        Outgoing { start: sent.start, end: sent.end, is_pushed: sent.is_pushed, reason }
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
        if in_flight + payload > core.window() && core.extra_segments == 0 {
            self.note_usage(true);
            return None;
        }
        self.core.extra_segments = self.core.extra_segments.saturating_sub(1);
        Some(self.send_new(now, length))
    }

    /// Payload of the next new segment, and its sequence space: the FIN goes with the last byte; in Linux, where a write
    /// sends what it may at once, only if that had to wait. Both within the peer's window and one segment.
    #[inline]
    fn next_segment(&self) -> (u64, u64) {
        let room = self.peer_edge.saturating_sub(self.core.nxt);
        let data = self.write_end.saturating_sub(self.core.nxt);
        let payload = data.min(self.core.mss).min(room);
        let is_joined = data == 0 || self.has_data_waiting || !self.core.spurious.is_linuxs();
        let takes_fin =
            self.is_closing && is_joined && payload == data && payload < room && self.unsent() > data;
        (payload, payload + u64::from(takes_fin))
    }

    fn poll_without_data(&mut self, now: Time) -> Option<Outgoing> {
        let core = &mut self.core;
        if core.board.in_flight() < core.window() {
            core.sampler.on_app_limited(core.board.in_flight());
            if core.phase == Phase::Recovery && core.board.in_flight() + core.mss <= core.window() {
                self.policy.speculate(core);
                let index = core.board.first_lost()?;
                return Some(self.resend(now, index, Reason::Retransmit));
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
        if length >= core.mss || (length < unsent && length * 2 >= self.peer_window_max.max(1)) {
            return false;
        }
        let is_last = core.nxt + length >= self.write_end;
        !is_last || (self.has_nagle && !self.is_closing && self.awaits_short_segment())
    }

    /// Nagle's algorithm waits for all that is outstanding, Minshall's variant (Linux) for a segment that was not full.
    fn awaits_short_segment(&self) -> bool {
        let core = &self.core;
        !core.board.is_empty() && (!core.spurious.is_linuxs() || self.short_end > core.una)
    }

    /// Linux's SYN is sent again so soon after an ACK that may belong to a connection of which the peer alone still knows.
    pub fn expedite_syn(&mut self, now: Time) {
        if self.core.spurious.is_linuxs() && self.retries == 0 {
            self.rto_deadline = self.rto_deadline.min(now + EXPEDITED_SYN);
        }
    }

    /// Linux sends no part of a segment before the probe's timer has expired.
    fn must_wait_for_room(&self) -> bool {
        let wanted = self.unsent().min(self.core.mss);
        self.core.spurious.is_linuxs() && self.peer_edge.saturating_sub(self.core.nxt) < wanted
    }

    /// Does the next segment carry PSH? RFC 9293 §3.9.1.2: with the last of the data; in Linux, too, when more than half of the
    /// peer's largest window has gone without.
    fn push(&mut self, length: u64) -> bool {
        let end = self.core.nxt + length;
        let is_pushed = end >= self.write_end || end > self.pushed_end + self.peer_window_max / 2;
        if is_pushed {
            self.pushed_end = end;
        }
        is_pushed
    }

    fn send_new(&mut self, now: Time, length: u64) -> Outgoing {
        let is_pushed = self.push(length);
        let core = &mut self.core;
        if core.board.is_empty() && core.nxt > 0 {
            core.sampler.on_app_limited(0);
            let (idle, rto) = (now.since(self.last_sent_at), core.rtt.rto());
            if idle > rto {
                core.cc.on_restart(now, (idle.0 - 1) / rto.0.max(1));
            }
        }
        if core.phase == Phase::Open && core.inflation > 0 {
            core.limited_sent += length;
        }
        let mut sent = Sent {
            start: core.nxt,
            end: core.nxt + length,
            fate: Fate::InFlight,
            is_app_limited: false,
            is_pushed,
            transmissions: 1,
            sent_at: now,
            first_sent_at: now,
            delivered: 0,
            delivered_at: now,
            lost: 0,
            in_flight: 0,
        };
        core.sampler.on_send(now, core.board.is_empty(), core.board.in_flight(), &mut sent);
        core.board.push(sent);
        core.nxt = sent.end;
        let payload = self.payload(&sent);
        if payload < self.core.mss {
            self.short_end = sent.end;
        }
        self.core.stats.data_segments_sent += u64::from(payload > 0);
        self.core.stats.data_bytes_sent += payload;
        if self.timed.is_none() {
            self.timed = Some((sent.end, now));
        }
        self.after_send(now, &sent);
        self.note_usage(false);
        Outgoing { start: sent.start, end: sent.end, is_pushed: sent.is_pushed, reason: Reason::New }
    }

    fn note_usage(&mut self, is_blocked: bool) {
        let core = &self.core;
        let is_limited = is_blocked || core.board.in_flight() >= core.window();
        self.usage.note(is_limited, core.flight_size(), core.una, core.nxt);
    }

    fn after_send(&mut self, now: Time, sent: &Sent) {
        self.last_sent_at = now;
        let in_flight = self.core.board.in_flight();
        self.core.cc.on_sent(now, sent.bytes(), in_flight);
        if let Some(prr) = &mut self.core.prr {
            prr.on_sent(sent.bytes());
        }
        self.policy.on_sent(&self.core, now, sent);
        if let Some(mut pacer) = self.pacer {
            pacer.on_sent(now, sent.bytes(), self.pacing_rate());
            self.pacer = Some(pacer);
        }
        if let Some(timers) = &mut self.segment_timers {
            timers.start(sent.end, &self.core.rtt, now);
            self.rto_deadline = timers.next();
        } else if self.rto_deadline.is_never() {
            // RFC 6298 §5.1.
            self.rto_deadline = self.core.rtt.deadline(now);
        }
        self.policy.schedule_probe(&self.core, now, self.rto_deadline.min(self.oldest_deadline(now)));
    }

    /// When the RTO ends that began as the oldest segment was sent, if that is still to come: in Linux a probe that new data puts
    /// off leaves no later.
    fn oldest_deadline(&self, now: Time) -> Time {
        let core = &self.core;
        let oldest = core.board.first().filter(|_| core.spurious.is_linuxs());
        oldest.map(|first| core.rtt.deadline(first.sent_at)).filter(|&due| due > now).unwrap_or(Time::NEVER)
    }

    /// RFC 8985 §7.3: new data if the window lets it, else the last segment again.
    fn tail_loss_probe(&mut self, now: Time) -> Option<Outgoing> {
        self.core.is_probe_due = false;
        self.core.stats.tail_loss_probes += 1;
        let (_, length) = self.next_segment();
        let last = self.core.board.len().checked_sub(1)?;
        self.rto_deadline = Time::NEVER;
        Some(match length {
            0 => self.resend(now, last, Reason::TailLossProbe),
            _ => self.send_new(now, length),
        })
    }

    /// The peer's window is what keeps us from sending, and nothing is out whose ACK could open it: probe after an RTO
    /// (RFC 9293 §3.8.6.1).
    fn watch_window(&mut self, now: Time) {
        if self.core.board.is_empty() {
            self.persist.arm(now, self.core.rtt.rto(), self.core.rtt.longest());
        }
    }

    /// One octet beyond the window. It is not entered on the scoreboard: the peer most likely drops it. Linux sends what of a
    /// segment the window holds, or else an empty one that the peer must answer, as it has been acknowledged.
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
            true => (self.core.una - 1, self.core.una - 1),
            false => (self.core.nxt, self.core.nxt + 1),
        };
        self.probed_end = end;
        Some(Outgoing { start, end, is_pushed: false, reason: Reason::WindowProbe })
    }

    /// The SYN: for the first time, or again when the timer has expired.
    pub fn poll_syn(&mut self, now: Time) -> Option<Outgoing> {
        if self.core.nxt == 0 {
            return Some(self.send_new(now, 1));
        }
        let index = self.core.board.first_lost()?;
        let reason = self.core.forced.take().unwrap_or(Reason::Retransmit);
        Some(self.resend(now, index, reason))
    }
}
