//! Packets are read through whatever they are wrapped in, and what cannot be read is named.

use crate::common::records::{Record, pcap};
use crate::common::timeline::{fast_retransmit, read_bytes, read_file};
use crate::common::wrap::{Kind, WRAPS, Wrap};
use airtcp_capture::{Capture, CaptureError};
use proptest::prelude::*;
use std::process::Command;

/// The timeline of one lost packet, each packet within `wraps`, innermost first, as a capture on Ethernet or raw IP.
fn wrapped(wraps: &[Wrap]) -> Vec<u8> {
    let is_frame = wraps.last().is_some_and(|wrap| wrap.outside == Kind::Ethernet);
    behind(if is_frame { 1 } else { 101 }, |packet| {
        wraps.iter().fold(packet.to_vec(), |content, wrap| wrap.around(&content))
    })
}

/// The same behind any header, cut behind the headers.
fn behind(link_type: u32, header: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let line = fast_retransmit();
    let records: Vec<Record> = line
        .packets
        .iter()
        .map(|(ns, packet)| {
            let whole = header(packet);
            let kept = whole.len() - packet.len() + packet.len().min(72);
            let data = whole[..kept].to_vec();
            Record { ns: *ns, interface: 0, data, original_len: whole.len() as u32 }
        })
        .collect();
    pcap(link_type, &records)
}

fn assert_same(capture: &Capture, what: &str) {
    let plain = fast_retransmit().found();
    assert_eq!(capture.overview.survey.skipped, 0, "{what}");
    assert_eq!(capture.forward.fates, plain.forward.fates, "{what}");
    assert_eq!(capture.forward.round_trips, plain.forward.round_trips, "{what}");
    assert_eq!(capture.forward.counts, plain.forward.counts, "{what}");
}

/// A wrapping of IP packets, with Ethernet around it where it needs that.
fn whole(wrap: Wrap) -> Vec<Wrap> {
    let framed = (wrap.inside == Kind::Ethernet).then_some(WRAPS[0]);
    framed.into_iter().chain([wrap]).collect()
}

#[test]
fn every_wrapping_tells_the_same() {
    for wrap in WRAPS {
        let file = wrapped(&whole(wrap));
        let capture = read_bytes(&file).unwrap_or_else(|error| panic!("{}: {error}", wrap.name));
        assert_same(&capture, wrap.name);
    }
}

/// What is written here is what the specifications say, as another tool understands them.
#[test]
fn tshark_finds_the_same_packets() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrappings.pcap");
    let records: Vec<Record> = WRAPS
        .iter()
        .map(|wrap| {
            let (_, packet) = &fast_retransmit().packets[5];
            let wraps = whole(*wrap);
            let inner = wraps.iter().fold(packet.clone(), |content, wrap| wrap.around(&content));
            let data = if wrap.outside == Kind::Ip { WRAPS[0].around(&inner) } else { inner };
            // An outer IPv6 packet needs its EtherType.
            let is_v6 = wrap.outside == Kind::Ip && data[14] >> 4 == 6;
            let data = if is_v6 { [&data[..12], &[0x86, 0xdd], &data[14..]].concat() } else { data };
            Record { ns: 0, interface: 0, original_len: data.len() as u32, data }
        })
        .collect();
    std::fs::write(&path, pcap(1, &records)).unwrap();
    let arguments = ["-Y", "tcp.dstport == 80", "-T", "fields", "-e", "frame.number", "-r"];
    let output = match Command::new("tshark").args(arguments).arg(&path).output() {
        Ok(output) => String::from_utf8(output.stdout).unwrap(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("SKIPPED: tshark is not installed");
            return;
        }
        Err(error) => panic!("tshark: {error}"),
    };
    let found: Vec<usize> = output.lines().map(|line| line.parse::<usize>().unwrap() - 1).collect();
    // That a pseudowire has a control word is agreed on elsewhere; tshark guesses that it has none.
    for (place, wrap) in WRAPS.iter().enumerate().filter(|(_, wrap)| wrap.name != "pseudowire") {
        assert!(found.contains(&place), "{} is not what tshark reads", wrap.name);
    }
}

