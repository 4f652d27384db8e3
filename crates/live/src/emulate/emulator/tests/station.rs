//! The emulator with a station, beside the simulator and beside the machine alone.

use super::*;
use crate::emulate::{HoldingMachine, Station};
use airtcp_proto::base_station::{Machine, MachineBuild, delay_jitter};
use airtcp_proto::middlebox::{FlowId, Origin};
use airtcp_proto::tcp::profile;
use airtcp_wire::ip::TCP;
use airtcp_wire::packet::{Endpoints, encode_tcp};
use airtcp_wire::tcp::Ports;
use airtcp_wire::{Flags, Segment, Seq};

const WIRED_AND_WIRELESS: &str = "[[link]]\nname = 'wire'\nrate = '50Mbit/s'\ndelay = '2ms'\n\
    [[link]]\nname = 'air'\nrate = '6Mbit/s'\ndelay = '20ms'\nloss.packet = '0.2%'\nqueue.packets = 30";
const ONE_LINK: &str = "[[link]]\nname = 'air'\nrate = '20Mbit/s'\ndelay = '5ms'\nqueue.packets = 50";

fn with_station(scenario: &Scenario, term: &str) -> Emulator {
    let machine: HoldingMachine = term.parse().unwrap();
    Emulator::end_to_end(scenario, SEED).with_station(Station::new(&machine, scenario, SEED))
}

/// A TCP packet of a flow, whose sequence number identifies it.
fn segment(flow: u16, number: u32, flags: Flags, len: u32) -> Vec<u8> {
    let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 1, 1].into() };
    let endpoints = Endpoints { addresses, ports: Ports { source: 1000 + flow, destination: 80 } };
    let segment = Segment { seq: Seq(number), flags, len, ..Segment::default() };
    let mut packet = vec![0; 60 + len as usize];
    let len = encode_tcp(&endpoints, Ecn::NotEct, &segment, &vec![0; len as usize], &mut packet).unwrap();
    packet.truncate(len);
    packet
}

/// A packet of `bytes` bytes that claims to be TCP, and is all zeros behind the IP header.
fn claiming_tcp(bytes: usize, ecn: Ecn) -> Vec<u8> {
    let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 1, 1].into() };
    let payload_len = bytes - addresses.header_len();
    let mut packet = vec![0; bytes];
    let header = IpHeader { addresses, protocol: TCP, dscp: 0, ecn, hop_limit: 64, payload_len };
    header.encode(&mut packet).unwrap();
    packet
}

/// A packet as long as the simulator's: an ACK or a SYN if it is not longer than their headers, else data.
fn as_simulated(bytes: u32, number: u32, ecn: Ecn) -> Vec<u8> {
    let mut packet = claiming_tcp(bytes as usize, ecn);
    packet[24..28].copy_from_slice(&number.to_be_bytes());
    packet[32] = ((bytes - 20).min(40) as u8 / 4) << 4;
    packet
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// With the same seed, the station delays the same packets as that of the simulator's scheme, and as long.
    #[test]
    fn the_simulators_station(
        delay_ms in 1u64..300,
        percent in 1u32..100,
        overtaking: bool,
        lag in prop::sample::select(vec![Dur::ZERO, Dur::from_micros(300), Dur::from_millis(70)]),
    ) {
        let term = format!("delay-jitter:delay={delay_ms}ms:probability=0.{percent:02}:overtaking={overtaking}");
        let scenario = scenario(&format!("duration = '3s'\nschemes = ['sack+{term}']\n{WIRED_AND_WIRELESS}\n"));
        let end = Time::ZERO + scenario.duration;
        let (entered, left, records) = simulated(&scenario);
        let mut emulator = with_station(&scenario, &term);
        let found = emulated(&mut emulator, &entered, end, lag, as_simulated);
        prop_assert!(found == left, "{} packets, not {}", found.len(), left.len());
        prop_assert_eq!(
            serde_json::to_value(emulator.link_records(end)).unwrap(),
            serde_json::to_value(&records).unwrap()
        );
        let mut without = Emulator::end_to_end(&scenario, SEED);
        prop_assert!(emulated(&mut without, &entered, end, lag, as_simulated) != left);
    }
}

/// What comes in: when, by which port, of which flow, with which flags and how much data.
type Arrival = (Time, usize, u16, Flags, u32);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let flags = prop::sample::select(vec![Flags::ACK, Flags::ACK | Flags::FIN, Flags::SYN]);
    let len = prop::sample::select(vec![0, 1, 1000]);
    let gap = prop::sample::select(vec![0, 1_000_000, 1_000_001, 7_000_000]);
    prop::collection::vec((gap, 0usize..2, 0u16..3, flags, len), 1..100).prop_map(|drawn| {
        let mut now = Time::ZERO;
        let at = |(gap, port, flow, flags, len)| {
            now += Dur(gap);
            (now, port, flow, flags, len)
        };
        drawn.into_iter().map(at).collect()
    })
}

/// When the machine alone lets each packet go on: its number and the time, in this order.
fn by_the_machine_alone(config: &delay_jitter::Config, arrivals: &[Arrival]) -> Vec<(usize, Time)> {
    let tcp = profile::rfc();
    let chance = Chances::new(SEED).chance("base-station.0");
    let mut machine = config.build(MachineBuild { tcp: &tcp, hosts: &tcp, chance });
    let mut left = Vec::new();
    let release = |machine: &mut dyn Middlebox, until: Time, left: &mut Vec<(usize, Time)>| {
        while machine.poll_timeout() <= until && machine.holds() {
            let (at, mut out) = (machine.poll_timeout(), Vec::new());
            machine.handle_timeout(at, &mut out);
            left.extend(out.iter().map(|packet| (packet.origin.order as usize, at)));
        }
    };
    for (number, &(at, port, flow, flags, len)) in arrivals.iter().enumerate() {
        release(&mut *machine, at, &mut left);
        let seen = SeenPacket {
            flow: FlowId(u64::from(flow)),
            direction: if port == 0 { Direction::Forward } else { Direction::Reverse },
            ecn: Ecn::NotEct,
            bytes: 40 + len,
            segment: Segment { flags, len, ..Segment::default() },
            origin: Origin { order: number as u32, ..Origin::default() },
        };
        if machine.handle_packet(at, &seen, &mut Vec::new()) {
            left.push((number, at));
        }
    }
    release(&mut *machine, Time::NEVER, &mut left);
    left
}

