//! The proxy between two hosts, each behind a path that loses.

use crate::base_station::bench::{FLOW, machine, relay};
use airtcp_proto::middlebox::{Direction, Middlebox, Origin, SeenPacket};
use airtcp_proto::tcp::{Connection, Event, State, TcpConfig, profile};
use airtcp_proto::{Chance, Chances};
use airtcp_wire::{Bytes, Dur, Flags, Segment, Seq, Time, tcp};
use std::collections::BTreeMap;

/// Host 0 opens; its packets go forward, over the second path, to host 1. The first path lies between host 0 and the
/// proxy.
struct TwoPaths {
    now: Time,
    hosts: [Connection; 2],
    proxy: Box<dyn Middlebox>,
    delays: [Dur; 2],
    losses: [f64; 2],
    events: [Vec<Event>; 2],
    reads: [bool; 2],
    rng: Chance,
    under_way: BTreeMap<(Time, u64), (Place, SeenPacket)>,
    sent: u64,
    /// Segments that reached each host.
    arrived: [Vec<Segment>; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Host(usize),
    Proxy,
}

impl TwoPaths {
    fn new(term: &str, config: &TcpConfig, losses: [f64; 2]) -> TwoPaths {
        TwoPaths {
            now: Time::ZERO,
            hosts: [
                Connection::connect(config, Seq(0xffff_ff00), 1, Time::ZERO).unwrap(),
                Connection::listen(config, Seq(77), 2).unwrap(),
            ],
            proxy: machine(term),
            delays: [Dur::from_millis(20), Dur::from_millis(5)],
            losses,
            events: Default::default(),
            reads: [true, true],
            rng: Chances::new(3).chance("loss"),
            under_way: BTreeMap::new(),
            sent: 0,
            arrived: Default::default(),
        }
    }

    fn run(&mut self, seconds: u64) -> &mut TwoPaths {
        let until = self.now + Dur::from_secs(seconds);
        self.flush();
        while self.step(until) {}
        self.now = until;
        self
    }

    fn step(&mut self, until: Time) -> bool {
        let arrival = self.under_way.keys().next().map_or(Time::NEVER, |key| key.0);
        let hosts = self.hosts[0].poll_timeout().min(self.hosts[1].poll_timeout());
        let next = arrival.min(hosts).min(self.proxy.poll_timeout());
        if next > until || next.is_never() {
            return false;
        }
        self.now = self.now.max(next);
        let mut out = Vec::new();
        if arrival == next {
            let (_, (place, packet)) = self.under_way.pop_first().unwrap();
            match place {
                Place::Proxy => relay(&mut *self.proxy, self.now, packet, &mut out),
                Place::Host(host) => {
                    self.arrived[host].push(packet.segment);
                    self.hosts[host].handle_segment(self.now, &packet.segment, packet.ecn);
                }
            }
        }
        if self.proxy.poll_timeout() <= self.now {
            self.proxy.handle_timeout(self.now, &mut out);
        }
        out.into_iter().for_each(|packet| {
            let host = usize::from(packet.direction == Direction::Forward);
            self.send(Place::Host(host), host, packet);
        });
        for host in &mut self.hosts {
            if host.poll_timeout() <= self.now {
                host.handle_timeout(self.now);
            }
        }
        self.flush();
        true
    }

    fn flush(&mut self) {
        for host in [0, 1] {
            if self.reads[host] {
                let readable = self.hosts[host].readable();
                self.hosts[host].read(readable);
            }
            while let Some(event) = self.hosts[host].poll_event() {
                self.events[host].push(event);
            }
            while let Some(transmit) = self.hosts[host].poll_transmit(self.now) {
                let segment = transmit.segment;
                let packet = SeenPacket {
                    flow: FLOW,
                    direction: if host == 0 { Direction::Forward } else { Direction::Reverse },
                    ecn: transmit.ecn,
                    bytes: 20 + tcp::header_len(&segment) as u32 + segment.len,
                    segment,
                    origin: Origin::default(),
                };
                self.send(Place::Proxy, host, packet);
            }
        }
    }

    /// Over the path on the side of `host`.
    fn send(&mut self, to: Place, host: usize, packet: SeenPacket) {
        self.sent += 1;
        if !self.rng.happens(self.losses[host]) {
            self.under_way.insert((self.now + self.delays[host], self.sent), (to, packet));
        }
    }

