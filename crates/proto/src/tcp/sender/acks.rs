//! What an acknowledgment does to the sender.

use super::{AckIn, Sender};
use crate::cc::Ack;
use crate::tcp::ack_summary::AckSummary;
use crate::tcp::core::{Core, Phase};
use crate::tcp::rate::{Newest, RateSampler};
use crate::tcp::recovery::{LossRecovery, Policy};
use crate::tcp::scoreboard::{Fate, Run};
use crate::tcp::spurious::{FrtoStep, timestamp};
use crate::tcp::stamps::Stamps;
use airtcp_wire::{Dur, Seq, Time};

/// When the oldest and the newest of those segments left that an ACK reports and that were never resent. RFC 7323 §4.3 times
/// the oldest, which includes the delay of a delayed ACK; controllers get the RTT of the newest.
#[derive(Clone, Copy, Default)]
pub(super) struct Originals {
    pub oldest: Option<Time>,
    pub newest: Option<Time>,
}

impl Originals {
    fn with(self, run: &Run) -> Originals {
        Originals { oldest: self.oldest.or(Some(run.oldest_at)), newest: Some(run.newest_at) }
    }

    fn then(self, later: Originals) -> Originals {
        Originals { oldest: self.oldest.or(later.oldest), newest: later.newest.or(self.newest) }
    }
}

/// The effects of an ACK, of which the controller learns beside the sender's state. As in [`Ack`].
pub(super) struct AckEffects {
    pub now: Time,
    pub acked: u64,
    pub delivered: u64,
    pub prior_in_flight: u64,
    pub peer_timestamp: Option<u32>,
    pub is_duplicate: bool,
    pub ece: bool,
    /// Did the controller have to keep the window when the ACK arrived?
    pub was_held: bool,
}

/// Collects what an ACK reports as delivered, run by run.
struct News<'a> {
    now: Time,
    /// The timestamp that the ACK echoes.
    echo: Option<u32>,
    recover: u64,
    sampler: &'a mut RateSampler,
    policy: &'a mut Policy,
    newest: Option<Newest>,
    originals: Originals,
    fills_hole: bool,
    /// As in [`AckSummary`].
    original_delivered: bool,
}

impl News<'_> {
    fn deliver(&mut self, run: &Run, stamps: Option<&Stamps>) {
        self.sampler.on_delivered(self.now, run, stamps, &mut self.newest);
        self.policy.on_delivered(self.now, run, self.echo);
        if !run.is_resent {
            self.originals = self.originals.with(run);
            self.original_delivered |= run.first_end <= self.recover;
        }
    }

    /// The cumulative ACK covers `run`.
    fn acknowledge(&mut self, run: &Run, stamps: Option<&Stamps>) {
        self.fills_hole |= run.is_resent;
        if run.fate != Fate::Sacked {
            self.deliver(run, stamps);
        }
    }
}

impl Sender {
    /// Processes an acceptable ACK.
    #[inline(never)]
    pub fn handle_ack(&mut self, now: Time, ack: &AckIn<'_>) {
        self.accept_probed_octet(ack.ack);
        if ack.ack > self.core.nxt() {
            self.forget_last_rtt();
        } else if ack.ack < self.core.una() {
            self.forget_last_rtt();
            self.handle_old_ack(now, ack);
        } else {
            self.take_ack::<true>(now, ack);
        }
    }

    /// Processes an ACK between SND.UNA and SND.NXT. `ADVANCES`: it may be above SND.UNA.
    // Inlined, so that the checks for what most ACKs lack cost nothing.
    #[inline(always)]
    pub fn take_ack<const ADVANCES: bool>(&mut self, now: Time, ack: &AckIn<'_>) {
        self.forget_last_rtt();
        let prior_in_flight = self.core.board.in_flight();
        let was_held = self.core.holds_growth();
        let (summary, newest, originals) = self.update_scoreboard::<ADVANCES>(now, ack);
        self.update_window(ack.ack, ack.window, ack.seq);
        if summary.acked > 0 {
            self.on_new_ack();
        }
        self.sample_rtt(now, &originals, ack.echo.filter(|_| summary.acked > 0));
        let repeated = self.recover(&summary, ack);
        let effects = AckEffects {
            now,
            acked: summary.acked,
            delivered: summary.delivered + repeated,
            prior_in_flight,
            peer_timestamp: ack.peer_timestamp,
            is_duplicate: summary.is_duplicate,
            ece: summary.ece,
            was_held,
        };
        self.tell_controller(&effects, newest.as_ref());
        self.restart_timer(now, summary.acked > 0);
        if summary.acked > 0 || summary.sacked > 0 {
            self.policy.schedule_probe(&self.core, now, || self.rto_deadline);
        }
    }

