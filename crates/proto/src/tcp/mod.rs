//! TCP, sans-IO: segments in, segments out.
//!
//! A [`Connection`] consists of a `sender` and a `receiver`. A [`TcpConfig`] describes a stack; usually it is one of
//! [`profile`]'s with a few keys changed.

mod ack_policy;
mod ack_summary;
mod allowance;
mod answered;
pub mod config;
pub mod connection;
mod copies;
mod core;
mod duplicates;
mod handshake;
mod inflation;
mod outgoing;
pub mod pacer;
mod persist;
pub mod profile;
mod prr;
mod rate;
mod reassembly;
mod receiver;
pub mod recovery;
mod rtt;
mod scoreboard;
mod segment_timers;
mod sender;
mod spurious;
mod stamps;
mod stats;
mod timed;
mod usage;
mod window_growth;

pub use config::{Recovery, RtoArithmetic, RtoConfig, RtoTimers, RttTiming, TcpConfig, TimeoutPolicy};
pub use connection::{Connection, Event, Outcome, Outlet, Reply, SenderView, State, Transmit, transmit};
pub use handshake::Rules;
pub use outgoing::Reason;
pub use reassembly::Reassembly;
pub use sender::Burst;
pub use stats::Stats;
