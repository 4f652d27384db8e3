//! Packets whose every byte was worked out apart from this code.

use airtcp_wire::ip::{Addresses, Found, IpError};
use airtcp_wire::packet::{Endpoints, PacketError, TcpPacket, decode_tcp, encode_tcp, encode_udp_headers};
use airtcp_wire::tcp::{Ports, TcpError};
use airtcp_wire::{Ecn, Flags, SackBlocks, Segment, Seq, SynOptions, Timestamps, checksum::Sum, ethernet};

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn endpoints(source: &str, destination: &str) -> Endpoints {
    Endpoints::new(source.parse().unwrap(), destination.parse().unwrap()).unwrap()
}

/// An ECN-setup SYN (RFC 3168 §6.1.1) with the options of Linux, in the order of Linux.
const SYN: &str = "45 00 00 3c 00 00 40 00 40 06 4e 80 c0 00 02 01 c6 33 64 07
    c0 00 00 50 12 34 56 78 00 00 00 00 a0 c2 fa f0 8b 48 00 00
    02 04 05 b4 04 02 08 0a 00 00 ab cd 00 00 00 00 01 03 03 07";

fn syn() -> Segment {
    Segment {
        seq: Seq(0x1234_5678),
        flags: Flags::SYN | Flags::ECE | Flags::CWR,
        window: 64240,
        timestamps: Some(Timestamps { value: 0xabcd, echo: 0 }),
        syn: SynOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            ..SynOptions::default()
        },
        ..Segment::default()
    }
}

/// 40 bytes of options: timestamps and three SACK blocks, the last of which spans the wrap.
const SACK: &str = "45 02 00 50 00 00 40 00 40 06 4e 6a c6 33 64 07 c0 00 02 01
    00 50 c0 00 ff ff ff f0 12 34 56 79 f0 10 01 f5 87 b2 00 00
    01 01 08 0a 00 01 00 02 00 00 ab cd
    01 01 05 1a 12 34 5a 00 12 34 5b 00 12 34 5c 00 12 34 5d 00 ff ff ff 00 00 00 00 10";

fn sack() -> Segment {
    let mut sack = SackBlocks::default();
    sack.push(Seq(0x1234_5a00), Seq(0x1234_5b00));
    sack.push(Seq(0x1234_5c00), Seq(0x1234_5d00));
    sack.push(Seq(0xffff_ff00), Seq(0x10));
    Segment {
        seq: Seq(0xffff_fff0),
        ack: Seq(0x1234_5679),
        flags: Flags::ACK,
        window: 501,
        timestamps: Some(Timestamps { value: 0x10002, echo: 0xabcd }),
        sack,
        ..Segment::default()
    }
}

/// IPv6, marked CE, with an odd number of payload bytes.
const V6_DATA: &str = "60 30 00 00 00 19 06 40
    20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 01 20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 02
    01 bb c3 50 00 00 00 01 00 00 00 02 50 18 04 00 47 72 00 00 68 65 6c 6c 6f";

/// IPv6 with a hop-by-hop and a destination options header.
const V6_EXTENSIONS: &str = "60 00 00 00 00 25 00 40
    20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 01 20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 02
    3c 00 01 04 00 00 00 00 06 00 01 04 00 00 00 00
    01 bb c3 50 00 00 00 01 00 00 00 02 50 11 04 00 13 4f 00 00 78";

/// IPv4 with the router alert option, TCP with an option that is not known here and an end of list before rubbish, and
/// three bytes of padding behind the packet.
const V4_OPTIONS: &str = "46 00 00 37 12 34 00 00 40 06 e7 4c c0 00 02 01 c6 33 64 07 94 04 00 00
    00 01 00 02 00 00 00 03 00 00 00 04 70 10 00 05 ce e2 00 00 fe 04 12 34 00 00 ff ff 61 62 63 00 00 00";

fn data(flags: Flags, seq: u32, ack: u32, window: u16, len: u32) -> Segment {
    Segment { seq: Seq(seq), ack: Seq(ack), flags, window, len, ..Segment::default() }
}

#[test]
fn written_and_read_as_they_stand() {
    let there = endpoints("192.0.2.1:49152", "198.51.100.7:80");
    let v6 = endpoints("[2001:db8::1]:443", "[2001:db8::2]:50000");
    let push = data(Flags::ACK | Flags::PSH, 1, 2, 1024, 5);
    let vectors: [(&str, Endpoints, Ecn, Segment, &[u8]); 3] = [
        (SYN, there, Ecn::NotEct, syn(), b""),
        (SACK, there.reversed(), Ecn::Ect0, sack(), b""),
        (V6_DATA, v6, Ecn::Ce, push, b"hello"),
    ];
    for (hex, endpoints, ecn, segment, payload) in vectors {
        let expected = bytes(hex);
        let mut buffer = [0xaa; 100];
        let len = encode_tcp(&endpoints, ecn, &segment, payload, &mut buffer).unwrap();
        assert_eq!(buffer[..len], expected);
        let payload = len - payload.len()..len;
        assert_eq!(decode_tcp(&expected), Ok(TcpPacket { endpoints, ecn, segment, payload }));
    }
}

