//! When the parts of a turn on a medium are over.

use airtcp_wire::{Dur, Time};

/// When the parts of a turn on a [medium](super::Medium) are over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// What the far end answers has been sent: a request to send, or else the data.
    pub asked: Time,
    /// The far end begins to answer.
    pub answers: Time,
    /// Without an answer to a request, the turn is over.
    pub gives_up: Time,
    /// All has been sent, with its acknowledgment.
    pub ends: Time,
}

impl Schedule {
    /// Data alone, which nobody answers.
    pub fn data(ends: Time) -> Schedule {
        Schedule { asked: ends, answers: ends, gives_up: ends, ends }
    }

    /// Does the data wait for the answer to a request?
    pub fn asks_first(&self) -> bool {
        self.gives_up < self.ends
    }

    /// What is over after `from` is over later.
    pub(super) fn delayed(self, from: Time, delay: Dur) -> Schedule {
        let delayed = |at: Time| if at > from { at + delay } else { at };
        let Schedule { asked, answers, gives_up, ends } = self;
        Schedule {
            asked: delayed(asked),
            answers: delayed(answers),
            gives_up: delayed(gives_up),
            ends: delayed(ends),
        }
    }
}
