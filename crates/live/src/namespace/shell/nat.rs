//! Access from behind the link to wherever this host reaches: forwarding and masquerading.
//!
//! Both end with the process: the [`Table`] by itself, forwarding by its record in
//! [`leftovers`](crate::namespace::leftovers).

use crate::namespace::forwarding;
use crate::namespace::leftovers::RecordedChange;
use crate::namespace::nft::Table;
use crate::warn;
use airtcp_kernel::netlink::Netlink;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::{io, process};

/// Undone when this value is dropped. Forwarding ends first.
pub struct Nat {
    _forwarding: Vec<RecordedChange>,
    _table: Table,
}

impl Nat {
    /// For packets from `near` that come by `device`, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// nft is missing or refuses the table, the namespace has no default route, or sysctls cannot be set.
    pub fn open(device: &str, near: Ipv4Addr) -> io::Result<Nat> {
        let closed = forwarding::closed(&outward()?)?;
        let table = table(device, near, &closed)?;
        let nat = Nat { _forwarding: forwarding::open(device, &closed)?, _table: table };
        if let Some(resolver) = own_resolver() {
            warn!(
                "airtcpd: name resolution will not work behind the link: /etc/resolv.conf points to this host's own {resolver}"
            );
        }
        Ok(nat)
    }
}

/// The resolver, if it listens only at loopback, where nobody behind the link reaches it.
fn own_resolver() -> Option<IpAddr> {
    let text = fs::read_to_string("/etc/resolv.conf").ok()?;
    let resolvers = text.lines().filter_map(|line| line.strip_prefix("nameserver")?.trim().parse().ok());
    let resolvers: Vec<IpAddr> = resolvers.collect();
    resolvers.first().filter(|_| resolvers.iter().all(IpAddr::is_loopback)).copied()
}

/// Interfaces of this namespace's default routes.
fn outward() -> io::Result<Vec<String>> {
    let netlink = Netlink::open()?;
    let mut interfaces = Vec::new();
    for route in netlink.routes()? {
        if route.is_of_main_table() && route.destination().1 == 0 {
            for index in netlink.links_of(&route)? {
                interfaces.push(netlink.name(index)?);
            }
        }
    }
    interfaces.sort();
    interfaces.dedup();
    if interfaces.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NetworkUnreachable, "there is no default route"));
    }
    Ok(interfaces)
}

/// Masquerades packets from `near`, and drops those of others where forwarding is on only for us.
fn table(device: &str, near: Ipv4Addr, closed: &[String]) -> io::Result<Table> {
    let drops = forwarding::for_nobody_else("", closed);
    let chains = format!(
        "chain leaving {{ type nat hook postrouting priority srcnat; ip saddr {near} oifname != \"{device}\" masquerade; }}; \
         chain through {{ type filter hook forward priority filter; {drops}}};"
    );
    Table::make(&format!("ip airtcp_{}", process::id()), &chains)
}
