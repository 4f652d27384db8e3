//! Path MTU discovery behind the proxies: routers' messages come to whoever sends, and where there are none, the path is
//! probed. Towards the wireless side and the wired one, of both families, and while connections are open.

use crate::decouple::{pair, started, with_receiver};
use crate::rig::{PHONE, Rig, Running, WIRELESS, eventually, ip, listen};
use airtcp_live::namespace::Namespace;
use airtcp_live::proxy::{Counter, Limits};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

const BYTES: usize = 4_000_000;

/// A host behind the mobile one, and another one behind the server. The links to them become narrow.
struct Field {
    rig: Rig,
    phone: Namespace,
    store: Namespace,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stack {
    Kernel,
    Own,
}

impl Field {
    fn new() -> Option<Field> {
        let rig = Rig::new(None)?;
        let (phone, store) = (Namespace::if_permitted()?, Namespace::if_permitted()?);
        rig.extend_by_both_families([&phone, &store]);
        let field = Field { rig, phone, store };
        for is_ipv4 in [true, false] {
            eventually(|| field.has_way(is_ipv4), "the store answers");
        }
        Some(field)
    }

    fn has_way(&self, is_ipv4: bool) -> bool {
        let nobody = SocketAddr::new(store(is_ipv4), 9);
        let answer = self.phone.run(|| TcpStream::connect_timeout(&nobody, Duration::from_secs(5))).unwrap();
        answer.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    }

    fn proxy(&self, stack: Stack) -> Running {
        match stack {
            Stack::Kernel => self.rig.proxy(Limits::default()),
            Stack::Own => self.rig.own("cubic", Limits::default()),
        }
    }

    /// The links to the outer hosts carry packets of this many bytes.
    fn set_mtu(&self, mtu: u32) {
        set_mtu(&self.rig.mobile, &self.phone, mtu);
        set_mtu(&self.rig.server, &self.store, mtu);
    }

    /// The routers drop what is too long, and do not tell.
    fn silence(&self) {
        let rule = "table inet silent { chain out { type filter hook output priority filter; \
                    icmp type destination-unreachable drop; icmpv6 type packet-too-big drop; }; }";
        for router in [&self.rig.mobile, &self.rig.server] {
            router.run(|| assert!(Command::new("nft").arg(rule).status().unwrap().success())).unwrap();
        }
    }

    /// A connection from the phone to the store.
    fn connect(&self, is_ipv4: bool) -> (TcpStream, TcpStream) {
        self.rig.connect(&self.phone, &self.store, store(is_ipv4))
    }

    /// Carries bytes, and sets the MTU: before, and while they are under way.
    fn carry(&self, from: &TcpStream, to: &TcpStream, [before, then, at_last]: [u32; 3]) {
        self.set_mtu(before);
        carry(from, to, [&|| self.set_mtu(then), &|| self.set_mtu(at_last)]);
    }

