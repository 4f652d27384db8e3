//! Brings connections to the proxy, and the proxy's packets out of this host.

use super::program::Group;
use crate::circuit::way_to;
use crate::emulate::Prefix;
use crate::namespace::forwarding::{self, DEVICES};
use crate::namespace::leftovers::{self, RecordedChange};
use crate::namespace::nft::Table;
use crate::namespace::shell::address::{Block, PREFIX, PREFIX_V6, v6};
use crate::namespace::{LinkWatch, add_ipv6};
use crate::proxy::{Listener, WIRELESS_MARK};
use crate::tun::{LONGEST_MTU, OffloadTun};
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::{io, process};

/// Undone when this value is dropped.
pub struct Redirection {
    // Dropped first: forwarding ends before the rules that bound it.
    _forwarding: Vec<RecordedChange>,
    table: Table,
}

/// What the proxy serves with.
pub struct Entrances {
    pub listeners: Vec<Listener>,
    pub device: OffloadTun,
    /// Towards the circuit's receiver.
    pub link: LinkWatch,
}

impl Redirection {
    /// Takes connections to the prefixes, of the group's processes only if there is one, in the network namespace of
    /// the calling thread.
    ///
    /// # Errors
    /// A prefix or the receiver cannot be reached; there are IPv6 prefixes, and this host cannot forward IPv6; nft is
    /// missing or refuses the table; the kernel's.
    pub fn install(
        receiver: SocketAddr,
        prefixes: &[Prefix],
        group: Option<&Group>,
    ) -> io::Result<(Redirection, Entrances)> {
        let link = way_to(receiver)?.1;
        let watch = LinkWatch::begin(&link)?;
        let mut links = vec![link];
        for host in prefixes.iter().filter_map(first_host) {
            links.push(way_to(SocketAddr::new(host, 9))?.1);
        }
        links.sort();
        links.dedup();
        let name = format!("{DEVICES}d{}", process::id());
        let closed = forwarding::closed(&links)?;
        let closed_v6 = closed_v6(prefixes, &links)?;
        let (device, sources) = device(&name, closed_v6.is_some())?;
        let listeners =
            sources.iter().map(|&source| Listener::redirected(source)).collect::<io::Result<Vec<_>>>()?;
        let drops = forwarding::for_nobody_else("meta nfproto ipv4 ", &closed)
            + &forwarding::for_nobody_else("meta nfproto ipv6 ", closed_v6.as_deref().unwrap_or_default());
        let takes = takes(prefixes, group, &sources, &listeners);
        let chains = chains(&name, &links, &takes, &sources, &drops);
        let mounts = group.map(Group::mounts).transpose()?.flatten();
        let table = Table::make_within(mounts, &table_name(), &chains).map_err(|error| match group {
            Some(_) if error.kind() == io::ErrorKind::Other => io::Error::other(format!(
                "{error}; a command's connections are told by their cgroup, which needs Linux 5.13 and nft 0.9.9: without a \
                 command, --to works"
            )),
            _ => error,
        })?;
        let mut records = forwarding::open(&name, &closed)?;
        if let Some(closed) = closed_v6 {
            records.extend(forwarding::open_v6(&name, &closed)?);
        }
        Ok((Redirection { _forwarding: records, table }, Entrances { listeners, device, link: watch }))
    }

    /// Lets new connections pass from now on. Those that have been taken stay.
    pub fn take_no_more(&mut self) {
        self.table.send(&format!("flush chain {} take", table_name()));
    }
}

/// A host in the prefix; `None` for the prefix of all addresses.
pub(super) fn first_host(prefix: &Prefix) -> Option<IpAddr> {
    Some(match prefix.address {
        _ if prefix.len == 0 => return None,
        IpAddr::V4(network) if prefix.len < 31 => Ipv4Addr::from(network.to_bits() | 1).into(),
        IpAddr::V6(network) if prefix.len < 127 => Ipv6Addr::from(network.to_bits() | 1).into(),
        host => host,
    })
}

