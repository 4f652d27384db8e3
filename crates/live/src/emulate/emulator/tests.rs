use super::*;
use airtcp_proto::middlebox::{Direction, Middlebox, SeenPacket};
use airtcp_proto::scheme::Scheme;
use airtcp_sim::{RunOptions, Scenario};
use airtcp_wire::Dur;
use airtcp_wire::circuit::Mark;
use airtcp_wire::ip::{Addresses, IpHeader};
use proptest::prelude::*;
use std::path::Path;
use std::sync::{Arc, Mutex};

mod station;

const SEED: u64 = 7;

fn scenario(text: &str) -> Scenario {
    Scenario::load(text, "test.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// An IPv4 packet of `bytes` bytes, at least 28, between the two ends. `number` identifies it.
fn packet(bytes: u32, number: u32, ecn: Ecn) -> Vec<u8> {
    packet_of(0, bytes, number, ecn)
}

fn packet_of(dscp: u8, bytes: u32, number: u32, ecn: Ecn) -> Vec<u8> {
    let mut packet = vec![0; bytes as usize];
    let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 1, 1].into() };
    let payload_len = bytes as usize - addresses.header_len();
    let header = IpHeader { addresses, protocol: 17, dscp, ecn, hop_limit: 64, payload_len };
    let at = header.encode(&mut packet).unwrap();
    packet[at + 4..at + 8].copy_from_slice(&number.to_be_bytes());
    packet
}

fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[24..28].try_into().unwrap())
}

/// A packet as the simulator saw it: when, which way, how long, and its ECN field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Seen {
    at: Time,
    forward: bool,
    bytes: u32,
    ecn: u8,
}

/// Records what passes its node.
struct Spy(Arc<Mutex<Vec<Seen>>>);

impl Middlebox for Spy {
    fn handle_packet(&mut self, now: Time, packet: &SeenPacket, _out: &mut Vec<SeenPacket>) -> bool {
        let forward = packet.direction == Direction::Forward;
        let seen = Seen { at: now, forward, bytes: packet.bytes, ecn: packet.ecn as u8 };
        self.0.lock().unwrap().push(seen);
        true
    }
}

/// Runs the simulator. Returns the packets that entered and that left at the path's ends, in order of time, and the
/// links' records.
fn simulated(scenario: &Scenario) -> (Vec<Seen>, Vec<Seen>, Vec<LinkRecord>) {
    let spied = [Arc::default(), Arc::default()];
    let last = scenario.links.len();
    let spy = |node: usize| Box::new(Spy(Arc::clone(&spied[node.min(1)]))) as Box<dyn Middlebox>;
    let options = RunOptions { middleboxes: vec![(0, spy(0)), (last, spy(last))], ..RunOptions::default() };
    let scheme = Scheme::parse(&scenario.schemes[0], &scenario.profile).unwrap();
    let outcome = airtcp_sim::run(scenario, &scheme, SEED, options).unwrap();
    let at = |node: usize, forward| {
        let seen = spied[node].lock().unwrap().clone();
        seen.into_iter().filter(move |seen| seen.forward == forward)
    };
    let mut entered: Vec<Seen> = at(0, true).chain(at(1, false)).collect();
    let mut left: Vec<Seen> = at(1, true).chain(at(0, false)).collect();
    entered.sort_by_key(|seen| seen.at);
    left.sort_by_key(|seen| (seen.at, seen.forward));
    (entered, left, outcome.record.links)
}

/// Sends the same arrivals through the emulator, with a driver that is late by `lag` each time. `packet` makes a packet
/// of so many bytes from its number and ECN field. Returns what came out.
fn emulated(
    emulator: &mut Emulator,
    entered: &[Seen],
    end: Time,
    lag: Dur,
    packet: impl Fn(u32, u32, Ecn) -> Vec<u8>,
) -> Vec<Seen> {
    let mut left = Vec::new();
    let mut poll = |emulator: &mut Emulator, now: Time| {
        while let Some(Transmit { port, bytes, due }) = emulator.poll_transmit(now) {
            let ecn = IpHeader::decode(bytes).expect("its checksum is right").0.ecn as u8;
            left.push(Seen { at: due, forward: port == 1, bytes: bytes.len() as u32, ecn });
        }
    };
    for (number, seen) in (0..).zip(entered) {
        while emulator.poll_timeout() + lag < seen.at {
            let now = emulator.poll_timeout() + lag;
            poll(emulator, now);
        }
        let ecn = Ecn::from_bits(seen.ecn);
        emulator.handle_packet(seen.at, usize::from(!seen.forward), &packet(seen.bytes, number, ecn));
    }
    poll(emulator, end);
    left.sort_by_key(|seen| (seen.at, seen.forward));
    left
}

