//! What `airtcpd proxy` needs.

use super::check::{Check, Section, program, untried, with_rights, words};
use airtcp_live::namespace::Namespace;
use airtcp_live::proxy::{Config, Entrance, Limits, Proxy, Tuning, allow_files};
use std::path::Path;

const WHY: &str = "a proxy invisible to both ends";
const TPROXY: &str = "TPROXY";
/// What the rules need of the kernel, which loads it by itself if it may.
const MODULES: [&str; 3] = ["nft_tproxy", "nft_socket", "nft_fib_inet"];

pub fn section() -> Section {
    let transparent = match Namespace::new() {
        Ok(namespace) => transparent(&namespace),
        Err(error) => untried(TPROXY, WHY, error),
    };
    Section { name: "proxy, split connections", checks: vec![nft(), files(), transparent] }
}

fn nft() -> Check {
    match program("nft") {
        Some(path) => Check::ok("nft", WHY, path.display()),
        None => {
            Check::missing("nft", WHY, "not in PATH", "install nftables; --listen works without").needed()
        }
    }
}

fn transparent(namespace: &Namespace) -> Check {
    let entrance = Entrance::Transparent { wireless: "airtcp0".to_owned(), ports: vec![] };
    let tuning = Tuning::default;
    let config = Config {
        entrance,
        wireless: tuning(),
        wired: tuning(),
        own: None,
        fast_open: false,
        limits: Limits::default(),
    };
    let before = unloaded();
    let tried = namespace.run(|| Proxy::set_up(&config).map(drop));
    let lacks = unloaded();
    let loaded: Vec<_> = before.into_iter().filter(|module| !lacks.contains(module)).collect();
    let loaded =
        if loaded.is_empty() { String::new() } else { format!("; it has loaded {}", loaded.join(", ")) };
    let done = tried.and_then(|done| done).map(|()| format!("set up in a namespace and removed{loaded}"));
    let cure = with_rights(&format!(
        "modprobe -a {} (CONFIG_{})",
        lacks.join(" "),
        lacks.join(", CONFIG_").to_uppercase()
    ));
    Check::tried(TPROXY, WHY, done.map_err(words), &cure).needed()
}

/// Those of [`MODULES`] that the kernel does not have as modules now. They may be part of it.
fn unloaded() -> Vec<&'static str> {
    MODULES.into_iter().filter(|module| !Path::new("/sys/module").join(module).exists()).collect()
}

fn files() -> Check {
    let most = Limits::default().connections;
    let why = "many connections at once";
    match allow_files(most) {
        Ok(allowed) if allowed < most => Check::limited(
            "open files",
            why,
            format!("enough for {allowed} connections"),
            "raise `ulimit -Hn`",
        ),
        Ok(allowed) => Check::ok("open files", why, format!("enough for {allowed} connections")),
        Err(error) => Check::limited("open files", why, words(error), "raise `ulimit -Hn`"),
    }
}
