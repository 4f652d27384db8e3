//! Error control without congestion control: the data TCP of a circuit (paper 000 §6). Only the lost segment is resent, and
//! new data is sent as before.

use super::LossRecovery;
use super::sack::lost_below;
use crate::tcp::ack_summary::AckSummary;
use crate::tcp::core::{Core, Phase};
use crate::tcp::outgoing::Reason;
use crate::tcp::scoreboard::{Fate, Outstanding, TakenOff};
use airtcp_wire::Time;

pub struct ErrorControl {
    /// Segments below this position have been judged by SACK.
    judged: u64,
    /// The count of duplicate ACKs when the first unacknowledged segment was last resent.
    resent_at: u32,
    /// See [`LossRecovery::repeat_first_every`].
    repeat_every: u32,
}

impl Default for ErrorControl {
    fn default() -> ErrorControl {
        ErrorControl { judged: 0, resent_at: 0, repeat_every: u32::MAX }
    }
}

impl LossRecovery for ErrorControl {
    fn on_ack(&mut self, core: &mut Core, ack: &AckSummary) {
        // After a timeout, too, losses are repaired one by one as they show.
        if core.phase() != Phase::Open {
            core.leave_episode(ack.now);
        }
        if ack.acked > 0 {
            self.resent_at = 0;
        }
        if core.has_sack() && (ack.sacked > 0 || ack.acked > 0) {
            self.judge(core);
        }
        if ack.is_duplicate {
            self.count_duplicates(core);
        }
    }

    #[inline]
    fn on_plain_ack(&mut self, _now: Time, _acked: &TakenOff) {
        self.resent_at = 0;
    }

    fn on_timeout(&mut self) {
        self.resent_at = 0;
    }

    fn repeat_first_every(&mut self, duplicates: u32) {
        self.repeat_every = duplicates;
    }

    /// `core` has restarted the count of duplicates.
    fn on_undo(&mut self, _core: &Core) {
        self.resent_at = 0;
    }

    /// Paper 000 §5, which follows BSD: a fast retransmit restarts the timer.
    fn rearms_timer(&self) -> bool {
        true
    }
}

impl ErrorControl {
    /// Fast retransmit; then F2: resends the first unacknowledged segment after every `repeat_every` duplicate ACKs.
    fn count_duplicates(&mut self, core: &mut Core) {
        let Some(first) = core.board.first() else { return };
        let is_repair = is_repaired(&first);
        let wanted = if is_repair { self.repeat_every } else { core.duplicates.threshold() };
        if core.duplicates.count() - self.resent_at >= wanted {
            self.resend_first(core, if is_repair { Reason::Retransmit } else { Reason::FastRetransmit });
        }
    }

    fn resend_first(&mut self, core: &mut Core, reason: Reason) {
        self.resent_at = core.duplicates.count();
        core.mark_first_lost();
        core.allowance.ask_resend(reason);
        core.stats.fast_retransmits += u32::from(reason == Reason::FastRetransmit);
    }

    /// F1: applies RFC 6675's IsLost to each segment that has not been resent.
    fn judge(&mut self, core: &mut Core) {
        let below = lost_below(core);
        let mut index = core.board.index_at(self.judged.max(core.una()));
        while let Some(sent) = core.board.get(index).filter(|sent| sent.end <= below) {
            self.judged = sent.end;
            match index {
                _ if is_repaired(&sent) => {}
                0 => self.resend_first(core, Reason::FastRetransmit),
                _ => core.mark_lost(index),
            }
            index += 1;
        }
    }
}

/// Returns whether the segment has been resent, or waits to be.
fn is_repaired(sent: &Outstanding) -> bool {
    sent.is_resent || sent.fate == Fate::Lost
}
