//! Whatever the wireless link does to packets, every byte arrives, and both ends see each other's address.

use crate::rig::{MOBILE, PHONE, Rig, Running, SERVER, SERVER_V6, ip};
use airtcp_live::namespace::Namespace;
use airtcp_live::proxy::{Counter, Limits};
use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream};
use std::thread;

const BYTES: usize = 300_000;

fn data(seed: u32) -> Vec<u8> {
    (0..BYTES as u32).map(|i| (i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13) as u8).collect()
}

/// Both write all and end, both read to the end.
fn exchange((client, server): (TcpStream, TcpStream)) {
    let ends = [(&client, data(1)), (&server, data(2))];
    let received = thread::scope(|scope| {
        let readers = ends.each_ref().map(|(end, _)| {
            scope.spawn(move || {
                let mut received = Vec::new();
                (&mut &**end).read_to_end(&mut received).map(|_| received).unwrap()
            })
        });
        for (end, data) in &ends {
            scope.spawn(move || {
                (&mut &**end).write_all(data).unwrap();
                end.shutdown(std::net::Shutdown::Write).unwrap();
            });
        }
        readers.map(|reader| reader.join().unwrap())
    });
    assert!(received[0] == data(2), "what the client gets is what the server sent");
    assert!(received[1] == data(1), "what the server gets is what the client sent");
}

fn both_ways(path: Option<&str>, servers: &[IpAddr]) {
    let Some(rig) = Rig::new(path) else { return };
    split_by(&rig, rig.proxy(Limits::default()), servers);
    let Some(rig) = Rig::new(path) else { return };
    split_by(&rig, rig.own("rto-m:m=10+gbn", Limits::default()), servers);
}

fn split_by(rig: &Rig, proxy: Running, servers: &[IpAddr]) {
    let go = |from: &Namespace, to: &Namespace, address: IpAddr| {
        let (client, server) = rig.connect(from, to, address);
        assert_eq!(server.peer_addr().unwrap(), client.local_addr().unwrap());
        assert_eq!(server.local_addr().unwrap(), client.peer_addr().unwrap());
        exchange((client, server));
    };
    servers.iter().for_each(|&server| go(&rig.mobile, &rig.server, server));
    go(&rig.server, &rig.mobile, MOBILE);
    proxy.awaits(Counter::Completed, servers.len() as u64 + 1);
    proxy.awaits(Counter::Connections, 0);
    let all = (BYTES * (servers.len() + 1)) as u64;
    assert_eq!((proxy.get(Counter::BytesToWireless), proxy.get(Counter::BytesToWired)), (all, all));
}

fn link(more: &str) -> String {
    format!("[[link]]\nname = \"air\"\nrate = \"20Mbit/s\"\ndelay = \"5ms\"\n{more}\n")
}

#[test]
fn a_wire_for_both_families() {
    both_ways(None, &[SERVER, SERVER_V6]);
}

#[test]
fn losses() {
    both_ways(Some(&link("loss = { packet = 0.01 }")), &[SERVER]);
    both_ways(Some(&link("loss = { packet = 0.05 }")), &[SERVER]);
}

#[test]
fn reordering_and_delay_spikes() {
    let jitter = "jitter = { distribution = \"uniform\", low = \"0ms\", high = \"8ms\", overtaking = true }";
    let spikes = "spikes = { every = \"300ms\", length = \"20ms\", extra = \"400ms\" }";
    both_ways(Some(&link(&format!("{jitter}\n{spikes}"))), &[SERVER]);
}

/// A router that masquerades does so on the wired side of what it splits, too.
#[test]
fn behind_a_masquerading_router() {
    let Some(rig) = Rig::new(None) else { return };
    let rule =
        "table ip nat { chain out { type nat hook postrouting priority srcnat; oifname wd0 masquerade; }; }";
    rig.base
        .run(|| assert!(std::process::Command::new("nft").arg(rule).status().unwrap().success()))
        .unwrap();
    rig.server.run(|| ip("route del default")).unwrap();
    let proxy = rig.proxy(Limits::default());
    let (client, server) = rig.connect(&rig.mobile, &rig.server, SERVER);
    assert_eq!(server.peer_addr().unwrap().ip().to_string(), "10.2.0.1");
    exchange((client, server));
    proxy.awaits(Counter::Completed, 1);
}

/// Behind the mobile host, which is a router here, a link is narrower than its ends know.
#[test]
fn a_path_that_is_narrower_than_its_ends() {
    let Some(rig) = Rig::new(None) else { return };
    let Some(phone) = Namespace::if_permitted() else { return };
    rig.extend(&phone, 700);
    let proxy = rig.own("rto-m:m=10+gbn", Limits::default());
    let (client, server) = rig.connect(&rig.server, &phone, PHONE);
    exchange((client, server));
    proxy.awaits(Counter::Completed, 1);
    let told = rig.mobile.run(unreachable_sent).unwrap();
    assert!(told > 0, "the router reported the narrow link");
}

/// ICMP messages "destination unreachable" that this thread's network namespace has sent.
fn unreachable_sent() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let mut icmp = text.lines().filter_map(|line| line.strip_prefix("Icmp: ")).map(str::split_whitespace);
    let (names, values) = (icmp.next().unwrap(), icmp.next().unwrap());
    let (_, value) = names.zip(values).find(|(name, _)| *name == "OutDestUnreachs").unwrap();
    value.parse().unwrap()
}
