//! Devices that give and take whole IP packets.

use crate::offload::{DESCRIPTION_LEN, Offload};
use airtcp_wire::packet::Endpoints;
use nix::sys::uio::{readv, writev};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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

    /// What is left to do for the packet that was received last.
    fn offload(&self) -> Offload {
        Offload::default()
    }

    /// Does it take packets that are longer than its MTU, or lack their checksum?
    fn has_offloads(&self) -> bool {
        false
    }

    /// Sends a packet for which something is left to do, and whose headers have this length.
    ///
    /// # Errors
    /// The device's; unsupported, unless it [has offloads](PacketDevice::has_offloads).
    fn send_offloaded(&mut self, _packet: &[u8], _headers_len: usize, _offload: Offload) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Is there room for a packet of these that is [sent](PacketDevice::send)?
    fn has_room(&self, _endpoints: &Endpoints) -> bool {
        true
    }

    /// Sends on a packet that was received last, as it came.
    ///
    /// # Errors
    /// The device's.
    fn hand_back(&mut self, packet: &[u8], headers_len: usize) -> io::Result<()> {
        match self.has_offloads() {
            true => self.send_offloaded(packet, headers_len, self.offload()),
            false => self.send(packet),
        }
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

/// RFC 7600 §4.8: an address for a host that has none of its own. The kernel takes what comes out of a device only if that has one.
pub const DUMMY: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 0, 8));

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
        Tun::build(with_address(builder, address, prefix))
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

/// A TUN device that leaves checksums, and the cutting of long TCP segments, to whoever can do it best (`IFF_VNET_HDR`).
pub struct OffloadTun {
    tun: Tun,
    offload: Offload,
}

impl OffloadTun {
    /// As [`Tun::open`].
    ///
    /// # Errors
    /// As [`Tun::open`].
    pub fn open(name: &str, address: IpAddr, prefix: u8, mtu: u16) -> io::Result<OffloadTun> {
        let builder = builder(name, mtu).with(|builder| {
            builder.offload(true);
        });
        let tun = Tun::build(with_address(builder, address, prefix))?;
        Ok(OffloadTun { tun, offload: Offload::default() })
    }

    /// # Errors
    /// The kernel's: too many open files.
    pub fn writer(&self) -> io::Result<TunWriter> {
        Ok(TunWriter(self.as_fd().try_clone_to_owned()?))
    }

    /// Lets so many packets wait until they are received; what finds no room is lost.
    ///
    /// # Errors
    /// The kernel's.
    pub fn limit_queue(&self, packets: u32) -> io::Result<()> {
        self.tun.0.set_tx_queue_len(packets)
    }
}

/// Sends whole packets by a device that somebody else reads.
pub struct TunWriter(OwnedFd);

impl TunWriter {
    /// As [`PacketDevice::send`].
    ///
    /// # Errors
    /// The device's.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        let description = Offload::default().write(0);
        let parts = [IoSlice::new(&description), IoSlice::new(packet)];
        unless_blocked(writev(&self.0, &parts).map_err(io::Error::from)).map(|_| ())
    }
}

impl AsFd for OffloadTun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

impl PacketDevice for OffloadTun {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut description = [0; DESCRIPTION_LEN];
        let mut parts = [IoSliceMut::new(&mut description), IoSliceMut::new(buffer)];
        let Some(len) = unless_blocked(readv(&self.tun, &mut parts).map_err(io::Error::from))? else {
            return Ok(None);
        };
        self.offload = Offload::read(&description);
        Ok(Some(len.saturating_sub(DESCRIPTION_LEN)))
    }

    fn offload(&self) -> Offload {
        self.offload
    }

    fn has_offloads(&self) -> bool {
        true
    }

    fn send_offloaded(&mut self, packet: &[u8], headers_len: usize, offload: Offload) -> io::Result<()> {
        let description = offload.write(headers_len);
        let parts = [IoSlice::new(&description), IoSlice::new(packet)];
        unless_blocked(writev(&self.tun, &parts).map_err(io::Error::from)).map(|_| ())
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.send_offloaded(packet, 0, Offload::default())
    }
}

fn builder(name: &str, mtu: u16) -> DeviceBuilder {
    DeviceBuilder::new().name(name).mtu(mtu).with(|builder| {
        builder.tx_queue_len(QUEUE_PACKETS);
    })
}

fn with_address(builder: DeviceBuilder, address: IpAddr, prefix: u8) -> DeviceBuilder {
    match address {
        IpAddr::V4(address) => builder.ipv4(address, prefix, None),
        IpAddr::V6(address) => builder.ipv6(address, prefix),
    }
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
