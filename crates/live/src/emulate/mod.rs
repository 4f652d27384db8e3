//! A scenario's path in real time: the machines of [`airtcp_proto::path`] between network devices.
//!
//! [`Emulator`] is the path as a machine without a clock; [`drive`] runs it between [`PacketDevice`]s.
//!
//! [`PacketDevice`]: crate::PacketDevice

mod capture;
mod clock;
mod counts;
mod drive;
mod emulator;
mod header;
mod inbox;
mod interfaces;
mod lateness;
mod observer;
mod packet_socket;
mod ports;
mod realtime;
mod report;
mod slab;
mod station;

pub use capture::Capture;
pub use clock::Clock;
pub use counts::Counts;
pub use drive::{Control, DepartureRecord, SPIN, Timekeeping, drive};
pub use emulator::{Emulator, MEMORY, Transmit};
pub use header::Framing;
pub use interfaces::{Interface, InterfaceError, open_between, own_addresses};
pub use lateness::{LATE, Lateness, LatenessRecord};
pub use observer::Observer;
pub use packet_socket::PacketSocket;
pub use ports::{Port, Prefix};
pub use realtime::be_on_time;
pub use report::{Live, Report, WayReport};
pub use station::{HoldingMachine, Station};