/// Linux writes a capture on all interfaces with headers of its own; others have theirs.
#[test]
fn every_link_layer_is_read() {
    let with = |header: &[u8]| {
        let header = header.to_vec();
        move |packet: &[u8]| [&header[..], packet].concat()
    };
    let cooked2 = [&[8, 0, 0, 0, 0, 0, 0, 3, 0, 1][..], &[0; 10]].concat();
    let ppp_cooked = [&[0, 0, 2, 0][..], &[0; 10], &[8, 0]].concat();
    let llc = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let data_frame = [&[8, 2][..], &[0; 22], &llc].concat();
    let qos_frame = [&[0x88, 1][..], &[0; 24], &llc].concat();
    let links: [(u32, Vec<u8>); 14] = [
        (276, cooked2),
        (113, ppp_cooked),
        (9, vec![0xff, 3, 0, 0x21]),
        (9, vec![0x21]),
        (50, vec![0xff, 3, 0, 0x21]),
        (51, vec![0x11, 0, 0, 1, 0, 9, 0, 0x21]),
        (104, vec![0xf, 0, 8, 0]),
        (100, llc.to_vec()),
        (204, vec![1, 0xff, 3, 0, 0x21]),
        (219, vec![0, 1, 1, 64]),
        (105, data_frame.clone()),
        (105, qos_frame.clone()),
        // Radiotap with a timestamp, flags and a rate of 54 Mbit/s.
        (127, [&[0, 0, 18, 0, 7, 0, 0, 0][..], &[0; 9], &[108], &qos_frame].concat()),
        (192, [&[0, 0, 8, 0, 105, 0, 0, 0][..], &data_frame].concat()),
    ];
    for (link_type, header) in links {
        let file = behind(link_type, with(&header));
        let capture = read_bytes(&file).unwrap_or_else(|error| panic!("{link_type}: {error}"));
        assert_same(&capture, &link_type.to_string());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Wrappings within wrappings, up to the limit on headers.
    #[test]
    fn nested_wrappings_tell_the_same(picks in prop::collection::vec(0..WRAPS.len(), 1..7)) {
        let mut wraps = Vec::new();
        let mut kind = Kind::Ip;
        for pick in picks {
            let wrap = WRAPS[pick];
            if kind == Kind::Ip && wrap.inside == Kind::Ethernet {
                wraps.push(WRAPS[0]);
                kind = Kind::Ethernet;
            }
            // An Ethernet frame within an IP tunnel for IP has no place.
            if kind == wrap.inside {
                wraps.push(wrap);
                kind = wrap.outside;
            }
        }
        // Headers of the innermost packet must be among the bytes that a reader keeps; the deepest IPv6 is not behind
        // Ethernet's type for IPv4.
        let file = wrapped(&wraps);
        match read_bytes(&file) {
            Ok(capture) => assert_same(&capture, &format!("{wraps:?}")),
            Err(error) => prop_assert!(wraps.len() > 4, "{wraps:?}: {error}"),
        }
    }

    /// No bytes behind any header make the walk panic or go on for ever.
    #[test]
    fn damaged_wrappings(
        which in 0..WRAPS.len(),
        changes in prop::collection::vec((0usize..120, any::<u8>()), 1..12),
        cut in 0usize..160,
    ) {
        let file = behind(if WRAPS[which].outside == Kind::Ethernet { 1 } else { 101 }, |packet| {
            let mut frame = whole(WRAPS[which]).iter().fold(packet.to_vec(), |content, wrap| wrap.around(&content));
            for &(place, byte) in &changes {
                let place = place % frame.len();
                frame[place] = byte;
            }
            frame.truncate(frame.len().min(packet.len().max(cut)));
            [frame, vec![0; packet.len()]].concat()
        });
        let _result = read_bytes(&file);
    }

    #[test]
    fn arbitrary_frames(link_type in 0u32..300, data in prop::collection::vec(any::<u8>(), 0..300)) {
        let record = Record { ns: 0, interface: 0, original_len: data.len() as u32, data };
        let _result = read_bytes(&pcap(link_type, std::slice::from_ref(&record)));
    }
}

fn error_of(link_type: u32, frames: &[&[u8]]) -> CaptureError {
    let record =
        |data: &&[u8]| Record { ns: 0, interface: 0, data: data.to_vec(), original_len: data.len() as u32 };
    let file = pcap(link_type, &frames.iter().map(record).collect::<Vec<_>>());
    read_bytes(&file).unwrap_err()
}

#[test]
fn what_cannot_be_read_is_named() {
    let esp = [&[0x45, 0, 0, 60, 0, 0, 0, 0, 64, 50][..], &[0; 50]].concat();
    let arp = [&[2; 12][..], &[8, 6], &[0; 28]].concat();
    let framed = WRAPS[0].around(&esp);
    let error = error_of(1, &[&framed, &framed, &arp]).to_string();
    assert_eq!(error, "none of its 3 packets is TCP; 2 ESP, which is encrypted, 1 ARP");
    let error = error_of(147, &[&[0; 80]]).to_string();
    assert_eq!(
        error,
        "none of its 1 packets is TCP (packet 1: link type 147 (a private link type) is not supported)"
    );
    let unknown = [&[2; 12][..], &[0x12, 0x34], &[0; 60]].concat();
    assert!(error_of(1, &[&unknown]).to_string().contains("EtherType 0x1234"));
}

/// Two of three encrypted data frames to one station are retries; a beacon and a frame to a group are none.
#[test]
fn encrypted_frames_still_tell_of_the_link_s_own_retransmissions() {
    let frame = |control: u8, flags: u8, to: u8| {
        let radiotap = [0, 0, 10, 0, 6, 0, 0, 0, 0, 108];
        [&radiotap[..], &[control, flags, 0, 0, to], &[0; 60]].concat()
    };
    let (first, again) = (frame(8, 0x41, 2), frame(8, 0x49, 2));
    let (beacon, group) = (frame(0x80, 0, 0xff), frame(8, 0x42, 0xff));
    let error = error_of(127, &[&first, &again, &again, &beacon, &group]).to_string();
    let told = "66.7 % of 3 802.11 data frames were sent again by the link itself; \
                the median rate in the air was 54 Mbit/s";
    assert!(error.contains("4 encrypted 802.11 data, 1 802.11 management"), "{error}");
    assert!(error.contains(told), "{error}");
}

/// Frames that are cut short are not damaged, and the cure is named.
#[test]
fn a_short_snapshot_is_named() {
    let record = Record { ns: 0, interface: 0, data: vec![2; 12], original_len: 1514 };
    let error = read_bytes(&pcap(1, std::slice::from_ref(&record))).unwrap_err().to_string();
    assert!(
        error.contains("packet 1: cut short before its TCP header: capture 128 bytes or more"),
        "{error}"
    );
}

#[test]
fn the_connection_names_its_wrappings() {
    let gtp = WRAPS.iter().find(|wrap| wrap.name == "GTP-U").unwrap();
    let vlan = WRAPS.iter().find(|wrap| wrap.name == "VLAN").unwrap();
    let capture = read_file(&wrapped(&[*gtp, *vlan]));
    assert_eq!(capture.through.names(), ["VLAN", "GTP-U"]);
}
