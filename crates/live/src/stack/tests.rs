//! Two stacks back to back, over a link that delays and loses.

mod fast_open;
mod timeouts;

use super::*;
use crate::offload::Offload;
use crate::queued_device::QueuedDevice as Device;
use airtcp_proto::circuit;
use airtcp_proto::tcp::{TcpConfig, profile};
use airtcp_proto::{Chance, Chances};
use airtcp_wire::checksum::Sum;
use airtcp_wire::ip::{Addresses, IpHeader};
use airtcp_wire::packet::{Endpoints, decode_tcp_vouched_for, encode_tcp};
use airtcp_wire::{Dur, Ecn, Flags, Segment, Seq, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Numbers without the hash of the addresses.
struct Counted(u32);

impl InitialNumbers for Counted {
    fn next(&mut self, _now: Time, _endpoints: &Endpoints) -> Seq {
        self.0 = self.0.wrapping_mul(0x9e37_79b1).wrapping_add(u32::MAX - 3_000);
        Seq(self.0)
    }

    fn hash(&self, endpoints: &Endpoints, [a, b]: [u64; 2]) -> u32 {
        ((a ^ b ^ u64::from(endpoints.ports.destination)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }
}

type Packet = (Vec<u8>, Offload);

#[derive(Clone, Debug)]
enum Seen {
    Sent(Segment),
    Received(Segment, Ecn),
    /// Bytes that the application has written.
    Written(usize),
}

struct World {
    now: Time,
    stacks: [Stack<Device>; 2],
    /// Packets under way by time of arrival, with the stack that they go to.
    under_way: BTreeMap<(Time, u64), (usize, Packet)>,
    sent: u64,
    loss: f64,
    /// By how much packets' delays differ, in microseconds.
    spread: u32,
    /// How much longer packets take that the first stack sends now.
    extra: Dur,
    fate: Chance,
    /// What the first stack sends and receives, in order.
    seen: Vec<(Time, Seen)>,
    /// Longest packet in bytes that passes.
    narrow: usize,
    /// The sender of a longer one is not told.
    is_silent: bool,
}

/// Length in bytes of the longest packet that a device cuts from this one.
fn longest((packet, offload): &Packet) -> usize {
    let headers_len = decode_tcp_vouched_for(packet).map_or(0, |packet| packet.payload.start);
    offload.tcp_segment_len().map_or(packet.len(), |size| headers_len + size)
}

/// A router's message about a packet that is too long (RFC 1191 §4).
fn too_big(packet: &[u8], mtu: usize) -> Vec<u8> {
    let quoted = &packet[..packet.len().min(28)];
    let addresses = Addresses::new(
        [10, 0, 0, 254].into(),
        decode_tcp_vouched_for(packet).unwrap().endpoints.addresses.source(),
    );
    let mut message = [&[3, 4, 0, 0, 0, 0], (mtu as u16).to_be_bytes().as_slice(), quoted].concat();
    let checksum = Sum::of(&message).checksum();
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    let mut whole = vec![0; 20];
    let header = IpHeader {
        addresses: addresses.unwrap(),
        protocol: 1,
        dscp: 0,
        ecn: Ecn::NotEct,
        hop_limit: 64,
        payload_len: message.len(),
    };
    header.encode(&mut whole).unwrap();
    [whole, message].concat()
}

const ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2))];

fn server() -> SocketAddr {
    (ADDRESSES[1], 80).into()
}

fn client(port: u16) -> SocketAddr {
    (ADDRESSES[0], port).into()
}

impl World {
    fn new(seed: u64, loss: f64, has_offloads: bool, half_open: usize) -> World {
        World::of(profile::linux(), seed, loss, has_offloads, half_open)
    }

    fn of(mut config: TcpConfig, seed: u64, loss: f64, has_offloads: bool, half_open: usize) -> World {
        config.time_wait = Dur::from_secs(60);
        let settings = Settings {
            config,
            room: Room::fixed(20_000),
            mtu: 1500,
            ports: vec![80],
            half_open,
            keepalive: None,
            fast_open: false,
        };
        let stack =
            |seed| Stack::new(Device::new(has_offloads), settings.clone(), Counted(seed as u32), seed);
        World {
            now: Time::ZERO,
            stacks: [stack(seed), stack(seed + 1)],
            under_way: BTreeMap::new(),
            sent: 0,
            loss,
            spread: 2_000,
            extra: Dur::ZERO,
            seen: Vec::new(),
            fate: Chances::new(seed).chance("fate"),
            narrow: usize::MAX,
            is_silent: false,
        }
    }