#[test]
fn extension_headers_and_options_that_are_not_known_are_skipped() {
    let packet = decode_tcp(&bytes(V6_EXTENSIONS)).unwrap();
    assert_eq!(packet.segment, data(Flags::ACK | Flags::FIN, 1, 2, 1024, 1));
    assert_eq!(bytes(V6_EXTENSIONS)[packet.payload], *b"x");

    let packet = decode_tcp(&bytes(V4_OPTIONS)).unwrap();
    assert_eq!(packet.segment, data(Flags::ACK, 3, 4, 5, 3));
    assert_eq!(packet.endpoints.ports, Ports { source: 1, destination: 2 });
    assert_eq!(bytes(V4_OPTIONS)[packet.payload], *b"abc");
}

/// RFC 8200 §4.5: behind the fragment header of a later fragment stands data, whatever it looks like.
#[test]
fn what_follows_a_fragment_header_is_no_header() {
    let mut packet = bytes(V6_EXTENSIONS);
    packet[40] = 44;
    packet[48..56].copy_from_slice(&[60, 0xff, 0x01, 0x00, 0, 0, 0, 7]);
    let found = Found::read(&packet).unwrap();
    assert_eq!((found.protocol, found.header_len, found.is_fragment), (60, 56, true));
    assert_eq!(decode_tcp(&packet), Err(PacketError::Ip(IpError::Fragment)));
}

/// A header is read as it was found where a packet is refused: cut, wrong in its checksum, a fragment.
#[test]
fn what_is_no_whole_packet_is_found_all_the_same() {
    let mut packet = bytes(V4_OPTIONS);
    packet[6..8].copy_from_slice(&[0x20, 0x01]);
    packet.truncate(30);
    let found = Found::read(&packet).unwrap();
    let Addresses::V4 { source, .. } = found.addresses else { panic!("{found:?}") };
    assert_eq!((source.octets(), found.protocol, found.id), ([192, 0, 2, 1], 6, 0x1234));
    assert_eq!((found.header_len, found.claimed, found.is_fragment), (24, 55, true));
}

#[test]
fn ip_stands_behind_ethernet_and_its_tags() {
    let frame = |hex: &str| [vec![0; 12], bytes(hex)].concat();
    assert_eq!(ethernet::ip_at(&frame("08 00")), Some(14));
    assert_eq!(ethernet::ip_at(&frame("81 00 00 07 86 dd")), Some(18));
    assert_eq!(ethernet::ip_at(&frame("88 a8 00 07 81 00 00 08 08 00")), Some(22));
    assert_eq!(ethernet::ip_at(&frame("91 00 00 07 81 00 00 08 08 00")), Some(22));
    assert_eq!(ethernet::ip_at(&frame("08 06")), None, "ARP");
    assert_eq!(ethernet::ip_at(&frame("81 00 00 07 86")), None, "cut short");
}

/// `hex` with some bytes replaced; IPv4 and TCP checksums are then set right, so that only the change can be wrong.
fn changed(hex: &str, changes: &[(usize, u8)]) -> Vec<u8> {
    let mut packet = bytes(hex);
    for (at, byte) in changes {
        packet[*at] = *byte;
    }
    let put = |packet: &mut [u8], at: usize, sum: Sum| {
        packet[at..at + 2].copy_from_slice(&sum.checksum().to_be_bytes());
    };
    packet[10..12].fill(0);
    let ip = Sum::of(&packet[..20]);
    put(&mut packet, 10, ip);
    packet[36..38].fill(0);
    let address = |at: usize| <[u8; 4]>::try_from(&packet[at..at + 4]).unwrap().into();
    let addresses = Addresses::V4 { source: address(12), destination: address(16) };
    let tcp = Sum::pseudo_header(&addresses, 6, packet.len() as u32 - 20) + Sum::of(&packet[20..]);
    put(&mut packet, 36, tcp);
    packet
}

