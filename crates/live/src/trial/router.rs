//! A router of a run, between two segments of the path: the base station, the proxy beside the sender, or an end of a
//! circuit.

use super::books::Books;
use super::circuit::{self, GatewayThread, Route};
use super::forms::{Settings, Station};
use super::hosts::add_route;
use super::loaded::LoadError;
use super::relays::{Relays, Served};
use super::senders::Senders;
use super::trunks::Trunk;
use crate::emulate::{PacketSocket, Prefix};
use crate::namespace::{Namespace, Veth};
use airtcp_kernel::filter::{self, Attached, Hooks};
use std::io;
use std::net::Ipv4Addr;

/// Devices by which data enters and leaves. At a base station the second one is towards the wireless link.
const DEVICES: [&str; 2] = ["wire0", "air0"];

/// Plan of a router.
pub struct Plan<'a> {
    pub work: Work<'a>,
    /// Settings of the hosts, which are also those of the router's own sockets.
    pub settings: &'a Settings,
    pub mtu_bytes: u32,
    /// The router's own addresses, by device.
    pub addresses: [Ipv4Addr; 2],
    /// Addresses of others, by the device that leads to them.
    pub sides: [Vec<Ipv4Addr>; 2],
}

/// What a router does with packets.
pub enum Work<'a> {
    /// Serves flows.
    Station { station: &'a Station, flows: Vec<Served<'a>> },
    /// Ends a circuit.
    Gateway(Gateway<'a>),
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
    _standing: Standing,
    _namespace: Namespace,
}

enum Standing {
    Filter { _attached: Attached },
    Proxy { _relays: Relays },
    Gateway { _thread: GatewayThread },
}

impl Router {
    /// Builds the router, with its devices in the order of [`Plan::sides`]. Our own machine's senders report to
    /// `senders`.
    ///
    /// # Errors
    /// What the kernel refuses. Nothing is left behind.
    pub fn build(
        plan: &Plan<'_>,
        books: &Books,
        senders: &Senders,
    ) -> Result<(Router, [PacketSocket; 2]), LoadError> {
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
                let relays = Relays::begin(&namespace, DEVICES[1], proxy, flows, books, senders);
                Standing::Proxy { _relays: relays.map_err(LoadError::Router)? }
            }
            Work::Gateway(gateway) => {
                let thread = gateway.begin(&namespace, plan.mtu_bytes, books);
                Standing::Gateway { _thread: thread.map_err(LoadError::Router)? }
            }
        };
        Ok((Router { _standing: standing, _namespace: namespace }, devices))
    }
}

impl Gateway<'_> {
    fn begin(&self, namespace: &Namespace, mtu_bytes: u32, books: &Books) -> io::Result<GatewayThread> {
        let Gateway { trunk: Trunk { circuit, .. }, route, sends, prefixes } = self;
        if *sends {
            let book = books.circuit(route.number);
            return circuit::send_trunk(namespace, circuit, *route, prefixes, mtu_bytes, &book);
        }
        circuit::receive(namespace, circuit, *route, DEVICES[0], (prefixes.clone(), None))
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
