//! Many at once, and such as do not read.

use crate::rig::{MOBILE, NOBODY, Rig, Running, SERVER, accept, connect, eventually, listen, plain};
use airtcp_live::namespace::Namespace;
use airtcp_live::proxy::{Counter, Entrance, Limits, Side, allow_files};
use airtcp_wire::human::Bytes;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const ENTRANCE: SocketAddr = SocketAddr::new(HERE, 8000);

/// A host on which a proxy joins `ENTRANCE` with a server.
fn host(limits: Limits) -> Option<(Namespace, TcpListener, Running)> {
    let host = Namespace::if_permitted()?;
    let to = SocketAddr::new(HERE, 9000);
    let listener = listen(&host, to);
    let proxy =
        Running::start(&host, &plain(Entrance::Fixed { listen: ENTRANCE, to, clients: Side::Wired }, limits));
    Some((host, listener, proxy))
}

#[test]
fn a_thousand_at_once_and_twice() {
    // Each is four sockets here, and the test has both ends.
    assert_eq!(allow_files(2_000).unwrap(), 2_000);
    let Some((host, listener, proxy)) = host(Limits::default()) else { return };
    for _ in 0..2 {
        let (mut clients, mut servers) = thread::scope(|scope| {
            let servers = scope.spawn(|| (0..1_000).map(|_| accept(&listener)).collect::<Vec<_>>());
            let clients: Vec<_> = (0..1_000).map(|_| connect(&host, ENTRANCE)).collect();
            (clients, servers.join().unwrap())
        });
        for (number, client) in clients.iter_mut().enumerate() {
            client.write_all(&(number as u32).to_ne_bytes()).unwrap();
        }
        proxy.awaits(Counter::Connections, 1_000);
        for server in &mut servers {
            let mut word = [0; 4];
            server.read_exact(&mut word).unwrap();
            server.write_all(&word).unwrap();
        }
        for (number, client) in clients.iter_mut().enumerate() {
            let mut word = [0; 4];
            client.read_exact(&mut word).unwrap();
            assert_eq!(u32::from_ne_bytes(word), number as u32);
        }
        drop((clients, servers));
        proxy.awaits(Counter::Connections, 0);
    }
    assert_eq!((proxy.get(Counter::Completed), proxy.get(Counter::MemoryBytes)), (2_000, 0));
}

/// The same through our own machine, half of them from each side.
#[test]
fn a_thousand_at_once_of_our_own() {
    assert_eq!(allow_files(2_000).unwrap(), 2_000);
    let Some(rig) = Rig::new(None) else { return };
    let proxy = rig.own("rto-m:m=10+gbn", Limits::default());
    let mut pairs = Vec::new();
    for (from, to, at) in [(&rig.mobile, &rig.server, SERVER), (&rig.server, &rig.mobile, MOBILE)] {
        let listener = listen(to, SocketAddr::new(at, 0));
        let address = listener.local_addr().unwrap();
        pairs.extend((0..500).map(|_| (connect(from, address), accept(&listener))));
    }
    proxy.awaits(Counter::Connections, 1_000);
    for (client, _) in &mut pairs {
        client.write_all(b"word").unwrap();
    }
    for (client, server) in &mut pairs {
        let mut word = [0; 4];
        server.read_exact(&mut word).unwrap();
        server.write_all(&word).unwrap();
        client.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"word");
    }
    drop(pairs);
    proxy.awaits(Counter::Connections, 0);
    assert_eq!((proxy.get(Counter::Completed), proxy.get(Counter::MemoryBytes)), (1_000, 0));
}

/// One after the other: no port comes twice, and each leaves nothing.
#[test]
fn ten_thousand_in_turn_of_our_own() {
    let Some(rig) = Rig::new(None) else { return };
    let proxy = rig.own("rto-m:m=10+gbn", Limits::default());
    let listener = listen(&rig.server, SocketAddr::new(SERVER, 0));
    let address = listener.local_addr().unwrap();
    let clients = rig.mobile.run(|| {
        for _ in 0..10_000 {
            let mut client = TcpStream::connect(address).unwrap();
            let mut server = accept(&listener);
            client.write_all(b"w").unwrap();
            server.read_exact(&mut [0]).unwrap();
        }
    });
    clients.unwrap();
    proxy.awaits(Counter::Connections, 0);
    assert_eq!((proxy.get(Counter::Completed), proxy.get(Counter::MemoryBytes)), (10_000, 0));
}

/// What a receiver does not read stays with the sender, and the proxy holds no more than it may.
#[test]
fn slow_readers() {
    // Over loopback a packet is 64 KiB.
    let limits = Limits { memory: Bytes(40_000_000), connections: 20, ..Limits::default() };
    let Some((host, listener, proxy)) = host(limits) else { return };
    let pairs: Vec<_> = (0..6)
        .map(|_| {
            let client = connect(&host, ENTRANCE);
            (client, accept(&listener))
        })
        .collect();
    let mut sent = Vec::new();
    for (client, _) in &pairs {
        client.set_nonblocking(true).unwrap();
        sent.push(push(client));
    }
    let most = limits.memory.0;
    eventually(|| proxy.get(Counter::MemoryBytes) <= most, "within the bound");
    for ((client, server), sent) in pairs.iter().zip(sent) {
        let received = thread::scope(|scope| {
            let reader = scope.spawn(|| std::io::copy(&mut &*server, &mut std::io::sink()).unwrap());
            client.shutdown(std::net::Shutdown::Write).unwrap();
            reader.join().unwrap()
        });
        assert_eq!(received, sent);
    }
    drop(pairs);
    proxy.awaits(Counter::Completed, 6);
}

/// Writes until nothing more is taken.
#[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
pub fn push(mut client: &TcpStream) -> u64 {
    let (mut sent, mut refusals) = (0, 0);
    while refusals < 10 {
        match client.write(&[7; 65_536]) {
            Ok(bytes) => (sent, refusals) = (sent + bytes as u64, 0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                refusals += 1;
                thread::sleep(std::time::Duration::from_millis(10));
            }
            Err(error) => panic!("{error}"),
        }
    }
    sent
}

/// Others wait until there is room, and are served then.
#[test]
fn no_more_than_are_allowed() {
    let Some((host, listener, proxy)) = host(Limits { connections: 2, ..Limits::default() }) else { return };
    let mut clients: Vec<_> = (0..3).map(|_| connect(&host, ENTRANCE)).collect();
    proxy.awaits(Counter::Waits, 1);
    assert_eq!(proxy.get(Counter::Connections), 2);
    clients[2].write_all(b"third").unwrap();
    let firsts: Vec<_> = (0..2).map(|_| accept(&listener)).collect();
    drop((clients.remove(0), firsts));
    let mut text = [0; 5];
    accept(&listener).read_exact(&mut text).unwrap();
    assert_eq!(&text, b"third");
}

/// Those that wait for an answer which does not come give way, the eldest first.
#[test]
fn half_open_ones_are_bounded() {
    let Some(rig) = Rig::new(None) else { return };
    let proxy = rig.proxy(Limits { connecting: 3, ..Limits::default() });
    let mut waiting: Vec<_> = (0..5).map(|_| connect(&rig.mobile, SocketAddr::new(NOBODY, 9))).collect();
    proxy.awaits(Counter::GaveWay, 2);
    eventually(|| proxy.get(Counter::Connecting) == 3, "three wait");
    for client in &mut waiting[..2] {
        assert_eq!(client.read_exact(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
    let (mut client, mut server) = rig.connect(&rig.mobile, &rig.server, SERVER);
    client.write_all(b"x").unwrap();
    server.read_exact(&mut [0]).unwrap();
}
