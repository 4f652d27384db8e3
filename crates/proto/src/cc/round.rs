//! Round trips told apart by sequence numbers.

use super::Ack;

/// A round trip begins with the first ACK of something that was sent after the last one began: with the first of a window's
/// train of ACKs, not with the last of the train before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// SND.NXT when the round began; `None` before the first ACK.
    end: Option<u64>,
}

impl Round {
    /// Does a round begin with this ACK? The first one does.
    #[inline]
    pub fn begins(&mut self, ack: &Ack) -> bool {
        let begins = self.end.is_none_or(|end| ack.una > end);
        if begins {
            self.end = Some(ack.nxt);
        }
        begins
    }
}
