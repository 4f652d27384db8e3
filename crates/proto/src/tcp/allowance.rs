//! Segments that may leave out of turn, whatever the window says.

use super::outgoing::Reason;

/// The allowances. Each is asked for once, and used up when the segment leaves.
#[derive(Debug, Default)]
pub struct Allowance {
    /// The next retransmission leaves, for this reason.
    resend: Option<Reason>,
    /// All retransmissions that wait leave, for that reason.
    resends_all: bool,
    /// How many new segments may leave, before any retransmission (F-RTO, RFC 5682 §2.1).
    new_segments: u8,
    /// A tail loss probe leaves now (RFC 8985 §7.3).
    is_probe_due: bool,
}

impl Allowance {
    /// Returns whether the window alone decides what may leave.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.resend.is_none() && self.new_segments == 0 && !self.is_probe_due
    }

    pub fn ask_resend(&mut self, reason: Reason) {
        self.resend = Some(reason);
    }

    #[inline]
    pub fn has_resend(&self) -> bool {
        self.resend.is_some()
    }

    #[inline]
    pub fn take_resend(&mut self) -> Option<Reason> {
        if self.resends_all { self.resend } else { self.resend.take() }
    }

    /// All retransmissions that wait may leave, and not only the next one.
    pub fn extend_resend(&mut self) {
        self.resends_all = true;
    }

    /// No retransmission waits any more.
    #[inline]
    pub fn end_resends(&mut self) {
        (self.resend, self.resends_all) = (None, false);
    }

    pub fn ask_new(&mut self, segments: u8) {
        self.new_segments = segments;
    }

    #[inline]
    pub fn has_new(&self) -> bool {
        self.new_segments > 0
    }

    #[inline]
    pub fn use_new(&mut self) {
        self.new_segments = self.new_segments.saturating_sub(1);
    }

    pub fn ask_probe(&mut self) {
        self.is_probe_due = true;
    }

    #[inline]
    pub fn has_probe(&self) -> bool {
        self.is_probe_due
    }

    pub fn use_probe(&mut self) {
        self.is_probe_due = false;
    }

    /// The timer has expired: its retransmission replaces all other allowances.
    pub fn on_timeout(&mut self) {
        *self = Allowance { resend: Some(Reason::Timeout), ..Allowance::default() };
    }

    /// The episode of loss is over: its allowances end.
    pub fn end_episode(&mut self) {
        self.end_resends();
        self.new_segments = 0;
    }
}
