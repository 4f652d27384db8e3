//! Header prediction (Jacobson 1990): on a connection that only receives, or only sends, almost every segment is the
//! expected one.
//!
//! Invariant: the conditions under which the general path would do nothing special are checked once, and then kept until
//! something unexpected happens, which [forgets](Connection::forget_prediction) them.

use crate::tcp::connection::{Connection, State};
use crate::tcp::sender::Sender;

/// What a connection expects, valid until something unexpected happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prediction {
    /// To be [computed](Connection::predict).
    Unknown,
    Nothing,
    /// Text: we have nothing outstanding and nothing to send. Only then may the sender rest.
    Receiving,
    /// ACKs: each outstanding segment was sent once and is in flight, and what leaves next is new data.
    Sending,
    /// ACKs: something was lost or resent, but what leaves next is new data.
    Repairing,
    /// ACKs: something else has to leave before new data, or new data has to wait.
    Waiting,
}

impl Prediction {
    /// Returns whether only text is expected.
    #[inline(always)]
    pub fn receives(self) -> bool {
        self == Prediction::Receiving
    }

    /// Returns whether ACKs are expected, and new data leaves next.
    #[inline(always)]
    pub fn sends_new(self) -> bool {
        matches!(self, Prediction::Sending | Prediction::Repairing)
    }
}

impl Connection {
    #[inline(always)]
    pub(super) fn is_predicted(&mut self, holds: impl Fn(Prediction) -> bool) -> bool {
        holds(self.prediction)
            || (self.prediction == Prediction::Unknown && {
                self.predict();
                holds(self.prediction)
            })
    }

    /// Predicts, and lets the receiver rest if that is not needed.
    #[inline(never)]
    fn predict(&mut self) {
        use Prediction::{Repairing, Sending, Waiting};
        self.prediction = self.predicted();
        if matches!(self.prediction, Sending | Repairing | Waiting) {
            self.receiver.rest(&self.rules, &self.negotiated, !self.is_passive);
        }
    }

    fn predicted(&self) -> Prediction {
        if !self.rules.predicts {
            return Prediction::Nothing;
        }
        let Some(sender) = self.sender.get() else { return Prediction::Receiving };
        let is_ordinary = self.state == State::Established
            && self.events == 0
            && !self.owes_reset()
            && !self.is_orphan
            && !self.receiver.get().is_some_and(|receiver| receiver.knows_end());
        match is_ordinary {
            true if sender.is_idle() => Prediction::Receiving,
            true if self.sends_plainly(sender) => match sender.is_plain() {
                true => Prediction::Sending,
                false => Prediction::Repairing,
            },
            true => Prediction::Waiting,
            false => Prediction::Nothing,
        }
    }

    /// Returns whether what leaves next is new data, with neither CWR nor SACK blocks.
    fn sends_plainly(&self, sender: &Sender) -> bool {
        let owes_cwr = self.negotiated.ecn && sender.core.owes_cwr;
        sender.sends_new() && !owes_cwr && !self.receiver.has_blocks()
    }

    /// Returns whether only ACKs are expected.
    #[inline]
    pub(super) fn only_sends(&mut self) -> bool {
        use Prediction::{Repairing, Sending, Waiting};
        self.is_predicted(|prediction| matches!(prediction, Sending | Repairing | Waiting))
    }

    /// Returns whether only text is expected.
    #[inline]
    pub(super) fn only_receives(&mut self) -> bool {
        self.is_predicted(Prediction::receives)
    }
}
