//! Devices that send and receive whole IP packets.

use crate::offload::{DESCRIPTION_LEN, Offload};
use airtcp_wire::packet::Endpoints;
use nix::sys::uio::{readv, writev};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::SystemTime;
use tun_rs::{DeviceBuilder, SyncDevice};

/// A device as the driver sees it. No call blocks; the descriptor is readable when a packet waits.
pub trait PacketDevice: AsFd {
    /// Receives a packet into `buffer` and returns its length; `None` if none waits.
    ///
    /// # Errors
    /// The device's.
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// When the last received packet reached this host, if the kernel reports that.
    fn arrived(&self) -> Option<SystemTime> {
        None
    }

    /// What is left to do for the last received packet.
    fn offload(&self) -> Offload {
        Offload::default()
    }

    /// Returns whether the device takes packets that are longer than its MTU, or lack their checksum.
    fn has_offloads(&self) -> bool {
        false
    }

    /// Sends a packet with headers of `headers_len` bytes, for which `offload` is left to do.
    ///
    /// # Errors
    /// The device's; unsupported, unless it [has offloads](PacketDevice::has_offloads).
    fn send_offloaded(&mut self, _packet: &[u8], _headers_len: usize, _offload: Offload) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns whether there is room for a packet between these endpoints.
    fn has_room(&self, _endpoints: &Endpoints) -> bool {
        true
    }

    /// For the data TCP of a circuit (paper 000 §6, F2): after so many duplicate ACKs, a connection between these endpoints resends
    /// its first unacknowledged segment again. `None` if it does not.
    fn repeats_first_every(&self, _endpoints: &Endpoints) -> Option<u32> {
        None
    }

    /// Sends the last received packet on, as it came.
    ///
    /// # Errors
    /// The device's.
    fn hand_back(&mut self, packet: &[u8], headers_len: usize) -> io::Result<()> {
        match self.has_offloads() {
            true => self.send_offloaded(packet, headers_len, self.offload()),
            false => self.send(packet),
        }
    }

    /// Sends a packet. If the device has no room, the packet is lost, as on any link.
    ///
    /// # Errors
    /// The device's.
    fn send(&mut self, packet: &[u8]) -> io::Result<()>;

    /// Incoming packets that were lost before they could be received, as far as the device knows.
    fn missed(&self) -> u64 {
        0
    }
}

/// Packets that may wait to be received. The number is large because further ones are lost without notice.
const QUEUE_PACKETS: u32 = 10_000;

/// Longest MTU in bytes that a device may have, for one that is not to limit what others send to it.
pub const LONGEST_MTU: u16 = u16::MAX;

/// RFC 7600 §4.8: an address for a host that has none of its own. The kernel accepts packets from a device only if
/// the device has an address.
pub const DUMMY: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 0, 8));

/// A Linux TUN device. It is removed when this value is dropped, unless it existed before.
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

    /// Opens an existing device that nobody holds, and keeps its settings. The device stays when this value is
    /// dropped.
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

/// A TUN device that leaves checksums, and the cutting of long TCP segments, to whoever does them best
/// (`IFF_VNET_HDR`).
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

    /// Limits how many packets may wait to be received; further ones are lost.
    ///
    /// # Errors
    /// The kernel's.
    pub fn limit_queue(&self, packets: u32) -> io::Result<()> {
        self.tun.0.set_tx_queue_len(packets)
    }
}

/// Sends whole packets through a device that somebody else reads.
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
