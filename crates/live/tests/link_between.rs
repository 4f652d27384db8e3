//! `airtcpd link --between`: two hosts, each behind a veth pair, and the program in between.
#![allow(clippy::disallowed_methods, reason = "these tests are about real time")]

#[path = "emulator/attempts.rs"]
mod attempts;
#[path = "emulator/probe.rs"]
mod probe;

use airtcp_live::namespace::Namespace;
use attempts::one_of_a_few;
use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::unistd::Pid;
use probe::Stream;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// One at a time: each takes a processor.
static TURN: Mutex<()> = Mutex::new(());

const PATIENCE: Duration = Duration::from_millis(500);

/// 20 Mbit/s, 5 ms each way.
const PATH: [&str; 6] =
    ["--set", "wireless.rate=20Mbit/s", "--set", "wireless.delay=5ms", "--set", "wireless.loss.ber=0"];

/// `va` and `vb` are in the middle; behind them are two hosts.
struct Rig {
    middle: Namespace,
    near: Namespace,
    far: Namespace,
}

impl Rig {
    /// `None`, with a message, where this cannot be.
    fn new() -> Option<Rig> {
        if Command::new("ip").arg("-V").output().is_err() {
            eprintln!("skipped: no ip here (iproute2)");
            return None;
        }
        let rig = Rig {
            middle: Namespace::if_permitted()?,
            near: Namespace::if_permitted()?,
            far: Namespace::if_permitted()?,
        };
        rig.join("va", &rig.near, "10.8.0.1/24", "fd08::1/64");
        rig.join("vb", &rig.far, "10.8.0.2/24", "fd08::2/64");
        Some(rig)
    }

    fn join(&self, end: &str, host: &Namespace, v4: &str, v6: &str) {
        let other = format!("/proc/{}/fd/{}", std::process::id(), host.as_fd().as_raw_fd());
        self.middle
            .run(|| {
                ip(&format!("link add {end} type veth peer name eth0 netns {other}"));
                ip(&format!("link set {end} addrgenmode none up"));
            })
            .unwrap();
        host.run(|| {
            ip(&format!("addr add {v4} dev eth0"));
            ip(&format!("addr add {v6} dev eth0 nodad"));
            ip("link set eth0 up");
        })
        .unwrap();
    }

    /// Starts the program, and waits until it is there.
    fn start(&self, ends: [&str; 2], options: &[&str]) -> Running {
        let mut child = self.spawn(ends, options);
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.contains("between"), "{line}");
        let running = Running { child, _stderr: stderr };
        eventually(|| running.status().contains("NoNewPrivs:\t1"), "it keeps its rights");
        running
    }

    fn spawn(&self, ends: [&str; 2], options: &[&str]) -> Child {
        let program = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_airtcpd"));
            command.args(["link", "--every", "0"]).args(options).arg("--between").args(ends);
            command.args(["--json", "-"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        self.middle.run(program).unwrap()
    }

    fn refuses(&self, ends: [&str; 2], words: &str) {
        let output = self.spawn(ends, &[]).wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(words), "{ends:?}: {told}");
    }
}

