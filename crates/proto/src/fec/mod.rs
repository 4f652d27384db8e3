//! Forward erasure correction for packets: a sliding-window random linear code, and what decides when it repairs.
//!
//! Source: RFC 8681, over GF(2^8). A *source* is a packet that leaves unchanged; sources have consecutive numbers. A *repair* is a
//! linear combination of a window of sources. Any r repairs stand in for any r lost ones of their window, but for one case in 255.
//!
//! - [`Encoder`] decides which repairs leave, over which window, and when. It sees times and lengths only.
//! - [`Repair`] names a window and a key, from which both ends draw the coefficients.
//! - [`Decoder`] solves for what is missing. The arithmetic on payloads is a [`Symbol`]'s: a driver without payloads has the unit type
//!   in its place and recovers the same packets.
//! - [`Sources`] and [`Rebuilder`] are the two ends with real packets, which have names instead of numbers. A repair says which is which.
//! - [`Plan`] is the closed form: what is left of losses, for so many sources and repairs.
//!
//! Late, duplicate, foreign and absurd input changes nothing, and memory has a bound.

mod decoder;
mod encoder;
pub mod gf256;
mod packet;
mod path;
mod plan;
mod rebuilder;
mod repair;
mod sources;
mod tinymt;

pub use decoder::{Decoder, Symbol};
pub use encoder::Encoder;
pub use packet::Packet;
pub use plan::Plan;
pub use rebuilder::Rebuilder;
pub use repair::Repair;
pub use sources::{Coded, Sources};

/// Sources that a repair covers at most.
pub const WINDOW: usize = 32;
