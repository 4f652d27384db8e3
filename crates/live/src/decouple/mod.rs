//! The reliable decoupling socket (paper 000 §5) for programs as they are: what they connect to is redirected to a proxy, whose
//! far side is a data TCP of our own, and its packets go through a TCP circuit.
//!
//! [`Way`] is what brings connections to the proxy and its packets out of this host: a table of nft, a TUN device with addresses
//! that nobody else has, which are masqueraded, and interfaces that forward for it. [`Program`] is a command that alone is served,
//! in a cgroup of its own. Everything else is [`proxy`](crate::proxy)'s and [`circuit`](crate::circuit)'s.

mod counters;
mod program;
mod service;
mod way;

pub use counters::Counters;
pub use program::Program;
pub use service::{Decoupling, NAME};
