//! The hosts of a run: a network namespace with one device for each node at which a flow begins or ends. Flows whose
//! schemes want different settings have different hosts at the same node.

use super::circuit::{self, GatewayThread, Route};
use super::flows::Flow;
use super::forms::{self, Place, Settings};
use super::loaded::LoadError;
use super::router::{self, Plan, Router};
use super::senders::Senders;
use crate::emulate::{PacketSocket, Port, Prefix};
use crate::namespace::{Namespace, Veth};
use airtcp_kernel::netlink::Netlink;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::net::if_::if_nametoindex;
use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;

/// The subnet of all of them.
const SUBNET: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 77, 0, 0), 16);
const DEVICE: &str = "air0";

pub struct Host {
    pub namespace: Namespace,
    pub address: Ipv4Addr,
    node: u16,
}

/// The hosts, and where the flows' senders and receivers are.
pub struct Hosts {
    /// Where circuits end.
    _gateways: Vec<GatewayThread>,
    pub hosts: Vec<Host>,
    /// Indices of the sender's and the receiver's host, by flow.
    pub of_flow: Vec<[usize; 2]>,
    /// The base station between them, and its ports.
    router: Option<(Router, [Port; 2])>,
}

impl Hosts {
    /// Makes them with their devices, one a host, in the same order, and, where the flows have a base station, a router at
    /// `base_station`, whose two devices come last.
    ///
    /// # Errors
    /// The kernel's, with what it refused.
    pub fn build(flows: &[Flow], base_station: u16) -> Result<(Hosts, Vec<PacketSocket>), LoadError> {
        let mut places: BTreeMap<(u16, &Settings), usize> = BTreeMap::new();
        let mut of_flow = Vec::new();
        for flow in flows {
            let place = |node: u16| (node, &flow.form.settings);
            of_flow.push(flow.nodes.map(|node| {
                let next = places.len();
                *places.entry(place(node)).or_insert(next)
            }));
        }
        let mut wanted: Vec<_> = places.into_iter().map(|(place, index)| (index, place)).collect();
        wanted.sort_by_key(|(index, _)| *index);
        let (mut hosts, mut devices) = (Vec::new(), Vec::new());
        for (index, (node, settings)) in wanted {
            let (host, device) = host(index, node, settings).map_err(LoadError::Host)?;
            hosts.push(host);
            devices.push(device);
        }
        let mut gateways = Vec::new();
        let router = match plan(flows, &hosts, &of_flow, base_station) {
            Some(plan) => {
                gateways = receiving(&plan, &hosts, &of_flow).map_err(LoadError::Host)?;
                let (router, ends) = Router::build(&plan)?;
                devices.extend(ends);
                Some((router, plan.ports()))
            }
            None => None,
        };
        Ok((Hosts { _gateways: gateways, hosts, of_flow, router }, devices))
    }

    /// The emulator's, in the order of the devices.
    pub fn ports(&self) -> Vec<Port> {
        let segment = |node| self.router.as_ref().map_or(0, |(_, ports)| Plan::segment(ports[0].node, node));
        let port = |host: &Host| Port {
            node: host.node,
            prefixes: vec![Prefix { address: host.address.into(), len: 32 }],
            segment: segment(host.node),
        };
        let routers = self.router.iter().flat_map(|(_, ports)| ports.clone());
        self.hosts.iter().map(port).chain(routers).collect()
    }

    /// What our own machine does in the senders' place, if it is there.
    pub fn senders(&self) -> Option<Senders> {
        self.router.as_ref().and_then(|(router, _)| router.senders())
    }

    /// By port: does a packet that passes it there leave or reach an end that counts? Behind our own machine, the senders'
    /// hosts do not: it does.
    pub fn are_ends(&self) -> Vec<bool> {
        let is_own = self.senders().is_some();
        let mut are_ends: Vec<_> =
            self.ports().iter().map(|port| !is_own || port.segment == router::MOBILE).collect();
        if !is_own {
            are_ends[self.hosts.len()..].fill(false);
        }
        are_ends
    }

