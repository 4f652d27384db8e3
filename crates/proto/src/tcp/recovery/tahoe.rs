//! Tahoe: the third duplicate ACK begins slow start from one segment, and everything outstanding is resent.

use super::{LossRecovery, is_loss_by_duplicates};
use crate::tcp::ack_summary::AckSummary;
use crate::tcp::core::{Core, Phase};

pub struct Tahoe;

impl LossRecovery for Tahoe {
    fn on_ack(&mut self, core: &mut Core, ack: &AckSummary) {
        if core.phase() == Phase::Loss && core.una() >= core.recover() {
            core.leave_episode(ack.now);
        }
        if core.phase() == Phase::Open && is_loss_by_duplicates(core, ack) {
            core.enter_slow_start(ack.now);
        }
    }
}
