//! L2: the lab. Virtual time around the protocol machines: a scenario goes in, records come out.

pub mod pcap;
pub mod scenario;
