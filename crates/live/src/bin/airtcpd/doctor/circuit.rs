//! What `airtcpd circuit` and `airtcpd decouple` need.

use super::check::{Check, Section, newer_kernel, program, untried, with_rights, words};
use airtcp_kernel::{cgroup, header_first};
use airtcp_live::circuit::try_detour;
use airtcp_live::namespace::Namespace;

const WHY: &str = "a gateway that sends packets through a circuit";
const DETOUR: &str = "TUN and policy routes";
const WHY_DECOUPLE: &str = "airtcpd decouple";

pub fn section() -> Section {
    let detour = match Namespace::new() {
        Ok(namespace) => detour(&namespace),
        Err(error) => untried(DETOUR, WHY, error),
    };
    let checks = vec![detour, nft(), cgroups(), header_first_dropping()];
    Section { name: "circuit, TCP circuits and decoupling", checks }
}

fn detour(namespace: &Namespace) -> Check {
    let done = namespace.run(try_detour).and_then(|done| done);
    let done = done.map(|()| "routed a prefix into a device, and undid it".to_owned()).map_err(words);
    let cure = with_rights("the kernel needs CONFIG_TUN and CONFIG_IP_MULTIPLE_TABLES");
    Check::tried(DETOUR, WHY, done, &cure).needed()
}

fn nft() -> Check {
    match program("nft") {
        Some(path) => Check::ok("nft", WHY_DECOUPLE, path.display()),
        None => Check::missing("nft", WHY_DECOUPLE, "not in PATH", "install nftables; circuits work without"),
    }
}

fn header_first_dropping() -> Check {
    let why = "airtcpd header-first";
    let cure = format!("{}; circuits work without", newer_kernel("6.6"));
    let tried = Namespace::new().and_then(|namespace| namespace.run(header_first::probe)).map_err(words);
    let done = tried.and_then(|done| done.map_err(words));
    let done = done.map(|()| "attached a program where packets leave, and removed it".to_owned());
    Check::tried("header-first dropping", why, done, &cure)
}

fn cgroups() -> Check {
    match cgroup::mount() {
        Some(root) => {
            Check::ok("cgroup2", "airtcpd decouple -- COMMAND", format!("mounted at {}", root.display()))
        }
        None => {
            let cure = "mount -t cgroup2 none /sys/fs/cgroup/unified; --to works without";
            Check::missing("cgroup2", "airtcpd decouple -- COMMAND", "not mounted", cure)
        }
    }
}
