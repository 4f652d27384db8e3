//! Packet control on a router between a fixed host and a mobile one, with the kernel's own TCP at both ends. Needs root;
//! skipped elsewhere.
#![allow(clippy::disallowed_methods, reason = "these tests are about real time")]

#[path = "emulator/rig.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod rig;

use airtcp_kernel::filter::{self, Hooks, Parameters, Totals};
use airtcp_kernel::namespace::{Namespace, NamespaceId};
use rig::{FAR, over};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The router's interface to the fixed host.
const WIRE: &str = "wire0";

fn ip(namespace: &Namespace, lines: &[&str]) {
    for line in lines {
        let run = || Command::new("ip").args(line.split_whitespace()).status().unwrap();
        assert!(namespace.run(run).unwrap().success(), "ip {line}");
    }
}

/// Joins a fixed host to the router, by a wire without loss.
fn fixed_host(router: &Namespace, mobile: &Namespace) -> Namespace {
    let fixed = Namespace::new().unwrap();
    let there = format!("/proc/{}/fd/{}", std::process::id(), fixed.as_fd().as_raw_fd());
    ip(
        router,
        &[
            &format!("link add {WIRE} type veth peer name eth0 netns {there}"),
            &format!("addr add 10.8.0.2/24 dev {WIRE}"),
            &format!("link set {WIRE} up"),
        ],
    );
    ip(&fixed, &["addr add 10.8.0.1/24 dev eth0", "link set eth0 up", "route add 10.7.0.0/24 via 10.8.0.2"]);
    ip(mobile, &["route add 10.8.0.0/24 dev air0"]);
    router.sysctl("net.ipv4.ip_forward", "1").unwrap();
    fixed
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Sends so many bytes from the fixed host, which arrive as they were.
fn transfer(fixed: &Namespace, mobile: &Namespace, len: usize) {
    let sent = bytes(len);
    let listener = mobile.run(|| TcpListener::bind(FAR)).unwrap().unwrap();
    let received = thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut received = Vec::new();
            let (mut socket, _) = listener.accept().unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            socket.read_to_end(&mut received).unwrap();
            received
        });
        let mut socket = fixed.run(|| TcpStream::connect(FAR)).unwrap().unwrap();
        socket.write_all(&sent).unwrap();
        drop(socket);
        receiver.join().unwrap()
    });
    assert!(received == sent, "the bytes differ");
}

/// What a filter does while a fixed and a mobile host talk over a path; `None` where none of this may be.
fn filtered(
    path: &str,
    parameters: &Parameters,
    talk: impl FnOnce(&Namespace, &Namespace),
) -> Option<Totals> {
    filtered_by(Hooks::Newest, path, parameters, talk)
}

fn filtered_by(
    hooks: Hooks,
    path: &str,
    parameters: &Parameters,
    talk: impl FnOnce(&Namespace, &Namespace),
) -> Option<Totals> {
    let work = |rig: &rig::Rig| {
        let fixed = fixed_host(&rig.near, &rig.far);
        let attached = rig.near.run(|| filter::attach(WIRE, parameters, hooks)).unwrap().unwrap();
        talk(&fixed, &rig.far);
        attached.totals().unwrap()
    };
    over(path, work).map(|(totals, _)| totals)
}

fn path(what: &str) -> String {
    format!("[[link]]\nrate = \"20Mbit/s\"\ndelay = \"5ms\"\n{what}\n")
}