    /// Delivers what has been sent, and advances to the next event; `false` if there is none.
    fn step(&mut self) -> bool {
        for (from, stack) in self.stacks.iter_mut().enumerate() {
            for packet in stack.device_mut().sent.drain(..) {
                // Packets that were handed back go on to their destination.
                let is_own = decode_tcp_vouched_for(&packet.0)
                    .is_ok_and(|packet| packet.endpoints.addresses.source() == ADDRESSES[from]);
                if from == 0
                    && let Ok(sent) = decode_tcp_vouched_for(&packet.0)
                {
                    self.seen.push((self.now, Seen::Sent(sent.segment)));
                }
                if !is_own || self.fate.happens(self.loss) {
                    continue;
                }
                if longest(&packet) > self.narrow {
                    if self.is_silent {
                        continue;
                    }
                    let word = too_big(&packet.0, self.narrow);
                    self.under_way.insert((self.now, self.sent), (from, (word, Offload::default())));
                    self.sent += 1;
                    continue;
                }
                let mut delay = Dur::from_micros(5_000 + u64::from(self.fate.u32() % self.spread));
                if from == 0 {
                    delay += self.extra;
                }
                self.sent += 1;
                self.under_way.insert((self.now + delay, self.sent), (1 - from, packet));
            }
        }
        let timers = self.stacks.iter().map(Stack::poll_timeout).min().unwrap_or(Time::NEVER);
        let arrival = self.under_way.first_key_value().map_or(Time::NEVER, |(&(at, _), _)| at);
        let next = timers.min(arrival);
        if next.is_never() {
            return false;
        }
        self.now = self.now.max(next);
        while self.under_way.first_key_value().is_some_and(|(&(at, _), _)| at <= self.now) {
            let Some((_, (to, packet))) = self.under_way.pop_first() else { break };
            if to == 0
                && let Ok(arrived) = decode_tcp_vouched_for(&packet.0)
            {
                self.seen.push((self.now, Seen::Received(arrived.segment, arrived.ecn)));
            }
            self.stacks[to].device_mut().arrived.push_back(packet);
            while self.stacks[to].handle_packet(self.now).unwrap() {}
        }
        self.stacks.iter_mut().for_each(|stack| stack.handle_timeouts(self.now));
        true
    }
}

impl World {
    /// Runs until no packet is under way.
    fn settle(&mut self) {
        let is_quiet = |world: &mut World| {
            world.under_way.is_empty()
                && world.stacks.iter_mut().all(|stack| stack.device_mut().sent.is_empty())
        };
        while !is_quiet(self) {
            self.step();
        }
    }
}

/// One end of a connection: what it still has to send, and what it has received.
struct Talk {
    stack: usize,
    key: FlowKey,
    to_send: VecDeque<u8>,
    received: Vec<u8>,
    has_shut: bool,
}

impl Talk {
    fn new(stack: usize, key: FlowKey, bytes: &[u8]) -> Talk {
        let to_send = bytes.iter().copied().collect();
        Talk { stack, key, to_send, received: Vec::new(), has_shut: false }
    }

    /// Writes and reads what it can; `true` once both directions are done, and the connection is released.
    fn turn(&mut self, world: &mut World) -> bool {
        let stack = &mut world.stacks[self.stack];
        let flow = stack.get_mut(self.key).expect("nobody else releases it");
        assert_eq!(flow.failure, None);
        let taken = flow.stream.write(self.to_send.make_contiguous());
        self.to_send.drain(..taken);
        if self.to_send.is_empty() && !self.has_shut {
            self.has_shut = true;
            flow.stream.shutdown();
        }
        let mut buffer = [0; 4096];
        loop {
            match flow.stream.read(&mut buffer) {
                0 => break,
                len => self.received.extend_from_slice(&buffer[..len]),
            }
        }
        let is_done = flow.is_over() && flow.has_ended;
        stack.flush(world.now, self.key);
        if is_done {
            stack.release(world.now, self.key);
        }
        is_done
    }
}