    /// ICMP errors about long packets that a host has received.
    fn told(host: &Namespace) -> u64 {
        host.run(|| counted("snmp", "InDestUnreachs") + counted("snmp6", "Icmp6InPktTooBigs")).unwrap()
    }
}

/// Sets the MTU of the link between a router and the host behind it.
fn set_mtu(router: &Namespace, host: &Namespace, mtu: u32) {
    for (end, name) in [(router, "far0"), (host, "eth0")] {
        end.run(|| ip(&format!("link set {name} mtu {mtu}"))).unwrap();
    }
}

/// Carries bytes. At a quarter and at a half of them, something happens.
fn carry(from: &TcpStream, to: &TcpStream, [first, second]: [&dyn Fn(); 2]) {
    thread::scope(|scope| {
        scope.spawn(|| (&mut &*from).write_all(&vec![7; BYTES]).unwrap());
        let mut bytes = vec![0; BYTES / 4];
        for act in [first, second, &|| (), &|| ()] {
            (&mut &*to).read_exact(&mut bytes).unwrap();
            act();
        }
    });
}

fn carry_quietly(from: &TcpStream, to: &TcpStream) {
    carry(from, to, [&|| (), &|| ()]);
}

fn store(is_ipv4: bool) -> IpAddr {
    if is_ipv4 { [10, 4, 0, 2].into() } else { "fd04::2".parse().unwrap() }
}

/// A counter of this thread's network namespace.
fn counted(file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap();
    if let Some(line) = text.lines().find_map(|line| line.strip_prefix(name)) {
        return line.trim().parse().unwrap();
    }
    let mut icmp = text.lines().filter_map(|line| line.strip_prefix("Icmp: ")).map(str::split_whitespace);
    let (names, values) = (icmp.next().unwrap(), icmp.next().unwrap());
    values.zip(names).find(|(_, its)| *its == name).unwrap().0.parse().unwrap()
}

const EVERY: [(Stack, bool); 4] =
    [(Stack::Kernel, true), (Stack::Kernel, false), (Stack::Own, true), (Stack::Own, false)];

#[test]
fn routers_tell_the_proxy_and_not_the_hosts() {
    for (stack, is_ipv4) in EVERY {
        let Some(field) = Field::new() else { return };
        let proxy = field.proxy(stack);
        let (phone, store) = field.connect(is_ipv4);
        field.carry(&store, &phone, [1500, 1300, 1280]);
        field.carry(&phone, &store, [1500, 1290, 1500]);
        field.carry(&store, &phone, [1280, 1500, 1300]);
        let (again, at_store) = field.connect(is_ipv4);
        field.carry(&at_store, &again, [1300, 1280, 1280]);
        drop((phone, store, again, at_store));
        proxy.awaits(Counter::Connections, 0);
        assert_eq!(proxy.get(Counter::Accepted), 2, "{stack:?}");
        let told = [&field.phone, &field.store].map(Field::told);
        assert_eq!(told, [0, 0], "{stack:?}, IPv4: {is_ipv4}");
    }
}

/// All at the same time, because they wait for one timeout after another.
#[test]
fn where_routers_say_nothing_the_path_is_probed() {
    thread::scope(|scope| {
        for (stack, is_ipv4) in EVERY {
            scope.spawn(move || probes_a_silent_path(stack, is_ipv4));
        }
    });
}

fn probes_a_silent_path(stack: Stack, is_ipv4: bool) {
    let Some(field) = Field::new() else { return };
    let probing = || field.rig.base.sysctl_value("net.ipv4.tcp_mtu_probing").unwrap();
    let before = probing();
    field.silence();
    let proxy = field.proxy(stack);
    let (phone, store) = field.connect(is_ipv4);
    field.carry(&store, &phone, [1300, 1500, 1300]);
    field.carry(&phone, &store, [1300, 1500, 1300]);
    drop((phone, store));
    proxy.awaits(Counter::Connections, 0);
    drop(proxy);
    assert_eq!(probing(), before);
}

/// The wireless interface itself, at both of its ends.
#[test]
fn an_interface_becomes_narrower_and_wider() {
    for (stack, is_ipv4) in EVERY {
        let Some(field) = Field::new() else { return };
        let proxy = field.proxy(stack);
        let (phone, store) = field.connect(is_ipv4);
        for mtu in [1500, 1280, 1500, 1400] {
            field.rig.mobile.run(|| ip(&format!("link set eth0 mtu {mtu}"))).unwrap();
            field.rig.base.run(|| ip(&format!("link set air0 mtu {mtu}"))).unwrap();
            carry_quietly(&store, &phone);
            carry_quietly(&phone, &store);
        }
        drop((phone, store));
        proxy.awaits(Counter::Connections, 0);
    }
}

/// A route may carry less than its interface.
#[test]
fn a_route_is_narrower_than_its_interface() {
    for (stack, is_ipv4) in EVERY {
        let Some(field) = Field::new() else { return };
        let proxy = field.proxy(stack);
        let (phone, store) = field.connect(is_ipv4);
        let to_phone = if is_ipv4 { "10.3.0.0/24 via 10.1.0.2" } else { "fd03::/64 via fd01::2" };
        field.rig.base.run(|| ip(&format!("route change {to_phone} mtu 1300"))).unwrap();
        carry_quietly(&store, &phone);
        drop((phone, store));
        proxy.awaits(Counter::Connections, 0);
    }
}

/// A connection that began before the proxy is not the proxy's.
#[test]
fn messages_about_others_packets_pass_on() {
    for (stack, is_ipv4) in EVERY {
        let Some(field) = Field::new() else { return };
        let (phone, store) = field.connect(is_ipv4);
        let proxy = field.proxy(stack);
        set_mtu(&field.rig.mobile, &field.phone, 1300);
        carry_quietly(&store, &phone);
        let told = Field::told(&field.store);
        assert!(told > 0, "{stack:?}, IPv4: {is_ipv4}: the server learns what the mobile host tells");
        let to_phone = if is_ipv4 { "10.3.0.0/24 via 10.1.0.2" } else { "fd03::/64 via fd01::2" };
        field.rig.base.run(|| ip(&format!("route change {to_phone} mtu 1281"))).unwrap();
        carry_quietly(&store, &phone);
        assert!(
            Field::told(&field.store) > told,
            "{stack:?}, IPv4: {is_ipv4}: and what the base station tells"
        );
        assert_eq!(proxy.get(Counter::Accepted), 0);
    }
}

/// Its packets have a masqueraded address, and leave through a circuit.
#[test]
fn behind_a_decoupling_socket() {
    with_receiver(None, |rig, _| {
        let Some(phone) = Namespace::if_permitted() else { return };
        rig.extend(&phone, 1500);
        let daemon = started(rig, "--to 10.3.0.2 --receiver 10.1.0.2:4007");
        let (near, far) = pair(&rig.base, &listen(&phone, SocketAddr::new(PHONE, 0)));
        for mtu in [1500, 1300, 700] {
            set_mtu(&rig.mobile, &phone, mtu);
            carry_quietly(&near, &far);
            carry_quietly(&far, &near);
        }
        for mtu in [1280, 1500] {
            rig.mobile.run(|| ip(&format!("link set eth0 mtu {mtu}"))).unwrap();
            ip(&format!("link set {WIRELESS} mtu {mtu}"));
            carry_quietly(&near, &far);
        }
        drop((near, far));
        eventually(|| daemon.count("connections") == 0, "it has ended");
        assert_eq!(daemon.count("accepted_total"), 1);
    });
}
