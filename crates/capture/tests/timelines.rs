//! What is to be found in packet timelines.

use crate::common::timeline::{MSS, Timeline, fast_retransmit, read_file};
use airtcp_capture::{DirectionReport, Position};
use airtcp_wire::{Ecn, Flags, Segment, Seq};

fn lost(way: &DirectionReport) -> Vec<usize> {
    (0..way.fates.len()).filter(|&index| way.fates[index].1).collect()
}

fn rtts_ms(way: &DirectionReport) -> Vec<f64> {
    way.round_trips.iter().map(|trip| trip.1.as_secs_f64() * 1e3).collect()
}

#[test]
fn a_fast_retransmission_is_one_loss() {
    let capture = fast_retransmit().found();
    let way = &capture.forward;
    assert_eq!(way.position, Position::AtSender);
    assert_eq!((capture.mss, capture.timestamps, capture.sack), (Some(1012), true, Some(true)));
    assert_eq!(capture.ecn, Some(true), "RFC 3168 §6.1.1");
    assert_eq!(capture.handshake_rtt.unwrap().as_millis(), 40);
    assert_eq!(lost(way), [1]);
    assert_eq!((way.counts.data_packets, way.counts.retransmissions), (6, 1));
    assert_eq!((way.counts.spurious, way.counts.late, way.counts.timeouts), (0, 0, 0));
    // Of packets 0, 2, 3, 4 by ACK and SACK, and of the retransmission, as its timestamp comes back.
    assert_eq!(rtts_ms(way), [40.0; 5]);
}

/// A receiver that merges or splits packets may acknowledge parts of those that were captured.
#[test]
fn a_block_that_ends_within_a_packet_tells_nothing_of_it() {
    let mut line = Timeline::default();
    line.handshake(40.0, 0.0);
    line.burst(5);
    line.ack_bytes(83.0, 1, 41, &[(2 * MSS, 3 * MSS + 7)]).ack(90.0, 5, 41, &[]);
    let capture = line.found();
    assert!(lost(&capture.forward).is_empty());
    assert_eq!(capture.forward.counts.retransmissions, 0);
}

/// Karn's rule (RFC 6298 §3): without timestamps, what was sent twice is no sample.
#[test]
fn without_timestamps_what_was_sent_twice_is_no_sample() {
    let mut line = Timeline { no_timestamps: true, ..Timeline::default() };
    line.handshake(40.0, 0.0).data(41.0, 0, 0, 0).data(300.0, 0, 0, 0).ack(340.0, 1, 0, &[]);
    line.data(341.0, 1, 0, 0).ack(382.0, 2, 0, &[]);
    let capture = line.found();
    assert_eq!(rtts_ms(&capture.forward), [41.0]);
    assert_eq!(lost(&capture.forward), [0]);
    assert_eq!(capture.forward.counts.timeouts, 1);
}

/// RFC 3522: the acknowledgment of a retransmission echoes its original's timestamp.
#[test]
fn an_echo_shows_a_timeout_in_vain() {
    let mut line = Timeline::default();
    line.handshake(40.0, 0.0).data(41.0, 0, 41, 1).ack(81.0, 1, 41, &[]);
    line.data(82.0, 1, 82, 81).data(400.0, 1, 400, 81).ack(450.0, 2, 82, &[]).ack(460.0, 2, 82, &[(1, 2)]);
    let counts = line.found().forward.counts;
    assert_eq!((counts.retransmissions, counts.spurious, counts.timeouts, counts.dsacks), (1, 1, 1, 1));
    assert_eq!(lost(&line.found().forward), [0usize; 0]);
}

/// RFC 2883: the receiver got packet 1 twice; it was not lost but late.
#[test]
fn a_dsack_takes_a_loss_back() {
    let mut line = fast_retransmit();
    line.ack(126.0, 5, 85, &[(1, 2)]);
    let capture = line.found();
    assert_eq!(lost(&capture.forward), [0usize; 0]);
    assert_eq!((capture.forward.counts.spurious, capture.forward.counts.late), (1, 1));
}

#[test]
fn at_the_sender_a_late_packet_closes_its_gap_unaided() {
    let mut line = Timeline::default();
    line.handshake(40.0, 0.0);
    line.burst(3);
    line.ack(81.0, 1, 41, &[]).ack(83.0, 1, 41, &[(2, 3)]).ack(88.0, 3, 42, &[]);
    let way = line.found().forward;
    assert_eq!((way.counts.late, way.counts.retransmissions), (1, 0));
    assert_eq!(way.late_by[0].as_millis(), 5);
    assert_eq!(lost(&way), [0usize; 0]);
}

/// At the receiver: packet 1 comes 7 ms late with its first timestamp, packet 4 again with a later one.
#[test]
fn at_the_receiver_timestamps_tell_late_from_lost() {
    let mut line = Timeline::default();
    line.handshake(0.0, 40.0).data(41.0, 0, 10, 1).ack(41.1, 1, 10, &[]);
    line.data(43.0, 2, 12, 1).ack(43.1, 1, 10, &[(2, 3)]).data(50.0, 1, 11, 1).ack(50.1, 3, 11, &[]);
    line.data(52.0, 3, 13, 1).ack(52.1, 4, 13, &[]).data(54.0, 5, 15, 1).ack(54.1, 4, 13, &[(5, 6)]);
    line.data(95.0, 4, 55, 54).ack(95.1, 6, 55, &[]);
    let way = line.found().forward;
    assert_eq!(way.position, Position::AtReceiver);
    assert_eq!((way.counts.late, way.counts.retransmissions, way.counts.spurious), (1, 1, 0));
    assert_eq!(way.late_by[0].as_millis(), 7);
    assert_eq!(lost(&way), [4], "in order of sending");
    // The ACK with value 54 left at 54.1 and let packet 4 go again.
    assert!((rtts_ms(&way).last().unwrap() - 40.9).abs() < 0.11, "{:?}", rtts_ms(&way));
}