#[test]
fn each_fault_has_its_name() {
    let fault = |changes: &[(usize, u8)]| decode_tcp(&changed(SYN, changes)).unwrap_err();
    assert_eq!(fault(&[(0, 0x55)]), PacketError::Ip(IpError::Version(5)));
    assert_eq!(fault(&[(0, 0x44)]), PacketError::Ip(IpError::HeaderLength(16)));
    assert_eq!(fault(&[(3, 0x3d)]), PacketError::Ip(IpError::Length { claimed: 61, present: 60 }));
    assert_eq!(fault(&[(3, 19)]), PacketError::Ip(IpError::Length { claimed: 19, present: 60 }));
    assert_eq!(fault(&[(6, 0x20)]), PacketError::Ip(IpError::Fragment));
    assert_eq!(fault(&[(7, 0x01)]), PacketError::Ip(IpError::Fragment));
    assert_eq!(fault(&[(9, 17)]), PacketError::NotTcp(17));
    assert_eq!(fault(&[(32, 0x40)]), PacketError::Tcp(TcpError::DataOffset(16)));
    assert_eq!(fault(&[(32, 0xb0)]), PacketError::Tcp(TcpError::DataOffset(44)));
    assert_eq!(fault(&[(41, 0)]), PacketError::Tcp(TcpError::OptionLength { kind: 2 }));
    assert_eq!(fault(&[(41, 5)]), PacketError::Tcp(TcpError::OptionLength { kind: 2 }));
    assert_eq!(fault(&[(58, 60)]), PacketError::Tcp(TcpError::OptionLength { kind: 3 }));

    let mut packet = bytes(SYN);
    packet[59] ^= 1;
    assert_eq!(decode_tcp(&packet), Err(PacketError::Tcp(TcpError::Checksum)));
    packet[8] ^= 1;
    assert_eq!(decode_tcp(&packet), Err(PacketError::Ip(IpError::Checksum)));
    assert_eq!(decode_tcp(&[]), Err(PacketError::Ip(IpError::Truncated(0))));
    assert_eq!(decode_tcp(&bytes(V6_DATA)[..39]), Err(PacketError::Ip(IpError::Truncated(39))));
}

/// RFC 7323 §2.3: a shift count above 14 is taken for 14.
#[test]
fn a_shift_count_beyond_14_is_14() {
    let packet = decode_tcp(&changed(SYN, &[(59, 15)])).unwrap();
    assert_eq!(packet.segment.syn.window_scale, Some(14));
}

/// RFC 9293 §3.2: the MSS option is sent, and looked at, on a SYN only.
#[test]
fn options_of_a_syn_are_ignored_elsewhere() {
    let packet = decode_tcp(&changed(SYN, &[(33, Flags::ACK.0 as u8)])).unwrap();
    assert_eq!(packet.segment.syn, SynOptions::default());
    assert_eq!(packet.segment.timestamps, Some(Timestamps { value: 0xabcd, echo: 0 }));
}

/// 192.0.2.1:9 to 198.51.100.7:9 with two bytes of zero. The payload's sum makes the checksum zero, and zero is sent as
/// all ones (RFC 768).
#[test]
fn udp_checksum_zero_is_sent_as_ones() {
    let discard = endpoints("192.0.2.1:9", "198.51.100.7:9");
    let mut buffer = [0; 28];
    let len = encode_udp_headers(&discard, Ecn::NotEct, 2, Sum::default(), &mut buffer).unwrap();
    assert_eq!(len, 28);
    assert_eq!(buffer[2..4], [0, 30]);
    // Pseudo header c000 0201 c633 6407 0011 000a, header 0009 0009 000a: 1ec72, which folds to ec73.
    assert_eq!(buffer[20..], bytes("00 09 00 09 00 0a 13 8c")[..]);

    let complement = Sum::of(&[0x13, 0x8c]);
    encode_udp_headers(&discard, Ecn::NotEct, 2, complement, &mut buffer).unwrap();
    assert_eq!(buffer[26..], [0xff, 0xff]);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let there = endpoints("192.0.2.1:49152", "198.51.100.7:80");
    let mut buffer = [0; 63];
    for len in 0..60 {
        assert!(encode_tcp(&there, Ecn::NotEct, &syn(), b"", &mut buffer[..len]).is_err());
    }
    let four = Segment { len: 4, ..syn() };
    let error = encode_tcp(&there, Ecn::NotEct, &four, b"abcd", &mut buffer).unwrap_err();
    assert_eq!(error, PacketError::Buffer { need: 64, room: 63 });
    let error = encode_tcp(&there, Ecn::NotEct, &four, b"abc", &mut buffer).unwrap_err();
    assert_eq!(error, PacketError::Payload { segment: 4, given: 3 });
    let long = Segment { len: 65_496, ..syn() };
    let error = encode_tcp(&there, Ecn::NotEct, &long, &[0; 65_496], &mut buffer).unwrap_err();
    assert_eq!(error, PacketError::Ip(IpError::TooLong(65_556)));
}
