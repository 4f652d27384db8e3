//! SYNs with forged addresses: what they cost, and what becomes of genuine connections.

use crate::crowds::push;
use crate::daemon::{at_base, start, statuses, tell, worker};
use crate::rig::{Rig, Running, SERVER, SERVER_V6, accept, connect, eventually, ip, listen};
use airtcp_live::namespace::Namespace;
use airtcp_live::proxy::{Counter, Limits};
use airtcp_wire::packet::{Endpoints, encode_tcp};
use airtcp_wire::{Ecn, Flags, Segment, Seq, SynOptions};
use nix::sys::signal::Signal;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, sendto, socket,
};
use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Child;
use std::thread;
use std::time::Duration;

/// Genuine connections during a flood.
const GENUINE: u32 = 40;

/// Forged SYNs before the first of them, more than any queue of handshakes has room for, and before each. 100 000 together.
const FIRST: u32 = 20_000;
const BETWEEN: u32 = 2_000;

/// Sends SYNs whose senders do not exist.
struct Flood {
    raw: OwnedFd,
    to: SocketAddr,
    sent: u32,
}

impl Flood {
    fn new(from: &Namespace, to: SocketAddr) -> Flood {
        let family = if to.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
        let raw = || socket(family, SockType::Raw, SockFlag::empty(), SockProtocol::Raw).unwrap();
        Flood { raw: from.run(raw).unwrap(), to, sent: 0 }
    }

    fn send(&mut self, count: u32) {
        let mut packet = [0; 100];
        let to = SockaddrStorage::from(SocketAddr::new(self.to.ip(), 0));
        for number in self.sent..self.sent + count {
            let syn = Segment {
                seq: Seq(number.wrapping_mul(0x9e37_79b1)),
                flags: Flags::SYN,
                window: 64_240,
                syn: SynOptions {
                    mss: Some(1460),
                    window_scale: Some(7),
                    sack_permitted: true,
                    ..SynOptions::default()
                },
                ..Segment::default()
            };
            let endpoints = Endpoints::new(forged(number, self.to.is_ipv4()), self.to).unwrap();
            let len = encode_tcp(&endpoints, Ecn::NotEct, &syn, &[], &mut packet).unwrap();
            // A full queue at the interface drops it.
            let _ = sendto(self.raw.as_raw_fd(), &packet[..len], &to, MsgFlags::empty());
        }
        self.sent += count;
    }
}

/// An address behind the mobile host, and a port.
fn forged(number: u32, is_ipv4: bool) -> SocketAddr {
    let host = number / 50_000 + 10;
    let ip: IpAddr = match is_ipv4 {
        true => Ipv4Addr::new(10, 3, (host >> 8) as u8, host as u8).into(),
        false => Ipv6Addr::new(0xfd03, 0, 0, 0, 0, 0, 0, host as u16).into(),
    };
    SocketAddr::new(ip, 1_024 + (number % 50_000) as u16)
}

/// Answers each client's word, until a client comes without one.
fn echo(listener: &TcpListener) {
    loop {
        let mut word = [0; 4];
        let mut client = accept(listener);
        match client.read_exact(&mut word) {
            Ok(()) if word == *b"stop" => return,
            Ok(()) => drop(client.write_all(&word)),
            Err(_) => {}
        }
    }
}

fn talks(to: SocketAddr, word: &[u8; 4]) -> bool {
    let Ok(mut client) = TcpStream::connect_timeout(&to, Duration::from_secs(20)) else { return false };
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = [0; 4];
    client.write_all(word).is_ok() && client.read_exact(&mut answer).is_ok() && answer == *word
}

/// Routes to the senders that do not exist, so that answers to them leave.
fn lead_nowhere(rig: &Rig) {
    let routes = || {
        ip("route add 10.3.0.0/16 via 10.1.0.2");
        ip("-6 route add fd03::/64 via fd01::2");
    };
    rig.base.run(routes).unwrap();
}

/// Floods from the mobile host's side while a genuine client there connects again and again. A connection that began before
/// the proxy did goes on.
fn genuine_connections_succeed(address: IpAddr, start: impl FnOnce(&Rig) -> Running) {
    let Some(rig) = Rig::new(None) else { return };
    lead_nowhere(&rig);
    let listener = listen(&rig.server, SocketAddr::new(address, 0));
    let to = listener.local_addr().unwrap();
    let mut older = (connect(&rig.mobile, to), accept(&listener));
    let proxy = start(&rig);
    let mut flood = Flood::new(&rig.mobile, to);
    flood.send(FIRST);
    let good = thread::scope(|scope| {
        scope.spawn(|| echo(&listener));
        let mut comes = || {
            flood.send(BETWEEN);
            talks(to, b"word")
        };
        let good = rig.mobile.run(|| (0..GENUINE).filter(|_| comes()).count() as u32).unwrap();
        connect(&rig.server, to).write_all(b"stop").unwrap();
        good
    });
    println!(
        "{good} of {GENUINE} genuine connections succeeded among {} forged SYNs; {} bytes held",
        flood.sent,
        proxy.get(Counter::MemoryBytes)
    );
    assert!(good * 100 >= GENUINE * 95, "{good} of {GENUINE}");
    assert!(proxy.get(Counter::Accepted) >= u64::from(good), "they came through the proxy");
    older.0.write_all(b"older").unwrap();
    older.1.read_exact(&mut [0; 5]).unwrap();
}

