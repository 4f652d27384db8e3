//! A route's connections: its attribute `congctl`.

use crate::cc::CcError;
use crate::namespace::NamespaceId;
use crate::netlink::route::{RTA_METRICS, RTA_PRIORITY};
use crate::netlink::{Attributes, Netlink, Route};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

/// linux/rtnetlink.h.
const RTAX_CC_ALGO: u16 = 16;

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
            tos: route.tos(),
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

    fn find(&self) -> Result<Option<Route>, CcError> {
        let is_it = |route: &Route| route.tos() == self.tos && priority(route) == self.priority;
        Ok(routes(&self.prefix)?.into_iter().find(is_it))
    }

    fn replace(&self, route: &Route, name: Option<&str>) -> Result<(), CcError> {
        Netlink::open()
            .and_then(|netlink| netlink.replace(with_controller(route, name)))
            .map_err(CcError::io(format!("change the route to {}", self.prefix)))
    }
}

/// The main table's routes to exactly this prefix.
fn routes(prefix: &Prefix) -> Result<Vec<Route>, CcError> {
    let routes = Netlink::open().and_then(|netlink| netlink.routes());
    let mut routes = routes.map_err(CcError::io("read the routes"))?;
    routes.retain(|route| route.is_of_main_table() && route.destination() == (prefix.address, prefix.len));
    Ok(routes)
}

fn priority(route: &Route) -> u32 {
    route.attributes().number(RTA_PRIORITY).unwrap_or(0)
}

fn metrics(route: &Route) -> Attributes {
    Attributes::new(route.attributes().get(RTA_METRICS).unwrap_or_default().to_vec())
}

fn controller(route: &Route) -> Option<String> {
    // The kernel reports an empty name for a controller that is no longer loaded.
    metrics(route).text(RTAX_CC_ALGO).filter(|name| !name.is_empty())
}

/// The route with another controller, or none.
fn with_controller(route: &Route, name: Option<&str>) -> Route {
    let mut metrics = metrics(route);
    match name {
        Some(name) => metrics.set(RTAX_CC_ALGO, &[name.as_bytes(), &[0]].concat()),
        None => metrics.remove(RTAX_CC_ALGO),
    }
    let mut route = route.clone();
    if metrics.is_empty() {
        route.attributes_mut().remove(RTA_METRICS);
    } else {
        route.attributes_mut().set(RTA_METRICS, metrics.as_bytes());
    }
    route
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::{Message, kind};
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

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

    /// A route with these metrics between attributes that nobody knows.
    fn route(metrics: Vec<u8>) -> Route {
        let mut attributes = Attributes::default();
        attributes.set(0x2abc, b"odd");
        attributes.set(RTA_METRICS, &metrics);
        attributes.set(0x1def, b"behind");
        Route(Message { kind: kind::NEWROUTE, header: vec![0; 12], attributes })
    }

    fn strangers(route: &Route) -> Vec<(u16, &[u8])> {
        route.attributes().iter().filter(|(kind, _)| *kind != RTA_METRICS).collect()
    }

    proptest! {
        #[test]
        fn a_changed_route_keeps_all_else_byte_for_byte(
            others in vec((0u16..0x4000, vec(any::<u8>(), 0..9)), 0..5),
            before in option::of("[a-z_]{1,15}"), after in "[a-z_]{1,15}",
        ) {
            let mut metrics = Attributes::default();
            for (kind, value) in others.into_iter().filter(|(kind, _)| *kind != RTAX_CC_ALGO) {
                metrics.set(kind, &value);
            }
            if let Some(name) = &before {
                metrics.set(RTAX_CC_ALGO, &[name.as_bytes(), &[0]].concat());
            }
            let mut original = route(metrics.as_bytes().to_vec());
            if metrics.is_empty() {
                original.attributes_mut().remove(RTA_METRICS);
            }
            let changed = with_controller(&original, Some(&after));
            prop_assert_eq!(controller(&changed), Some(after));
            prop_assert_eq!(strangers(&changed), strangers(&original));
            let restored = with_controller(&changed, before.as_deref());
            prop_assert_eq!(super::metrics(&restored), super::metrics(&original));
            prop_assert_eq!(controller(&restored), before);
            prop_assert_eq!(strangers(&restored), strangers(&original));
        }

        #[test]
        fn metrics_of_any_bytes_are_no_obstacle(metrics in vec(any::<u8>(), 0..40)) {
            let original = route(metrics);
            let _ = (controller(&original), priority(&original));
            prop_assert_eq!(controller(&with_controller(&original, Some("veno"))), Some("veno".to_owned()));
        }
    }
}
