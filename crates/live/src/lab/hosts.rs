//! The hosts of a run: a network namespace with one device for each node at which a flow begins or ends. Flows whose
//! schemes want different settings have different hosts at the same node.

use super::flows::Flow;
use super::forms::Settings;
use crate::emulate::{Port, Prefix};
use crate::namespace::Namespace;
use crate::tun::Tun;
use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;

/// All of them in one subnet, of which each address is a /32 to the emulator.
const PREFIX: u8 = 16;
const DEVICE: &str = "air0";

pub struct Host {
    pub namespace: Namespace,
    pub address: Ipv4Addr,
    node: u16,
}

/// The hosts, and where the flows' senders and receivers are.
pub struct Hosts {
    pub hosts: Vec<Host>,
    /// Indices of the sender's and the receiver's host, by flow.
    pub of_flow: Vec<[usize; 2]>,
}

impl Hosts {
    /// Makes them with their devices, one a host, in the same order.
    ///
    /// # Errors
    /// The kernel's, with what it refused.
    pub fn build(flows: &[Flow]) -> io::Result<(Hosts, Vec<Tun>)> {
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
            let (host, device) = host(index, node, settings)?;
            hosts.push(host);
            devices.push(device);
        }
        Ok((Hosts { hosts, of_flow }, devices))
    }

    /// The emulator's, in the order of the devices.
    pub fn ports(&self) -> Vec<Port> {
        let port = |host: &Host| Port {
            node: host.node,
            prefixes: vec![Prefix { address: host.address.into(), len: 32 }],
        };
        self.hosts.iter().map(port).collect()
    }

    pub fn sender(&self, flow: usize) -> &Host {
        &self.hosts[self.of_flow[flow][0]]
    }

    pub fn receiver(&self, flow: usize) -> &Host {
        &self.hosts[self.of_flow[flow][1]]
    }
}

fn host(index: usize, node: u16, settings: &Settings) -> io::Result<(Host, Tun)> {
    let namespace = Namespace::new()?;
    // What IPv6 sends by itself would be packets on the path that no simulator has.
    namespace.sysctl("net.ipv6.conf.default.disable_ipv6", "1")?;
    // Sockets that outlive the run's process would keep the namespace.
    namespace.sysctl("net.ipv4.tcp_orphan_retries", "1")?;
    for (name, value) in &settings.sysctls {
        namespace.sysctl(name, value)?;
    }
    let number = index as u16 + 1;
    let address = Ipv4Addr::new(10, 77, (number >> 8) as u8, number as u8);
    let device = namespace.tun(DEVICE, address.into(), PREFIX, settings.mtu_bytes as u16)?;
    Ok((Host { namespace, address, node }, device))
}
