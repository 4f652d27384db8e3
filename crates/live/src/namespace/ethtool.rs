//! Features of a network interface, as `ethtool -K` sets them.

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// linux/ethtool.h, linux/sockios.h.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_FEATURES: u32 = 4;
const NAME_LEN: usize = 32;
/// More than any kernel has.
const FEATURES_MAX: u32 = 1024;

/// Turns a feature of an interface of this thread's network namespace off. Returns whether there is such a feature.
///
/// # Errors
/// The kernel's: without CAP_NET_ADMIN, operation not permitted.
pub fn turn_off(interface: &str, feature: &str) -> io::Result<bool> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let names = names(&socket, interface)?;
    let Some(at) = names.iter().position(|name| name == feature) else { return Ok(false) };
    let blocks = names.len().div_ceil(32);
    // For each block of 32 features: which to change, and which of these to turn on.
    let mut request = vec![0; 2 + 2 * blocks];
    (request[0], request[1]) = (ETHTOOL_SFEATURES, blocks as u32);
    request[2 + 2 * (at / 32)] = 1 << (at % 32);
    ask(&socket, interface, &mut request)?;
    Ok(true)
}

/// All features, in the kernel's order.
fn names(socket: &OwnedFd, interface: &str) -> io::Result<Vec<String>> {
    // The command, a reserved word, the mask of sets in two words, and the number of strings.
    let mut size = vec![ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0, 0];
    ask(socket, interface, &mut size)?;
    let count = size[4].min(FEATURES_MAX);
    let mut strings = vec![0; 3 + count as usize * NAME_LEN / 4];
    strings[..3].copy_from_slice(&[ETHTOOL_GSTRINGS, ETH_SS_FEATURES, count]);
    ask(socket, interface, &mut strings)?;
    let bytes: Vec<u8> = strings[3..].iter().flat_map(|word| word.to_ne_bytes()).collect();
    let name = |name: &[u8]| {
        String::from_utf8_lossy(name.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
    };
    Ok(bytes.chunks(NAME_LEN).map(name).collect())
}

/// Hands the kernel a request, which it may answer in the same place.
#[allow(unsafe_code, reason = "ioctl(2) with structures of ethtool's interface")]
fn ask(socket: &OwnedFd, interface: &str, request: &mut [u32]) -> io::Result<()> {
    // SAFETY: all zero is a request without a name.
    let mut to: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in to.ifr_name.iter_mut().zip(interface.bytes().take(libc::IFNAMSIZ - 1)) {
        *place = byte as libc::c_char;
    }
    to.ifr_ifru.ifru_data = request.as_mut_ptr().cast();
    // SAFETY: the request is as long as its command and its counts say.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut to) };
    if done >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Namespace;

    #[test]
    fn features_are_found_by_name() {
        let Some(namespace) = Namespace::if_permitted() else { return };
        let off = |feature| namespace.run(move || turn_off("lo", feature)).unwrap();
        assert!(off("tx-tcp-segmentation").unwrap());
        assert!(!off("no-such-feature").unwrap());
        let missing = namespace.run(|| turn_off("airtcp-none", "tx-tcp-segmentation")).unwrap();
        assert_eq!(missing.unwrap_err().raw_os_error(), Some(libc::ENODEV));
    }
}
