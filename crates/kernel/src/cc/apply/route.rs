//! A route's connections: its attribute `congctl`.

use super::route_message::{self, RouteMessage};
use crate::cc::CcError;
use crate::namespace::NamespaceId;
use netlink_packet_core::{DefaultNla, Nla};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

/// linux/rtnetlink.h.
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_METRICS: u16 = 8;
const RTA_MULTIPATH: u16 = 9;
const RTA_VIA: u16 = 18;
const RTA_NH_ID: u16 = 30;
const RTAX_CC_ALGO: u16 = 16;
const RT_TABLE_MAIN: u8 = 254;
/// Offsets of fields in struct rtmsg.
const DST_LEN: usize = 1;
const TOS: usize = 3;
const TABLE: usize = 4;
const FLAGS: std::ops::Range<usize> = 8..12;
/// Bytes of struct rtnexthop without its attributes, and the offset of its flags. It begins with its length.
const HOP_BYTES: usize = 8;
const HOP_FLAGS: usize = 2;
/// The flag of a route that a request sets. Others report the route's state.
const RTNH_F_ONLINK: u32 = 4;

/// An IPv4 prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prefix {
    pub address: Ipv4Addr,
    pub len: u8,
}

impl FromStr for Prefix {
    type Err = CcError;

    /// The notation of `ip route`: 10.1.0.0/16, 10.1.2.3, default.
    fn from_str(text: &str) -> Result<Prefix, CcError> {
        let refuse = |why| CcError::Prefix(text.to_owned(), why);
        if text == "default" {
            return Ok(Prefix { address: Ipv4Addr::UNSPECIFIED, len: 0 });
        }
        let (address, len) = text.split_once('/').unwrap_or((text, "32"));
        let address = match address.parse() {
            Ok(IpAddr::V4(address)) => address,
            Ok(IpAddr::V6(_)) => return Err(refuse(": for IPv6 connections use --cgroup")),
            Err(_) => return Err(refuse("")),
        };
        let len: u8 = len
            .parse()
            .ok()
            .filter(|len| *len <= 32)
            .ok_or_else(|| refuse(": the prefix length must be 0 to 32"))?;
        let host_bits = u32::MAX.checked_shr(len.into()).unwrap_or(0);
        match address.to_bits() & host_bits {
            0 => Ok(Prefix { address, len }),
            _ => Err(refuse(": the address has bits set beyond the prefix length")),
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len {
            0 => f.write_str("default"),
            len => write!(f, "{}/{len}", self.address),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnRoute {
    namespace: NamespaceId,
    pub prefix: Prefix,
    /// Two routes to a prefix differ in at least one of these.
    tos: u8,
    priority: u32,
    /// The controller that it had before.
    previous: Option<String>,
}

impl OnRoute {
    /// One for each route to the prefix.
    pub(super) fn plan(prefix: &Prefix) -> Result<Vec<OnRoute>, CcError> {
        let namespace = NamespaceId::current()?;
        let routes = routes(prefix)?.into_iter().map(|route| OnRoute {
            namespace,
            prefix: *prefix,
            tos: route.header[TOS],
            priority: priority(&route),
            previous: controller(&route),
        });
        let routes: Vec<_> = routes.collect();
        if routes.is_empty() { Err(CcError::NoRoute(prefix.to_string())) } else { Ok(routes) }
    }

    pub(super) fn is_same_route(&self, other: &OnRoute) -> bool {
        (self.namespace, self.prefix, self.tos, self.priority)
            == (other.namespace, other.prefix, other.tos, other.priority)
    }

    pub(super) fn apply(&self, name: &str) -> Result<(), CcError> {
        match self.find()? {
            Some(route) => self.replace(&route, Some(name)),
            None => Err(CcError::NoRoute(self.prefix.to_string())),
        }
    }

    pub(super) fn undo(&self, name: &str) -> Result<bool, CcError> {
        let undone = self.namespace.within(|| {
            let ours = self.find()?.filter(|route| controller(route).as_deref() == Some(name));
            let Some(route) = ours else { return Ok(false) };
            self.replace(&route, self.previous.as_deref()).map(|()| true)
        });
        undone.map(Option::unwrap_or_default)
    }

    fn find(&self) -> Result<Option<RouteMessage>, CcError> {
        let is_it = |route: &RouteMessage| route.header[TOS] == self.tos && priority(route) == self.priority;
        Ok(routes(&self.prefix)?.into_iter().find(is_it))
    }

    fn replace(&self, route: &RouteMessage, name: Option<&str>) -> Result<(), CcError> {
        route_message::replace(&with_controller(route, name))
            .map_err(CcError::io(format!("change the route to {}", self.prefix)))
    }
}

/// The main table's routes to exactly this prefix.
fn routes(prefix: &Prefix) -> Result<Vec<RouteMessage>, CcError> {
    let mut routes = route_message::routes().map_err(CcError::io("read the routes"))?;
    routes.retain(|route| {
        let address = route.attribute(RTA_DST).unwrap_or_else(|| vec![0; 4]);
        route.header[TABLE] == RT_TABLE_MAIN
            && route.header[DST_LEN] == prefix.len
            && address == prefix.address.octets()
    });
    Ok(routes)
}

fn priority(route: &RouteMessage) -> u32 {
    let value = route.attribute(RTA_PRIORITY).and_then(|value| value.try_into().ok());
    value.map_or(0, u32::from_ne_bytes)
}

fn metrics(route: &RouteMessage) -> Vec<DefaultNla> {
    route.attribute(RTA_METRICS).map(|bytes| route_message::attributes(&bytes)).unwrap_or_default()
}

fn controller(route: &RouteMessage) -> Option<String> {
    let name = route_message::value(metrics(route).iter().find(|metric| metric.kind() == RTAX_CC_ALGO)?);
    let text = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
    // The kernel reports an empty name for a controller that is no longer loaded.
    (!text.is_empty()).then_some(text)
}

/// The route as a request, with another controller, or none.
fn with_controller(route: &RouteMessage, name: Option<&str>) -> RouteMessage {
    let mut metrics = metrics(route);
    metrics.retain(|metric| metric.kind() != RTAX_CC_ALGO);
    metrics.extend(name.map(|name| DefaultNla::new(RTAX_CC_ALGO, [name.as_bytes(), &[0]].concat())));
    let mut route = route.clone();
    route.attributes.retain(|attribute| attribute.kind() != RTA_METRICS);
    if !metrics.is_empty() {
        route.attributes.push(DefaultNla::new(RTA_METRICS, route_message::to_bytes(&metrics)));
    }
    // The kernel reports a next hop object together with its parts, but accepts only one of them.
    if route.attribute(RTA_NH_ID).is_some() {
        let parts = [RTA_OIF, RTA_GATEWAY, RTA_MULTIPATH, RTA_VIA];
        route.attributes.retain(|attribute| !parts.contains(&attribute.kind()));
    }
    let flags = &mut route.header[FLAGS];
    let asked = u32::from_ne_bytes([flags[0], flags[1], flags[2], flags[3]]) & RTNH_F_ONLINK;
    flags.copy_from_slice(&asked.to_ne_bytes());
    for attribute in route.attributes.iter_mut().filter(|attribute| attribute.kind() == RTA_MULTIPATH) {
        *attribute = DefaultNla::new(RTA_MULTIPATH, as_asked(route_message::value(attribute)));
    }
    route
}

/// The next hops of RTA_MULTIPATH without flags about their state, such as that a link is down.
fn as_asked(mut hops: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while let Some(hop) = hops.get_mut(at..).filter(|rest| rest.len() >= HOP_BYTES) {
        hop[HOP_FLAGS] &= RTNH_F_ONLINK as u8;
        let len = usize::from(u16::from_ne_bytes([hop[0], hop[1]]));
        at += len.next_multiple_of(4).max(HOP_BYTES);
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        text.parse::<Prefix>().unwrap_err().to_string()
    }

    #[test]
    fn prefixes_are_written_as_ip_route_does() {
        for text in ["default", "10.0.0.0/8", "10.1.2.3/32"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        assert_eq!("10.1.2.3".parse::<Prefix>().unwrap().len, 32);
        assert_eq!("0.0.0.0/0".parse::<Prefix>().unwrap().to_string(), "default");
    }

    #[test]
    fn other_prefixes_are_refused_with_the_reason() {
        assert!(message("fd00::/8").contains("--cgroup"));
        assert!(message("10.1.2.3/8").contains("beyond the prefix length"));
        assert!(message("10.0.0.0/33").contains("0 to 32"));
        assert!(message("somewhere").contains("not an IPv4 prefix"));
    }

    #[test]
    fn a_changed_route_keeps_its_other_metrics() {
        let mtu = DefaultNla::new(2, 1400u32.to_ne_bytes().to_vec());
        let attributes = vec![DefaultNla::new(RTA_METRICS, route_message::to_bytes(&[mtu]))];
        let route = RouteMessage { header: [0; 12], attributes };
        let changed = with_controller(&route, Some("veno"));
        assert_eq!(controller(&changed).as_deref(), Some("veno"));
        assert_eq!(metrics(&changed).len(), 2);
        let restored = with_controller(&changed, None);
        assert_eq!((controller(&restored), metrics(&restored).len()), (None, 1));
    }
}