    fn states(&self) -> [State; 2] {
        [self.hosts[0].state(), self.hosts[1].state()]
    }
}

fn config() -> TcpConfig {
    TcpConfig { max_retries: 8, ..profile::rfc() }
}

/// Every byte, no more, in order (the receivers count in order only), both ways, then both FINs.
#[test]
fn it_carries_exactly_the_bytes_both_ways_under_loss() {
    let mut lab = TwoPaths::new("split", &config(), [0.03, 0.1]);
    lab.hosts[0].write(3_000_000);
    lab.hosts[0].shutdown();
    lab.run(5);
    lab.hosts[1].write(500_000);
    lab.hosts[1].shutdown();
    lab.run(600);
    assert_eq!([lab.hosts[1].received(), lab.hosts[0].received()], [3_000_000, 500_000]);
    for host in [0, 1] {
        assert!(lab.events[host].contains(&Event::PeerFinished), "{:?}", lab.events);
        assert!(!lab.events[host].contains(&Event::Reset));
    }
    // The proxy has forgotten the flow: what still comes passes.
    assert!(lab.proxy.poll_timeout().is_never());
}

/// The fixed host's SYN is answered before the mobile host's could have come.
#[test]
fn the_handshake_is_answered_at_once() {
    let mut lab = TwoPaths::new("split", &config(), [0.0, 0.0]);
    lab.delays = [Dur::from_millis(20), Dur::from_secs(3)];
    lab.run(1);
    assert_eq!(lab.states(), [State::Established, State::Listen]);
}

/// What the mobile host does not read closes the fixed host's window, two buffers and the mobile host's own later.
#[test]
fn each_sides_window_follows_the_room_of_the_other() {
    let mut lab = TwoPaths::new(
        "split:buffer=100KB",
        &TcpConfig { receive_window: Bytes(50_000), ..config() },
        [0.0; 2],
    );
    lab.reads[1] = false;
    lab.hosts[0].write(10_000_000);
    lab.run(60);
    let held = 50_000 + 100_000 + 100_000;
    let acknowledged = lab.hosts[0].acknowledged();
    assert!((held - 5_000..=held).contains(&acknowledged), "{acknowledged}");
    lab.reads[1] = true;
    lab.run(120);
    assert_eq!(lab.hosts[1].received(), 10_000_000);
}

#[test]
fn a_reset_goes_through_either_way() {
    for host in [0, 1] {
        let mut lab = TwoPaths::new("split", &config(), [0.0; 2]);
        lab.hosts[0].write(10_000_000);
        lab.run(1);
        lab.hosts[host].abort();
        lab.run(2);
        assert!(lab.events[1 - host].contains(&Event::Reset), "host {host}: {:?}", lab.events);
        assert!(lab.proxy.poll_timeout().is_never());
    }
}

/// The other host is not there: the one that was answered too early is reset.
#[test]
fn a_host_that_never_answers_resets_the_other() {
    let mut lab = TwoPaths::new("split", &config(), [0.0, 1.0]);
    lab.hosts[0].write(1000);
    lab.run(2000);
    assert!(lab.events[0].contains(&Event::Connected));
    assert!(lab.events[0].contains(&Event::Reset));
    assert!(lab.proxy.poll_timeout().is_never());
}

/// Without the SYN there is nothing to split: such a flow passes end to end.
#[test]
fn a_flow_seen_from_its_middle_on_passes() {
    let mut proxy = machine("split");
    let segment = Segment { seq: Seq(5), len: 100, flags: Flags::ACK, ..Segment::default() };
    let packet = SeenPacket {
        flow: FLOW,
        direction: Direction::Forward,
        ecn: Default::default(),
        bytes: 140,
        segment,
        origin: Origin { order: 0, ..Origin::default() },
    };
    let mut out = Vec::new();
    relay(&mut *proxy, Time::ZERO, packet, &mut out);
    assert_eq!(out, [packet]);
}

/// One of two flows finds the proxy full, and goes end to end.
#[test]
fn a_full_proxy_lets_further_flows_pass() {
    let mut proxy = machine("split:max_flows=1");
    let syn = |flow| SeenPacket {
        flow: airtcp_proto::middlebox::FlowId(flow),
        direction: Direction::Forward,
        ecn: Default::default(),
        bytes: 40,
        segment: Segment { flags: Flags::SYN, window: 1000, ..Segment::default() },
        origin: Origin::default(),
    };
    let mut out = Vec::new();
    relay(&mut *proxy, Time::ZERO, syn(1), &mut out);
    let answers = out.iter().filter(|packet| packet.segment.flags.contains(Flags::SYN | Flags::ACK));
    assert_eq!((answers.count(), out.len()), (1, 2), "an answer, and a SYN of its own");
    out.clear();
    relay(&mut *proxy, Time::ZERO, syn(2), &mut out);
    assert_eq!(out, [syn(2)]);
}

/// The term's keys are for the wireless side: there leaves what its stack allows, and on the other side the hosts' stack
/// is spoken.
#[test]
fn the_wireless_side_has_its_own_stack() {
    let mut lab = TwoPaths::new("split:packet_size=576:timestamps=false", &config(), [0.0; 2]);
    lab.hosts[0].write(100_000);
    lab.run(5);
    assert_eq!(lab.hosts[1].received(), 100_000);
    let largest = |host: usize| lab.arrived[host].iter().map(|segment| segment.len).max();
    assert_eq!(largest(1), Some(536));
    assert!(lab.arrived[1].iter().all(|segment| segment.timestamps.is_none()));
    assert!(lab.arrived[0].iter().all(|segment| segment.timestamps.is_some()));
}

/// The wireless link goes away in the middle: the proxy gives up, and tells the fixed host, which had been told that much
/// had arrived.
#[test]
fn a_link_that_goes_away_in_the_middle_resets_the_fixed_host() {
    let mut lab = TwoPaths::new("split:max_retries=8", &config(), [0.0; 2]);
    lab.delays[1] = Dur::from_millis(100);
    lab.hosts[0].write(10_000_000);
    lab.run(1);
    let received = lab.hosts[1].received();
    assert!((1..10_000_000).contains(&received), "{received}");
    lab.losses[1] = 1.0;
    lab.run(2000);
    assert!(lab.events[0].contains(&Event::Reset), "{:?}", lab.events);
    assert!(lab.hosts[0].acknowledged() > lab.hosts[1].received(), "not end to end");
    assert!(lab.proxy.poll_timeout().is_never());
}
