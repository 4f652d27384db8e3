//! One TCP connection, from the handshake to TIME-WAIT.

mod acks;
mod application;
mod arrival;
mod closing;
mod fast_open;
mod half;
mod halves;
mod opening;
mod outlet;
mod output;
mod report;
#[cfg_attr(not(feature = "shortcuts"), path = "no_shortcut.rs")]
mod shortcut;
mod transmit;

pub use outlet::{Outcome, Outlet};
pub use report::{Event, Reply, SenderView, State, Transmit};
pub use transmit::transmit;

use super::config::TcpConfig;
use super::handshake::{Negotiated, Rules};
use super::outgoing::Reason;
use super::receiver::Receiver;
use super::sender::Sender;
use super::stats::Stats;
use crate::cc::RegistryError;
use crate::prefetch::prefetch_part;
use airtcp_wire::{Ecn, Segment, Seq, Time};
use fast_open::FastOpening;
use half::Half;
use halves::{ReceivingHalf, SendingHalf};
use shortcut::Prediction;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

/// A TCP endpoint. See [`crate::machine`] for how it is driven.
///
/// The fields that a plain segment touches lie together, here and at the end of the sender, so that few cache lines hold
/// them all.
#[repr(C)]
pub struct Connection {
    rules: Arc<Rules>,
    /// Seed of the controller's random numbers.
    seed: u64,
    sender: SendingHalf,
    receiver: ReceivingHalf,
    clock: Time,
    rare: Option<Box<Rare>>,
    negotiated: Negotiated,
    iss: Seq,
    state: State,
    prediction: Prediction,
    events: u8,
    /// The connection was opened passively: it was in LISTEN before the peer's SYN arrived.
    is_passive: bool,
    /// The application neither writes nor reads any more.
    is_orphan: bool,
}

/// What most connections need late or never.
struct Rare {
    /// No challenge ACK leaves before.
    challenge_again_at: Time,
    reset_due: Option<Segment>,
    /// The end of TIME-WAIT, or of FIN-WAIT-2 once the application has closed.
    wait_deadline: Time,
    fast_open: FastOpening,
    /// The last SYN or SYN-ACK, and how many copies of it are to leave (`tail_copies`).
    syn: (Transmit, u8),
}

impl Default for Rare {
    fn default() -> Rare {
        Rare {
            challenge_again_at: Time::ZERO,
            reset_due: None,
            wait_deadline: Time::NEVER,
            fast_open: FastOpening::default(),
            syn: (Transmit::default(), 0),
        }
    }
}

impl Connection {
    /// The byte range of a `Connection` that segments touch while nothing is lost.
    pub const TOUCHED: Range<usize> = offset_of!(Connection, sender)..size_of::<Connection>();

    /// Begins an active open: the first `poll_transmit` yields the SYN.
    ///
    /// # Errors
    /// If the congestion control or one of its parameters is unknown.
    pub fn connect(config: &TcpConfig, iss: Seq, seed: u64, now: Time) -> Result<Connection, RegistryError> {
        Ok(Connection::connect_by(&Arc::new(Rules::new(config)?), iss, seed, now))
    }

    /// [`connect`](Connection::connect) with rules that several connections share.
    pub fn connect_by(rules: &Arc<Rules>, iss: Seq, seed: u64, now: Time) -> Connection {
        let mut connection = Connection::new(rules, iss, seed, State::SynSent);
        connection.clock = now;
        connection.sender_mut().syn_linear = rules.config.rto.syn_linear;
        connection
    }

    /// A passive open: waits for a SYN.
    ///
    /// # Errors
    /// As [`Connection::connect`].
    pub fn listen(config: &TcpConfig, iss: Seq, seed: u64) -> Result<Connection, RegistryError> {
        Ok(Connection::listen_by(&Arc::new(Rules::new(config)?), iss, seed))
    }

