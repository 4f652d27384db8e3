//! `airtcpd decouple` between real ends: programs at the base station, and what they connect to at the mobile host.

use crate::circuit::{Gateway, KEY, RECEIVE, data, has_ended, link, of};
use crate::daemon::{at_base_of, tell};
use crate::ends::fate_of_connecting;
use crate::rig::{MOBILE, Rig, SERVER, accept, connect, eventually, ip, listen, records};
use airtcp_live::namespace::Namespace;
use airtcp_live::proxy::allow_files;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::thread;

pub const TO_MOBILE: &str = "--to 10.1.0.2";
const MOBILE_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 2));

/// Runs a test at the base station, which is no router, with a key and with a receiver at the mobile host.
pub fn with_receiver(path: Option<&str>, test: impl FnOnce(&Rig, &mut Gateway) + Send) {
    let Some(rig) = Rig::new(path) else { return };
    for name in ["net.ipv4.conf.all.forwarding", "net.ipv6.conf.all.forwarding"] {
        rig.base.sysctl(name, "0").unwrap();
    }
    at_base_of(&rig, |rig| {
        assert!(of("circuit", &format!("key {KEY}")).status().unwrap().success());
        let mut receiver = Gateway::start(&rig.mobile, RECEIVE);
        test(rig, &mut receiver);
    });
}

fn start(rig: &Rig, line: &str) -> Gateway {
    Gateway::of("decouple", &rig.base, of("decouple", line).args(["--key-file", KEY]))
}

pub fn started(rig: &Rig, line: &str) -> Gateway {
    let daemon = start(rig, line);
    eventually(|| daemon.count("circuit_open") == 1, "there is a circuit");
    daemon
}

pub fn pair(from: &Namespace, listener: &TcpListener) -> (TcpStream, TcpStream) {
    (connect(from, listener.local_addr().unwrap()), accept(listener))
}

/// Both ends write all and finish, and read to the end.
fn exchange((near, far): (TcpStream, TcpStream), len: usize) {
    let ends = [(near, data(len)), (far, data(len / 4))];
    let received = thread::scope(|scope| {
        let readers = ends.each_ref().map(|(end, _)| {
            scope.spawn(move || {
                let mut received = Vec::new();
                (&mut &*end).read_to_end(&mut received).map(|_| received).unwrap()
            })
        });
        for (end, data) in &ends {
            scope.spawn(move || {
                (&mut &*end).write_all(data).unwrap();
                end.shutdown(Shutdown::Write).unwrap();
            });
        }
        readers.map(|reader| reader.join().unwrap())
    });
    assert!(received[1] == ends[0].1 && received[0] == ends[1].1, "each gets what the other one sent");
}

/// What it sets up in the kernel and in the file system.
fn traces(id: u32) -> String {
    let tables = Command::new("nft").args(["list", "tables"]).output().unwrap().stdout;
    let links = ip("-o link");
    let devices: String = links.lines().filter(|line| line.contains("airtcpd")).collect();
    let is_its = |name: &String| name.contains(&id.to_string());
    let records: String = records().into_iter().filter(is_its).collect();
    String::from_utf8(tables).unwrap() + &devices + &records
}

#[test]
fn every_byte_arrives_over_a_path_that_corrupts_and_loses() {
    let losses = [("ber = 1e-5", 1_000_000), ("packet = 0.01", 1_000_000), ("packet = 0.05", 300_000)];
    for (loss, len) in losses {
        with_receiver(Some(&link(&format!("loss = {{ {loss} }}"))), |rig, _| {
            let daemon = started(rig, TO_MOBILE);
            let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
            let (near, far) = pair(&rig.base, &listener);
            assert_eq!(near.peer_addr().unwrap(), listener.local_addr().unwrap());
            assert_eq!(far.peer_addr().unwrap().ip(), near.local_addr().unwrap().ip());
            exchange((near, far), len);
            eventually(|| daemon.count("completed_total") == 1, "both ends have closed");
            assert!(daemon.count("circuit_data_bytes_total") > len as u64, "{:?}", daemon.status());
            let id = daemon.process.id();
            daemon.end();
            assert_eq!(traces(id), "");
        });
    }
}

/// Its packets leave with another source than they have where repairs are made of them.
#[test]
fn what_is_lost_of_small_transfers_is_rebuilt() {
    with_receiver(Some(&link("loss = { packet = 0.1 }")), |rig, receiver| {
        receiver.kill();
        *receiver = Gateway::start(&rig.mobile, "receive --listen 10.1.0.2:4007 --prefix 10.1.0.2/32");
        let daemon = started(rig, "--to 10.1.0.2 --control bbr --fec auto");
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        for _ in 0..40 {
            exchange(pair(&rig.base, &listener), 10_000);
        }
        let told = [daemon.status(), receiver.status()];
        assert!(daemon.count("circuit_repairs_total") > 40, "{told:?}");
        assert!(receiver.count("rebuilt_packets_total") > 20, "{told:?}");
    });
}

