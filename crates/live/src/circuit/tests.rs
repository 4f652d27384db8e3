//! Two nodes back to back in virtual time. The network between them has a queue, loses data and datagrams, reorders
//! and repeats, a stranger forges, and nodes restart. Data is counted, so that losses are reported.

use super::receiving::MOST_SESSIONS;
use super::*;
use airtcp_proto::cc::registry::Values;
use airtcp_proto::cc::{Ack, Build, Congestion, CongestionControl, Given, Param};
use airtcp_proto::circuit::{Compression, Config, Fec};
use airtcp_proto::queue::Item;
use airtcp_proto::tcp::{TcpConfig, profile};
use airtcp_proto::{Chances, scheme};
use airtcp_wire::circuit::{Key, Kind};
use airtcp_wire::{Bytes, Dur, Ecn, Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

const DELAY: Dur = Dur::from_millis(10);
const PACKET: u32 = 1500;
/// Of the link that data and header packets take, and how long they may wait for it.
const RATE: Rate = Rate(100_000_000);
const ROOM: Dur = Dur::from_millis(200);

fn sender() -> SocketAddr {
    ([10, 0, 0, 1], 4000).into()
}

fn stranger() -> SocketAddr {
    ([10, 9, 9, 9], 4000).into()
}

fn key() -> Key {
    Key::new([3; 16])
}

#[derive(Clone, Debug)]
enum Event {
    Wait {
        ms: u16,
    },
    /// The sending node has this many more packets.
    Offer {
        packets: u8,
    },
    /// One in this many packets is lost from now on, of data and of datagrams; none if 0.
    Lose {
        one_in: u8,
    },
    /// Every third datagram is this much later than the others.
    Delay {
        ms: u8,
    },
    Replay {
        which: u16,
        to_receiver: bool,
    },
    Forge {
        which: u16,
        byte: u8,
        bit: u8,
        to_receiver: bool,
    },
    Junk {
        bytes: Vec<u8>,
        to_receiver: bool,
    },
    RestartSender,
    RestartReceiver,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0u16..400).prop_map(|ms| Event::Wait { ms }),
        1 => (2_000u16..9_000).prop_map(|ms| Event::Wait { ms }),
        4 => (1u8..80).prop_map(|packets| Event::Offer { packets }),
        1 => prop_oneof![Just(0u8), Just(1), 2u8..50].prop_map(|one_in| Event::Lose { one_in }),
        1 => (0u8..30).prop_map(|ms| Event::Delay { ms }),
        2 => any::<(u16, bool)>().prop_map(|(which, to_receiver)| Event::Replay { which, to_receiver }),
        2 => any::<(u16, u8, u8, bool)>()
            .prop_map(|(which, byte, bit, to_receiver)| Event::Forge { which, byte, bit, to_receiver }),
        1 => (prop::collection::vec(any::<u8>(), 0..70), any::<bool>())
            .prop_map(|(bytes, to_receiver)| Event::Junk { bytes, to_receiver }),
        1 => Just(Event::RestartSender),
        1 => Just(Event::RestartReceiver),
    ]
}

/// What is under way.
enum Passing {
    Letter(Letter),
    Data(Vec<u8>),
}

/// A datagram for one of the nodes, whoever sends it.
struct Letter {
    to_receiver: bool,
    from: SocketAddr,
    bytes: Vec<u8>,
}

struct World {
    now: Time,
    config: Config,
    sender: SendingNode,
    receiver: ReceivingNode,
    /// Node processes so far.
    lives: u64,
    network: BTreeMap<(Time, u64), Passing>,
    /// When the link has sent what waits for it.
    free_at: Time,
    /// Packets of all kinds, and datagrams.
    packets: u64,
    datagrams: u64,
    one_in: u64,
    later: Dur,
    recorded: Vec<(bool, Vec<u8>)>,
    /// Packets that have not been offered, the next one's number, and those that have left.
    offered: u32,
    next: u32,
    left: Vec<u32>,
    /// Those that have come, and those that have been rebuilt.
    came: Vec<u32>,
    rebuilt: Vec<u32>,
}

impl World {
    fn new(config: Config) -> World {
        World {
            now: Time::ZERO,
            sender: sending(&config, 1, Time::ZERO),
            receiver: receiving(2),
            config,
            lives: 2,
            network: BTreeMap::new(),
            free_at: Time::ZERO,
            packets: 0,
            datagrams: 0,
            one_in: 0,
            later: Dur::ZERO,
            recorded: Vec::new(),
            offered: 0,
            next: 0,
            left: Vec::new(),
            came: Vec::new(),
            rebuilt: Vec::new(),
        }
    }

