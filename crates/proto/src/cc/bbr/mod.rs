//! BBR: not losses but a model of the path (the highest recent delivery rate and the lowest recent RTT) sets the pacing rate and the
//! window.
//!
//! There are two versions, [`v1`] as in Linux and [`v3`] by draft-ietf-ccwg-bbr-06 (the code cites its sections as "draft §"). They
//! share their estimators, in [`model`], and their controls, in [`control`].
//!
//! # How the interface is used
//! - `on_ack` decides everything, from the ACK's [`RateSample`](super::RateSample), RTT and bytes in flight. A sample whose interval
//!   is zero is void and leaves the model alone.
//! - `on_congestion(Loss)` and `(Timeout)` begin a loss episode, which ends when what was outstanding then has been acknowledged; in
//!   version 3 also at `on_recovery_exit`.
//! - `on_sent_alone` is a restart from idle.
//! - `on_spurious` returns to the window and the bounds before the episode. The window that the sender offers (RFC 4015) is ignored.
//! - `governs_recovery`: PRR must not be applied to these windows.
//!
//! Both versions want SACK (draft §4.1.3.5.1). Without it, one loss per round trip is found, and only duplicate ACKs count what
//! arrives meanwhile.
//!
//! The connection cannot be told to count packets as application-limited (draft §5.3.4.3, MarkConnectionAppLimited), so
//! [`model::LowRateSpan`] keeps that account here.

mod control;
pub mod model;
pub mod v1;
pub mod v3;
