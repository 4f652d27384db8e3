//! Brings connections to other hosts to a transparent proxy: a table of nft, and a policy route that delivers here
//! what the table marks.
//!
//! Both end with the process: the [`Table`] by itself, the policy route by its record in
//! [`leftovers`](crate::namespace::leftovers).

use super::config::Side;
use super::listeners::Listener;
use super::own::DEVICES;
use crate::namespace::leftovers::{Change, RecordedChange};
use crate::namespace::nft::Table;
use crate::namespace::{divert, sysctl};
use std::fmt::Write as _;
use std::{io, process};

/// Mark of packets for the proxy, and number of the table that delivers them here. It is in the highest byte, which
/// other programs leave alone.
pub const MARK: u32 = 0x4100_0000;

/// Mark of sockets on the wireless side.
pub const WIRELESS_MARK: u32 = 0x4200_0000;

/// Removed when this value is dropped.
pub struct Rules {
    table: Table,
    _route: RecordedChange,
    _probing: Option<RecordedChange>,
}

impl Rules {
    /// Makes `listeners` take connections that come in by the interface `wireless`, or are routed out of it, for one
    /// of `ports` or, if that is empty, for any port, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// nft is missing or refuses the table; the kernel's.
    pub fn install(wireless: &str, ports: &[u16], listeners: &[Listener]) -> io::Result<Rules> {
        let route = RecordedChange::of(Change::Divert(MARK))?;
        divert::add(MARK, divert::Destination::Here)?;
        let table = Table::make(&name(), &chains(wireless, ports, listeners))?;
        Ok(Rules { table, _route: route, _probing: probe_black_holes()? })
    }

    /// Lets new connections pass from now on. Those that have been taken stay.
    pub fn take_no_more(&mut self) {
        for chain in ["take", "begin"] {
            self.table.send(&format!("flush chain {} {chain}", name()));
        }
    }
}

/// Lets the kernel's TCP look for the path MTU where packets vanish and no router tells (RFC 4821). It does nothing to a
/// connection before that.
fn probe_black_holes() -> io::Result<Option<RecordedChange>> {
    const NAME: &str = "net.ipv4.tcp_mtu_probing";
    match sysctl::get(NAME)?.as_str() {
        // It looks from the start.
        "2" => Ok(None),
        _ => RecordedChange::of_sysctl(NAME, "1"),
    }
}

fn name() -> String {
    format!("inet airtcp_proxy_{}", process::id())
}

/// Takes only SYNs for other hosts: a connection that began before the proxy is left alone.
///
/// Both sides of a relay have the same addresses and ports, which connection tracking would take for one connection.
/// The wireless side is not tracked, so that the wired side can be masqueraded. Packets to be delivered here are
/// recognised by their addresses after that is undone. Packets out of our own stack are on the wireless side.
///
/// An expression `socket` looks at what an ICMP error quotes, so that errors about the proxy's own packets come to its
/// sockets, too. Path MTU discovery depends on them.
fn chains(wireless: &str, ports: &[u16], listeners: &[Listener]) -> String {
    let ports = match ports {
        [] => String::new(),
        ports => {
            let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
            format!("tcp dport {{ {} }} ", ports.join(", "))
        }
    };
    let mut takes = String::new();
    for listener in listeners {
        let place = match listener.clients {
            Side::Wireless => format!("iifname \"{wireless}\""),
            Side::Wired => format!("fib daddr oifname \"{wireless}\""),
        };
        let (family, way) = if listener.address.is_ipv4() { ("ipv4", "ip") } else { ("ipv6", "ip6") };
        let _ = write!(
            takes,
            "meta nfproto {family} meta l4proto tcp {ports}{place} tproxy {way} to {} meta mark set {MARK:#x} accept; ",
            listener.address
        );
    }
    const SYN: &str = "tcp flags & (fin | syn | rst | ack) == syn";
    const NOT_FOR_US: &str = "meta l4proto != { tcp, icmp, icmpv6 } return; fib daddr type local return";
    format!(
        "chain take {{ {takes}}}; chain begin {{ meta l4proto tcp {ports}notrack; }}; \
         chain divert {{ type filter hook prerouting priority dstnat + 10; \
         iifname \"{DEVICES}*\" return; {NOT_FOR_US}; \
         {SYN} jump take; socket transparent 1 meta mark set {MARK:#x} accept; }}; \
         chain untracked_in {{ type filter hook prerouting priority raw; iifname != \"{wireless}\" return; {NOT_FOR_US}; \
         {SYN} jump begin; socket transparent 1 notrack; }}; \
         chain untracked_out {{ type filter hook output priority raw; meta mark {WIRELESS_MARK:#x} notrack; }};"
    )
}