    fn run_for(&mut self, time: Dur) {
        let end = self.now + time;
        loop {
            self.drain();
            let arrival = self.network.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
            let next = arrival.min(self.sender.poll_timeout()).min(self.receiver.poll_timeout());
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            if arrival <= self.now
                && let Some((_, passing)) = self.network.pop_first()
            {
                match passing {
                    Passing::Letter(letter) => self.deliver(&letter),
                    Passing::Data(packet) => {
                        self.came.push(number_of(&packet));
                        self.receiver.handle_packet(&packet);
                        self.receiver.handle_data(1);
                    }
                }
                self.drain();
            }
            self.sender.handle_timeout(self.now);
            self.receiver.handle_timeout(self.now);
        }
        self.now = end;
        self.sender.handle_timeout(end);
        self.receiver.handle_timeout(end);
    }

    fn deliver(&mut self, letter: &Letter) {
        if letter.to_receiver {
            self.receiver.handle_datagram(self.now, letter.from, &letter.bytes, Ecn::NotEct);
        } else {
            self.sender.handle_datagram(self.now, &letter.bytes, Ecn::NotEct);
        }
    }

    fn drain(&mut self) {
        loop {
            while self.offered > 0 && self.sender.room() > 0 {
                let item = Item { id: self.next, bytes: PACKET, flow: 0, is_header: false, ecn: Ecn::NotEct };
                self.sender.handle_packet(self.now, item);
                self.next += 1;
                self.offered -= 1;
            }
            match self.sender.poll_transmit(self.now) {
                Some(Output::Data(item)) => {
                    self.left.push(item.id);
                    let packet = packet(item.id);
                    self.sender.keep(Some(&packet));
                    self.pass(true, PACKET, Dur::ZERO, Passing::Data(packet));
                }
                Some(Output::Datagram(datagram, _)) => self.send(true, datagram.as_slice()),
                Some(Output::Repair(datagram)) => self.send(true, &datagram),
                None => break,
            }
        }
        while let Some(packet) = self.receiver.poll_rebuilt() {
            self.rebuilt.push(number_of(&packet));
        }
        while let Some(reply) = self.receiver.poll_transmit(self.now) {
            if reply.to == sender() {
                self.send(false, reply.datagram.as_slice());
            } else {
                panic!("a stranger is told something");
            }
        }
    }

    fn send(&mut self, to_receiver: bool, datagram: &[u8]) {
        self.datagrams += 1;
        let bytes = datagram.to_vec();
        self.recorded.push((to_receiver, bytes.clone()));
        let late = if self.datagrams.is_multiple_of(3) { self.later } else { Dur::ZERO };
        let (len, letter) = (bytes.len() as u32, Letter { to_receiver, from: sender(), bytes });
        self.pass(to_receiver, len, late, Passing::Letter(letter));
    }

    /// Puts a packet on the way, unless it is lost.
    fn pass(&mut self, to_receiver: bool, bytes: u32, late: Dur, passing: Passing) {
        self.packets += 1;
        let is_lost = self.one_in > 0 && self.packets.is_multiple_of(self.one_in);
        let mut sent = self.now;
        if to_receiver && !is_lost {
            if self.free_at.since(self.now) > ROOM {
                return;
            }
            self.free_at = self.free_at.max(self.now) + RATE.time_for(bytes.into());
            sent = self.free_at;
        }
        if !is_lost {
            self.network.insert((sent + DELAY + late, self.packets), passing);
        }
    }

    fn inject(&mut self, to_receiver: bool, from: SocketAddr, bytes: Vec<u8>) {
        self.deliver(&Letter { to_receiver, from, bytes });
    }

    fn recorded(&self, which: u16) -> Option<Vec<u8>> {
        let index = usize::from(which) % self.recorded.len().max(1);
        self.recorded.get(index).map(|(_, bytes)| bytes.clone())
    }

