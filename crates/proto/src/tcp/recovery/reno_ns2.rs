//! Reno as in ns-2 with `bugfix_` on (tcp-reno.cc, revisions 1.17 of 1997 to 1.41 of 2004): only after a timeout does
//! "recover" keep duplicate ACKs from meaning a loss; they resend nothing then, but still inflate the window. After a fast
//! retransmit they may mean another loss in the same window of data, as in the Reno of Fall and Floyd 1996.

use super::reno::fast_retransmit;
use super::{LossRecovery, is_beyond_recover};
use crate::tcp::ack_summary::AckSummary;
use crate::tcp::core::{Core, Phase};

#[derive(Default)]
pub struct RenoNs2 {
    /// The last reduction followed a timeout.
    has_timed_out: bool,
}

impl LossRecovery for RenoNs2 {
    fn on_ack(&mut self, core: &mut Core, ack: &AckSummary) {
        if ack.acked > 0 {
            core.inflation.end();
            if core.phase() == Phase::Recovery
                || (core.phase() == Phase::Loss && core.una() >= core.recover())
            {
                core.leave_episode(ack.now);
            }
        } else if ack.is_duplicate {
            self.on_duplicate(core, ack);
        }
    }

    fn on_timeout(&mut self) {
        self.has_timed_out = true;
    }
}

impl RenoNs2 {
    fn on_duplicate(&mut self, core: &mut Core, ack: &AckSummary) {
        let is_third = core.duplicates.is_at_threshold();
        if core.phase() == Phase::Recovery {
            core.inflation.inflate(core.mss());
        } else if is_third && (!self.has_timed_out || is_beyond_recover(core)) {
            self.has_timed_out = false;
            fast_retransmit(core, ack);
        } else if core.duplicates.are_enough() {
            core.inflation.inflate_to(core.duplicates.count(), core.mss());
        } else {
            core.inflation.limited_transmit(core.duplicates.count(), core.mss());
        }
    }
}
