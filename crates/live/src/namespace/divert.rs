//! A policy route by which what bears a mark is delivered on this host, whatever its destination, in the network namespace
//! of the calling thread.

use airtcp_kernel::netlink::{LOOPBACK, Netlink};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::errno::Errno;
use std::io;

const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

/// Adds it, for IPv4 and, where there is IPv6, for that. `mark` is the number of its table, too.
///
/// # Errors
/// The kernel's.
pub fn add(mark: u32) -> io::Result<()> {
    let netlink = Netlink::open()?;
    for family in FAMILIES {
        let (route, rule) = parts(family, mark);
        for part in [RouteNetlinkMessage::NewRoute(route), RouteNetlinkMessage::NewRule(rule)] {
            allow(netlink.change(part), &[Errno::EEXIST, Errno::EAFNOSUPPORT, Errno::EOPNOTSUPP])?;
        }
    }
    Ok(())
}

/// Takes it back, as far as it is there.
///
/// # Errors
/// The kernel's.
pub fn remove(mark: u32) -> io::Result<()> {
    let netlink = Netlink::open()?;
    for family in FAMILIES {
        let (route, rule) = parts(family, mark);
        for part in [RouteNetlinkMessage::DelRule(rule), RouteNetlinkMessage::DelRoute(route)] {
            let gone = [Errno::ENOENT, Errno::ESRCH, Errno::EAFNOSUPPORT, Errno::EOPNOTSUPP];
            allow(netlink.remove(part), &gone)?;
        }
    }
    Ok(())
}

fn allow(done: io::Result<()>, errors: &[Errno]) -> io::Result<()> {
    match done {
        Err(error) if errors.iter().any(|&allowed| error.raw_os_error() == Some(allowed as i32)) => Ok(()),
        done => done,
    }
}

/// The route, and the rule that leads to it.
fn parts(family: AddressFamily, mark: u32) -> (RouteMessage, RuleMessage) {
    let mut route = RouteMessage::default();
    route.header.address_family = family;
    route.header.table = RouteHeader::RT_TABLE_UNSPEC;
    route.header.protocol = RouteProtocol::Static;
    route.header.scope = RouteScope::Host;
    route.header.kind = RouteType::Local;
    route.attributes = vec![RouteAttribute::Oif(LOOPBACK), RouteAttribute::Table(mark)];
    let mut rule = RuleMessage::default();
    rule.header.family = family;
    rule.header.action = RuleAction::ToTable;
    rule.attributes = vec![RuleAttribute::FwMark(mark), RuleAttribute::Table(mark)];
    (route, rule)
}
