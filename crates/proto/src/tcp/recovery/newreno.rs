//! NewReno (RFC 6582), impatient variant.

use super::reno::{fast_retransmit, inflate};
use super::{LossRecovery, is_loss_by_duplicates, limited_transmit};
use crate::tcp::core::{AckSummary, Core, Phase};

pub struct NewReno;

impl LossRecovery for NewReno {
    fn on_ack(&mut self, core: &mut Core, ack: &AckSummary) {
        match core.phase {
            Phase::Recovery | Phase::Loss if core.una >= core.recover => core.leave_episode(ack.now),
            Phase::Recovery if ack.acked > 0 => partial_ack(core, ack),
            Phase::Recovery if ack.is_duplicate => inflate(core),
            Phase::Open if ack.acked > 0 => core.inflation = 0,
            Phase::Open if is_loss_by_duplicates(core, ack) => fast_retransmit(core, ack),
            Phase::Open if ack.is_duplicate => limited_transmit(core),
            _ => {}
        }
    }
}

/// RFC 6582 §3.2 step 3, partial acknowledgment: resend the next hole, deflate by what was acknowledged, and add one
/// segment back if it was at least that.
fn partial_ack(core: &mut Core, ack: &AckSummary) {
    core.mark_first_lost();
    core.allowance.ask_resend(crate::tcp::connection::Reason::Retransmit);
    core.inflation -= ack.acked as i64;
    if ack.acked >= core.mss {
        core.inflation += core.mss as i64;
    }
}
