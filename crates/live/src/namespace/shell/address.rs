//! Unused addresses for the two ends of a link.

use airtcp_kernel::netlink::Netlink;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

/// RFC 6598 §7: 100.64.0.0/10 is not routed globally. Unlike the addresses of RFC 1918, it is not used by homes,
/// offices and their tunnels.
const SHARED_SPACE: RangeInclusive<u32> = 0x6440_0000..=0x647f_ffff;

/// Addresses in a block: the network's, the two ends', and the broadcast address.
const BLOCK: u32 = 4;

/// Length of a block's prefix in bits, in IPv4 and in IPv6.
pub const PREFIX: u8 = 30;
pub const PREFIX_V6: u8 = 126;

/// A block of unused addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block(u32);

impl Block {
    /// Finds a block in the network namespace of the calling thread.
    ///
    /// # Errors
    /// The kernel's; address in use if there is no block left.
    pub fn unused() -> io::Result<Block> {
        let left = "no four unused addresses in 100.64.0.0/10: every block of it is already routed";
        first_unused(&used()?).ok_or_else(|| io::Error::new(io::ErrorKind::AddrInUse, left))
    }

    /// Address of the end in the namespace of the link's creator.
    pub fn far(self) -> Ipv4Addr {
        Ipv4Addr::from(self.0 + 1)
    }

    /// Address of the end behind the link, where the command runs.
    pub fn near(self) -> Ipv4Addr {
        Ipv4Addr::from(self.0 + 2)
    }
}

/// A unique local address (RFC 4193 §3) that ends in an IPv4 address of a block, and is as unused as that.
pub fn v6(address: Ipv4Addr) -> Ipv6Addr {
    let [high, low] = [(address.to_bits() >> 16) as u16, address.to_bits() as u16];
    Ipv6Addr::new(0xfd61, 0x6972, 0x7463, 0x7000, 0, 0, high, low)
}

/// The first block behind all that is in use, so that links within links do not collide; else the last one between.
fn first_unused(used: &[RangeInclusive<u32>]) -> Option<Block> {
    let (first, last) = (*SHARED_SPACE.start(), *SHARED_SPACE.end());
    let within = used.iter().filter(|range| *range.start() <= last && *range.end() >= first);
    let mut starts: Vec<u32> = within.map(|range| after(*range.end())).chain([first]).collect();
    starts.sort_unstable();
    let is_unused = |start: u32| {
        let end = start.saturating_add(BLOCK - 1);
        start >= first && end <= last && used.iter().all(|range| *range.end() < start || *range.start() > end)
    };
    starts.into_iter().rev().find(|&start| is_unused(start)).map(Block)
}

/// Start of the next block.
fn after(address: u32) -> u32 {
    (address | (BLOCK - 1)).saturating_add(1)
}

/// Destinations of all routes but default routes, and addresses of the interfaces.
fn used() -> io::Result<Vec<RangeInclusive<u32>>> {
    let netlink = Netlink::open()?;
    let routes = netlink.routes()?.into_iter().map(|route| route.destination());
    let addresses = netlink.addresses()?.into_iter().map(|address| (address, 32));
    let is_no_default = |(_, len): &(Ipv4Addr, u8)| *len > 0;
    Ok(routes.chain(addresses).filter(is_no_default).map(range).collect())
}

fn range((address, len): (Ipv4Addr, u8)) -> RangeInclusive<u32> {
    let host = u32::MAX.checked_shr(len.into()).unwrap_or(0);
    let first = u32::from(address) & !host;
    first..=first | host
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(prefix: &str) -> RangeInclusive<u32> {
        let (address, len) = prefix.split_once('/').unwrap();
        let first = u32::from(address.parse::<Ipv4Addr>().unwrap());
        first..=first | u32::MAX.checked_shr(len.parse().unwrap()).unwrap_or(0)
    }

    fn far(prefixes: &[&str]) -> Option<String> {
        let used: Vec<_> = prefixes.iter().map(|prefix| used(prefix)).collect();
        first_unused(&used).map(|block| block.far().to_string())
    }

    #[test]
    fn behind_all_that_is_in_use() {
        assert_eq!(far(&[]).unwrap(), "100.64.0.1");
        assert_eq!(far(&["10.0.0.0/8", "192.168.0.0/16", "127.0.0.0/8"]).unwrap(), "100.64.0.1");
        assert_eq!(far(&["100.64.0.4/30"]).unwrap(), "100.64.0.9");
        assert_eq!(far(&["100.101.3.9/32", "100.64.0.0/30"]).unwrap(), "100.101.3.13");
        assert_eq!(far(&["100.64.0.0/16"]).unwrap(), "100.65.0.1");
    }

    #[test]
    fn between_when_the_end_is_in_use_and_none_when_all_is() {
        assert_eq!(far(&["100.127.0.0/16"]).unwrap(), "100.64.0.1");
        assert_eq!(far(&["100.64.0.0/10"]), None);
        assert_eq!(far(&["0.0.0.0/1"]), None);
    }

    #[test]
    fn the_ends_are_of_one_block() {
        let block = first_unused(&[]).unwrap();
        assert_eq!((u32::from(block.far()) / BLOCK, u32::from(block.near()) % BLOCK), (block.0 / BLOCK, 2));
    }
}
