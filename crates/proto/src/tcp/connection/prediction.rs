//! Header prediction (Jacobson 1990): on a connection that only receives, or only sends, almost every segment is the one
//! that was to be expected. What the general path would look at and find nothing in is looked at once, not at each of them.

use super::{Connection, State, Transmit};
use airtcp_wire::{Ecn, Flags, Segment, Time};

/// What may be taken for granted until something else than the expected happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prediction {
    /// To be looked at.
    Unknown,
    Nothing,
    /// Nothing of ours is outstanding or waits, and nothing of the peer's is missing.
    Receiving,
    /// What is outstanding was sent once and is not known to be lost, and the peer sends nothing but ACKs.
    Sending,
}

impl Connection {
    /// Something has happened that was not predicted.
    #[inline]
    pub(super) fn forget_prediction(&mut self) {
        self.prediction = Prediction::Unknown;
    }

    #[inline]
    pub(super) fn is_predicted(&mut self, prediction: Prediction) -> bool {
        if self.prediction == Prediction::Unknown {
            self.prediction = self.predict();
        }
        self.prediction == prediction
    }

    fn predict(&self) -> Prediction {
        let is_ordinary = self.state == State::Established
            && self.events == 0
            && self.reset_due.is_none()
            && !self.is_orphan
            && self.receiver.is_plain();
        match is_ordinary {
            true if self.sender.is_silent() => Prediction::Receiving,
            true if self.sender.is_plain() && !(self.negotiated.ecn && self.sender.core.owes_cwr) => {
                Prediction::Sending
            }
            _ => Prediction::Nothing,
        }
    }

    /// Takes the segment if it is the expected one. Answers whether it was.
    #[inline]
    pub(super) fn handle_predicted(&mut self, now: Time, segment: &Segment, ecn: Ecn) -> bool {
        let is_plain = segment.sack.is_empty()
            && segment.timestamps.is_some() == self.negotiated.timestamps
            && self.receiver.is_next(now, segment);
        match segment.len {
            _ if !is_plain => false,
            0 => segment.flags == Flags::ACK && self.take_expected_ack(now, segment),
            _ => ecn != Ecn::Ce && self.take_expected_data(now, segment),
        }
    }

    #[inline]
    fn take_expected_data(&mut self, now: Time, segment: &Segment) -> bool {
        let una = self.sender.core.una;
        let is_expected = segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.ack == self.iss.at(una)
            && self.is_predicted(Prediction::Receiving);
        if !is_expected || !self.receiver.take_next(now, segment) {
            return false;
        }
        self.sender.update_window(una, self.offered(segment), segment.seq);
        true
    }

    #[inline]
    fn take_expected_ack(&mut self, now: Time, segment: &Segment) -> bool {
        if !self.is_predicted(Prediction::Sending) {
            return false;
        }
        let core = &self.sender.core;
        let acked = segment.ack.distance(self.iss.at(core.una));
        if acked <= 0 || acked as u64 > core.flight_size() {
            return false;
        }
        let (ack, window) = (core.una + acked as u64, self.offered(segment));
        self.sender.handle_plain_ack(now, ack, window, segment);
        self.receiver.note_plain_ack(now, segment);
        true
    }

    /// The window of a segment without SYN, in bytes.
    #[inline]
    fn offered(&self, segment: &Segment) -> u64 {
        u64::from(segment.window) << self.negotiated.peer_window_shift
    }

    /// What leaves next where that was to be expected; `None` where the general path must see.
    #[inline]
    pub(super) fn poll_predicted(&mut self, now: Time, out: &mut Transmit) -> Option<bool> {
        if self.is_predicted(Prediction::Receiving) {
            let is_due = self.receiver.acks.is_due();
            if is_due {
                self.pure_ack(now, out);
            }
            return Some(is_due);
        }
        if self.prediction != Prediction::Sending || self.receiver.acks.is_due() {
            return None;
        }
        let outgoing = self.sender.poll_plain(now)?;
        if let Some(outgoing) = outgoing {
            self.data_segment(now, &outgoing, out);
        }
        Some(outgoing.is_some())
    }
}