    /// Do the connections end between the hosts that count?
    pub fn are_split(&self) -> bool {
        self.router.as_ref().is_some_and(|(router, _)| router.splits())
    }

    pub fn sender(&self, flow: usize) -> &Host {
        &self.hosts[self.of_flow[flow][0]]
    }

    pub fn receiver(&self, flow: usize) -> &Host {
        &self.hosts[self.of_flow[flow][1]]
    }
}

/// The router that the flows' scheme asks for.
fn plan<'a>(
    flows: &'a [Flow],
    hosts: &[Host],
    of_flow: &[[usize; 2]],
    base_station: u16,
) -> Option<Plan<'a>> {
    let (first, station) = flows.iter().find_map(|flow| Some((flow, flow.form.station.as_ref()?)))?;
    let node = match station.place() {
        Some(Place::Sender) => first.nodes[0],
        Some(Place::BaseStation) | None => base_station,
    };
    let mut sides = [Vec::new(), Vec::new()];
    for host in hosts {
        sides[usize::from(Plan::segment(node, host.node))].push(host.address);
    }
    let mtu_bytes = flows.iter().map(|flow| flow.form.settings.mtu_bytes).max().unwrap_or_default();
    let served = (0..).zip(flows).filter(|(_, flow)| flow.form.station.is_some() && !flow.is_datagrams);
    let flows =
        served.map(|(flow, _): (usize, _)| Route { flow, to: hosts[of_flow[flow][1]].address }).collect();
    Some(Plan { station, node, settings: &first.form.settings, mtu_bytes, flows, sides })
}

/// The ends of the circuits, if they go through such.
fn receiving(plan: &Plan<'_>, hosts: &[Host], of_flow: &[[usize; 2]]) -> io::Result<Vec<GatewayThread>> {
    let Some(circuit) = plan.station.circuit() else { return Ok(Vec::new()) };
    let host = |route: &Route| &hosts[of_flow[route.flow][1]].namespace;
    plan.flows.iter().map(|route| circuit::receive(host(route), circuit, *route)).collect()
}

fn host(index: usize, node: u16, settings: &Settings) -> io::Result<(Host, PacketSocket)> {
    let namespace = Namespace::new()?;
    // Sockets that outlive the run's process would keep the namespace.
    namespace.sysctl("net.ipv4.tcp_orphan_retries", "1")?;
    for (name, value) in &settings.sysctls {
        namespace.sysctl(name, value)?;
    }
    let address = Ipv4Addr::from_bits(SUBNET.0.to_bits() + index as u32 + 1);
    let veth = Veth { name: DEVICE, address, prefix: 32, mtu: settings.mtu_bytes as u16 };
    let device = veth.make_in(&namespace)?;
    namespace.run(|| add_route(DEVICE, SUBNET, settings.route))??;
    Ok((Host { namespace, address, node }, device))
}

/// Routes a subnet out of a device of this thread's namespace.
pub fn add_route(device: &str, (subnet, prefix): (Ipv4Addr, u8), like: forms::Route) -> io::Result<()> {
    let initcwnd = like.initcwnd.map(RouteMetric::InitCwnd);
    let quickack = like.quickack.then_some(RouteMetric::QuickAck(1));
    let metrics = initcwnd.into_iter().chain(quickack).collect();
    let mut route = RouteMessage::default();
    route.header.address_family = AddressFamily::Inet;
    route.header.destination_prefix_length = prefix;
    route.header.table = RouteHeader::RT_TABLE_MAIN;
    route.header.protocol = RouteProtocol::Static;
    route.header.scope = RouteScope::Link;
    route.header.kind = RouteType::Unicast;
    route.attributes = vec![
        RouteAttribute::Destination(RouteAddress::Inet(subnet)),
        RouteAttribute::Oif(if_nametoindex(device)?),
        RouteAttribute::Metrics(metrics),
    ];
    Netlink::open()?.change(RouteNetlinkMessage::NewRoute(route))
}
