//! RACK-TLP (RFC 8985): a segment is lost if one sent sufficiently later has arrived; a probe finds losses at the tail.
//!
//! Plain ACKs, of new data while every outstanding segment was sent once, reach [`Rack`] by a short way. Who changes this keeps
//! to the following, of which the assertions remind:
//!
//! - `on_plain_ack` has the effect of `on_delivered`, `on_ack` and `schedule_probe` together, and `postpone_probe` that of
//!   `schedule_probe`. They leave RACK.rtt, what else follows from `timed`, and the probe's deadline uncomputed:
//!   `settle_plain_acks` is called before any method that reads these, except `deadline`, which computes what it returns.
//! - `is_plain` is false as long as anything waits that the three would act upon. Only what makes it true again may be left to
//!   plain ACKs.
//! - Under plain ACKs no segment is judged: none left before those that have arrived, so that the timer for reordering stops.
//!   `judged` may fall behind the first segment, which `index_of` allows.
//! - `earliest_probe` is a lower bound of the probe's deadline, whatever the RTT will be: the schedule relies on it.
//! - Deadlines are asked with that of the retransmission timer, which plain ACKs leave uncomputed, too: a probe takes its place
//!   if both are due (RFC 8985 §7.2).
//! - The scoreboard passes what SACK blocks report before what the cumulative ACK covers: RACK.rtt comes from the last run.
//! - Originals leave in sequence order, and `resent` is in the order of sending. Each is judged from its front.

use super::{LossRecovery, hold_back};
use crate::cc::WindowRules;
use crate::tcp::ack_summary::AckSummary;
use crate::tcp::config::TcpConfig;
use crate::tcp::core::{Core, Phase};
use crate::tcp::rtt::RttEstimator;
use crate::tcp::scoreboard::{Fate, Outstanding, Run, TakenOff};
use crate::tcp::spurious::timestamp;
use airtcp_wire::{Dur, Time};
use std::collections::VecDeque;

/// Worst-case delayed ACK (RFC 8985 §7.2 WCDelAckT).
const DELAYED_ACK: Dur = Dur::from_millis(200);

pub struct Rack {
    dupack_threshold: u32,
    /// The shortest period of the reordering timer. Linux: TCP_TIMEOUT_MIN_US.
    least_timer: Dur,
    is_linuxs: bool,
    /// Send time and end of the segment sent last among those that have arrived (RACK.xmit_ts, RACK.end_seq).
    newest: (Time, u64),
    /// RACK.rtt, and which segment gave it.
    rtt: Dur,
    timed: SendingOrder,
    /// When the last plain ACK arrived, if it has only updated `timed` so far.
    timed_at: Time,
    min_rtt: Dur,
    /// RACK.fack
    highest_delivered: u64,
    /// RACK.fack with the ACK that is being processed.
    highest_told: u64,
    has_reordering: bool,
    window: ReorderWindow,
    /// Originals with lower numbers have arrived or been marked lost.
    judged: u64,
    /// Retransmissions in the order in which they left: send time and number of the segment.
    resent: VecDeque<(Time, u64)>,
    reorder_deadline: Time,
    probe: Probe,
}

/// RACK.reo_wnd's adaptation to DSACKs (RFC 8985 §6.2 step 4).
struct ReorderWindow {
    multiplier: u32,
    persist: u32,
    round_end: u64,
}

/// Tail loss probe (RFC 8985 §7).
struct Probe {
    deadline: Time,
    /// When the probe was last postponed, and whether by sending, if its deadline has not been computed since.
    postponed_at: Time,
    by_sending: bool,
    /// TLP.end_seq and TLP.is_retrans of the outstanding probe.
    out: Option<(u64, bool)>,
    is_being_sent: bool,
}

impl Probe {
    const NONE: Probe = Probe {
        deadline: Time::NEVER,
        postponed_at: Time::NEVER,
        by_sending: false,
        out: None,
        is_being_sent: false,
    };

    /// When the probe leaves, if the retransmission timer expires at `rto_deadline`.
    #[inline(always)]
    fn deadline(&self, core: &Core, rto_deadline: Time) -> Time {
        match self.postponed_at.is_never() {
            true => self.deadline,
            false => self.postponed_deadline(core, rto_deadline),
        }
    }

    // RFC 8985 §7.2.
    #[inline(never)]
    fn postponed_deadline(&self, core: &Core, rto_deadline: Time) -> Time {
        if core.board.in_flight() == 0 {
            return Time::NEVER;
        }
        let oldest = if self.by_sending { core.oldest_deadline(self.postponed_at) } else { Time::NEVER };
        probe_at(core, self.postponed_at).min(rto_deadline).min(oldest)
    }
}

