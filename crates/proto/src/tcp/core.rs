//! What the sender knows, and the steps that recovery policies are made of.

use super::allowance::Allowance;
use super::answered::Answered;
use super::config::TcpConfig;
use super::connection::{Reason, Stats};
use super::duplicates::Duplicates;
use super::handshake::Rules;
use super::inflation::Inflation;
use super::prr::Reduction;
use super::rate::RateSampler;
use super::recovery;
use super::rtt::RttEstimator;
use super::scoreboard::{Scoreboard, Sent};
use super::spurious::{Saved, Spurious, Trigger};
use crate::cc::{Cause, Congestion, CongestionControl, Governor, WindowRules};
use airtcp_wire::{Dur, Time};
use std::mem::offset_of;

/// Where the sender stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Open,
    /// Fast recovery: from the first sign of loss until `recover` is acknowledged.
    Recovery,
    /// Repairing after a timeout, until `recover` is acknowledged.
    Loss,
}

/// What an expiry of the retransmission timer is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expiry {
    /// It answers to a loss that has been answered to.
    pub is_repeated: bool,
    /// Bytes that it leaves in flight as too recent to be lost.
    pub survivors: u64,
}

/// The sender's state, shared by the parts that act on it. Positions as in [`super::scoreboard`].
/// Laid out as [`Connection`](super::connection::Connection) says.
#[repr(C)]
pub struct Core {
    pub spurious: Spurious,
    pub answered: Answered,
    initial_window: u64,
    /// The highest position sent when the last episode of loss began (RFC 6582 §3.2 "recover").
    recover: u64,
    pub allowance: Allowance,
    pub duplicates: Duplicates,
    rules: WindowRules,
    has_sack: bool,
    phase: Phase,
    /// The episode began with a corrupted packet: the controller has not heard about it.
    is_spared: bool,
    pub sampler: RateSampler,
    pub cc: Governor,
    pub rtt: RttEstimator,
    pub inflation: Inflation,
    pub reduction: Reduction,
    pub board: Scoreboard,
    /// Sender maximum segment size: payload bytes of a full segment.
    mss: u64,
    /// SND.NXT. Never moves back: what is to be resent is marked on the scoreboard.
    nxt: u64,
    pub stats: Stats,
}

impl Core {
    /// Where SND.UNA stands in it, behind what only sending touches.
    pub const UNA: usize = offset_of!(Core, board) + Scoreboard::UNA;

    pub fn new(rules: &Rules, mss: u64, has_sack: bool) -> Core {
        let config = &rules.config;
        let mut core = Core {
            nxt: 0,
            board: Scoreboard::default(),
            cc: rules.before_data(mss),
            rtt: RttEstimator::new(&rules.rto),
            sampler: RateSampler::default(),
            stats: Stats::default(),
            mss,
            initial_window: mss * u64::from(config.initial_window),
            rules: config.windows,
            phase: Phase::Open,
            recover: 0,
            duplicates: Duplicates::new(config.dupack_threshold),
            has_sack: false,
            inflation: Inflation::new(config.limited_transmit),
            reduction: Reduction::default(),
            allowance: Allowance::default(),
            spurious: Spurious::new(config),
            is_spared: false,
            answered: Answered::default(),
        };
        core.set_sack(config, has_sack);
        core
    }

    /// What has been negotiated replaces what was assumed for the SYN.
    pub fn establish(&mut self, rules: &Rules, mss: u64, has_sack: bool) {
        self.cc = rules.before_data(mss);
        self.mss = mss;
        self.initial_window = mss * u64::from(rules.config.initial_window);
        self.set_sack(&rules.config, has_sack);
    }

    /// Data is to be sent: from now on this says how much.
    pub fn follow(&mut self, cc: Box<dyn CongestionControl>) {
        self.cc = cc.into();
        self.sampler.is_read = self.cc.reads_rate();
        if self.sampler.is_read {
            self.board.keep_stamps();
        }
    }

