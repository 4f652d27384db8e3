//! Devices that give and take whole IP packets.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::SystemTime;
use tun_rs::{DeviceBuilder, SyncDevice};

/// What the driver sends to and receives from. Neither call blocks; the descriptor is readable when a packet waits.
pub trait PacketDevice: AsFd {
    /// The length of the packet that was put into `buffer`; `None` when none waits.
    ///
    /// # Errors
    /// The device's.
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// When the packet that was received last had reached this host, if the kernel tells.
    fn arrived(&self) -> Option<SystemTime> {
        None
    }

    /// Sends a packet, or loses it when the device has no room, as any link may.
    ///
    /// # Errors
    /// The device's.
    fn send(&mut self, packet: &[u8]) -> io::Result<()>;

    /// Packets that came in and were lost before they could be received, as far as the device knows.
    fn missed(&self) -> u64 {
        0
    }
}

/// Packets that may wait until they are received. What finds no room is lost, and nobody is told: let it be much.
const QUEUE_PACKETS: u32 = 10_000;

/// A Linux TUN device, which lives as long as this value unless it was there before.
pub struct Tun(SyncDevice);

impl Tun {
    /// Creates the device `name` in this thread's network namespace and gives the kernel's side `address`. Addresses
    /// in the same prefix are then reached through the device. `mtu` in bytes.
    ///
    /// # Errors
    /// The kernel's: without CAP_NET_ADMIN, permission denied.
    pub fn open(name: &str, address: IpAddr, prefix: u8, mtu: u16) -> io::Result<Tun> {
        let builder = builder(name, mtu);
        Tun::build(match address {
            IpAddr::V4(address) => builder.ipv4(address, prefix, None),
            IpAddr::V6(address) => builder.ipv6(address, prefix),
        })
    }

    /// Creates the device without an address.
    ///
    /// # Errors
    /// As [`Tun::open`].
    pub fn bare(name: &str, mtu: u16) -> io::Result<Tun> {
        Tun::build(builder(name, mtu))
    }

    /// Takes a device that is there and that nobody holds, as it is. It stays when this value goes.
    ///
    /// # Errors
    /// As [`Tun::open`].
    pub fn existing(name: &str) -> io::Result<Tun> {
        Tun::build(DeviceBuilder::new().name(name).inherit_enable_state())
    }

    fn build(builder: DeviceBuilder) -> io::Result<Tun> {
        let device = builder.build_sync()?;
        device.set_nonblocking(true)?;
        Ok(Tun(device))
    }
}

fn builder(name: &str, mtu: u16) -> DeviceBuilder {
    DeviceBuilder::new().name(name).mtu(mtu).with(|builder| {
        builder.tx_queue_len(QUEUE_PACKETS);
    })
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl PacketDevice for Tun {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        unless_blocked(self.0.recv(buffer))
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        unless_blocked(self.0.send(packet)).map(|_| ())
    }
}

fn unless_blocked<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
