//! The hosts of a run: a network namespace with one device for each node at which a flow begins or ends. Flows whose
//! schemes need different settings have different hosts at the same node.

use super::application::port_of;
use super::books::Books;
use super::circuit::{self, GatewayThread, Route};
use super::flows::Flow;
use super::forms::{self, ProxySite, Settings};
use super::loaded::LoadError;
use super::relays::Served;
use super::router::{Gateway, Plan, Router, Work};
use super::senders::Senders;
use super::site::Site;
use super::trunks::Trunk;
use crate::emulate::{PacketSocket, Port, Prefix};
use crate::namespace::{Namespace, Veth};
use airtcp_kernel::netlink::Netlink;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::net::if_::if_nametoindex;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::Ipv4Addr;

/// Subnet of all hosts, and of the routers within it.
const SUBNET: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 77, 0, 0), 16);
const ROUTERS: u32 = 0xff00;
const DEVICE: &str = "air0";

pub struct Host {
    pub namespace: Namespace,
    pub address: Ipv4Addr,
    node: u16,
}

/// The hosts, and where the flows' senders and receivers are.
pub struct Hosts {
    /// Receiving gateways of circuits that carry one flow.
    _gateways: Vec<GatewayThread>,
    pub hosts: Vec<Host>,
    /// Indices of the sender's and the receiver's host, by flow.
    pub of_flow: Vec<[usize; 2]>,
    /// In path order, with their ports and addresses.
    routers: Vec<Standing>,
}

struct Standing {
    site: Site,
    router: Router,
    ports: [Port; 2],
    addresses: [Ipv4Addr; 2],
}

impl Hosts {
    /// Makes the hosts with one device each, in the same order. Then come the routers between them, with two devices
    /// each: the one that serves the flows at `base_station`, and the ends of the `trunks`. Circuits report to
    /// `books`.
    ///
    /// # Errors
    /// The kernel's, with what it refused.
    pub fn build(
        flows: &[Flow],
        base_station: u16,
        trunks: &[Trunk],
        books: &Books,
    ) -> Result<(Hosts, Vec<PacketSocket>), LoadError> {
        // The destination tells which packets are for a trunk.
        let mut places: BTreeMap<(u16, Option<usize>, &Settings), usize> = BTreeMap::new();
        let mut of_flow = Vec::new();
        for flow in flows {
            of_flow.push(flow.nodes.map(|node| {
                let next = places.len();
                *places.entry((node, flow.trunk, &flow.form.settings)).or_insert(next)
            }));
        }
        let mut wanted: Vec<_> = places.into_iter().map(|(place, index)| (index, place)).collect();
        wanted.sort_by_key(|(index, _)| *index);
        let (mut hosts, mut devices) = (Vec::new(), Vec::new());
        for (index, (node, _, settings)) in wanted {
            let (host, device) = host(index, node, settings).map_err(LoadError::Host)?;
            hosts.push(host);
            devices.push(device);
        }
        let ends = Ends { flows, hosts: &hosts, of_flow: &of_flow, trunks };
        let plans = ends.plans(base_station);
        let mut gateways = Vec::new();
        let mut routers = Vec::new();
        for plan in &plans {
            gateways.extend(ends.receiving(plan).map_err(LoadError::Host)?);
            let (router, both) = Router::build(plan, books)?;
            devices.extend(both);
            let Plan { site, addresses, .. } = *plan;
            routers.push(Standing { site, router, ports: plan.ports(), addresses });
        }
        drop(plans);
        Ok((Hosts { _gateways: gateways, hosts, of_flow, routers }, devices))
    }

    /// The emulator's ports, in the order of the devices.
    pub fn ports(&self) -> Vec<Port> {
        let port = |host: &Host| Port {
            node: host.node,
            prefixes: vec![alone(host.address)],
            segment: self.segment(Site::host(host.node)),
        };
        let routers = self.routers.iter().flat_map(|standing| standing.ports.clone());
        self.hosts.iter().map(port).chain(routers).collect()
    }

    /// Address of each port, in the same order.
    pub fn addresses(&self) -> Vec<Ipv4Addr> {
        let routers = self.routers.iter().flat_map(|standing| standing.addresses);
        self.hosts.iter().map(|host| host.address).chain(routers).collect()
    }

    fn segment(&self, site: Site) -> u8 {
        site.segment(self.routers.iter().map(|standing| &standing.site))
    }

    /// Our own machine's senders, if they take the place of the applications'.
    pub fn senders(&self) -> Option<Senders> {
        self.routers.iter().find_map(|standing| standing.router.senders())
    }

    /// For each port, whether a packet that enters or leaves there is at an end that counts. If our own machine
    /// sends, that is where it is, and not the senders' hosts.
    pub fn are_ends(&self) -> Vec<bool> {
        let own = self.routers.iter().find(|standing| standing.router.senders().is_some());
        let first = own.map_or(0, |standing| standing.ports[1].segment);
        let is_own = |standing: &Standing| own.is_some_and(|own| own.site == standing.site);
        let hosts = self.hosts.iter().map(|host| self.segment(Site::host(host.node)) >= first);
        hosts.chain(self.routers.iter().flat_map(|standing| [false, is_own(standing)])).collect()
    }

    /// Returns whether connections end between the hosts that count.
    pub fn are_split(&self) -> bool {
        self.routers.iter().any(|standing| standing.router.splits())
    }