    /// Has SACK been negotiated?
    #[inline]
    pub fn has_sack(&self) -> bool {
        self.has_sack
    }

    fn set_sack(&mut self, config: &TcpConfig, has_sack: bool) {
        self.has_sack = has_sack;
        self.board.emulates_sack = recovery::emulates_sack(config, has_sack);
        self.reduction = Reduction::new(config.prr && (has_sack || self.board.emulates_sack));
    }

    /// SND.UNA
    #[inline(always)]
    pub fn una(&self) -> u64 {
        self.board.una()
    }

    /// SND.NXT
    #[inline(always)]
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Sender maximum segment size.
    #[inline(always)]
    pub fn mss(&self) -> u64 {
        self.mss
    }

    #[inline(always)]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// RFC 6582 §3.2 "recover".
    #[inline(always)]
    pub fn recover(&self) -> u64 {
        self.recover
    }

    /// A new segment leaves, which is then to be [stamped](Core::stamp).
    #[inline(always)]
    pub fn push(&mut self, sent: Sent) {
        self.board.push(sent);
        self.nxt = sent.end;
    }

    /// So many segments of `bytes` each have just left. Their stamps are kept if the controller reads rate samples.
    #[inline(always)]
    pub fn stamp(&mut self, now: Time, segments: u32, bytes: u64) {
        if self.sampler.is_read {
            self.keep_stamps(now, segments, bytes);
        }
    }

    #[inline(never)]
    fn keep_stamps(&mut self, now: Time, segments: u32, bytes: u64) {
        if self.board.len() == segments as usize {
            self.sampler.on_restart(now);
        }
        for later in (0..u64::from(segments)).rev() {
            let in_flight = self.board.in_flight_before(later * bytes);
            self.board.push_stamps(self.sampler.stamps(in_flight));
        }
    }

    /// The segment at `index` leaves again. Returns it.
    pub fn resend(&mut self, now: Time, index: usize) -> Option<Sent> {
        let Core { board, sampler, .. } = self;
        let in_flight = board.in_flight() + board.get(index)?.bytes();
        let stamps = sampler.is_read.then(|| sampler.stamps(in_flight));
        board.resend(now, index, stamps);
        board.get(index)
    }

    /// The octet of a zero-window probe, which is not on the scoreboard, was sent and acknowledged.
    pub fn accept_probe(&mut self, ack: u64) {
        self.nxt = ack;
        self.board.skip_to(ack);
    }

    /// Does a duplicate ACK announce a segment that has arrived? In Linux not while nothing is missing of an episode, nor of
    /// what was resent after a timeout, whose duplicates they may be.
    pub fn counts_duplicates(&self) -> bool {
        if self.has_sack || !self.board.emulates_sack {
            return !self.has_sack;
        }
        match self.phase {
            Phase::Open => true,
            Phase::Recovery => self.una() < self.recover,
            Phase::Loss => self.una() < self.recover && self.nxt > self.recover,
        }
    }

    /// Nothing waits to be resent, and nothing but the window says what may leave; limited transmit does not count it.
    pub fn sends_new(&self) -> bool {
        self.board.lost() == 0
            && self.allowance.is_none()
            && (self.phase != Phase::Open || !self.inflation.is_positive())
    }

    /// No episode goes on, and the window is the controller's.
    pub fn is_plain(&self) -> bool {
        self.phase == Phase::Open && !self.reduction.goes_on() && self.inflation.is_none()
    }

    /// What may be in flight.
    #[inline]
    pub fn window(&self) -> u64 {
        self.inflation.applied_to(self.reduction.window().unwrap_or_else(|| self.cc.cwnd()))
    }

    /// FlightSize (RFC 5681 §2): sent and not cumulatively acknowledged.
    #[inline]
    pub fn flight_size(&self) -> u64 {
        self.nxt - self.una()
    }

