//! `airtcpd circuit` between real ends: the base station sends into the wireless link, the mobile host receives, and a phone is
//! behind it.

use crate::daemon::{at_base_of, tell};
use crate::rig::{PHONE, Rig, SERVER, WIRELESS, eventually, ip, records};
use airtcp_live::namespace::Namespace;
use nix::cmsg_space;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{IoSliceMut, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

pub const KEY: &str = "/run/circuit.key";
pub const SEND: &str = "send --to 10.1.0.2:4007 --prefix 10.3.0.0/24";
pub const RECEIVE: &str = "receive --listen 0.0.0.0:4007";
const COUNT: &str = "receive --listen 10.1.0.2:4007 --prefix 10.3.0.0/24";

/// Of the receiving gateway.
const PORT: ([u8; 4], u16) = ([10, 1, 0, 2], 4007);

pub fn airtcpd(line: &str) -> Command {
    of("circuit", line)
}

/// A command of `airtcpd`.
pub fn of(daemon: &str, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_airtcpd"));
    command.arg(daemon).args(line.split_whitespace()).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// A daemon, which ends with this value.
pub struct Gateway {
    pub process: Child,
    daemon: &'static str,
}

impl Gateway {
    pub fn start(at: &Namespace, line: &str) -> Gateway {
        Gateway::of("circuit", at, airtcpd(line).args(["--key-file", KEY]))
    }

    pub fn of(daemon: &'static str, at: &Namespace, command: &mut Command) -> Gateway {
        Gateway { process: at.run(|| command.spawn()).unwrap().unwrap(), daemon }
    }

    /// In order; its status is a success then.
    pub fn end(mut self) {
        tell(&self.process, Signal::SIGTERM);
        assert!(self.process.wait().unwrap().success());
    }

    /// Kills it, and waits until its children have ended too, so that another one may bind its port.
    pub fn kill(&mut self) {
        let children = self.children();
        tell(&self.process, Signal::SIGKILL);
        self.process.wait().unwrap();
        eventually(|| children.iter().all(has_ended), "its children have ended");
    }

    pub fn status(&self) -> Option<Value> {
        let Output { stdout, .. } = of(self.daemon, "status --json").output().unwrap();
        let all: Vec<Value> = serde_json::from_slice(&stdout).unwrap();
        all.into_iter().find(|status| status["pid"] == self.process.id())
    }

    pub fn count(&self, counter: &str) -> u64 {
        self.status().map_or(0, |status| status["counters"][counter].as_u64().unwrap())
    }

    pub fn awaits_open(&self) {
        eventually(|| self.count("open") == 1, "there is a session");
    }

    /// The process that touches packets.
    pub fn worker(&self) -> i32 {
        let is_ours =
            |child: &i32| fs::read_to_string(format!("/proc/{child}/comm")).unwrap().trim() == "airtcpd";
        self.children().into_iter().find(is_ours).unwrap()
    }

    pub fn children(&self) -> Vec<i32> {
        let children = format!("/proc/{0}/task/{0}/children", self.process.id());
        let children = fs::read_to_string(children).unwrap();
        children.split_whitespace().map(|child| child.parse().unwrap()).collect()
    }
}

/// Returns whether all threads of a process have ended, even if nobody has reaped it.
pub fn has_ended(process: &i32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return true };
    let is_zombie =
        |thread: PathBuf| fs::read_to_string(thread.join("stat")).map_or(true, |stat| stat.contains(") Z "));
    threads.flatten().all(|thread| is_zombie(thread.path()))
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub fn link(more: &str) -> String {
    format!("[[link]]\nrate = \"20Mbit/s\"\ndelay = \"5ms\"\nqueue = {{ packets = 50 }}\n{more}\n")
}

/// Runs a test at the base station, with a key, and with a phone behind the mobile host.
fn with_phone(path: &str, test: impl FnOnce(&Rig, &Namespace) + Send) {
    let Some(rig) = Rig::new(Some(path)) else { return };
    let phone = Namespace::new().unwrap();
    rig.extend(&phone, 1500);
    at_base_of(&rig, |rig| {
        assert!(airtcpd(&format!("key {KEY}")).status().unwrap().success());
        test(rig, &phone);
    });
}

pub fn data(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// The server writes all, the phone reads to the end.
fn download((mut phone, mut server): (TcpStream, TcpStream), len: usize) {
    let sent = data(len);
    let received = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut received = Vec::new();
            phone.read_to_end(&mut received).map(|_| received).unwrap()
        });
        server.write_all(&sent).unwrap();
        server.shutdown(std::net::Shutdown::Write).unwrap();
        reader.join().unwrap()
    });
    assert!(received == sent, "what the phone gets is what the server sent");
}

