//! The kernel's congestion controls equal the simulator's: the same ACKs through the C source, compiled for
//! this host, and through the Rust controller give the same windows.
//!
//! [`replay`] explains what is made equal before, because a kernel reports it differently, and how near the
//! windows have to be.

#[path = "../../../proto/tests/cc/model.rs"]
#[allow(dead_code, reason = "another crate's tests use the rest")]
mod model;

mod lives;
mod recorded;
mod replay;
mod rules;
mod trace;
