//! L2: the lab. It runs the protocol machines in virtual time, and turns a scenario into records.

#![cfg_attr(not(feature = "shortcuts"), allow(dead_code, reason = "only shortcuts use it"))]

mod ahead;
pub mod bound;
mod circuit;
mod connected;
mod ends;
mod engine;
mod error;
mod flow;
pub mod histogram;
pub mod links;
mod network;
mod outlet;
mod packet;
pub mod packet_log;
mod parcel;
pub mod path_records;
pub mod pcap;
mod placement;
pub mod record;
mod repairing;
pub mod routes;
pub mod run;
pub mod run_totals;
mod sampling;
pub mod scenario;
mod schedule;
pub mod series;
#[cfg_attr(not(feature = "shortcuts"), path = "no_shortcut.rs")]
mod shortcut;
mod stage;
mod station;
mod tap;
mod timer;
pub mod topology;
pub mod traffic;
mod transfers;
pub mod truth;
mod turns;

pub use error::RunError;
pub use links::round_trips;
pub use record::RunRecord;
pub use run::{Capture, Outcome, RunOptions, Running, run};
pub use scenario::Scenario;
