//! Repairs with real packets, whose numbers only the sending end knows.

use airtcp_proto::fec::{Coded, Packet, Rebuilder, Repair, Sources};
use airtcp_wire::circuit::{self, FingerprintKey, Key};
use airtcp_wire::ip::IpHeader;
use airtcp_wire::packet::{Endpoints, encode_tcp};
use airtcp_wire::{Ecn, Flags, Segment, Seq};
use proptest::prelude::*;

fn key() -> FingerprintKey {
    Key::new([7; 16]).fingerprints(&[1; 16], &[2; 16])
}

/// A TCP packet as a host sends it, over IPv4 or IPv6; another one for another number.
fn packet(number: u32, len: usize, is_ipv4: bool) -> Vec<u8> {
    let [from, to] =
        if is_ipv4 { ["10.1.0.1:5000", "10.2.0.1:80"] } else { ["[fd00::1]:5000", "[fd00::2]:80"] };
    let endpoints = Endpoints::new(from.parse().unwrap(), to.parse().unwrap()).unwrap();
    let segment = Segment { seq: Seq(number), len: len as u32, flags: Flags::ACK, ..Segment::default() };
    let payload: Vec<u8> = (0..len).map(|n| (n as u32 ^ number) as u8).collect();
    let mut packet = vec![0; 60 + len];
    let written = encode_tcp(&endpoints, Ecn::Ect0, &segment, &payload, &mut packet).unwrap();
    packet.truncate(written);
    packet
}

/// The example of docs/circuit-wire.md.
#[test]
fn the_bytes_of_a_repair() {
    let key: Key = "000102030405060708090a0b0c0d0e0f".parse().unwrap();
    let mut sources = Sources::new(key.fingerprints(&[1; 16], &[2; 16]));
    let packet = [0x45, 0, 0, 20, 9, 9, 0x40, 0, 64, 59, 9, 9, 10, 1, 0, 1, 10, 2, 0, 1];
    sources.keep(7, Packet::of(&packet));
    let Coded { names, symbol } = sources.code(Repair { key: 1, count: 1, first: 7 }).unwrap();
    let repair = circuit::Repair { number: 5, key: 1, first: 7, names, coded: symbol.bytes() };
    let datagram = repair.encode(&key.session(&[1; 16], &[2; 16]));
    let hex: String = datagram.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "0000000500010001000000073339e1f400fe040000fe0000b50000e400007f2500257f4a0025616dde88");
}

/// As it arrives: behind routers, one of which has marked it.
fn arrived(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    if packet[0] >> 4 == 4 {
        packet[1] = 46 << 2 | 3;
        packet[4..6].copy_from_slice(&[7, 7]);
        packet[8] = 59;
        packet[10..12].fill(0);
        let checksum = airtcp_wire::checksum::Sum::of(&packet[..20]).checksum();
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    } else {
        packet[0] = 0x6b;
        packet[1] = 0xb0 | packet[1] & 0x0f;
        packet[7] = 59;
    }
    // Padding of a short frame.
    packet.extend([0; 6]);
    packet
}

/// The sending end, which numbers packets itself.
struct Sender {
    sources: Sources,
    next: u32,
    key: u16,
}

impl Sender {
    fn new(next: u32) -> Sender {
        Sender { sources: Sources::new(key()), next, key: 0 }
    }

    fn send(&mut self, packet: &[u8]) {
        self.sources.keep(self.next, Packet::of(packet));
        self.next = self.next.wrapping_add(1);
    }

    fn repair(&mut self, count: u16) -> (Repair, Coded) {
        self.key += 1;
        let repair = Repair { key: self.key, count, first: self.next.wrapping_sub(count.into()) };
        (repair, self.sources.code(repair).expect("it has them"))
    }
}

fn hand(rebuilder: &mut Rebuilder, (repair, coded): &(Repair, Coded)) {
    rebuilder.handle_repair(*repair, &coded.names, coded.symbol.bytes());
}

fn rebuilt(rebuilder: &mut Rebuilder) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| rebuilder.poll_rebuilt()).collect()
}

/// What a packet says to its receiving host. Checks that the host would take it.
fn content(packet: &[u8]) -> &[u8] {
    let (header, at) = IpHeader::decode(packet).unwrap();
    assert_eq!(
        (header.hop_limit, header.dscp, header.ecn),
        (59, 46, Ecn::NotEct),
        "as the others, but not marked"
    );
    &packet[at..at + header.payload_len]
}

