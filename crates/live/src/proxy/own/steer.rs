//! What leads packets from the wireless interface to the stack: a TUN device, a table of nft and a policy route.
//!
//! All TCP that comes from there for others goes that way, and what the stack hands back goes on from the device. Should the
//! device vanish, all of it takes its usual way.

use crate::namespace::leftovers::{Change, Record};
use crate::namespace::nft::Table;
use crate::namespace::{divert, sysctl};
use crate::tun::Tun;
use airtcp_kernel::netlink::Netlink;
use netlink_packet_route::link::LinkAttribute;
use nix::net::if_::if_nametoindex;
use std::net::{IpAddr, Ipv4Addr};
use std::{io, process};

/// Of packets that the stack is to see, and of the table that leads them there.
const STEER_MARK: u32 = 0x4300_0000;

/// Bytes that any link of IPv6 carries (RFC 8200 §5).
const LEAST_MTU: u16 = 1280;

/// How the names of its devices begin.
pub const DEVICES: &str = "airtun";

/// RFC 7600 §4.8: an address for a host that has none of its own.
const DUMMY: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 0, 8));

/// Lasts as long as this value.
pub struct Steer {
    _table: Table,
    _route: Record,
    _demux: Option<Record>,
}

impl Steer {
    /// In the network namespace of the calling thread. Answers the device, too, and the longest packet of the wireless link in
    /// bytes.
    ///
    /// # Errors
    /// The interface is not there, or does not forward; nft is missing; the kernel's.
    pub fn install(wireless: &str) -> io::Result<(Steer, Tun, u16)> {
        let mtu = mtu(wireless)?;
        forwards(wireless)?;
        let device = format!("{DEVICES}{}", process::id());
        let tun = Tun::open(&device, DUMMY, 32, mtu)?;
        // What comes out of it has addresses that are reached elsewhere, which the kernel takes from a device with an address.
        sysctl::set(&format!("net.ipv4.conf.{device}.rp_filter"), "2")?;
        sysctl::set(&format!("net.ipv4.conf.{device}.forwarding"), "1")?;
        // The wired side's socket has the same addresses and ports, and the kernel does not forward what it has a socket for.
        let demux = Record::of_sysctl("net.ipv4.tcp_early_demux", "0")?;
        let route = Record::of(Change::Divert(STEER_MARK))?;
        divert::add(STEER_MARK, divert::Way::Out(if_nametoindex(device.as_str())?))?;
        let name = format!("inet airtcp_steer_{}", process::id());
        let table = Table::make(&name, &chain(wireless, &device))?;
        Ok((Steer { _table: table, _route: route, _demux: demux }, tun, mtu))
    }
}

/// Both sides of a relay have the same addresses and ports: the wireless one is not tracked.
fn chain(wireless: &str, device: &str) -> String {
    format!(
        "chain steer {{ type filter hook prerouting priority raw - 1; meta l4proto != tcp return; \
         iifname \"{device}\" fib daddr oifname \"{wireless}\" notrack; \
         iifname != \"{wireless}\" return; fib daddr type local return; \
         notrack; meta mark set {STEER_MARK:#x}; }};"
    )
}

fn mtu(interface: &str) -> io::Result<u16> {
    let index = if_nametoindex(interface).map_err(|_| {
        io::Error::new(io::ErrorKind::NotFound, format!("there is no interface {interface} to steer from"))
    })?;
    let attributes = Netlink::open()?.link(index)?.attributes;
    let mtu = attributes.into_iter().find_map(|attribute| match attribute {
        LinkAttribute::Mtu(mtu) => Some(mtu),
        _ => None,
    });
    Ok(mtu.unwrap_or_default().clamp(LEAST_MTU.into(), u16::MAX.into()) as u16)
}

fn forwards(interface: &str) -> io::Result<()> {
    let name = format!("net.ipv4.conf.{}.forwarding", interface.replace('.', "/"));
    match sysctl::get(&name)?.as_str() {
        "1" => Ok(()),
        _ => Err(io::Error::other(format!("{interface} does not forward; sysctl -w {name}=1"))),
    }
}