/// Returns what it says.
fn ip(arguments: &str) -> String {
    let Output { status, stdout, stderr } =
        Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    assert!(status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8_lossy(&stdout).into_owned()
}

/// A busy machine takes its time.
fn eventually(is_so: impl Fn() -> bool, what: &str) {
    for _ in 0..1000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

struct Running {
    child: Child,
    _stderr: BufReader<std::process::ChildStderr>,
}

impl Running {
    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    fn status(&self) -> String {
        std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap()
    }

    /// Ends it by a signal; its final counters.
    fn end(self, signal: Signal) -> Value {
        kill(self.pid(), signal).unwrap();
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// Sends 3 MB by TCP, in segments as long as the kernel makes them; they arrive unharmed.
fn transfer(rig: &Rig, to: SocketAddr) {
    let data: Vec<u8> = (0..3_000_000u32).map(|i| (i * 7 % 251) as u8).collect();
    let listener = rig.far.run(|| TcpListener::bind(to)).unwrap().unwrap();
    thread::scope(|scope| {
        let received = scope.spawn(|| {
            let mut received = Vec::new();
            listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
            received
        });
        let mut stream = rig.near.run(|| TcpStream::connect(to)).unwrap().unwrap();
        stream.write_all(&data).unwrap();
        drop(stream);
        assert!(received.join().unwrap() == data);
    });
}

fn count(report: &Value, way: usize, what: &str) -> u64 {
    report["ways"][way].pointer(what).and_then(Value::as_u64).unwrap_or_else(|| panic!("{what}: {report}"))
}

/// ARP, neighbour discovery, TCP in segments longer than packets and UDP without checksums cross, and a capture shows them.
#[test]
fn hosts_behind_veth_pairs() {
    let _turn = TURN.lock();
    let Some(rig) = Rig::new() else { return };
    let file = std::env::temp_dir().join(format!("airtcp-{}.pcapng", std::process::id()));
    let options = [&PATH[..], &["--capture", file.to_str().unwrap()]].concat();
    let running = rig.start(["va", "vb"], &options);
    let status = running.status();
    assert!(status.contains("CapEff:\t0000000000000000"), "{status}");
    transfer(&rig, "10.8.0.2:9000".parse().unwrap());
    transfer(&rig, "[fd08::2]:9000".parse().unwrap());
    let stream = Stream { packets: 50, bytes: 1_000, interval: Duration::from_millis(1) };
    for address in ["10.8.0.2:9001", "[fd08::2]:9001"] {
        // The kernel's times of arrival are of a clock that may be set meanwhile.
        one_of_a_few(|| {
            let arrivals = stream.run(&rig.near, (&rig.far, address.parse().unwrap()), PATIENCE);
            assert_eq!(arrivals.len(), 50, "{address}");
            assert!(arrivals.is_sorted_by_key(|arrival| arrival.number));
            assert!(arrivals.iter().all(|arrival| arrival.ecn != 3));
            Some(arrivals.iter().all(|arrival| arrival.delay_ms() > 5.0))
        });
    }
    let report = running.end(Signal::SIGTERM);
    // A packet carries 1 448 bytes at most: those of 64 KiB would be a hundred.
    assert!(count(&report, 0, "/delivered_packets") > 4_000, "{report}");
    assert_eq!(count(&report, 0, "/missed_packets") + count(&report, 0, "/departures/unsent_packets"), 0);
    let captured = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(captured.len() > 6_000_000);
    assert!(captured.windows(8).any(|bytes| bytes == [8, 6, 0, 1, 8, 0, 6, 4]), "ARP");
}

/// A link has no router that could tell the sender.
#[test]
fn what_is_longer_than_the_mtu_of_its_way_out_is_lost_and_counted() {
    let _turn = TURN.lock();
    let Some(rig) = Rig::new() else { return };
    let running = rig.start(["va", "vb"], &PATH);
    let to = (&rig.far, "10.8.0.2:9000".parse().unwrap());
    let arrive = |bytes| {
        let stream = Stream { packets: 20, bytes, interval: Duration::from_millis(1) };
        stream.run(&rig.near, (to.0, to.1), PATIENCE).len()
    };
    assert_eq!(arrive(1_400), 20);
    rig.middle.run(|| ip("link set vb mtu 1280")).unwrap();
    assert_eq!((arrive(1_400), arrive(1_000)), (0, 20));
    rig.middle.run(|| ip("link set vb mtu 1500")).unwrap();
    assert_eq!(arrive(1_400), 20);
    assert_eq!(count(&running.end(Signal::SIGTERM), 0, "/departures/unsent_packets"), 20);
}

/// Packets that this host has received with a wrong length or checksum, by the kernel's counters.
fn damaged() -> u64 {
    let of = |file: &str| {
        let text = std::fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let fields = lines.chunks(2).flat_map(|pair| pair[0].split(' ').zip(pair[1].split(' ')));
        let damage = fields.filter(|(name, _)| {
            ["InTruncatedPkts", "InHdrErrors", "InErrs", "InErrors", "InCsumErrors"].contains(name)
        });
        damage.map(|(_, count)| count.parse::<u64>().unwrap()).sum::<u64>()
    };
    of("snmp") + of("netstat")
}

/// Hosts that talk through a tunnel hand over segments of tunnelled packets: what comes out is cut right, and arrives.
#[test]
fn hosts_with_a_tunnel() {
    let _turn = TURN.lock();
    let Some(rig) = Rig::new() else { return };
    let running = rig.start(["va", "vb"], &PATH);
    let mut tried = 0;
    for (net, kind) in (0..).zip(["vxlan id 1 dstport 4789 udpcsum", "gretap csum", "gre", "ipip"]) {
        let made = [(&rig.near, 1, 2), (&rig.far, 2, 1)].map(|(host, own, other)| {
            let ends = format!("local 10.8.0.{own} remote 10.8.0.{other}");
            let add = format!("link add tun{net} type {kind} {ends}");
            let is_made = || {
                let made = Command::new("ip").args(add.split_whitespace()).output().unwrap().status.success();
                if made {
                    ip(&format!("addr add 10.9.{net}.{own}/24 dev tun{net}"));
                    ip(&format!("link set tun{net} up"));
                }
                made
            };
            host.run(is_made).unwrap()
        });
        if made != [true; 2] {
            eprintln!("skipped: this kernel has no {kind}");
            continue;
        }
        transfer(&rig, format!("10.9.{net}.2:9000").parse().unwrap());
        // TCP would repeat in short packets what comes out damaged.
        assert_eq!(rig.far.run(damaged).unwrap(), 0, "{kind}");
        tried += 1;
    }
    let report = running.end(Signal::SIGTERM);
    assert!(count(&report, 0, "/delivered_packets") >= tried * 2_000, "{report}");
    assert_eq!(count(&report, 0, "/missed_packets") + count(&report, 0, "/departures/unsent_packets"), 0);
}

/// A process that is kept from running for 60 ms says so: how often, how long, and how many packets were late.
#[test]
fn a_machine_that_does_not_keep_up_is_told() {
    let _turn = TURN.lock();
    let Some(rig) = Rig::new() else { return };
    // The test's own sender may be kept from running as well, and then make good for it at once.
    let running = rig.start(["va", "vb"], &[&PATH[..], &["--set", "wireless.queue.packets=400"]].concat());
    let pid = running.pid();
    let stream = Stream { packets: 400, bytes: 500, interval: Duration::from_millis(1) };
    let arrivals = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            kill(pid, Signal::SIGSTOP).unwrap();
            thread::sleep(Duration::from_millis(60));
            kill(pid, Signal::SIGCONT).unwrap();
        });
        stream.run(&rig.near, (&rig.far, "10.8.0.2:9000".parse().unwrap()), PATIENCE)
    });
    let report = running.end(Signal::SIGINT);
    assert_eq!((arrivals.len(), count(&report, 0, "/lost_overflow")), (400, 0), "{report}");
    // What was due then, 5 ms after it had come: one packet a millisecond.
    assert!(count(&report, 0, "/departures/late_departures") >= 40, "{report}");
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_f64).unwrap();
    assert!(number("/longest_absence_ms") > 35.0, "{report}");
    assert!(number("/absences") >= 1.0 && number("/ways/0/departures/max_us") > 30_000.0, "{report}");
}

