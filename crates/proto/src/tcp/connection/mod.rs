//! One TCP connection, from the handshake to TIME-WAIT.

mod acks;
mod application;
mod arrival;
mod closing;
mod opening;
mod output;
mod prediction;
mod told;

pub use told::{Event, Reason, SenderView, State, Stats, Transmit};

use super::config::TcpConfig;
use super::core::Core;
use super::handshake::{Negotiated, Rules};
use super::receiver::Receiver;
use super::sender::Sender;
use crate::cc::RegistryError;
use airtcp_wire::{Ecn, Segment, Seq, Time};
use prediction::Prediction;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

/// A TCP endpoint. See [`crate::machine`] for how it is driven.
///
/// Fields of this and of what it holds stand in the order of their use: those that a plain segment touches lie together, the
/// sender's last, the receiver's first, so that few cache lines hold them all.
#[repr(C)]
pub struct Connection {
    rules: Arc<Rules>,
    /// Of the controller's chance.
    seed: u64,
    /// When what no honest peer sends is answered again.
    challenge_again_at: Time,
    reset_due: Option<Box<Segment>>,
    sender: Sender,
    clock: Time,
    /// The end of TIME-WAIT, or of FIN-WAIT-2 if nobody waits for the peer's data.
    wait_deadline: Time,
    negotiated: Negotiated,
    iss: Seq,
    state: State,
    prediction: Prediction,
    events: u8,
    /// It listened before it got its peer's SYN.
    is_passive: bool,
    /// The application neither writes nor reads any more.
    is_orphan: bool,
    receiver: Receiver,
}

impl Connection {
    /// The part of a `Connection`, in bytes, that an ACK touches where only data is sent and nothing is lost.
    pub const TOUCHED_BY_ACK: Range<usize> =
        offset_of!(Connection, sender.core.sampler)..size_of::<Connection>();
    /// The parts that text touches where nothing is sent.
    pub const TOUCHED_BY_TEXT: [Range<usize>; 2] = [
        offset_of!(Connection, sender.core) + Core::UNA
            ..offset_of!(Connection, sender.core.stats.data_segments_sent),
        offset_of!(Connection, sender.last_rtt)..size_of::<Connection>(),
    ];

    /// The part that a timer touches which has been restarted meanwhile.
    pub const TOUCHED_BY_TIMER: Range<usize> =
        offset_of!(Connection, sender) + Sender::TOUCHED_BY_TIMER..size_of::<Connection>();

    /// Begins an active open: the first `poll_transmit` yields the SYN.
    ///
    /// # Errors
    /// If the congestion control or one of its parameters is unknown.
    pub fn connect(config: &TcpConfig, iss: Seq, seed: u64, now: Time) -> Result<Connection, RegistryError> {
        Ok(Connection::connect_by(&Arc::new(Rules::new(config)?), iss, seed, now))
    }

    /// The same, one of many with these rules.
    pub fn connect_by(rules: &Arc<Rules>, iss: Seq, seed: u64, now: Time) -> Connection {
        let mut connection = Connection::new(rules, iss, seed, State::SynSent);
        connection.clock = now;
        connection.sender.syn_linear = rules.config.rto.syn_linear;
        connection
    }

    /// A passive open: waits for a SYN.
    ///
    /// # Errors
    /// As [`Connection::connect`].
    pub fn listen(config: &TcpConfig, iss: Seq, seed: u64) -> Result<Connection, RegistryError> {
        Ok(Connection::listen_by(&Arc::new(Rules::new(config)?), iss, seed))
    }

    /// The same, one of many with these rules.
    pub fn listen_by(rules: &Arc<Rules>, iss: Seq, seed: u64) -> Connection {
        Connection::new(rules, iss, seed, State::Listen)
    }

    fn new(rules: &Arc<Rules>, iss: Seq, seed: u64, state: State) -> Connection {
        let mss = u64::from(rules.config.segment_payload());
        Connection {
            rules: rules.clone(),
            seed,
            state,
            iss,
            negotiated: Negotiated { mss, ..Negotiated::default() },
            sender: Sender::new(rules, mss, false),
            receiver: Receiver::new(&rules.config),
            is_passive: false,
            is_orphan: false,
            wait_deadline: Time::NEVER,
            challenge_again_at: Time::ZERO,
            reset_due: None,
            events: 0,
            clock: Time::ZERO,
            prediction: Prediction::Unknown,
        }
    }

