//! Round trips, delimited by sequence numbers.

use super::Ack;

/// A round trip begins with the first ACK for data sent after the last round trip began. That is the first ACK of a window's train,
/// not the last of the train before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// SND.NXT when the round began; `None` before the first ACK.
    end: Option<u64>,
}

impl Round {
    /// Does a round begin with this ACK? The first ACK begins one.
    #[inline]
    pub fn begins(&mut self, ack: &Ack) -> bool {
        let begins = self.end.is_none_or(|end| ack.una > end);
        if begins {
            self.end = Some(ack.nxt);
        }
        begins
    }
}