fn contents(packets: &[Vec<u8>]) -> Vec<&[u8]> {
    packets.iter().map(|packet| content(packet)).collect()
}

#[test]
fn what_is_lost_is_rebuilt_as_it_was_sent() {
    for is_ipv4 in [true, false] {
        let (mut sender, mut rebuilder) = (Sender::new(0), Rebuilder::new(key()));
        let packets: Vec<_> = (0..8).map(|n| packet(n, 100 * n as usize, is_ipv4)).collect();
        packets.iter().for_each(|packet| sender.send(packet));
        for n in [0, 1, 3, 4, 7] {
            rebuilder.handle_packet(&arrived(&packets[n]));
        }
        for _ in 0..3 {
            assert_eq!(rebuilt(&mut rebuilder), Vec::<Vec<u8>>::new());
            hand(&mut rebuilder, &sender.repair(8));
        }
        let header_len = if is_ipv4 { 20 } else { 40 };
        let lost = [2, 5, 6].map(|n: usize| &packets[n][header_len..]);
        assert_eq!(contents(&rebuilt(&mut rebuilder)), lost);
    }
}

/// A repair overtakes the packets that it covers.
#[test]
fn what_comes_behind_its_repair_counts() {
    let (mut sender, mut rebuilder) = (Sender::new(0), Rebuilder::new(key()));
    let packets: Vec<_> = (0..3).map(|n| packet(n, 700, true)).collect();
    packets.iter().for_each(|packet| sender.send(packet));
    hand(&mut rebuilder, &sender.repair(3));
    rebuilder.handle_packet(&arrived(&packets[2]));
    assert!(rebuilt(&mut rebuilder).is_empty());
    rebuilder.handle_packet(&arrived(&packets[0]));
    assert_eq!(contents(&rebuilt(&mut rebuilder)), [&packets[1][20..]]);
}

/// One of equal bytes stands in for the others: they say nothing new.
#[test]
fn of_equal_packets_one_is_enough() {
    let (mut sender, mut rebuilder) = (Sender::new(0), Rebuilder::new(key()));
    let [one, other] = [1, 2].map(|n| packet(n, 500, true));
    [&one, &other, &one].iter().for_each(|packet| sender.send(packet));
    rebuilder.handle_packet(&arrived(&one));
    hand(&mut rebuilder, &sender.repair(3));
    assert_eq!(contents(&rebuilt(&mut rebuilder)), [&other[20..]]);
    hand(&mut rebuilder, &sender.repair(3));
    assert!(rebuilt(&mut rebuilder).is_empty());
}

/// Where nothing that a repair names has ever come, the ends may see different packets, and a rebuilt one may be wrong.
#[test]
fn before_anything_has_come_nothing_is_rebuilt() {
    let (mut sender, mut rebuilder) = (Sender::new(0), Rebuilder::new(key()));
    rebuilder.handle_packet(&arrived(&packet(9, 10, true)));
    sender.send(&packet(0, 10, true));
    hand(&mut rebuilder, &sender.repair(1));
    assert!(rebuilt(&mut rebuilder).is_empty());
}

/// In bulk there are no repairs for a long time, and a receiver may begin to listen at any time.
#[test]
fn repairs_may_begin_at_any_number() {
    for first in [0, 100_000, u32::MAX - 3] {
        let (mut sender, mut rebuilder) = (Sender::new(first), Rebuilder::new(key()));
        for round in 0..2 {
            let packets: Vec<_> = (0..5).map(|n| packet(10 * round + n, 700, true)).collect();
            packets.iter().for_each(|packet| sender.send(packet));
            packets[1..].iter().for_each(|packet| rebuilder.handle_packet(&arrived(packet)));
            hand(&mut rebuilder, &sender.repair(5));
            assert_eq!(contents(&rebuilt(&mut rebuilder)), [&packets[0][20..]], "{first}");
        }
    }
}

#[test]
fn a_flood_is_not_kept() {
    let mut rebuilder = Rebuilder::new(key());
    for n in 0..10_000 {
        rebuilder.handle_packet(&packet(n, 100 + n as usize % 30_000, true));
        let repair = Repair { key: n as u16, count: 1, first: n };
        rebuilder.handle_repair(repair, &[n], &[1; 1000]);
        assert!(rebuilder.kept_bytes() <= 512 << 10);
    }
    assert!(rebuilt(&mut rebuilder).is_empty());
}

