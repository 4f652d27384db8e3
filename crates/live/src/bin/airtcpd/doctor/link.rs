//! What `airtcpd link` needs.

use super::check::{Check, Section, program, words};
use super::sleep::{Lateness, lateness};
use airtcp_live::emulate::SPIN;
use airtcp_live::namespace::netlink::Netlink;
use airtcp_live::namespace::{Namespace, leftovers};
use airtcp_wire::Dur;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkInfo, LinkMessage};
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use std::path::Path;

const ROOT: &str = "run it as root (sudo), or give it CAP_NET_ADMIN and CAP_SYS_ADMIN";
const DEVICE: &str = "/dev/net/tun";

pub fn section() -> Section {
    let namespace = Namespace::new();
    let mut checks = vec![namespaces(&namespace)];
    match &namespace {
        Ok(namespace) => checks.extend([tun(namespace), veth(namespace), packet_sockets(namespace)]),
        Err(_) => checks.push(tun_untried()),
    }
    checks.extend([timer(&lateness()), cpus(), nft(), leftovers_of_the_dead()]);
    Section { name: "link, the emulator", checks }
}

fn namespaces(made: &std::io::Result<Namespace>) -> Check {
    let done = made.as_ref().map(|_| "made one".to_owned()).map_err(words);
    let cure = format!("{ROOT}; the kernel needs CONFIG_NET_NS");
    Check::tried("network namespaces", "link --shell, compare --on linux", done, &cure).needed()
}

fn tun(namespace: &Namespace) -> Check {
    let made = namespace.tun("airtcp0", [10, 77, 0, 1].into(), 24, 1500);
    let cure = "modprobe tun (CONFIG_TUN), and in a container --device /dev/net/tun";
    let done = made.map(|_| "made one".to_owned()).map_err(words);
    Check::tried(DEVICE, "the emulator's own interfaces", done, cure).needed()
}

fn tun_untried() -> Check {
    let why = "the emulator's own interfaces";
    match Path::new(DEVICE).exists() {
        true => Check::limited(DEVICE, why, "is there; could not be tried", ROOT),
        false => Check::missing(DEVICE, why, "no such file", "modprobe tun (CONFIG_TUN)").needed(),
    }
}

fn veth(namespace: &Namespace) -> Check {
    let make = || {
        let mut link = LinkMessage::default();
        let kind = LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Veth)]);
        link.attributes = vec![LinkAttribute::IfName("airtcp1".to_owned()), kind];
        Netlink::open()?.change(RouteNetlinkMessage::NewLink(link))
    };
    let done = namespace.run(make).and_then(|made| made).map(|()| "made a pair".to_owned()).map_err(words);
    Check::tried("veth", "link --between two Ethernet interfaces", done, "modprobe veth (CONFIG_VETH)")
}

fn packet_sockets(namespace: &Namespace) -> Check {
    let open = || {
        let kind = (AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll);
        socket(kind.0, kind.1, kind.2, kind.3).map_err(std::io::Error::from)
    };
    let done = namespace.run(open).and_then(|made| made).map(|_| "opened one".to_owned()).map_err(words);
    Check::tried("AF_PACKET", "link --between two Ethernet interfaces", done, "CONFIG_PACKET, CAP_NET_RAW")
}

/// The emulator has itself woken [`SPIN`] before a packet is due: what the kernel is later than that, the packet is, once
/// each way.
fn timer(lateness: &Lateness) -> Check {
    let Lateness { median, p99 } = lateness;
    let rtt = Dur(20 * p99.saturating_sub(SPIN).0).max(Dur::from_millis(1));
    let ms = rtt.0.div_ceil(1_000_000);
    let us = |time: &Dur| time.0 / 1000;
    let found = format!(
        "woken {} µs late, one time in a hundred {} µs or more: RTTs from {ms} ms keep within a tenth",
        us(median),
        us(p99)
    );
    let why = "delays that are what the scenario says";
    match ms {
        ..=10 => Check::ok("timer", why, found),
        _ => Check::limited(
            "timer",
            why,
            found,
            "fewer other processes; in a virtual machine, CPUs of its own",
        ),
    }
}

fn cpus() -> Check {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let why = "the emulator beside what it is there for: it spins before each departure";
    match count {
        1 => Check::limited("CPUs", why, "1", "2 or more"),
        _ => Check::ok("CPUs", why, count),
    }
}

fn nft() -> Check {
    let why = "the way out of link --shell (NAT)";
    match program("nft") {
        Some(path) => Check::ok("nft", why, path.display()),
        None => Check::limited("nft", why, "not in the PATH", "install nftables; all else works without"),
    }
}

fn leftovers_of_the_dead() -> Check {
    let why = "a host that is as it was";
    match leftovers::left() {
        Ok(left) if left.is_empty() => Check::ok("leftovers", why, "none of dead airtcpd processes"),
        Ok(left) => {
            let changes: Vec<_> = left.iter().map(ToString::to_string).collect();
            let found = format!("{} of dead airtcpd processes: {}", left.len(), changes.join("; "));
            Check::limited(
                "leftovers",
                why,
                found,
                "the next start of `airtcpd link` or `airtcpd run` undoes them",
            )
        }
        Err(error) => Check::limited("leftovers", why, words(error), ROOT),
    }
}
