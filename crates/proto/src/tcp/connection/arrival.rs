//! Segments that arrive in SYN-RECEIVED and later states (RFC 9293 §3.10.7.4). Nothing of a segment is used before it has
//! passed all checks.

use super::{Connection, State};
use crate::tcp::receiver::Acceptability;
use airtcp_wire::{Dur, Ecn, Flags, Segment, Time};

/// At most one challenge ACK leaves in this time (RFC 5961 §7; Linux's `tcp_invalid_ratelimit`). Retransmitted text is
/// acknowledged each time, because its ACK was most likely lost.
const CHALLENGE_INTERVAL: Dur = Dur::from_millis(500);

impl Connection {
    pub(super) fn handle_synchronized(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.receiver_mut();
        let Some((start, ack)) = self.acceptable(now, segment) else { return };
        if self.state == State::SynReceived {
            self.take_ack(now, &segment.into(), &segment.sack, ack);
            self.establish();
        } else {
            self.take_ack(now, &segment.into(), &segment.sack, ack);
        }
        if self.is_unwanted(segment, start) {
            self.answer_by_reset(segment);
            return self.finish();
        }
        let ecn = if self.negotiated.ecn { ecn } else { Ecn::NotEct };
        if self.receiver_mut().handle(now, &segment.into(), start, ecn) {
            self.sender_mut().core.stats.duplicate_segments_received += 1;
        }
        self.advance_state(now, segment.flags.contains(Flags::FIN));
    }

    /// Returns the positions of an acceptable segment's first byte and of its ACK. Handles any other segment itself.
    #[inline]
    fn acceptable(&mut self, now: Time, segment: &Segment) -> Option<(u64, u64)> {
        if segment.flags.contains(Flags::RST) {
            self.handle_reset(now, segment);
            return None;
        }
        if segment.flags.contains(Flags::SYN) {
            self.handle_stray_syn(now, segment);
            return None;
        }
        let start = self.position_in_window(now, segment)?;
        if !segment.flags.contains(Flags::ACK) {
            return None;
        }
        Some((start, self.acceptable_ack(now, segment)?))
    }

    #[inline]
    fn position_in_window(&mut self, now: Time, segment: &Segment) -> Option<u64> {
        // RFC 7323 §3.2: once negotiated, a timestamp is on every segment; §5.3 R1: an old one is not acceptable.
        if self.negotiated.timestamps {
            segment.timestamps?;
            if self.receiver_mut().is_old_timestamp(now, &segment.into()) {
                self.answer_old_timestamp(now, segment);
                return None;
            }
        }
        match self.receiver_mut().acceptability(&segment.into()) {
            Acceptability::Acceptable(start) => return Some(start),
            Acceptability::Repeated => self.answer_repeated(segment),
            Acceptability::Unacceptable => self.challenge(now),
        }
        None
    }

    /// Answers a segment that PAWS rejects. ACKs overtake each other and data, so that one without text below RCV.NXT gets
    /// no answer, as in Linux.
    #[cold]
    fn answer_old_timestamp(&mut self, now: Time, segment: &Segment) {
        let is_overtaken =
            self.receiver_mut().position(&segment.into()) < Some(self.receiver_mut().reassembly.next());
        match self.receiver_mut().acceptability(&segment.into()) {
            _ if segment.seq_len() == 0 && is_overtaken => {}
            _ if segment.seq_len() == 0 => self.challenge(now),
            Acceptability::Unacceptable => self.challenge(now),
            _ => self.receiver_mut().acks.demand(),
        }
    }

    #[cold]
    fn answer_repeated(&mut self, segment: &Segment) {
        self.receiver_mut().on_repeated(&segment.into());
        self.sender_mut().core.stats.duplicate_segments_received += 1;
        self.restart_time_wait(segment.flags.contains(Flags::FIN));
    }

    /// RFC 5961 §5.2 and, for SYN-RECEIVED, RFC 9293 §3.10.7.4, fifth.
    #[inline]
    fn acceptable_ack(&mut self, now: Time, segment: &Segment) -> Option<u64> {
        let range = self.sender_mut().acceptable_acks();
        let ack = self.ack_position(segment).filter(|ack| range.contains(ack));
        if ack.is_none() {
            match self.state {
                State::SynReceived => self.answer_by_reset(segment),
                _ => self.challenge(now),
            }
        }
        ack
    }

    /// RFC 5961 §3.2: only a reset with exactly the next sequence number is obeyed; others in the window are challenged.
    #[cold]
    fn handle_reset(&mut self, now: Time, segment: &Segment) {
        let next = self.receiver_mut().reassembly.next();
        match self.receiver_mut().position(&segment.into()) {
            Some(position) if position == next => match self.state {
                // RFC 9293 §3.10.7.4, second: a passive open goes on waiting.
                State::SynReceived if self.is_passive && !self.is_early() => self.listen_again(),
                // Both sides have finished, so that a reset is reported to nobody.
                State::Closing | State::LastAck | State::TimeWait => self.finish(),
                _ => self.reset_by_peer(),
            },
            Some(position) if position > next && position <= self.receiver_mut().limit() => {
                self.challenge(now)
            }
            _ => {}
        }
    }

    /// Handles a SYN that is a retransmission, because our SYN-ACK or its ACK was lost; or the answer to ours, in a
    /// simultaneous open (RFC 9293 §3.5, figure 7); or a stray one, which is challenged (RFC 5961 §4.2).
    #[cold]
    fn handle_stray_syn(&mut self, now: Time, segment: &Segment) {
        let is_repeated =
            self.state == State::SynReceived && self.receiver_mut().position(&segment.into()) == Some(0);
        if !is_repeated {
            self.challenge(now);
        } else if !segment.flags.contains(Flags::ACK) {
            self.sender_mut().core.mark_first_lost();
        } else if segment.ack == self.iss.at(1) {
            self.take_ack(now, &segment.into(), &segment.sack, 1);
            self.establish();
            // RFC 9293 §3.10.7.4, first: what lies below the window is acknowledged.
            self.receiver_mut().on_repeated(&segment.into());
        }
    }

    /// Asks for a challenge ACK, which tells an honest peer where we stand, and a stranger nothing.
    #[cold]
    fn challenge(&mut self, now: Time) {
        if self.state == State::SynReceived {
            return;
        }
        let rare = self.rare.get_or_insert_default();
        if now >= rare.challenge_again_at {
            rare.challenge_again_at = now + CHALLENGE_INTERVAL;
            self.receiver_mut().acks.demand();
        }
    }
}