/// What a gateway sets up in the kernel and in the file system.
fn traces() -> String {
    let is_ours = |line: &&str| ["300", "airc", "airr"].iter().any(|word| line.contains(word));
    let mut found: String = ip("rule").lines().filter(is_ours).collect();
    found.extend(ip("-o link").lines().filter(is_ours));
    found + &records().concat()
}

#[test]
fn every_byte_arrives_over_a_link_that_corrupts() {
    with_phone(&link("loss = { ber = 1e-5 }"), |rig, phone| {
        let receiver = Gateway::start(&rig.mobile, COUNT);
        let sender = Gateway::start(&rig.base, &format!("{SEND} --controls 2 --compression twice"));
        sender.awaits_open();
        download(rig.connect(phone, &rig.server, SERVER), 1_000_000);
        assert!(sender.count("data_bytes_total") > 1_000_000, "{:?}", sender.status());
        assert!(receiver.count("header_packets_total") > 300, "{:?}", receiver.status());
        // About a tenth is lost on the link.
        let (sent, came) = (sender.count("data_packets_total"), receiver.count("data_packets_total"));
        assert!(came > sent / 2 && came < sent, "{came} of {sent}");
    });
}

#[test]
fn every_byte_arrives_over_a_link_that_loses() {
    for loss in ["0.01", "0.05"] {
        with_phone(&link(&format!("loss = {{ packet = {loss} }}")), |rig, phone| {
            let sender = Gateway::start(&rig.base, &format!("{SEND} --vmss 3000B --control bbr"));
            let _receiver = Gateway::start(&rig.mobile, RECEIVE);
            sender.awaits_open();
            download(rig.connect(phone, &rig.server, SERVER), 500_000);
            assert!(sender.count("data_bytes_total") > 500_000, "{:?}", sender.status());
        });
    }
}