    fn handle(&mut self, event: &Event) {
        match event {
            Event::Wait { ms } => self.run_for(Dur::from_millis((*ms).into())),
            Event::Offer { packets } => self.offered += u32::from(*packets),
            Event::Lose { one_in } => self.one_in = (*one_in).into(),
            Event::Delay { ms } => self.later = Dur::from_millis((*ms).into()),
            Event::Replay { which, to_receiver } => {
                if let Some(bytes) = self.recorded(*which) {
                    self.inject(*to_receiver, sender(), bytes);
                }
            }
            Event::Forge { which, byte, bit, to_receiver } => {
                if let Some(mut bytes) = self.recorded(*which) {
                    let byte = usize::from(*byte) % bytes.len();
                    bytes[byte] ^= 1 << (bit % 8);
                    let before = [self.sender.refused, self.receiver.refused];
                    self.inject(*to_receiver, stranger(), bytes);
                    assert_ne!([self.sender.refused, self.receiver.refused], before, "it is believed");
                }
            }
            Event::Junk { bytes, to_receiver } => self.inject(*to_receiver, stranger(), bytes.clone()),
            // What the node held is lost with it.
            Event::RestartSender => {
                self.lives += 1;
                self.sender = sending(&self.config, self.lives, self.now);
                self.left.extend(self.left.last().map_or(0, |last| last + 1)..self.next);
            }
            Event::RestartReceiver => {
                self.lives += 1;
                self.receiver = receiving(self.lives);
            }
        }
    }
}

/// A data packet, which is shorter here than those that it stands for.
fn packet(number: u32) -> Vec<u8> {
    let header = [0x45, 0, 0, 24, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 2, 0, 1, 10, 3, 0, 1];
    [&header[..], &number.to_be_bytes()].concat()
}

fn number_of(packet: &[u8]) -> u32 {
    let number = packet[20..].try_into().expect("four bytes");
    assert_eq!(packet[12..20], self::packet(0)[12..20], "the same addresses");
    u32::from_be_bytes(number)
}

/// Each sender has a session of its own: when one calls, the others go on.
#[test]
fn a_receiver_serves_several_senders() {
    let mut receiver = receiving(100);
    let config = Config::default();
    let now = Time::ZERO;
    let mut senders: Vec<_> = (0..40u8).map(|id| sending(&config, id.into(), now)).collect();
    let address = |id: usize| SocketAddr::from(([10, 0, 1, id as u8], 9));
    for round in 0..3 {
        for (id, sender) in senders.iter_mut().enumerate() {
            while let Some(Output::Datagram(datagram, _)) = sender.poll_transmit(now) {
                receiver.handle_datagram(now, address(id), datagram.as_slice(), Ecn::NotEct);
                while let Some(reply) = receiver.poll_transmit(now) {
                    assert_eq!(reply.to, address(id));
                    sender.handle_datagram(now, reply.datagram.as_slice(), Ecn::NotEct);
                }
            }
            assert!(sender.is_open(), "{id} in round {round}");
        }
        assert_eq!(receiver.open(), MOST_SESSIONS);
        assert_eq!(receiver.sessions, 40);
    }
    receiver.handle_timeout(now + Dur::from_secs(15));
    assert_eq!(receiver.open(), 0);
}

fn tcp() -> TcpConfig {
    profile::linux()
}

fn sending(config: &Config, seed: u64, now: Time) -> SendingNode {
    let chance = Chances::new(seed).chance("circuit");
    SendingNode::new(config.clone(), tcp(), key(), chance, now).unwrap()
}

fn receiving(seed: u64) -> ReceivingNode {
    let mut node = ReceivingNode::new(tcp(), key(), Chances::new(seed).chance("circuit"));
    (node.counts, node.rebuilds) = (true, true);
    node
}

fn config() -> impl Strategy<Value = Config> {
    let compression =
        prop_oneof![Just(Compression::None), Just(Compression::Rfc1144), Just(Compression::Twice)];
    let gmb = prop::option::weighted(0.2, Just(Rate(1_000_000)));
    let fec = prop_oneof![(0u8..=3).prop_map(Fec::Repeat), Just(Fec::Auto)];
    (64u64..10_000, 1u16..5, compression, gmb, fec).prop_map(|(vmss, controls, compression, gmb, fec)| {
        Config { vmss: Bytes(vmss), controls, compression, gmb, fec, ..Config::default() }
    })
}

#[test]
fn data_goes_under_credit_once_there_is_a_session() {
    let mut world = World::new(Config::default());
    world.run_for(DELAY * 10);
    assert!(world.sender.is_open());
    world.offered = 1_000;
    world.run_for(Dur::from_secs(20));
    assert_eq!(world.left, (0..1_000).collect::<Vec<_>>());
    assert_eq!(world.receiver.header_packets, 1_000, "VMSS bytes each");
    assert_eq!([world.sender.refused, world.receiver.refused], [0, 0]);
}

