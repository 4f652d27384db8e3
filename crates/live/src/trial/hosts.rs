//! The hosts of a run: a network namespace with one device for each node at which a flow begins or ends. Flows whose
//! schemes need different settings, or that pass different routers, have different hosts at the same node.

use super::application::port_of;
use super::books::Books;
use super::circuit::{self, GatewayThread, Route};
use super::flows::Flow;
use super::forms::{self, ProxySite, Settings};
use super::layout::{Layout, Role};
use super::loaded::LoadError;
use super::relays::Served;
use super::router::{Gateway, Plan, Router, Work};
use super::senders::Senders;
use super::trunks::Trunk;
use crate::emulate::{PacketSocket, Port, Prefix};
use crate::namespace::{Namespace, Veth};
use airtcp_kernel::netlink::Netlink;
use airtcp_sim::scenario::Scenario;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::net::if_::if_nametoindex;
use std::collections::BTreeSet;
use std::io;
use std::net::Ipv4Addr;

/// Subnet of all hosts, and of the routers within it.
const SUBNET: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 77, 0, 0), 16);
const ROUTERS: u32 = 0xf000;
const DEVICE: &str = "air0";

pub struct Host {
    pub namespace: Namespace,
    pub address: Ipv4Addr,
}

/// The hosts, and where the flows' senders and receivers are.
pub struct Hosts {
    /// Receiving gateways of circuits that carry one flow.
    _gateways: Vec<GatewayThread>,
    hosts: Vec<Host>,
    /// Indices of the sender's and the receiver's host, by flow.
    of_flow: Vec<[usize; 2]>,
    _routers: Vec<Router>,
    /// The emulator's ports, in the order of the devices.
    pub ports: Vec<Port>,
    /// By port.
    pub addresses: Vec<Ipv4Addr>,
    /// For each port, whether a packet that enters or leaves there is at an end that counts. If our own machine
    /// sends, that is where it is, and not the sender's host.
    pub are_ends: Vec<bool>,
    /// Whether connections end between the hosts that count.
    pub are_split: bool,
    /// Our own machine's senders, which take the place of the applications'.
    pub senders: Senders,
}

impl Hosts {
    /// Makes the hosts with one device each, in the same order. Then come the routers between them, with two devices
    /// each: those that serve flows, and the ends of the `trunks`. Circuits report to `books`.
    ///
    /// # Errors
    /// The kernel's, with what it refused.
    ///
    /// # Panics
    /// If the flows have no layout: see [`super::plan`].
    pub fn build(
        scenario: &Scenario,
        flows: &[Flow],
        trunks: &[Trunk],
        books: &Books,
    ) -> Result<(Hosts, Vec<PacketSocket>), LoadError> {
        let layout = Layout::new(scenario, flows, trunks).expect("layouts are planned before they stand");
        let (mut hosts, mut devices) = (Vec::new(), Vec::new());
        for (index, site) in layout.hosts.iter().enumerate() {
            let (host, device) = host(index, site.settings).map_err(LoadError::Host)?;
            hosts.push(host);
            devices.push(device);
        }
        let ends = Ends { flows, hosts: &hosts, layout: &layout, trunks };
        let senders = Senders::default();
        let (mut gateways, mut routers) = (Vec::new(), Vec::new());
        for number in 0..layout.routers.len() {
            let plan = ends.plan(number);
            gateways.extend(ends.receiving(&plan).map_err(LoadError::Host)?);
            let (router, both) = Router::build(&plan, books, &senders)?;
            devices.extend(both);
            routers.push(router);
        }
        let all = 0..devices.len();
        let hosts = Hosts {
            ports: all.clone().map(|port| ends.port(port)).collect(),
            addresses: all.clone().map(|port| ends.address(port)).collect(),
            are_ends: all.map(|port| ends.is_end(port)).collect(),
            are_split: flows.iter().any(|flow| flow.proxy_site() == Some(ProxySite::BaseStation)),
            of_flow: layout.of_flow,
            _gateways: gateways,
            _routers: routers,
            hosts,
            senders,
        };
        Ok((hosts, devices))
    }

    pub fn sender(&self, flow: usize) -> &Host {
        &self.hosts[self.of_flow[flow][0]]
    }

    pub fn receiver(&self, flow: usize) -> &Host {
        &self.hosts[self.of_flow[flow][1]]
    }
}

/// The hosts, and what stands between them.
struct Ends<'a> {
    flows: &'a [Flow],
    hosts: &'a [Host],
    layout: &'a Layout<'a>,
    trunks: &'a [Trunk],
}

