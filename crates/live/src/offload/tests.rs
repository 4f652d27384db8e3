use super::*;
use airtcp_wire::ip::{Found, IpHeader};
use airtcp_wire::packet::{Endpoints, decode_tcp, encode_tcp};
use airtcp_wire::{Ecn, Flags, Segment};
use proptest::prelude::*;

const ETHERNET: usize = 14;

fn endpoints(v6: bool) -> Endpoints {
    let addresses = if v6 { ["[fd00::1]:4000", "[fd00::2]:9"] } else { ["10.0.0.1:4000", "10.0.0.2:9"] };
    let [source, destination] = addresses.map(|address| address.parse().unwrap());
    Endpoints::new(source, destination).unwrap()
}

/// A TCP frame as a sending host emits it: the checksum field holds the pseudo header's sum.
fn unfinished(v6: bool, payload: &[u8], flags: Flags) -> (Vec<u8>, usize) {
    let mut frame = vec![0; ETHERNET + 120 + payload.len()];
    frame[12..14].copy_from_slice(&if v6 { 0x86ddu16 } else { 0x0800 }.to_be_bytes());
    let segment = Segment { len: payload.len() as u32, flags, ..Segment::default() };
    let len = encode_tcp(&endpoints(v6), Ecn::Ect0, &segment, payload, &mut frame[ETHERNET..]).unwrap();
    frame.truncate(ETHERNET + len);
    let start = ETHERNET + if v6 { 40 } else { 20 };
    frame[start + 16..start + 18].fill(0);
    let pseudo = Sum::pseudo_header(&endpoints(v6).addresses, 6, (frame.len() - start) as u32);
    frame[start + 16..start + 18].copy_from_slice(&(!pseudo.checksum()).to_be_bytes());
    (frame, start)
}

proptest! {
    /// The packets carry the payload in order, in headers that a receiver accepts.
    #[test]
    fn a_long_segment_becomes_packets(
        v6: bool,
        payload in prop::collection::vec(any::<u8>(), 1..9000),
        size in 1usize..3000,
        whole: bool,
    ) {
        let (frame, start) = unfinished(v6, &payload, Flags::ACK | Flags::PSH | Flags::CWR);
        let kind = if v6 { GSO_TCPV6 } else { GSO_TCPV4 };
        let offload = Offload { checksum: Some((start, 16)), gso: (!whole).then_some((kind, size)), is_good: false };
        let mut pieces = Pieces::of(&frame, offload).unwrap();
        let (mut buffer, mut received) = (vec![0; 10_000], Vec::new());
        while let Some(len) = pieces.next_into(&frame, &mut buffer) {
            let packet = decode_tcp(&buffer[ETHERNET..len]).unwrap();
            prop_assert_eq!(packet.segment.seq.0, received.len() as u32);
            prop_assert_eq!(packet.segment.flags.contains(Flags::CWR), received.is_empty());
            let piece = &buffer[ETHERNET..len][packet.payload];
            prop_assert!(whole || piece.len() <= size);
            received.extend_from_slice(piece);
            prop_assert_eq!(packet.segment.flags.contains(Flags::PSH), received.len() == payload.len());
        }
        prop_assert_eq!(received, payload);
    }

    /// Cut in two steps, into parts and these into packets, a frame becomes the packets that it becomes at once.
    #[test]
    fn parts_become_the_same_packets(
        v6: bool,
        payload in prop::collection::vec(any::<u8>(), 1..9000),
        size in 1usize..3000,
        most in 0usize..12_000,
    ) {
        let (frame, start) = unfinished(v6, &payload, Flags::ACK | Flags::PSH | Flags::CWR);
        let (packet, start) = (&frame[ETHERNET..], start - ETHERNET);
        let kind = if v6 { GSO_TCPV6 } else { GSO_TCPV4 };
        let offload = Offload { checksum: Some((start, 16)), gso: Some((kind, size)), is_good: false };
        let cut = |packet: &[u8], offload| {
            let mut pieces = Pieces::of_packet(packet, offload).unwrap();
            let mut out = vec![0; 10_000];
            let mut packets = Vec::new();
            while let Some(len) = pieces.next_into(packet, &mut out) {
                packets.push(out[..len].to_vec());
            }
            packets
        };
        let mut parts = Pieces::of_packet(packet, offload).unwrap();
        let (mut out, mut packets) = (vec![0; 10_000], Vec::new());
        while let Some(part) = parts.next_part_into(packet, most, &mut out) {
            let cut = cut(&out[..part.len], part.offload);
            prop_assert_eq!(cut.iter().map(Vec::len).sum::<usize>(), part.wire_len);
            prop_assert!(part.wire_len <= most || cut.len() == 1);
            packets.extend(cut);
        }
        prop_assert_eq!(packets, cut(packet, offload));
    }

    #[test]
    fn nonsense_is_refused_or_ends(
        frame in prop::collection::vec(any::<u8>(), 0..300),
        description: [u8; DESCRIPTION_LEN],
        ip: bool,
    ) {
        let mut frame = frame;
        if ip && frame.len() > 14 {
            frame[12..15].copy_from_slice(&[8, 0, 0x45]);
        }
        if let Some(mut pieces) = Pieces::of(&frame, Offload::read(&description)) {
            let mut buffer = vec![0; 400];
            prop_assert!((0..400).any(|_| pieces.next_into(&frame, &mut buffer).is_none()));
        }
    }
}

/// Tunnels, by what they put in front of an IP packet.
#[derive(Clone, Copy, Debug)]
enum Tunnel {
    IpIp,
    Gre,
    Vxlan,
}

