//! Socket options that the standard library lacks.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// An option whose value is plain data.
pub struct SocketOption {
    level: i32,
    name: i32,
}

/// Bytes that may be waiting to be sent.
pub const TCP_NOTSENT_LOWAT: SocketOption = SocketOption::tcp(libc::TCP_NOTSENT_LOWAT);
/// Largest window that is advertised, in bytes.
pub const TCP_WINDOW_CLAMP: SocketOption = SocketOption::tcp(libc::TCP_WINDOW_CLAMP);
pub const TCP_CONGESTION: SocketOption = SocketOption::tcp(libc::TCP_CONGESTION);
pub const TCP_NODELAY: SocketOption = SocketOption::tcp(libc::TCP_NODELAY);
pub const TCP_INFO: SocketOption = SocketOption::tcp(libc::TCP_INFO);
/// In bytes; the kernel doubles it, for its own structures.
pub const SO_RCVBUFFORCE: SocketOption = SocketOption::socket(libc::SO_RCVBUFFORCE);
/// In bytes per second.
pub const SO_MAX_PACING_RATE: SocketOption = SocketOption::socket(libc::SO_MAX_PACING_RATE);
/// The memory that a socket has taken, and its limits (`SK_MEMINFO_*`): 32-bit words.
pub const SO_MEMINFO: SocketOption = SocketOption::socket(libc::SO_MEMINFO);
pub const SO_REUSEADDR: SocketOption = SocketOption::socket(libc::SO_REUSEADDR);
/// Whether close waits, and for how many seconds: two C ints.
pub const SO_LINGER: SocketOption = SocketOption::socket(libc::SO_LINGER);

impl SocketOption {
    const fn tcp(name: i32) -> SocketOption {
        SocketOption { level: libc::IPPROTO_TCP, name }
    }

    const fn socket(name: i32) -> SocketOption {
        SocketOption { level: libc::SOL_SOCKET, name }
    }

    /// # Errors
    /// The kernel's.
    #[allow(unsafe_code, reason = "options without a safe wrapper; the kernel reads the slice and no more")]
    pub fn set(&self, socket: impl AsFd, value: &[u8]) -> io::Result<()> {
        let (fd, len) = (socket.as_fd().as_raw_fd(), value.len() as libc::socklen_t);
        let done = unsafe { libc::setsockopt(fd, self.level, self.name, value.as_ptr().cast(), len) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Reads into `value`, and returns the length of the kernel's answer.
    ///
    /// # Errors
    /// The kernel's.
    #[allow(unsafe_code, reason = "options without a safe wrapper; the kernel writes the slice and no more")]
    pub fn get(&self, socket: impl AsFd, value: &mut [u8]) -> io::Result<usize> {
        let (fd, mut len) = (socket.as_fd().as_raw_fd(), value.len() as libc::socklen_t);
        let to = value.as_mut_ptr().cast();
        let done = unsafe { libc::getsockopt(fd, self.level, self.name, to, &mut len) };
        if done == 0 { Ok(len as usize) } else { Err(io::Error::last_os_error()) }
    }
}