    /// Deems the segment at `index` lost.
    pub fn mark_lost(&mut self, index: usize) {
        self.sampler.lost += self.board.mark_lost(index);
    }

    /// Deems lost the first segment that is not yet acknowledged.
    pub fn mark_first_lost(&mut self) {
        self.mark_lost(0);
    }

    /// Deems everything lost that was sent before the episode began and has not been SACKed.
    pub fn mark_all_lost(&mut self) {
        self.mark_all_lost_from(0);
    }

    /// The same from the segment at `index` on.
    pub fn mark_all_lost_from(&mut self, index: usize) {
        self.sampler.lost += self.board.mark_lost_between(index, self.recover);
    }

    /// A loss has been found: reduce, and resend the first lost segment at once.
    pub fn enter_recovery(&mut self, now: Time) {
        self.begin_episode(now, Trigger::Loss);
        self.inflation.end();
        self.phase = Phase::Recovery;
        self.stats.fast_retransmits += 1;
        self.is_spared = self.duplicates.is_corruption();
        // RFC 3168 §6.1.2: a reduction for ECN-Echo that is still going on is this window's.
        if !self.is_spared && !self.reduction.goes_on() && !self.answered.covers_loss(self.una()) {
            self.reduce(now, Cause::Loss);
        }
        self.allowance.ask_resend(Reason::FastRetransmit);
    }

    /// Tells the controller; what it reduces is spread over a round trip.
    fn reduce(&mut self, now: Time, cause: Cause) {
        let prior_cwnd = self.cc.cwnd();
        self.congestion(now, cause, Expiry::default());
        if !self.cc.governs_recovery() {
            self.reduction.begin(prior_cwnd, self.cc.cwnd(), self.mss);
        }
    }

    /// `delivered` more bytes have arrived, as far as the reduction that goes on is concerned.
    pub fn reduce_by(&mut self, delivered: u64) {
        self.reduction.on_ack(delivered, self.board.in_flight(), false);
    }

    /// A tail loss probe has repaired a loss: that is congestion, but no episode (RFC 8985 §7.4.2).
    pub fn handle_repaired_loss(&mut self, now: Time) {
        self.congestion(now, Cause::Loss, Expiry::default());
    }

    /// A duplicate ACK has arrived, with ELN or without. One hole of an episode that is congestion is answered to.
    pub fn note_cause(&mut self, now: Time, is_corruption: bool) {
        self.duplicates.on_duplicate(is_corruption);
        if self.is_spared && !is_corruption {
            self.is_spared = false;
            self.congestion(now, Cause::Loss, Expiry::default());
        }
    }

    /// Tahoe: as after a timeout, but for the timer.
    pub fn enter_slow_start(&mut self, now: Time) {
        if self.duplicates.is_corruption() {
            self.stats.fast_retransmits += 1;
            self.mark_first_lost();
            self.allowance.ask_resend(Reason::FastRetransmit);
            return;
        }
        self.begin_episode(now, Trigger::Loss);
        self.phase = Phase::Loss;
        self.stats.fast_retransmits += 1;
        self.congestion(now, Cause::Timeout, Expiry::default());
        self.mark_all_lost();
        self.allowance.ask_resend(Reason::FastRetransmit);
    }

    /// The retransmission timer has expired for the `expiries`th time in a row: an episode begins, unless this one goes on.
    /// Returns whether it does.
    pub fn begin_loss(&mut self, now: Time, expiries: u32) -> bool {
        let is_repeated = match self.rules {
            // RFC 5681 §3.1: the segment has been resent by the timer.
            WindowRules::Rfc => {
                self.phase == Phase::Loss && self.board.first().is_some_and(|first| first.is_resent)
            }
            WindowRules::Linux => self.has_answered_window(expiries),
            WindowRules::Ns2 | WindowRules::Ns2Whole => false,
        };
        if !is_repeated {
            self.begin_episode(now, Trigger::Timeout);
        }
        self.recover = self.nxt;
        is_repeated
    }

