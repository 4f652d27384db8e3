//! Round trips told apart by sequence numbers.

use super::Ack;

/// A round trip ends when what was SND.NXT at its beginning is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// `None` before the first ACK.
    end: Option<u64>,
}

impl Round {
    /// Does a round begin with this ACK? The first one does.
    #[inline]
    pub fn begins(&mut self, ack: &Ack) -> bool {
        let begins = self.end.is_none_or(|end| ack.una >= end);
        if begins {
            self.end = Some(ack.nxt);
        }
        begins
    }
}