#[test]
fn what_cannot_be_coded_gets_no_repair() {
    let mut sources = Sources::new(key());
    sources.keep(0, Packet::of(&packet(0, 10, true)));
    sources.keep(1, None);
    sources.keep(2, Packet::of(&packet(2, 10, true)));
    let code = |sources: &mut Sources, first, count| sources.code(Repair { key: 1, count, first });
    assert_eq!(code(&mut sources, 0, 3), None);
    assert!(code(&mut sources, 2, 1).is_some());
    assert_eq!(code(&mut sources, 3, 1), None, "it has not left");
}

/// Bytes that often begin as an IP packet, which often claims fewer bytes than it has, or than its header.
fn absurd() -> impl Strategy<Value = Vec<u8>> {
    let begins = prop::option::of(prop::sample::select(&[0x45, 0x46, 0x60][..]));
    let bytes = prop::collection::vec(any::<u8>(), 0..100);
    (begins, bytes, prop::option::of(0u8..60)).prop_map(|(begins, mut bytes, claimed)| {
        bytes.first_mut().zip(begins).into_iter().for_each(|(first, begins)| *first = begins);
        bytes
            .get_mut(2..4)
            .zip(claimed)
            .into_iter()
            .for_each(|(field, claimed)| field.copy_from_slice(&[0, claimed]));
        bytes
    })
}

proptest! {
    /// Whatever is lost and in whatever order the rest comes: what is rebuilt was sent, and is what has been lost if enough repairs came.
    #[test]
    fn nothing_but_what_was_sent_is_rebuilt(
        lens in prop::collection::vec(0usize..1400, 1..=32), repairs in 0usize..8, order: prop::sample::Index,
        fates in prop::collection::vec(0u8..8, 40), number: u32,
    ) {
        let (mut sender, mut rebuilder) = (Sender::new(number), Rebuilder::new(key()));
        // One that comes, with its repair, before all others.
        let proof = packet(1_000, 0, true);
        sender.send(&proof);
        rebuilder.handle_packet(&arrived(&proof));
        hand(&mut rebuilder, &sender.repair(1));
        let packets: Vec<_> = (0..).zip(&lens).map(|(n, &len)| packet(n, len, true)).collect();
        packets.iter().for_each(|packet| sender.send(packet));
        let repairs: Vec<_> = (0..repairs).map(|_| sender.repair(packets.len() as u16)).collect();
        let here = |at: &usize| fates[*at] > 1;
        let lost = (0..packets.len()).filter(|at| !here(at)).count();
        let mut coming: Vec<usize> = (0..packets.len() + repairs.len()).filter(here).collect();
        let came = coming.iter().filter(|at| **at >= packets.len()).count();
        if !coming.is_empty() {
            let by = order.index(coming.len());
            coming.rotate_left(by);
        }
        for at in coming {
            match packets.get(at) {
                Some(packet) => rebuilder.handle_packet(&arrived(packet)),
                None => hand(&mut rebuilder, &repairs[at - packets.len()]),
            }
        }
        let rebuilt = rebuilt(&mut rebuilder);
        for packet in contents(&rebuilt) {
            prop_assert!(packets.iter().any(|sent| sent[20..] == *packet));
        }
        // But for one case in 255, repairs are independent of each other.
        if came > lost {
            let again = |n: &usize| contents(&rebuilt).contains(&&packets[*n][20..]);
            prop_assert!((0..packets.len()).filter(|at| !here(at)).all(|at| again(&at)));
        }
    }

    /// No input makes it fall over, or rebuilds anything.
    #[test]
    fn absurd_input_changes_nothing(
        inputs in prop::collection::vec((any::<(u16, u32)>(), 0u16..40, absurd()), 0..100),
    ) {
        let mut rebuilder = Rebuilder::new(key());
        for ((key, first), count, bytes) in inputs {
            rebuilder.handle_packet(&bytes);
            rebuilder.handle_packet(&packet(first, bytes.len(), true));
            let names = vec![first; count.into()];
            rebuilder.handle_repair(Repair { key, count, first }, &names, &bytes);
        }
        prop_assert!(rebuilt(&mut rebuilder).is_empty());
    }
}
