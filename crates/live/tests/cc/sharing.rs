//! Loaded by one process, used, watched, changed and unloaded by others.

use crate::{Kernel, daemon, objects, sockets};
use airtcp_live::namespace::Namespace;
use std::process::Command;
use std::time::{Duration, Instant};

/// Of the loopback device, so that a write makes several segments.
const MTU: usize = 1500;

#[test]
fn one_process_loads_others_use_watch_change_and_unload() {
    let Some(kernel) = Kernel::take() else { return };
    let (before, name) = (objects::all(), kernel.name("shared"));
    // So many segments are never queued: no loss counts as congestion.
    daemon::cc(&["load", "veno:beta=1000", "--as", &name]);
    let namespace = Namespace::new().unwrap();
    let mtu =
        namespace.run(|| Command::new("ip").args(["link", "set", "lo", "mtu", &MTU.to_string()]).status());
    assert!(mtu.unwrap().unwrap().success());
    let reduced = |factor: &str| {
        daemon::cc(&["set", &name, &format!("random_loss_factor={factor}")]);
        let mut pair = sockets::pair();
        sockets::select(&pair.0, &name).unwrap();
        (sockets::lose_one(&mut pair, MTU), pair)
    };
    let pair = namespace
        .run(|| {
            let (much, _) = reduced("1");
            let (little, pair) = reduced("0.5");
            assert!(little < much, "ssthresh {little}, {much}");
            pair
        })
        .unwrap();
    let status = daemon::status(&name);
    assert_eq!(status["scheme"], "veno");
    assert_eq!(status["params"]["random_loss_factor"], 0.5);
    assert_eq!(status["sockets"], 1);
    assert_eq!(status["counters"]["sockets_opened"], 2);
    assert_eq!(status["counters"]["losses_corruption"], 2);
    assert!(daemon::cc(&["status", &name]).contains("corruption"));
    assert!(daemon::cc(&["list"]).contains(&name));
    goes_on_after_unload(&name, pair);
    objects::assert_none_since(&before);
}

/// The kernel keeps the program for a socket that uses it.
fn goes_on_after_unload(name: &str, mut pair: (std::net::TcpStream, std::net::TcpStream)) {
    assert!(daemon::cc(&["unload", name]).contains("1 socket keeps it"));
    daemon::assert_gone(name);
    assert_eq!(sockets::select(&sockets::pair().0, name), Err(nix::Error::ENOENT));
    assert_eq!(sockets::selected(&pair.0), name);
    sockets::transfer(&mut pair, 100);
    // The name is free, though the old one lives.
    daemon::cc(&["load", "veno", "--as", name]);
    daemon::cc(&["unload", name]);
}

#[test]
fn the_pacing_rate_that_an_application_sets_is_kept() {
    let Some(kernel) = Kernel::take() else { return };
    for scheme in ["westwood-vt", "concord"] {
        pace_is_kept(scheme, &kernel.name("paced"));
    }
}

#[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
fn pace_is_kept(scheme: &str, name: &str) {
    daemon::cc(&["load", scheme, "--as", name]);
    let namespace = Namespace::new().unwrap();
    let time = |bytes_per_s: Option<u32>| {
        let mut pair = sockets::pair();
        bytes_per_s.into_iter().for_each(|rate| sockets::pace(&pair.0, rate));
        sockets::select(&pair.0, name).unwrap();
        let begin = Instant::now();
        sockets::transfer(&mut pair, 50);
        begin.elapsed()
    };
    let (paced, not_paced) = namespace.run(|| (time(Some(1_000_000)), time(None))).unwrap();
    daemon::cc(&["unload", name]);
    // 500 kB.
    assert!(paced > Duration::from_millis(300), "{scheme}: {paced:?}");
    assert!(not_paced < paced, "{scheme}: {not_paced:?}");
}

#[test]
fn a_process_without_rights_can_select_it() {
    let Some(kernel) = Kernel::take() else { return };
    let name = kernel.name("free");
    daemon::cc(&["load", "hybla", "--as", &name]);
    let script = format!("import socket; socket.socket().setsockopt(6, socket.TCP_CONGESTION, b'{name}')");
    let done = without_rights(&["python3", "-c", &script]).status();
    daemon::cc(&["unload", &name]);
    assert!(done.unwrap().success());
}

/// Runs a command without capabilities.
pub fn without_rights(command: &[&str]) -> Command {
    let mut process = Command::new("setpriv");
    process.args(["--inh-caps=-all", "--bounding-set=-all"]).args(command);
    process
}
