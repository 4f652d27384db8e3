//! NewReno (RFC 6582), impatient variant.

use super::reno::fast_retransmit;
use super::{LossRecovery, is_loss_by_duplicates};
use crate::tcp::ack_summary::AckSummary;
use crate::tcp::core::{Core, Phase};
use crate::tcp::outgoing::Reason;

pub struct NewReno;

impl LossRecovery for NewReno {
    fn on_ack(&mut self, core: &mut Core, ack: &AckSummary) {
        match core.phase() {
            Phase::Recovery | Phase::Loss if core.una() >= core.recover() => core.leave_episode(ack.now),
            Phase::Recovery if ack.acked > 0 => partial_ack(core, ack),
            Phase::Recovery if ack.is_duplicate => core.inflation.inflate(core.mss()),
            Phase::Open if ack.acked > 0 => core.inflation.end(),
            Phase::Open if is_loss_by_duplicates(core, ack) => fast_retransmit(core, ack),
            Phase::Open if ack.is_duplicate => {
                core.inflation.limited_transmit(core.duplicates.count(), core.mss())
            }
            _ => {}
        }
    }
}

/// RFC 6582 §3.2 step 3, partial acknowledgment: resend the next hole.
fn partial_ack(core: &mut Core, ack: &AckSummary) {
    core.mark_first_lost();
    core.allowance.ask_resend(Reason::Retransmit);
    core.inflation.on_partial_ack(ack.acked, core.mss());
}
