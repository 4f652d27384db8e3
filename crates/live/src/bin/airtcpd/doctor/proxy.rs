//! What `airtcpd proxy` needs.

use super::check::{Check, Section, program, words};
use super::is_root;
use airtcp_live::namespace::Namespace;
use airtcp_live::proxy::{Config, Entrance, Limits, Proxy, Tuning, allow_files};

const WHY: &str = "a proxy invisible to both ends";
const MODULES: &str = "modprobe nft_tproxy nft_socket nft_fib_inet (CONFIG_NFT_TPROXY, CONFIG_NFT_SOCKET and CONFIG_NFT_FIB_INET)";

pub fn section() -> Section {
    let mut checks = vec![nft(), files()];
    checks.extend(Namespace::new().ok().map(|namespace| transparent(&namespace)));
    Section { name: "proxy, split connections", checks }
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
    let config =
        Config { entrance, wireless: tuning(), wired: tuning(), own: None, limits: Limits::default() };
    let tried = namespace.run(|| Proxy::set_up(&config).map(drop));
    let done = tried.and_then(|done| done).map(|()| "set up in a namespace and removed".to_owned());
    let cure = if is_root() { MODULES.to_owned() } else { format!("run it as root (sudo); {MODULES}") };
    Check::tried("TPROXY", WHY, done.map_err(words), &cure).needed()
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
