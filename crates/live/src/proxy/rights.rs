//! Limits and rights of a proxy.

use super::config::{Config, Side};
use super::options;
use crate::rights::keep_only;
use caps::Capability;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::net::UdpSocket;
use std::{fs, io, thread};

/// Two sockets, and a pipe in each direction.
const FILES_A_CONNECTION: u64 = 6;
const OTHER_FILES: u64 = 64;

const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// Lets this process open as many files as `connections` need. Returns for how many connections there are enough, at
/// most that many.
///
/// # Errors
/// The kernel's.
pub fn allow_files(connections: usize) -> io::Result<usize> {
    let needed = connections as u64 * FILES_A_CONNECTION + OTHER_FILES;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft >= needed || setrlimit(Resource::RLIMIT_NOFILE, needed, hard.max(needed)).is_ok() {
        return Ok(connections);
    }
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    Ok((hard.saturating_sub(OTHER_FILES) / FILES_A_CONNECTION) as usize)
}

/// Capabilities that serving needs.
///
/// # Errors
/// The kernel's.
pub fn kept(config: &Config) -> io::Result<Vec<Capability>> {
    // To mark sockets, and to use a client's address.
    let mut kept = vec![Capability::CAP_NET_RAW];
    if config.is_transparent() {
        // And a client's port, which may be below 1024.
        kept.push(Capability::CAP_NET_BIND_SERVICE);
    }
    let allowed = fs::read_to_string(ALLOWED)?;
    let is_allowed = |name: &String| allowed.split_whitespace().any(|allowed| allowed == name);
    let wanted = [&config.wireless, &config.wired].map(|tuning| tuning.congestion_control.as_ref());
    if !wanted.into_iter().flatten().all(is_allowed) || !marks_with(&kept)? {
        // Without this, the kernel refuses to choose it, and before Linux 5.17, to mark a socket.
        kept.push(Capability::CAP_NET_ADMIN);
    }
    Ok(kept)
}

/// Returns whether these capabilities are enough to mark a socket.
fn marks_with(kept: &[Capability]) -> io::Result<bool> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let mark = || keep_only(kept).is_ok() && options::mark(&socket, Side::Wireless).is_ok();
    let marked = thread::scope(|scope| scope.spawn(mark).join());
    Ok(marked.unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_kernel::namespace::Namespace;

    #[test]
    fn what_marks_a_socket_is_found_by_marking_one() {
        if Namespace::if_permitted().is_none() {
            return;
        }
        assert!(!marks_with(&[]).unwrap());
        assert!(marks_with(&[Capability::CAP_NET_ADMIN]).unwrap());
    }
}
