//! TCP, sans-IO: segments in, segments out.
//!
//! [`Connection`] joins a sender and a receiver. What an era's stack did is a [`TcpConfig`], usually one of
//! [`profile`]'s with a few keys changed.

pub mod config;
pub mod connection;
pub mod pacer;
pub mod profile;

pub use config::{Recovery, RtoConfig, RttTiming, TcpConfig, TimeoutPolicy};
pub use connection::{Connection, Event, Reason, SenderView, State, Stats, Transmit};