    /// Returns whether there is anything for [`on_new_ack`](Sender::on_new_ack) to reset.
    pub(super) fn has_counts(&self) -> bool {
        let Core { inflation, duplicates, .. } = &self.core;
        self.retries > 0 || inflation.limited_sent() > 0 || !duplicates.are_none()
    }

    /// New data is acknowledged.
    #[inline]
    fn on_new_ack(&mut self) {
        self.retries = 0;
        self.core.inflation.forget_limited();
        self.core.duplicates.on_new_ack();
    }

    /// Processes an ACK below SND.UNA, which a later one has overtaken: only its SACK blocks may be news.
    #[cold]
    fn handle_old_ack(&mut self, now: Time, ack: &AckIn<'_>) {
        if ack.blocks.is_empty() && ack.dsack.is_none() {
            return;
        }
        let una = self.core.una();
        let ack = AckIn { ack: una, has_payload: true, eln: false, ece: false, echo: None, ..*ack };
        let (summary, _, _) = self.update_scoreboard::<false>(now, &ack);
        self.recover(&summary, &ack);
    }

    /// Notes that the peer had room for a zero-window probe's octet after all, if `ack` says so.
    fn accept_probed_octet(&mut self, ack: u64) {
        if self.persist.probes() > 0
            && ack == self.core.nxt() + 1
            && self.core.board.is_empty()
            && ack <= self.data_end()
        {
            self.core.accept_probe(ack);
        }
    }

    // Inlined, because the returned value is large.
    #[inline(always)]
    fn update_scoreboard<const ADVANCES: bool>(
        &mut self,
        now: Time,
        ack: &AckIn<'_>,
    ) -> (AckSummary, Option<Newest>, Originals) {
        let acked = if ADVANCES { ack.ack - self.core.una() } else { 0 };
        let is_repeated = acked == 0 && !ack.has_payload && !self.is_window_update(ack);
        let counts_duplicates = self.core.counts_duplicates();
        let core = &self.core;
        let (una, nxt, recover, mss) = (core.una(), core.nxt(), core.recover(), core.mss());
        let Core { board, sampler, .. } = &mut self.core;
        sampler.begin_ack();
        let (delivered_before, prior_lost) = (sampler.delivered, sampler.lost);
        let mut news = News {
            now,
            echo: ack.echo,
            recover,
            sampler,
            policy: &mut self.policy,
            newest: None,
            originals: Originals::default(),
            fills_hole: false,
            original_delivered: false,
        };
        // SACK blocks come first, as in Linux: RACK.rtt comes from the last run.
        let sacked_before = board.sacked();
        if !ack.blocks.is_empty() {
            board.sack(ack.blocks, |run, stamps| news.deliver(run, stamps));
        }
        let sacked = board.sacked() - sacked_before;
        let sacked_originals = std::mem::take(&mut news.originals);
        if acked > 0 {
            board.acknowledge(ack.ack, |run, stamps| news.acknowledge(run, stamps));
        }
        let News { newest, mut originals, fills_hole, original_delivered, .. } = news;
        if fills_hole {
            // Karn: what lay behind a hole may have arrived long before this ACK.
            originals = Originals::default();
        }
        let named = sampler.delivered - delivered_before;
        let is_duplicate = is_repeated && nxt > una;
        if is_duplicate && counts_duplicates {
            sampler.on_announced(now, board.announce(mss));
        } else if acked > 0 {
            sampler.on_known(board.tell_announced(acked, mss));
        }
        let delivered = match board.emulates_sack {
            true => sampler.delivered.saturating_sub(delivered_before),
            false => named,
        };
        let summary = AckSummary {
            now,
            prior_una: una,
            acked,
            delivered,
            sacked,
            // RFC 6675 §2: with SACK, an ACK that newly SACKs data is a duplicate, whatever the window does.
            is_duplicate: is_duplicate || (acked == 0 && sacked > 0),
            is_repeated,
            has_dsack: ack.dsack.is_some(),
            prior_lost,
            echo: ack.echo,
            ece: ack.ece,
            // Without SACK, Linux does not let an ACK that fills a hole prove a timeout spurious.
            original_delivered: original_delivered && !(fills_hole && board.emulates_sack),
        };
        (summary, newest, originals.then(sacked_originals))
    }

