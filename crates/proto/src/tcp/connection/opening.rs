//! Opening: LISTEN, SYN-SENT, and the SYNs that leave.

use super::fast_open::FastOpening;
use super::half::Half;
use super::{Connection, Event, Rare, Reason, Receiver, State, Transmit};
use crate::Chances;
use crate::cc::WindowRules;
use crate::tcp::handshake::{Negotiated, negotiate, offer};
use crate::tcp::spurious::timestamp;
use airtcp_wire::{Ecn, Flags, Segment, Seq, Time, Timestamps};

impl Connection {
    /// RFC 9293 §3.10.7.2.
    pub(super) fn handle_in_listen(&mut self, now: Time, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.answer_by_reset(segment);
        } else if segment.flags.contains(Flags::SYN) {
            self.accept_syn(now, segment);
            self.is_passive = true;
            self.state = State::SynReceived;
        }
    }

    /// A passive open that has failed returns to LISTEN (RFC 9293 §3.10.7.4), with a new initial sequence number: the one
    /// that this peer knows must not help it to guess the next peer's (RFC 6528).
    pub(super) fn listen_again(&mut self) {
        let rules = &self.rules;
        self.iss = Seq(Chances::new(self.seed).chance(&format!("connection.{}", self.iss.0)).u32());
        self.negotiated = Negotiated { mss: rules.config.segment_payload(), ..Negotiated::default() };
        self.sender.wake(rules, &self.negotiated).restart(rules, self.negotiated.mss.into());
        self.receiver = Half::new(Receiver::new(&rules.config));
        self.rare.iter_mut().for_each(|rare| rare.fast_open = FastOpening::default());
        self.state = State::Listen;
    }

    /// RFC 9293 §3.10.7.3.
    pub(super) fn handle_in_syn_sent(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        let acked = self.ack_position(segment).filter(|ack| (1..=self.sender.nxt()).contains(ack));
        let acks_syn = flags.contains(Flags::ACK) && acked.is_some();
        if flags.contains(Flags::ACK) && !acks_syn {
            if !flags.contains(Flags::RST) {
                self.answer_by_reset(segment);
            }
            return self.sender_mut().expedite_syn(now);
        }
        if flags.contains(Flags::RST) {
            if acks_syn {
                self.reset_by_peer();
            }
            return;
        }
        if !flags.contains(Flags::SYN) {
            return;
        }
        self.accept_syn(now, segment);
        if let Some(ack) = acked.filter(|_| acks_syn) {
            self.take_ack(now, &segment.into(), &segment.sack, ack);
            self.sender_mut().resend_early();
            self.establish();
            self.receiver_mut().acks.demand();
        } else {
            // Simultaneous open: our SYN goes out again, now with an ACK.
            self.state = State::SynReceived;
            self.sender_mut().core.mark_first_lost();
        }
    }

    fn accept_syn(&mut self, now: Time, segment: &Segment) {
        self.negotiated = negotiate(&self.rules.config, segment);
        let window = self.negotiated.window_of_syn(segment.window);
        self.receiver.wake(&self.rules, &self.negotiated).on_syn(now, segment, &self.rules.config);
        self.sender_mut().on_initial_window(window, segment.seq);
    }

    /// RFC 5681 §3.1: after a lost SYN or SYN-ACK the initial window is one segment. In Linux, only after two lost SYNs.
    fn is_syn_loss_congestion(&mut self) -> bool {
        let resent = self.sender_mut().core.stats.retransmissions;
        match self.rules.config.windows {
            WindowRules::Linux => resent > 1 && !self.is_passive,
            _ => resent > 0,
        }
    }

    pub(super) fn establish(&mut self) {
        let is_early = self.is_early();
        // RFC 9293 §3.10.4: a FIN may leave in SYN-RECEIVED.
        self.state = if self.sender_mut().has_sent_fin() { State::FinWait1 } else { State::Established };
        let Negotiated { mss, sack, .. } = self.negotiated;
        let sender = self.sender.wake(&self.rules, &self.negotiated);
        let has_sack = sack && self.rules.config.reads_sack();
        sender.establish(&self.rules, mss.into(), has_sack);
        if !has_sack {
            sender.forgo_copies();
        }
        let rtt = &sender.core.rtt;
        self.receiver.wake(&self.rules, &self.negotiated).acks.on_handshake(rtt.srtt(), rtt.rto());
        if !is_early {
            self.notify(Event::Connected);
        }
        if !self.sender_mut().is_idle() {
            self.begin_to_send();
        }
    }

    /// Something is to be sent, which takes a controller: builds it if there is none.
    #[inline(always)]
    pub(super) fn begin_to_send(&mut self) {
        if !self.sender.get().is_some_and(|sender| sender.core.cc.has_controller()) {
            self.get_controller();
        }
    }

    /// Builds the controller, unless nothing has been negotiated: what has been is needed for that.
    #[cold]
    fn get_controller(&mut self) {
        let is_open =
            !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        if !is_open && !self.is_early() {
            return;
        }
        self.forget_prediction();
        let initial_window = if self.is_syn_loss_congestion() { 1 } else { self.rules.config.initial_window };
        let controller = self.rules.build(self.seed, self.negotiated.mss.into(), initial_window);
        self.sender_mut().follow(controller);
    }

    #[cold]
    pub(super) fn poll_syn(&mut self, now: Time, out: &mut Transmit) -> bool {
        let Some(outgoing) = self.sender_mut().poll_syn(now) else { return self.poll_copy_of_syn(out) };
        let receiver = self.receiver.wake(&self.rules, &self.negotiated);
        let config = &self.rules.config;
        let mut segment = Segment {
            seq: self.iss,
            flags: Flags::SYN,
            syn: offer(config, receiver.window_shift()),
            timestamps: config.timestamps.then(|| Timestamps { value: timestamp(now), echo: 0 }),
            window: config.receive_window.0.min(0xffff) as u16,
            ..Segment::default()
        };
        if self.state == State::SynReceived {
            segment.flags.set(Flags::ACK);
            segment.timestamps = segment.timestamps.filter(|_| self.negotiated.timestamps);
            segment.syn.sack_permitted = self.negotiated.sack;
            // RFC 7323 §2.2: only if the SYN had it.
            segment.syn.window_scale = segment.syn.window_scale.filter(|_| self.negotiated.window_scaling);
            receiver.acknowledge_syn(&mut segment);
            if self.negotiated.ecn {
                segment.flags.set(Flags::ECE);
            }
        } else if config.ecn {
            segment.flags.set(Flags::ECE | Flags::CWR);
        }
        segment.syn.fast_open = self.fast_open_option(outgoing.reason == Reason::New);
        segment.len = self.text_of_syn(now, &segment);
        *out = Transmit { segment, ecn: Ecn::NotEct, reason: outgoing.reason, offset: 0 };
        let copies = self.rules.config.tail_copies;
        // A SYN-ACK that answers another copy of the SYN is one itself.
        if copies > 0 && outgoing.reason != Reason::Retransmit {
            let copy = Transmit { reason: Reason::Copy, ..*out };
            self.rare.get_or_insert_default().syn = (copy, copies);
        }
        true
    }

    fn poll_copy_of_syn(&mut self, out: &mut Transmit) -> bool {
        let Some(Rare { syn: (copy, left @ 1..), .. }) = self.rare.as_deref_mut() else { return false };
        *left -= 1;
        *out = *copy;
        self.sender_mut().core.stats.copies += 1;
        true
    }
}
