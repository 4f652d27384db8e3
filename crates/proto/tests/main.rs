//! The machines, each driven by hand in virtual time.

mod base_station;
mod cc;
mod circuit;
mod circuit_allocations;
mod common;
mod fec;
mod heap;
mod hidden;
mod hop_compression;
mod link;
mod losses;
mod lost_acks;
mod lte;
mod medium;
mod queues;
mod rebuilding;
mod recorded_traces;
mod tcp_delivery;
mod tcp_strangers;
mod tcp_timelines;
mod timeout_policy;
mod wifi;
