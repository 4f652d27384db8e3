//! Captures are read without complaint by the programs that people open them with. Skipped where those are missing.

use airtcp_proto::middlebox::Direction::{self, Forward, Reverse};
use airtcp_proto::queue::DropCause;
use airtcp_sim::pcap::{Format, Frame, Options, PcapWriter};
use airtcp_wire::{Dur, Ecn, Flags, SackBlocks, Segment, Seq, SynOptions, Time, Timestamps};
use std::path::{Path, PathBuf};
use std::process::Command;

const MSS: u32 = 1448;

fn frame(ms: u64, flow: u32, direction: Direction) -> Frame {
    let now = Time::ZERO + Dur::from_millis(ms) + Dur(123);
    Frame { now, interface: 0, flow, direction, ecn: Ecn::NotEct, dropped: None }
}

/// A segment at stream offsets of both sides; initial sequence numbers are 1000 and 5000 ahead of the wrap.
fn segment(ms: u64, direction: Direction, flags: Flags, seq: u32, ack: u32, len: u32) -> Segment {
    let (ours, theirs) = match direction {
        Forward => (u32::MAX - 999, u32::MAX - 4999),
        Reverse => (u32::MAX - 4999, u32::MAX - 999),
    };
    Segment {
        seq: Seq(ours.wrapping_add(seq)),
        ack: if flags.contains(Flags::ACK) { Seq(theirs.wrapping_add(ack)) } else { Seq(0) },
        flags,
        window: 512,
        len,
        timestamps: Some(Timestamps { value: ms as u32, echo: ms.saturating_sub(10) as u32 }),
        ..Segment::default()
    }
}

/// A handshake, data with one packet lost, SACKed and resent, and both FINs.
fn conversation() -> Vec<(Frame, Segment)> {
    let mut packets = Vec::new();
    let mut at = |ms: u64, direction, flags, seq, ack, len| {
        packets.push((frame(ms, 70_000, direction), segment(ms, direction, flags, seq, ack, len)));
    };
    let data = |n: u32| 1 + n * MSS;
    at(0, Forward, Flags::SYN, 0, 0, 0);
    at(10, Reverse, Flags::SYN | Flags::ACK, 0, 1, 0);
    at(20, Forward, Flags::ACK, 1, 1, 0);
    (0..4).for_each(|n| at(21 + u64::from(n), Forward, Flags::ACK, data(n), 1, MSS));
    at(34, Reverse, Flags::ACK, 1, data(1), 0);
    at(36, Reverse, Flags::ACK, 1, data(1), 0);
    at(50, Forward, Flags::ACK | Flags::PSH, data(1), 1, MSS);
    at(60, Reverse, Flags::ACK, 1, data(4), 0);
    at(70, Forward, Flags::ACK | Flags::FIN, data(4), 1, 0);
    at(80, Reverse, Flags::ACK | Flags::FIN, 1, data(4) + 1, 0);
    at(90, Forward, Flags::ACK, data(4) + 1, 2, 0);
    for (_, segment) in &mut packets[..2] {
        segment.syn = SynOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            ..SynOptions::default()
        };
    }
    packets[4].0.dropped = Some(DropCause::Corruption);
    packets[5].0.ecn = Ecn::Ce;
    let mut sacked = SackBlocks::default();
    sacked.push(packets[5].1.seq, packets[6].1.seq.at(u64::from(MSS)));
    packets[8].1.sack = sacked;
    packets
}

/// Writes the conversation and ten datagrams of 1000 bytes to a file with this name.
fn capture(name: &str, options: Options) -> PathBuf {
    capture_on(&["hop1", "hop2"], name, options)
}

fn capture_on(interfaces: &[&str], name: &str, options: Options) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut pcap = PcapWriter::with_options(Vec::new(), interfaces, options).unwrap();
    for (frame, segment) in conversation() {
        pcap.write_tcp(&frame, &segment).unwrap();
    }
    for n in 0..10 {
        let frame = Frame { interface: interfaces.len() as u32 - 1, ..frame(100 + n, n as u32, Forward) };
        pcap.write_udp(&frame, 1000).unwrap();
    }
    std::fs::write(&path, pcap.finish().unwrap()).unwrap();
    path
}