/// Bursts over a path that loses one packet in ten. Nobody resends them.
fn bursts(world: &mut World, bursts: u32) {
    for _ in 0..bursts {
        world.offered += 7;
        world.run_for(Dur::from_millis(200));
    }
}

fn repairing() -> World {
    let mut world = World::new(Config { fec: Fec::Auto, ..Config::default() });
    world.run_for(DELAY * 10);
    world.one_in = 10;
    bursts(&mut world, 200);
    world
}

/// Those that are neither here nor rebuilt, of the packets from this number on.
fn missing(world: &World, from: u32) -> usize {
    let is_here = |number: &u32| world.came.contains(number) || world.rebuilt.contains(number);
    (from..world.next).filter(|number| !is_here(number)).count()
}

#[test]
fn data_that_is_lost_is_rebuilt() {
    let mut world = repairing();
    let from = world.next;
    bursts(&mut world, 200);
    let lost = (from..world.next).filter(|number| !world.came.contains(number)).count();
    assert!(lost > 100, "{lost}");
    assert!(missing(&world, from) * 20 < lost, "{} of {lost}", missing(&world, from));
    // A receiver that begins anew knows nothing of what went before.
    world.handle(&Event::RestartReceiver);
    bursts(&mut world, 200);
    let from = world.next;
    bursts(&mut world, 200);
    assert!(missing(&world, from) < 10, "{}", missing(&world, from));
}

/// A repair that comes twice, or with a bit of it changed, rebuilds nothing and counts as nothing.
#[test]
fn forged_and_replayed_repairs_change_nothing() {
    let mut world = repairing();
    let repairs: Vec<_> = world.recorded.iter().filter(|(_, bytes)| bytes[0] == 0).cloned().collect();
    assert!(repairs.len() > 100, "{}", repairs.len());
    let before = (world.receiver.repairs, world.rebuilt.len());
    for (at, (_, bytes)) in repairs.into_iter().enumerate() {
        world.inject(true, stranger(), bytes.clone());
        let mut forged = bytes;
        let byte = at % forged.len();
        forged[byte] ^= 1 << (at % 8);
        world.inject(true, stranger(), forged);
        world.drain();
    }
    assert_eq!((world.receiver.repairs, world.rebuilt.len()), before);
}

/// Older receivers do not answer those who ask for repairs, and one that only counts refuses them. Header packets are repeated all the
/// same.
#[test]
fn a_receiver_that_does_not_rebuild_gets_no_repairs() {
    let mut world = World::new(Config { fec: Fec::Auto, ..Config::default() });
    world.receiver.rebuilds = false;
    world.run_for(DELAY * 10);
    assert!(world.sender.is_open());
    world.one_in = 10;
    bursts(&mut world, 300);
    assert_eq!(world.receiver.repairs, 0);
    assert!(world.recorded.iter().all(|(_, bytes)| bytes[0] != 0));
    assert_eq!(world.left.len(), 2_100);
}

/// §4.4 (1): without data, only keepalives are sent.
#[test]
fn silence_without_data() {
    let mut world = World::new(Config::default());
    world.run_for(Dur::from_secs(3));
    let before = world.datagrams;
    world.run_for(Dur::from_secs(3600));
    let keepalives = world.recorded[before as usize..]
        .iter()
        .all(|(_, bytes)| matches!(Kind::of(bytes), Some((Kind::Ping | Kind::Pong, _))));
    assert!(keepalives);
    assert!((1_430..=1_442).contains(&(world.datagrams - before)), "every 5 s: {}", world.datagrams - before);
}

#[test]
fn while_nobody_answers_packets_pass() {
    let mut world = World::new(Config::default());
    world.one_in = 1;
    world.offered = 100;
    world.run_for(Dur::from_millis(1));
    assert_eq!(world.left.len(), 100);
    world.one_in = 0;
    world.run_for(Dur::from_secs(2));
    assert!(world.sender.is_open());
    world.one_in = 1;
    world.offered = 200;
    world.run_for(PATIENCE + Dur::from_secs(1));
    assert_eq!(world.left.len(), 300, "what was held passes in the end");
    assert!(!world.sender.is_open());
}

/// Lets one packet leave, and the next one in hours.
struct Sleeper;

