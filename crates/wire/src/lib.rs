//! L0: units, sequence numbers, and headers on the wire.
//!
//! Everything here is plain data: there is no clock, no state and no I/O.

pub mod checksum;
pub mod circuit;
pub mod ethernet;
pub mod header;
pub mod human;
pub mod ip;
pub mod packet;
pub mod quantity;
pub mod segment;
pub mod seq;
pub mod spelling;
pub mod tcp;
pub mod udp;
pub mod units;
mod words;

pub use header::Header;
pub use human::Bytes;
pub use quantity::{Positive, Probability};
pub use segment::{Ecn, FastOpen, Flags, SackBlocks, Segment, SynOptions, Timestamps};
pub use seq::Seq;
pub use units::{Dur, Rate, Time};