/// What the program prints, `None` where it is not installed.
fn output(program: &str, arguments: &[&str], file: &Path) -> Option<String> {
    match Command::new(program).args(arguments).arg(file).output() {
        Ok(output) => {
            assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("SKIPPED: {program} is not installed");
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

/// The fields of each packet, as tshark sees them with all checksums checked.
fn tshark(fields: &[&str], file: &Path) -> Option<Vec<Vec<String>>> {
    let mut arguments = vec!["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"];
    arguments.extend(["-o", "udp.check_checksum:TRUE", "-T", "fields"]);
    fields.iter().for_each(|field| arguments.extend(["-e", field]));
    arguments.push("-r");
    let text = output("tshark", &arguments, file)?;
    Some(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

#[test]
fn tshark_finds_all_checksums_good_and_nothing_malformed() {
    for format in [Format::Pcapng, Format::Pcap] {
        let file = capture(&format!("checksums.{format:?}"), Options { format, ..Options::default() });
        let fields = [
            "_ws.malformed",
            "ip.checksum.status",
            "tcp.checksum.status",
            "udp.checksum.status",
            "frame.len",
        ];
        let Some(packets) = tshark(&fields, &file) else { return };
        assert_eq!(packets.len(), 24);
        for packet in &packets[..14] {
            assert_eq!(packet[..4], ["", "1", "1", ""]);
        }
        for packet in &packets[14..] {
            assert_eq!(packet[..], ["", "1", "", "1", "1000"]);
        }
    }
}

#[test]
fn tshark_follows_the_connection() {
    let file = capture("follow.pcapng", Options::default());
    let fields =
        ["tcp.analysis.retransmission", "tcp.len", "tcp.options.sack.count", "ip.dsfield.ecn", "ip.src"];
    let Some(packets) = tshark(&fields, &file) else { return };
    assert_eq!(packets[9], ["1", "1448", "", "0", "10.0.17.113"]);
    assert_eq!(packets[8], ["", "0", "1", "0", "10.1.17.113"]);
    assert_eq!(packets[5][3], "3");
    let retransmissions = packets.iter().filter(|packet| !packet[0].is_empty()).count();
    assert_eq!(retransmissions, 1, "only the packet that was resent");
}

#[test]
fn tshark_sees_instants_interfaces_directions_and_drops() {
    let file = capture("notes.pcapng", Options::default());
    let fields = [
        "frame.time_epoch",
        "frame.interface_name",
        "frame.packet_flags_direction",
        "frame.comment",
        "frame.cap_len",
    ];
    let Some(packets) = tshark(&fields, &file) else { return };
    assert_eq!(packets[0][..4], ["0.000000123", "hop1", "0x00000002", ""]);
    assert_eq!(packets[1][..4], ["0.010000123", "hop1", "0x00000001", ""]);
    assert_eq!(packets[4][3], "dropped: corruption");
    assert_eq!(packets[14][1], "hop2");
}

#[test]
fn a_short_capture_keeps_the_original_length() {
    for format in [Format::Pcapng, Format::Pcap] {
        let file = capture(&format!("short.{format:?}"), Options { format, snaplen: 52 });
        let Some(packets) = tshark(&["frame.cap_len", "frame.len", "_ws.malformed"], &file) else { return };
        assert_eq!(packets[0], ["52", "60", ""]);
        assert_eq!(packets[3], ["52", "1500", ""]);
    }
}

#[test]
fn tcpdump_reads_one_interface_and_several() {
    for interfaces in [&["hop1"][..], &["hop1", "hop2"]] {
        let file = capture_on(interfaces, &format!("{}.pcapng", interfaces.len()), Options::default());
        let Some(text) = output("tcpdump", &["-n", "-r"], &file) else { return };
        assert_eq!(text.lines().count(), 24);
    }
}

#[test]
fn tcptrace_counts_what_was_sent() {
    for format in [Format::Pcap, Format::Pcapng] {
        let file =
            capture_on(&["hop"], &format!("trace.{format:?}"), Options { format, ..Options::default() });
        let Some(text) = output("tcptrace", &["-l", "-n"], &file) else { return };
        assert!(text.contains("1 TCP connection traced"), "{text}");
        let sent = |what: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(what)).expect(what);
            line.split_whitespace().nth(what.split(' ').count()).unwrap().to_owned()
        };
        assert_eq!(sent("actual data bytes:"), (5 * MSS).to_string(), "{text}");
        assert_eq!(sent("unique bytes sent:"), (4 * MSS).to_string());
        assert_eq!(sent("rexmt data pkts:"), "1");
        assert_eq!(sent("sacks sent:"), "0");
    }
}