/// Links that do not forward IPv6 yet. `None` if IPv6 is not carried, because nobody asks for it, or because the
/// prefix is all of IPv6 and this host cannot.
fn closed_v6(prefixes: &[Prefix], links: &[String]) -> io::Result<Option<Vec<String>>> {
    let mut of_v6 = prefixes.iter().filter(|prefix| prefix.address.is_ipv6()).peekable();
    if of_v6.peek().is_none() {
        return Ok(None);
    }
    let has_loopback = TcpListener::bind((Ipv6Addr::LOCALHOST, 0))
        .map_err(|error| io::Error::new(io::ErrorKind::Unsupported, format!("no IPv6 at loopback: {error}")));
    match has_loopback.and_then(|_| forwarding::closed_v6(links)) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported && of_v6.all(|prefix| prefix.len == 0) => {
            tracing::info!("only IPv4 is carried: {error}");
            Ok(None)
        }
        closed => closed.map(Some),
    }
}

/// Opens the stack's device. Returns also the stack's addresses there.
fn device(name: &str, wants_v6: bool) -> io::Result<(OffloadTun, Vec<IpAddr>)> {
    // Nobody else may choose addresses meanwhile.
    let _guard = leftovers::lock(Path::new(leftovers::FOLDER))?;
    let block = Block::unused()?;
    let device = OffloadTun::open(name, block.far().into(), PREFIX, LONGEST_MTU)?;
    let mut sources: Vec<IpAddr> = vec![block.near().into()];
    if wants_v6 && add_ipv6(name, v6(block.far()), PREFIX_V6)? {
        sources.push(v6(block.near()).into());
    }
    Ok((device, sources))
}

fn table_name() -> String {
    format!("inet airtcp_decouple_{}", process::id())
}

/// Tries whether nft can tell a command's connections from others, in the network namespace of the calling thread.
///
/// # Errors
/// As [`Redirection::install`], and where no cgroup can be made.
pub fn try_command() -> anyhow::Result<()> {
    let group = Group::make()?;
    let chains = format!("chain take {{ type nat hook output priority -100; {}accept; }};", of(&group));
    Table::make_within(group.mounts()?, &table_name(), &chains)?;
    Ok(())
}

/// What a connection of the group's processes matches.
fn of(group: &Group) -> String {
    format!("socket cgroupv2 level 1 \"{}\" ", group.name())
}

/// Rules that redirect connections to the listeners.
fn takes(prefixes: &[Prefix], group: Option<&Group>, sources: &[IpAddr], listeners: &[Listener]) -> String {
    let only = group.map_or_else(String::new, of);
    let mut takes = String::new();
    for (source, listener) in sources.iter().zip(listeners) {
        let (family, way) = family(source);
        let port = listener.address.port();
        for prefix in prefixes.iter().filter(|prefix| prefix.address.is_ipv4() == source.is_ipv4()) {
            let _ = write!(
                takes,
                "{only}meta nfproto {family} meta l4proto tcp {way} daddr {prefix} redirect to :{port}; "
            );
        }
    }
    takes
}

/// A chain of type `nat` sees only the first packet of a tracked connection. If the connection began before, that
/// packet is no SYN, and is left alone. So are connections that leave by other links, which do not forward. Only
/// answers go to the device.
fn chains(device: &str, links: &[String], takes: &str, sources: &[IpAddr], drops: &str) -> String {
    let mask =
        |source: &IpAddr| format!("{} saddr {source} oifname != \"{device}\" masquerade; ", family(source).1);
    let masks: String = sources.iter().map(mask).collect();
    let links: Vec<_> = links.iter().map(|link| format!("\"{link}\"")).collect();
    format!(
        "chain take {{ {takes}}}; \
         chain leaving {{ type nat hook output priority -100; tcp flags & (fin | syn | rst | ack) != syn return; \
         meta mark {WIRELESS_MARK:#x} return; oifname != {{ {} }} return; fib daddr type local return; jump take; }}; \
         chain masks {{ type nat hook postrouting priority srcnat; {masks}}}; \
         chain through {{ type filter hook forward priority filter; \
         oifname \"{device}\" ct state != {{ established, related }} drop; {drops}}};",
        links.join(", ")
    )
}

/// nft's names for the address family and for its header.
fn family(address: &IpAddr) -> (&'static str, &'static str) {
    if address.is_ipv4() { ("ipv4", "ip") } else { ("ipv6", "ip6") }
}