/// A terminal that is closed ends it in good order; what nohup has started goes on.
#[test]
#[allow(unsafe_code, reason = "signal(2)")]
fn the_end_of_the_terminal() {
    let _turn = TURN.lock();
    let Some(rig) = Rig::new() else { return };
    let start = |hang_up: SigHandler| {
        // SAFETY: what is set is no function.
        let before = unsafe { signal(Signal::SIGHUP, hang_up) }.unwrap();
        let running = rig.start(["va", "vb"], &PATH);
        unsafe { signal(Signal::SIGHUP, before) }.unwrap();
        running
    };
    let report = start(SigHandler::SigDfl).end(Signal::SIGHUP);
    assert_eq!(report["ways"].as_array().unwrap().len(), 2);
    let running = start(SigHandler::SigIgn);
    kill(running.pid(), Signal::SIGHUP).unwrap();
    let stream = Stream { packets: 100, bytes: 500, interval: Duration::from_millis(1) };
    let arrivals = stream.run(&rig.near, (&rig.far, "10.8.0.2:9000".parse().unwrap()), PATIENCE);
    assert_eq!(arrivals.len(), 100);
    running.end(Signal::SIGTERM);
}

/// What a full disk has taken of the capture it has not taken of the counters.
#[test]
fn a_capture_that_fails() {
    let _turn = TURN.lock();
    let Some(rig) = Rig::new() else { return };
    let file = std::env::temp_dir().join(format!("airtcp-full-{}.pcapng", std::process::id()));
    symlink("/dev/full", &file).unwrap();
    let running = rig.start(["va", "vb"], &["--capture", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    kill(running.pid(), Signal::SIGTERM).unwrap();
    let output = running.child.wait_with_output().unwrap();
    assert!(!output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(count(&report, 0, "/entered_packets"), 0);
}

/// Interfaces that are not there are made, and gone with the program, however it ends.
#[test]
fn tun_devices_of_its_own() {
    let _turn = TURN.lock();
    let Some(rig) = Rig::new() else { return };
    let is_there = |name: &str| rig.middle.run(|| nix::net::if_::if_nametoindex(name).is_ok()).unwrap();
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let mut running = rig.start(["air0", "air1"], &[]);
        assert!(is_there("air0") && is_there("air1"));
        kill(running.pid(), signal).unwrap();
        running.child.wait().unwrap();
        assert!(!is_there("air0") && !is_there("air1"));
    }
}

/// TUN devices that were there before are used as they are, and stay so.
#[test]
fn tun_devices_of_somebody_else() {
    let _turn = TURN.lock();
    let Some(rig) = Rig::new() else { return };
    let set_up = |name: &&str| {
        ip(&format!("tuntap add dev {name} mode tun"));
        ip(&format!("link set {name} mtu 1400 txqueuelen 77 up"));
    };
    let is_as_before = |name: &str, flag: &str| {
        let told = rig.middle.run(|| ip(&format!("-d link show dev {name}"))).unwrap();
        let settings = ["mtu 1400", "qlen 77", "persist on"].iter().all(|setting| told.contains(setting));
        assert!(settings && told.contains(flag), "{told}");
    };
    let ends = ["tun0", "tun1"];
    rig.middle.run(|| ends.iter().for_each(set_up)).unwrap();
    let running = rig.start(ends, &[]);
    ends.iter().for_each(|name| is_as_before(name, ",UP"));
    running.end(Signal::SIGTERM);
    ends.iter().for_each(|name| is_as_before(name, ",UP"));
    rig.middle.run(|| ip("link set tun1 down")).unwrap();
    rig.refuses(ends, "ip link set tun1 up");
    is_as_before("tun0", ",UP");
    is_as_before("tun1", "NOARP>");
}

/// What cannot be is refused with the cure, and nothing is left behind.
#[test]
fn ends_that_are_none() {
    let _turn = TURN.lock();
    let Some(rig) = Rig::new() else { return };
    rig.refuses(["va", "va"], "given twice");
    rig.refuses(["va", "air7"], "no interface `air7`");
    rig.refuses(["lo", "va"], "lo is neither");
    let first = rig.start(["va", "vb"], &[]);
    rig.refuses(["vb", "va"], "vb is already an end of another path");
    first.end(Signal::SIGTERM);
    rig.middle.run(|| ip("link set vb down")).unwrap();
    rig.refuses(["va", "vb"], "ip link set vb up");
    rig.refuses(["an-interface-name-too-long", "air1"], "an-interface-name-too-long");
    assert!(rig.middle.run(|| nix::net::if_::if_nametoindex("air1").is_err()).unwrap());
}