#[test]
fn between_the_ends_both_parts_count() {
    let mut line = Timeline::default();
    line.handshake(30.0, 10.0);
    line.burst(4);
    line.ack(74.0, 4, 44, &[]);
    let capture = line.found();
    assert_eq!(capture.forward.position, Position::Between);
    assert_eq!(capture.handshake_rtt.unwrap().as_millis(), 40);
    assert_eq!(rtts_ms(&capture.forward), [40.0]);
}

/// What the receiver acknowledges without the tap having seen it was missed by the capture, and not lost.
#[test]
fn what_the_capture_missed_is_not_lost() {
    let mut line = Timeline::default();
    line.handshake(40.0, 0.0).data(41.0, 0, 41, 1).data(43.0, 2, 43, 1).ack(81.0, 3, 41, &[]);
    let way = line.found().forward;
    assert_eq!((way.counts.missed, way.counts.retransmissions), (1, 0));
    assert_eq!(lost(&way), [0usize; 0]);
}

/// Ethernet, VLANs, cooked and loopback headers around the same packets, cut right behind the headers.
#[test]
fn every_link_layer_tells_the_same() {
    let plain = fast_retransmit().found();
    let ethernet = [&[2; 12][..], &[8, 0]].concat();
    let tagged = [&[2; 12][..], &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 8, 0]].concat();
    let cooked = [&[0; 14][..], &[8, 0]].concat();
    let cooked2 = [&[8, 0][..], &[0; 18]].concat();
    let links: [(u32, &[u8]); 7] = [
        (1, &ethernet),
        (1, &tagged),
        (113, &cooked),
        (276, &cooked2),
        (0, &[2, 0, 0, 0]),
        (108, &[0, 0, 0, 2]),
        (228, &[]),
    ];
    for (link_type, link) in links {
        let file = fast_retransmit().file(link_type, link, link.len() + 72);
        let capture = read_file(&file);
        assert_eq!(capture.overview.survey.skipped, 0, "{link_type}");
        assert_eq!(capture.forward.fates, plain.forward.fates, "{link_type}");
        assert_eq!(capture.forward.round_trips, plain.forward.round_trips, "{link_type}");
        assert_eq!(capture.forward.counts, plain.forward.counts, "{link_type}");
    }
}

/// draft-ietf-opsawg-pcapng: two sections of opposite byte order, units of 2⁻³⁰ s and of 10⁻⁹ s behind an offset.
#[test]
fn pcapng_sections_have_their_own_order_and_clocks() {
    let line = fast_retransmit();
    let half = line.packets.len() / 2;
    let mut file = section(&line.packets[..half], u32::to_le_bytes, u16::to_le_bytes, 0x80 | 30, 0);
    file.extend(section(&line.packets[half..], u32::to_be_bytes, u16::to_be_bytes, 9, -5));
    let capture = read_file(&file);
    assert_eq!(capture.forward.counts, line.found().forward.counts);
    assert_eq!(lost(&capture.forward), [1]);
    for rtt in rtts_ms(&capture.forward) {
        assert!((rtt - 40.0).abs() < 1e-3, "{rtt}");
    }
}

fn section(
    packets: &[(u64, Vec<u8>)],
    word: fn(u32) -> [u8; 4],
    half: fn(u16) -> [u8; 2],
    resolution: u8,
    offset_s: i64,
) -> Vec<u8> {
    let block = |kind: u32, body: Vec<u8>| {
        let len = word(body.len() as u32 + 12);
        [&word(kind)[..], &len, &body, &len].concat()
    };
    let header = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &[0xff; 8]].concat();
    let offset = match word(1) {
        [1, ..] => offset_s.to_le_bytes(),
        _ => offset_s.to_be_bytes(),
    };
    let options = [&half(9)[..], &half(1), &[resolution, 0, 0, 0], &half(14), &half(8), &offset, &[0; 4]];
    let interface = [&half(101)[..], &half(0), &word(0), &options.concat()].concat();
    let mut section = [block(0x0a0d_0d0a, header), block(1, interface)].concat();
    for (time, bytes) in packets {
        let shifted = (*time as i64 - offset_s * 1_000_000_000) as u128;
        let units = match resolution & 0x80 {
            0 => shifted * 10u128.pow(u32::from(resolution)) / 1_000_000_000,
            _ => (shifted << (resolution & 0x7f)) / 1_000_000_000,
        } as u64;
        let fixed = [0, (units >> 32) as u32, units as u32, bytes.len() as u32, bytes.len() as u32]
            .map(word)
            .concat();
        let padding = vec![0; bytes.len().next_multiple_of(4) - bytes.len()];
        section.extend(block(6, [fixed, bytes.clone(), padding].concat()));
    }
    section
}

/// The largest connection is followed, and the ports' next connection is another one.
#[test]
fn the_connection_with_the_most_data_is_followed() {
    let mut line = fast_retransmit();
    let again = Segment { seq: Seq(77_000), flags: Flags::SYN, ..Segment::default() };
    line.push(200.0, true, Ecn::NotEct, again);
    let data = Segment { seq: Seq(77_001), flags: Flags::ACK, len: 10, ..Segment::default() };
    line.push(201.0, true, Ecn::NotEct, data);
    let capture = line.found();
    assert_eq!(capture.overview.connections, 2);
    assert_eq!(capture.overview.all_bytes, 6 * u64::from(MSS) + 10);
    assert_eq!(capture.forward.counts.payload_bytes, 6 * u64::from(MSS));
}
