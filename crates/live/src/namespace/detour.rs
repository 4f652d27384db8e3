//! Policy routes that lead packets for some prefixes into a device first. What comes out of the device takes the way
//! that it would have taken without it. When the device is gone, all packets take that way at once.

use super::allow;
use crate::emulate::Prefix;
use airtcp_kernel::netlink::Netlink;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::net::IpAddr;

/// Mark of packets that no device is to get: those between the gateways.
pub const PASS_MARK: u32 = 0x4400_0000;
/// The bit of it that no other mark of airtcp has.
const PASS_BIT: u32 = 0x0400_0000;

/// Priorities before the main table's rule, 32766, and behind what an administrator may have put first.
const PASSES: u32 = 30_000;
const ENDS: u32 = 30_001;
const ENTERS: u32 = 30_002;

const MAIN: u32 = RouteHeader::RT_TABLE_MAIN as u32;

/// A detour in the network namespace in which it is made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Detour {
    device: String,
    table: u32,
    prefixes: Vec<Prefix>,
}

impl Detour {
    /// A detour through an existing device.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(device: &str, prefixes: &[Prefix]) -> io::Result<Detour> {
        let table = PASS_MARK | if_nametoindex(device)?;
        Ok(Detour { device: device.to_owned(), table, prefixes: prefixes.to_vec() })
    }

    /// Adds the routes and rules. `source` is the address from which this host sends through the device.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add(&self, source: IpAddr) -> io::Result<()> {
        let netlink = Netlink::open()?;
        for family in self.families() {
            let route = self.route(family, source)?;
            netlink.change(RouteNetlinkMessage::NewRoute(route))?;
        }
        // The rules that lead packets in come last.
        self.rules().into_iter().try_for_each(|rule| netlink.change(RouteNetlinkMessage::NewRule(rule)))
    }

    /// Removes the rules, as far as they are there. The route goes with its device.
    ///
    /// # Errors
    /// The kernel's.
    pub fn remove(&self) -> io::Result<()> {
        let netlink = Netlink::open()?;
        let gone = [Errno::ENOENT, Errno::ESRCH, Errno::EAFNOSUPPORT];
        self.rules()
            .into_iter()
            .rev()
            .try_for_each(|rule| allow(netlink.remove(RouteNetlinkMessage::DelRule(rule)), &gone))
    }

    fn families(&self) -> Vec<AddressFamily> {
        let mut families: Vec<_> = self.prefixes.iter().map(|prefix| family(prefix.address)).collect();
        families.sort_by_key(|family| u8::from(*family));
        families.dedup();
        families
    }

    fn rules(&self) -> Vec<RuleMessage> {
        let device = || RuleAttribute::Iifname(self.device.clone());
        let mut rules = Vec::new();
        for family in self.families() {
            rules.push(rule(family, PASSES, Some(MAIN), vec![device()]));
            // What the main table cannot route must not go round in circles.
            rules.push(rule(family, ENDS, None, vec![device()]));
        }
        for prefix in &self.prefixes {
            let to = RuleAttribute::Destination(prefix.address);
            let unmarked = [RuleAttribute::FwMark(0), RuleAttribute::FwMask(PASS_BIT)];
            let what = [&[to][..], &unmarked].concat();
            let mut rule = rule(family(prefix.address), ENTERS, Some(self.table), what);
            rule.header.dst_len = prefix.len;
            rules.push(rule);
        }
        rules
    }

    fn route(&self, family: AddressFamily, source: IpAddr) -> io::Result<RouteMessage> {
        let mut route = RouteMessage::default();
        route.header.address_family = family;
        route.header.table = RouteHeader::RT_TABLE_UNSPEC;
        route.header.protocol = RouteProtocol::Static;
        route.header.scope = RouteScope::Link;
        route.header.kind = RouteType::Unicast;
        let device = if_nametoindex(self.device.as_str())?;
        route.attributes = vec![RouteAttribute::Oif(device), RouteAttribute::Table(self.table)];
        match (family, source) {
            (AddressFamily::Inet, IpAddr::V4(source)) => {
                route.attributes.push(RouteAttribute::PrefSource(RouteAddress::Inet(source)));
            }
            (AddressFamily::Inet6, IpAddr::V6(source)) => {
                route.attributes.push(RouteAttribute::PrefSource(RouteAddress::Inet6(source)));
            }
            _ => {}
        }
        Ok(route)
    }
}

impl fmt::Display for Detour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "through {}, to", self.device)?;
        self.prefixes.iter().try_for_each(|prefix| write!(f, " {prefix}"))
    }
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

fn rule(
    family: AddressFamily,
    priority: u32,
    table: Option<u32>,
    mut attributes: Vec<RuleAttribute>,
) -> RuleMessage {
    let mut rule = RuleMessage::default();
    rule.header.family = family;
    rule.header.action = if table.is_some() { RuleAction::ToTable } else { RuleAction::Unreachable };
    attributes.push(RuleAttribute::Priority(priority));
    attributes.extend(table.map(RuleAttribute::Table));
    rule.attributes = attributes;
    rule
}
