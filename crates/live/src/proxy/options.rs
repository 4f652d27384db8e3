//! Options of the proxy's sockets.

use super::config::{Config, Side, Tuning};
use super::rules::WIRELESS_MARK;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, SockaddrIn6, getsockopt, setsockopt, socket, sockopt,
};
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};
use std::ffi::OsString;
use std::io;
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6, TcpStream};
use std::os::fd::AsFd;

/// asm-generic/socket.h, since Linux 5.14.
const SO_BUF_LOCK: libc::c_int = 72;
const LOCK_BOTH: u32 = 3;
/// tcp_states.h.
const TCP_CLOSE: u8 = 7;

sockopt_impl!(BufferLock, Both, libc::SOL_SOCKET, SO_BUF_LOCK, u32);
/// The part of `struct tcp_info` that ends with `tcpi_bytes_received`, since Linux 4.1. It begins with `tcpi_state`.
const INFO_LEN: usize = 136;
sockopt_impl!(Info, GetOnly, libc::IPPROTO_TCP, libc::TCP_INFO, [u8; INFO_LEN]);

/// Lets a socket have another host's address, of either family: IPV6_TRANSPARENT is the same flag of the socket.
/// Accepted sockets inherit that.
///
/// # Errors
/// The kernel's: without CAP_NET_RAW, not permitted.
pub fn be_transparent(socket: impl AsFd) -> io::Result<()> {
    Ok(setsockopt(&socket.as_fd(), sockopt::IpTransparent, &true)?)
}

/// Marks a socket, and those that it accepts, with its side, for rules about packets and timers.
///
/// # Errors
/// As [`be_transparent`].
pub fn mark(socket: impl AsFd, side: Side) -> io::Result<()> {
    match side {
        Side::Wireless => Ok(setsockopt(&socket.as_fd(), sockopt::Mark, &WIRELESS_MARK)?),
        Side::Wired => Ok(()),
    }
}

/// Makes urgent data part of the stream (RFC 6093 §6). Accepted sockets inherit that: set later, it is too late for what
/// has come.
///
/// # Errors
/// The kernel's.
pub fn keep_urgent_data_in_line(socket: impl AsFd) -> io::Result<()> {
    Ok(setsockopt(&socket.as_fd(), sockopt::OobInline, &true)?)
}

/// Destination of a connection before it was redirected.
///
/// # Errors
/// The kernel's: it was not redirected.
pub fn redirected_from(client: &TcpStream) -> io::Result<SocketAddr> {
    Ok(match client.peer_addr()? {
        SocketAddr::V4(_) => {
            SocketAddrV4::from(SockaddrIn::from(getsockopt(client, sockopt::OriginalDst)?)).into()
        }
        SocketAddr::V6(_) => {
            SocketAddrV6::from(SockaddrIn6::from(getsockopt(client, sockopt::Ip6tOriginalDst)?)).into()
        }
    })
}

/// Sets the options of both sides, and then those of `tuning`.
///
/// # Errors
/// The kernel's, with what failed.
pub fn tune(socket: impl AsFd, tuning: &Tuning) -> io::Result<()> {
    let socket = &socket.as_fd();
    // Data that waits here has been sent already, by somebody who had the choice of Nagle's algorithm.
    setsockopt(socket, sockopt::TcpNoDelay, &true)?;
    setsockopt(socket, sockopt::KeepAlive, &true)?;
    if let Some(silence) = tuning.keepalive {
        let seconds = (silence.0 / 1_000_000_000).clamp(1, 32_767) as u32;
        setsockopt(socket, sockopt::TcpKeepIdle, &seconds)?;
    }
    if let Some(name) = &tuning.congestion_control {
        let set = setsockopt(socket, sockopt::TcpCongestion, &OsString::from(name));
        set.map_err(|error| congestion_control(name, error.into()))?;
    }
    tuning.buffer.map_or(Ok(()), |buffer| set_buffers(socket, buffer.0))
}

