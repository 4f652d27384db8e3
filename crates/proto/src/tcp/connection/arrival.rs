//! Segments of a connection whose SYNs have been exchanged, or half of them (RFC 9293 §3.10.7.4).

use super::{Connection, State};
use crate::tcp::receiver::Arrival;
use airtcp_wire::{Ecn, Flags, Segment, Time};

impl Connection {
    /// RFC 9293 §3.10.7.4.
    pub(super) fn handle_synchronized(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            return self.handle_reset(segment);
        }
        // RFC 7323 §3.2: once negotiated, a timestamp is on every segment; §5.3 R1: an old one is not acceptable.
        if self.negotiated.timestamps {
            if segment.timestamps.is_none() {
                return;
            }
            if self.receiver.is_old_timestamp(segment) {
                // Not for a late ACK without data, as in `Receiver::handle`.
                if segment.seq_len() > 0 {
                    self.receiver.acks.demand();
                }
                return;
            }
        }
        if flags.contains(Flags::SYN) {
            return self.handle_stray_syn(now, segment);
        }
        if !flags.contains(Flags::ACK) {
            return;
        }
        if self.state == State::SynReceived {
            let core = &self.sender.core;
            if !self.ack_position(segment).is_some_and(|ack| core.una < ack && ack <= core.nxt) {
                self.reset_due = Some(Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() });
                return;
            }
            self.take_ack(now, segment);
            self.establish();
        } else if self.receiver.position(segment).is_some() {
            self.take_ack(now, segment);
        }
        self.take_text(now, segment, ecn);
        self.advance_state(now);
    }

    /// RFC 5961 §3.2: only a reset with exactly the next sequence number is obeyed; others in the window are challenged.
    fn handle_reset(&mut self, segment: &Segment) {
        match self.receiver.position(segment) {
            Some(position) if position == self.receiver.reassembly.next() => match self.state {
                // RFC 9293 §3.10.7.4, second: both sides have finished, so that nobody is told of a reset.
                State::Closing | State::LastAck | State::TimeWait => self.finish(),
                _ => self.reset_by_peer(),
            },
            Some(position)
                if position > self.receiver.reassembly.next() && position <= self.receiver.limit() =>
            {
                self.receiver.acks.demand();
            }
            _ => {}
        }
    }

    /// A SYN again: our SYN-ACK or its ACK was lost; the answer to ours, when both ends open at once (RFC 9293 §3.5,
    /// figure 7); or a stray one, which is challenged (RFC 5961 §4.2).
    fn handle_stray_syn(&mut self, now: Time, segment: &Segment) {
        let is_repeated = self.state == State::SynReceived && self.receiver.position(segment) == Some(0);
        if !is_repeated {
            self.receiver.acks.demand();
        } else if !segment.flags.contains(Flags::ACK) {
            self.sender.core.mark_first_lost();
        } else if segment.ack == self.iss.at(1) {
            self.take_ack(now, segment);
            self.establish();
        }
    }

    #[inline]
    fn take_text(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        let ecn = if self.negotiated.ecn { ecn } else { Ecn::NotEct };
        if self.receiver.handle(now, segment, ecn) == Arrival::Duplicate {
            self.sender.core.stats.duplicate_segments_received += 1;
        }
    }
}
