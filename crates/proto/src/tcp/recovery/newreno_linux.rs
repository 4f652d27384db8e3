//! NewReno (RFC 6582) as in Linux: duplicate ACKs stand for SACKed segments, so that the window is not inflated, and
//! proportional rate reduction decides when a hole is resent.

use super::{LossRecovery, hold_back};
use crate::tcp::ack_summary::AckSummary;
use crate::tcp::core::{Core, Phase};
use airtcp_wire::Time;

pub struct NewRenoLinux;

impl LossRecovery for NewRenoLinux {
    fn on_ack(&mut self, core: &mut Core, ack: &AckSummary) {
        // RFC 6582 §3.2 step 2: an episode lasts until more than "recover" is acknowledged.
        if core.phase() != Phase::Open && core.una() > core.recover() {
            core.leave_episode(ack.now);
        }
        let is_partial = ack.acked > 0 && core.una() < core.recover();
        match core.phase() {
            Phase::Open => watch(core, ack),
            Phase::Recovery if is_partial => core.mark_first_lost(),
            // What duplicate ACKs have announced does not carry over to the next hole.
            Phase::Recovery | Phase::Loss if ack.acked > 0 => core.board.forget_announced(),
            Phase::Recovery | Phase::Loss => {}
        }
    }

    fn mark_timed_out(&mut self, core: &mut Core, index: usize, _now: Time) -> u64 {
        core.board.forget_announced();
        core.mark_all_lost_from(index);
        0
    }

    fn rearms_timer(&self) -> bool {
        true
    }
}

fn watch(core: &mut Core, ack: &AckSummary) {
    if ack.acked > 0 {
        core.board.forget_announced();
    }
    hold_back(core);
    if core.board.announced() >= u64::from(core.duplicates.threshold()) * core.mss() {
        core.mark_first_lost();
        core.enter_recovery(ack.now);
    }
}
