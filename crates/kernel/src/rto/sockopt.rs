//! Socket options that `nix` lacks.

use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};

/// linux/tcp.h, since Linux 6.15.
const TCP_RTO_MAX_MS: libc::c_int = 44;
/// asm-generic/socket.h, since Linux 5.14.
const SO_NETNS_COOKIE: libc::c_int = 71;

sockopt_impl!(RtoMaxMs, Both, libc::IPPROTO_TCP, TCP_RTO_MAX_MS, u32);
sockopt_impl!(NetnsCookie, GetOnly, libc::SOL_SOCKET, SO_NETNS_COOKIE, u64);
