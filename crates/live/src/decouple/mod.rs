//! The reliable decoupling socket (paper 000 §5) for unmodified programs. Their connections are redirected to a
//! proxy, whose far side is a data TCP of our own. The data TCP's packets go through a TCP circuit.
//!
//! [`Redirection`] brings connections to the proxy and the proxy's packets out of this host. It is a table of nft, a TUN
//! device with otherwise unused addresses, which are masqueraded, and interfaces that forward for it. [`Program`] is
//! a command whose connections alone are carried, in a cgroup of its own. Everything else is in
//! [`proxy`](crate::proxy) and [`circuit`](crate::circuit).
//!
//! The proxy and the sending gateway are one worker. Connections of this host's programs are redirected to the
//! proxy, whose stack has a device, a masqueraded address, and one circuit for all its packets. A command runs
//! in a cgroup that identifies its connections; the daemon's keeper starts it and ends with it.

mod counters;
mod program;
mod redirection;
mod service;

pub use counters::Counters;
pub use program::Program;
pub use redirection::try_command;
pub use service::{Decoupling, NAME};
