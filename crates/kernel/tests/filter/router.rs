//! Header-first dropping at a router between two hosts, in front of the kernel's own queue: what arrives is what the simulator's queue
//! lets through, to the packet. Needs root; skipped elsewhere.
//!
//! The link stands still for as long as a test likes: its token bucket is filled when `tc` changes it, and by itself so slowly that
//! the next packet would take half a minute.

use airtcp_kernel::header_first::{Meter, Parameters, Totals, attach};
use airtcp_kernel::namespace::Namespace;
use airtcp_proto::queue::header_first::HeaderFirst;
use airtcp_proto::queue::{DropCause, Drops, Item, Limit, Queue};
use airtcp_proto::{Chance, Chances};
use airtcp_wire::Time;
use airtcp_wire::circuit::Mark;
use nix::sys::socket::{setsockopt, sockopt};
use std::collections::VecDeque;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const BURST: u32 = 5000;
/// Lengths on the link. What is left of a burst is never near the next packet's length.
const LENGTHS: [u32; 2] = [700, 1400];
/// Of Ethernet, IPv4 and UDP.
const HEADERS_LEN: u32 = 14 + 20 + 8;
const LIMIT: u32 = 20_000;

fn run(namespace: &Namespace, line: &str) {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    assert!(namespace.run(move || command.status()).unwrap().unwrap().success(), "{line}");
}

/// A sender, a router, and a receiver behind the router's `out0`.
struct Rig {
    sender: Namespace,
    router: Namespace,
    receiver: Namespace,
}

impl Rig {
    /// `None`, with a message, where this cannot be. Nothing but what a test sends leaves by `out0`, if there is no IPv6.
    fn new(has_ipv6: bool) -> Option<Rig> {
        if ["ip", "tc"].iter().any(|tool| Command::new(tool).arg("-V").output().is_err()) {
            eprintln!("skipped: no ip or tc here (iproute2)");
            return None;
        }
        let rig = Rig {
            sender: Namespace::if_permitted()?,
            router: Namespace::if_permitted()?,
            receiver: Namespace::if_permitted()?,
        };
        let without = if has_ipv6 { "0" } else { "1" };
        rig.router.sysctl("net.ipv6.conf.default.disable_ipv6", without).unwrap();
        for (host, name, net) in [(&rig.sender, "in0", 31), (&rig.receiver, "out0", 32)] {
            let there = format!("/proc/{}/fd/{}", std::process::id(), host.as_fd().as_raw_fd());
            let peer = format!("peer name eth0 address 02:00:00:00:00:{net} netns {there}");
            run(&rig.router, &format!("ip link add {name} type veth {peer}"));
            run(&rig.router, &format!("ip addr add 10.{net}.0.2/24 dev {name}"));
            run(&rig.router, &format!("ip link set {name} up"));
            run(host, &format!("ip addr add 10.{net}.0.1/24 dev eth0"));
            run(host, "ip link set eth0 up");
            run(host, &format!("ip route add default via 10.{net}.0.2"));
            let neighbour = format!("lladdr 02:00:00:00:00:{net} dev {name} nud permanent");
            run(&rig.router, &format!("ip neigh add 10.{net}.0.1 {neighbour}"));
            if has_ipv6 {
                run(&rig.router, &format!("ip addr add fd{net}::2/64 dev {name} nodad"));
                run(host, &format!("ip addr add fd{net}::1/64 dev eth0 nodad"));
                run(host, &format!("ip route add default via fd{net}::2"));
                run(&rig.router, &format!("ip neigh add fd{net}::1 {neighbour}"));
                rig.router.sysctl("net.ipv6.conf.all.forwarding", "1").unwrap();
            }
        }
        rig.router.sysctl("net.ipv4.ip_forward", "1").unwrap();
        Some(rig)
    }

    /// Lets the link begin with full tokens, or has them filled up.
    fn link(&self, how: &str, rate: &str, limit: u32) {
        run(
            &self.router,
            &format!("tc qdisc {how} dev out0 root tbf rate {rate} burst {BURST} limit {limit}"),
        );
    }