    /// Fetches ahead what an ACK touches outside of the connection's own memory.
    #[inline]
    pub fn prefetch_for_ack(&self) {
        self.sender.prefetch();
        self.receiver.acks.prefetch();
    }

    /// The same of what text touches.
    #[inline]
    pub fn prefetch_for_text(&self) {
        self.receiver.acks.prefetch();
    }

    /// A segment has arrived; `ecn` is its IP header's ECN field.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        let header = segment.into();
        let is_expected = match segment.len {
            0 => self.handle_expected_ack(now, &header, &segment.sack),
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
        self.sender.core.stats.segments_received += 1;
        self.sender.last_rtt = None;
        self.receiver.forget_accepted();
        match self.state {
            State::Closed => {}
            State::Listen => self.handle_in_listen(now, segment),
            State::SynSent => self.handle_in_syn_sent(now, segment),
            _ => self.handle_synchronized(now, segment, ecn),
        }
    }

    /// A timer may have expired.
    #[inline]
    pub fn handle_timeout(&mut self, now: Time) {
        self.wake(now, self.expires_by(now));
    }

    /// As [`handle_timeout`](Connection::handle_timeout) if that is wanted by now. Otherwise returns when it is wanted.
    #[inline]
    pub fn handle_due(&mut self, now: Time) -> Option<Time> {
        // A connection that only receives has no other timer.
        let expires = match self.prediction {
            Prediction::Receiving => self.poll_expected_timeout() <= now,
            _ => self.expires_by(now),
        };
        let is_due = expires || self.sender.next_departure(self.clock) <= now;
        if self.is_timeless() || !is_due {
            return Some(self.poll_timeout());
        }
        self.wake(now, expires);
        None
    }

    /// It is `now`, and perhaps one of the timers expires.
    #[inline]
    fn wake(&mut self, now: Time, expires: bool) {
        self.clock = now;
        // The pacer's time has come, at most: what it held back leaves now.
        if !expires {
            return;
        }
        self.receiver.acks.handle_timeout(now);
        // A connection that only receives has no other timer.
        if self.prediction != Prediction::Receiving {
            self.handle_other_timeouts(now);
        }
    }

    #[inline(never)]
    fn handle_other_timeouts(&mut self, now: Time) {
        self.forget_prediction();
        if self.wait_deadline <= now {
            self.wait_deadline = Time::NEVER;
            self.finish();
        }
        if !self.is_timeless() {
            self.sender.handle_timeout(now);
            self.give_up_in_vain();
        }
    }

    /// When `handle_timeout` is wanted.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        if self.is_timeless() {
            return Time::NEVER;
        }
        self.timer().min(self.sender.next_departure(self.clock))
    }

    /// What [`poll_timeout`](Connection::poll_timeout) returns is not before, as a glance tells after a plain ACK.
    #[inline(always)]
    pub fn earliest_timeout(&self) -> Time {
        self.earliest_timer().min(self.sender.next_departure(self.clock))
    }

    /// No time matters to it.
    #[inline]
    fn is_timeless(&self) -> bool {
        matches!(self.state, State::Closed | State::Listen)
    }

    /// Does what it sends leave one segment at a time?
    #[inline]
    pub fn is_paced(&self) -> bool {
        self.sender.is_paced()
    }

    /// Until then nothing leaves, whatever the windows let go, for it is paced; `NEVER`: nothing is held back so.
    #[inline]
    pub fn paced_until(&self) -> Time {
        self.sender.paced_until(self.clock)
    }

    /// The same of [`timer`](Connection::timer).
    #[inline(always)]
    fn earliest_timer(&self) -> Time {
        self.earliest_of(self.sender.earliest_deadline())
    }

    /// Does one of the timers expire by then? Where they are left open, a glance mostly tells that none does.
    #[inline(always)]
    fn expires_by(&self, at: Time) -> bool {
        let may_expire = !self.sender.leaves_timers_open() || self.earliest_timer() <= at;
        may_expire && self.timer() <= at
    }

    /// When the earliest of the timers expires.
    #[inline]
    fn timer(&self) -> Time {
        self.earliest_of(self.sender.deadline())
    }

    /// Of the sender's timers, which expire then, and the others.
    #[inline(always)]
    fn earliest_of(&self, sender: Time) -> Time {
        sender.min(self.receiver.acks.deadline()).min(self.wait_deadline)
    }
}
