//! Makes the sockets of a run.

use crate::trial::forms::Form;
use crate::trial::hosts::Host;
use crate::trial::socket_options::{
    SO_LINGER, SO_MAX_PACING_RATE, SO_RCVBUFFORCE, SO_REUSEADDR, TCP_CONGESTION, TCP_NODELAY,
    TCP_NOTSENT_LOWAT, TCP_WINDOW_CLAMP,
};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, bind, connect, listen, socket,
};
use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};

/// Unsent bytes that a greedy application keeps in the socket. As in the simulator, they are still sent after it
/// stops.
const UNSENT_BYTES: u32 = 64 << 10;

/// Just below "unlimited", with which the kernel would not pace.
const ANY_RATE: u64 = u64::MAX - 1;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// A listening socket at `port` of `host`.
///
/// # Errors
/// The kernel's.
pub fn listener(host: &Host, port: u16, form: &Form) -> io::Result<OwnedFd> {
    let socket = stream_socket(host, form)?;
    if let Some(window) = form.socket.window_clamp_bytes {
        SO_RCVBUFFORCE.set(&socket, &(2 * window as u32).to_ne_bytes())?;
        TCP_WINDOW_CLAMP.set(&socket, &(window as u32).to_ne_bytes())?;
    }
    bind(socket.as_raw_fd(), &address(host, port))?;
    listen(&socket, Backlog::new(BACKLOG)?)?;
    Ok(socket)
}

/// Sets the limit again, because Linux derives the window anew from the buffer once it knows how large packets are.
pub fn clamp_again(receiver: &OwnedFd, form: &Form) {
    if let Some(window) = form.socket.window_clamp_bytes {
        // A socket that refuses is closed already.
        let _ = TCP_WINDOW_CLAMP.set(receiver, &(window as u32).to_ne_bytes());
    }
}

/// A sender's socket, bound to `port`; `AddrInUse` if that is taken.
///
/// # Errors
/// The kernel's.
pub fn sender(host: &Host, port: u16, form: &Form) -> io::Result<OwnedFd> {
    let socket = stream_socket(host, form)?;
    TCP_NOTSENT_LOWAT.set(&socket, &UNSENT_BYTES.to_ne_bytes())?;
    TCP_NODELAY.set(&socket, &i32::from(form.socket.nodelay).to_ne_bytes())?;
    if form.socket.pacing {
        SO_MAX_PACING_RATE.set(&socket, &ANY_RATE.to_ne_bytes())?;
    }
    bind(socket.as_raw_fd(), &address(host, port))?;
    Ok(socket)
}

/// Begins to connect.
///
/// # Errors
/// The kernel's.
pub fn open(socket: &OwnedFd, to: &Host, port: u16) -> io::Result<()> {
    match connect(socket.as_raw_fd(), &address(to, port)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Sockets from which a flow's datagrams leave, and at which they arrive. Nobody reads them: the kernel drops them
/// once its buffer is full, and sends no ICMP message, because there is a socket.
///
/// # Errors
/// The kernel's.
pub fn datagrams(from: &Host, to: &Host, port: u16) -> io::Result<[UdpSocket; 2]> {
    let receiver = to.namespace.run(|| UdpSocket::bind((to.address, port)))??;
    let sender = from.namespace.run(|| UdpSocket::bind((from.address, 0)))??;
    sender.set_nonblocking(true)?;
    sender.connect((to.address, port))?;
    Ok([sender, receiver])
}

/// Makes a close drop the connection at once.
pub fn abandon(socket: &OwnedFd) {
    let on_for_0_s: [[u8; 4]; 2] = [1i32.to_ne_bytes(), 0i32.to_ne_bytes()];
    // A socket that refuses is closed already.
    let _ = SO_LINGER.set(socket, on_for_0_s.as_flattened());
}

fn stream_socket(host: &Host, form: &Form) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let made = host.namespace.run(|| socket(AddressFamily::Inet, SockType::Stream, flags, None))?;
    let socket = made?;
    let name = &form.congestion_control.name;
    TCP_CONGESTION
        .set(&socket, name.as_bytes())
        .map_err(|error| io::Error::new(error.kind(), format!("the congestion control `{name}`: {error}")))?;
    SO_REUSEADDR.set(&socket, &1i32.to_ne_bytes())?;
    Ok(socket)
}

fn address(host: &Host, port: u16) -> SockaddrIn {
    SocketAddrV4::new(host.address, port).into()
}
