//! The short way of ACKs while nothing is lost, resent or held back.
//!
//! Invariant: it is the general way without the steps that would have no effect. Whoever adds a step there, or state that such
//! a step reads, adds it here, or makes [`Sender::is_plain`] or [`Sender::sends_new`] false while it matters.

use crate::cc::PlainAck;
use crate::tcp::core::Core;
use crate::tcp::recovery::LossRecovery;
use crate::tcp::sender::Sender;
use crate::tcp::sender::acks::{AckEffects, Originals};
use airtcp_wire::{Header, Time};

impl Sender {
    /// Returns whether nothing but new data can leave next, as soon as the window and the pacer let it.
    pub fn sends_new(&self) -> bool {
        self.core.sends_new() && self.segment_timers.is_none() && self.persist.is_idle() && !self.is_closing
    }

    /// Given [`sends_new`](Sender::sends_new), returns whether each outstanding segment was sent once and is in flight, and
    /// the window is the controller's.
    pub fn is_plain(&self) -> bool {
        let core = &self.core;
        core.board.is_plain() && core.is_plain() && self.policy.is_plain(core) && !self.has_counts()
    }

    /// [`handle_ack`](Sender::handle_ack) under [`is_plain`](Sender::is_plain) for a pure ACK of new data without SACK
    /// blocks or ECE. Returns whether it covers at least one whole segment; if not, nothing has changed.
    #[inline(always)]
    pub fn handle_plain_ack(&mut self, now: Time, ack: u64, window: u64, segment: &Header) -> bool {
        debug_assert!(self.sends_new() && self.is_plain(), "whatever changes that ends the prediction");
        let prior_una = self.core.una();
        let Core { board, sampler, .. } = &mut self.core;
        let prior_in_flight = board.in_flight();
        let mut newest = None;
        let taken = board.acknowledge_plain(ack, |taken, stamps| {
            sampler.on_stamps(now, (taken.newest_at, taken.end), stamps, &mut newest);
        });
        let Some(taken) = taken else { return false };
        let (acked, delivered) = (ack - prior_una, taken.end - taken.start);
        sampler.delivered += delivered;
        self.take_window(ack, window, segment.seq);
        let timestamps = segment.timestamps();
        let originals = Originals { oldest: Some(taken.oldest_at), newest: Some(taken.newest_at) };
        self.forget_last_rtt();
        self.sample_rtt(now, &originals, timestamps.map(|ts| ts.echo));
        self.postpone_timer(now);
        self.policy.on_plain_ack(now, &taken);
        if self.core.sampler.is_read() || !self.tell_plainly(now, acked.min(delivered)) {
            let effects = AckEffects {
                now,
                acked,
                delivered,
                prior_in_flight,
                peer_timestamp: timestamps.map(|ts| ts.value),
                is_duplicate: false,
                ece: false,
                was_held: false,
            };
            self.tell_controller(&effects, newest.as_ref());
        }
        true
    }

    /// [`tell_controller`](Sender::tell_controller) of a plain ACK, if it need not know more. Returns whether it has been
    /// told.
    #[inline(always)]
    fn tell_plainly(&mut self, now: Time, acked: u64) -> bool {
        let plain = PlainAck {
            now,
            acked,
            srtt: self.core.rtt.srtt(),
            min_rtt: self.core.rtt.min(),
            in_flight: self.core.board.in_flight(),
            is_cwnd_limited: self.is_cwnd_limited(),
        };
        self.core.cc.on_plain_ack(&plain)
    }
}
