//! Reno: fast retransmit and fast recovery with an inflated window, which ends with the first ACK of new data
//! (RFC 5681 §3.2 without RFC 6582).

use super::{LossRecovery, is_loss_by_duplicates};
use crate::tcp::ack_summary::AckSummary;
use crate::tcp::core::{Core, Phase};

pub struct Reno;

impl LossRecovery for Reno {
    fn on_ack(&mut self, core: &mut Core, ack: &AckSummary) {
        match core.phase() {
            // RFC 5681 §3.2 step 6: deflate.
            Phase::Recovery if ack.acked > 0 => core.leave_episode(ack.now),
            Phase::Recovery if ack.is_duplicate => core.inflation.inflate(core.mss()),
            Phase::Loss if core.una() >= core.recover() => core.leave_episode(ack.now),
            Phase::Open if ack.acked > 0 => core.inflation.end(),
            Phase::Open if is_loss_by_duplicates(core, ack) => fast_retransmit(core, ack),
            Phase::Open if ack.is_duplicate => {
                core.inflation.limited_transmit(core.duplicates.count(), core.mss())
            }
            _ => {}
        }
    }
}

/// RFC 5681 §3.2 steps 2 and 3.
pub fn fast_retransmit(core: &mut Core, ack: &AckSummary) {
    core.mark_first_lost();
    core.enter_recovery(ack.now);
    core.inflation.inflate_to(core.duplicates.threshold(), core.mss());
}
