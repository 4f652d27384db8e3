//! The sender's timers: when they expire, and what the sender does then.

use super::Sender;
use crate::tcp::config::TimeoutPolicy;
use crate::tcp::core::{Expiry, Phase};
use crate::tcp::outgoing::Reason;
use crate::tcp::recovery::LossRecovery;
use crate::tcp::scoreboard::Fate;
use airtcp_wire::{Dur, Time};

/// Two ticks of a Linux clock (`TCP_TIMEOUT_MIN`).
const EXPEDITED_SYN: Dur = Dur::from_millis(8);

impl Sender {
    /// RFC 6298 §5: (5.2) all acknowledged: off; (5.3) new data acknowledged: restart.
    #[inline(always)]
    pub(super) fn restart_timer(&mut self, now: Time, has_progress: bool) {
        debug_assert!(!self.leaves_timers_open(), "what plain ACKs leave open is settled before");
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
        timers.acknowledge(self.core.una());
        self.rto_deadline = timers.next();
    }

    /// The earliest of the sender's timers.
    #[inline(always)]
    pub fn deadline(&self) -> Time {
        let rto_deadline = self.rto_deadline();
        let policy_deadline = self.policy.deadline(&self.core, rto_deadline);
        let deadline = rto_deadline.min(self.persist.deadline()).min(policy_deadline);
        debug_assert!(self.earliest_deadline() <= deadline, "the schedule relies on the lower bound");
        deadline
    }

    #[inline]
    pub(super) fn policy_deadline(&self) -> Time {
        self.policy.deadline(&self.core, self.rto_deadline())
    }

    /// When the pacer lets the next segment leave; [`Time::NEVER`] if it holds nothing back.
    #[inline]
    pub fn next_departure(&self, now: Time) -> Time {
        match &self.pacer {
            Some(pacer) if pacer.next_departure() > now && self.has_something_to_send() => {
                pacer.next_departure()
            }
            _ => Time::NEVER,
        }
    }

    /// The pacer's next departure, even with nothing to send, if it is still to come; else [`Time::NEVER`].
    #[inline]
    pub fn paced_until(&self, now: Time) -> Time {
        let departure = self.pacer.as_ref().map(|pacer| pacer.next_departure());
        departure.filter(|departure| *departure > now).unwrap_or(Time::NEVER)
    }

    #[inline]
    fn has_something_to_send(&self) -> bool {
        let has_copies = || self.copies.as_ref().is_some_and(|copies| copies.are_due(self.core.nxt()));
        (self.core.board.lost() > 0 || self.unsent() > 0 || has_copies())
            && self.core.board.in_flight() < self.core.window()
    }

    pub fn handle_timeout(&mut self, now: Time) {
        if self.policy_deadline() <= now {
            self.policy.handle_timeout(&mut self.core, now);
        }
        self.persist.handle_timeout(now);
        // RFC 8985 §7.2: a probe takes the place of a timeout that is due at the same time.
        if self.rto_deadline <= now && !self.core.allowance.has_probe() {
            self.handle_rto(now);
        }
    }

    /// Sets the retransmission timer, although nothing may be outstanding.
    pub fn revive(&mut self, now: Time) {
        self.rto_deadline = self.core.rtt.deadline(now);
    }

    /// RFC 6298 §5.4 to §5.6.
    fn handle_rto(&mut self, now: Time) {
        debug_assert!(!self.leaves_timers_open(), "what plain ACKs leave open is settled before");
        self.rto_deadline = Time::NEVER;
        let Some((index, retries)) = self.expired_segment(now) else { return };
        if self.core.una() == 0 && index > 0 {
            // What left before the handshake was complete waits for the SYN, which has a timer of its own.
            return self.core.board.get(index).map_or((), |sent| self.start_rto(now, sent.end));
        }
        self.retries = retries;
        self.doubt_sack();
        self.timed.iter_mut().for_each(|timed| timed.stop());
        if self.core.una() > 0 || retries > self.syn_linear {
            self.core.rtt.on_expiry();
        }
        if self.core.una() == 0 {
            // A SYN was lost: no window to reduce (RFC 5681 §3.1 sees to the initial window).
            self.core.stats.timeouts += 1;
            self.core.allowance.ask_resend(Reason::Timeout);
            self.core.mark_first_lost();
            return;
        }
        let was_open = self.core.phase() == Phase::Open;
        let is_repeated = self.core.begin_loss(now, retries);
        let survivors = self.mark_timed_out(now, index);
        self.policy.on_timeout();
        self.core.enter_loss(now, Expiry { is_repeated, survivors });
        if self.timeout_policy == TimeoutPolicy::GoBackNAtOnce {
            self.core.allowance.extend_resend();
        }
        self.core.spurious.on_timeout(was_open, retries);
    }

    /// The index of the segment whose timer has expired, and how often it has. With one timer, that is the first segment.
    fn expired_segment(&mut self, now: Time) -> Option<(usize, u32)> {
        let Some(timers) = &mut self.segment_timers else { return Some((0, self.retries + 1)) };
        let board = &self.core.board;
        let expired = std::iter::from_fn(|| timers.expire(now))
            .filter_map(|(end, expiries)| Some((board.index_at(end).checked_sub(1)?, expiries)))
            .find(|&(index, _)| index == 0 || board.get(index).is_some_and(|sent| sent.fate != Fate::Sacked));
        self.rto_deadline = timers.next();
        expired
    }

    /// The first unacknowledged segment has been SACKed: the peer has discarded what it had reported, or it never had it. Nothing that
    /// SACK says can be relied on then, or nothing would be left to resend.
    fn doubt_sack(&mut self) {
        if self.core.board.first().is_some_and(|first| first.fate == Fate::Sacked) {
            self.core.board.forget_sacked();
        }
    }

    /// [`LossRecovery::mark_timed_out`], unless the timeout policy or the segments' own timers decide what is lost.
    fn mark_timed_out(&mut self, now: Time, index: usize) -> u64 {
        if self.timeout_policy == TimeoutPolicy::SelectiveRepeat {
            self.core.mark_lost(index);
            return 0;
        }
        let Some(timers) = &mut self.segment_timers else {
            return self.policy.mark_timed_out(&mut self.core, index, now);
        };
        // Paper 003 §III: go-back-N resets the timers and resends all that is outstanding.
        self.core.mark_all_lost_from(index);
        if let Some(first) = self.core.board.get(index) {
            timers.stop_between(first.end, self.core.recover());
            self.rto_deadline = timers.next();
        }
        0
    }

    /// Linux resends its SYN this soon after an unacceptable ACK, perhaps of a connection that only the peer remembers.
    pub fn expedite_syn(&mut self, now: Time) {
        if self.core.spurious.is_linuxs() && self.retries == 0 {
            self.rto_deadline = self.rto_deadline.min(now + EXPEDITED_SYN);
        }
    }
}
