use super::*;
use crate::{Flags, SackBlocks, Segment, Seq, SynOptions, Timestamps};
use proptest::prelude::*;

const VMSS: u32 = 1500;

fn key() -> Key {
    "000102030405060708090a0b0c0d0e0f".parse().unwrap()
}

fn terms(counts: bool) -> Terms {
    Terms {
        vmss: VMSS as u16,
        controls: MAX_CONTROLS,
        guesses: Some(2),
        counts,
        fec: if counts { 3 } else { 0 },
        repairs: false,
    }
}

fn session() -> SessionKey {
    key().session(&[1; 16], &[2; 16])
}

fn timestamps() -> impl Strategy<Value = Option<Timestamps>> {
    prop::option::of(any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo }))
}

fn sack() -> impl Strategy<Value = SackBlocks> {
    prop::collection::vec(any::<(u32, u32)>(), 0..=3).prop_map(|blocks| {
        let mut sack = SackBlocks::default();
        blocks.into_iter().for_each(|(left, right)| sack.push(Seq(left), Seq(right)));
        sack
    })
}

prop_compose! {
    fn segment(kind: Kind)(
        own: u32, other: u32, window: u16, is_syn: bool, has_data: bool, more in 0u16..16, timestamps in timestamps(),
        sack in sack(), mss in prop::option::of(1u16..), window_scale in prop::option::of(0u8..=14), sack_permitted: bool,
    ) -> Segment {
        let extra = [Flags::PSH, Flags::ECE, Flags::CWR, Flags::ELN];
        let mut flags = Flags::ACK;
        (0..4).filter(|bit| more >> bit & 1 == 1).for_each(|bit| flags.set(extra[bit]));
        let mut segment = Segment { window, timestamps, sack, flags, ..Segment::default() };
        segment.len = if has_data { VMSS } else { 0 };
        if is_syn {
            segment.flags.set(Flags::SYN);
            segment.syn = SynOptions { mss, window_scale, sack_permitted, ..SynOptions::default() };
        }
        let [own, other] = [Seq(own), if is_syn { Seq(other) } else { Seq(0) }];
        (segment.seq, segment.ack) = if kind == Kind::Header { (own, other) } else { (other, own) };
        segment
    }
}

fn header() -> impl Strategy<Value = Header> {
    let kind = prop_oneof![Just(Kind::Header), Just(Kind::Ack)];
    let segment = kind.prop_flat_map(|kind| segment(kind).prop_map(move |segment| (kind, segment)));
    (segment, 0..MAX_CONTROLS, 0u64..1 << 60).prop_map(|((kind, segment), control, number)| Header {
        kind,
        control,
        number,
        segment,
        repeats: if kind == Kind::Header && segment.len > 0 { (number % 4) as u8 } else { 0 },
    })
}

/// §4.1: 52 bytes with IPv4's 20 and UDP's 8; §10: 15 bytes, and two that count data.
#[test]
fn they_are_as_long_as_the_papers() {
    let timestamps = Some(Timestamps { value: 7, echo: 9 });
    let segment = Segment { seq: Seq(1), flags: Flags::ACK, len: VMSS, timestamps, ..Segment::default() };
    let header = Header { kind: Kind::Header, control: 0, number: 5, segment, repeats: 0 };
    assert_eq!(20 + 8 + encode(&header, &session()).as_slice().len(), 52);
    let short = [false, true].map(|counts| compress(&header, counts, &session()).as_slice().len());
    assert_eq!(short, [15, 17]);
}

