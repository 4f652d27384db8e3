//! Our own TCP machine on the wireless side, for what the kernel's lacks: go-back-N, an exact retransmission timer,
//! any sender scheme. [`Steer`] leads packets from the wireless interface to a TUN device with a [`Stack`] on it.

mod exit;
mod steer;

pub use crate::stack::{FlowKey, Newcomers, StackFlow};
pub use exit::{Exit, Outgoing};
pub use steer::{DEVICES, Steer};

pub type Stack = crate::stack::Stack<Exit>;
