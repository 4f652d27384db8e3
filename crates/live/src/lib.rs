//! L3: the field. The protocol machines on real packets: one clock read and one poll(2) per turn of the loop.

pub mod driver;
pub mod emulate;
pub mod namespace;
pub mod output;
pub mod proxy;
pub mod ring;
pub mod stream;
pub mod trial;
pub mod tun;

pub use driver::{Application, Driver, DriverError, Opening};
pub use stream::Stream;
pub use tun::{PacketDevice, Tun};
