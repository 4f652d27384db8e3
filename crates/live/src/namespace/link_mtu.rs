use airtcp_kernel::netlink::Netlink;
use nix::net::if_::if_nametoindex;
use std::io;

/// Every IPv6 link carries packets of this many bytes (RFC 8200 §5).
const LEAST_MTU: u16 = 1280;

/// Longest packet in bytes that an interface sends, in the network namespace of the calling thread.
///
/// # Errors
/// There is no such interface; the kernel's.
pub fn link_mtu(interface: &str) -> io::Result<u16> {
    let index = if_nametoindex(interface)
        .map_err(|_| io::Error::new(io::ErrorKind::NotFound, format!("no such interface: {interface}")))?;
    let mtu = Netlink::open()?.link(index)?.mtu();
    Ok(mtu.unwrap_or_default().clamp(LEAST_MTU.into(), u16::MAX.into()) as u16)
}
