//! Ways to the same result with less work. Each is used through one door and states its invariant on its first screen.
//!
//! - [`rest`]: a half that is not needed is a few fields. Door: [`Half`](rest::Half).
//!
//! Others stand inside of what they shorten, since they act on its private state:
//!
//! - `connection/prediction.rs`: what is expected is checked once, and then kept. Door: `Connection::is_predicted`.
//! - `sender/plain.rs`: ACKs and new segments while nothing is lost. Door: `Sender::is_plain`.
//! - `sender/timers.rs`: deadlines that plain ACKs leave uncomputed. Door: `Sender::settle_plain_acks`.
//! - `receiver.rs` and `ack_policy`: text in order below a bound. Door: [`Until`](crate::until::Until).
//!
//! A property in `prediction.rs` plays random lives with predictions and without, and most of these need a prediction.

pub mod rest;