    fn socket(host: &Namespace, at: &str) -> UdpSocket {
        let socket = host.run(|| UdpSocket::bind(at)).unwrap().unwrap();
        setsockopt(&socket, sockopt::RcvBufForce, &(8 << 20)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket
    }

    fn refusal(&self) -> String {
        let done = self.router.run(|| attach("out0", parameters(1)).err()).unwrap();
        done.map_or("attached".to_owned(), |error| error.to_string())
    }
}

fn parameters(max_headers: u32) -> Parameters {
    Parameters { max_headers, mark: Mark::default() }
}

fn headers(totals: &Totals) -> u64 {
    totals.headers_passed + totals.headers_dropped + totals.headers_overflow
}

fn all(totals: &Totals) -> u64 {
    headers(totals) + totals.data_passed + totals.data_overflow
}

#[allow(clippy::disallowed_methods, reason = "the kernel forwards in real time")]
fn await_seen(meter: &Meter, of: fn(&Totals) -> u64, count: u64) -> Totals {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let totals = meter.totals().unwrap();
        if of(&totals) >= count {
            return totals;
        }
        assert!(Instant::now() < end, "{count} packets have not come: {totals:?}");
        thread::sleep(Duration::from_micros(100));
    }
}

/// The simulator's queue in front of the same token bucket.
struct Twin {
    queue: HeaderFirst,
    waiting: VecDeque<Item>,
    tokens: u32,
    arrived: Vec<u32>,
    totals: Totals,
}

impl Twin {
    fn new(max_headers: u32) -> Twin {
        let queue = HeaderFirst::new(Limit::bytes(LIMIT.into()), max_headers);
        let (waiting, arrived) = (VecDeque::new(), Vec::new());
        Twin { queue, waiting, tokens: BURST, arrived, totals: Totals::default() }
    }

    /// The token bucket is looked at when a packet enters.
    fn arrive(&mut self, item: Item) {
        let mut drops = Drops::new();
        self.queue.enqueue(Time::ZERO, item, &mut drops);
        let totals = &mut self.totals;
        match (drops.first().map(|(_, cause)| *cause), item.is_header) {
            (None, true) => totals.headers_passed += 1,
            (None, false) => totals.data_passed += 1,
            (Some(DropCause::Aqm), _) => return totals.headers_dropped += 1,
            (Some(_), true) => return totals.headers_overflow += 1,
            (Some(_), false) => return totals.data_overflow += 1,
        }
        self.waiting.push_back(item);
        while let Some(next) = self.waiting.front().copied().filter(|next| next.bytes <= self.tokens) {
            self.waiting.pop_front();
            self.tokens -= next.bytes;
            self.queue.dequeue(Time::ZERO, &mut Drops::new());
            self.arrived.push(next.id);
        }
    }

    fn flush(mut self) -> (Vec<u32>, Totals) {
        self.arrived.extend(self.waiting.iter().map(|item| item.id));
        (self.arrived, self.totals)
    }
}

fn send(socket: &UdpSocket, to: SocketAddr, item: Item) {
    let dscp = if item.is_header { Mark::default().put_on(10) } else { 10 };
    setsockopt(socket, sockopt::Ipv4Tos, &(i32::from(dscp) << 2)).unwrap();
    let mut payload = vec![0; (item.bytes - HEADERS_LEN) as usize];
    payload[..4].copy_from_slice(&item.id.to_be_bytes());
    socket.send_to(&payload, to).unwrap();
}

fn random_item(id: u32, chance: &mut Chance) -> Item {
    let bytes = LENGTHS[usize::from(chance.happens(0.5))];
    Item { id, bytes, is_header: chance.happens(0.5), ..Item::default() }
}

