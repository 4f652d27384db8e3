//! How a connection ends at one side is how it ends at the other.

use crate::rig::{NOBODY, Rig, Running, SERVER, WIRELESS, eventually, ip, plain};
use airtcp_live::namespace::Namespace;
use airtcp_live::proxy::{Counter, Entrance, Limits};
use airtcp_wire::Dur;
use nix::sys::socket::{setsockopt, sockopt};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;

fn reset(end: TcpStream) {
    setsockopt(&end.as_fd(), sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 }).unwrap();
}

fn read_all(mut end: &TcpStream) -> String {
    let mut text = String::new();
    end.read_to_string(&mut text).unwrap();
    text
}

/// What has become of a connection on which nothing comes.
fn fate(mut end: &TcpStream) -> ErrorKind {
    end.read_exact(&mut [0]).unwrap_err().kind()
}

/// What becomes of a connection that goes nowhere, whether it is seen as it opens or later.
pub fn fate_of_connecting(host: &Namespace, to: SocketAddr) -> ErrorKind {
    let found = host.run(|| TcpStream::connect(to)).unwrap();
    found.map_or_else(|error| error.kind(), |client| fate(&client))
}

/// With the kernel on both sides, and with our own machine on the wireless one.
fn each(limits: Limits, test: impl Fn(&Rig, &Running)) {
    for is_own in [false, true] {
        let Some(rig) = Rig::new(None) else { return };
        let proxy = if is_own { rig.own("cubic", limits) } else { rig.proxy(limits) };
        test(&rig, &proxy);
    }
}

/// RFC 9293 §3.6: who has sent its FIN still gets what the other one sends.
#[test]
fn half_closed_either_way() {
    each(Limits::default(), |rig, proxy| {
        for is_turned in [false, true] {
            let (client, server) = rig.connect(&rig.mobile, &rig.server, SERVER);
            let [mut first, mut second] = if is_turned { [server, client] } else { [client, server] };
            first.write_all(b"question").unwrap();
            first.shutdown(Shutdown::Write).unwrap();
            assert_eq!(read_all(&second), "question");
            second.write_all(b"answer").unwrap();
            second.shutdown(Shutdown::Write).unwrap();
            assert_eq!(read_all(&first), "answer");
        }
        proxy.awaits(Counter::Completed, 2);
    });
}

#[test]
fn a_reset_is_a_reset_to_the_other_end() {
    each(Limits::default(), |rig, proxy| {
        for is_turned in [false, true] {
            let (client, mut server) = rig.connect(&rig.mobile, &rig.server, SERVER);
            let mut client = client;
            client.write_all(b"x").unwrap();
            server.read_exact(&mut [0]).unwrap();
            let [first, second] = if is_turned { [server, client] } else { [client, server] };
            reset(first);
            assert_eq!(fate(&second), ErrorKind::ConnectionReset);
        }
        proxy.awaits(Counter::ResetByWireless, 1);
        proxy.awaits(Counter::ResetByWired, 1);
    });
}

/// A client is answered first, and told then.
#[test]
fn no_such_destination() {
    let limits = Limits { connect_timeout: Dur::from_millis(300), ..Limits::default() };
    each(limits, |rig, proxy| {
        for (to, at) in [(SERVER, 9), (NOBODY, 9)] {
            let fate = fate_of_connecting(&rig.mobile, SocketAddr::new(to, at));
            assert_eq!(fate, ErrorKind::ConnectionReset, "{to}");
        }
        assert_eq!((proxy.get(Counter::Unreachable), proxy.get(Counter::Accepted)), (2, 2));
    });
}

/// What is for the base station itself, and what began before the proxy did, it lets alone.
#[test]
fn what_is_not_for_it() {
    let Some(rig) = Rig::new(None) else { return };
    let (mut before, mut server) = rig.connect(&rig.mobile, &rig.server, SERVER);
    let proxy = rig.proxy(Limits::default());
    before.write_all(b"still").unwrap();
    drop(before);
    let mut text = String::new();
    server.read_to_string(&mut text).unwrap();
    assert_eq!(text, "still");
    let (client, own) = rig.connect(&rig.mobile, &rig.base, "10.1.0.1".parse().unwrap());
    assert_eq!(own.peer_addr().unwrap(), client.local_addr().unwrap());
    assert_eq!(proxy.get(Counter::Accepted), 0);
}

/// Told to end, it takes no more, and lets those that are open go on.
#[test]
fn drained_then_cut() {
    each(Limits::default(), |rig, proxy| {
        let (mut client, mut server) = rig.connect(&rig.mobile, &rig.server, SERVER);
        let (other, _its_server) = rig.connect(&rig.mobile, &rig.server, SERVER);
        proxy.awaits(Counter::Connecting, 0);
        proxy.stop();
        client.write_all(b"late").unwrap();
        server.read_exact(&mut [0; 4]).unwrap();
        drop(client);
        assert_eq!(server.read(&mut [0]).unwrap(), 0);
        drop(server);
        proxy.awaits(Counter::Completed, 1);
        proxy.stop();
        proxy.awaits(Counter::Cut, 1);
        assert_eq!(fate(&other), ErrorKind::ConnectionReset);
    });
}

/// The mobile host is gone: keepalive finds out, and the server is told.
#[test]
fn an_end_that_vanishes() {
    let Some(rig) = Rig::new(None) else { return };
    let entrance = Entrance::Transparent { wireless: WIRELESS.to_owned(), ports: vec![] };
    let mut config = plain(entrance, Limits::default());
    config.wireless.keepalive = Some(Dur::from_secs(1));
    for name in ["net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes"] {
        rig.base.sysctl(name, "1").unwrap();
    }
    let proxy = Running::start(&rig.base, &config);
    let (_client, server) = rig.connect(&rig.mobile, &rig.server, SERVER);
    proxy.awaits(Counter::Connecting, 0);
    rig.mobile.run(|| ip("link set eth0 down")).unwrap();
    assert_eq!(fate(&server), ErrorKind::ConnectionReset);
    proxy.awaits(Counter::LostWireless, 1);
}

/// Whoever gives the proxy's own address as destination is not joined with the proxy itself.
#[test]
fn no_loop() {
    let Some(rig) = Rig::new(None) else { return };
    let proxy = rig.proxy(Limits::default());
    let find = || {
        let table = std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
        let listening = table
            .lines()
            .find(|line| line.contains("0100007F:") && line.contains(" 0A "))
            .unwrap()
            .to_owned();
        let port = listening.split("0100007F:").nth(1).unwrap().get(..4).unwrap().to_owned();
        u16::from_str_radix(&port, 16).unwrap()
    };
    let port = rig.base.run(find).unwrap();
    let own = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
    assert_eq!(fate_of_connecting(&rig.base, own), ErrorKind::ConnectionReset);
    eventually(|| proxy.get(Counter::Unreachable) == 1, "counted");
}