/// Of a capture on the lossy link: what tshark reads in these fields, a line a packet.
fn tshark(file: &str, fields: &[&str]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/wireshark/airtcp-circuit.lua");
    let mut command = Command::new("tshark");
    command.args(["-r", file, "-X", &format!("lua_script:{script}"), "-T", "fields"]);
    command.args(fields.iter().flat_map(|field| ["-e", field]));
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn wireshark_reads_header_packets_and_data() {
    if Command::new("tshark").arg("-v").output().is_err() {
        return eprintln!("skipped: there is no tshark");
    }
    with_phone(&link(""), |rig, phone| {
        let _receiver = Gateway::start(&rig.mobile, COUNT);
        let sender = Gateway::start(&rig.base, SEND);
        sender.awaits_open();
        let file = "/run/circuit.pcapng";
        let capture = || {
            let mut command = Command::new("tshark");
            command.args(["-q", "-i", WIRELESS, "-c", "300", "-w", file]).stderr(Stdio::null()).spawn()
        };
        let mut capturing = rig.base.run(capture).unwrap().unwrap();
        while capturing.try_wait().unwrap().is_none() {
            download(rig.connect(phone, &rig.server, SERVER), 300_000);
        }
        let read = tshark(file, &["aircircuit.kind", "aircircuit.seq", "aircircuit.ack", "tcp.len"]);
        let rows: Vec<Vec<&str>> = read.lines().map(|line| line.split('\t').collect()).collect();
        let has = |is: &dyn Fn(&[&str]) -> bool| rows.iter().filter(|row| is(row)).count() > 10;
        assert!(has(&|row| row[0] == "3" && !row[1].is_empty()), "header packets: {read}");
        assert!(has(&|row| row[0] == "5" && !row[2].is_empty()), "their ACKs: {read}");
        assert!(
            has(&|row| row[0].is_empty() && row[3].parse().is_ok_and(|len: u32| len > 1000)),
            "data: {read}"
        );
        fs::remove_file(file).unwrap();
    });
}

/// Sends bursts of datagrams, and returns the share of the second half of them that arrives. Nobody resends any.
fn of_bursts(rig: &Rig, phone: &Namespace) -> f64 {
    const BURSTS: u32 = 120;
    const PACKETS: u32 = 8;
    let to = phone.run(|| UdpSocket::bind((PHONE, 0))).unwrap().unwrap();
    let from = rig.server.run(|| UdpSocket::bind((SERVER, 0))).unwrap().unwrap();
    to.set_nonblocking(true).unwrap();
    let mut came = std::collections::BTreeSet::new();
    for burst in 0..BURSTS {
        for packet in 0..PACKETS {
            let mut payload = data(1000);
            payload[..4].copy_from_slice(&(burst * PACKETS + packet).to_be_bytes());
            from.send_to(&payload, to.local_addr().unwrap()).unwrap();
        }
        pause(Duration::from_millis(60));
        let mut buffer = [0; 2000];
        while let Ok(len) = to.recv(&mut buffer) {
            assert!(buffer[4..len] == data(1000)[4..], "unmodified");
            came.insert(u32::from_be_bytes(buffer[..4].try_into().unwrap()));
        }
    }
    let half = BURSTS * PACKETS / 2;
    came.range(half..).count() as f64 / f64::from(half)
}

#[allow(clippy::disallowed_methods, reason = "datagrams are sent in time")]
fn pause(time: Duration) {
    thread::sleep(time);
}

/// Bounds: what arrives at least, and repairs at most.
#[test]
fn lost_data_is_rebuilt() {
    for (loss, least, most) in
        [("packet = 0", 1.0, 96), ("packet = 0.05", 0.985, 960), ("packet = 0.15", 0.97, 1920)]
    {
        with_phone(&link(&format!("loss = {{ {loss} }}")), |rig, phone| {
            let receiver = Gateway::start(&rig.mobile, COUNT);
            let sender = Gateway::start(&rig.base, &format!("{SEND} --control bbr --fec auto"));
            sender.awaits_open();
            let came = of_bursts(rig, phone);
            let told = [sender.status(), receiver.status()];
            assert!(came >= least, "{loss}: {came} {told:?}");
            assert!(sender.count("repairs_total") <= most, "{loss}: {told:?}");
            assert!(loss == "packet = 0" || receiver.count("rebuilt_packets_total") > 10, "{loss}: {told:?}");
            sender.end();
            receiver.end();
            assert_eq!(traces(), "");
        });
    }
}

/// The control TCPs hardly live at 30 %, and a burst takes repairs, too. What is rebuilt is right all the same, and a receiver that has
/// been killed goes on where it was.
#[test]
fn data_is_rebuilt_whatever_is_lost_and_whoever_dies() {
    for loss in ["packet = 0.3", "burst = { interval = \"1ms\", to_bad = 0.05, to_good = 0.7 }"] {
        with_phone(&link(&format!("loss = {{ {loss} }}")), |rig, phone| {
            let mut receiver = Gateway::start(&rig.mobile, COUNT);
            let sender = Gateway::start(&rig.base, &format!("{SEND} --control bbr --fec auto"));
            for _ in 0..2 {
                eventually(
                    || {
                        of_bursts(rig, phone);
                        receiver.count("rebuilt_packets_total") > 0
                    },
                    "some are rebuilt",
                );
                receiver.kill();
                receiver = Gateway::start(&rig.mobile, COUNT);
            }
            sender.end();
        });
    }
}

/// Of a process, in KiB.
fn memory(process: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A stranger makes up repairs as fast as it can, and sends as much data as the link takes.
#[test]
fn forged_repairs_rebuild_nothing_and_take_no_memory() {
    with_phone(&link("loss = { packet = 0.05 }"), |rig, phone| {
        let receiver = Gateway::start(&rig.mobile, COUNT);
        let sender = Gateway::start(&rig.base, &format!("{SEND} --control bbr --fec auto"));
        sender.awaits_open();
        of_bursts(rig, phone);
        let before = memory(receiver.worker());
        let stranger = phone.run(|| UdpSocket::bind((PHONE, 0))).unwrap().unwrap();
        stranger.set_nonblocking(true).unwrap();
        let other = rig.server.run(|| UdpSocket::bind((SERVER, 0))).unwrap().unwrap();
        let mut forged = data(1400);
        for round in 0..50_000u32 {
            // A repair of one packet, and of this number.
            forged[0] = 0;
            forged[1..4].copy_from_slice(&round.to_be_bytes()[1..]);
            forged[4..12].copy_from_slice(&[0, 1, 0, 1, 0, 0, 0, 0]);
            let _ = stranger.send_to(&forged, SocketAddr::from(PORT));
            let _ = other.send_to(&forged, (PHONE, 9));
        }
        assert!(receiver.count("refused_total") > 1_000, "{:?}", receiver.status());
        let grown = memory(receiver.worker()).saturating_sub(before);
        assert!(grown < 8 << 10, "{grown} KiB");
        let (came, rebuilt) = (receiver.count("repairs_total"), receiver.count("rebuilt_packets_total"));
        assert!(came <= sender.count("repairs_total"), "{:?}", receiver.status());
        assert!(of_bursts(rig, phone) > 0.985, "it goes on");
        assert!(receiver.count("rebuilt_packets_total") > rebuilt);
    });
}

/// In order, with content, DSCP and ECN as they were.
#[test]
fn datagrams_come_out_as_they_went_in() {
    with_phone(&link("").replace("50", "1000"), |rig, phone| {
        let _receiver = Gateway::start(&rig.mobile, RECEIVE);
        let sender = Gateway::start(&rig.base, SEND);
        sender.awaits_open();
        let to = phone.run(|| UdpSocket::bind((PHONE, 0))).unwrap().unwrap();
        setsockopt(&to, sockopt::IpRecvTos, &true).unwrap();
        to.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let from = rig.server.run(|| UdpSocket::bind((SERVER, 0))).unwrap().unwrap();
        // Expedited forwarding, ECT(0).
        setsockopt(&from, sockopt::Ipv4Tos, &(46 << 2 | 2)).unwrap();
        for number in 0..100u32 {
            let mut payload = data(1000);
            payload[..4].copy_from_slice(&number.to_be_bytes());
            from.send_to(&payload, to.local_addr().unwrap()).unwrap();
        }
        for number in 0..100u32 {
            let (mut buffer, mut control) = ([0; 2000], cmsg_space!(u8));
            let mut parts = [IoSliceMut::new(&mut buffer)];
            let message =
                recvmsg::<()>(to.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty()).unwrap();
            assert_eq!(message.cmsgs().unwrap().next(), Some(ControlMessageOwned::Ipv4Tos(46 << 2 | 2)));
            let len = message.bytes;
            assert_eq!(buffer[..4], number.to_be_bytes(), "in order");
            assert!(buffer[4..len] == data(1000)[4..], "unmodified");
        }
        assert_eq!(sender.count("data_packets_total"), 100);
    });
}

/// While one is gone, packets pass as if there were no circuit; when it is back, there is one again.
#[test]
fn either_gateway_may_die_at_any_moment() {
    with_phone(&link("loss = { packet = 0.002 }"), |rig, phone| {
        let mut receiver = Gateway::start(&rig.mobile, RECEIVE);
        let mut sender = Gateway::start(&rig.base, SEND);
        sender.awaits_open();
        let ends = rig.connect(phone, &rig.server, SERVER);
        thread::scope(|scope| {
            let transfer = scope.spawn(|| download(ends, 8_000_000));
            let half = || sender.count("data_bytes_total") > 1_000_000;
            eventually(half, "some of it has gone");
            receiver.kill();
            receiver = Gateway::start(&rig.mobile, RECEIVE);
            eventually(|| sender.count("sessions_total") >= 2, "it has noticed, and called again");
            sender.kill();
            sender = Gateway::start(&rig.base, SEND);
            sender.awaits_open();
            eventually(|| receiver.count("sessions_total") >= 2, "a sender has come back");
            kill(Pid::from_raw(sender.worker()), Signal::SIGKILL).unwrap();
            assert!(!sender.process.wait().unwrap().success());
            sender = Gateway::start(&rig.base, SEND);
            transfer.join().unwrap();
        });
        sender.end();
        receiver.end();
        assert_eq!(traces(), "");
    });
}

#[test]
fn strangers_are_told_nothing_and_stop_nothing() {
    with_phone(&link(""), |rig, phone| {
        let receiver = Gateway::start(&rig.mobile, RECEIVE);
        let sender = Gateway::start(&rig.base, SEND);
        sender.awaits_open();
        let ends = rig.connect(phone, &rig.server, SERVER);
        let stranger = phone.run(|| UdpSocket::bind((PHONE, 0))).unwrap().unwrap();
        stranger.set_nonblocking(true).unwrap();
        thread::scope(|scope| {
            let transfer = scope.spawn(|| download(ends, 2_000_000));
            let mut junk = data(4096);
            for round in 0..50_000usize {
                // Of every kind and of every length.
                let at = round % 4000;
                let len = round % 70;
                junk[at] = (round as u8) << 5 | junk[at] & 31;
                let _ = stranger.send_to(&junk[at..at + len], SocketAddr::from(PORT));
            }
            transfer.join().unwrap();
        });
        assert!(receiver.count("refused_total") > 1_000, "{:?}", receiver.status());
        assert_eq!((sender.count("sessions_total"), receiver.count("sessions_total")), (1, 1));
        assert!(stranger.recv(&mut [0; 100]).is_err(), "a stranger is answered");
    });
}

#[test]
fn it_tells_of_itself_and_leaves_nothing() {
    with_phone(&link(""), |rig, phone| {
        rig.base.sysctl("net.ipv4.conf.air0.rp_filter", "1").unwrap();
        let sender = Gateway::start(&rig.base, &format!("{SEND} --metrics 127.0.0.1:9465"));
        eventually(|| sender.status().is_some(), "it tells its status");
        // Nobody answers: packets pass.
        download(rig.connect(phone, &rig.server, SERVER), 100_000);
        assert_eq!(sender.count("open"), 0);
        let receiver = Gateway::start(&rig.mobile, RECEIVE);
        sender.awaits_open();
        let status = fs::read_to_string(format!("/proc/{}/status", sender.worker())).unwrap();
        assert!(status.contains("Uid:\t65534\t65534\t65534\t65534"), "{status}");
        assert!(
            status.contains("CapPrm:\t0000000000000000\n") && status.contains("NoNewPrivs:\t1"),
            "{status}"
        );
        let mut scrape = TcpStream::connect("127.0.0.1:9465").unwrap();
        scrape.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
        let mut text = String::new();
        scrape.read_to_string(&mut text).unwrap();
        assert!(text.contains("\nairtcp_circuit_sender_open 1\n"), "{text}");
        assert_eq!(rig.base.sysctl_value("net.ipv4.conf.air0.rp_filter").unwrap(), "2");
        sender.end();
        assert_eq!(rig.base.sysctl_value("net.ipv4.conf.air0.rp_filter").unwrap(), "1");
        receiver.end();
        assert_eq!(traces(), "");
    });
}

#[test]
#[allow(clippy::disallowed_methods, reason = "killed at some moment")]
fn killed_at_any_moment_a_sender_leaves_nothing_for_long() {
    with_phone(&link(""), |rig, _| {
        for delay_ms in [0, 3, 6, 10, 15, 25, 60] {
            let mut sender = Gateway::start(&rig.base, SEND);
            thread::sleep(Duration::from_millis(delay_ms));
            sender.kill();
            let is_clean = || {
                assert!(airtcpd("clean").stdout(Stdio::null()).status().unwrap().success());
                traces().is_empty()
            };
            eventually(is_clean, "nothing is left");
        }
    });
}

/// The guide's page, line by line.
#[test]
fn two_gateways_in_ten_lines() {
    const PAGE: &str = include_str!("../../../../docs/guide/circuits.md");
    let Some(rig) = Rig::new(Some(&link("loss = { ber = 1e-6 }"))) else { return };
    let phone = Namespace::new().unwrap();
    rig.extend(&phone, 1500);
    at_base_of(&rig, |rig| {
        let mut gateways = Vec::new();
        let mut at = &rig.base;
        for line in PAGE.lines().take_while(|line| !line.starts_with("## ")) {
            let words: Vec<_> = line.trim().trim_start_matches("sudo ").split(' ').collect();
            match words[..] {
                _ if line.to_lowercase().ends_with("on a:") => at = &rig.base,
                _ if line.to_lowercase().ends_with("on b:") => at = &rig.mobile,
                ["scp", ..] => {}
                ["sysctl", "-w", change] => {
                    let (name, value) = change.split_once('=').unwrap();
                    at.sysctl(name, value).unwrap();
                }
                ["airtcpd", "circuit", ref rest @ ..] => {
                    let mut command = airtcpd(&rest.join(" "));
                    command.current_dir("/run").stdout(Stdio::null());
                    let mut child = at.run(|| command.spawn()).unwrap().unwrap();
                    if ["send", "receive"].contains(&rest[0]) {
                        gateways.push(Gateway { process: child, daemon: "circuit" });
                    } else {
                        assert!(child.wait().unwrap().success(), "{line}");
                    }
                }
                _ => assert!(!line.starts_with("    "), "{line}"),
            }
        }
        assert_eq!(gateways.len(), 4);
        [1, 3].iter().for_each(|&sender: &usize| gateways[sender].awaits_open());
        download(rig.connect(&phone, &rig.server, SERVER), 300_000);
        assert!(gateways[1].count("data_bytes_total") > 300_000);
        assert!(gateways[3].count("data_packets_total") > 0, "the ACKs take the other one");
    });
}