    /// Has ssthresh been lowered for this window of data? Linux lowers it again after a timeout that brought progress.
    fn has_answered_window(&self, expiries: u32) -> bool {
        match self.phase {
            Phase::Open => self.reduction.goes_on() && self.una() < self.answered.until(),
            Phase::Recovery => self.una() < self.recover,
            Phase::Loss => self.una() < self.recover && expiries > 1,
        }
    }

    /// The same, after what it declares lost has been marked.
    pub fn enter_loss(&mut self, now: Time, expiry: Expiry) {
        self.phase = Phase::Loss;
        self.inflation.end();
        self.reduction.end();
        self.duplicates.restart();
        self.is_spared = false;
        self.stats.timeouts += 1;
        self.congestion(now, Cause::Timeout, expiry);
        self.allowance.on_timeout();
    }

    fn begin_episode(&mut self, now: Time, trigger: Trigger) {
        // Behind a hole that stays open, SACK lets FlightSize grow beyond any window that was ever allowed.
        let pipe_prev = self.flight_size().min(self.cc.cwnd()).max(self.cc.ssthresh());
        // Where nothing waits to be resent the episode is about retransmissions that are on their way.
        let was_resent = self.board.first().is_some_and(|first| first.is_resent)
            || (trigger == Trigger::Loss && self.board.lost() == 0);
        let saved = Saved {
            trigger,
            pipe_prev,
            cwnd: self.cc.cwnd(),
            ssthresh: self.cc.ssthresh().max(self.cc.cwnd() / 4 * 3),
            rtt: self.rtt.saved(),
            una: self.una(),
            nxt: self.nxt,
            was_resent,
        };
        self.spurious.begin(now, saved);
        self.recover = self.nxt;
    }

    /// Everything that was outstanding when the episode began has been acknowledged.
    pub fn leave_episode(&mut self, now: Time) {
        self.phase = Phase::Open;
        self.inflation.end();
        self.reduction.end();
        self.allowance.end_episode();
        self.is_spared = false;
        self.board.shrink();
        self.cc.on_recovery_exit(now);
    }

    /// ECN-Echo: reduce once a window (RFC 3168 §6.1.2).
    pub fn handle_ecn_echo(&mut self, now: Time) {
        self.stats.ecn_echoes_received += 1;
        self.reduce_once(now);
    }

    /// Congestion that no loss has shown so far: reduces as on ECN-Echo. A loss in the same window is the same congestion.
    pub fn handle_congestion(&mut self, now: Time) {
        if self.reduce_once(now) {
            self.answered.on_early_answer(self.nxt);
        }
    }

    /// Returns whether this window has not been reduced yet.
    fn reduce_once(&mut self, now: Time) -> bool {
        if self.una() <= self.answered.until() || self.nxt == 0 {
            return false;
        }
        match self.phase {
            Phase::Open => self.reduce(now, Cause::Ecn),
            _ => self.congestion(now, Cause::Ecn, Expiry::default()),
        }
        true
    }

    /// Is cwnd held or being lowered: in fast recovery, or after ECN-Echo, if that is spread over a round trip?
    #[inline]
    pub fn is_reducing(&self) -> bool {
        self.reduction.goes_on() || self.phase == Phase::Recovery
    }

    /// RFC 5681 §3.2 (6): the ACK that ends a reduction sets cwnd and does not grow it. In Linux and ns-2 it counts.
    #[inline]
    pub fn holds_growth(&self) -> bool {
        self.rules == WindowRules::Rfc && self.is_reducing()
    }

    /// The reduction for ECN-Echo is over once what was sent after it has been acknowledged.
    #[inline]
    pub fn end_ecn_reduction(&mut self) {
        if self.phase == Phase::Open && self.una() > self.answered.until() {
            self.reduction.end();
        }
    }

