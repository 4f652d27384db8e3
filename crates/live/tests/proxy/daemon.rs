//! The program itself: what it tells, and what it leaves behind.

use crate::rig::{Rig, SERVER, WIRELESS, eventually, ip, records};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

pub fn at_base(test: impl FnOnce(&Rig) + Send) {
    if let Some(rig) = Rig::new(None) {
        at_base_of(&rig, test);
    }
}

/// Runs a test at the base station, with a /run of its own.
pub fn at_base_of(rig: &Rig, test: impl FnOnce(&Rig) + Send) {
    rig.base
        .run(|| {
            unshare(CloneFlags::CLONE_NEWNS).unwrap();
            let flags = MsFlags::MS_SLAVE | MsFlags::MS_REC;
            mount(None::<&str>, "/", None::<&str>, flags, None::<&str>).unwrap();
            mount(Some("tmpfs"), "/run", Some("tmpfs"), MsFlags::empty(), None::<&str>).unwrap();
            test(rig);
        })
        .unwrap();
}

fn airtcpd(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_airtcpd"));
    command.arg("proxy").args(line.split_whitespace()).stdin(Stdio::null());
    command
}

pub fn start(more: &str) -> Child {
    let mut line = format!("run --wireless {WIRELESS} {more}");
    if !more.contains("--connections") {
        line += " --connections 100";
    }
    airtcpd(&line).stderr(Stdio::null()).spawn().unwrap()
}

pub fn statuses() -> Vec<Value> {
    let Output { stdout, status, .. } = airtcpd("status --json").output().unwrap();
    assert!(status.success());
    serde_json::from_slice(&stdout).unwrap()
}

/// The process that touches packets.
pub fn worker(proxy: &Child) -> i32 {
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", proxy.id())).unwrap();
    let worker = children
        .split_whitespace()
        .find(|child| fs::read_to_string(format!("/proc/{child}/comm")).unwrap().trim() == "airtcpd");
    worker.unwrap().parse().unwrap()
}

pub fn tell(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

/// What it sets up in the kernel and in the file system.
fn traces() -> String {
    let rules =
        [ip("rule"), ip("-6 rule"), ip("route show table all"), ip("-6 route show table all")].concat();
    let nft = Command::new("nft").args(["list", "tables"]).output().unwrap();
    let mut found = String::from_utf8(nft.stdout).unwrap();
    // Of what is diverted to sockets, and of what is led to our own stack.
    let marks = [0x4100_0000u32, 0x4300_0000].map(|mark| [format!("{mark:#x}"), mark.to_string()]).concat();
    let is_ours = |line: &&str| marks.iter().any(|mark| line.contains(mark));
    found.extend(rules.lines().filter(is_ours));
    found + &records().concat()
}

#[test]
fn it_tells_of_itself_and_ends_in_order() {
    at_base(|rig| {
        let mut proxy = start("--metrics 127.0.0.1:9464 --wireless-cc reno");
        eventually(|| !statuses().is_empty(), "it tells its status");
        let (mut client, mut server) = rig.connect(&rig.mobile, &rig.server, SERVER);
        client.write_all(b"hello").unwrap();
        server.read_exact(&mut [0; 5]).unwrap();
        let found = statuses();
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0]["counters"]["connections"], &found[0]["pid"]), (&1.into(), &proxy.id().into()));
        let mut scrape = TcpStream::connect("127.0.0.1:9464").unwrap();
        scrape.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
        let mut text = String::new();
        scrape.read_to_string(&mut text).unwrap();
        assert!(text.contains("\nairtcp_proxy_to_wired_bytes_total 5\n"), "{text}");
        tell(&proxy, Signal::SIGTERM);
        let accepted = || statuses()[0]["counters"]["accepted_total"].as_u64().unwrap();
        let passes_by = || {
            let before = accepted();
            drop(rig.connect(&rig.mobile, &rig.server, SERVER));
            accepted() == before
        };
        eventually(passes_by, "new connections pass by");
        client.write_all(b"more").unwrap();
        server.read_exact(&mut [0; 4]).unwrap();
        drop((client, server));
        assert!(proxy.wait().unwrap().success());
        assert_eq!(traces(), "");
    });
}

#[test]
#[allow(clippy::disallowed_methods, reason = "killed at some moment")]
fn killed_at_any_moment_it_leaves_nothing_for_long() {
    at_base(|_| {
        let stacks = ["", "--wireless-stack own"].into_iter().cycle();
        for (delay_ms, stack) in [0, 3, 3, 6, 6, 10, 10, 15, 15, 25, 60, 60].into_iter().zip(stacks) {
            let mut proxy = start(stack);
            thread::sleep(Duration::from_millis(delay_ms));
            tell(&proxy, Signal::SIGKILL);
            proxy.wait().unwrap();
            eventually(
                || {
                    assert!(airtcpd("clean").output().unwrap().status.success());
                    traces().is_empty()
                },
                "nothing is left",
            );
        }
    });
}

/// The worker dies after the keeper, and has copies of its locks. Its table of nft goes with its socket, in the kernel's own time.
#[test]
fn killed_and_cleaned_up_at_once_it_leaves_nothing() {
    at_base(|_| {
        for round in 0..20 {
            let mut proxy = start("");
            eventually(|| !statuses().is_empty(), "it tells its status");
            tell(&proxy, Signal::SIGKILL);
            proxy.wait().unwrap();
            let cleaned = airtcpd("clean").output().unwrap();
            let told = String::from_utf8(cleaned.stdout).unwrap();
            assert!(cleaned.status.success() && told.contains("undone: "), "in round {round}: {told}");
            eventually(|| traces().is_empty(), "nothing is left");
        }
    });
}

/// Should the part that touches packets die, the other one undoes what was set up.
#[test]
fn a_worker_that_dies() {
    at_base(|_| {
        let mut proxy = start("");
        eventually(|| !statuses().is_empty(), "it tells its status");
        let worker = worker(&proxy);
        let status = fs::read_to_string(format!("/proc/{worker}/status")).unwrap();
        assert!(
            status.contains("Uid:\t65534\t65534\t65534\t65534") && status.contains("NoNewPrivs:\t1"),
            "{status}"
        );
        // CAP_NET_RAW and CAP_NET_BIND_SERVICE.
        assert!(status.contains("CapPrm:\t0000000000002400\n"), "{status}");
        kill(Pid::from_raw(worker), Signal::SIGKILL).unwrap();
        assert_eq!(proxy.wait().unwrap().code(), Some(1));
        assert_eq!(traces(), "");
    });
}

#[test]
fn what_cannot_be_is_refused_with_the_cure() {
    at_base(|_| {
        let refusal = |line: &str| {
            let output = airtcpd(line).output().unwrap();
            assert!(!output.status.success(), "{line}");
            String::from_utf8(output.stderr).unwrap()
        };
        let told = refusal("run --wireless air0 --connections 10 --wireless-cc nonesuch");
        assert!(told.contains("`nonesuch`") && told.contains("airtcpd cc load"), "{told}");
        let told = refusal("run --wireless air0 --connections 10 --wired-buffer 10GB");
        assert!(told.contains("sysctl -w net.core.wmem_max="), "{told}");
        let told = refusal("run --connections 10 --listen 10.9.9.9:1 --to 10.2.0.2:80");
        assert!(told.contains("10.9.9.9:1"), "{told}");
        assert_eq!(traces(), "");
    });
}
