//! What is written reads back, and no bytes make the parser panic.

use airtcp_wire::checksum::Sum;
use airtcp_wire::ip::{Addresses, Found};
use airtcp_wire::packet::{Endpoints, decode_tcp, encode_tcp, encode_tcp_headers};
use airtcp_wire::tcp::Ports;
use airtcp_wire::{Ecn, FastOpen, Flags, SackBlocks, Segment, Seq, SynOptions, Timestamps, ethernet, tcp};
use proptest::prelude::*;
use proptest::sample::Index;

fn addresses() -> impl Strategy<Value = Addresses> {
    prop_oneof![
        any::<[[u8; 4]; 2]>().prop_map(|[s, d]| Addresses::V4 { source: s.into(), destination: d.into() }),
        any::<[[u8; 16]; 2]>().prop_map(|[s, d]| Addresses::V6 { source: s.into(), destination: d.into() }),
    ]
}

fn endpoints() -> impl Strategy<Value = Endpoints> {
    (addresses(), any::<(u16, u16)>()).prop_map(|(addresses, (source, destination))| Endpoints {
        addresses,
        ports: Ports { source, destination },
    })
}

fn sack(most: usize) -> impl Strategy<Value = SackBlocks> {
    prop::collection::vec(any::<(u32, u32)>(), 0..=most).prop_map(|edges| {
        let mut blocks = SackBlocks::default();
        edges.iter().for_each(|&(left, right)| blocks.push(Seq(left), Seq(right)));
        blocks
    })
}

prop_compose! {
    fn syn_options()(
        mss in any::<Option<u16>>(),
        window_scale in prop::option::of(0u8..=14),
        sack_permitted in any::<bool>(),
        fast_open in prop_oneof![
            Just(FastOpen::ABSENT),
            Just(FastOpen::REQUEST),
            (2usize..=8).prop_map(|pairs| FastOpen::cookie(2 * pairs).unwrap()),
        ],
    ) -> SynOptions {
        SynOptions { mss, window_scale, sack_permitted, fast_open }
    }
}

prop_compose! {
    /// A segment that a TCP may send: no SACK blocks on a SYN, no SYN's options elsewhere, four SACK blocks, or three
    /// beside timestamps.
    fn segment()(
        (seq, ack, window) in any::<(u32, u32, u16)>(),
        flags in any::<(u8, bool)>().prop_map(|(control, eln)| {
            Flags(u16::from(control)) | if eln { Flags::ELN } else { Flags::default() }
        }),
        timestamps in any::<Option<(u32, u32)>>(),
    )(
        syn in syn_options(),
        sack in sack(match (flags.contains(Flags::SYN), timestamps) { (true, _) => 0, (_, Some(_)) => 3, _ => 4 }),
        (seq, ack, flags, window, timestamps) in Just((Seq(seq), Seq(ack), flags, window, timestamps)),
    ) -> Segment {
        let timestamps = timestamps.map(|(value, echo)| Timestamps { value, echo });
        let syn = if flags.contains(Flags::SYN) { syn } else { SynOptions::default() };
        Segment { seq, ack, flags, window, timestamps, sack, syn, ..Segment::default() }
    }
}

fn ecn() -> impl Strategy<Value = Ecn> {
    (0u8..4).prop_map(Ecn::from_bits)
}

prop_compose! {
    fn packet()(
        endpoints in endpoints(),
        ecn in ecn(),
        segment in segment(),
        payload in prop::collection::vec(any::<u8>(), 0..200),
    ) -> (Endpoints, Ecn, Segment, Vec<u8>) {
        (endpoints, ecn, Segment { len: payload.len() as u32, ..segment }, payload)
    }
}

fn encoded((endpoints, ecn, segment, payload): &(Endpoints, Ecn, Segment, Vec<u8>)) -> Vec<u8> {
    let mut buffer = vec![0xaa; 400];
    let len = encode_tcp(endpoints, *ecn, segment, payload, &mut buffer).unwrap();
    buffer.truncate(len);
    buffer
}