/// Orders segments as they were sent last. Of the segments sent at one time, retransmissions come first.
type SendingOrder = (Time, bool, u64);

fn sending_order(sent: &Outstanding) -> SendingOrder {
    (sent.sent_at, !sent.is_resent, sent.end)
}

impl Rack {
    pub fn new(config: &TcpConfig) -> Rack {
        let is_linuxs = config.windows == WindowRules::Linux;
        Rack {
            dupack_threshold: config.dupack_threshold,
            least_timer: if is_linuxs { Dur::from_millis(2) } else { Dur::ZERO },
            is_linuxs,
            newest: (Time::ZERO, 0),
            rtt: Dur::ZERO,
            timed: SendingOrder::default(),
            timed_at: Time::NEVER,
            min_rtt: Dur::MAX,
            highest_delivered: 0,
            highest_told: 0,
            has_reordering: false,
            window: ReorderWindow { multiplier: 1, persist: 16, round_end: 0 },
            judged: 0,
            resent: VecDeque::new(),
            reorder_deadline: Time::NEVER,
            probe: Probe::NONE,
        }
    }

    /// RFC 8985 §6.2 step 4: zero without reordering, in recovery or after DupThresh SACKed segments; else a quarter of the
    /// minimum RTT, and more if DSACKs report spurious retransmissions.
    fn reorder_window(&self, core: &Core) -> Dur {
        let shows_loss = core.phase() != Phase::Open || core.board.sacked_segments() >= self.dupack_threshold;
        if !self.has_reordering && shows_loss {
            return Dur::ZERO;
        }
        (core.rtt.min() / 4 * u64::from(self.window.multiplier)).min(core.rtt.srtt())
    }

    /// Asserts that plain ACKs have left nothing uncomputed.
    fn assert_settled(&self) {
        debug_assert!(self.timed_at.is_never() && self.probe.postponed_at.is_never(), "settled before");
    }

    /// Updates the state that plain ACKs have left uncomputed.
    #[inline(never)]
    fn settle_timed(&mut self, core: &Core) {
        let (newest_at, _, end) = self.timed;
        self.rtt = self.timed_at.since(newest_at);
        self.newest = (newest_at, end);
        (self.highest_told, self.highest_delivered) = (end, end);
        self.min_rtt = core.rtt.min();
        self.timed_at = Time::NEVER;
    }

    fn adapt(&mut self, core: &Core, ack: &AckSummary) {
        if ack.has_dsack && core.una() >= self.window.round_end {
            self.window =
                ReorderWindow { multiplier: self.window.multiplier + 1, persist: 16, round_end: core.nxt() };
        }
    }

    fn on_recovery_exit(&mut self) {
        self.window.persist = self.window.persist.saturating_sub(1);
        if self.window.persist == 0 {
            self.window.multiplier = 1;
        }
    }

    /// RFC 8985 §6.2 step 5. Originals leave in sequence order and retransmissions in the order of `resent`, so that each
    /// list is judged from its oldest segment on, up to the first one that still has time. Returns whether any was lost.
    fn detect(&mut self, core: &mut Core, now: Time) -> bool {
        let patience = self.rtt + self.reorder_window(core);
        let lost_before = core.sampler.lost;
        let originals = self.detect_originals(core, now, patience);
        let resent = self.detect_resent(core, now, patience);
        self.reorder_deadline = originals.min(resent);
        core.sampler.lost > lost_before
    }

    /// Returns whether the segment may still arrive. On a real clock, segments that left after the timed one in its burst
    /// have been out for less than RACK.rtt.
    fn has_time(&self, sent: &Outstanding, patience: Dur, now: Time) -> bool {
        let due = sent.sent_at + patience;
        due > now || (due == now && self.is_linuxs && sending_order(sent) > self.timed)
    }

    fn detect_originals(&mut self, core: &mut Core, now: Time, patience: Dur) -> Time {
        let mut index = core.board.index_of(self.judged);
        let mut deadline = Time::NEVER;
        while let Some(sent) = core.board.get(index) {
            if sent.fate == Fate::InFlight && !sent.is_resent {
                if (sent.sent_at, sent.end) >= self.newest {
                    break;
                }
                deadline = self.judge(core, index, now, patience);
                if !deadline.is_never() {
                    break;
                }
            }
            index += 1;
        }
        self.judged = core.board.number(index);
        deadline
    }

    fn detect_resent(&mut self, core: &mut Core, now: Time, patience: Dur) -> Time {
        while let Some(&(sent_at, number)) = self.resent.front() {
            if let Some(sent) = under_way(core, sent_at, number) {
                if (sent_at, sent.end) >= self.newest {
                    break;
                }
                let deadline = self.judge(core, core.board.index_of(number), now, patience);
                if !deadline.is_never() {
                    return deadline;
                }
            }
            self.resent.pop_front();
        }
        Time::NEVER
    }

