//! Our own TCP machine on the wireless side, for what the kernel's has not: go-back-N, an exact retransmission timer, any
//! sender scheme.
//!
//! [`steer`] leads what comes from the wireless interface to a TUN device. [`Stack`] knows which packets are its connections'
//! and hands all others back, so that they go on as if nobody had looked. A [`Flow`] is one connection.

mod flow;
mod flows;
mod stack;
mod steer;

pub use flow::{Flow, FlowKey};
pub use stack::{Newcomers, Settings, Stack};
pub use steer::{DEVICES, Steer};
