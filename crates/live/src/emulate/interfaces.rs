//! The two interfaces at the ends of the path.

use super::header::Framing;
use super::packet_socket::PacketSocket;
use crate::tun::{PacketDevice, Tun};
use airtcp_kernel::netlink::Netlink;
use netlink_packet_route::link::{LinkFlags, LinkLayerType};
use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::SystemTime;

/// MTU in bytes of TUN devices that are created here.
const MTU: u16 = 1500;

/// One end of the path.
pub enum Interface {
    Tun(Tun),
    Ethernet(PacketSocket, Claim),
}

/// Why two interfaces cannot be the ends of a path.
#[derive(Debug, thiserror::Error)]
pub enum InterfaceError {
    #[error("`{0}` was given twice; name two interfaces")]
    Same(String),
    #[error(
        "there is no interface `{missing}`, but there is `{there}`; name two that exist, or two that do not, which are then \
         made as TUN devices"
    )]
    OneMissing { missing: String, there: String },
    #[error("{ethernet} is an Ethernet interface and {tun} a TUN device; both must be of the same kind")]
    Kinds { ethernet: String, tun: String },
    #[error("{0} is neither an Ethernet interface, such as an end of a veth pair, nor a TUN device")]
    Unsupported(String),
    #[error("interface {0} is down; ip link set {0} up")]
    Down(String),
    #[error(
        "{0} is already an end of another path, and each frame would cross both; stop that airtcpd first"
    )]
    Claimed(String),
    #[error("{name}: {error}{}", cure(.error))]
    Device { name: String, error: io::Error },
}

fn cure(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; run as root, or with CAP_NET_ADMIN and CAP_NET_RAW",
        io::ErrorKind::ResourceBusy => "; another program is using it",
        _ => "",
    }
}

/// Opens the interfaces with these names in this thread's network namespace: Ethernet interfaces that are up, or TUN
/// devices that are up and that nobody holds. If neither exists, both are created as TUN devices.
///
/// # Errors
/// [`InterfaceError`]. Nothing has changed in that case.
pub fn open_between(names: [&str; 2]) -> Result<([Interface; 2], Framing), InterfaceError> {
    if names[0] == names[1] {
        return Err(InterfaceError::Same(names[0].to_owned()));
    }
    let indices = names.map(|name| if_nametoindex(name).ok());
    match indices {
        [None, Some(_)] | [Some(_), None] => {
            let missing = usize::from(indices[0].is_some());
            let [missing, there] = [missing, 1 - missing].map(|end| names[end].to_owned());
            return Err(InterfaceError::OneMissing { missing, there });
        }
        _ => {}
    }
    let [a, b] = [open(names[0], indices[0])?, open(names[1], indices[1])?];
    let framing = match (&a, &b) {
        (Interface::Tun(_), Interface::Tun(_)) => Framing::Ip,
        (Interface::Ethernet(..), Interface::Ethernet(..)) => Framing::Ethernet,
        (Interface::Ethernet(..), Interface::Tun(_)) => return Err(kinds(names[0], names[1])),
        (Interface::Tun(_), Interface::Ethernet(..)) => return Err(kinds(names[1], names[0])),
    };
    Ok(([a, b], framing))
}

/// Addresses of an Ethernet interface. This host itself answers there, in addition to what crosses the path.
pub fn own_addresses(name: &str) -> Vec<String> {
    let Ok(addresses) = getifaddrs() else { return Vec::new() };
    let of_interface = addresses.filter(|found| found.interface_name == name);
    let text = of_interface.filter_map(|found| Some(found.address?.as_sockaddr_in()?.ip().to_string()));
    text.collect()
}

/// Keeps other paths from ending at an Ethernet interface. The kernel drops the claim with the process.
pub struct Claim {
    _name: UnixDatagram,
}

impl Claim {
    /// An abstract name belongs to its network namespace, as interfaces do.
    fn on(interface: &str, index: u32) -> Result<Claim, InterfaceError> {
        let claimed = SocketAddr::from_abstract_name(format!("airtcp-link-{index}"))
            .and_then(|name| UnixDatagram::bind_addr(&name));
        match claimed {
            Ok(name) => Ok(Claim { _name: name }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                Err(InterfaceError::Claimed(interface.to_owned()))
            }
            Err(error) => Err(InterfaceError::Device { name: interface.to_owned(), error }),
        }
    }
}

fn kinds(ethernet: &str, tun: &str) -> InterfaceError {
    InterfaceError::Kinds { ethernet: ethernet.to_owned(), tun: tun.to_owned() }
}

fn open(name: &str, index: Option<u32>) -> Result<Interface, InterfaceError> {
    let failed = |error| InterfaceError::Device { name: name.to_owned(), error };
    let Some(index) = index else { return Tun::bare(name, MTU).map(Interface::Tun).map_err(failed) };
    let link = Netlink::open().and_then(|netlink| netlink.link(index)).map_err(failed)?;
    match (link.layer(), link.flags().contains(LinkFlags::Up)) {
        (LinkLayerType::Ether | LinkLayerType::None, false) => Err(InterfaceError::Down(name.to_owned())),
        (LinkLayerType::Ether, true) => {
            let claim = Claim::on(name, index)?;
            PacketSocket::open(index).map(|socket| Interface::Ethernet(socket, claim)).map_err(failed)
        }
        (LinkLayerType::None, true) => Tun::existing(name).map(Interface::Tun).map_err(failed),
        _ => Err(InterfaceError::Unsupported(name.to_owned())),
    }
}

impl AsFd for Interface {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Interface::Tun(tun) => tun.as_fd(),
            Interface::Ethernet(socket, _) => socket.as_fd(),
        }
    }
}

impl PacketDevice for Interface {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Interface::Tun(tun) => tun.recv(buffer),
            Interface::Ethernet(socket, _) => socket.recv(buffer),
        }
    }

    fn arrived(&self) -> Option<SystemTime> {
        match self {
            Interface::Tun(tun) => tun.arrived(),
            Interface::Ethernet(socket, _) => socket.arrived(),
        }
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        match self {
            Interface::Tun(tun) => tun.send(packet),
            Interface::Ethernet(socket, _) => socket.send(packet),
        }
    }

    fn missed(&self) -> u64 {
        match self {
            Interface::Tun(tun) => tun.missed(),
            Interface::Ethernet(socket, _) => socket.missed(),
        }
    }
}