/// The kernel doubles the given size, for its own needs.
fn set_buffers(socket: &impl AsFd, bytes: u64) -> io::Result<()> {
    let half = (bytes / 2) as usize;
    setsockopt(socket, sockopt::SndBuf, &half)?;
    Ok(setsockopt(socket, sockopt::RcvBuf, &half)?)
}

/// Limits each buffer to this many bytes.
pub fn limit_buffers(socket: impl AsFd, bytes: u64) {
    let socket = &socket.as_fd();
    if room(socket) > 2 * bytes {
        // The kernel never refuses a shorter buffer.
        let _ = set_buffers(socket, bytes);
    }
}

/// Checks that this host can do what `config` asks for.
///
/// # Errors
/// What it cannot do, and why.
pub fn check(config: &Config) -> io::Result<()> {
    let wireless = config.own.is_none().then_some(&config.wireless);
    for tuning in wireless.into_iter().chain([&config.wired]) {
        let probe = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
        tune(&probe, tuning)?;
        let Some(buffer) = tuning.buffer else { continue };
        for (option, limit) in
            [(getsockopt(&probe, sockopt::SndBuf)?, "wmem"), (getsockopt(&probe, sockopt::RcvBuf)?, "rmem")]
        {
            if (option as u64) < buffer.0 / 2 * 2 {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!(
                        "a buffer of {} bytes: the kernel allows only {option}; sysctl -w net.core.{limit}_max={} raises the limit",
                        buffer.0,
                        buffer.0 / 2
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn congestion_control(name: &str, error: io::Error) -> io::Error {
    let cure = match error.kind() {
        io::ErrorKind::NotFound => {
            "; `cat /proc/sys/net/ipv4/tcp_available_congestion_control` lists those at hand, `modprobe tcp_NAME` and \
             `airtcpd cc load NAME` add others"
        }
        _ => "",
    };
    io::Error::new(error.kind(), format!("the congestion control `{name}`: {error}{cure}"))
}

/// Bytes that the kernel may come to hold for a socket, in both directions.
pub fn room(socket: impl AsFd) -> u64 {
    let socket = &socket.as_fd();
    let of = |found: nix::Result<usize>| found.unwrap_or(0) as u64;
    of(getsockopt(socket, sockopt::RcvBuf)) + of(getsockopt(socket, sockopt::SndBuf))
}

/// Keeps the buffers' sizes, or lets the kernel adjust them again (since Linux 5.14).
pub fn keep_buffers(socket: impl AsFd, kept: bool) {
    // An older kernel goes on adjusting them.
    let _ = setsockopt(&socket.as_fd(), BufferLock, &if kept { LOCK_BOTH } else { 0 });
}

/// The error that has ended a connection.
pub fn error(socket: impl AsFd) -> Option<io::Error> {
    let code = getsockopt(&socket.as_fd(), sockopt::SocketError).unwrap_or(0);
    (code != 0).then(|| io::Error::from_raw_os_error(code))
}

/// Returns whether everything has been sent and acknowledged, in both directions.
pub fn is_closed(socket: impl AsFd) -> bool {
    getsockopt(&socket.as_fd(), Info).is_ok_and(|info| info[0] == TCP_CLOSE)
}

/// Bytes of the peer's stream that have come, once its FIN has.
pub fn received(socket: impl AsFd) -> Option<u64> {
    let info = getsockopt(&socket.as_fd(), Info).ok()?;
    // The kernel counts the FIN, too.
    u64::from_ne_bytes(*info.last_chunk()?).checked_sub(1)
}

/// Makes a close before the connection's end a RST, whatever closes it, even the death of this process. A FIN would
/// claim that all of the other end's data has come.
///
/// # Errors
/// The kernel's.
pub fn reset_at_close(socket: impl AsFd) -> io::Result<()> {
    let now = libc::linger { l_onoff: 1, l_linger: 0 };
    Ok(setsockopt(&socket.as_fd(), sockopt::Linger, &now)?)
}
