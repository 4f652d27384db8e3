//! SACK-based recovery (RFC 6675).

use super::{LossRecovery, hold_back, is_beyond_recover};
use crate::tcp::ack_summary::AckSummary;
use crate::tcp::core::{Core, Phase};
use crate::tcp::scoreboard::Fate;

#[derive(Default)]
pub struct Sack {
    /// Segments below this position have been judged in this episode.
    judged: u64,
    /// The rescue retransmission of this episode has been used (RFC 6675 §4 NextSeg (4)).
    has_rescued: bool,
}

impl LossRecovery for Sack {
    fn on_ack(&mut self, core: &mut Core, ack: &AckSummary) {
        if core.phase() != Phase::Open && core.una() >= core.recover() {
            core.leave_episode(ack.now);
        }
        match core.phase() {
            Phase::Open => self.watch(core, ack),
            Phase::Recovery => self.judge(core),
            Phase::Loss => {}
        }
    }

    /// RFC 6675 §4 NextSeg (3): the next segment below the highest SACK that is neither SACKed nor lost; then (4): once an
    /// episode, the last outstanding segment.
    fn speculate(&mut self, core: &mut Core) {
        let mut index = core.board.index_at(self.judged);
        while let Some(sent) = core.board.get(index).filter(|sent| sent.start < core.board.high_sacked()) {
            self.judged = sent.end;
            if sent.fate == Fate::InFlight && !sent.is_resent {
                return core.mark_lost(index);
            }
            index += 1;
        }
        if !self.has_rescued && !core.board.is_empty() {
            self.has_rescued = true;
            core.mark_lost(core.board.len() - 1);
        }
    }
}

impl Sack {
    /// RFC 6675 §5: enters recovery on DupThresh duplicates, or as soon as IsLost holds for the first segment.
    fn watch(&mut self, core: &mut Core, ack: &AckSummary) {
        hold_back(core);
        if core.board.sacked() == 0 && !ack.is_duplicate {
            return;
        }
        let lost_below = lost_below(core);
        let by_duplicates = ack.is_duplicate && core.duplicates.are_enough();
        if !is_beyond_recover(core) || !(by_duplicates || lost_below > core.una()) {
            // Step 3: SACKed data makes room in the pipe by itself; without any, the window is widened.
            if ack.is_duplicate && core.board.sacked() == 0 {
                core.inflation.limited_transmit(core.duplicates.count(), core.mss());
            }
            return;
        }
        self.judged = core.una();
        self.has_rescued = false;
        core.mark_first_lost();
        self.judge(core);
        core.enter_recovery(ack.now);
    }

    /// RFC 6675 §4 IsLost: marks every segment lost above which enough data is SACKed.
    fn judge(&mut self, core: &mut Core) {
        let below = lost_below(core);
        let mut index = core.board.index_at(self.judged);
        while let Some(sent) = core.board.get(index).filter(|sent| sent.end <= below) {
            self.judged = sent.end;
            if !sent.is_resent {
                core.mark_lost(index);
            }
            index += 1;
        }
    }
}

/// The position below which segments that are not SACKed are lost: more than (DupThresh − 1)·SMSS bytes, or DupThresh
/// separate ranges, are SACKed above.
pub(super) fn lost_below(core: &Core) -> u64 {
    let threshold = core.duplicates.threshold();
    let (mut bytes, mut ranges, mut in_range) = (0, 0, false);
    let mut index = core.board.index_at(core.board.high_sacked());
    while index > 0 {
        index -= 1;
        let Some(sent) = core.board.get(index) else { break };
        let is_sacked = sent.fate == Fate::Sacked;
        if is_sacked {
            bytes += sent.bytes();
            ranges += u32::from(!in_range);
            if bytes > u64::from(threshold - 1) * core.mss() || ranges >= threshold {
                return sent.start;
            }
        }
        in_range = is_sacked;
    }
    0
}