/// Whoever comes first, the others get as many turns.
#[test]
fn flows_that_wait_for_room_have_turns() {
    let mut world = World::new(1, 0.0, false, 64);
    let keys: Vec<_> =
        (1..4).map(|port| world.stacks[0].connect(world.now, client(port), server()).unwrap()).collect();
    world.settle();
    let stack = &mut world.stacks[0];
    stack.device_mut().room = 1;
    for key in keys {
        stack.get_mut(key).unwrap().stream.write(&[0; 12_000]);
        stack.flush(world.now, key);
    }
    let mut turns = Vec::new();
    for _ in 0..6 {
        stack.device_mut().sent.clear();
        stack.handle_room(world.now);
        let (packet, _) = &stack.device_mut().sent[0];
        turns.push(decode_tcp_vouched_for(packet).unwrap().endpoints.ports.source);
    }
    assert_eq!(turns, [1, 2, 3, 1, 2, 3]);
}

/// Paper 000 §6, F2: its circuit knows the control TCPs' window, by which a data TCP repeats its first segment. All copies are lost.
#[test]
fn a_data_tcp_repeats_its_first_segment_as_its_circuit_says() {
    let copies = |every: Option<u32>| {
        let paper = circuit::Config {
            error_control: circuit::ErrorControl::Paper,
            f2: every.is_some(),
            ..circuit::Config::default()
        };
        let mut world = World::of(paper.data_tcp(&profile::linux()), 1, 0.0, false, 64);
        let [key, _] = established(&mut world, 1);
        let [sender, receiver] = &mut world.stacks;
        sender.device_mut().repeats_every = every;
        sender.get_mut(key).unwrap().stream.write(&[0; 19_000]);
        sender.flush(world.now, key);
        let packets: Vec<_> = sender.device_mut().sent.drain(..).skip(1).collect();
        assert_eq!(packets.len(), 13);
        let mut copies = Vec::new();
        for (duplicates, packet) in (1..).zip(packets) {
            receiver.device_mut().arrived.push_back(packet);
            while receiver.handle_packet(world.now).unwrap() {}
            sender.device_mut().arrived.extend(receiver.device_mut().sent.drain(..));
            while sender.handle_packet(world.now).unwrap() {}
            copies.extend(sender.device_mut().sent.drain(..).map(|_| duplicates));
        }
        copies
    };
    assert_eq!(copies(None), [3]);
    assert_eq!(copies(Some(4)), [3, 7, 11]);
    assert_eq!(copies(Some(9)), [3, 12]);
}

/// A tail loss probe takes the place of a timeout that is due at the same time (RFC 8985 §7.2). Until it can leave, the
/// timer must not call again and again.
#[test]
fn a_flow_that_waits_for_room_has_no_timer() {
    let mut world = World::new(1, 0.0, false, 64);
    let [key, _] = established(&mut world, 1);
    let stack = &mut world.stacks[0];
    stack.get_mut(key).unwrap().stream.write(&[0; 100]);
    stack.flush(world.now, key);
    stack.device_mut().sent.clear();
    stack.device_mut().room = 0;
    let due = stack.poll_timeout();
    stack.handle_timeouts(due);
    assert!(stack.poll_timeout().is_never());
    stack.device_mut().room = 1;
    stack.handle_room(due);
    assert_eq!(stack.device_mut().sent.len(), 1);
    assert!(stack.poll_timeout() > due && !stack.poll_timeout().is_never());
}

