//! TCP Fast Open (RFC 7413): with the kernel at the other end, and with a second proxy.

use crate::rig::{MOBILE, Rig, Running, SERVER, WIRELESS, accept, eventually, listen, plain};
use airtcp_live::emulate::Clock;
use airtcp_live::namespace::Namespace;
use airtcp_live::proxy::{Config, Counter, Entrance, Limits};
use airtcp_proto::scheme::Scheme;
use airtcp_wire::{Dur, Time};
use nix::sys::socket::{setsockopt, sockopt};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// `net.ipv4.tcp_fastopen`: clients, servers, and servers that have not asked for it.
const ALL: &str = "1027";

const ANSWER: usize = 10_000;

fn own(host: &Namespace, fast_open: bool) -> Running {
    let entrance = Entrance::Transparent { wireless: WIRELESS.to_owned(), ports: vec![] };
    let own = Some(Box::new(Scheme::parse("concord", "linux").unwrap().config));
    Running::start(host, &Config { own, fast_open, ..plain(entrance, Limits::default()) })
}

/// A counter of the kernel's, in a network namespace.
fn counted(host: &Namespace, name: &str) -> u64 {
    let text = host.run(|| fs::read_to_string("/proc/thread-self/net/netstat").unwrap()).unwrap();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt: ")).map(str::split_whitespace);
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let (_, value) = names.zip(values).find(|(known, _)| *known == name).unwrap();
    value.parse().unwrap()
}

/// Answers each connection's first words, one after the other, until told to end.
fn answer(listener: &TcpListener) {
    loop {
        let mut server = accept(listener);
        let mut words = [0; 4];
        server.read_exact(&mut words).unwrap();
        server.write_all(&[7; ANSWER]).unwrap();
        if &words == b"END." {
            return;
        }
    }
}

fn ask(mut client: TcpStream, words: &[u8; 4]) {
    client.write_all(words).unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, [7; ANSWER]);
}

fn fetch(from: &Namespace, server: SocketAddr, words: &[u8; 4]) {
    ask(crate::rig::connect(from, server), words);
}

/// Of a mobile host that opens fast, the second connection does.
#[test]
fn a_kernels_server_is_opened_fast() {
    let Some(rig) = Rig::new(None) else { return };
    rig.mobile.sysctl("net.ipv4.tcp_fastopen", ALL).unwrap();
    let proxy = own(&rig.base, true);
    let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
    let at = listener.local_addr().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| answer(&listener));
        [b"ONE.", b"TWO.", b"END."].into_iter().for_each(|words| fetch(&rig.server, at, words));
    });
    proxy.awaits(Counter::Completed, 3);
    assert_eq!(counted(&rig.mobile, "TCPFastOpenPassive"), 2);
}

#[test]
fn a_kernels_client_opens_fast() {
    let Some(rig) = Rig::new(None) else { return };
    rig.mobile.sysctl("net.ipv4.tcp_fastopen", ALL).unwrap();
    let proxy = own(&rig.base, true);
    let listener = listen(&rig.server, SocketAddr::new(SERVER, 0));
    let at = listener.local_addr().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| answer(&listener));
        for words in [b"ONE.", b"TWO.", b"END."] {
            rig.mobile.run(|| ask(fast_client(at), words)).unwrap();
        }
    });
    proxy.awaits(Counter::Completed, 3);
    assert_eq!(counted(&rig.mobile, "TCPFastOpenActive"), 2);
    assert_eq!(counted(&rig.mobile, "TCPFastOpenActiveFail"), 0);
}

/// What it writes first goes with the SYN, if the kernel has a cookie.
fn fast_client(to: SocketAddr) -> TcpStream {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage, connect, socket};
    use std::os::fd::AsRawFd;
    let client = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None).unwrap();
    setsockopt(&client, sockopt::TcpFastOpenConnect, &true).unwrap();
    connect(client.as_raw_fd(), &SockaddrStorage::from(to)).unwrap();
    client.into()
}

/// One round trip over the wireless link for a fetch, where there were two.
#[test]
fn two_proxies_save_a_round_trip() {
    let best = [false, true].map(|fast_open| {
        let rig = Rig::new(Some("[[link]]\nname = \"air\"\nrate = \"20Mbit/s\"\ndelay = \"100ms\"\n"))?;
        let phone = Namespace::if_permitted()?;
        rig.extend(&phone, 1500);
        let proxies = [&rig.mobile, &rig.base].map(|host| own(host, fast_open));
        let listener = listen(&rig.server, SocketAddr::new(SERVER, 0));
        let at = listener.local_addr().unwrap();
        let best = thread::scope(|scope| {
            scope.spawn(|| answer(&listener));
            let timed = [b"ONE.", b"TWO.", b"SIX.", b"END."].map(|words| {
                let clock = Clock::start();
                fetch(&phone, at, words);
                clock.now().since(Time::ZERO)
            });
            timed.into_iter().min().unwrap()
        });
        proxies.iter().for_each(|proxy| proxy.awaits(Counter::Completed, 4));
        eventually(|| proxies.iter().all(|proxy| proxy.get(Counter::Connections) == 0), "all is over");
        Some(best)
    });
    let [Some(without), Some(with)] = best else { return };
    assert!(without > Dur::from_millis(400), "{without:?}");
    assert!(with > Dur::from_millis(200) && with < Dur::from_millis(380), "{with:?}");
}
