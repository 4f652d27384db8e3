//! A policy route that delivers packets with a mark on this host, or sends them out of one device, whatever their
//! destination, in the network namespace of the calling thread.

use super::allow;
use airtcp_kernel::netlink::{LOOPBACK, Netlink};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::errno::Errno;
use std::io;

const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

/// Where packets with the mark go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination {
    Here,
    /// Out of the device with this index.
    Out(u32),
}

/// Adds the route for IPv4 and, if there is IPv6, for IPv6. `mark` is also the number of its table.
///
/// # Errors
/// The kernel's.
pub fn add(mark: u32, destination: Destination) -> io::Result<()> {
    let netlink = Netlink::open()?;
    for family in FAMILIES {
        let (route, rule) = parts(family, mark, destination);
        for part in [RouteNetlinkMessage::NewRoute(route), RouteNetlinkMessage::NewRule(rule)] {
            let changed = netlink.change(part);
            allow(changed, &[Errno::EEXIST, Errno::EAFNOSUPPORT, Errno::EOPNOTSUPP])
                .map_err(|error| explain(error, destination))?;
        }
    }
    Ok(())
}

/// A route's device must be up.
fn explain(error: io::Error, destination: Destination) -> io::Error {
    let is_down = error.raw_os_error() == Some(Errno::ENETDOWN as i32);
    match destination {
        Destination::Here if is_down => {
            io::Error::new(error.kind(), "the loopback interface is down: `ip link set lo up`")
        }
        _ => error,
    }
}

/// Removes the route, as far as it is there. A route out of a device goes with the device.
///
/// # Errors
/// The kernel's.
pub fn remove(mark: u32) -> io::Result<()> {
    let netlink = Netlink::open()?;
    for family in FAMILIES {
        let (route, rule) = parts(family, mark, Destination::Here);
        for part in [RouteNetlinkMessage::DelRule(rule), RouteNetlinkMessage::DelRoute(route)] {
            let gone = [Errno::ENOENT, Errno::ESRCH, Errno::EAFNOSUPPORT, Errno::EOPNOTSUPP];
            allow(netlink.remove(part), &gone)?;
        }
    }
    Ok(())
}

/// The route, and the rule that leads to it.
fn parts(family: AddressFamily, mark: u32, destination: Destination) -> (RouteMessage, RuleMessage) {
    let (scope, kind, device) = match destination {
        Destination::Here => (RouteScope::Host, RouteType::Local, LOOPBACK),
        Destination::Out(device) => (RouteScope::Link, RouteType::Unicast, device),
    };
    let mut route = RouteMessage::default();
    route.header.address_family = family;
    route.header.table = RouteHeader::RT_TABLE_UNSPEC;
    route.header.protocol = RouteProtocol::Static;
    route.header.scope = scope;
    route.header.kind = kind;
    route.attributes = vec![RouteAttribute::Oif(device), RouteAttribute::Table(mark)];
    let mut rule = RuleMessage::default();
    rule.header.family = family;
    rule.header.action = RuleAction::ToTable;
    rule.attributes = vec![RuleAttribute::FwMark(mark), RuleAttribute::Table(mark)];
    (route, rule)
}
