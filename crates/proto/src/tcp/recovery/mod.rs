//! Loss recovery policies: when a segment is deemed lost, and when the episode is over.
//!
//! A policy reads an ACK's effect on the scoreboard and marks segments lost; the sender resends what is marked as the
//! window allows, before any new data.

mod error_control;
mod newreno;
mod newreno_linux;
mod rack;
mod reno;
mod reno_ns2;
mod sack;
mod tahoe;

use super::ack_summary::AckSummary;
use super::config::{Recovery, TcpConfig};
use super::core::Core;
use super::rtt::RttEstimator;
use super::scoreboard::{Outstanding, Run, TakenOff};
use crate::cc::unlimited;
use crate::prefetch::prefetch;
use airtcp_wire::Time;

/// A connection's policy. An enum and no trait object, because it is called several times a segment.
pub enum Policy {
    /// Boxed, because it is far larger than the others.
    Rack(Box<rack::Rack>),
    /// Boxed, since few connections have no congestion control.
    ErrorControl(Box<error_control::ErrorControl>),
    Tahoe(tahoe::Tahoe),
    Reno(reno::Reno),
    RenoNs2(reno_ns2::RenoNs2),
    /// Boxed, so that the tag has a place of its own, where it is read fastest.
    Sack(Box<sack::Sack>),
    NewRenoLinux(newreno_linux::NewRenoLinux),
    NewReno(newreno::NewReno),
}

macro_rules! whichever {
    ($self:ident, $policy:ident => $call:expr) => {
        match $self {
            Policy::Rack($policy) => $call,
            Policy::ErrorControl($policy) => $call,
            Policy::Tahoe($policy) => $call,
            Policy::Reno($policy) => $call,
            Policy::RenoNs2($policy) => $call,
            Policy::Sack($policy) => $call,
            Policy::NewRenoLinux($policy) => $call,
            Policy::NewReno($policy) => $call,
        }
    };
}