    /// Tells the controller; of a timeout, what `expiry` says.
    fn congestion(&mut self, now: Time, cause: Cause, expiry: Expiry) {
        let (prior_cwnd, prior_ssthresh) = (self.cc.cwnd(), self.cc.ssthresh());
        self.cc.on_congestion(&Congestion {
            now,
            cause,
            is_repeated_timeout: expiry.is_repeated,
            flight_size: self.window_at_loss(),
            in_flight: self.board.in_flight(),
            survivors: expiry.survivors,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            una: self.una(),
            nxt: self.nxt,
        });
        self.stats.cwnd_reductions += u64::from(self.cc.cwnd() < prior_cwnd);
        // One reduction a window, whatever asks for it. A loss that the controller did not answer to leaves the receiver
        // echoing, and the window to what ECN-Echo makes of it.
        let has_answered = (self.cc.cwnd(), self.cc.ssthresh()) != (prior_cwnd, prior_ssthresh);
        if has_answered || cause == Cause::Ecn {
            self.answered.on_answer(self.nxt);
        }
    }

    /// What a loss halves.
    fn window_at_loss(&self) -> u64 {
        match self.rules {
            WindowRules::Rfc | WindowRules::Linux => {
                self.flight_size().saturating_sub(self.inflation.limited_sent())
            }
            WindowRules::Ns2 => self.cc.cwnd(),
            WindowRules::Ns2Whole => self.cc.cwnd() / (2 * self.mss) * (2 * self.mss),
        }
    }

    /// The last episode proved spurious: restore.
    pub fn undo(&mut self, now: Time, acked: u64, ece: bool) {
        let Some(saved) = self.spurious.take() else { return };
        self.stats.spurious_detected += 1;
        self.board.unmark_lost();
        let was_spared = self.is_spared;
        self.leave_episode(now);
        self.duplicates.restart();
        if !ece && !was_spared {
            let (cwnd, ssthresh) = self.restored(&saved, acked);
            self.cc.on_spurious(now, cwnd, ssthresh);
        }
        if saved.trigger == Trigger::Timeout && self.rules != WindowRules::Linux {
            self.rtt.on_spurious(saved.rtt, None);
            self.spurious.rtt_to_restore = Some(Box::new(saved.rtt));
        }
    }

    fn restored(&self, saved: &Saved, acked: u64) -> (u64, u64) {
        match self.rules {
            WindowRules::Linux => (self.cc.cwnd().max(saved.cwnd), self.cc.ssthresh().max(saved.ssthresh)),
            // RFC 4015 §3.2 step 5. What SACK has reported is not in flight any more.
            _ => (self.board.in_flight() + acked.min(self.initial_window), saved.pipe_prev),
        }
    }

    /// When the RTO ends that began as the oldest segment was sent, if that is still to come: in Linux a probe that new data puts
    /// off leaves no later.
    // Not inlined, for it is seldom asked for where much is sent.
    #[inline(never)]
    pub fn oldest_deadline(&self, now: Time) -> Time {
        let oldest = self.board.first().filter(|_| self.spurious.is_linuxs());
        oldest.map(|first| self.rtt.deadline(first.sent_at)).filter(|&due| due > now).unwrap_or(Time::NEVER)
    }

    /// An unambiguous round trip time, and what it was without the delay of a delayed ACK.
    #[inline]
    pub fn handle_rtt(&mut self, now: Time, sample: Dur, prompt: Dur) {
        self.rtt.note_shortest(prompt);
        match self.spurious.rtt_to_restore.is_some() {
            true => self.restore_rtt(sample),
            false => self.rtt.on_sample(now, sample, self.una(), self.nxt),
        }
    }

    #[cold]
    fn restore_rtt(&mut self, sample: Dur) {
        if let Some(saved) = self.spurious.rtt_to_restore.take() {
            self.rtt.on_spurious(*saved, Some(sample));
        }
    }
}
