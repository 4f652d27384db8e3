//! The sender's state, and the steps of which recovery policies consist.

use super::allowance::Allowance;
use super::answered::Answered;
use super::config::TcpConfig;
use super::duplicates::Duplicates;
use super::handshake::Rules;
use super::inflation::Inflation;
use super::outgoing::Reason;
use super::prr::Reduction;
use super::rate::RateSampler;
use super::rtt::RttEstimator;
use super::scoreboard::{Outstanding, Scoreboard};
use super::spurious::{Saved, Spurious, Trigger};
use super::stats::{Counters, Stats};
use crate::cc::{Cause, Congestion, CongestionControl, Governor, WindowRules};
use airtcp_wire::{Dur, Time};

/// The phase of loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Open,
    /// Fast recovery: from the first sign of loss until `recover` is acknowledged.
    Recovery,
    /// After a timeout, until `recover` is acknowledged.
    Loss,
}

/// What an expiry of the retransmission timer means to the controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expiry {
    /// ssthresh has been lowered for this loss before.
    pub is_repeated: bool,
    /// Bytes that stay in flight, because they are too recent to be lost.
    pub survivors: u64,
}

/// The sender's state, shared by the parts that act on it. Positions as in [`super::scoreboard`].
/// Laid out as [`Connection`](super::connection::Connection) says.
#[repr(C)]
pub struct Core {
    pub spurious: Spurious,
    pub answered: Answered,
    /// The highest position sent when the last episode of loss began (RFC 6582 §3.2 "recover").
    recover: u64,
    pub duplicates: Duplicates,
    pub allowance: Allowance,
    rules: WindowRules,
    has_sack: bool,
    /// Reductions are spread over a round trip.
    has_prr: bool,
    phase: Phase,
    /// The episode began with a corrupted packet, of which the controller has not been told.
    is_spared: bool,
    /// The next segment of new data is to carry CWR (RFC 3168 §6.1.2).
    pub owes_cwr: bool,
    pub sampler: RateSampler,
    pub cc: Governor,
    pub rtt: RttEstimator,
    pub inflation: Inflation,
    /// Sender maximum segment size: payload bytes of a full segment.
    mss: u32,
    pub reduction: Reduction,
    pub board: Scoreboard,
    /// SND.NXT. Never moves back: what is to be resent is marked on the scoreboard.
    nxt: u64,
    pub stats: Counters,
}

impl Core {
    pub fn new(rules: &Rules, mss: u64, has_sack: bool) -> Core {
        let config = &rules.config;
        let mut core = Core {
            nxt: 0,
            board: Scoreboard::default(),
            cc: rules.before_data(mss),
            rtt: RttEstimator::new(&rules.rto),
            sampler: RateSampler::default(),
            stats: Counters::default(),
            mss: mss as u32,
            rules: config.windows,
            phase: Phase::Open,
            recover: 0,
            duplicates: Duplicates::new(config.dupack_threshold),
            has_sack: false,
            has_prr: false,
            inflation: Inflation::new(config.limited_transmit),
            reduction: Reduction::default(),
            allowance: Allowance::default(),
            spurious: Spurious::new(config),
            is_spared: false,
            owes_cwr: false,
            answered: Answered::default(),
        };
        core.set_sack(config, has_sack);
        core
    }

    /// The handshake is over: what was negotiated replaces what was assumed for the SYN.
    pub fn establish(&mut self, rules: &Rules, mss: u64, has_sack: bool) {
        if !self.cc.has_controller() {
            self.cc = rules.before_data(mss);
        }
        self.mss = mss as u32;
        self.set_sack(&rules.config, has_sack);
    }

    /// Data is to be sent: from now on `cc` decides how much.
    pub fn follow(&mut self, cc: Box<dyn CongestionControl>) {
        self.cc = cc.into();
        if self.cc.reads_rate() {
            self.sampler.keep_interval();
            self.board.keep_stamps();
        }
    }

