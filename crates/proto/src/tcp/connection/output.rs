//! The segments that leave.

use super::{Connection, Reason, State, Transmit};
use crate::tcp::outgoing::Outgoing;
use crate::tcp::sender::Sender;
use airtcp_wire::{Ecn, Flags, Header, SackBlocks, Segment, Time};

impl Connection {
    /// The next segment to send, if any may be sent now.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let mut transmit = Transmit::default();
        self.poll_transmit_into(now, &mut transmit).then_some(transmit)
    }

    /// [`poll_transmit`](Connection::poll_transmit) into the driver's memory, which saves copying the segment. Returns
    /// whether there was a segment. After an acknowledgment without data there is none.
    pub fn poll_transmit_into(&mut self, now: Time, out: &mut Transmit) -> bool {
        let is_sent = match self.poll_expected(now, out) {
            Some(is_sent) => is_sent,
            None => self.poll_anything(now, out),
        };
        debug_assert!(is_sent || !self.is_stuck(), "{:?}", self.sender_view());
        is_sent
    }

    /// Returns whether something waits to be sent, or is outstanding.
    pub fn has_work(&self) -> bool {
        let sends = !matches!(self.state, State::Closed | State::Listen | State::TimeWait);
        sends && self.sender.get().is_some_and(Sender::has_work)
    }

    /// Returns whether there is work and no timer, so that nothing will ever leave again. Asked when nothing may leave now.
    pub fn is_stuck(&self) -> bool {
        self.has_work() && self.poll_timeout().is_never()
    }

    #[inline(never)]
    fn poll_anything(&mut self, now: Time, out: &mut Transmit) -> bool {
        self.forget_prediction();
        self.clock = now;
        if let Some(segment) = self.rare.as_mut().and_then(|rare| rare.reset_due.take()) {
            *out = Transmit { segment, ecn: Ecn::NotEct, reason: Reason::Ack, offset: 0 };
            return true;
        }
        let outgoing = match self.state {
            State::Closed | State::Listen => return false,
            State::SynSent | State::SynReceived => {
                return self.poll_syn(now, out) || self.poll_early(now, out);
            }
            State::TimeWait => None,
            _ => self.sender_mut().poll(now),
        };
        match outgoing {
            Some(outgoing) => self.data_segment(now, &outgoing, out),
            None if self.receiver.is_ack_due() => self.pure_ack(now, out),
            None => return false,
        }
        true
    }

    /// A driver's watchdog: if the connection is stuck, sets the retransmission timer, whose expiry makes a new start. Returns whether
    /// it was, which no sound connection ever is.
    pub fn revive(&mut self, now: Time) -> bool {
        let is_stuck = self.is_stuck();
        if is_stuck {
            self.forget_prediction();
            self.clock = now;
            self.sender_mut().revive(now);
        }
        is_stuck
    }

    /// Makes the header of a segment that starts at `position`, complete but for its length and SACK blocks.
    #[inline(always)]
    pub(super) fn header(&mut self, now: Time, position: u64, flags: Flags) -> Header {
        let mut header = Header::new(self.iss.at(position), flags, self.negotiated.stamps(now));
        self.receiver.acknowledge(&mut header);
        header
    }

    /// Makes a segment that starts at `position`, with ACK and SACK blocks, and no text yet.
    pub(super) fn segment(&mut self, now: Time, position: u64) -> Segment {
        let mut segment = Segment::from(&self.header(now, position, Flags::ACK));
        if self.receiver.has_blocks() {
            self.receiver.fill_sack(self.negotiated.timestamps, &mut segment.sack);
        }
        segment
    }

    pub(super) fn pure_ack(&mut self, now: Time, out: &mut Transmit) {
        let nxt = self.sender.count_ack();
        out.segment = self.segment(now, nxt);
        (out.ecn, out.reason, out.offset) = (Ecn::NotEct, Reason::Ack, 0);
    }

    /// On a connection with nothing else to send: the ACK that leaves now, if one is due. Its SACK blocks replace those in
    /// `sack`.
    #[inline(always)]
    pub(crate) fn poll_ack(&mut self, now: Time, sack: &mut SackBlocks) -> Option<Header> {
        if !self.receiver.is_ack_due() {
            return None;
        }
        self.clock = now;
        let nxt = self.sender.count_ack();
        sack.clear();
        if self.receiver.has_blocks() {
            self.receiver.fill_sack(self.negotiated.timestamps, sack);
        }
        Some(self.header(now, nxt, Flags::ACK))
    }

    /// The ECN field of new data (RFC 3168 §6.1.2).
    #[inline(always)]
    pub fn new_data_ecn(&self) -> Ecn {
        if self.negotiated.ecn { Ecn::Ect0 } else { Ecn::NotEct }
    }

    pub(super) fn data_segment(&mut self, now: Time, outgoing: &Outgoing, out: &mut Transmit) {
        out.segment = self.segment(now, outgoing.start);
        let segment = &mut out.segment;
        let mut length = outgoing.end - outgoing.start;
        if self.sender_mut().is_fin(outgoing.end) {
            segment.flags.set(Flags::FIN);
            length -= 1;
            self.on_fin_sent(outgoing.reason);
        }
        segment.len = length as u32;
        if length > 0 {
            self.receiver.note_data_sent(now);
        }
        if length > 0 && outgoing.is_pushed {
            segment.flags.set(Flags::PSH);
        }
        let mut ecn = Ecn::NotEct;
        if self.negotiated.ecn && length > 0 {
            // RFC 3168 §6.1.5 and §6.1.6: neither retransmissions nor window probes are ECN-capable.
            ecn = match outgoing.reason {
                Reason::New => Ecn::Ect0,
                Reason::WindowProbe => Ecn::NotEct,
                _ if self.rules.config.ecn_retransmissions => Ecn::Ect0,
                _ => Ecn::NotEct,
            };
            // RFC 3168 §6.1.2: on the first new data after the reduction.
            let may_tell = outgoing.reason == Reason::New || self.rules.config.ecn_retransmissions;
            if may_tell && std::mem::take(&mut self.sender_mut().core.owes_cwr) {
                segment.flags.set(Flags::CWR);
            }
        }
        (out.ecn, out.reason, out.offset) = (ecn, outgoing.reason, outgoing.start.saturating_sub(1));
    }
}
