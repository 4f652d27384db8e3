//! BBR: a model of the path — the highest recent delivery rate, the lowest recent RTT — sets the pacing rate and the
//! window, instead of losses.
//!
//! Two versions, [`v1`] as it is in Linux and [`v3`] by draft-ietf-ccwg-bbr-06 (the code cites its sections as
//! "draft §"), share their estimators, in [`model`], and their controls, in [`control`].
//!
//! # What is used of the interface
//! - `on_ack`: everything is decided there, from the ACK's [`RateSample`](super::RateSample), RTT and bytes in flight.
//!   A sample whose interval is zero is void and leaves the model alone.
//! - `on_congestion(Loss)` and `(Timeout)` begin a loss episode, which ends when what was outstanding then has been
//!   acknowledged; in version 3 also at `on_recovery_exit`.
//! - `on_sent_alone` is a restart from idle.
//! - `on_spurious` goes back to the window and the bounds of before the episode; the window that the sender offers
//!   (RFC 4015) is not used.
//! - `governs_recovery`: PRR may not be laid over these windows.
//!
//! Both want SACK (draft §4.1.3.5.1): without it one loss a round trip is found, and what arrives meanwhile is only
//! counted by duplicate ACKs.
//!
//! The connection is not told when packets should count as application-limited (draft §5.3.4.3,
//! MarkConnectionAppLimited); [`model::LowRateSpan`] does that bookkeeping here.

mod control;
pub mod model;
pub mod v1;
pub mod v3;
