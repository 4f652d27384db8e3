//! The kernel as a host with one way out, in the namespace that the calling thread has made for itself.

use airtcp_kernel::netlink::Netlink;
use airtcp_live::Tun;
use airtcp_live::namespace::sysctl;
use airtcp_timeline::Setup;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::net::if_::if_nametoindex;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

const DEVICE: &str = "timeline0";
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);

pub struct Host {
    pub tun: Tun,
    pub setup: Setup,
}

impl Host {
    pub const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(ADDRESS), 5000);
    pub const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(PEER), 4000);

    pub fn new(setup: &Setup) -> io::Result<Host> {
        set_up_tcp(setup)?;
        let tun = Tun::open(DEVICE, ADDRESS.into(), 24, setup.mtu)?;
        let (netlink, device) = (Netlink::open()?, if_nametoindex(DEVICE)?);
        segment_by_segment(&netlink, device)?;
        if let Some(segments) = setup.initial_window {
            route(&netlink, device, segments)?;
        }
        netlink.await_carrier(device)?;
        Ok(Host { tun, setup: setup.clone() })
    }
}

fn set_up_tcp(setup: &Setup) -> io::Result<()> {
    let switch = |on: bool| if on { "1" } else { "0" };
    let tcp = |name: &str, value: &str| sysctl::set(&format!("net.ipv4.tcp_{name}"), value);
    // What neighbours ask for is no part of a timeline.
    sysctl::set("net.ipv6.conf.default.disable_ipv6", "1")?;
    tcp("sack", switch(setup.sack))?;
    tcp("timestamps", switch(setup.timestamps))?;
    tcp("window_scaling", switch(setup.window_scaling))?;
    tcp("ecn", switch(setup.ecn))?;
    // The kernel's own default where memory abounds: a window scale of 7.
    tcp("rmem", "4096 131072 6291456")?;
    // Whatever a script writes has room at once.
    tcp("wmem", "4096 4194304 4194304")?;
    if let Some(retries) = setup.max_retries {
        for name in ["retries2", "syn_retries", "synack_retries", "orphan_retries"] {
            tcp(name, &retries.to_string())?;
        }
    }
    Ok(())
}

/// No segment is held back until a longer one can leave, as the kernel does for devices that cut long segments up.
fn segment_by_segment(netlink: &Netlink, device: u32) -> io::Result<()> {
    let mut link = LinkMessage::default();
    link.header.index = device;
    link.attributes = vec![LinkAttribute::GsoMaxSegs(1)];
    netlink.change(RouteNetlinkMessage::SetLink(link))
}

/// A way to the peer on which connections begin with this window.
fn route(netlink: &Netlink, device: u32, initial_window: u32) -> io::Result<()> {
    let mut route = RouteMessage::default();
    route.header.address_family = AddressFamily::Inet;
    route.header.destination_prefix_length = 32;
    route.header.table = RouteHeader::RT_TABLE_MAIN;
    route.header.protocol = RouteProtocol::Static;
    route.header.scope = RouteScope::Link;
    route.header.kind = RouteType::Unicast;
    route.attributes = vec![
        RouteAttribute::Destination(RouteAddress::Inet(PEER)),
        RouteAttribute::Oif(device),
        RouteAttribute::Metrics(vec![RouteMetric::InitCwnd(initial_window)]),
    ];
    netlink.change(RouteNetlinkMessage::NewRoute(route))
}
