//! Ways of a sender to the same result with less work, which its connection's shortcuts take.
//!
//! - `plain`: ACKs while nothing is lost. Door: [`Sender::is_plain`].
//! - `burst`: new segments while nothing else can leave. Door: [`Sender::sends_new`].
//! - `deadlines`: timers that plain ACKs have restarted. Door: [`Sender::settle_plain_acks`].
//!
//! Without this folder, `no_shortcut.rs` stands in for it.
//!
//! [`Sender::is_plain`]: super::Sender::is_plain
//! [`Sender::sends_new`]: super::Sender::sends_new
//! [`Sender::settle_plain_acks`]: super::Sender::settle_plain_acks

mod burst;
mod deadlines;
mod plain;

pub use burst::Burst;
