//! A route.

use super::message::{Message, kind};
use super::{Attributes, Netlink};
use netlink_packet_core::NLM_F_DUMP;
use std::io;
use std::net::Ipv4Addr;
use std::ops::Range;

/// Attributes of routes (linux/rtnetlink.h).
const RTA_DST: u16 = 1;
pub const RTA_OIF: u16 = 4;
pub const RTA_GATEWAY: u16 = 5;
pub const RTA_PRIORITY: u16 = 6;
pub const RTA_METRICS: u16 = 8;
pub const RTA_MULTIPATH: u16 = 9;
pub const RTA_VIA: u16 = 18;
pub const RTA_ENCAP_TYPE: u16 = 21;
pub const RTA_ENCAP: u16 = 22;
pub const RTA_NH_ID: u16 = 30;
/// Attributes of next hop objects (linux/nexthop.h).
const NHA_ID: u16 = 1;
const NHA_GROUP: u16 = 2;
const NHA_OIF: u16 = 5;
/// Bytes of struct nexthop_grp, which begins with an object's number.
const MEMBER: usize = 8;

const RT_TABLE_MAIN: u8 = 254;
/// Bytes of struct rtmsg and of struct nhmsg.
const HEADER: usize = 12;
const OBJECT_HEADER: usize = 8;
/// Offsets of fields in struct rtmsg.
const DST_LEN: usize = 1;
const TOS: usize = 3;
const TABLE: usize = 4;
const FLAGS: Range<usize> = 8..12;
/// Bytes of struct rtnexthop without its attributes, and offsets of fields. It begins with its length.
const HOP: usize = 8;
const HOP_FLAGS: usize = 2;
const HOP_INDEX: usize = 4;
/// The flag of a route that a request sets. Others report the route's state.
const RTNH_F_ONLINK: u32 = 4;

/// An IPv4 route, which is written back as it was read, but for what is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route(pub(crate) Message);

impl Route {
    #[must_use]
    pub fn is_of_main_table(&self) -> bool {
        self.0.header[TABLE] == RT_TABLE_MAIN
    }

    /// The destination's prefix: its address and its length.
    #[must_use]
    pub fn destination(&self) -> (Ipv4Addr, u8) {
        let address = self.0.attributes.get(RTA_DST).and_then(|bytes| bytes.first_chunk::<4>());
        (address.copied().unwrap_or_default().into(), self.0.header[DST_LEN])
    }

    #[must_use]
    pub fn tos(&self) -> u8 {
        self.0.header[TOS]
    }

    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        &self.0.attributes
    }

    pub fn attributes_mut(&mut self) -> &mut Attributes {
        &mut self.0.attributes
    }

    /// Makes a request of what the kernel has reported: without flags about the state of the route and of its next
    /// hops, such as that a link is down, and without the parts of a next hop object. The kernel reports them beside the
    /// object, but accepts only one of the two.
    pub fn ask_for(&mut self) {
        let flags = &mut self.0.header[FLAGS];
        let asked = u32::from_ne_bytes([flags[0], flags[1], flags[2], flags[3]]) & RTNH_F_ONLINK;
        flags.copy_from_slice(&asked.to_ne_bytes());
        let attributes = &mut self.0.attributes;
        if attributes.get(RTA_NH_ID).is_some() {
            for part in [RTA_OIF, RTA_GATEWAY, RTA_MULTIPATH, RTA_VIA, RTA_ENCAP_TYPE, RTA_ENCAP] {
                attributes.remove(part);
            }
        }
        if let Some(hops) = attributes.get(RTA_MULTIPATH) {
            let mut asked = hops.to_vec();
            for hop in hop_starts(hops) {
                asked[hop + HOP_FLAGS] &= RTNH_F_ONLINK as u8;
            }
            attributes.set(RTA_MULTIPATH, &asked);
        }
    }

    /// Indices of the links of the route itself and of its next hops.
    fn links(&self) -> Vec<u32> {
        let hops = self.0.attributes.get(RTA_MULTIPATH).unwrap_or_default();
        let index =
            |hop: usize| hops[hop + HOP_INDEX..].first_chunk().map(|index| u32::from_ne_bytes(*index));
        self.0.attributes.number(RTA_OIF).into_iter().chain(hop_starts(hops).filter_map(index)).collect()
    }
}

