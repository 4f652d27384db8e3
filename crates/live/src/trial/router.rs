//! The router of a run, between the segment of the fixed hosts and that of the mobile ones: the base station, or what stands
//! beside the sender.

use super::circuit::Route;
use super::forms::{Settings, Station};
use super::hosts::add_route;
use super::loaded::LoadError;
use super::relays::Relays;
use super::senders::Senders;
use crate::emulate::{PacketSocket, Port, Prefix};
use crate::namespace::{Namespace, Veth};
use airtcp_kernel::filter::{self, Attached, Hooks};
use std::io;
use std::net::Ipv4Addr;

/// Its devices: to the fixed hosts, and to the mobile ones.
const DEVICES: [&str; 2] = ["wire0", "air0"];
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 255, 1), Ipv4Addr::new(10, 77, 255, 2)];

/// Segments of the path, on either side of it.
pub const FIXED: u8 = 0;
pub const MOBILE: u8 = 1;

/// What a router is to be.
pub struct Plan<'a> {
    pub station: &'a Station,
    /// The node at which it stands.
    pub node: u16,
    /// What the hosts are set to, which its own sockets get, too.
    pub settings: &'a Settings,
    pub mtu_bytes: u32,
    /// Those that it serves, and where they end.
    pub flows: Vec<Route>,
    /// Addresses of the hosts on either side.
    pub sides: [Vec<Ipv4Addr>; 2],
}

pub struct Router {
    // It goes before the interface does.
    standing: Standing,
    _namespace: Namespace,
}

enum Standing {
    Filter { _attached: Attached },
    Proxy(Relays),
}

impl Router {
    /// Makes it, with its devices in the order of [`Plan::sides`].
    ///
    /// # Errors
    /// What the kernel refuses. Nothing is left behind.
    pub fn build(plan: &Plan<'_>) -> Result<(Router, [PacketSocket; 2]), LoadError> {
        let namespace = Namespace::new().map_err(LoadError::Router)?;
        let devices = connect(&namespace, plan).map_err(LoadError::Router)?;
        let standing = match plan.station {
            Station::PacketControl(parameters) => {
                let attached = namespace
                    .run(|| filter::attach(DEVICES[0], parameters, Hooks::Newest))
                    .map_err(LoadError::Router)??;
                Standing::Filter { _attached: attached }
            }
            Station::Proxy(proxy) => {
                let at = (DEVICES[1], ADDRESSES[1]);
                let relays = Relays::begin(&namespace, at, proxy, &plan.flows).map_err(LoadError::Router)?;
                Standing::Proxy(relays)
            }
        };
        Ok((Router { standing, _namespace: namespace }, devices))
    }

    /// Does it end connections, and go on with others?
    pub fn splits(&self) -> bool {
        matches!(&self.standing, Standing::Proxy(relays) if relays.senders().is_none())
    }

    /// What our own machine does in the senders' place, if it is there.
    pub fn senders(&self) -> Option<Senders> {
        match &self.standing {
            Standing::Filter { .. } => None,
            Standing::Proxy(relays) => relays.senders(),
        }
    }
}

impl Plan<'_> {
    /// Each of its ports reaches the hosts of the other side.
    pub fn ports(&self) -> [Port; 2] {
        [FIXED, MOBILE].map(|segment| {
            let others = &self.sides[usize::from(1 - segment)];
            // Its own address is that of a gateway.
            let reached = others.iter().chain([&ADDRESSES[usize::from(segment)]]);
            let prefixes = reached.map(|host| Prefix { address: (*host).into(), len: 32 }).collect();
            Port { node: self.node, prefixes, segment }
        })
    }

    /// On which side of it `node` is: what stands at its own node is wired to it.
    pub fn segment(router: u16, node: u16) -> u8 {
        if node <= router { FIXED } else { MOBILE }
    }
}

fn connect(namespace: &Namespace, plan: &Plan<'_>) -> io::Result<[PacketSocket; 2]> {
    for (name, value) in &plan.settings.sysctls {
        namespace.sysctl(name, value)?;
    }
    if let Station::Proxy(proxy) = plan.station {
        for (name, first) in [("rmem", 131_072), ("wmem", 16_384)] {
            let most = proxy.buffer_bytes;
            namespace.sysctl(&format!("net.ipv4.tcp_{name}"), &format!("4096 {} {most}", first.min(most)))?;
        }
    }
    // It answers for nobody, and advises nobody of a shorter way.
    for name in ["net.ipv4.conf.all.send_redirects", "net.ipv4.conf.default.send_redirects"] {
        namespace.sysctl(name, "0")?;
    }
    let device = |index: usize| -> io::Result<PacketSocket> {
        let (name, address) = (DEVICES[index], ADDRESSES[index]);
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
