//! The driver of many connections of our own TCP machine on one device. It keeps the contract of
//! [`airtcp_proto::machine`].
//!
//! [`Stack`] finds the packets of its connections and hands all others back, so that they go on untouched. A
//! [`StackFlow`] is one connection, a [`Stream`] the bytes that it carries. The stack's driver tells it the time.
//!
//! `Stack` finds the connection of each packet and returns those of others, `Flows` finds connections by
//! address and by their next timeout, and `Outbox` merges consecutive segments into one long packet, which the
//! kernel or the card splits. A long packet that arrives is handled segment by segment. `PathMtu` decides how
//! long a connection's packets are, and tells the machine (`limit_mss`); a `LinkWatch` tells the driver when
//! the link's MTU changes. The stack reads no clock: its driver (the proxy, a test or a fuzzer) gives it the
//! time. Of a handshake that a peer has begun only the SYN is kept (`half_open.rs`), and the machine is made
//! again of it when it is needed; beyond a bound, nothing (`cookies.rs`). With `Settings::fast_open`, a SYN carries text
//! to a peer that has granted a cookie (`fast_open.rs`), and a connection that is opened so waits a moment for text. The bytes of a stream take memory
//! only where there are some (`store.rs`).

mod connections;
mod cookies;
mod fast_open;
mod flow;
mod flows;
mod half_open;
mod isn;
mod keepalive;
mod outbox;
mod path_mtu;
mod peers;
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