const OUTER: [&str; 2] = ["192.0.2.1:0", "192.0.2.2:0"];

/// Puts a frame's IP packet into a tunnel, with checksums wherever possible. Returns the number of bytes added.
fn tunnelled(tunnel: Tunnel, frame: &[u8]) -> (Vec<u8>, usize) {
    let inner = match tunnel {
        Tunnel::IpIp | Tunnel::Gre => &frame[ETHERNET..],
        Tunnel::Vxlan => frame,
    };
    let before: Vec<u8> = match tunnel {
        Tunnel::IpIp => Vec::new(),
        Tunnel::Gre => [0x80, 0, frame[12], frame[13], 0, 0, 0, 0].to_vec(),
        Tunnel::Vxlan => [0, 1, 0x12, 0xb5, 0, 0, 0xff, 0xff, 8, 0, 0, 0, 0, 0, 1, 0].to_vec(),
    };
    let [source, destination] = OUTER.map(|address| address.parse().unwrap());
    let header = IpHeader {
        addresses: Endpoints::new(source, destination).unwrap().addresses,
        protocol: match tunnel {
            Tunnel::IpIp if frame[12] == 8 => 4,
            Tunnel::IpIp => 41,
            Tunnel::Gre => 47,
            Tunnel::Vxlan => 17,
        },
        dscp: 0,
        ecn: Ecn::NotEct,
        hop_limit: 64,
        payload_len: before.len() + inner.len(),
    };
    let mut outer = [0; ETHERNET + 20];
    outer[12..14].copy_from_slice(&[8, 0]);
    header.encode(&mut outer[ETHERNET..]).unwrap();
    let added = outer.len() + before.len() + inner.len() - frame.len();
    ([&outer[..], &before, inner].concat(), added)
}

/// The IP packet inside a tunnel, whose headers must be right.
fn untunnelled(tunnel: Tunnel, packet: &[u8]) -> &[u8] {
    let (ip, at) = IpHeader::decode(packet).unwrap();
    assert_eq!(at + ip.payload_len, packet.len());
    let inside = &packet[at..];
    match tunnel {
        Tunnel::IpIp => inside,
        Tunnel::Gre => {
            assert!(Sum::of(inside).is_good());
            &inside[8..]
        }
        Tunnel::Vxlan => {
            assert_eq!(usize::from(u16::from_be_bytes([inside[4], inside[5]])), inside.len());
            let pseudo = Sum::pseudo_header(&ip.addresses, 17, inside.len() as u32);
            assert!((pseudo + Sum::of(inside)).is_good());
            &inside[16 + ETHERNET..]
        }
    }
}

proptest! {
    /// Both headers of a packet in a tunnel state its own length, not that of what it was cut from.
    #[test]
    fn a_long_segment_in_a_tunnel_becomes_packets(
        v6: bool,
        tunnel in prop::sample::select(vec![Tunnel::IpIp, Tunnel::Gre, Tunnel::Vxlan]),
        payload in prop::collection::vec(any::<u8>(), 1..9000),
        size in 1usize..3000,
    ) {
        let (frame, start) = unfinished(v6, &payload, Flags::ACK);
        let (frame, added) = tunnelled(tunnel, &frame);
        let kind = if v6 { GSO_TCPV6 } else { GSO_TCPV4 };
        let offload = Offload { checksum: Some((start + added, 16)), gso: Some((kind, size)), is_good: false };
        let mut pieces = Pieces::of(&frame, offload).unwrap();
        let (mut buffer, mut received) = (vec![0; 10_000], Vec::new());
        while let Some(len) = pieces.next_into(&frame, &mut buffer) {
            let outer = Found::read(&buffer[ETHERNET..len]).unwrap();
            prop_assert_eq!(usize::from(outer.id), received.len() / size);
            let packet = untunnelled(tunnel, &buffer[ETHERNET..len]);
            let decoded = decode_tcp(packet).unwrap();
            received.extend_from_slice(&packet[decoded.payload]);
        }
        prop_assert_eq!(received, payload);
    }

    /// Headers that are right but for one byte, and a description of which every field may lie.
    #[test]
    fn a_lying_description_is_refused_or_ends(
        v6: bool,
        payload in 0usize..80,
        damaged in (0usize..80, any::<u8>()),
        start in 0usize..120,
        at in prop::sample::select(vec![6usize, 16, 30, 60_000]),
        kind in prop::sample::select(vec![GSO_TCPV4, GSO_TCPV6, GSO_UDP, 3]),
        size in 0usize..4,
        truthful: bool,
    ) {
        let (mut frame, true_start) = unfinished(v6, &vec![0; payload], Flags::ACK);
        let (place, byte) = damaged;
        if let Some(field) = frame.get_mut(place) {
            *field = byte;
        }
        let checksum = Some((if truthful { true_start } else { start }, at));
        if let Some(mut pieces) = Pieces::of(&frame, Offload { checksum, gso: Some((kind, size)), is_good: false }) {
            let mut buffer = vec![0; 400];
            prop_assert!((0..400).any(|_| pieces.next_into(&frame, &mut buffer).is_none()));
        }
    }
}

#[test]
fn a_segment_that_claims_no_header_is_refused() {
    let (mut frame, start) = unfinished(false, &[0; 10], Flags::ACK);
    let offload = Offload { checksum: Some((start, 16)), gso: Some((GSO_TCPV4, 1)), is_good: false };
    assert!(Pieces::of(&frame, offload).is_some());
    frame[start + 12] = 0;
    assert!(Pieces::of(&frame, offload).is_none());
}
