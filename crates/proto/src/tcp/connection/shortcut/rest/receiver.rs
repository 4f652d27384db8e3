//! The receiving half of a connection that has only sent.

use crate::marks::{self, Mark};
use crate::tcp::connection::half::Half;
use crate::tcp::handshake::{Negotiated, Rules};
use crate::tcp::receiver::{Receiver, RecentTimestamp};
use airtcp_wire::{Dur, Header, Segment, Seq, SynOptions, Time, Timestamps};

impl Half<Receiver, ReceiverAtRest> {
    /// Lets the receiver rest if it has received one SYN and no text. `owed_ack`: it has acknowledged a SYN-ACK.
    pub fn rest(&mut self, rules: &Rules, negotiated: &Negotiated, owed_ack: bool) {
        let Some(receiver) = self.get() else { return };
        if let Some(rest) = ReceiverAtRest::of(receiver, rules, negotiated, owed_ack) {
            marks::hit(Mark::ReceiverRests);
            *self = Half::AtRest(rest);
        }
    }

    /// [`Receiver::is_next`]
    #[inline(always)]
    pub fn is_next(&self, now: Time, segment: &Header) -> bool {
        match self {
            Half::Awake(receiver) => receiver.is_next(now, segment),
            Half::AtRest(rest) => rest.is_next(now, segment),
        }
    }

    /// [`Receiver::note_plain_ack`]
    #[inline(always)]
    pub fn note_plain_ack(&mut self, now: Time, segment: &Header) {
        match self {
            Half::Awake(receiver) => receiver.note_plain_ack(now, segment),
            Half::AtRest(rest) => rest.note_plain_ack(now, segment),
        }
    }
}

/// What remains of a receiver that has received a SYN and no text, and has acknowledged it: what ACKs and what leaves need,
/// and what it takes to make the receiver again. No ACK is due or delayed.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverAtRest {
    recent: RecentTimestamp,
    /// [`AckPolicy::handshake`](crate::tcp::ack_policy::AckPolicy::handshake)
    handshake: (Dur, Dur),
    rcv_nxt: Seq,
    told_window: u16,
    /// The SYN's acknowledgment was owed, and not part of a SYN-ACK.
    owed_ack: bool,
}

impl ReceiverAtRest {
    /// The position of RCV.NXT.
    const NEXT: u64 = 1;

    /// What remains of `receiver`, if waking would make it again. `owed_ack`: it has acknowledged a SYN-ACK.
    fn of(
        receiver: &Receiver,
        rules: &Rules,
        negotiated: &Negotiated,
        owed_ack: bool,
    ) -> Option<ReceiverAtRest> {
        if receiver.reassembly.next() != ReceiverAtRest::NEXT || receiver.acks.is_scheduled() {
            return None;
        }
        let rest = ReceiverAtRest {
            recent: receiver.recent(),
            handshake: receiver.acks.handshake(),
            rcv_nxt: receiver.rcv_nxt(),
            told_window: receiver.told_window(),
            owed_ack,
        };
        (rest.wake(rules, negotiated) == *receiver && !receiver.is_half_used()).then_some(rest)
    }

    /// Makes the receiver again, which repeats the handshake.
    #[inline(never)]
    pub fn wake(&self, rules: &Rules, negotiated: &Negotiated) -> Receiver {
        let mut receiver = Receiver::new(&rules.config);
        let syn = SynOptions {
            sack_permitted: negotiated.sack,
            window_scale: negotiated.window_scaling.then_some(0),
            ..SynOptions::default()
        };
        let timestamps = Some(Timestamps { value: self.recent.value, echo: 0 });
        let segment =
            Segment { seq: Seq(self.rcv_nxt.0.wrapping_sub(1)), syn, timestamps, ..Segment::default() };
        receiver.on_syn(self.recent.at, &segment, &rules.config);
        let (rtt, rto) = self.handshake;
        receiver.acks.on_handshake(rtt, rto);
        if self.owed_ack {
            receiver.acks.demand();
        }
        receiver.acknowledge(&mut Header::default());
        receiver
    }

    /// [`Receiver::is_next`]
    #[inline(always)]
    fn is_next(&self, now: Time, segment: &Header) -> bool {
        segment.seq == self.rcv_nxt && !segment.timestamps().is_some_and(|ts| self.recent.is_after(now, ts))
    }

    /// [`Receiver::note_plain_ack`]
    #[inline(always)]
    fn note_plain_ack(&mut self, now: Time, segment: &Header) {
        if let Some(ts) = segment.timestamps() {
            self.recent.renew(now, ts);
        }
    }

    /// [`Receiver::acknowledge`]
    #[inline(always)]
    pub fn acknowledge(&self, segment: &mut Header) {
        (segment.ack, segment.window) = (self.rcv_nxt, self.told_window);
        segment.echo(self.recent.value);
    }
}