    /// Returns whether SACK has been negotiated, and the recovery policy reads it.
    #[inline]
    pub fn has_sack(&self) -> bool {
        self.has_sack
    }

    fn set_sack(&mut self, config: &TcpConfig, has_sack: bool) {
        self.has_sack = has_sack;
        self.board.emulates_sack = config.emulates_sack(has_sack);
        self.has_prr = config.prr && (has_sack || self.board.emulates_sack);
    }

    pub fn stats(&self) -> Stats {
        self.stats.stats(self.board.number(self.board.len()), self.nxt)
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
        self.mss.into()
    }

    pub fn set_mss(&mut self, mss: u32) {
        self.mss = mss.max(1);
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

    /// A new segment leaves. It is to be [stamped](Core::stamp) next.
    #[inline(always)]
    pub fn push(&mut self, sent: Outstanding) {
        self.board.push(sent);
        self.nxt = sent.end;
    }

    /// Stamps the last `segments` segments, of `bytes` each, which have just left, if the controller reads rate samples.
    #[inline(always)]
    pub fn stamp(&mut self, now: Time, segments: u32, bytes: u64) {
        if !self.sampler.is_read() {
            return;
        }
        if self.board.len() == segments as usize {
            self.sampler.on_restart(now);
        }
        for later in (1..u64::from(segments)).rev() {
            self.keep_stamps(later * bytes);
        }
        self.keep_stamps(0);
    }

    /// Stamps a segment, after which `later` bytes have left.
    #[inline(never)]
    fn keep_stamps(&mut self, later: u64) {
        let in_flight = self.board.in_flight_before(later);
        if let Some(stamps) = self.sampler.stamps(in_flight) {
            self.board.push_stamps(stamps);
        }
    }

    /// Resends the segment at `index`, and returns it.
    pub fn resend(&mut self, now: Time, index: usize) -> Option<Outstanding> {
        let Core { board, sampler, .. } = self;
        let in_flight = board.in_flight() + board.get(index)?.bytes();
        let stamps = sampler.stamps(in_flight);
        board.resend(now, index, stamps);
        board.get(index)
    }

    /// The octet of a zero-window probe, which is not on the scoreboard, has been acknowledged.
    pub fn accept_probe(&mut self, ack: u64) {
        self.stats.no_data += 1;
        self.nxt = ack;
        self.board.skip_to(ack);
    }

    /// Returns whether a duplicate ACK announces that a segment has arrived. In Linux not once "recover" is acknowledged,
    /// nor after a timeout before new data has been sent, because retransmissions may cause duplicates then.
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

    /// Returns whether nothing waits to be resent, the window alone decides what may leave, and limited transmit does not
    /// count what leaves.
    pub fn sends_new(&self) -> bool {
        self.board.lost() == 0
            && self.allowance.is_none()
            && (self.phase != Phase::Open || !self.inflation.is_positive())
    }

    /// Returns whether no episode or reduction goes on and the window is the controller's.
    pub fn is_plain(&self) -> bool {
        self.phase == Phase::Open && !self.reduction.is_active() && self.inflation.is_none()
    }

    /// The window in bytes: what may be in flight.
    #[inline]
    pub fn window(&self) -> u64 {
        self.inflation.applied_to(self.reduction.window().unwrap_or_else(|| self.cc.cwnd()))
    }

    /// FlightSize (RFC 5681 §2): sent and not cumulatively acknowledged.
    #[inline]
    pub fn flight_size(&self) -> u64 {
        self.nxt - self.una()
    }

    /// Marks the segment at `index` lost.
    pub fn mark_lost(&mut self, index: usize) {
        self.sampler.lost += self.board.mark_lost(index);
    }

    /// Marks the first unacknowledged segment lost.
    pub fn mark_first_lost(&mut self) {
        self.mark_lost(0);
    }

    /// Marks lost what is in flight from the segment at `index` up to `recover`.
    pub fn mark_all_lost_from(&mut self, index: usize) {
        self.sampler.lost += self.board.mark_lost_between(index, self.recover);
    }

    /// Begins fast recovery: reduces cwnd, and resends the first lost segment at once.
    pub fn enter_recovery(&mut self, now: Time) {
        self.begin_episode(now, Trigger::Loss);
        self.inflation.end();
        self.phase = Phase::Recovery;
        self.stats.fast_retransmits += 1;
        self.is_spared = self.duplicates.is_corruption();
        // RFC 3168 §6.1.2: one reduction a window. One for ECN-Echo that still goes on is this window's.
        if !self.is_spared && !self.reduction.is_active() && !self.answered.covers_loss(self.una()) {
            self.reduce(now, Cause::Loss);
        }
        self.allowance.ask_resend(Reason::FastRetransmit);
    }

    /// Tells the controller of congestion. PRR spreads the reduction over a round trip, unless the controller governs it.
    fn reduce(&mut self, now: Time, cause: Cause) {
        let prior_cwnd = self.cc.cwnd();
        self.congestion(now, cause, Expiry::default());
        // With nothing outstanding there is no round trip to spread it over, and no ACK would come to end it.
        if self.has_prr && !self.board.is_empty() && !self.cc.governs_recovery() {
            self.reduction.begin(prior_cwnd, self.cc.cwnd(), self.mss());
        }
    }

    /// Counts `delivered` bytes for the reduction that goes on, if any.
    pub fn reduce_by(&mut self, delivered: u64) {
        self.reduction.on_ack(delivered, self.board.in_flight(), false);
    }

    /// A tail loss probe has repaired a loss: that is congestion, but no episode (RFC 8985 §7.4.2).
    pub fn handle_repaired_loss(&mut self, now: Time) {
        self.congestion(now, Cause::Loss, Expiry::default());
    }

    /// A duplicate ACK has arrived, with ELN (`is_corruption`) or without. The first hole of a spared episode that is not
    /// due to corruption is congestion.
    pub fn note_cause(&mut self, now: Time, is_corruption: bool) {
        self.duplicates.on_duplicate(is_corruption);
        if self.is_spared && !is_corruption {
            self.is_spared = false;
            self.congestion(now, Cause::Loss, Expiry::default());
        }
    }

    /// Tahoe: slow start as after a timeout, while the timer runs on. A corrupted packet is only resent.
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
        self.mark_all_lost_from(0);
        self.allowance.ask_resend(Reason::FastRetransmit);
    }