const PATHS: [&str; 8] = [
    "[[link]]\nname = 'air'\nrate = '10Mbit/s'\ndelay = '5ms'\nqueue.packets = 20\nloss.ber = 1e-6",
    "schemes = ['spectcp']\n[[link]]\nname = 'air'\nrate = '4Mbit/s'\ndelay = '20ms'\n\
     queue = { discipline = 'red', ecn = true, min_threshold = 5, max_threshold = 15, packets = 40 }",
    "[[link]]\nname = 'wire'\nrate = '50Mbit/s'\ndelay = '1ms'\n[[link]]\nname = 'air'\nrate = '5Mbit/s'\n\
     delay = '30ms'\njitter = { distribution = 'normal', mean = '10ms', deviation = '5ms', overtaking = true }\n\
     loss.packet = '0.5%'\nqueue = { discipline = 'codel', packets = 100 }",
    "[[link]]\nname = 'air'\nrate = '8Mbit/s'\ndelay = '10ms'\narq = { retries = 3, round_trip = '5ms' }\n\
     loss.burst = { to_bad = 0.01, to_good = 0.2, bad_loss = 0.5 }\n\
     outages = { every = '1s', length = '50ms', handoff = true }",
    "[[link]]\nname = 'air'\nrate = '8Mbit/s'\ndelay = '10ms'\nspikes = { every = '1s', length = '100ms', extra = '80ms' }\n\
     queue = { discipline = 'fq-codel', packets = 60 }\nfec = { symbol_bits = 8, data_symbols = 223, parity_symbols = 32 }",
    "[[link]]\nname = 'a'\nrate = '20Mbit/s'\ndelay = '3ms'\n[[link]]\nname = 'b'\nrate = '6Mbit/s'\ndelay = '7ms'\n\
     loss.ber = 1e-6\n[[link]]\nname = 'c'\nrate = '7Mbit/s'\ndelay = '1ms'\nqueue.packets = 5",
    "[[link]]\nname = 'policed'\nrate = '100Mbit/s'\ndelay = '20ms'\n\
     queue = { discipline = 'token-bucket', rate = '5Mbit/s', burst = '32kB' }",
    "[[link]]\nname = 'shaped'\nrate = '20Mbit/s'\ndelay = '20ms'\n\
     queue = { discipline = 'token-bucket', rate = '5Mbit/s', burst = '10kB', packets = 40 }",
];

/// The same packets at the same times with the same seed have the same fates, marks and times as in the simulator,
/// however late the driver comes.
#[test]
fn the_simulators_verdicts() {
    for path in PATHS {
        let scenario = scenario(&format!("duration = '8s'\n{path}\n"));
        let end = Time::ZERO + scenario.duration;
        let (entered, left, records) = simulated(&scenario);
        assert!(
            left.len() > 1000 && left.len() < entered.len(),
            "{path}: {} of {}",
            left.len(),
            entered.len()
        );
        for lag in [Dur::ZERO, Dur::from_micros(300), Dur::from_millis(70)] {
            let mut emulator = Emulator::end_to_end(&scenario, SEED);
            let found = emulated(&mut emulator, &entered, end, lag, packet);
            assert!(found == left, "{path}: {lag} late");
            assert_eq!(
                serde_json::to_value(emulator.link_records(end)).unwrap(),
                serde_json::to_value(&records).unwrap(),
                "{path}"
            );
        }
    }
}

fn sum(counts: &[Counts], of: impl Fn(&Counts) -> u64) -> u64 {
    counts.iter().map(of).sum()
}

proptest! {
    /// Every packet that goes in comes out once, unchanged but for its mark, or is counted as lost.
    #[test]
    fn nothing_is_forgotten(
        path in 0..PATHS.len(),
        seed: u64,
        arrivals in prop::collection::vec((0usize..2, 0u64..20_000_000, 28u32..3000, 0u8..4), 1..300),
    ) {
        let scenario = scenario(PATHS[path]);
        let mut emulator = Emulator::end_to_end(&scenario, seed);
        let mut now = Time::ZERO;
        let mut sent = Vec::new();
        let mut out = vec![false; arrivals.len()];
        let mut check = |emulator: &mut Emulator, sent: &[Vec<u8>], now| {
            while let Some(transmit) = emulator.poll_transmit(now) {
                assert!(transmit.due <= now);
                let number = number(transmit.bytes) as usize;
                assert!(!std::mem::replace(&mut out[number], true), "twice");
                assert_eq!(transmit.bytes[12..], sent[number][12..]);
            }
        };
        for (number, (port, ahead_ns, bytes, ecn)) in (0..).zip(arrivals) {
            now += Dur(ahead_ns);
            let packet = packet(bytes, number, Ecn::from_bits(ecn));
            emulator.handle_packet(now, port, &packet);
            sent.push(packet);
            check(&mut emulator, &sent, now);
        }
        check(&mut emulator, &sent, now + Dur::from_secs(60));
        let counts = emulator.counts();
        let delivered = out.iter().filter(|out| **out).count();
        prop_assert_eq!(emulator.under_way(), 0);
        prop_assert_eq!(sum(counts, |counts| counts.delivered_packets), delivered as u64);
        prop_assert_eq!(sum(counts, |counts| counts.entered_packets), sent.len() as u64);
        prop_assert_eq!(sum(counts, Counts::lost_packets), (sent.len() - delivered) as u64);
    }

    /// Any bytes cross the path unchanged.
    #[test]
    fn any_bytes_cross(
        ethernet: bool,
        frames in prop::collection::vec((0usize..2, prop::collection::vec(any::<u8>(), 0..200)), 1..20),
        ether_type in prop::sample::select(vec![0x0800u16, 0x86dd, 0x8100, 0x0806]),
    ) {
        let framing = if ethernet { Framing::Ethernet } else { Framing::Ip };
        let mut emulator = Emulator::end_to_end(&Scenario::built_in(&[]).unwrap(), SEED).with_framing(framing);
        let mut sent = Vec::new();
        for (port, mut frame) in frames {
            if ethernet && frame.len() >= 14 {
                frame[12..14].copy_from_slice(&ether_type.to_be_bytes());
            }
            emulator.handle_packet(Time::ZERO, port, &frame);
            sent.push(frame);
        }
        let end = Time::ZERO + Dur::from_secs(60);
        while let Some(transmit) = emulator.poll_transmit(end) {
            let position = sent.iter().position(|frame| frame == transmit.bytes);
            prop_assert!(position.is_some());
            sent.swap_remove(position.unwrap());
        }
        prop_assert_eq!(sent.len() as u64, sum(emulator.counts(), Counts::lost_packets));
    }
}

