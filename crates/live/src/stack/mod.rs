//! Many connections of our own TCP machine on one device: the driver. See [`airtcp_proto::machine`] for the contract that it
//! keeps.
//!
//! [`Stack`] knows which packets are its connections' and hands all others back, so that they go on as if nobody had looked. A
//! [`StackFlow`] is one connection, a [`Stream`] the bytes that it carries. Whoever drives a stack tells it the time.

mod connections;
mod flow;
mod flows;
mod isn;
mod keepalive;
mod outbox;
mod ring;
mod stream;
mod too_big;

pub use connections::{Newcomers, Settings, Stack};
pub use flow::{FlowKey, StackFlow};
pub use isn::{InitialNumbers, Secret, random};
pub use stream::Stream;

#[cfg(test)]
mod tests;
