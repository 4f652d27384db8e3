//! A scenario's path in real time: the machines of [`airtcp_proto::path`] between network devices.
//!
//! [`Emulator`] is the path as a machine without a clock; [`drive`] runs it between [`PacketDevice`]s.
//!
//! `Emulator` takes a packet and the time, and returns which packet leaves which port when. Its verdicts equal
//! the simulator's to the nanosecond, because the code is the same. Only `drive.rs` reads a clock: it sleeps
//! until shortly before the next departure, then polls the clock, and counts late packets. Hosts are behind
//! veth pairs, whose other ends are packet sockets: the kernel timestamps each packet they receive, and
//! `inbox.rs` delivers packets in that order with those timestamps, so that the driver's wake-up time does not
//! add to the path's delay. `airtcpd link --between` also takes TUN devices, whose packets have no timestamps.
//! `live/src/offload` does the work that a host offloads to its interface; its `layers.rs` finds the headers,
//! including a tunnel's, that each packet of a segment needs anew. A frame whose description does not fit its
//! headers is dropped and counted as missed.
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