    /// Judges a segment that was sent before one that has arrived. Returns until when it has time; [`Time::NEVER`]: it is
    /// lost.
    // Not inlined, because it is seldom called, from loops that are entered with each ACK.
    #[inline(never)]
    fn judge(&self, core: &mut Core, index: usize, now: Time, patience: Dur) -> Time {
        match core.board.get(index) {
            Some(sent) if self.has_time(&sent, patience, now) => {
                (sent.sent_at + patience).max(now + self.least_timer)
            }
            _ => {
                core.mark_lost(index);
                Time::NEVER
            }
        }
    }

    /// Returns whether a segment that was found lost is still outstanding. If so when an episode ends, it belongs to the
    /// next window, whose losses are another sign of congestion (RFC 5681 §4.3).
    fn is_repairing(&self, core: &Core) -> bool {
        core.board.lost() > 0 || self.has_resent_in_flight(core)
    }

    /// A retransmission or a probe has been sent.
    fn note_repair(&mut self, core: &Core, now: Time, sent: &Outstanding, number: u64) {
        if sent.is_resent {
            self.resent.push_back((now, number));
            // Of a segment that is resent again and again to a silent peer, only the last transmission counts.
            if self.resent.len() > 2 * core.board.len() {
                self.resent.retain(|&(sent_at, number)| under_way(core, sent_at, number).is_some());
            }
        }
        if self.probe.is_being_sent {
            self.probe.is_being_sent = false;
            self.probe.out = Some((core.nxt(), sent.is_resent));
        }
    }

    /// RFC 8985 §7.4: a probe that resent the tail and was acknowledged without a DSACK has repaired a loss.
    fn judge_probe(&mut self, core: &mut Core, ack: &AckSummary) {
        let Some((end, is_retransmission)) = self.probe.out.filter(|(end, _)| core.una() >= *end) else {
            return;
        };
        let is_over =
            !is_retransmission || ack.has_dsack || core.una() > end || (ack.is_repeated && ack.sacked == 0);
        if is_over {
            self.probe.out = None;
            if is_retransmission && !ack.has_dsack && core.una() > end && core.phase() == Phase::Open {
                core.handle_repaired_loss(ack.now);
            }
        }
    }
}

/// The segment with this number, if it is in flight and was last resent at `sent_at`. If it has been acknowledged, the first
/// segment is looked at instead.
fn under_way(core: &Core, sent_at: Time, number: u64) -> Option<Outstanding> {
    let sent = core.board.get(core.board.index_of(number))?;
    (sent.is_resent && sent.sent_at == sent_at && sent.fate == Fate::InFlight).then_some(sent)
}

/// When a probe leaves, if the retransmission timer does not expire before (RFC 8985 §7.2).
#[inline]
fn probe_at(core: &Core, now: Time) -> Time {
    let srtt = core.rtt.srtt();
    let patience = if srtt == Dur::ZERO { Dur::from_secs(1) } else { srtt * 2 };
    let delay = if core.board.len() == 1 { DELAYED_ACK } else { Dur::ZERO };
    now + patience + delay
}

impl LossRecovery for Rack {
    #[inline]
    fn on_delivered(&mut self, now: Time, run: &Run, echo: Option<u32>) {
        self.assert_settled();
        let rtt = now.since(run.newest_at);
        if run.is_resent {
            // RFC 8985 §6.2 step 2: an ACK that comes too soon, or echoes an older timestamp, answers the original. Linux
            // looks at the time alone, because a SACK above a gap echoes a timestamp from before the gap.
            let is_originals = !self.is_linuxs
                && echo.is_some_and(|echo| (echo.wrapping_sub(timestamp(run.newest_at)) as i32) < 0);
            if is_originals || rtt < self.min_rtt {
                return;
            }
        }
        self.rtt = rtt;
        self.timed = (run.newest_at, !run.is_resent, run.end);
        self.newest = self.newest.max((run.newest_at, run.end));
        // Step 3.
        self.has_reordering |= run.first_end <= self.highest_delivered && !run.is_resent;
        self.highest_told = self.highest_told.max(run.end);
    }

    fn on_ack(&mut self, core: &mut Core, ack: &AckSummary) {
        self.assert_settled();
        self.min_rtt = core.rtt.min();
        self.highest_delivered = self.highest_told;
        let is_over = core.phase() != Phase::Open && core.una() >= core.recover();
        if is_over {
            core.leave_episode(ack.now);
            self.on_recovery_exit();
        }
        self.adapt(core, ack);
        self.judge_probe(core, ack);
        if core.phase() == Phase::Open {
            hold_back(core);
        }
        let has_lost = self.detect(core, ack.now) || (is_over && self.is_repairing(core));
        if has_lost && core.phase() == Phase::Open {
            core.enter_recovery(ack.now);
        }
    }