/// Whatever is read lies within the packet and agrees with itself.
fn read(bytes: &[u8]) {
    if let Ok(packet) = decode_tcp(bytes) {
        assert_eq!(bytes[packet.payload].len(), packet.segment.len as usize);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn what_is_written_reads_back(packet in packet()) {
        let bytes = encoded(&packet);
        let back = decode_tcp(&bytes).unwrap();
        let (endpoints, ecn, segment, payload) = packet;
        prop_assert_eq!((back.endpoints, back.ecn, back.segment), (endpoints, ecn, segment));
        prop_assert_eq!(&bytes[back.payload], payload);
    }

    /// RFC 7413 §4.1.1.
    #[test]
    fn a_cookie_is_written_where_there_is_room_for_it(packet in packet(), given: [u8; 16], pairs in 2usize..=8) {
        let (mut bytes, cookie) = (encoded(&packet), &given[..2 * pairs]);
        let (endpoints, _, segment, payload) = &packet;
        let ip_len = endpoints.addresses.header_len();
        let headers_len = bytes.len() - payload.len();
        let fits = segment.syn.fast_open == FastOpen::cookie(cookie.len()).unwrap();
        prop_assert_eq!(tcp::set_cookie(&mut bytes[ip_len..headers_len], cookie), fits);
        let written = tcp::cookie(&bytes[ip_len..headers_len]);
        prop_assert_eq!(written.is_some(), segment.syn.fast_open.has_cookie());
        prop_assert!(!fits || written == Some(cookie));
        prop_assert_eq!(decode_tcp(&bytes).map(|back| back.segment), Ok(*segment), "the checksum is right");
    }

    #[test]
    fn headers_alone_are_those_of_zero_payload((endpoints, ecn, segment, payload) in packet()) {
        let whole = encoded(&(endpoints, ecn, segment, vec![0; payload.len()]));
        let mut headers = [0; 100];
        let len = encode_tcp_headers(&endpoints, ecn, &segment, Sum::default(), &mut headers).unwrap();
        prop_assert_eq!(&headers[..len], &whole[..len]);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(prop_oneof![Just(34u8), any::<u8>()], 0..200)) {
        read(&bytes);
        let cookie = tcp::cookie(&bytes);
        prop_assert!(cookie.is_none_or(|cookie| FastOpen::cookie(cookie.len()).is_some()));
    }

    #[test]
    fn a_header_that_is_found_lies_in_the_bytes(
        version in prop::sample::select(vec![0x40u8, 0x45, 0x4f, 0x60]),
        rest in prop::collection::vec(prop_oneof![Just(0u8), Just(43), Just(44), Just(60), any::<u8>()], 0..200),
    ) {
        let bytes = [vec![version], rest].concat();
        if let Ok(found) = Found::read(&bytes) {
            prop_assert!(found.header_len <= bytes.len());
        }
        if let Some(at) = ethernet::ip_at(&bytes) {
            prop_assert!(at <= bytes.len());
        }
    }

    /// Bytes after a header that begins well get further into the parser, past the checksums.
    #[test]
    fn arbitrary_options_do_not_panic(
        endpoints in endpoints(),
        options in prop::collection::vec(prop_oneof![0u8..12, any::<u8>()], 40),
    ) {
        let segment = Segment { len: 40, flags: Flags::SYN, ..Segment::default() };
        let mut bytes = encoded(&(endpoints, Ecn::NotEct, segment, options.clone()));
        let at = bytes.len() - 60;
        bytes[at + 12] = 0xf0;
        bytes[at + 16..at + 18].fill(0);
        let tcp = Sum::pseudo_header(&endpoints.addresses, 6, 60) + Sum::of(&bytes[at..]);
        bytes[at + 16..at + 18].copy_from_slice(&tcp.checksum().to_be_bytes());
        match decode_tcp(&bytes) {
            Ok(packet) => prop_assert_eq!(packet.segment.len, 0),
            Err(error) => prop_assert!(error.to_string().contains("option"), "{}", error),
        }
    }

    #[test]
    fn mutated_and_cut_packets_do_not_panic(
        packet in packet(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 0..6),
        cut in any::<Index>(),
    ) {
        let mut bytes = encoded(&packet);
        let len = bytes.len();
        for (at, byte) in changes {
            bytes[at.index(len)] = byte;
        }
        read(&bytes);
        read(&bytes[..cut.index(len)]);
    }

    /// A packet that is cut short anywhere is refused.
    #[test]
    fn a_cut_packet_is_refused(packet in packet(), cut in any::<Index>()) {
        let bytes = encoded(&packet);
        prop_assert!(decode_tcp(&bytes[..cut.index(bytes.len())]).is_err());
    }

    /// Any flip of one bit that a checksum covers is found.
    #[test]
    fn a_flipped_bit_is_found(packet in packet(), bit in any::<Index>()) {
        let mut bytes = encoded(&packet);
        // IPv6 has no checksum over its first eight bytes.
        let start = if bytes[0] >> 4 == 6 { 8 * 8 } else { 0 };
        let bit = start + bit.index(bytes.len() * 8 - start);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decode_tcp(&bytes).is_err());
    }
}
