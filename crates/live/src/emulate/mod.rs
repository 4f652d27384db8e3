//! A scenario's path in real time: the machines of [`airtcp_proto::path`] between network devices.
//!
//! [`Emulator`] is the path as a machine without a clock, [`drive`] runs it between [`PacketDevice`]s.
//!
//! [`PacketDevice`]: crate::PacketDevice

mod clock;
mod drive;
mod emulator;
mod header;
mod lateness;
mod observer;
mod ports;
mod slab;

pub use clock::Clock;
pub use drive::{Control, DepartureRecord, SPIN, Timekeeping, drive};
pub use emulator::{Counts, Emulator, MEMORY, Transmit};
pub use header::Framing;
pub use lateness::{LATE, Lateness, LatenessRecord};
pub use observer::Observer;
pub use ports::{Port, Prefix};
