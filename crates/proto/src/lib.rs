//! L1: the protocol machines. See [`machine`] for the contract that all of them follow.

#![cfg_attr(not(feature = "shortcuts"), allow(dead_code, reason = "only shortcuts use it"))]

pub mod base_station;
pub mod cc;
pub mod choice;
pub mod circuit;
pub mod fec;
pub mod machine;
pub mod marks;
pub mod middlebox;
pub mod path;
pub mod prefetch;
pub mod queue;
pub mod ring;
pub mod rng;
pub mod scheme;
pub mod tcp;
mod until;

pub use rng::{Chance, Chances};