/// What is sent arrives as it was, whatever the path does to it and the filter to that.
#[test]
fn every_byte_arrives_over_paths_that_lose_reorder_and_stall() {
    let reorders =
        "jitter = { distribution = \"uniform\", low = \"0ms\", high = \"20ms\", overtaking = true }";
    let stalls = "spikes = { period = \"600ms\", length = \"100ms\", extra = \"400ms\" }";
    let parameters = Parameters { threshold: 9, ..Parameters::default() };
    let Some(clear) = filtered(&path(""), &parameters, |fixed, mobile| transfer(fixed, mobile, 2_000_000))
    else {
        return;
    };
    assert_eq!((clear.data_dropped, clear.answers_failed, clear.flows_understood), (0, 0, 1));
    let clsact =
        filtered_by(Hooks::Clsact, &path(""), &parameters, |fixed, mobile| transfer(fixed, mobile, 500_000));
    assert_eq!(clsact.map(|totals| (totals.data_dropped, totals.flows_understood)), Some((0, 1)));
    for what in ["loss = { packet = 0.01 }", "loss = { packet = 0.05 }", reorders] {
        let totals =
            filtered(&path(what), &parameters, |fixed, mobile| transfer(fixed, mobile, 500_000)).unwrap();
        assert!(totals.acks_held > 0 && totals.answers_failed == 0, "{what}: {totals:?}");
    }
    filtered(&path(stalls), &parameters, |fixed, mobile| transfer(fixed, mobile, 2_000_000)).unwrap();
}

/// Where ACKs are lost behind the router, it answers in the mobile host's place: here all are, for half a second.
#[test]
fn what_is_sent_again_for_lost_acks_is_dropped_and_answered() {
    if Command::new("nft").arg("-v").output().is_err() {
        return eprintln!("skipped: no nft here");
    }
    let rules = "table ip t { chain c { type filter hook input priority 0; tcp sport 9000 drop; }; }";
    let talk = |fixed: &Namespace, mobile: &Namespace| {
        let listener = mobile.run(|| TcpListener::bind(FAR)).unwrap().unwrap();
        let mut socket = fixed.run(|| TcpStream::connect(FAR)).unwrap().unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let run = |program: &str, arguments: &[&str]| {
            assert!(fixed.run(|| Command::new(program).args(arguments).status().unwrap()).unwrap().success());
        };
        run("nft", &[rules]);
        socket.write_all(&bytes(10_000)).unwrap();
        receiver.read_exact(&mut [0; 10_000]).unwrap();
        thread::sleep(Duration::from_millis(500));
        run("nft", &["delete table ip t"]);
        // Until the second copy has been answered, the mobile host has nothing to say.
        thread::sleep(Duration::from_millis(700));
        receiver.write_all(b"x").unwrap();
        socket.read_exact(&mut [0; 1]).unwrap();
    };
    let Some(totals) = filtered(&path(""), &Parameters::default(), talk) else { return };
    assert!(totals.data_dropped > 0 && totals.data_answered > 0 && totals.answers_failed == 0, "{totals:?}");
}

fn airtcpd(namespace: &Namespace, arguments: &str) -> (bool, String) {
    let run = || Command::new(env!("CARGO_BIN_EXE_airtcpd")).args(arguments.split(' ')).output().unwrap();
    let output = namespace.run(run).unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

/// A router of its own, with an interface that leads nowhere.
fn router() -> Option<Namespace> {
    let router = Namespace::if_permitted()?;
    ip(&router, &[&format!("link add {WIRE} type veth peer name there"), &format!("link set {WIRE} up")]);
    Some(router)
}

fn pins(router: &Namespace) -> Vec<PathBuf> {
    let namespace = router.run(|| NamespaceId::current().unwrap().inode()).unwrap();
    let folders = std::fs::read_dir("/sys/fs/bpf/airtcp/filter").into_iter().flatten().flatten();
    let is_here =
        |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&format!("{namespace}-"));
    folders.map(|entry| entry.path()).filter(is_here).collect()
}

#[test]
fn it_outlives_its_loader_and_is_changed_and_removed_by_others() {
    ["", " --clsact"].into_iter().for_each(outlives);
}