/// Declares the trait of all policies, and that [`Policy`] passes each call on. The first method is the one that every policy
/// must have.
macro_rules! policies {
    (
        $(#[$trait_doc:meta])*
        pub trait $trait:ident {
            $(#[$first_doc:meta])*
            fn $first:ident(&mut self $(, $first_arg:ident: $first_type:ty)*);
            $(
                $(#[$doc:meta])*
                fn $name:ident(&$(mut $(@$never:tt)?)? self $(, $arg:ident: $type:ty)*) $(-> $result:ty)? { $($default:tt)* }
            )*
        }
    ) => {
        $(#[$trait_doc])*
        #[allow(unused_variables, reason = "most defaults need none of what they are told")]
        pub trait $trait: Send {
            $(#[$first_doc])*
            fn $first(&mut self $(, $first_arg: $first_type)*);
            $(
                $(#[$doc])*
                fn $name(&$(mut $(@$never)?)? self $(, $arg: $type)*) $(-> $result)? { $($default)* }
            )*
        }

        impl $trait for Policy {
            #[inline]
            fn $first(&mut self $(, $first_arg: $first_type)*) {
                whichever!(self, policy => policy.$first($($first_arg),*))
            }
            $(
                #[inline]
                fn $name(&$(mut $(@$never)?)? self $(, $arg: $type)*) $(-> $result)? {
                    whichever!(self, policy => policy.$name($($arg),*))
                }
            )*
        }
    };
}

policies! {
    /// One way to find and repair losses.
    pub trait LossRecovery {
        /// An ACK has updated the scoreboard and `core.duplicates`.
        fn on_ack(&mut self, core: &mut Core, ack: &AckSummary);

        /// Stands for `on_delivered`, `on_ack` and `schedule_probe` if the ACK acknowledges new data and nothing else, every
        /// outstanding segment was sent once and is in flight, and [`is_plain`](LossRecovery::is_plain) holds.
        fn on_plain_ack(&mut self, now: Time, acked: &TakenOff) {}

        /// Returns whether the policy waits for nothing of an earlier episode or probe.
        fn is_plain(&self, core: &Core) -> bool {
            true
        }

        /// A run of segments has been found delivered.
        fn on_delivered(&mut self, now: Time, run: &Run, echo: Option<u32>) {}

        /// The segment with this number has been sent.
        fn on_sent(&mut self, core: &Core, now: Time, sent: &Outstanding, number: u64) {}

        /// In recovery the window has room, but nothing is marked lost and there is no new data: the policy may mark a segment
        /// lost on suspicion.
        fn speculate(&mut self, core: &mut Core) {}

        /// The retransmission timer has expired: marks the segments lost that it declares lost, from the one at `index` on.
        /// Returns how many bytes stay in flight, because they are too recent to be lost.
        fn mark_timed_out(&mut self, core: &mut Core, index: usize, now: Time) -> u64 {
            core.mark_all_lost_from(index);
            0
        }

        /// The retransmission timer has expired, and the lost segments have been marked.
        fn on_timeout(&mut self) {}

        /// Something was sent or acknowledged, and the retransmission timer now expires at `rto_deadline()`: schedules a tail
        /// loss probe before that, if one is wanted.
        fn schedule_probe(&mut self, core: &Core, now: Time, rto_deadline: impl FnOnce() -> Time) {}

        /// [`schedule_probe`](LossRecovery::schedule_probe) while every outstanding segment was sent once and is in flight. The
        /// probe's deadline is computed only when somebody asks. `by_sending`: something was sent, not acknowledged.
        fn postpone_probe(&mut self, now: Time, by_sending: bool) {}

        /// The episode was spurious, and losses have been unmarked.
        fn on_undo(&mut self, core: &Core) {}

        /// Returns whether a retransmission is on its way.
        fn has_resent_in_flight(&self, core: &Core) -> bool {
            false
        }

        /// Without congestion control: the first unacknowledged segment, once resent, is resent again after every `duplicates`
        /// further duplicate ACKs.
        fn repeat_first_every(&mut self, duplicates: u32) {}

        /// The number of segments that the policy keeps in memory.
        fn kept(&self) -> usize {
            0
        }

        /// Returns whether resending the first unacknowledged segment restarts the retransmission timer (RFC 6675 §6 allows it).
        /// Otherwise the timer may expire while the retransmission is still on its way.
        fn rearms_timer(&self) -> bool {
            false
        }

        /// Computes the probe's deadline and other state that plain ACKs have left uncomputed.
        fn settle_plain_acks(&mut self, core: &Core, rto_deadline: Time) {}

        /// When the policy's own timer expires, given when the retransmission timer does.
        fn deadline(&self, core: &Core, rto_deadline: Time) -> Time {
            Time::NEVER
        }

        /// A lower bound for when a probe leaves that a plain ACK postponed at `postponed_at`, the retransmission timer aside.
        fn earliest_probe(&self, rtt: &RttEstimator, postponed_at: Time) -> Time {
            Time::NEVER
        }

        fn handle_timeout(&mut self, core: &mut Core, now: Time) {}
    }
}

impl Policy {
    /// Prefetches the boxed policy.
    #[inline]
    pub fn prefetch(&self) {
        if let Policy::Rack(rack) = self {
            prefetch(&**rack);
        }
    }
}

/// The policy that `config` names, or NewReno where it needs SACK and the peer has none.
pub fn build(config: &TcpConfig, has_sack: bool) -> Policy {
    match config.recovery {
        Recovery::RackTlp if has_sack => Policy::Rack(Box::new(rack::Rack::new(config))),
        // Without a window to reduce, only finding losses is left to do.
        _ if config.congestion_control == unlimited::SPEC.name => Policy::ErrorControl(Box::default()),
        Recovery::Tahoe => Policy::Tahoe(tahoe::Tahoe),
        Recovery::Reno => Policy::Reno(reno::Reno),
        Recovery::RenoNs2 => Policy::RenoNs2(reno_ns2::RenoNs2::default()),
        Recovery::Sack if has_sack => Policy::Sack(Box::default()),
        _ if config.emulates_sack(has_sack) => Policy::NewRenoLinux(newreno_linux::NewRenoLinux),
        Recovery::Newreno | Recovery::Sack | Recovery::RackTlp => Policy::NewReno(newreno::NewReno),
    }
}

/// Returns whether this duplicate ACK is the one that means a loss, and the loss is a new one (RFC 6582 §3.2 step 2: the ACK
/// must cover more than "recover").
fn is_loss_by_duplicates(core: &Core, ack: &AckSummary) -> bool {
    ack.is_duplicate && core.duplicates.is_at_threshold() && is_beyond_recover(core)
}

fn is_beyond_recover(core: &Core) -> bool {
    core.una() > core.recover()
}

/// Without limited transmit, data that is known to have left the network makes no room before recovery begins.
fn hold_back(core: &mut Core) {
    core.inflation.hold_back(core.board.sacked() + core.board.announced());
}
