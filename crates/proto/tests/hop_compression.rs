//! A link that compresses header packets on its own hop (paper 000 §10).

use airtcp_proto::circuit::Compression;
use airtcp_proto::path::{
    Compressible, Episodes, Fate, FixedRate, Handoff, Link, Loss, LossModel, Output, Starts,
};
use airtcp_proto::queue::{DropCause, Item, Limit};
use airtcp_proto::{Chance, Chances};
use airtcp_wire::{Dur, Ecn, Rate, Segment, Seq, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

const VMSS: u32 = 1500;
const FULL: u32 = 52;
/// RFC 1144's change mask and checksum, and uncompressed timestamps.
const COMPRESSED: u32 = 15;
const NUMBERED: u32 = COMPRESSED + 1;
/// One byte per microsecond.
const RATE: Rate = Rate(8_000_000);

/// A header packet: its connection, its place among the connection's, and its ECN field.
#[derive(Clone, Copy, Debug)]
struct Header {
    flow: u32,
    place: u32,
    ecn: Ecn,
}

fn header(flow: u32, place: u32) -> Header {
    Header { flow, place, ecn: Ecn::NotEct }
}

fn chance(name: &str) -> Chance {
    Chances::new(1).chance(name)
}

fn plain() -> Link {
    Link::drop_tail(Limit::NONE, Box::new(FixedRate::new(RATE)), Dur::ZERO)
}

/// Loses the packets with these numbers, counted from 1.
fn losing(numbers: &[u64]) -> Box<dyn LossModel> {
    Loss { packets: numbers.to_vec().into(), ..Loss::default() }.build(None, chance).expect("some are lost")
}

fn item(id: u32, &Header { flow, ecn, .. }: &Header) -> Item {
    Item { id, bytes: FULL, flow, is_header: true, ecn }
}

fn announce(link: &mut Link, id: u32, &Header { flow, place, .. }: &Header) {
    let seq = Seq(flow << 16).at(u64::from(place * VMSS));
    let segment = Segment { seq, len: VMSS, ..Segment::default() };
    link.announce(id, Compressible { segment, saving: airtcp_proto::circuit::saved_by_compression(false) });
}

/// Sends a header packet a millisecond. Returns what comes out, and how many bytes each took of the link's time.
fn carry(link: &mut Link, headers: &[Header]) -> Vec<(Output, u32)> {
    let mut out = Vec::new();
    for (id, header) in (0..).zip(headers) {
        let now = Time(u64::from(id) * 1_000_000);
        announce(link, id, header);
        link.handle_packet(now, item(id, header));
        let next = Time(now.0 + 999_999);
        let came = std::iter::from_fn(|| link.poll_delivery(next));
        out.extend(came.map(|output| (output, (output.at.since(now).0 / 1_000) as u32)));
    }
    out
}

fn sizes(out: &[(Output, u32)]) -> Vec<u32> {
    out.iter().map(|(_, bytes)| *bytes).collect()
}

fn delivered(out: &[(Output, u32)]) -> Vec<u32> {
    out.iter().filter(|(output, _)| output.fate == Fate::Delivered).map(|(output, _)| output.id).collect()
}

#[test]
fn header_packets_take_15_bytes_on_the_link_and_16_if_there_are_several_connections() {
    let one: Vec<_> = (0..4).map(|place| header(7, place)).collect();
    let mut link = plain().with_compression(Compression::Rfc1144);
    assert_eq!(sizes(&carry(&mut link, &one)), [FULL, COMPRESSED, COMPRESSED, COMPRESSED]);
    assert_eq!(link.stats(Time(10_000_000)).sent_bytes, u64::from(4 * FULL), "counted as IP packets");
    let two = [header(7, 0), header(7, 1), header(8, 0), header(7, 2), header(8, 1)];
    let mut link = plain().with_compression(Compression::Twice);
    assert_eq!(sizes(&carry(&mut link, &two)), [FULL, COMPRESSED, FULL, NUMBERED, NUMBERED]);
}

/// A retransmission, and what follows a gap or a mark, is not the successor of what was sent before it.
#[test]
fn what_does_not_follow_leaves_uncompressed() {
    let marked = Header { ecn: Ecn::Ce, ..header(7, 5) };
    let all = [header(7, 0), header(7, 1), header(7, 3), header(7, 4), marked, header(7, 6), header(7, 2)];
    let mut link = plain().with_compression(Compression::Twice);
    let out = carry(&mut link, &all);
    assert_eq!(sizes(&out), [FULL, COMPRESSED, FULL, COMPRESSED, FULL, FULL, FULL]);
    assert_eq!(delivered(&out), [0, 1, 2, 3, 4, 5, 6]);
}

/// What a circuit has compressed, data, and packets of which the link knows nothing keep their length.
#[test]
fn nothing_else_is_compressed() {
    let mut link = plain().with_compression(Compression::Twice);
    for id in 0..3 {
        let segment = Segment { seq: Seq(id * VMSS), len: VMSS, ..Segment::default() };
        link.announce(id, Compressible { segment, saving: 0 });
        link.handle_packet(Time::ZERO, item(id, &header(7, id)));
    }
    link.handle_packet(Time::ZERO, Item { id: 0, bytes: 1500, ..Item::default() });
    link.handle_packet(Time::ZERO, item(9, &header(7, 3)));
    assert_eq!(link.stats(Time(10_000_000)).busy, Dur::from_micros(4 * 52 + 1500));
}

/// The base station after a hand-off, and what talks to it, have seen nothing.
#[test]
fn a_handoff_begins_with_new_contexts() {
    let headers: Vec<_> = (0..8).map(|place| header(7, place)).collect();
    let starts = Starts { at: vec![Time(4_500_000)], ..Starts::default() };
    let outages = Episodes::new(Dur(1_000), starts, chance("outage"));
    let mut link =
        plain().with_compression(Compression::Rfc1144).with_outages(outages, Some(Handoff::default()));
    let out = carry(&mut link, &headers);
    let short = COMPRESSED;
    assert_eq!(sizes(&out), [FULL, short, short, short, short, FULL, short, short]);
    assert_eq!(delivered(&out), [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// A header packet that the full queue drops has not reached the compressor.
#[test]
fn drops_by_the_queue_cost_no_context() {
    let transmitter = Box::new(FixedRate::new(RATE));
    let mut link =
        Link::drop_tail(Limit::packets(1), transmitter, Dur::ZERO).with_compression(Compression::Rfc1144);
    for id in 0..4 {
        announce(&mut link, id, &header(7, id));
        link.handle_packet(Time::ZERO, item(id, &header(7, id)));
    }
    announce(&mut link, 4, &header(7, 4));
    link.handle_packet(Time(1_000_000), item(4, &header(7, 4)));
    let out: Vec<_> = std::iter::from_fn(|| link.poll_delivery(Time(2_000_000))).collect();
    let of = |fate| {
        out.iter().filter(move |output| output.fate == fate).map(|output| output.id).collect::<Vec<_>>()
    };
    assert_eq!(of(Fate::Lost(DropCause::Overflow)), [2, 3]);
    assert_eq!(of(Fate::Delivered), [0, 1, 4]);
}

fn headers() -> impl Strategy<Value = Vec<Header>> {
    // Mostly the next one of a connection; sometimes earlier links have lost some, or TCP goes back.
    let step = prop_oneof![8 => Just(1i64), 1 => 2..5i64, 1 => -4..1i64];
    let ecn = prop_oneof![12 => Just(Ecn::Ect0), 1 => Just(Ecn::Ce)];
    prop::collection::vec((0..3u32, step, ecn), 1..150).prop_map(|steps| {
        let mut places = [100i64; 3];
        let next = |(flow, step, ecn): (u32, i64, Ecn)| {
            let place = &mut places[flow as usize];
            *place = (*place + step).max(0);
            Header { flow, place: *place as u32, ecn }
        };
        steps.into_iter().map(next).collect()
    })
}

/// What of a connection left last, and the place of what the far end read last.
#[derive(Default)]
struct Seen {
    left: Option<(u32, Ecn)>,
    read: Option<u32>,
}

proptest! {
    #[test]
    fn without_losses_all_comes_out_in_order(headers in headers(), twice: bool) {
        let kind = if twice { Compression::Twice } else { Compression::Rfc1144 };
        let compressed = carry(&mut plain().with_compression(kind), &headers);
        let full = carry(&mut plain(), &headers);
        prop_assert_eq!(delivered(&compressed), delivered(&full));
        prop_assert!(sizes(&full).iter().all(|&bytes| bytes == FULL));
        prop_assert!(sizes(&compressed).iter().all(|bytes| [FULL, COMPRESSED, NUMBERED].contains(bytes)));
    }

    /// A packet is read if it came uncompressed, or if it follows what was read last, but for as many as are guessed. So contexts that
    /// differ do so only until an uncompressed packet comes.
    #[test]
    fn a_loss_costs_what_cannot_be_guessed_and_no_more(
        headers in headers(), lost in prop::collection::btree_set(1..150u64, 0..40), twice: bool,
    ) {
        let (kind, guesses) = if twice { (Compression::Twice, 2) } else { (Compression::Rfc1144, 0) };
        let numbers: Vec<u64> = lost.iter().copied().collect();
        let mut link = plain().with_compression(kind);
        if !lost.is_empty() {
            link = link.with_loss(losing(&numbers));
        }
        let mut connections: BTreeMap<u32, Seen> = BTreeMap::new();
        let mut expected = Vec::new();
        for (id, header) in (0u32..).zip(&headers) {
            let seen = connections.entry(header.flow).or_default();
            let follows = seen.left.is_some_and(|(place, ecn)| (place + 1, ecn) == (header.place, header.ecn));
            let is_near = seen.read.is_some_and(|place| (place + 1..=place + 1 + guesses).contains(&header.place));
            seen.left = Some((header.place, header.ecn));
            if !lost.contains(&u64::from(id + 1)) && (!follows || is_near) {
                seen.read = Some(header.place);
                expected.push(id);
            }
        }
        prop_assert_eq!(delivered(&carry(&mut link, &headers)), expected);
    }
}
