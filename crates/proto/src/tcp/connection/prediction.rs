//! Header prediction (Jacobson 1990): on a connection that only receives, or only sends, almost every segment is the one
//! that was to be expected. What the general path would look at and find nothing in is looked at once, not at each of them.

use super::{Connection, Reason, State, Transmit};
use crate::tcp::sender::Outgoing;
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

    /// As [`handle_segment`](Connection::handle_segment) if this is the segment that was to be expected: the next data, or an
    /// ACK of new data. Answers whether it was; if not, nothing has changed.
    #[inline(always)]
    pub fn handle_expected(&mut self, now: Time, segment: &Segment, ecn: Ecn) -> bool {
        let is_plain = segment.sack.is_empty()
            && segment.timestamps.is_some() == self.negotiated.timestamps
            && self.receiver.is_next(now, segment);
        match segment.len {
            _ if !is_plain => false,
            0 => segment.flags == Flags::ACK && self.handle_expected_ack(now, segment),
            _ => ecn != Ecn::Ce && self.handle_expected_data(now, segment),
        }
    }

    #[inline(always)]
    fn handle_expected_data(&mut self, now: Time, segment: &Segment) -> bool {
        let una = self.sender.core.una;
        let is_expected = segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.ack == self.iss.at(una)
            && self.is_predicted(Prediction::Receiving);
        if !is_expected || !self.receiver.take_next(now, segment) {
            return false;
        }
        self.clock = now;
        self.sender.core.stats.segments_received += 1;
        self.sender.last_rtt = None;
        self.sender.update_window(una, self.offered(segment), segment.seq);
        true
    }

    #[inline(always)]
    fn handle_expected_ack(&mut self, now: Time, segment: &Segment) -> bool {
        if !self.is_predicted(Prediction::Sending) {
            return false;
        }
        let core = &self.sender.core;
        let acked = segment.ack.distance(self.iss.at(core.una));
        if acked <= 0 || acked as u64 > core.flight_size() {
            return false;
        }
        self.clock = now;
        let (ack, window) = (core.una + acked as u64, self.offered(segment));
        self.sender.core.stats.segments_received += 1;
        self.sender.handle_plain_ack(now, ack, window, segment);
        self.receiver.forget_accepted();
        self.receiver.note_plain_ack(now, segment);
        true
    }

    /// The window of a segment without SYN, in bytes.
    #[inline]
    fn offered(&self, segment: &Segment) -> u64 {
        u64::from(segment.window) << self.negotiated.peer_window_shift
    }

    /// As [`poll_transmit_into`](Connection::poll_transmit_into) where what leaves next was to be expected: an ACK, or a full
    /// segment of new data. `None`: something else may have to leave.
    #[inline(always)]
    pub fn poll_expected(&mut self, now: Time, out: &mut Transmit) -> Option<bool> {
        let is_due = self.receiver.acks.is_due();
        if self.is_predicted(Prediction::Receiving) {
            if is_due {
                self.clock = now;
                self.pure_ack(now, out);
            }
            return Some(is_due);
        }
        if is_due || self.prediction != Prediction::Sending {
            return None;
        }
        let outgoing = self.sender.poll_plain(now)?;
        self.clock = now;
        if let Some(outgoing) = outgoing {
            self.plain_segment(now, &outgoing, out);
        }
        Some(outgoing.is_some())
    }

    /// As `data_segment`, of new data that a connection sends which owes no CWR.
    #[inline(always)]
    fn plain_segment(&mut self, now: Time, outgoing: &Outgoing, out: &mut Transmit) {
        self.header(now, outgoing.start, &mut out.segment);
        out.segment.len = (outgoing.end - outgoing.start) as u32;
        self.receiver.acks.on_data_sent(now);
        if outgoing.is_pushed {
            out.segment.flags.set(Flags::PSH);
        }
        let ecn = if self.negotiated.ecn { Ecn::Ect0 } else { Ecn::NotEct };
        (out.ecn, out.reason, out.offset) = (ecn, Reason::New, outgoing.start - 1);
    }
}
