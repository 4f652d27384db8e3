//! L2: the lab. Virtual time around the protocol machines: a scenario goes in, records come out.

pub mod bound;
mod circuit;
mod engine;
mod flow;
mod histogram;
mod links;
mod network;
mod packet;
pub mod pcap;
mod prefetch;
pub mod record;
pub mod run;
pub mod scenario;
mod schedule;
pub mod series;
mod station;
mod stations;
mod tap;
mod topology;
mod traffic;
pub mod truth;

pub use links::round_trips;
pub use record::RunRecord;
pub use run::{Capture, Outcome, RunError, RunOptions, run};
pub use scenario::Scenario;
