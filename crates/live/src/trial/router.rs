//! A router of a run, between two segments of the path: the base station, the proxy beside the sender, or an end of
//! circuits.

use super::books::Books;
use super::circuit::{self, GatewayThread, Route};
use super::forms::{Settings, Station};
use super::hosts::add_route;
use super::loaded::LoadError;
use super::relays::{Relays, Served};
use super::senders::Senders;
use super::site::Site;
use super::trunks::Trunk;
use crate::emulate::{PacketSocket, Port, Prefix};
use crate::namespace::{Namespace, Veth};
use airtcp_kernel::filter::{self, Attached, Hooks};
use std::io;
use std::net::Ipv4Addr;

/// Devices towards the path's first node, and towards its last.
const DEVICES: [&str; 2] = ["wire0", "air0"];

/// Plan of a router.
pub struct Plan<'a> {
    pub site: Site,
    pub work: Work<'a>,
    /// Settings of the hosts, which are also those of the router's own sockets.
    pub settings: &'a Settings,
    pub mtu_bytes: u32,
    /// The router's own addresses, by device.
    pub addresses: [Ipv4Addr; 2],
    /// Addresses of others, by the device that leads to them.
    pub sides: [Vec<Ipv4Addr>; 2],
    /// The segment on the side of the first device. The next segment is on the other side.
    pub segment: u8,
}

/// What a router does with packets.
pub enum Work<'a> {
    /// Serves flows.
    Station { station: &'a Station, flows: Vec<Served<'a>> },
    /// Ends circuits.
    Gateways(Vec<Gateway<'a>>),
}

pub struct Gateway<'a> {
    pub trunk: &'a Trunk,
    pub route: Route,
    /// Whether the circuit begins here.
    pub sends: bool,
    /// Destinations of the packets that go through it.
    pub prefixes: Vec<Prefix>,
}

pub struct Router {
    // Dropped before the interfaces.
    standing: Standing,
    _namespace: Namespace,
}

enum Standing {
    Filter { _attached: Attached },
    Proxy(Relays),
    Gateways { _threads: Vec<GatewayThread> },
}

impl Router {
    /// Builds the router, with its devices in the order of [`Plan::sides`].
    ///
    /// # Errors
    /// What the kernel refuses. Nothing is left behind.
    pub fn build(plan: &Plan<'_>, books: &Books) -> Result<(Router, [PacketSocket; 2]), LoadError> {
        let namespace = Namespace::new().map_err(LoadError::Router)?;
        let devices = connect(&namespace, plan).map_err(LoadError::Router)?;
        let standing = match &plan.work {
            Work::Station { station: Station::PacketControl(parameters), .. } => {
                let attached = namespace
                    .run(|| filter::attach(DEVICES[0], parameters, Hooks::Newest))
                    .map_err(LoadError::Router)??;
                Standing::Filter { _attached: attached }
            }
            Work::Station { station: Station::Proxy(proxy), flows } => {
                let relays = Relays::begin(&namespace, DEVICES[1], proxy, flows, books);
                Standing::Proxy(relays.map_err(LoadError::Router)?)
            }
            Work::Gateways(gateways) => {
                let begin = |gateway: &Gateway<'_>| gateway.begin(&namespace, plan, books);
                let threads = gateways.iter().map(begin).collect::<io::Result<_>>();
                Standing::Gateways { _threads: threads.map_err(LoadError::Router)? }
            }
        };
        Ok((Router { standing, _namespace: namespace }, devices))
    }

    /// Returns whether it ends connections and opens others.
    pub fn splits(&self) -> bool {
        matches!(&self.standing, Standing::Proxy(relays) if relays.senders().is_none())
    }

    /// Our own machine's senders, if they take the place of the applications'.
    pub fn senders(&self) -> Option<Senders> {
        match &self.standing {
            Standing::Filter { .. } | Standing::Gateways { .. } => None,
            Standing::Proxy(relays) => relays.senders(),
        }
    }
}

impl Gateway<'_> {
    fn begin(&self, namespace: &Namespace, plan: &Plan<'_>, books: &Books) -> io::Result<GatewayThread> {
        let Gateway { trunk: Trunk { circuit, .. }, route, sends, prefixes } = self;
        if *sends {
            let book = books.circuit(route.number);
            return circuit::send_trunk(namespace, circuit, *route, prefixes, plan.mtu_bytes, &book);
        }
        let facing = usize::from(plan.addresses[1] == route.to);
        circuit::receive(namespace, circuit, *route, DEVICES[facing], (prefixes.clone(), None))
    }
}

impl Plan<'_> {
    /// Each of the router's ports reaches what is on the other side.
    pub fn ports(&self) -> [Port; 2] {
        [0, 1].map(|side| {
            // Its own address is a gateway's.
            let reached = self.sides[1 - side].iter().chain([&self.addresses[side]]);
            let prefixes = reached.map(|host| Prefix { address: (*host).into(), len: 32 }).collect();
            Port { node: self.site.node, prefixes, segment: self.segment + side as u8 }
        })
    }
}

fn connect(namespace: &Namespace, plan: &Plan<'_>) -> io::Result<[PacketSocket; 2]> {
    for (name, value) in &plan.settings.sysctls {
        namespace.sysctl(name, value)?;
    }
    if let Work::Station { station: Station::Proxy(proxy), .. } = plan.work {
        for (name, first) in [("rmem", 131_072), ("wmem", 16_384)] {
            let most = proxy.buffer_bytes;
            namespace.sysctl(&format!("net.ipv4.tcp_{name}"), &format!("4096 {} {most}", first.min(most)))?;
        }
    }
    // It does not redirect hosts to a shorter way.
    for name in ["net.ipv4.conf.all.send_redirects", "net.ipv4.conf.default.send_redirects"] {
        namespace.sysctl(name, "0")?;
    }
    let device = |index: usize| -> io::Result<PacketSocket> {
        let (name, address) = (DEVICES[index], plan.addresses[index]);
        let device = Veth { name, address, prefix: 32, mtu: plan.mtu_bytes as u16 }.make_in(namespace)?;
        let routes = || {
            plan.sides[index].iter().try_for_each(|host| add_route(name, (*host, 32), plan.settings.route))
        };
        namespace.run(routes)??;
        Ok(device)
    };
    let devices = [device(0)?, device(1)?];
    namespace.sysctl("net.ipv4.ip_forward", "1")?;
    Ok(devices)
}