fn bytes(port: u16, len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + usize::from(port)) as u8).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each connection carries its bytes in both directions, and leaves nothing behind.
    #[test]
    fn bytes_arrive_and_nothing_is_left(
        seed in 0u64..1 << 32,
        loss in prop_oneof![Just(0.0), 0.0..0.1],
        has_offloads: bool,
        narrow in prop_oneof![Just(usize::MAX), 552usize..1500],
        then_narrow in prop::collection::btree_map(1usize..500, 552usize..2000, 0..4),
        is_silent: bool,
        is_fast: bool,
        lens in prop::collection::vec((0usize..100_000, 0usize..30_000), 1..12),
    ) {
        let mut world = World::new(seed, loss, has_offloads, 64);
        if is_fast {
            fast_open::exchange_cookies(&mut world);
        }
        (world.narrow, world.is_silent) = (narrow, is_silent);
        let mut talks = Vec::new();
        for (port, &(there, _)) in (1000..).zip(&lens) {
            let key = world.stacks[0].connect(world.now, client(port), server()).unwrap();
            talks.push((port, Talk::new(0, key, &bytes(port, there))));
        }
        let mut turns = 0;
        let mut ended = BTreeMap::new();
        while world.step() {
            turns += 1;
            world.narrow = then_narrow.get(&turns).copied().unwrap_or(world.narrow);
            prop_assert!(turns < 200_000, "it ends");
            while let Some((key, endpoints)) = world.stacks[1].accept() {
                let port = endpoints.reversed().source().port();
                let (_, back) = lens[usize::from(port) - 1000];
                talks.push((port, Talk::new(1, key, &bytes(port, back))));
            }
            talks.retain_mut(|(port, talk)| {
                let is_done = talk.turn(&mut world);
                if is_done {
                    ended.insert((*port, talk.stack), std::mem::take(&mut talk.received));
                }
                !is_done
            });
        }
        for (port, &(there, back)) in (1000..).zip(&lens) {
            prop_assert_eq!(&ended[&(port, 1)], &bytes(port, there));
            prop_assert_eq!(&ended[&(port, 0)], &bytes(port, back));
        }
        prop_assert_eq!(world.stacks.each_ref().map(Stack::len), [0, 0]);
    }
}

/// Connects, and completes the handshake.
fn established(world: &mut World, port: u16) -> [FlowKey; 2] {
    let opened = world.stacks[0].connect(world.now, client(port), server()).unwrap();
    while world.step() {
        if let Some((accepted, _)) = world.stacks[1].accept() {
            return [opened, accepted];
        }
    }
    panic!("it has not been accepted")
}

/// A fast path makes both buffers grow; a reader that takes nothing, or shortage, keeps them as they are. What was in them is
/// freed.
#[test]
fn buffers_grow_with_what_is_under_way_and_taken() {
    for (reads, kept) in [(true, false), (false, false), (true, true)] {
        let mut world = World::new(1, 0.0, false, 4);
        world
            .stacks
            .iter_mut()
            .for_each(|stack| stack.settings.room = Room { first: 64 << 10, most: 1 << 20 });
        let keys = established(&mut world, 1000);
        for (stack, key) in world.stacks.iter_mut().zip(keys) {
            stack.get_mut(key).unwrap().stream.keep(kept);
        }
        let turn = |world: &mut World, writes: bool| {
            let [sender, receiver] = &mut world.stacks;
            if writes {
                sender.get_mut(keys[0]).unwrap().stream.write(&[7; 1 << 20]);
                sender.flush(world.now, keys[0]);
            }
            if reads {
                receiver.get_mut(keys[1]).unwrap().stream.read(&mut vec![0; 1 << 20]);
                receiver.flush(world.now, keys[1]);
            }
            world.step()
        };
        assert!((0..3_000).all(|_| turn(&mut world, true)));
        let rooms = [0, 1].map(|end| world.stacks[end].get(keys[end]).unwrap().stream.room());
        let first = 2 * (64 << 10);
        match reads && !kept {
            true => assert!(rooms.iter().all(|&room| room > 2 * first), "{rooms:?}"),
            false => assert!(rooms[1] == first && rooms[0] <= 3 * first, "{rooms:?}"),
        }
        if reads {
            while turn(&mut world, false) {}
            let held = world.stacks.each_ref().map(Stack::held);
            assert!(held.iter().all(|&held| held < 16 << 10), "{held:?}");
        }
    }
}

#[test]
fn a_syn_takes_the_place_of_a_connection_in_time_wait() {
    let mut world = World::new(1, 0.0, true, 4);
    let [opened, accepted] = established(&mut world, 1000);
    // The end that closes first waits.
    for (stack, key) in [(1, accepted), (0, opened)] {
        let flow = world.stacks[stack].get_mut(key).unwrap();
        flow.stream.shutdown();
        world.stacks[stack].flush(world.now, key);
        world.settle();
    }
    world.stacks.iter_mut().zip([opened, accepted]).for_each(|(stack, key)| stack.release(world.now, key));
    assert_eq!(world.stacks.each_ref().map(Stack::len), [0, 1], "one end waits");
    let [_, again] = established(&mut world, 1000);
    assert_ne!(again, accepted);
    assert_eq!(world.stacks[1].len(), 1);
}