#[test]
fn genuine_connections_succeed_in_a_flood_of_the_kernels_stack() {
    genuine_connections_succeed(SERVER, |rig| rig.proxy(Limits::default()));
}

#[test]
fn genuine_connections_succeed_in_a_flood_of_the_kernels_stack_over_ipv6() {
    genuine_connections_succeed(SERVER_V6, |rig| rig.proxy(Limits::default()));
}

#[test]
fn genuine_connections_succeed_in_a_flood_of_our_own_stack() {
    genuine_connections_succeed(SERVER, |rig| rig.own("cubic", Limits::default()));
}

#[test]
fn genuine_connections_succeed_in_a_flood_of_our_own_stack_over_ipv6() {
    genuine_connections_succeed(SERVER_V6, |rig| rig.own("cubic", Limits::default()));
}

/// A proxy's worker, and what it takes.
struct Weighed {
    proxy: Child,
    /// Bytes of memory before the first connection.
    base: u64,
}

impl Weighed {
    fn start(options: &str) -> Weighed {
        let proxy = start(&format!("--wireless-stack own {options}"));
        eventually(|| !statuses().is_empty(), "it tells its status");
        let base = resident(&proxy);
        Weighed { proxy, base }
    }

    fn counter(&self, name: &str) -> u64 {
        statuses()[0]["counters"][name].as_u64().unwrap()
    }

    /// What it says that connections take, and what they do take.
    fn agrees(&self) -> u64 {
        let (held, resident) = (self.counter("held_bytes"), resident(&self.proxy).saturating_sub(self.base));
        println!(
            "{held} bytes held by its metric, {resident} resident, {} counted",
            self.counter("memory_bytes")
        );
        assert!(held.abs_diff(resident) * 5 <= resident, "{held} bytes are held, {resident} resident");
        held
    }

    /// The kernel has got back nearly all of what they took, which was so much.
    fn gives_back(self, taken: u64) {
        let is_free = || self.counter("held_bytes") == 0;
        // Three times as patient: a handshake ends in 15 seconds.
        for _ in 0..2 {
            if (0..1000).any(|_| is_free() || pause()) {
                break;
            }
        }
        eventually(is_free, "nothing is held");
        assert_eq!(self.counter("memory_bytes"), 0);
        let left = || resident(&self.proxy).saturating_sub(self.base);
        eventually(|| left() < taken / 10, "its memory is given back");
        println!("of {taken} bytes, {} stay", left());
    }
}

impl Drop for Weighed {
    fn drop(&mut self) {
        tell(&self.proxy, Signal::SIGTERM);
        self.proxy.wait().unwrap();
    }
}

#[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
fn pause() -> bool {
    thread::sleep(Duration::from_millis(10));
    false
}

/// Bytes of its worker that no file backs.
fn resident(proxy: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", worker(proxy))).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

/// Handshakes that nobody completes cost what a SYN costs, count, and end.
#[test]
fn forged_handshakes_are_counted_bounded_and_given_up() {
    at_base(|rig| {
        lead_nowhere(rig);
        let memory = 128_000_000u64;
        let proxy = Weighed::start("--memory 128MB --connections 500 --connecting 1000000");
        let mut flood = Flood::new(&rig.mobile, (SERVER, 80).into());
        while proxy.counter("held_bytes") < memory / 8 - 1_000 {
            flood.send(5_000);
        }
        let held = proxy.agrees();
        println!("{} forged SYNs", flood.sent);
        assert!(held <= memory / 8 && proxy.counter("memory_bytes") == held);
        proxy.gives_back(held);
    });
}

/// So are buffers that are full.
#[test]
fn full_buffers_are_counted_and_given_back() {
    at_base(|rig| {
        let proxy = Weighed::start("--memory 200MB --connections 500");
        let listener = listen(&rig.server, (SERVER, 0).into());
        let to = listener.local_addr().unwrap();
        let pairs: Vec<_> = (0..30).map(|_| (connect(&rig.mobile, to), accept(&listener))).collect();
        for (client, server) in &pairs {
            for end in [client, server] {
                end.set_nonblocking(true).unwrap();
                push(end);
            }
        }
        let held = proxy.agrees();
        assert!(held <= 200_000_000 && held <= proxy.counter("memory_bytes"));
        drop(pairs);
        proxy.gives_back(held);
    });
}