    /// [`listen`](Connection::listen) with rules that several connections share.
    pub fn listen_by(rules: &Arc<Rules>, iss: Seq, seed: u64) -> Connection {
        Connection::new(rules, iss, seed, State::Listen)
    }

    fn new(rules: &Arc<Rules>, iss: Seq, seed: u64, state: State) -> Connection {
        let mss = rules.config.segment_payload();
        Connection {
            rules: rules.clone(),
            seed,
            state,
            iss,
            negotiated: Negotiated { mss, ..Negotiated::default() },
            sender: Half::new(Sender::new(rules, mss.into(), false)),
            receiver: Half::new(Receiver::new(&rules.config)),
            is_passive: false,
            is_orphan: false,
            rare: None,
            events: 0,
            clock: Time::ZERO,
            prediction: Prediction::Unknown,
        }
    }

    /// The sender, woken if it rests.
    #[inline(always)]
    fn sender_mut(&mut self) -> &mut Sender {
        self.sender.wake(&self.rules, &self.negotiated)
    }

    /// The receiver, woken if it rests.
    #[inline(always)]
    fn receiver_mut(&mut self) -> &mut Receiver {
        self.receiver.wake(&self.rules, &self.negotiated)
    }

    /// Prefetches the sender, once the `Connection` itself is in the cache.
    #[inline(always)]
    pub fn prefetch_sender(&self) {
        if let Some(sender) = self.sender.get() {
            prefetch_part(sender, Sender::TOUCHED_BY_ACK);
        }
    }

    /// Prefetches the receiver, once the `Connection` itself is in the cache.
    #[inline(always)]
    pub fn prefetch_receiver(&self) {
        if let Some(receiver) = self.receiver.get() {
            prefetch_part(receiver, Receiver::TOUCHED);
        }
    }

    /// Prefetches the memory outside of the `Connection` and its sender that an ACK touches.
    #[inline]
    pub fn prefetch_for_ack(&self) {
        self.sender.get().into_iter().for_each(Sender::prefetch);
    }

    /// Prefetches the memory outside of the `Connection` and its receiver that text touches.
    #[inline]
    pub fn prefetch_for_text(&self) {
        self.receiver.get().into_iter().for_each(|receiver| receiver.acks.prefetch());
    }