fn outlives(hooks: &str) {
    let Some(router) = router() else { return };
    let succeeds = |arguments: &str| {
        let (succeeded, said) = airtcpd(&router, arguments);
        assert!(succeeded, "{arguments}: {said}");
        said
    };
    let refuses = |arguments: &str, words: &str| {
        let (succeeded, said) = airtcpd(&router, arguments);
        assert!(!succeeded && said.contains(words), "{arguments}: {said}");
    };
    refuses("filter detach wire0", "no packet control is attached to wire0");
    succeeds(&format!("filter attach wire0 --no-data-filter --max-flows 64{hooks}"));
    refuses(&format!("filter attach wire0{hooks}"), "already attached to wire0");
    assert!(succeeds("filter list").contains("wire0: ACK filter on (threshold 6), data filter off"));
    succeeds("filter set wire0 --data-filter on --ack-threshold 12 --idle 60s");
    refuses("filter set wire0 --ack-threshold 7", "3, 6, 9 or 12");
    let status: serde_json::Value =
        serde_json::from_str(&succeeds("filter status wire0 --json --flows")).unwrap();
    let status = &status[0];
    assert_eq!((&status["parameters"]["threshold"], &status["totals"]["acks_held"]), (&12.into(), &0.into()));
    assert_eq!(status["flows"].as_array().unwrap().len(), 0);
    succeeds("filter detach wire0");
    assert!(pins(&router).is_empty());
    // The interface goes, and takes the programs along.
    succeeds(&format!("filter attach wire0{hooks}"));
    ip(&router, &[&format!("link del {WIRE}")]);
    refuses("filter detach wire0", "no interface `wire0`");
    ip(&router, &[&format!("link add {WIRE} type veth peer name there")]);
    succeeds("filter attach wire0");
    succeeds("filter detach wire0");
    assert!(pins(&router).is_empty());
}

/// What `tc` says of the interface: its filters where packets come in, and its qdiscs.
fn tc(router: &Namespace) -> [String; 2] {
    [["filter", "show", "dev", WIRE, "ingress"].as_slice(), &["qdisc", "show", "dev", WIRE]].map(
        |arguments| {
            let output = router.run(|| Command::new("tc").args(arguments).output().unwrap()).unwrap();
            String::from_utf8(output.stdout).unwrap()
        },
    )
}

#[test]
fn clsact_goes_with_it_unless_others_use_it() {
    let Some(router) = router() else { return };
    if Command::new("tc").arg("-V").output().is_err() {
        return eprintln!("skipped: no tc here");
    }
    let [attach, detach] = ["filter attach wire0 --clsact", "filter detach wire0"]
        .map(|arguments| move |router: &Namespace| assert!(airtcpd(router, arguments).0));
    attach(&router);
    let [filters, qdiscs] = tc(&router);
    assert!(filters.contains("direct-action") && qdiscs.contains("clsact"), "{filters} {qdiscs}");
    detach(&router);
    assert!(!tc(&router)[1].contains("clsact"));
    // Another's qdisc stays.
    let foreign = || Command::new("tc").args(["qdisc", "add", "dev", WIRE, "clsact"]).status().unwrap();
    assert!(router.run(foreign).unwrap().success());
    attach(&router);
    detach(&router);
    let [filters, qdiscs] = tc(&router);
    assert!(filters.is_empty() && qdiscs.contains("clsact"), "{filters} {qdiscs}");
}

/// Whoever is killed while it attaches leaves at most what the next one clears away.
#[test]
fn kill_9_leaves_nothing_that_stays() {
    let Some(router) = router() else { return };
    for (delay_us, hooks) in (0..60_000).step_by(4000).zip(["--max-flows=64", "--clsact"].into_iter().cycle())
    {
        let start = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_airtcpd"));
            command
                .args(["filter", "attach", WIRE, hooks])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        };
        let mut child = router.run(start).unwrap();
        thread::sleep(Duration::from_micros(delay_us));
        child.kill().unwrap();
        child.wait().unwrap();
        let _ = airtcpd(&router, "filter detach wire0");
        assert!(pins(&router).is_empty(), "{delay_us}");
        let (attached, said) = airtcpd(&router, "filter attach wire0");
        assert!(attached, "{said}");
        assert!(airtcpd(&router, "filter detach wire0").0);
    }
}