    #[inline]
    fn is_window_update(&self, ack: &AckIn<'_>) -> bool {
        match self.core.spurious.is_linuxs() {
            true => self.is_window_news(ack.ack, ack.window, ack.seq),
            // RFC 5681 §2.
            false => ack.window != u64::from(self.last_window),
        }
    }

    /// The segment with sequence number `seq` advertises `window` bytes beyond `ack`. A right edge that moves back is obeyed
    /// (RFC 9293 §3.8.6).
    #[inline]
    pub fn update_window(&mut self, ack: u64, window: u64, seq: Seq) {
        // Linux restarts the persist timer on each answer to a probe.
        if self.core.spurious.is_linuxs() {
            self.persist.postpone();
        }
        if !self.is_window_news(ack, window, seq) {
            return;
        }
        self.take_window(ack, window, seq);
        if self.peer_edge() > self.core.nxt() && !self.must_wait_for_room() {
            self.persist.stop();
        }
    }

    /// Takes over a window that is news. The persist timer is left alone.
    #[inline]
    pub(super) fn take_window(&mut self, ack: u64, window: u64, seq: Seq) {
        (self.window_seq, self.window_ack, self.last_window) = (seq, ack, window as u32);
        if window > u64::from(self.peer_window_max) {
            self.note_largest_window(window);
        }
    }

    #[inline(never)]
    pub fn note_largest_window(&mut self, window: u64) {
        self.unpushed_limit = self.unpushed_limit - u64::from(self.peer_window_max / 2) + window / 2;
        self.peer_window_max = window as u32;
    }

    /// [`update_window`](Sender::update_window) under [`is_idle`](Sender::is_idle): most segments repeat the window.
    #[inline(always)]
    pub fn renew_window(&mut self, ack: u64, window: u64, seq: Seq) {
        let is_same = (ack, window) == (self.window_ack, self.last_window.into());
        match is_same && seq.distance(self.window_seq) > 0 {
            true => self.window_seq = seq,
            false => self.update_window(ack, window, seq),
        }
    }

    /// [`renew_window`](Sender::renew_window) if the window is known to be the one before.
    #[inline(always)]
    pub fn repeat_window(&mut self, seq: Seq) {
        self.window_seq = seq;
    }

    /// Returns whether the segment may update the window (RFC 9293 §3.10.7.4, SND.WL1 and SND.WL2). With the same SEG.SEQ
    /// and SEG.ACK as before, the window counts if it is larger or zero, as in Linux.
    #[inline]
    fn is_window_news(&self, ack: u64, window: u64, seq: Seq) -> bool {
        let age = seq.distance(self.window_seq);
        ack > self.window_ack || age > 0 || (age == 0 && (window > self.last_window.into() || window == 0))
    }

    #[inline(always)]
    pub(super) fn sample_rtt(&mut self, now: Time, originals: &Originals, echo: Option<u32>) {
        let since = |sent_at| now.since(sent_at);
        let sample = match &mut self.timed {
            Some(timed) => timed.take(self.core.una()).map(since),
            None => originals.oldest.map(since).or_else(|| {
                // Karn: a resent segment's RTT is known only by the timestamp that its ACK echoes (RFC 7323 §4).
                Some(Dur::from_millis(u64::from(timestamp(now).wrapping_sub(echo?))))
            }),
        };
        if let Some(sample) = sample {
            self.last_rtt = originals.newest.map_or(sample, since);
            self.core.handle_rtt(now, sample, self.last_rtt);
        }
    }

    /// Returns how many bytes, delivered twice, count as delivered.
    #[inline(always)]
    fn recover(&mut self, summary: &AckSummary, ack: &AckIn<'_>) -> u64 {
        let now = summary.now;
        if summary.is_duplicate {
            self.core.stats.duplicate_acks_received += 1;
            self.core.note_cause(now, ack.eln);
        }
        let repeated = ack.dsack.map_or(0, |range| self.note_duplicate(now, range, summary.prior_una));
        let was_recovering = self.core.phase() == Phase::Recovery;
        let is_undone =
            (self.core.phase() != Phase::Open || summary.has_dsack) && self.judge_spurious(summary, ack);
        self.core.end_ecn_reduction();
        // Linux looks for losses again at the next ACK.
        if !(is_undone && was_recovering && self.core.spurious.is_linuxs()) {
            self.policy.on_ack(&mut self.core, summary);
        }
        if ack.ece {
            self.core.handle_ecn_echo(now);
        }
        let is_safe = summary.acked > 0 && self.core.sampler.lost == summary.prior_lost;
        self.core.reduction.on_ack(summary.delivered, self.core.board.in_flight(), is_safe);
        repeated
    }