    /// A segment has arrived; `ecn` is its IP header's ECN field.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        let header = segment.into();
        let is_expected = match segment.len {
            0 => self.receive_ack(now, &header, &segment.sack),
            _ => segment.sack.is_empty() && self.handle_expected_text(now, &header, ecn),
        };
        if !is_expected {
            self.handle_anything(now, segment, ecn);
        }
    }

    #[inline(never)]
    fn handle_anything(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.forget_prediction();
        self.clock = now;
        self.sender_mut().core.stats.segments_received += 1;
        self.sender_mut().forget_last_rtt();
        match self.state {
            State::Closed => {}
            State::Listen => self.handle_in_listen(now, segment),
            State::SynSent => self.handle_in_syn_sent(now, segment),
            _ => self.handle_synchronized(now, segment, ecn),
        }
    }

    /// Something unexpected happens: wakes the sender, or computes the deadlines that plain ACKs have left uncomputed.
    #[inline]
    pub(super) fn forget_prediction(&mut self) {
        self.prediction = Prediction::Unknown;
        self.sender_mut().settle_plain_acks();
    }

    /// A timer may have expired.
    #[inline]
    pub fn handle_timeout(&mut self, now: Time) {
        self.wake(now, self.expires_by(now));
    }

    /// [`handle_timeout`](Connection::handle_timeout) if it is due. Otherwise returns when it will be.
    #[inline]
    pub fn handle_due(&mut self, now: Time) -> Option<Time> {
        let (expires, departs) = match self.sender.get() {
            Some(sender) if !self.prediction.receives() => {
                (self.expires(sender, now), sender.next_departure(self.clock) <= now)
            }
            // A connection that only receives has no other timer.
            _ => (self.ack_deadline() <= now, false),
        };
        if self.is_timeless() || !(expires || departs) {
            return Some(self.poll_timeout());
        }
        self.wake(now, expires);
        None
    }

    /// Advances the clock to `now`, and handles the timers if one of them expires.
    #[inline]
    fn wake(&mut self, now: Time, expires: bool) {
        self.clock = now;
        // At most the pacer is due, which needs no more than the new clock.
        if !expires {
            return;
        }
        if let Some(receiver) = self.receiver.get_mut() {
            receiver.acks.handle_timeout(now);
        }
        // A connection that only receives has no other timer.
        if !self.prediction.receives() {
            self.handle_other_timeouts(now);
        }
    }

    #[inline(never)]
    fn handle_other_timeouts(&mut self, now: Time) {
        self.forget_prediction();
        if self.wait_deadline() <= now {
            self.wait_until(Time::NEVER);
            self.finish();
        }
        if !self.is_timeless() {
            self.sender_mut().handle_timeout(now);
            self.give_up_in_vain();
        }
    }

    /// When `handle_timeout` is to be called next; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        if self.is_timeless() {
            return Time::NEVER;
        }
        match self.sender.get() {
            Some(sender) => self.earliest_of(sender.deadline()).min(sender.next_departure(self.clock)),
            None => self.earliest_of(Time::NEVER),
        }
    }

    /// A lower bound of [`poll_timeout`](Connection::poll_timeout) that is cheap after a plain ACK.
    #[inline(always)]
    pub fn earliest_timeout(&self) -> Time {
        let Some(sender) = self.sender.get() else { return Time::ZERO };
        self.earliest_of(sender.earliest_deadline()).min(sender.next_departure(self.clock))
    }

    /// When a delayed ACK leaves; [`Time::NEVER`] if there is none.
    #[inline(always)]
    pub(crate) fn ack_deadline(&self) -> Time {
        self.receiver.ack_deadline()
    }

    /// Returns whether no timer can run, because the state is CLOSED or LISTEN.
    #[inline]
    fn is_timeless(&self) -> bool {
        matches!(self.state, State::Closed | State::Listen)
    }

    /// Returns whether the sender has a pacer. Then segments leave one at a time.
    #[inline]
    pub fn is_paced(&self) -> bool {
        self.sender.get().is_some_and(Sender::is_paced)
    }

    /// Until when the pacer lets nothing leave, whatever the windows allow; [`Time::NEVER`] if it holds nothing back.
    #[inline]
    pub fn paced_until(&self) -> Time {
        self.sender.get().map_or(Time::NEVER, |sender| sender.paced_until(self.clock))
    }

    /// Returns whether one of the timers expires by `at`.
    #[inline(always)]
    fn expires_by(&self, at: Time) -> bool {
        match self.sender.get() {
            Some(sender) => self.expires(sender, at),
            None => self.earliest_of(Time::NEVER) <= at,
        }
    }

    /// [`expires_by`](Connection::expires_by). While deadlines are uncomputed, a lower bound mostly excludes it.
    #[inline(always)]
    fn expires(&self, sender: &Sender, at: Time) -> bool {
        let may_expire = !sender.leaves_timers_open() || self.earliest_of(sender.earliest_deadline()) <= at;
        may_expire && self.earliest_of(sender.deadline()) <= at
    }

    /// The earliest deadline, where `sender` is that of the sender's timers.
    #[inline(always)]
    fn earliest_of(&self, sender: Time) -> Time {
        sender.min(self.ack_deadline()).min(self.wait_deadline())
    }

    #[inline(always)]
    fn wait_deadline(&self) -> Time {
        self.rare.as_ref().map_or(Time::NEVER, |rare| rare.wait_deadline)
    }

    fn wait_until(&mut self, deadline: Time) {
        self.rare.get_or_insert_default().wait_deadline = deadline;
    }
}
