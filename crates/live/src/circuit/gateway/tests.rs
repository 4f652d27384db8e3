//! Two gateways back to back in virtual time, with devices and sockets of the test's own.

use super::*;
use crate::offload::{Offload, Pieces};
use crate::queued_device::QueuedDevice;
use airtcp_proto::Chances;
use airtcp_proto::circuit::{Compression, Config};
use airtcp_proto::tcp::{Connection, State, profile};
use airtcp_wire::Bytes;
use airtcp_wire::checksum::Sum;
use airtcp_wire::circuit::{Key, Mark};
use airtcp_wire::packet::{Endpoints, encode_tcp};
use airtcp_wire::{Flags, Segment, Seq};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

const SENDER: ([u8; 4], u16) = ([10, 0, 0, 1], 1);
const RECEIVER: ([u8; 4], u16) = ([10, 0, 0, 2], 2);

fn nothing() -> File {
    File::open("/dev/null").unwrap()
}

/// The packets that an interface would make of this one.
fn cut(packet: &[u8], offload: Offload) -> Vec<Vec<u8>> {
    let mut pieces = Pieces::of_packet(packet, offload).unwrap();
    let (mut packets, mut out) = (Vec::new(), vec![0; 1 << 16]);
    while let Some(len) = pieces.next_into(packet, &mut out) {
        packets.push(out[..len].to_vec());
    }
    packets
}

/// Datagrams under way, by time of arrival.
#[derive(Default)]
struct Network {
    now: Cell<Time>,
    delay: Cell<Dur>,
    one_in: u64,
    sent: Cell<u64>,
    letters: RefCell<BTreeMap<(Time, u64), Letter>>,
}

struct Letter {
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

impl Network {
    fn next(&self) -> Time {
        self.letters.borrow().first_key_value().map_or(Time::NEVER, |(&(at, _), _)| at)
    }
}

struct Port {
    network: Rc<Network>,
    at: SocketAddr,
    file: File,
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Datagrams for Port {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr, Ecn)>> {
        let mut letters = self.network.letters.borrow_mut();
        let now = self.network.now.get();
        let due = letters.iter().find(|((at, _), letter)| *at <= now && letter.to == self.at);
        let Some(key) = due.map(|(key, _)| *key) else { return Ok(None) };
        let Letter { from, bytes, .. } = letters.remove(&key).unwrap();
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(Some((bytes.len(), from, Ecn::NotEct)))
    }

    /// Header packets have the mark, and repairs do not.
    fn send(&mut self, to: SocketAddr, traffic_class: u8, datagram: &[u8]) {
        let network = &self.network;
        assert_eq!(Mark::default().is_on(traffic_class >> 2), self.at == SENDER.into());
        assert_eq!(Ecn::from_bits(traffic_class), Ecn::NotEct, "the mark is beside ECN");
        network.sent.set(network.sent.get() + 1);
        if network.one_in == 0 || !network.sent.get().is_multiple_of(network.one_in) {
            let at = network.now.get() + network.delay.get();
            let letter = Letter { from: self.at, to, bytes: datagram.to_vec() };
            network.letters.borrow_mut().insert((at, network.sent.get()), letter);
        }
    }

    fn flush(&mut self) {}
}

/// A TCP packet as a sending host emits it, to be cut into segments of 1448 bytes.
fn long_packet(seq: u32, len: usize) -> (Vec<u8>, Offload) {
    let endpoints = Endpoints::new(([10, 1, 0, 2], 5000).into(), ([10, 2, 0, 2], 80).into()).unwrap();
    let segment = Segment { seq: Seq(seq), len: len as u32, flags: Flags::ACK, ..Segment::default() };
    let payload: Vec<u8> = (0..len as u32).map(|i| (i.wrapping_add(seq) % 251) as u8).collect();
    let mut packet = vec![0; 40 + len];
    encode_tcp(&endpoints, Ecn::Ect0, &segment, &payload, &mut packet).unwrap();
    let pseudo = !Sum::pseudo_header(&endpoints.addresses, 6, 20 + len as u32).checksum();
    packet[36..38].copy_from_slice(&pseudo.to_be_bytes());
    (packet, Offload::of_tcp(true, 20, (len > 1448).then_some(1448)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Long packets arrive as an interface would have cut them, and data never waits while nothing is under way,
    /// although late wake-ups bring timers and ACKs together.
    #[test]
    fn packets_of_any_length_come_out_in_order(
        lens in prop::collection::vec(prop_oneof![1usize..1449, 1449usize..20_000, 20_000usize..65_000], 1..150),
        vmss in prop_oneof![Just(1500u64), Just(9_000), Just(65_000)],
        delays_us in prop::collection::vec(1u64..30_000, 1..20),
        late_us in prop::collection::vec(prop_oneof![Just(0u64), 0u64..40_000], 1..20),
        one_in in prop_oneof![Just(0u64), 5u64..100],
        twice: bool,
    ) {
        let network = Rc::new(Network { one_in, ..Network::default() });
        let compression = if twice { Compression::Twice } else { Compression::None };
        let config = Config { vmss: Bytes(vmss), compression, ..Config::default() };
        let (key, tcp) = (Key::new([5; 16]), profile::linux());
        let chance = |name| Chances::new(1).chance(name);
        let port = |at: ([u8; 4], u16)| Port { network: Rc::clone(&network), at: at.into(), file: nothing() };
        let node = SendingNode::new(config, tcp.clone(), key.clone(), chance("a"), Time::ZERO).unwrap();
        let (mut waiting, mut seq, mut expected) = (VecDeque::new(), 0, Vec::new());
        for len in lens {
            let (packet, offload) = long_packet(seq, len);
            expected.extend(cut(&packet, offload));
            waiting.push_back((packet, offload));
            seq += len as u32;
        }
        let device = QueuedDevice::new(true);
        let window = ToldWindow::default();
        let sender = SendingGateway::new(node, vmss as usize, device, port(SENDER), RECEIVER.into());
        let mut sender = sender.telling(window.clone(), 1500);
        let mut receiver = ReceivingGateway::new(ReceivingNode::new(tcp, key, chance("b")), port(RECEIVER));
        let (mut delays, mut late) = (delays_us.iter().cycle(), late_us.iter().cycle());
        let clock = || network.now.get();
        let mut back = Vec::new();
        while back.len() < expected.len() {
            network.delay.set(Dur::from_micros(*delays.next().unwrap()));
            while sender.turn(&clock).unwrap() {}
            while receiver.turn(&clock).unwrap() {}
            // The first packets wait until there is a circuit.
            if sender.node.is_open() && !waiting.is_empty() {
                sender.device.arrived.append(&mut waiting);
                while sender.turn(&clock).unwrap() {}
            }
            back.extend(sender.device.sent.drain(..).flat_map(|(packet, offload)| cut(&packet, offload)));
            let told = window.heard().map_or(0, u64::from);
            prop_assert_eq!(told, sender.node.window_bytes() / 1500);
            let stands_still = |control: &Connection| {
                control.state() == State::Established && control.sender_view().in_flight == 0
            };
            prop_assert!(sender.node.waiting() == 0 || !sender.node.controls().any(stands_still), "it is stuck");
            let next = network.next().min(sender.poll_timeout()).min(receiver.poll_timeout());
            // A busy host wakes its processes late: timers and ACKs are due together.
            network.now.set(next.max(clock()) + Dur::from_micros(*late.next().unwrap()));
        }
        prop_assert_eq!(back, expected);
        prop_assert_eq!(sender.held.len(), 0);
    }
}
