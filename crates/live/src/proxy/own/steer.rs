//! Leads packets from the wireless interface to the stack, with a TUN device, a table of nft and a policy route.
//!
//! All TCP from there to other hosts goes that way, and what the stack hands back goes on from the device. If the
//! device vanishes, all packets take their usual way.

use crate::namespace::leftovers::{Change, RecordedChange};
use crate::namespace::nft::Table;
use crate::namespace::{LinkWatch, divert, sysctl};
use crate::tun::{DUMMY, LONGEST_MTU, OffloadTun};
use nix::net::if_::if_nametoindex;
use std::{io, process};

/// Mark of packets for the stack, and number of the table that leads them there.
const STEER_MARK: u32 = 0x4300_0000;

/// Prefix of its devices' names.
pub const DEVICES: &str = "airtun";

/// Undone when this value is dropped.
pub struct Steer {
    _table: Table,
    _route: RecordedChange,
    _demux: Option<RecordedChange>,
}

impl Steer {
    /// Sets up in the network namespace of the calling thread. Also returns the device, and the watch of the
    /// wireless link.
    ///
    /// # Errors
    /// The interface does not exist or does not forward; nft is missing; the kernel's.
    pub fn install(wireless: &str) -> io::Result<(Steer, OffloadTun, LinkWatch)> {
        let link = LinkWatch::begin(wireless)?;
        forwards(wireless)?;
        let device = format!("{DEVICES}{}", process::id());
        let tun = OffloadTun::open(&device, DUMMY, 32, LONGEST_MTU)?;
        // Packets from the device have addresses that are reached elsewhere. The kernel accepts them only if the
        // device has an address.
        sysctl::set(&format!("net.ipv4.conf.{device}.rp_filter"), "2")?;
        sysctl::set(&format!("net.ipv4.conf.{device}.forwarding"), "1")?;
        // This host's own messages to others, if the stack hands them back.
        sysctl::set(&format!("net.ipv4.conf.{device}.accept_local"), "1")?;
        // The wired side's socket has the same addresses and ports, and the kernel does not forward packets for which
        // it has a socket.
        let demux = RecordedChange::of_sysctl("net.ipv4.tcp_early_demux", "0")?;
        let route = RecordedChange::of(Change::Divert(STEER_MARK))?;
        divert::add(STEER_MARK, divert::Destination::Out(if_nametoindex(device.as_str())?))?;
        let name = format!("inet airtcp_steer_{}", process::id());
        let table = Table::make(&name, &chain(wireless, &device))?;
        Ok((Steer { _table: table, _route: route, _demux: demux }, tun, link))
    }
}

/// Both sides of a relay have the same addresses and ports, so that the wireless one is not tracked. Routers'
/// messages about packets that are too long go to the stack, too. So do this host's, where a route out of the wireless
/// interface carries less than the interface.
fn chain(wireless: &str, device: &str) -> String {
    let to_stack = format!("fib daddr type != local meta mark set {STEER_MARK:#x} accept");
    let messages = |from: &str| {
        format!(
            "{from}icmp type destination-unreachable icmp code frag-needed {to_stack}; \
             {from}icmpv6 type packet-too-big {to_stack}; "
        )
    };
    let (from_wireless, own) = (messages(&format!("iifname \"{wireless}\" ")), messages(""));
    format!(
        "chain own {{ type route hook output priority raw - 1; {own}}}; \
         chain steer {{ type filter hook prerouting priority raw - 1; {from_wireless}\
         meta l4proto != tcp return; \
         iifname \"{device}\" fib daddr oifname \"{wireless}\" notrack; \
         iifname != \"{wireless}\" return; fib daddr type local return; \
         notrack; meta mark set {STEER_MARK:#x}; }};"
    )
}

fn forwards(interface: &str) -> io::Result<()> {
    let name = format!("net.ipv4.conf.{}.forwarding", interface.replace('.', "/"));
    match sysctl::get(&name)?.as_str() {
        "1" => Ok(()),
        _ => Err(io::Error::other(format!("{interface} does not forward; sysctl -w {name}=1"))),
    }
}
