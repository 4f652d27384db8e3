//! What a connection asks of its two halves, whether they are awake or at rest.

use super::half::Half;
use super::shortcut::{ReceiverAtRest, SenderAtRest};
use crate::tcp::handshake::{Negotiated, Rules};
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::Sender;
use crate::tcp::stats::Stats;
use airtcp_wire::{Header, SackBlocks, Time};

/// The sending half of a connection.
pub type SendingHalf = Half<Sender, SenderAtRest>;

impl SendingHalf {
    /// The sender, woken if it rests.
    #[inline(always)]
    pub fn wake(&mut self, rules: &Rules, negotiated: &Negotiated) -> &mut Sender {
        self.wake_by(|rest| rest.wake(rules, negotiated))
    }

    /// Asks the sender, or the one that waking would make.
    #[inline(always)]
    pub fn ask<A>(&self, rules: &Rules, negotiated: &Negotiated, ask: impl Fn(&Sender) -> A) -> A {
        match self {
            Half::Awake(sender) => ask(sender),
            Half::AtRest(rest) => ask(&rest.wake(rules, negotiated)),
        }
    }

    /// SND.UNA
    #[inline(always)]
    pub fn una(&self) -> u64 {
        match self {
            Half::Awake(sender) => sender.core.una(),
            Half::AtRest(rest) => rest.una(),
        }
    }

    /// SND.NXT
    #[inline(always)]
    pub fn nxt(&self) -> u64 {
        match self {
            Half::Awake(sender) => sender.core.nxt(),
            Half::AtRest(rest) => rest.una(),
        }
    }

    #[inline(always)]
    pub fn stats(&self) -> Stats {
        match self {
            Half::Awake(sender) => sender.core.stats(),
            Half::AtRest(rest) => rest.stats(),
        }
    }

    /// [`Sender::count_ack`]
    #[inline(always)]
    pub fn count_ack(&mut self) -> u64 {
        match self {
            Half::Awake(sender) => sender.count_ack(),
            Half::AtRest(rest) => rest.count_ack(),
        }
    }
}

/// The receiving half of a connection.
pub type ReceivingHalf = Half<Receiver, ReceiverAtRest>;

impl ReceivingHalf {
    /// The receiver, woken if it rests.
    #[inline(always)]
    pub fn wake(&mut self, rules: &Rules, negotiated: &Negotiated) -> &mut Receiver {
        self.wake_by(|rest| rest.wake(rules, negotiated))
    }

    /// [`Receiver::acknowledge`]
    #[inline(always)]
    pub fn acknowledge(&mut self, segment: &mut Header) {
        match self {
            Half::Awake(receiver) => receiver.acknowledge(segment),
            Half::AtRest(rest) => rest.acknowledge(segment),
        }
    }

    /// A segment with data leaves.
    #[inline(always)]
    pub fn note_data_sent(&mut self, now: Time) {
        self.get_mut().into_iter().for_each(|receiver| receiver.acks.on_data_sent(now));
    }

    /// Returns whether an ACK is due.
    #[inline(always)]
    pub fn is_ack_due(&self) -> bool {
        self.get().is_some_and(|receiver| receiver.acks.is_due())
    }

    /// When a delayed ACK leaves; [`Time::NEVER`] if there is none.
    #[inline(always)]
    pub fn ack_deadline(&self) -> Time {
        self.get().map_or(Time::NEVER, |receiver| receiver.acks.deadline())
    }

    /// Returns whether there are SACK blocks or a DSACK to report.
    #[inline(always)]
    pub fn has_blocks(&self) -> bool {
        self.get().is_some_and(|receiver| receiver.has_blocks())
    }

    /// [`Receiver::fill_sack`]
    pub fn fill_sack(&mut self, has_timestamps: bool, sack: &mut SackBlocks) {
        self.get_mut().into_iter().for_each(|receiver| receiver.fill_sack(has_timestamps, sack));
    }
}
