//! Each congestion control carries data over a loopback that loses and marks packets, in a network namespace of its own. Needs
//! root, a kernel with struct_ops, `ip` and `nft`; skipped elsewhere.

use airtcp_kernel::cc::{self, Counters};
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{setsockopt, sockopt::TcpCongestion};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

const PORT: u16 = 5201;
const BYTES: usize = 4 << 20;

/// One in so many data packets; 0 for none.
#[derive(Clone, Copy)]
struct Path {
    lost_one_in: u32,
    marked_one_in: u32,
}

#[test]
fn each_carries_data_over_a_lossy_path_and_counts_what_it_judged() {
    let path = Path { lost_one_in: 100, marked_one_in: 0 };
    for controller in cc::controllers() {
        let Some(counted) = transfer(controller, path) else { return };
        println!("{}: {counted:?}", controller.scheme());
        let judged = counted.losses_corruption + counted.losses_congestion + counted.losses_undecided;
        assert!(judged > 0, "{}", controller.scheme());
        assert_eq!((counted.ecn_echoes, counted.sockets()), (0, 0), "{}", controller.scheme());
        match controller.scheme() {
            "spectcp" => assert_eq!((counted.losses_congestion, counted.reductions), (0, 0)),
            "jersey" | "new-jersey" => assert_eq!(counted.losses_congestion, 0),
            // Loopback has no queue, so that WestwoodVT judges congestion only in slow start. Concord weighs
            // losses in sum, so that how it judges those of such a short transfer is chance.
            "concord" => {}
            "westwood-vt" | "veno" => assert!(counted.reductions > 0),
            _ => assert_eq!(counted.losses_corruption + counted.losses_undecided, 0),
        }
    }
}

/// Paper 002 §II: the window is halved when ECN-Echo signals congestion, and not for a loss.
#[test]
fn spectcp_reduces_for_marks_alone() {
    let controller = cc::find("spectcp").unwrap();
    let Some(counted) = transfer(controller, Path { lost_one_in: 100, marked_one_in: 100 }) else { return };
    println!("{counted:?}");
    assert!(counted.ecn_echoes > 0 && counted.losses_corruption > 0, "{counted:?}");
    assert!(counted.reductions > 0 && counted.reductions_avoided > 0, "{counted:?}");
    assert!(counted.reductions <= counted.ecn_echoes + counted.timeouts, "{counted:?}");
}

/// The controller's counters after it has sent [`BYTES`]; `None` if this cannot be tried.
fn transfer(controller: &'static cc::Controller, path: Path) -> Option<Counters> {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: not root");
        return None;
    }
    let name = format!(
        "airtcp{}",
        controller.kernel_name.len() + path.marked_one_in as usize * 10 + std::process::id() as usize
    );
    let request = cc::Request { controller, name: Some(name.clone()), params: BTreeMap::new() };
    let registered = cc::register(&request).unwrap_or_else(|error| panic!("{error}"));
    let has_carried = thread::spawn(move || carry(&name, path)).join().unwrap();
    has_carried.then(|| registered.counters().unwrap())
}

/// In a thread, because it leaves the network namespace. Returns false if tools are missing.
fn carry(name: &str, path: Path) -> bool {
    unshare(CloneFlags::CLONE_NEWNET).unwrap();
    if !run("ip", &["link", "set", "lo", "up", "mtu", "1500", "gso_max_segs", "1"], "")
        || !run("nft", &["-f", "-"], &rules(path))
    {
        eprintln!("skipped: ip or nft is missing");
        return false;
    }
    std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1").unwrap();
    let listener = TcpListener::bind(("127.0.0.1", PORT)).unwrap();
    let receiver = thread::spawn(move || {
        let mut received = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
        received.len()
    });
    let mut sender = TcpStream::connect(("127.0.0.1", PORT)).unwrap();
    setsockopt(&sender, TcpCongestion, &OsString::from(name)).unwrap();
    sender.write_all(&vec![7; BYTES]).unwrap();
    drop(sender);
    assert_eq!(receiver.join().unwrap(), BYTES);
    true
}

fn rules(path: Path) -> String {
    let rule = |one_in, condition: &str, verdict: &str| match one_in {
        0 => String::new(),
        _ => format!(
            "tcp dport {PORT} {condition} ip length > 1000 numgen random mod {one_in} == 0 {verdict}\n"
        ),
    };
    format!(
        "table ip path {{\nchain input {{\ntype filter hook input priority 0;\n{}{}}}\n}}\n",
        rule(path.lost_one_in, "", "drop"),
        rule(path.marked_one_in, "ip ecn != not-ect", "ip ecn set ce"),
    )
}

fn run(command: &str, args: &[&str], input: &str) -> bool {
    let child = Command::new(command).args(args).stdin(Stdio::piped()).spawn();
    child.is_ok_and(|mut child| {
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait().unwrap().success()
    })
}