/// Sends to a link that moves on now and then. Returns what arrives in the end, and what the program has counted.
fn lived(rig: &Rig, sockets: &[UdpSocket; 2], seed: u64) -> ((Vec<u32>, Totals), (Vec<u32>, Totals)) {
    let to = sockets[1].local_addr().unwrap();
    let mut chance = Chances::new(seed).chance("router");
    let max_headers = [1, 3, 8][seed as usize % 3];
    rig.link("replace", "200bit", LIMIT);
    let (attached, meter, fifo) =
        rig.router.run(|| attach("out0", parameters(max_headers)).unwrap()).unwrap();
    assert_eq!((fifo.kind.as_str(), fifo.limit_bytes), ("tbf", LIMIT.into()));
    let mut twin = Twin::new(max_headers);
    for id in 0..150 {
        if chance.happens(0.1) {
            rig.link("change", "200bit", LIMIT);
            twin.tokens = BURST;
        }
        let item = random_item(id, &mut chance);
        send(&sockets[0], to, item);
        twin.arrive(item);
        await_seen(&meter, all, u64::from(id) + 1);
    }
    let totals = meter.totals().unwrap();
    drop(attached);
    // Without the program, one more packet enters the queue, and everything leaves.
    rig.link("change", "1gbit", 2 * LIMIT);
    send(&sockets[0], to, Item { id: u32::MAX, bytes: 700, ..Item::default() });
    let mut arrived = Vec::new();
    let arrived = loop {
        let mut buffer = [0; 2000];
        sockets[1].recv(&mut buffer).unwrap();
        match u32::from_be_bytes(*buffer.first_chunk().unwrap()) {
            u32::MAX => break arrived,
            id => arrived.push(id),
        }
    };
    assert_eq!(meter.totals().unwrap(), totals, "the program is gone");
    run(&rig.router, "tc qdisc del dev out0 root");
    ((arrived, totals), twin.flush())
}

#[test]
fn what_arrives_is_what_the_simulators_queue_lets_through() {
    let Some(rig) = Rig::new(false) else { return };
    let sockets = [Rig::socket(&rig.sender, "10.31.0.1:0"), Rig::socket(&rig.receiver, "10.32.0.1:9")];
    for seed in 0..3 {
        let (router, simulator) = lived(&rig, &sockets, seed);
        assert_eq!(router, simulator, "seed {seed}");
        let (_, Totals { headers_dropped, headers_passed, data_passed, .. }) = router;
        assert!(headers_dropped > 0 && headers_passed > 0 && data_passed > 0, "it has decided something");
    }
}

#[test]
fn header_packets_are_known_in_ipv6() {
    let Some(rig) = Rig::new(true) else { return };
    let [sender, receiver] =
        [Rig::socket(&rig.sender, "[fd31::1]:0"), Rig::socket(&rig.receiver, "[fd32::1]:9")];
    rig.link("add", "200bit", 100_000);
    let (_attached, meter, _) = rig.router.run(|| attach("out0", parameters(1)).unwrap()).unwrap();
    for dscp in [0, 7, 46, 47, 0, 15, 7, 8] {
        setsockopt(&sender, sockopt::Ipv6TClass, &(dscp << 2 | 3)).unwrap();
        sender.send_to(&[0; 1300], receiver.local_addr().unwrap()).unwrap();
    }
    // The router sends something of its own beside it.
    let totals = await_seen(&meter, headers, 4);
    assert!(totals.headers_dropped >= 1, "at most the first three packets have left");
    let totals = await_seen(&meter, all, 8);
    assert_eq!((headers(&totals), totals.data_overflow), (4, 0));
}

/// Only of a FIFO is it known what has left it.
#[test]
fn other_queues_are_refused_with_a_cure() {
    let Some(rig) = Rig::new(false) else { return };
    for (setup, queue) in [
        (vec![], "noqueue"),
        (vec!["replace dev out0 root pfifo_fast"], "pfifo_fast"),
        (vec!["replace dev out0 root handle 1: htb"], "htb"),
        (
            vec![
                "replace dev out0 root handle 1: tbf rate 1mbit burst 5000 limit 20000",
                "replace dev out0 parent 1:1 pfifo",
            ],
            "tbf with pfifo inside",
        ),
        (vec!["replace dev out0 root stab overhead 4 linklayer atm pfifo"], "pfifo with a size table (stab)"),
    ] {
        setup.iter().for_each(|line| run(&rig.router, &format!("tc qdisc {line}")));
        let refusal = rig.refusal();
        let cured = refusal.starts_with(&format!("out0: the queue is {queue}, and must be a FIFO"));
        assert!(cured && refusal.contains("tc qdisc replace dev out0 root tbf"), "{queue}: {refusal}");
        if !setup.is_empty() {
            run(&rig.router, "tc qdisc del dev out0 root");
        }
    }
    for (queue, limits) in [("pfifo limit 70", (70, u64::MAX)), ("bfifo limit 9000", (u32::MAX, 9000))] {
        run(&rig.router, &format!("tc qdisc replace dev out0 root {queue}"));
        let (_, _, fifo) = rig.router.run(|| attach("out0", parameters(1)).unwrap()).unwrap();
        assert_eq!((fifo.limit_packets, fifo.limit_bytes), limits);
    }
}
