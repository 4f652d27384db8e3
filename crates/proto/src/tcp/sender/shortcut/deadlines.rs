//! Deadlines that plain ACKs leave uncomputed: most likely another ACK comes first.
//!
//! Invariant: a deadline is what it would be if it had been computed at the last plain ACK. Whoever reads `rto_deadline` or
//! the policy's deadlines [settles](Sender::settle_plain_acks) them first, or asks a method of this file.

use crate::tcp::core::Core;
use crate::tcp::recovery::LossRecovery;
use crate::tcp::sender::Sender;
use airtcp_wire::Time;

impl Sender {
    /// Restarts the timer on a plain ACK of new data. The deadline is computed later: most likely another ACK comes first.
    #[inline(always)]
    pub(super) fn postpone_timer(&mut self, now: Time) {
        self.restarted_at = now;
        if self.core.board.is_empty() {
            (self.rto_deadline, self.restarted_at) = (Time::NEVER, Time::NEVER);
        }
    }

    /// When the retransmission timer expires.
    #[inline(always)]
    pub fn rto_deadline(&self) -> Time {
        match self.restarted_at.is_never() {
            true => self.rto_deadline,
            false => self.restarted_deadline(),
        }
    }

    /// When the retransmission timer expires that a plain ACK restarted.
    #[inline(never)]
    fn restarted_deadline(&self) -> Time {
        self.core.rtt.deadline(self.restarted_at)
    }

    /// A cheap lower bound of [`deadline`](Sender::deadline) while plain ACKs leave it uncomputed; else [`Time::ZERO`].
    #[inline(always)]
    pub fn earliest_deadline(&self) -> Time {
        if !self.leaves_timers_open() {
            return Time::ZERO;
        }
        let Core { board, rtt, .. } = &self.core;
        // A tail loss probe may leave one RTO after the oldest segment.
        let since = board.oldest_at().unwrap_or(self.restarted_at);
        rtt.earliest(since).min(self.policy.earliest_probe(rtt, self.restarted_at))
    }

    /// Returns whether plain ACKs have restarted timers whose deadlines have not been computed since.
    #[inline(always)]
    pub fn leaves_timers_open(&self) -> bool {
        !self.restarted_at.is_never()
    }

    /// Computes the deadlines that plain ACKs have left uncomputed.
    #[inline]
    pub fn settle_plain_acks(&mut self) {
        if !self.restarted_at.is_never() {
            self.rto_deadline = self.rto_deadline();
            self.restarted_at = Time::NEVER;
        }
        self.policy.settle_plain_acks(&self.core, self.rto_deadline);
    }
}