/// The default bounds let so many be open at once, and answer all.
#[test]
fn five_hundred_at_once() {
    assert_eq!(allow_files(2_000).unwrap(), 2_000);
    with_receiver(Some(&link("")), |rig, _| {
        let daemon = started(rig, TO_MOBILE);
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        let mut pairs: Vec<_> = (0..500).map(|_| pair(&rig.base, &listener)).collect();
        for (near, far) in &mut pairs {
            near.write_all(b"word").unwrap();
            far.read_exact(&mut [0; 4]).unwrap();
        }
        assert_eq!((daemon.count("connections"), daemon.count("waits_total")), (500, 0));
    });
}

#[test]
fn several_connections_have_turns() {
    with_receiver(Some(&link("")), |rig, _| {
        let daemon = started(rig, TO_MOBILE);
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        let ends: Vec<_> = (0..8).map(|_| pair(&rig.base, &listener)).collect();
        thread::scope(|scope| {
            ends.into_iter().for_each(|ends| drop(scope.spawn(|| exchange(ends, 200_000))))
        });
        eventually(|| daemon.count("completed_total") == 8, "all have closed");
    });
}

#[test]
fn of_both_families() {
    with_receiver(None, |rig, _| {
        let key = "net.ipv6.conf.air0.force_forwarding";
        if rig.base.sysctl_value(key).is_err() {
            return eprintln!("skipped: no interface forwards IPv6 alone here (Linux 6.17)");
        }
        let daemon = started(rig, "--to 10.1.0.2 --to fd01::2 --receiver 10.1.0.2:4007");
        assert_eq!(rig.base.sysctl_value("net.ipv4.conf.air0.forwarding").unwrap(), "1");
        for address in [MOBILE, MOBILE_V6] {
            exchange(pair(&rig.base, &listen(&rig.mobile, SocketAddr::new(address, 0))), 300_000);
        }
        eventually(|| daemon.count("completed_total") == 2, "both have closed");
        assert!(daemon.count("circuit_data_bytes_total") > 600_000, "{:?}", daemon.status());
        let id = daemon.process.id();
        daemon.end();
        for key in [key, "net.ipv4.conf.air0.forwarding"] {
            assert_eq!(rig.base.sysctl_value(key).unwrap(), "0");
        }
        assert_eq!(traces(id), "");
    });
}

/// What goes elsewhere, what began before, and what comes in.
#[test]
fn other_connections_are_let_alone() {
    with_receiver(None, |rig, _| {
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        let before = pair(&rig.base, &listener);
        let daemon = started(rig, TO_MOBILE);
        exchange(before, 10_000);
        exchange(pair(&rig.base, &listen(&rig.server, SocketAddr::new(SERVER, 0))), 10_000);
        let here = listen(&rig.base, "10.1.0.1:0".parse().unwrap());
        exchange(pair(&rig.mobile, &here), 10_000);
        assert_eq!(daemon.count("accepted_total"), 0);
    });
}

#[test]
fn how_a_connection_ends_at_one_side_is_how_it_ends_at_the_other() {
    with_receiver(None, |rig, _| {
        let _daemon = started(rig, TO_MOBILE);
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        for is_turned in [false, true] {
            let (mut near, mut far) = pair(&rig.base, &listener);
            near.write_all(b"x").unwrap();
            far.read_exact(&mut [0]).unwrap();
            let [first, mut second] = if is_turned { [far, near] } else { [near, far] };
            setsockopt(&first.as_fd(), sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 }).unwrap();
            drop(first);
            assert_eq!(second.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
        }
        let nobody = SocketAddr::new(MOBILE, 9);
        assert_eq!(fate_of_connecting(&rig.base, nobody), ErrorKind::ConnectionReset);
    });
}

/// A receiver serves several senders.
#[test]
fn a_daemon_and_commands_beside_it() {
    with_receiver(Some(&link("loss = { ber = 1e-6 }")), |rig, receiver| {
        let daemons =
            ["--to 10.1.0.2", "--to 10.1.0.2/31 --receiver 10.1.0.2:4007"].map(|line| started(rig, line));
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        exchange(pair(&rig.base, &listener), 300_000);
        let port = listener.local_addr().unwrap().port();
        let script = format!("head -c 500000 /dev/zero > /dev/tcp/10.1.0.2/{port}");
        let mut command = of("decouple", "--receiver 10.1.0.2:4007");
        command.args(["--key-file", KEY, "--", "bash", "-c", &script]);
        let mut command = Gateway::of("decouple", &rig.base, &mut command);
        let mut received = Vec::new();
        accept(&listener).read_to_end(&mut received).unwrap();
        assert!(received.len() == 500_000 && command.process.wait().unwrap().success());
        daemons.iter().for_each(|daemon| assert_eq!(daemon.count("circuit_sessions_total"), 1));
        assert_eq!((receiver.count("sessions_total"), receiver.count("open")), (3, 3));
    });
}