    pub fn sender(&self, flow: usize) -> &Host {
        &self.hosts[self.of_flow[flow][0]]
    }

    pub fn receiver(&self, flow: usize) -> &Host {
        &self.hosts[self.of_flow[flow][1]]
    }
}

/// The hosts, and the flows that end there.
struct Ends<'a> {
    flows: &'a [Flow],
    hosts: &'a [Host],
    of_flow: &'a [[usize; 2]],
    trunks: &'a [Trunk],
}

impl<'a> Ends<'a> {
    /// Plans of the routers that the flows' scheme and the trunks need, in path order.
    fn plans(&self, base_station: u16) -> Vec<Plan<'a>> {
        let station = self.flows.iter().find(|flow| flow.form.station.is_some());
        let station = station.map(|flow| Site::station(node_of_station(flow, base_station)));
        let circuits = self.trunks.iter().flat_map(|trunk| Site::of_circuit(trunk.nodes));
        let sites: Vec<_> =
            station.into_iter().chain(circuits).collect::<BTreeSet<_>>().into_iter().collect();
        (0..sites.len()).map(|index| self.plan(&sites, index)).collect()
    }

    fn plan(&self, sites: &[Site], index: usize) -> Plan<'a> {
        let site = sites[index];
        let [mut before, mut behind] = [Vec::new(), Vec::new()];
        for host in self.hosts {
            let side = if Site::host(host.node) < site { &mut before } else { &mut behind };
            side.push(host.address);
        }
        before.extend((0..index).flat_map(addresses));
        behind.extend((index + 1..sites.len()).flat_map(addresses));
        let mtu_bytes = self.flows.iter().map(|flow| flow.form.settings.mtu_bytes).max();
        Plan {
            site,
            work: self.work(sites, index),
            settings: &self.flows[0].form.settings,
            mtu_bytes: mtu_bytes.unwrap_or_default(),
            addresses: addresses(index),
            sides: [before, behind],
            segment: index as u8,
        }
    }

    fn work(&self, sites: &[Site], index: usize) -> Work<'a> {
        let gateways = self.trunks.iter().enumerate().filter_map(|(number, trunk)| {
            let ends = Site::of_circuit(trunk.nodes);
            let sends = ends.iter().position(|end| *end == sites[index])? == usize::from(trunk.is_backward());
            let facing = |end: usize| {
                let router = sites.iter().position(|site| *site == ends[end]).unwrap_or_default();
                addresses(router)[1 - end]
            };
            let [from, to] =
                if trunk.is_backward() { [facing(1), facing(0)] } else { [facing(0), facing(1)] };
            let prefixes = self.receivers_of(number);
            Some(Gateway { trunk, route: Route { number, from, to }, sends, prefixes })
        });
        let gateways: Vec<_> = gateways.collect();
        match self.flows.iter().find_map(|flow| flow.form.station.as_ref()) {
            Some(station) if gateways.is_empty() => {
                Work::Station { station, flows: self.served(addresses(index)[1]) }
            }
            _ => Work::Gateways(gateways),
        }
    }

    /// Flows that a station serves.
    fn served(&self, from: Ipv4Addr) -> Vec<Served<'a>> {
        let connections = self.flows.iter().enumerate().filter(|(_, flow)| !flow.is_datagrams);
        connections
            .filter_map(|(flow, of)| {
                let circuit = of.form.station.as_ref()?.circuit();
                let (number, to) = (self.trunks.len() + flow, self.hosts[self.of_flow[flow][1]].address);
                Some(Served { flow, circuit, route: Route { number, from, to } })
            })
            .collect()
    }

    /// Hosts that a trunk's data goes to.
    fn receivers_of(&self, trunk: usize) -> Vec<Prefix> {
        let carried = self.flows.iter().zip(self.of_flow).filter(|(flow, _)| flow.trunk == Some(trunk));
        let hosts: BTreeSet<_> = carried.map(|(_, [_, receiver])| self.hosts[*receiver].address).collect();
        hosts.into_iter().map(alone).collect()
    }

    /// Starts the receiving gateways of the circuits that a station sends through.
    fn receiving(&self, plan: &Plan<'_>) -> io::Result<Vec<GatewayThread>> {
        let Work::Station { flows, .. } = &plan.work else { return Ok(Vec::new()) };
        let decoupled = flows.iter().filter_map(|served| Some((served, served.circuit?)));
        decoupled
            .map(|(served, circuit)| {
                let host = &self.hosts[self.of_flow[served.flow][1]];
                let counted = (vec![alone(host.address)], Some(port_of(served.flow)));
                circuit::receive(&host.namespace, circuit, served.route, DEVICE, counted)
            })
            .collect()
    }
}

fn alone(address: Ipv4Addr) -> Prefix {
    Prefix { address: address.into(), len: 32 }
}

fn node_of_station(flow: &Flow, base_station: u16) -> u16 {
    match flow.form.station.as_ref().and_then(|station| station.place()) {
        Some(ProxySite::Sender) => flow.nodes[0],
        Some(ProxySite::BaseStation) | None => base_station,
    }
}

/// Addresses of a router, by its number on the path.
fn addresses(router: usize) -> [Ipv4Addr; 2] {
    [1, 2].map(|side| Ipv4Addr::from_bits(SUBNET.0.to_bits() + ROUTERS + 2 * router as u32 + side))
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