impl CongestionControl for Sleeper {
    fn cwnd(&self) -> u64 {
        15_000
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate(1))
    }

    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_congestion(&mut self, _event: &Congestion) {}

    fn on_spurious(&mut self, _now: Time, _cwnd: u64, _ssthresh: u64) {}
}

impl Given for Sleeper {
    fn name(&self) -> &str {
        "sleeper"
    }

    fn params(&self) -> Vec<Param<'_>> {
        Vec::new()
    }

    fn build(&self, _build: &Build, _values: &Values) -> Box<dyn CongestionControl> {
        Box::new(Sleeper)
    }
}

/// The watchdog: whatever keeps a circuit from sending, data does not wait for good.
#[test]
fn a_circuit_that_stands_still_begins_anew() {
    let config = Config::default();
    let controllers = scheme::controllers(vec![Arc::new(Sleeper)]).unwrap();
    let tcp = TcpConfig { controllers, congestion_control: "sleeper".to_owned(), ..tcp() };
    let chance = Chances::new(1).chance("circuit");
    let mut world = World::new(config.clone());
    world.sender = SendingNode::new(config, tcp, key(), chance, Time::ZERO).unwrap();
    world.run_for(Dur::from_secs(1));
    world.offered = 100;
    world.run_for(STANDSTILL);
    assert!(world.left.len() < 100 && world.sender.standstills == 0, "{} have left", world.left.len());
    world.run_for(Dur::from_secs(120));
    assert_eq!(world.left, (0..100).collect::<Vec<_>>());
    assert!(world.sender.is_open() && world.sender.standstills > 0);
}

/// A sender's address may change: the newest datagram determines it, and an older one that comes late does not.
#[test]
fn answers_go_where_the_newest_datagram_came_from() {
    let mut world = World::new(Config::default());
    world.run_for(Dur::from_secs(6));
    let pings = world.recorded.iter().filter(|(_, bytes)| matches!(Kind::of(bytes), Some((Kind::Ping, _))));
    assert_eq!(pings.count(), 1);
    let moved: SocketAddr = ([10, 0, 0, 7], 4001).into();
    world.one_in = 1;
    world.run_for(Dur::from_secs(6));
    let lost: Vec<_> = world.recorded.iter().rev().take(2).map(|(_, bytes)| bytes.clone()).collect();
    let [newest, older] = &lost[..] else { panic!("two pings") };
    for (from, bytes) in [(moved, newest), (stranger(), older)] {
        world.receiver.handle_datagram(world.now, from, bytes, Ecn::NotEct);
        assert_eq!(world.receiver.poll_transmit(world.now).map(|reply| reply.to), Some(moved));
    }
}

/// A day of loss and of restarts leaves nothing behind.
#[test]
fn nothing_grows() {
    let mut world = World::new(Config { compression: Compression::Twice, ..Config::default() });
    world.one_in = 50;
    for hour in 0..24u32 {
        // A transfer, and then a few packets at a time, with nothing in flight between.
        world.offered = 1_000;
        world.run_for(Dur::from_secs(1800));
        for _ in 0..100 {
            world.offered = 10;
            world.run_for(Dur::from_secs(18));
        }
        let waiting = (world.offered, world.sender.waiting(), world.sender.standstills);
        assert_eq!(waiting, (0, 0, 0), "hour {hour}");
        assert!(world.receiver.offers() <= 1);
        world.recorded.clear();
        if hour % 2 == 0 {
            world.handle(&Event::RestartReceiver);
        }
    }
    assert_eq!(world.left.len(), 24 * 2_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever happens, data leaves once and in order, and no stranger is believed or answered. Once the network
    /// works again, there is a session, and data leaves as its control TCPs allow.
    #[test]
    fn whatever_happens(config in config(), events in prop::collection::vec(event(), 0..60)) {
        let mut world = World::new(config);
        for event in &events {
            world.handle(event);
            world.drain();
        }
        world.one_in = 0;
        world.later = Dur::ZERO;
        world.run_for(Dur::from_secs(120));
        prop_assert!(world.sender.is_open());
        let before = world.receiver.header_packets;
        world.offered += 50;
        world.run_for(Dur::from_secs(120));
        prop_assert!(world.receiver.header_packets > before || world.config.gmb.is_some());
        prop_assert!(world.rebuilt.iter().all(|number| world.left.contains(number)));
        prop_assert_eq!(world.left, (0..world.next).collect::<Vec<_>>());
        prop_assert_eq!((world.offered, world.sender.standstills), (0, 0));
    }
}
