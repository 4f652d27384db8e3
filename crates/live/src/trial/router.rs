//! The base station of a run: a router between the segment of the fixed hosts and that of the mobile ones.

use super::forms::Station;
use super::hosts::add_route;
use super::loaded::LoadError;
use crate::emulate::{PacketSocket, Port, Prefix};
use crate::namespace::{Namespace, Veth};
use airtcp_kernel::filter::{self, Attached};
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
    pub mtu_bytes: u32,
    /// Addresses of the hosts on either side.
    pub sides: [Vec<Ipv4Addr>; 2],
}

pub struct Router {
    // They go before the interface does.
    _attached: Attached,
    _namespace: Namespace,
}

impl Router {
    /// Makes it, with its devices in the order of [`Plan::sides`].
    ///
    /// # Errors
    /// What the kernel refuses. Nothing is left behind.
    pub fn build(plan: &Plan<'_>) -> Result<(Router, [PacketSocket; 2]), LoadError> {
        let namespace = Namespace::new().map_err(LoadError::Router)?;
        let devices = connect(&namespace, plan).map_err(LoadError::Router)?;
        let Station::PacketControl(parameters) = plan.station;
        let attached =
            namespace.run(|| filter::attach(DEVICES[0], parameters)).map_err(LoadError::Router)??;
        Ok((Router { _attached: attached, _namespace: namespace }, devices))
    }
}

impl Plan<'_> {
    /// Each of its ports reaches the hosts of the other side.
    pub fn ports(&self) -> [Port; 2] {
        [FIXED, MOBILE].map(|segment| {
            let others = &self.sides[usize::from(1 - segment)];
            let prefixes = others.iter().map(|host| Prefix { address: (*host).into(), len: 32 }).collect();
            Port { node: self.node, prefixes, segment }
        })
    }

    /// On which side of it `node` is: what stands at its own node is wired to it.
    pub fn segment(router: u16, node: u16) -> u8 {
        if node <= router { FIXED } else { MOBILE }
    }
}

fn connect(namespace: &Namespace, plan: &Plan<'_>) -> io::Result<[PacketSocket; 2]> {
    // It answers for nobody, and advises nobody of a shorter way.
    for name in ["net.ipv4.conf.all.send_redirects", "net.ipv4.conf.default.send_redirects"] {
        namespace.sysctl(name, "0")?;
    }
    let device = |index: usize| -> io::Result<PacketSocket> {
        let (name, address) = (DEVICES[index], ADDRESSES[index]);
        let device = Veth { name, address, prefix: 32, mtu: plan.mtu_bytes as u16 }.make_in(namespace)?;
        let routes =
            || plan.sides[index].iter().try_for_each(|host| add_route(name, (*host, 32), Vec::new()));
        namespace.run(routes)??;
        Ok(device)
    };
    let devices = [device(0)?, device(1)?];
    namespace.sysctl("net.ipv4.ip_forward", "1")?;
    Ok(devices)
}