/// What is under way is bounded: 10 s of delay at 1 Gbit/s would be 1.25 GB.
#[test]
fn memory_refuses_what_it_has_no_room_for() {
    let path = scenario("[[link]]\nname = 'far'\nrate = '1Gbit/s'\ndelay = '10s'\nqueue.packets = 1000\n");
    let mut emulator = Emulator::end_to_end(&path, SEED).with_memory(Bytes(100 * 2048));
    for number in 0..150 {
        emulator.handle_packet(Time(u64::from(number) * 20_000), 0, &packet(1500, number, Ecn::NotEct));
    }
    let counts = emulator.counts()[0];
    assert_eq!((counts.entered_packets, counts.refused_memory, emulator.under_way()), (100, 50, 100));
    let end = Time::ZERO + Dur::from_secs(11);
    while emulator.poll_transmit(end).is_some() {}
    emulator.handle_packet(end, 0, &packet(1500, 150, Ecn::NotEct));
    assert_eq!((emulator.counts()[0].entered_packets, emulator.under_way()), (101, 1));
}

/// Three ports on a path of two links: each packet crosses the links between its own two ports.
#[test]
fn ports_in_the_middle() {
    let path = scenario(
        "[[link]]\nname = 'a'\nrate = '1Gbit/s'\ndelay = '10ms'\n[[link]]\nname = 'b'\nrate = '1Gbit/s'\ndelay = '20ms'\n",
    );
    let port = |node, address: [u8; 4]| Port {
        node,
        prefixes: vec![super::super::Prefix { address: address.into(), len: 32 }],
        segment: 0,
    };
    let ports = vec![port(0, [10, 0, 0, 1]), port(1, [10, 0, 0, 2]), port(2, [10, 0, 1, 1])];
    let mut emulator = Emulator::new(&path, SEED, ports);
    // All of them go to 10.0.1.1.
    (0..3).for_each(|from| emulator.handle_packet(Time::ZERO, from, &packet(125, from as u32, Ecn::NotEct)));
    let mut left = Vec::new();
    while let Some(Transmit { port, bytes, due }) = emulator.poll_transmit(Time::ZERO + Dur::from_secs(1)) {
        left.push((port, number(bytes), due.0 / 1000));
    }
    assert_eq!(left, [(2, 1, 20_001), (2, 0, 30_002)]);
    assert_eq!(emulator.counts()[2].refused_unreachable, 1, "it came in where it would have to leave");
}

/// Paper 000 §4.7.1: header packets, which have the mark, are dropped while data still finds room, however short.
#[test]
fn a_header_first_queue_drops_headers() {
    let queue = "queue = { discipline = 'header-first', max_headers = 2, packets = 100 }";
    let scenario = scenario(&format!("[[link]]\nname = 'air'\nrate = '1Mbit/s'\ndelay = '1ms'\n{queue}\n"));
    let mut emulator = Emulator::end_to_end(&scenario, SEED);
    let marked = |dscp| Mark::default().put_on(dscp);
    for (number, dscp) in [0, marked(0), 10, marked(10), 46, marked(46)].repeat(4).into_iter().enumerate() {
        emulator.handle_packet(Time::ZERO, 0, &packet_of(dscp, 52, number as u32, Ecn::Ect0));
    }
    let mut left = Vec::new();
    let end = Time::ZERO + Dur::from_secs(1);
    while let Some(transmit) = emulator.poll_transmit(end) {
        left.push(number(transmit.bytes));
    }
    let counts = emulator.counts()[0];
    assert_eq!(left, [0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]);
    assert_eq!((counts.lost_aqm, counts.lost_overflow), (10, 0));
}