    /// A DSACK counts if its segment was acknowledged before, or is outstanding and has been resent. Returns how many bytes then
    /// count as delivered.
    #[cold]
    fn note_duplicate(&mut self, now: Time, (start, end): (u64, u64), prior_una: u64) -> u64 {
        let board = &self.core.board;
        let is_resent = || board.get(board.index_at(start)).is_some_and(|sent| sent.is_resent);
        if end > prior_una && !is_resent() {
            return 0;
        }
        self.core.spurious.on_duplicate(end);
        match self.core.spurious.is_linuxs() {
            true => self.core.sampler.on_duplicate(now, end.saturating_sub(start)),
            false => 0,
        }
    }

    /// Checks whether the ACK proves the episode spurious. Returns whether it has, and nothing more is to be marked lost for now.
    #[inline(always)]
    fn judge_spurious(&mut self, summary: &AckSummary, ack: &AckIn<'_>) -> bool {
        if ack.ece {
            self.core.spurious.forget();
        }
        let by_timestamp =
            self.core.phase() != Phase::Open && self.core.spurious.eifel_says_spurious(summary);
        if by_timestamp && self.waits_for_resent() {
            return true;
        }
        if by_timestamp || self.core.spurious.all_were_duplicates() {
            self.undo(summary, ack.ece);
            return true;
        }
        let has_new_data = self.unsent() > 0 && self.peer_edge() > self.core.nxt();
        let verdict = self.core.spurious.handle_f_rto(summary, self.core.una(), has_new_data);
        match verdict {
            FrtoStep::Nothing => {}
            FrtoStep::SendNew => self.core.allowance.ask_new(2),
            FrtoStep::Genuine => self.core.allowance.ask_new(0),
            FrtoStep::Spurious => self.undo(summary, ack.ece),
        }
        self.core.spurious.close_eifel(summary);
        verdict == FrtoStep::Spurious
    }

    /// Linux: while retransmissions are on their way, an original that arrives late during recovery does not undo it.
    fn waits_for_resent(&self) -> bool {
        let core = &self.core;
        core.spurious.is_linuxs()
            && core.phase() == Phase::Recovery
            && core.una() < core.recover()
            && self.policy.has_resent_in_flight(core)
    }

    #[cold]
    fn undo(&mut self, summary: &AckSummary, ece: bool) {
        self.core.undo(summary.now, summary.acked, ece);
        self.policy.on_undo(&self.core);
        if let Some(timers) = &mut self.segment_timers {
            timers.resume(&self.core.rtt, summary.now);
        }
    }

    #[inline]
    pub(super) fn is_cwnd_limited(&self) -> bool {
        let cc = &self.core.cc;
        self.usage.is_limited(cc.cwnd() < cc.ssthresh(), cc.cwnd())
    }

    #[inline]
    pub(super) fn tell_controller(&mut self, effects: &AckEffects, newest: Option<&Newest>) {
        let (is_cwnd_limited, rtt) = (self.is_cwnd_limited(), self.last_rtt());
        let core = &mut self.core;
        let rate = core.sampler.sample(effects.now, newest, core.rtt.min());
        core.cc.on_ack(&Ack {
            now: effects.now,
            acked: effects.acked,
            delivered: effects.delivered,
            is_duplicate: effects.is_duplicate,
            rtt,
            srtt: core.rtt.srtt(),
            min_rtt: core.rtt.min(),
            prior_in_flight: effects.prior_in_flight,
            in_flight: core.board.in_flight(),
            in_recovery: effects.was_held || core.is_reducing(),
            in_loss: core.phase() == Phase::Loss,
            is_cwnd_limited,
            ece: effects.ece,
            peer_timestamp: effects.peer_timestamp,
            una: core.una(),
            nxt: core.nxt(),
            rate,
        });
    }
}
