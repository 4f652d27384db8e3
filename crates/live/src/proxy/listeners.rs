//! The sockets at which connections come in.

use super::config::{Config, Entrance, Side};
use super::options;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrStorage, bind, listen, setsockopt, socket, sockopt,
};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;

/// Connections that may wait to be accepted. The kernel allows no more than `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

pub struct Listener {
    pub socket: TcpListener,
    /// The listener's own address. Nobody is to connect to it if it is transparent.
    pub address: SocketAddr,
    /// The side of those who connect.
    pub clients: Side,
    pub to: Destination,
}

/// Where connections continue to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination {
    /// Their original destination, with the client's address.
    Transparent,
    /// Their destination before the redirection. Our own stack connects from this address.
    Redirected {
        source: IpAddr,
    },
    Fixed(SocketAddr),
}

impl Listener {
    /// Opens the listeners of a configuration, in the network namespace of the calling thread. Without IPv6,
    /// transparent ones are for IPv4 alone.
    ///
    /// # Errors
    /// The kernel's, with the address.
    pub fn open(config: &Config) -> io::Result<Vec<Listener>> {
        let Entrance::Fixed { listen, to, clients } = config.entrance else { return transparent() };
        let to = Destination::Fixed(to);
        Ok(vec![Listener::new(listen, clients, to).map_err(|error| with_context(error, listen))?])
    }

    /// Opens a listener to which this host's connections of one address family are redirected.
    ///
    /// # Errors
    /// The kernel's.
    pub fn redirected(source: IpAddr) -> io::Result<Listener> {
        let ip: IpAddr =
            if source.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
        let address = SocketAddr::new(ip, 0);
        let made = Listener::new(address, Side::Wired, Destination::Redirected { source });
        made.map_err(|error| with_context(error, address))
    }

    fn new(address: SocketAddr, clients: Side, to: Destination) -> io::Result<Listener> {
        let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let listener = socket(family, SockType::Stream, flags, None)?;
        setsockopt(&listener, sockopt::ReuseAddr, &true)?;
        if to == Destination::Transparent {
            options::be_transparent(&listener)?;
        }
        options::keep_urgent_data_in_line(&listener)?;
        options::mark(&listener, clients)?;
        bind(listener.as_raw_fd(), &SockaddrStorage::from(address))?;
        listen(&listener, Backlog::new(BACKLOG)?)?;
        let socket = TcpListener::from(listener);
        Ok(Listener { address: socket.local_addr()?, socket, clients, to })
    }
}

/// Transparent listeners at loopback, which nobody can reach directly from outside.
fn transparent() -> io::Result<Vec<Listener>> {
    let mut listeners = Vec::new();
    for clients in [Side::Wireless, Side::Wired] {
        for ip in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
            let address = SocketAddr::new(ip, 0);
            match Listener::new(address, clients, Destination::Transparent) {
                Err(error) if ip.is_ipv6() && is_missing(&error) => {}
                made => listeners.push(made.map_err(|error| with_context(error, address))?),
            }
        }
    }
    Ok(listeners)
}

fn is_missing(error: &io::Error) -> bool {
    [Errno::EAFNOSUPPORT, Errno::EADDRNOTAVAIL].iter().any(|&it| error.raw_os_error() == Some(it as i32))
}

fn with_context(error: io::Error, address: SocketAddr) -> io::Error {
    let cure = match error.kind() {
        io::ErrorKind::AddrInUse => "; another program is listening there",
        io::ErrorKind::PermissionDenied => "; run it as root",
        _ => "",
    };
    io::Error::new(error.kind(), format!("listening at {address}: {error}{cure}"))
}
