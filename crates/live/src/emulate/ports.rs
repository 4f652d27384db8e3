//! Where packets enter and leave the path.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// The place of a device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Port {
    /// In a chain, node 0 is in front of the first link, node n behind the n-th.
    pub node: u16,
    /// Addresses that are reached through it. With two ports, they do not matter.
    pub prefixes: Vec<Prefix>,
    /// Only ports of the same segment reach each other: a router has a port in each of two segments.
    pub segment: u16,
}

/// A range of IP addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Prefix {
    pub address: IpAddr,
    pub len: u8,
}

impl Port {
    pub fn at(node: u16) -> Port {
        Port { node, ..Port::default() }
    }
}

impl Prefix {
    /// The host, if the prefix is a single one.
    pub fn host(&self) -> Option<IpAddr> {
        let longest = if self.address.is_ipv4() { 32 } else { 128 };
        (self.len == longest).then_some(self.address)
    }

    pub fn covers(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                u32::from(own) ^ u32::from(other) <= u32::MAX.checked_shr(self.len.into()).unwrap_or(0)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                u128::from(own) ^ u128::from(other) <= u128::MAX.checked_shr(self.len.into()).unwrap_or(0)
            }
            _ => false,
        }
    }
}

/// The notation of `ip route`: 10.1.0.0/16, 2001:db8::/32, 10.1.2.3.
impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Prefix, String> {
        let (address, len) = text.split_once('/').map_or((text, None), |(address, len)| (address, Some(len)));
        let address: IpAddr = address.parse().map_err(|_| "write for example 10.1.0.0/16".to_owned())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let len = len.map_or(Some(most), |len| len.parse().ok().filter(|len| *len <= most));
        let prefix = Prefix { address, len: len.ok_or(format!("the prefix length must be 0 to {most}"))? };
        let is_first = match address {
            IpAddr::V4(v4) => v4.to_bits() & u32::MAX.checked_shr(prefix.len.into()).unwrap_or(0) == 0,
            IpAddr::V6(v6) => v6.to_bits() & u128::MAX.checked_shr(prefix.len.into()).unwrap_or(0) == 0,
        };
        is_first.then_some(prefix).ok_or("the address has bits set beyond the prefix length".to_owned())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}

/// The port at which a packet leaves that came in at `from`. Of two ports, it is the other one; else the one of the
/// same segment whose prefix covers the destination. `None` if no port reaches it.
pub fn way_out(ports: &[Port], from: usize, destination: Option<IpAddr>) -> Option<usize> {
    if ports.len() == 2 {
        return Some(1 - from);
    }
    let destination = destination?;
    let reaches = |port: &Port| port.prefixes.iter().any(|prefix| prefix.covers(destination));
    let segment = ports[from].segment;
    let way = ports.iter().position(|port| port.segment == segment && reaches(port));
    way.filter(|&port| port != from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_written_as_ip_route_does() {
        for text in ["10.1.0.0/16", "0.0.0.0/0", "2001:db8::/32", "10.1.2.3/32", "::/0"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        assert_eq!("10.1.2.3".parse(), "10.1.2.3/32".parse::<Prefix>());
        for text in ["", "10.1", "10.1.0.0/33", "10.1.0.1/16", "fd00::1/8", "fd00::/129", "10.0.0.0/-1"] {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
    }

    #[test]
    fn prefixes_cover_what_begins_alike() {
        let covers = |prefix: &str, len, address: &str| {
            Prefix { address: prefix.parse().unwrap(), len }.covers(address.parse().unwrap())
        };
        assert!(covers("10.1.2.0", 24, "10.1.2.255"));
        assert!(!covers("10.1.2.0", 24, "10.1.3.0"));
        assert!(covers("10.1.2.3", 32, "10.1.2.3"));
        assert!(!covers("10.1.2.3", 32, "10.1.2.2"));
        assert!(covers("0.0.0.0", 0, "192.0.2.1"));
        assert!(covers("fd00:1::", 64, "fd00:1::9"));
        assert!(!covers("fd00:1::", 64, "fd00:2::9"));
        assert!(!covers("::", 0, "10.0.0.1"));
    }

    #[test]
    fn of_three_ports_the_destination_tells_which() {
        let port = |net: u8| Port {
            prefixes: vec![Prefix { address: [10, net, 0, 0].into(), len: 16 }],
            ..Port::default()
        };
        let ports = [port(0), port(1), port(2)];
        let to = |from, net: u8| way_out(&ports, from, Some([10, net, 9, 9].into()));
        assert_eq!((to(0, 1), to(0, 2), to(2, 0)), (Some(1), Some(2), Some(0)));
        assert_eq!((to(0, 0), to(0, 7), way_out(&ports, 0, None)), (None, None, None));
    }

    /// Host 0, a router's ports 1 and 2, and host 3.
    #[test]
    fn a_router_stands_between_two_segments() {
        let port = |net: u8, segment| Port {
            prefixes: vec![Prefix { address: [10, net, 0, 0].into(), len: 16 }],
            segment,
            ..Port::default()
        };
        let ports = [port(0, 0), port(3, 0), port(0, 1), port(3, 1)];
        let to = |from, net: u8| way_out(&ports, from, Some([10, net, 9, 9].into()));
        assert_eq!([to(0, 3), to(2, 3), to(3, 0), to(1, 0)], [Some(1), Some(3), Some(2), Some(0)]);
    }
}