/// A peer that is there answers, and nothing else happens; one that is gone is given up (RFC 9293 §3.8.4).
#[test]
fn a_silent_peer_is_asked_and_given_up_if_it_is_gone() {
    let mut world = World::new(1, 0.0, true, 4);
    for stack in &mut world.stacks {
        stack.settings.keepalive = Some(Dur::from_secs(7200));
    }
    let [opened, accepted] = established(&mut world, 1000);
    let has_failed = |world: &World| {
        [world.stacks[0].get(opened).unwrap().failure, world.stacks[1].get(accepted).unwrap().failure]
    };
    world.settle();
    assert!(world.now < Time::ZERO + Dur::from_secs(1));
    while world.now < Time::ZERO + Dur::from_secs(40_000) {
        assert!(world.step());
    }
    assert_eq!(has_failed(&world), [None, None]);
    assert!((10..60).contains(&(world.sent - 3)), "{} packets", world.sent);

    let (before, since) = (world.sent, world.now);
    world.loss = 1.0;
    while has_failed(&world).contains(&None) {
        assert!(world.step());
    }
    assert_eq!(has_failed(&world), [Some(io::ErrorKind::TimedOut); 2]);
    let after = world.now.since(since);
    assert!(after <= Dur::from_secs(7200 + 9 * 75 + 1), "{after}");
    assert_eq!(world.sent, before);
}

/// Handshakes that nobody completes displace each other, and no connection.
#[test]
fn a_flood_of_forged_flows_changes_nothing() {
    let mut world = World::new(1, 0.0, true, 4);
    let [opened, accepted] = established(&mut world, 1000);
    let mut packet = vec![0; 60];
    for number in 0..100_000u32 {
        let from: SocketAddr =
            (Ipv4Addr::from(0x0b00_0000 + number / 16), (number % 50_000) as u16 + 1).into();
        let syn = Segment { seq: Seq(number), flags: Flags::SYN, window: 1000, ..Segment::default() };
        let endpoints = Endpoints::new(from, server()).unwrap();
        let len = encode_tcp(&endpoints, Ecn::NotEct, &syn, &[], &mut packet).unwrap();
        world.stacks[1].device_mut().arrived.push_back((packet[..len].to_vec(), Offload::default()));
        world.stacks[1].handle_packet(world.now).unwrap();
        assert!(world.stacks[1].len() <= 1 + 4);
        world.stacks[1].device_mut().sent.clear();
    }
    assert!(world.stacks[1].accept().is_none());
    world.stacks[0].get_mut(opened).unwrap().stream.write(b"word");
    world.stacks[0].flush(world.now, opened);
    world.settle();
    assert_eq!(world.stacks[1].get(accepted).unwrap().stream.readable(), 4);
}

#[test]
fn others_packets_are_handed_back_as_they_came() {
    let mut world = World::new(1, 0.0, true, 4);
    // A SYN to a port that is not accepted, and a packet that is not TCP.
    let other = world.stacks[0].connect(world.now, client(1000), ([10, 0, 0, 2], 81).into()).unwrap();
    let syn = world.stacks[0].device_mut().sent[0].clone();
    let not_tcp = (vec![0x45; 60], Offload::default());
    for packet in [&syn, &not_tcp] {
        world.stacks[1].device_mut().arrived.push_back(packet.clone());
        assert!(world.stacks[1].handle_packet(world.now).unwrap());
    }
    assert_eq!(world.stacks[1].device_mut().sent, [syn, not_tcp]);
    world.stacks[0].release(world.now, other);
    assert!(world.stacks[0].is_empty() && world.stacks[1].is_empty());
}

/// A stranger who sees no packets cannot make a connection send shorter ones.
#[test]
fn a_message_that_quotes_nothing_under_way_is_not_believed() {
    let mut world = World::new(1, 0.0, true, 4);
    let [opened, _] = established(&mut world, 1000);
    let send = |world: &mut World| {
        world.settle();
        let stack = &mut world.stacks[0];
        stack.get_mut(opened).unwrap().stream.write(&[7; 5_000]);
        stack.flush(world.now, opened);
        longest(&stack.device_mut().sent[0])
    };
    assert_eq!(send(&mut world), 1500);
    for (wrong_by, longest) in [(1 << 20, 1500), (0, 700)] {
        let mut packet = world.stacks[0].device_mut().sent[0].0.clone();
        let seq = u32::from_be_bytes(packet[24..28].try_into().unwrap()).wrapping_add(wrong_by);
        packet[24..28].copy_from_slice(&seq.to_be_bytes());
        world.stacks[0].device_mut().arrived.push_back((too_big(&packet, 700), Offload::default()));
        world.stacks[0].handle_packet(world.now).unwrap();
        assert_eq!(send(&mut world), longest);
    }
}