impl<'a> Ends<'a> {
    fn plan(&self, router: usize) -> Plan<'a> {
        let mtu_bytes = self.flows.iter().map(|flow| flow.form.settings.mtu_bytes).max();
        let ports = [0, 1].map(|side| self.layout.port_of_router(router, side));
        Plan {
            work: self.work(router),
            settings: &self.flows[0].form.settings,
            mtu_bytes: mtu_bytes.unwrap_or_default(),
            addresses: ports.map(|port| self.address(port)),
            sides: ports.map(|port| self.reached(port)),
        }
    }

    fn work(&self, router: usize) -> Work<'a> {
        match self.layout.routers[router].role {
            Role::Sends(trunk) => Work::Gateway(self.gateway(trunk, true)),
            Role::Receives(trunk) => Work::Gateway(self.gateway(trunk, false)),
            Role::Station => {
                let passes = |flow: &usize| self.layout.is_passed(router, *flow);
                let mut passing = (0..self.flows.len()).filter(passes);
                let station = passing.find_map(|flow| self.flows[flow].form.station.as_ref());
                let station = station.expect("it serves the flows that pass it");
                Work::Station { station, flows: self.served(router) }
            }
        }
    }

    fn gateway(&self, trunk: usize, sends: bool) -> Gateway<'a> {
        let facing = |role: Role, side: usize| {
            let router = self.layout.routers.iter().position(|site| site.role == role);
            self.address(self.layout.port_of_router(router.expect("each trunk has both"), side))
        };
        let [from, to] = [facing(Role::Sends(trunk), 1), facing(Role::Receives(trunk), 0)];
        Gateway {
            trunk: &self.trunks[trunk],
            route: Route { number: trunk, from, to },
            sends,
            prefixes: self.receivers_of(trunk),
        }
    }

    /// Flows that a station serves.
    fn served(&self, router: usize) -> Vec<Served<'a>> {
        let from = self.address(self.layout.port_of_router(router, 1));
        let connections = self.flows.iter().enumerate().filter(|(_, flow)| !flow.is_datagrams);
        connections
            .filter(|(flow, _)| self.layout.is_passed(router, *flow))
            .filter_map(|(flow, of)| {
                let circuit = of.form.station.as_ref()?.circuit();
                let (number, to) = (self.trunks.len() + flow, self.address(self.layout.of_flow[flow][1]));
                Some(Served { flow, circuit, route: Route { number, from, to } })
            })
            .collect()
    }

    /// Hosts that a trunk's data goes to.
    fn receivers_of(&self, trunk: usize) -> Vec<Prefix> {
        let carried =
            self.flows.iter().zip(&self.layout.of_flow).filter(|(flow, _)| flow.trunk == Some(trunk));
        let hosts: BTreeSet<_> = carried.map(|(_, [_, receiver])| self.address(*receiver)).collect();
        hosts.into_iter().map(alone).collect()
    }

    /// Starts the receiving gateways of the circuits that a station sends through.
    fn receiving(&self, plan: &Plan<'_>) -> io::Result<Vec<GatewayThread>> {
        let Work::Station { flows, .. } = &plan.work else { return Ok(Vec::new()) };
        let decoupled = flows.iter().filter_map(|served| Some((served, served.circuit?)));
        decoupled
            .map(|(served, circuit)| {
                let host = &self.hosts[self.layout.of_flow[served.flow][1]];
                let counted = (vec![alone(host.address)], Some(port_of(served.flow)));
                circuit::receive(&host.namespace, circuit, served.route, DEVICE, counted)
            })
            .collect()
    }

    /// The emulator's port.
    fn port(&self, port: usize) -> Port {
        // A router's port reaches what is on the other side, and a gateway there.
        let beyond = self.layout.opposite(port).map(|other| self.reached(other));
        let prefixes = beyond.into_iter().flatten().chain([self.address(port)]).map(alone).collect();
        Port { node: self.layout.node(port), prefixes, segment: self.layout.segments[port] }
    }

    fn is_end(&self, port: usize) -> bool {
        let mut own = self.own_machines();
        match port < self.hosts.len() {
            true => {
                let segments = &self.layout.segments;
                own.all(|router| segments[self.layout.port_of_router(router, 0)] != segments[port])
            }
            false => own.any(|router| self.layout.port_of_router(router, 1) == port),
        }
    }

    /// The routers on which our own machine sends.
    fn own_machines(&self) -> impl Iterator<Item = usize> {
        let sends = self.flows.iter().any(|flow| flow.proxy_site() == Some(ProxySite::Sender));
        let routers = self.layout.routers.iter().enumerate();
        routers.filter(move |(_, site)| sends && site.role == Role::Station).map(|(router, _)| router)
    }

    fn reached(&self, port: usize) -> Vec<Ipv4Addr> {
        self.layout.reached(port).into_iter().map(|port| self.address(port)).collect()
    }

    fn address(&self, port: usize) -> Ipv4Addr {
        let number = match port.checked_sub(self.hosts.len()) {
            Some(number) => ROUTERS + number as u32,
            None => port as u32,
        };
        Ipv4Addr::from_bits(SUBNET.0.to_bits() + number + 1)
    }
}

fn alone(address: Ipv4Addr) -> Prefix {
    Prefix { address: address.into(), len: 32 }
}

fn host(index: usize, settings: &Settings) -> io::Result<(Host, PacketSocket)> {
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
    Ok((Host { namespace, address }, device))
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
