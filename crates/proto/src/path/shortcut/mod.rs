//! The shortcut of a link: a DropTail queue, a constant rate and a constant delay, computed by arithmetic instead of packet by packet.
//!
//! Invariant: a [`Lean`] link does and counts exactly what the general link of the same parts does. `link.rs` asks for one where it
//! builds a link, and a property in `tests` plays random packets through both. Without this folder every link is a general one.
//!
//! - [`lean`]: the link. Its packets are one row of flights.
//! - `backlog`: what waits in front of it, in runs of packets of one size or of two in turn.
//! - `expected`: packets that are only counted, because the queue has nothing to decide about them.

mod backlog;
mod expected;
mod lean;
#[cfg(test)]
mod tests;

pub(super) use lean::Lean;
