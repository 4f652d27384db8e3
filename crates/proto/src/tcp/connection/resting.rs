//! A half that rests: when it does, when it wakes, and what the other half does for it.

use super::Connection;
use super::prediction::Prediction;
use crate::tcp::half::Half;
use crate::tcp::handshake::Negotiated;
use crate::tcp::receiver_at_rest::ReceiverAtRest;
use crate::tcp::recovery::reads_sack;
use crate::tcp::sender::Sender;
use crate::tcp::sender_at_rest::SenderAtRest;
use airtcp_wire::{Header, Time};

impl Connection {
    /// Lets the sender rest if it has sent one SYN and nothing else.
    pub(super) fn rest_sender(&mut self) {
        debug_assert!(self.prediction == Prediction::Receiving);
        let has_negotiated_mss = |sender: &&Sender| sender.core.mss() == u64::from(self.negotiated.mss);
        if let Some(rest) = self.sender.get().filter(has_negotiated_mss).and_then(SenderAtRest::of) {
            self.receiver.sender = rest;
            self.sender.rest();
        }
    }

    /// Wakes the sender if it rests.
    #[inline(never)]
    pub(super) fn wake_sender(&mut self) {
        if self.sender.get().is_none() {
            self.sender = Half::new(self.woken_sender());
        }
    }

    fn woken_sender(&self) -> Sender {
        let Negotiated { mss, sack, .. } = self.negotiated;
        self.receiver.sender.wake(&self.rules, mss.into(), sack && reads_sack(&self.rules.config))
    }

    /// Asks the sender, or the one that would be there if it did not rest.
    #[inline(always)]
    pub(super) fn with_sender<T>(&self, ask: impl Fn(&Sender) -> T) -> T {
        match self.sender.get() {
            Some(sender) => ask(sender),
            None => ask(&self.woken_sender()),
        }
    }

    /// Lets the receiver rest if it has received one SYN and no text.
    pub(super) fn rest_receiver(&mut self) {
        let Some(receiver) = self.receiver.get() else { return };
        if let Some(rest) = ReceiverAtRest::of(receiver, &self.rules, &self.negotiated, !self.is_passive) {
            self.sender.receiver = rest;
            self.receiver.rest();
        }
    }

    /// Wakes the receiver if it rests.
    pub(super) fn wake_receiver(&mut self) {
        if self.receiver.get().is_none() {
            self.receiver = Half::new(self.sender.receiver.wake(&self.rules, &self.negotiated));
        }
    }

    /// Handles the timestamp of a segment without text at RCV.NXT.
    #[inline(always)]
    pub(super) fn note_plain_ack(&mut self, now: Time, segment: &Header) {
        match self.receiver.get_mut() {
            Some(receiver) => receiver.note_plain_ack(now, segment),
            None => self.sender.receiver.note_plain_ack(now, segment),
        }
    }

    /// A segment with data leaves.
    #[inline(always)]
    pub(super) fn note_data_sent(&mut self, now: Time) {
        if let Some(receiver) = self.receiver.get_mut() {
            receiver.acks.on_data_sent(now);
        }
    }

    /// Returns whether an ACK is due.
    #[inline(always)]
    pub(super) fn is_ack_due(&self) -> bool {
        self.receiver.get().is_some_and(|receiver| receiver.acks.is_due())
    }

    /// Returns whether there are SACK blocks or a DSACK to report.
    #[inline(always)]
    pub(super) fn has_blocks(&self) -> bool {
        self.receiver.get().is_some_and(|receiver| receiver.has_blocks())
    }

    /// An acknowledgment without text leaves. Returns its position, SND.NXT.
    #[inline(always)]
    pub(super) fn count_ack(&mut self) -> u64 {
        match self.sender.get_mut() {
            Some(sender) => sender.count_ack(),
            None => self.receiver.sender.count_ack(),
        }
    }
}