    /// The retransmission timer has expired for the `expiries`th time in a row: begins an episode, unless the current one
    /// goes on. Returns whether it goes on.
    pub fn begin_loss(&mut self, now: Time, expiries: u32) -> bool {
        let is_repeated = match self.rules {
            // RFC 5681 §3.1: the timer has resent the segment before.
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

    /// Returns whether Linux has lowered ssthresh for this window of data. After a timeout with progress it lowers it again.
    fn has_answered_window(&self, expiries: u32) -> bool {
        match self.phase {
            Phase::Open => self.reduction.is_active() && self.una() < self.answered.until(),
            Phase::Recovery => self.una() < self.recover,
            Phase::Loss => self.una() < self.recover && expiries > 1,
        }
    }

    /// Completes [`begin_loss`](Core::begin_loss), after the segments that the expiry declares lost have been marked.
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
        // While a hole stays open, SACK lets FlightSize grow beyond any cwnd there ever was.
        let pipe_prev = self.flight_size().min(self.cc.cwnd()).max(self.cc.ssthresh());
        // If nothing is marked lost, the episode is about retransmissions that are on their way.
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

    /// Ends the episode of loss.
    pub fn leave_episode(&mut self, now: Time) {
        self.phase = Phase::Open;
        self.inflation.end();
        self.reduction.end();
        self.allowance.end_episode();
        self.is_spared = false;
        self.board.shrink();
        self.cc.on_recovery_exit(now);
    }

    /// ECN-Echo has arrived: reduces cwnd, once a window (RFC 3168 §6.1.2).
    pub fn handle_ecn_echo(&mut self, now: Time) {
        self.stats.ecn_echoes_received += 1;
        self.reduce_once(now);
    }

    /// Congestion has been found before any loss shows: reduces cwnd as on ECN-Echo. A loss in the same window is taken for
    /// the same congestion.
    pub fn handle_congestion(&mut self, now: Time) {
        if self.reduce_once(now) {
            self.answered.on_early_answer(self.nxt);
        }
    }

    /// Reduces cwnd unless it has been reduced for this window of data. Returns whether it does.
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

    /// Returns whether fast recovery or a reduction for ECN-Echo that is spread over a round trip goes on.
    #[inline]
    pub fn is_reducing(&self) -> bool {
        self.reduction.is_active() || self.phase == Phase::Recovery
    }

    /// RFC 5681 §3.2 (6): returns whether the next ACK may not grow cwnd, even if it ends a reduction. Linux and ns-2 let
    /// it.
    #[inline]
    pub fn holds_growth(&self) -> bool {
        self.rules == WindowRules::Rfc && self.is_reducing()
    }

    /// Ends the reduction for ECN-Echo once data that was sent after it has been acknowledged.
    #[inline]
    pub fn end_ecn_reduction(&mut self) {
        if self.phase == Phase::Open && self.una() > self.answered.until() {
            self.reduction.end();
        }
    }

    /// Tells the controller of congestion. `expiry` matters for a timeout only.
    fn congestion(&mut self, now: Time, cause: Cause, expiry: Expiry) {
        let (prior_cwnd, prior_ssthresh) = (self.cc.cwnd(), self.cc.ssthresh());
        self.cc.on_congestion(&Congestion {
            now,
            cause,
            is_repeated_timeout: expiry.is_repeated,
            flight_size: self.window_at_loss(),
            in_flight: self.board.in_flight(),
            survivors: expiry.survivors,
            total_lost: self.sampler.lost,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            una: self.una(),
            nxt: self.nxt,
        });
        self.stats.cwnd_reductions += u32::from(self.cc.cwnd() < prior_cwnd);
        // One reduction a window, whatever its cause. If the controller ignores a loss, no CWR is sent, and a later ECN-Echo
        // may still reduce this window.
        let has_answered = (self.cc.cwnd(), self.cc.ssthresh()) != (prior_cwnd, prior_ssthresh);
        if has_answered || cause == Cause::Ecn {
            self.answered.on_answer(self.nxt);
            self.owes_cwr = true;
        }
    }

    /// The window, in bytes, that a loss halves.
    fn window_at_loss(&self) -> u64 {
        match self.rules {
            WindowRules::Rfc | WindowRules::Linux => {
                self.flight_size().saturating_sub(self.inflation.limited_sent())
            }
            WindowRules::Ns2 => self.cc.cwnd(),
            WindowRules::Ns2Whole => self.cc.cwnd() / (2 * self.mss()) * (2 * self.mss()),
        }
    }

    /// The last episode has proved spurious: restores the state before it.
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
            // RFC 4015 §3.2 step 5. SACKed data is not in flight any more.
            _ => {
                let initial_window = self.mss() * u64::from(self.spurious.initial_segments());
                (self.board.in_flight() + acked.min(initial_window), saved.pipe_prev)
            }
        }
    }

    /// Linux: one RTO after the oldest segment was sent, if that is still to come; else [`Time::NEVER`]. A tail loss probe
    /// that new data puts off leaves no later.
    // Not inlined, because it is seldom called while much is sent.
    #[inline(never)]
    pub fn oldest_deadline(&self, now: Time) -> Time {
        let oldest = self.board.first().filter(|_| self.spurious.is_linuxs());
        oldest.map(|first| self.rtt.deadline(first.sent_at)).filter(|&due| due > now).unwrap_or(Time::NEVER)
    }

    /// Takes an unambiguous RTT, and as `prompt` the same without the delay of a delayed ACK.
    #[inline(always)]
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
