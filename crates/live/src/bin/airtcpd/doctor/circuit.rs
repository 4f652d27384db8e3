//! What `airtcpd circuit` and `airtcpd decouple` need.

use super::check::{Check, Section, newer_kernel, program, untried, with_rights, words};
use airtcp_kernel::{cgroup, header_first};
use airtcp_live::circuit::try_detour;
use airtcp_live::decouple::try_command;
use airtcp_live::namespace::Namespace;

const WHY: &str = "a gateway that sends packets through a circuit";
const DETOUR: &str = "TUN and policy routes";
const WHY_DECOUPLE: &str = "airtcpd decouple";
const COMMAND: &str = "cgroup2";
const WHY_COMMAND: &str = "airtcpd decouple -- COMMAND";

pub fn section() -> Section {
    let [detour, command] = match Namespace::new() {
        Ok(namespace) => [detour(&namespace), command(&namespace)],
        Err(error) => [(DETOUR, WHY), (COMMAND, WHY_COMMAND)].map(|(what, why)| untried(what, why, &error)),
    };
    let checks = vec![detour, nft(), command, header_first_dropping()];
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

fn command(namespace: &Namespace) -> Check {
    let tried = namespace.run(try_command).map_err(words);
    let done = tried.and_then(|done| done.map_err(words));
    let done = done.map(|()| "told a command's connections by its cgroup, in a namespace".to_owned());
    let cure = match cgroup::mount() {
        Some(_) => format!("{}, and nft 0.9.9", newer_kernel("5.13")),
        None => "mount -t cgroup2 none /sys/fs/cgroup/unified".to_owned(),
    };
    Check::tried(COMMAND, WHY_COMMAND, done, &format!("{cure}; --to works without"))
}
