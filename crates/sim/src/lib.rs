//! L2: the lab. Virtual time around the protocol machines: a scenario goes in, records come out.

mod histogram;
mod packet;
pub mod pcap;
pub mod scenario;
mod schedule;
mod truth;