impl Netlink {
    /// All IPv4 routes, without those of the routing cache.
    ///
    /// # Errors
    /// The kernel's.
    pub fn routes(&self) -> io::Result<Vec<Route>> {
        let mut header = vec![0; HEADER];
        header[0] = libc::AF_INET as u8;
        let all = Message { kind: kind::GETROUTE, header, attributes: Attributes::default() };
        let answers = self.ask(all, NLM_F_DUMP)?;
        Ok(answers.into_iter().filter(|answer| answer.kind == kind::NEWROUTE).map(Route).collect())
    }

    /// Indices of the links that a route leads to.
    ///
    /// # Errors
    /// The kernel's.
    pub fn links_of(&self, route: &Route) -> io::Result<Vec<u32>> {
        match (route.links(), route.0.attributes.number(RTA_NH_ID)) {
            // With net.ipv4.nexthop_compat_mode=0 the kernel names only the object.
            (links, Some(object)) if links.is_empty() => self.links_of_object(object),
            (links, _) => Ok(links),
        }
    }

    /// Groups consist of objects that are none.
    fn links_of_object(&self, number: u32) -> io::Result<Vec<u32>> {
        let object = self.object(number)?;
        let members = object.get(NHA_GROUP).unwrap_or_default().chunks_exact(MEMBER);
        let mut links: Vec<u32> = object.number(NHA_OIF).into_iter().collect();
        for member in members {
            let number = u32::from_ne_bytes([member[0], member[1], member[2], member[3]]);
            links.extend(self.object(number)?.number(NHA_OIF));
        }
        Ok(links)
    }

    fn object(&self, number: u32) -> io::Result<Attributes> {
        let mut attributes = Attributes::default();
        attributes.set(NHA_ID, &number.to_ne_bytes());
        let request = Message { kind: kind::GETNEXTHOP, header: vec![0; OBJECT_HEADER], attributes };
        let mut answers = self.ask(request, netlink_packet_core::NLM_F_ACK)?.into_iter();
        let object = answers.find(|answer| answer.kind == kind::NEWNEXTHOP);
        Ok(object.map(|object| object.attributes).unwrap_or_default())
    }
}

/// Offsets of the next hops in RTA_MULTIPATH.
fn hop_starts(hops: &[u8]) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, hop) = (at, hops.get(at..).filter(|rest| rest.len() >= HOP)?);
        at += usize::from(u16::from_ne_bytes([hop[0], hop[1]])).next_multiple_of(4).max(HOP);
        Some(start)
    })
}

#[cfg(test)]
mod tests {
    use super::super::message::gather;
    use super::super::message::tests::{datagram, odd};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No view of a route panics, and asking twice is asking once.
        #[test]
        fn any_route_can_be_read_and_asked_for(
            message in odd(kind::NEWROUTE), hops in proptest::collection::vec(any::<u8>(), 0..60), cut in 0usize..40,
        ) {
            let mut message = message;
            message.attributes.set(RTA_MULTIPATH, &hops);
            let mut bytes = message.attributes.as_bytes().to_vec();
            bytes.truncate(bytes.len().saturating_sub(cut));
            message.attributes = Attributes::new(bytes);
            let mut route = Route(message);
            let _ = (route.destination(), route.tos(), route.links(), route.is_of_main_table());
            route.ask_for();
            let asked = route.clone();
            route.ask_for();
            prop_assert_eq!(route, asked);
        }

        /// What a request does not concern reaches the kernel byte for byte.
        #[test]
        fn what_nobody_knows_is_carried_along(message in odd(kind::NEWROUTE)) {
            let parts = [RTA_OIF, RTA_GATEWAY, RTA_MULTIPATH, RTA_VIA, RTA_ENCAP_TYPE, RTA_ENCAP];
            let unknown = |message: &Message| -> Vec<(u16, Vec<u8>)> {
                let found = message.attributes.iter().filter(|(kind, _)| !parts.contains(kind));
                found.map(|(kind, value)| (kind, value.to_vec())).collect()
            };
            let mut route = Route(message.clone());
            route.ask_for();
            let mut told = Vec::new();
            gather(&datagram(&[route.0]), &mut told).unwrap();
            prop_assert_eq!(unknown(&told[0]), unknown(&message));
            prop_assert_eq!(&told[0].header[..FLAGS.start], &message.header[..FLAGS.start]);
        }
    }
}