/// Without a receiver, connections go on by the kernel's TCP.
#[test]
fn without_a_circuit() {
    with_receiver(None, |rig, receiver| {
        receiver.kill();
        let daemon = start(rig, TO_MOBILE);
        eventually(|| daemon.status().is_some(), "it is there");
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        exchange(pair(&rig.base, &listener), 300_000);
        assert_eq!((daemon.count("circuit_open"), daemon.count("circuit_data_bytes_total")), (0, 0));
    });
}

/// A program whose receiver does not come back is told.
#[test]
fn a_receiver_that_is_gone() {
    with_receiver(None, |rig, receiver| {
        let daemon = started(rig, &format!("{TO_MOBILE} --connect-timeout 1s"));
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        let (mut near, _far) = pair(&rig.base, &listener);
        near.write_all(b"x").unwrap();
        receiver.kill();
        // More than what credit is left for. On a busy host, the reset comes before all is written.
        let end = near.write_all(&[0; 100_000]).and_then(|()| near.read_exact(&mut [0]));
        assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
        eventually(|| daemon.count("lost_wireless_total") == 1, "it is counted");
    });
}

/// A receiver that comes back is found again; a program whose daemon dies is told.
#[test]
fn whoever_is_killed() {
    with_receiver(Some(&link("loss = { packet = 0.002 }")), |rig, receiver| {
        let mut daemon = started(rig, TO_MOBILE);
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        let ends = pair(&rig.base, &listener);
        thread::scope(|scope| {
            let transfer = scope.spawn(|| exchange(ends, 6_000_000));
            eventually(|| daemon.count("circuit_data_bytes_total") > 500_000, "some of it has gone");
            receiver.kill();
            *receiver = Gateway::start(&rig.mobile, RECEIVE);
            transfer.join().unwrap();
        });
        assert!(daemon.count("circuit_sessions_total") >= 2, "{:?}", daemon.status());

        let (mut near, _far) = pair(&rig.base, &listener);
        near.write_all(b"x").unwrap();
        kill(Pid::from_raw(daemon.worker()), Signal::SIGKILL).unwrap();
        assert_eq!(near.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert!(!daemon.process.wait().unwrap().success());
        assert_eq!(traces(daemon.process.id()), "");

        for _ in 0..5 {
            daemon = started(rig, TO_MOBILE);
            let (mut near, _far) = pair(&rig.base, &listener);
            near.write_all(b"x").unwrap();
            daemon.kill();
            assert_eq!(near.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
            let is_clean = || {
                assert!(of("decouple", "clean").stdout(Stdio::null()).status().unwrap().success());
                traces(daemon.process.id()).is_empty()
                    && rig.base.sysctl_value("net.ipv4.conf.air0.forwarding").unwrap() == "0"
            };
            eventually(is_clean, "nothing is left");
        }
    });
}

/// The guide's section, line by line.
#[test]
fn one_program_decoupled() {
    const PAGE: &str = include_str!("../../../../docs/guide/circuits.md");
    const HEADING: &str = "## One program, decoupled";
    if Command::new("curl").arg("--version").output().is_err() {
        return eprintln!("skipped: no curl here");
    }
    with_receiver(Some(&link("loss = { ber = 1e-6 }")), |rig, receiver| {
        receiver.kill();
        let photos = data(300_000);
        std::fs::write("/run/photos.tar", &photos).unwrap();
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 8000));
        let (mut receivers, mut senders) = (Vec::new(), Vec::new());
        let section = PAGE.lines().skip_while(|line| *line != HEADING).skip(1);
        let section = section.take_while(|line| !line.starts_with('#'));
        for line in section.filter_map(|line| line.strip_prefix("    sudo airtcpd ")) {
            let (daemon, rest) = line.split_once(' ').unwrap();
            let mut command = of(daemon, rest);
            command.current_dir("/run").stdout(Stdio::null());
            let is_long = rest.starts_with("receive") || rest.starts_with("--to");
            if !is_long && !rest.contains("--upload-file") {
                assert!(command.status().unwrap().success(), "{line}");
                continue;
            }
            if daemon == "circuit" {
                receivers.push(Gateway::of("circuit", &rig.mobile, &mut command));
                continue;
            }
            // One or the other.
            senders.clear();
            let mut sender = Gateway::of("decouple", &rig.base, &mut command);
            eventually(|| sender.count("circuit_open") == 1, "there is a circuit");
            if rest.contains("--upload-file") {
                assert!(put(accept(&listener)).ends_with(&photos), "{line}");
                assert!(sender.process.wait().unwrap().success(), "{line}");
            }
            senders.push(sender);
        }
        assert_eq!((receivers.len(), receivers[0].count("sessions_total")), (1, 2));
    });
}