/// Writes, and returns the lengths of the packets that leave until all is acknowledged.
fn carried(world: &mut World, [from, to]: [FlowKey; 2], len: usize) -> Vec<usize> {
    let before = world.stacks[0].get(from).unwrap().stream.acknowledged();
    world.stacks[0].get_mut(from).unwrap().stream.write(&vec![7; len]);
    world.stacks[0].flush(world.now, from);
    let mut lens = Vec::new();
    while world.stacks[0].get(from).unwrap().stream.acknowledged() < before + len as u64 {
        lens.extend(world.stacks[0].device_mut().sent.iter().map(longest));
        assert!(world.step());
        world.stacks[1].get_mut(to).unwrap().stream.read(&mut vec![0; len]);
        world.stacks[1].flush(world.now, to);
    }
    lens
}

/// Packets of this many bytes, but for the ends of what was written, or sent in longer ones.
fn assert_full(lens: &[usize], size: usize) {
    let full = lens.iter().filter(|&&len| len == size).count();
    assert!(lens.iter().all(|&len| len <= size) && full + 2 >= lens.len(), "{size}: {lens:?}");
}

/// What is under way is cut, what follows is as long as the link allows.
#[test]
fn a_link_that_becomes_narrower_and_wider_again_is_followed() {
    let mut world = World::new(1, 0.0, false, 4);
    let keys = established(&mut world, 1000);
    assert_full(&carried(&mut world, keys, 12_000), 1500);
    // Packets of the old size are under way, and vanish at the link.
    let stack = &mut world.stacks[0];
    stack.get_mut(keys[0]).unwrap().stream.write(&[7; 5_000]);
    stack.flush(world.now, keys[0]);
    stack.device_mut().sent.clear();
    stack.handle_link_mtu(world.now, 1280);
    (world.narrow, world.is_silent) = (1280, true);
    assert!(carried(&mut world, keys, 7_000).iter().all(|&len| len <= 1280));
    assert_full(&carried(&mut world, keys, 12_000), 1280);
    world.stacks[0].handle_link_mtu(world.now, 1500);
    world.narrow = usize::MAX;
    assert_full(&carried(&mut world, keys, 12_000), 1500);
}

/// A router's word ages (RFC 1191 §6.3). Then one packet is longer, and if that passes, so are all.
#[test]
fn a_path_that_becomes_wider_again_is_found_out() {
    let mut world = World::new(1, 0.0, false, 4);
    let keys = established(&mut world, 1000);
    world.narrow = 1280;
    carried(&mut world, keys, 12_000);
    assert_full(&carried(&mut world, keys, 12_000), 1280);
    world.now += Dur::from_secs(600);
    let lens = carried(&mut world, keys, 12_000);
    assert_eq!(lens.iter().filter(|&&len| len > 1280).collect::<Vec<_>>(), [&1500], "the router told again");
    world.narrow = usize::MAX;
    assert_full(&carried(&mut world, keys, 12_000), 1280);
    world.now += Dur::from_secs(600);
    carried(&mut world, keys, 12_000);
    assert_full(&carried(&mut world, keys, 12_000), 1500);
}

/// RFC 4821 §7.7: a path that loses long packets, and says nothing.
#[test]
fn a_black_hole_is_found_out() {
    let mut world = World::new(1, 0.0, false, 4);
    let keys = established(&mut world, 1000);
    (world.narrow, world.is_silent) = (1280, true);
    carried(&mut world, keys, 12_000);
    assert_full(&carried(&mut world, keys, 12_000), 1024);
    // What passes is found within minutes, and then kept.
    for _ in 0..40 {
        world.now += Dur::from_secs(20);
        carried(&mut world, keys, 12_000);
    }
    let lens = carried(&mut world, keys, 12_000);
    assert!((1200..=1280).contains(&lens[0]), "{lens:?}");
    assert_full(&lens, lens[0]);
}