/// The specification's example.
#[test]
fn the_bytes_of_a_header_packet() {
    let timestamps = Some(Timestamps { value: 0x0102_0304, echo: 0x0506_0708 });
    let flags = Flags::ACK | Flags::PSH;
    let segment =
        Segment { seq: Seq(0x1122_3344), flags, window: 500, len: VMSS, timestamps, ..Segment::default() };
    let header = Header { kind: Kind::Header, control: 1, number: 0x0a_0b0c, segment, repeats: 0 };
    let whole = encode(&header, &session());
    let expected = [0x61, 0x0a, 0x0b, 0x0c, 0x30, 0x18, 0x11, 0x22, 0x33, 0x44, 0x01, 0xf4];
    assert_eq!(whole.as_slice()[..12], expected);
    assert_eq!(whole.as_slice()[12..], [1, 2, 3, 4, 5, 6, 7, 8, 0xb8, 0x0f, 0xfe, 0x3f]);
    let short = compress(&header, false, &session());
    assert_eq!(short.as_slice()[..11], [0x81, 0x0b, 0x0c, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(short.as_slice()[11..], whole.as_slice()[20..]);
    let counting = compress(&header, true, &session());
    assert_eq!(counting.as_slice()[..6], [0x81, 0x0b, 0x0c, 0x01, 0xf4, 1]);
}

/// What others have to compute, too.
#[test]
fn the_tags_of_the_specification() {
    let pong = encode_keepalive(Kind::Pong, 0x0102_0304, &session());
    let welcome = Welcome { nonce: [2; 16], counts: true, rebuilds: None }.encode(&[1; 16], &key());
    let hello = Hello {
        nonce: [1; 16],
        terms: Terms { vmss: 1500, controls: 1, guesses: None, counts: true, fec: 0, repairs: false },
    };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(pong.as_slice()), "e0020304f7ae0505");
    let nonce = "01".repeat(16);
    assert_eq!(hex(hello.encode(&key()).as_slice()), format!("200305dc01000100{nonce}c92d2d28244b87e5"));
    assert_eq!(hex(&welcome.as_slice()[24..]), "520a60968d6a0426");
}

#[test]
fn keys_are_32_digits() {
    assert_eq!(key(), Key::new([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]));
    for text in ["", "+0102030405060708090a0b0c0d0e0f0", "000102030405060708090a0b0c0d0e", "zz"] {
        assert_eq!(text.parse::<Key>(), Err(KeyError), "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(header in header(), ahead in -8_000_000i64..8_000_000) {
        let datagram = encode(&header, &session());
        let near = header.number.saturating_add_signed(ahead);
        prop_assert_eq!(decode(datagram.as_slice(), near, VMSS, &session()), Ok(header));
    }

    #[test]
    fn a_changed_bit_is_found(header in header(), bit in 0usize..1000, byte in 0usize..MAX_DATAGRAM) {
        let datagram = encode(&header, &session());
        let mut bytes = datagram.as_slice().to_vec();
        let byte = byte % bytes.len();
        bytes[byte] ^= 1 << (bit % 8);
        prop_assert!(decode(&bytes, header.number, VMSS, &session()).is_err());
    }

    #[test]
    fn nothing_goes_from_one_session_to_another(header in header(), nonce: [u8; 16]) {
        let datagram = encode(&header, &key().session(&[1; 16], &nonce));
        prop_assume!(nonce != [2; 16]);
        prop_assert_eq!(decode(datagram.as_slice(), header.number, VMSS, &session()), Err(CircuitError::Tag));
    }

    /// *Twice* bridges two lost header packets and no more.
    #[test]
    fn compressed_ones_are_guessed(
        mut segment in segment(Kind::Header), control in 0..MAX_CONTROLS, lost in 0u64..5, number in 0u64..1 << 40, stamps: (u32, u32),
        sent in prop::option::of(any::<u16>()), before in 0u8..=3,
    ) {
        segment.len = VMSS;
        let mut next = Segment { seq: segment.seq.at(u64::from(VMSS) * (lost + 1)), ..segment };
        next.timestamps = segment.timestamps.map(|_| Timestamps { value: stamps.0, echo: stamps.1 });
        next.window = sent.unwrap_or(segment.window);
        let terms = terms(sent.is_some());
        let repeats = terms.fec.min(before + lost as u8 + 1);
        let header = Header { kind: Kind::Header, control, number: number + lost + 1, segment: next, repeats };
        let datagram = compress(&header, sent.is_some(), &session());
        let read = decompress(datagram.as_slice(), number, (&segment, before), &terms, &session());
        prop_assert_eq!(read, if lost <= 2 { Ok(header) } else { Err(CircuitError::Tag) });
    }

    #[test]
    fn handshakes_read_back(
        nonces: [[u8; 16]; 2], vmss in 64u16..=65_000, controls in 1..=MAX_CONTROLS, guesses in prop::option::of(0u8..=2),
        counts: bool, fec in 0u8..=3, repairs: bool, rebuilds: bool,
    ) {
        let (fec, repairs) = if counts { (fec, repairs) } else { (0, false) };
        let hello = Hello { nonce: nonces[0], terms: Terms { vmss, controls, guesses, counts, fec, repairs } };
        prop_assert_eq!(Hello::decode(hello.encode(&key()).as_slice(), &key()), Ok(hello));
        let welcome = Welcome { nonce: nonces[1], counts, rebuilds: repairs.then_some(rebuilds) };
        let datagram = welcome.encode(&nonces[0], &key());
        prop_assert_eq!(Welcome::decode(datagram.as_slice(), &nonces[0], &key()), Ok(welcome));
        prop_assert_eq!(Welcome::decode(datagram.as_slice(), &nonces[1], &key()).is_ok(), nonces[0] == nonces[1]);
        let stranger = Key::new([9; 16]);
        prop_assert_eq!(Hello::decode(hello.encode(&stranger).as_slice(), &key()), Err(CircuitError::Tag));
    }

    /// And not if a bit of them is another one.
    #[test]
    fn repairs_read_back(
        number in 0u64..1 << 60, ahead in -8_000_000i64..8_000_000, key: u16, first: u32,
        names in prop::collection::vec(any::<u32>(), 1..=MAX_SOURCES), coded in prop::collection::vec(any::<u8>(), 2..1500),
        bit: prop::sample::Index,
    ) {
        let repair = Repair { number, key, first, names, coded: &coded };
        let mut datagram = repair.encode(&session());
        prop_assert_eq!(datagram.len(), REPAIR_LEN + FINGERPRINT_LEN * repair.names.len() + coded.len());
        let near = number.saturating_add_signed(ahead);
        prop_assert_eq!(Repair::decode(&datagram, near, &session()), Ok(repair));
        let bit = bit.index(datagram.len() * 8);
        datagram[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Repair::decode(&datagram, near, &session()).is_err());
    }

    #[test]
    fn keepalives_read_back(number in 0u64..1 << 60, ahead in -8_000_000i64..8_000_000) {
        let datagram = encode_keepalive(Kind::Ping, number, &session());
        let near = number.saturating_add_signed(ahead);
        prop_assert_eq!(decode_keepalive(datagram.as_slice(), near, &session()), Ok(number));
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..100), near: u64) {
        prop_assert!(decode(&bytes, near, VMSS, &session()).is_err());
        prop_assert!(decompress(&bytes, near, (&Segment::default(), 0), &terms(false), &session()).is_err());
        prop_assert!(Hello::decode(&bytes, &key()).is_err());
        prop_assert!(Welcome::decode(&bytes, &[0; 16], &key()).is_err());
        prop_assert!(decode_keepalive(&bytes, near, &session()).is_err());
        prop_assert!(Repair::decode(&bytes, near, &session()).is_err());
    }

    #[test]
    fn the_nearest_number_is_meant(number in 0u64..1 << 50, ahead in -30_000i64..30_000) {
        let near = number.saturating_add_signed(ahead);
        prop_assert_eq!(expand(number & 0xffff, 16, near), number);
    }
}

/// What no count reaches is no reason to fall over.
#[test]
fn the_last_numbers_are_read_as_well() {
    assert_eq!(expand(0xffff, 16, u64::MAX), u64::MAX);
    assert_eq!(expand(0xff_ff00, 24, u64::MAX - 0x80_0000), u64::MAX - 0xff);
}