/// What an HTTP client puts, with the request's head, answered.
fn put(mut client: TcpStream) -> Vec<u8> {
    let (mut request, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let len = client.read(&mut part).unwrap();
        request.extend_from_slice(&part[..len]);
        let head = request.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4);
        let Some(head) = head else { continue };
        let text = String::from_utf8_lossy(&request[..head]).to_lowercase();
        let body = text.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap();
        if request.len() == head + body.parse::<usize>().unwrap() {
            client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
            return request;
        }
    }
}

/// Its exit status, its signals, its connections alone.
#[test]
fn a_command() {
    with_receiver(None, |rig, _| {
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        let port = listener.local_addr().unwrap().port();
        let begin = |script: &str| {
            let mut command = of("decouple", "--receiver 10.1.0.2:4007");
            command.args(["--key-file", KEY, "--", "bash", "-c", script]);
            Gateway::of("decouple", &rig.base, &mut command)
        };
        let talk = format!("exec 3<>/dev/tcp/10.1.0.2/{port}; echo hello >&3; read status <&3; exit $status");
        let mut daemon = begin(&talk);
        let mut far = accept(&listener);
        let mut line = String::new();
        BufReader::new(&far).read_line(&mut line).unwrap();
        assert_eq!(line, "hello\n");
        exchange(pair(&rig.base, &listener), 10_000);
        assert_eq!(daemon.count("accepted_total"), 1, "nobody else's connections");
        assert!(daemon.count("circuit_data_bytes_total") > 0);
        far.write_all(b"7\n").unwrap();
        drop(far);
        assert_eq!(daemon.process.wait().unwrap().code(), Some(7));
        assert_eq!(traces(daemon.process.id()), "");

        // By another link than the receiver's.
        let elsewhere = listen(&rig.server, SocketAddr::new(SERVER, 0));
        let port_there = elsewhere.local_addr().unwrap().port();
        let mut daemon =
            begin(&format!("exec 3<>/dev/tcp/10.2.0.2/{port_there}; read status <&3; exit $status"));
        let mut far = accept(&elsewhere);
        assert_eq!(daemon.count("accepted_total"), 0);
        far.write_all(b"5\n").unwrap();
        drop(far);
        assert_eq!(daemon.process.wait().unwrap().code(), Some(5));

        // What it has written arrives, though it does not wait.
        let mut daemon = begin(&format!("head -c 500000 /dev/zero > /dev/tcp/10.1.0.2/{port}"));
        let mut received = Vec::new();
        accept(&listener).read_to_end(&mut received).unwrap();
        assert_eq!(received.len(), 500_000);
        assert_eq!(daemon.process.wait().unwrap().code(), Some(0));

        let mut daemon = begin("trap 'exit 3' TERM; echo > /run/ready; while true; do sleep 0.01; done");
        eventually(|| std::fs::exists("/run/ready").unwrap(), "it has begun");
        tell(&daemon.process, Signal::SIGTERM);
        assert_eq!(daemon.process.wait().unwrap().code(), Some(3));
        assert_eq!(traces(daemon.process.id()), "");

        let mut daemon = begin("kill -9 $$");
        assert_eq!(daemon.process.wait().unwrap().code(), Some(128 + 9));

        // It succeeds although what carries its data is dead.
        let mut daemon = begin("echo > /run/begun; until [ -e /run/go ]; do sleep 0.01; done");
        eventually(|| std::fs::exists("/run/begun").unwrap(), "it has begun");
        let children = daemon.children();
        tell(&daemon.process, Signal::SIGSTOP);
        kill(Pid::from_raw(daemon.worker()), Signal::SIGKILL).unwrap();
        std::fs::write("/run/go", "").unwrap();
        let comm = |child: &i32| std::fs::read_to_string(format!("/proc/{child}/comm")).unwrap();
        eventually(
            || children.iter().filter(|child| comm(child) != "nft\n").all(has_ended),
            "both have ended",
        );
        tell(&daemon.process, Signal::SIGCONT);
        assert_eq!(daemon.process.wait().unwrap().code(), Some(1));
        assert_eq!(traces(daemon.process.id()), "");
    });
}
