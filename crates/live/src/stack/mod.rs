//! The driver of many connections of our own TCP machine on one device. It keeps the contract of
//! [`airtcp_proto::machine`].
//!
//! [`Stack`] finds the packets of its connections and hands all others back, so that they go on untouched. A
//! [`StackFlow`] is one connection, a [`Stream`] the bytes that it carries. The stack's driver tells it the time.

mod connections;
mod cookies;
mod flow;
mod flows;
mod half_open;
mod isn;
mod keepalive;
mod outbox;
mod path_mtu;
mod store;
mod stream;
mod too_big;

pub use connections::{Newcomers, Settings, Stack};
pub use flow::{FlowKey, StackFlow};
pub use half_open::HALF_OPEN_BYTES;
pub use isn::{InitialNumbers, Secret, random};
pub use stream::{Room, Stream};

#[cfg(test)]
mod tests;