/// What leaves until nothing is under way: the port, the packet's number and the time.
fn leave(emulator: &mut Emulator, until: Time, left: &mut Vec<(usize, u32, Time)>) {
    while let Some(Transmit { port, bytes, due }) = emulator.poll_transmit(until) {
        left.push((port, number(bytes), due));
    }
}

proptest! {
    /// Packets leave as if the machine alone had held them, and the path without a station had carried them from then on.
    #[test]
    fn the_machine_alone_and_then_the_path(
        arrivals in arrivals(),
        delay_ms in 0u64..20,
        percent in 0u32..=100,
        overtaking: bool,
    ) {
        let config = delay_jitter::Config {
            delay: Dur::from_millis(delay_ms), probability: f64::from(percent) / 100.0, overtaking,
        };
        let term = format!("delay-jitter:delay={delay_ms}ms:probability={}:overtaking={overtaking}", config.probability);
        let path = scenario(ONE_LINK);
        let end = Time::ZERO + Dur::from_secs(60);
        let packet = |number: usize| {
            let (_, port, flow, flags, len) = arrivals[number];
            (port, segment(flow, number as u32, flags, len))
        };
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let mut plain = Emulator::end_to_end(&path, SEED);
        for (number, at) in by_the_machine_alone(&config, &arrivals) {
            let (port, bytes) = packet(number);
            plain.handle_packet(at, port, &bytes);
        }
        leave(&mut plain, end, &mut expected);
        let mut emulator = with_station(&path, &term);
        for (number, &(at, ..)) in arrivals.iter().enumerate() {
            // A driver sleeps until the emulator's own time.
            while emulator.poll_timeout() < at {
                let now = emulator.poll_timeout();
                leave(&mut emulator, now, &mut found);
            }
            let (port, bytes) = packet(number);
            emulator.handle_packet(at, port, &bytes);
        }
        while !emulator.poll_timeout().is_never() {
            let now = emulator.poll_timeout();
            leave(&mut emulator, now, &mut found);
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!((emulator.under_way(), emulator.counts()), (0, plain.counts()));
    }

    /// Whatever claims to be TCP, fragments included, comes out once and unchanged.
    #[test]
    fn any_tcp_crosses(
        packets in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..60), any::<bool>()), 1..30),
    ) {
        let path = scenario(ONE_LINK);
        let mut emulator = with_station(&path, "delay-jitter:probability=0.5:overtaking=true");
        let mut sent = Vec::new();
        for (transport, is_fragment) in packets {
            let mut packet = claiming_tcp(20 + transport.len(), Ecn::NotEct);
            packet[6] = u8::from(is_fragment) << 5;
            packet[20..].copy_from_slice(&transport);
            emulator.handle_packet(Time::ZERO, 0, &packet);
            sent.push(packet);
        }
        while let Some(transmit) = emulator.poll_transmit(Time::ZERO + Dur::from_secs(60)) {
            let position = sent.iter().position(|packet| packet == transmit.bytes);
            prop_assert!(position.is_some());
            sent.swap_remove(position.unwrap());
        }
        prop_assert_eq!((sent.len(), emulator.under_way()), (0, 0));
    }
}

/// Datagrams, fragments and what comes from the mobile hosts are not held; IPv4 options do not hide data.
#[test]
fn what_is_held() {
    let path = scenario(ONE_LINK);
    let is_held = |port: usize, bytes: &[u8]| {
        let mut emulator = with_station(&path, "delay-jitter:probability=1:delay=10s");
        emulator.handle_packet(Time::ZERO, port, bytes);
        emulator.poll_transmit(Time::ZERO + Dur::from_secs(5)).is_none() && emulator.under_way() == 1
    };
    let data = segment(0, 0, Flags::ACK, 1000);
    assert!(is_held(0, &data) && is_held(0, &segment(0, 0, Flags::ACK | Flags::FIN, 0)));
    assert!(!is_held(1, &data), "from a mobile host");
    assert!(!is_held(0, &segment(0, 0, Flags::ACK, 0)), "an ACK");
    assert!(!is_held(0, &packet(1000, 0, Ecn::NotEct)), "a datagram");
    let fragment = [&data[..6], &[0x20, 0], &data[8..]].concat();
    assert!(!is_held(0, &fragment), "a fragment");
    let with_options = [&[0x46, 0, 4, 20], &data[4..20], &[1; 4], &data[20..]].concat();
    assert!(is_held(0, &with_options), "with options");
}

/// What is held counts against the path's memory.
#[test]
fn what_is_held_is_bounded() {
    let path = scenario(ONE_LINK);
    let mut emulator =
        with_station(&path, "delay-jitter:probability=1:delay=10s").with_memory(Bytes(10 * 2048));
    for number in 0..15 {
        emulator.handle_packet(Time::ZERO, 0, &segment(0, number, Flags::ACK, 1000));
    }
    assert_eq!((emulator.under_way(), emulator.counts()[0].refused_memory), (10, 5));
    assert_eq!(emulator.poll_timeout(), Time::ZERO + Dur::from_secs(10));
}
