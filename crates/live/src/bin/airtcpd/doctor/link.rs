//! What `airtcpd link` needs.

use super::check::{Check, Section, capable, program, words};
use super::sleep::{Lateness, lateness};
use airtcp_live::emulate::SPIN;
use airtcp_live::namespace::{Namespace, Veth, leftovers};
use airtcp_wire::Dur;

const RIGHTS: &str = "CAP_NET_ADMIN and CAP_SYS_ADMIN";

pub fn section() -> Section {
    let namespace = Namespace::new();
    let mut checks = vec![namespaces(&namespace)];
    checks.extend(namespace.as_ref().ok().map(veth));
    checks.extend([timer(&lateness()), cpus(), nft(), leftovers_of_the_dead()]);
    Section { name: "link, the emulator", checks }
}

fn namespaces(made: &std::io::Result<Namespace>) -> Check {
    let done = made.as_ref().map(|_| "made one".to_owned()).map_err(words);
    let cure = format!("{}; the kernel needs CONFIG_NET_NS", capable(RIGHTS));
    Check::tried("network namespaces", "link --shell, compare --on linux", done, &cure).needed()
}

fn veth(namespace: &Namespace) -> Check {
    let veth = Veth { name: "airtcp0", address: [10, 77, 0, 1].into(), prefix: 24, mtu: 1500 };
    let done = veth.make_in(namespace).map(|_| "made a pair and opened one end".to_owned()).map_err(words);
    let cure = "modprobe veth (CONFIG_VETH); the kernel needs CONFIG_PACKET";
    Check::tried("veth, AF_PACKET", "the emulator's interfaces", done, cure).needed()
}

/// The emulator asks to be woken [`SPIN`] before a packet is due. Lateness beyond that delays the packet, once in
/// each direction.
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
    let why = "delays as the scenario specifies";
    match ms {
        ..=10 => Check::ok("timer", why, found),
        _ => {
            Check::limited("timer", why, found, "fewer other processes; in a virtual machine, dedicated CPUs")
        }
    }
}

fn cpus() -> Check {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let why = "running the emulator beside the tested programs: it spins before each departure";
    match count {
        1 => Check::limited("CPUs", why, "1", "2 or more"),
        _ => Check::ok("CPUs", why, count),
    }
}

fn nft() -> Check {
    let why = "the way out of link --shell (NAT)";
    match program("nft") {
        Some(path) => Check::ok("nft", why, path.display()),
        None => Check::limited("nft", why, "not in PATH", "install nftables; all else works without"),
    }
}

fn leftovers_of_the_dead() -> Check {
    let why = "leaving the host unchanged";
    match leftovers::left() {
        Ok(left) if left.is_empty() => Check::ok("leftovers", why, "none from dead airtcpd processes"),
        Ok(left) => {
            let changes: Vec<_> = left.iter().map(ToString::to_string).collect();
            let found = format!("{} from dead airtcpd processes: {}", left.len(), changes.join("; "));
            Check::limited("leftovers", why, found, "airtcpd circuit clean")
        }
        Err(error) => Check::limited("leftovers", why, words(error), &capable(RIGHTS)),
    }
}