    /// All outstanding segments were sent after those that have arrived, so that none is late.
    #[inline]
    fn on_plain_ack(&mut self, now: Time, acked: &TakenOff) {
        self.timed = (acked.newest_at, true, acked.end);
        self.timed_at = now;
        self.reorder_deadline = Time::NEVER;
        self.postpone_probe(now, false);
    }

    #[inline]
    fn postpone_probe(&mut self, now: Time, by_sending: bool) {
        (self.probe.postponed_at, self.probe.by_sending) = (now, by_sending);
    }

    fn is_plain(&self, core: &Core) -> bool {
        let first = core.board.first().map(|first| (first.sent_at, first.end));
        let waits = self.probe.out.is_some() || self.probe.is_being_sent || !self.resent.is_empty();
        !waits && first.is_none_or(|first| first >= self.newest)
    }

    fn has_resent_in_flight(&self, core: &Core) -> bool {
        self.resent.iter().any(|&(sent_at, number)| under_way(core, sent_at, number).is_some())
    }

    #[inline]
    fn on_sent(&mut self, core: &Core, now: Time, sent: &Outstanding, number: u64) {
        if sent.is_resent || self.probe.is_being_sent {
            self.note_repair(core, now, sent, number);
        }
    }

    /// RFC 8985 §6.3: segments sent less than RACK.rtt ago may still arrive.
    fn mark_timed_out(&mut self, core: &mut Core, index: usize, now: Time) -> u64 {
        self.assert_settled();
        core.mark_lost(index);
        for index in index + 1..core.board.index_at(core.recover()) {
            if core.board.get(index).is_some_and(|sent| sent.sent_at + self.rtt <= now) {
                core.mark_lost(index);
            }
        }
        core.board.in_flight()
    }

    /// RFC 8985 §7.2.
    #[inline(always)]
    fn schedule_probe(&mut self, core: &Core, now: Time, rto_deadline: impl FnOnce() -> Time) {
        let is_wanted = core.phase() == Phase::Open
            && core.board.in_flight() > 0
            && core.board.sacked() == 0
            && core.board.lost() == 0
            && self.probe.out.is_none();
        self.probe.postponed_at = Time::NEVER;
        self.probe.deadline = match is_wanted {
            true => probe_at(core, now).min(rto_deadline()),
            false => Time::NEVER,
        };
    }

    fn on_timeout(&mut self) {
        self.reorder_deadline = Time::NEVER;
        self.probe = Probe::NONE;
    }

    fn on_undo(&mut self, core: &Core) {
        self.has_reordering = true;
        self.judged = core.board.number(0);
        let outstanding = (0..core.board.len()).filter_map(|index| Some((index, core.board.get(index)?)));
        let resent = outstanding.filter(|(_, sent)| sent.is_resent && sent.fate == Fate::InFlight);
        self.resent = resent.map(|(index, sent)| (sent.sent_at, core.board.number(index))).collect();
        self.resent.make_contiguous().sort_unstable();
    }

    fn rearms_timer(&self) -> bool {
        true
    }

    fn kept(&self) -> usize {
        self.resent.len()
    }

    #[inline]
    fn settle_plain_acks(&mut self, core: &Core, rto_deadline: Time) {
        if !self.timed_at.is_never() {
            self.settle_timed(core);
        }
        self.probe.deadline = self.probe.deadline(core, rto_deadline);
        self.probe.postponed_at = Time::NEVER;
    }

    #[inline]
    fn deadline(&self, core: &Core, rto_deadline: Time) -> Time {
        self.reorder_deadline.min(self.probe.deadline(core, rto_deadline))
    }

    // RFC 8985 §7.2: a probe waits for two round trips, unless the retransmission timer expires before.
    #[inline(always)]
    fn earliest_probe(&self, rtt: &RttEstimator, postponed_at: Time) -> Time {
        postponed_at + rtt.srtt() * 2
    }

    fn handle_timeout(&mut self, core: &mut Core, now: Time) {
        self.assert_settled();
        if self.reorder_deadline <= now && self.detect(core, now) && core.phase() == Phase::Open {
            core.enter_recovery(now);
            // Linux takes the timer for an ACK of one segment.
            core.reduce_by(core.mss());
            self.probe.deadline = Time::NEVER;
        }
        if self.probe.deadline <= now {
            self.probe.deadline = Time::NEVER;
            self.probe.is_being_sent = true;
            core.allowance.ask_probe();
        }
    }
}
