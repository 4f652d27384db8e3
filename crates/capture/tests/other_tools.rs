//! The same captures as tcptrace and tshark see them. Skipped where those are not installed.

use crate::common::{path, simulate};
use airtcp_sim::pcap::Format;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// A transfer of Reno with one packet in a hundred lost.
fn capture(name: &str) -> (PathBuf, airtcp_capture::Capture) {
    let run = simulate(&path(10, |side| side.loss.packet = 0.01.into()), "reno", Format::Pcap);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, &run.at_sender).unwrap();
    (file, run.sender())
}

#[test]
fn tcptrace_counts_the_same() {
    let (file, capture) = capture("tcptrace.pcap");
    let Some(text) = output("tcptrace", &["-l", "-r", "-n"], &file) else { return };
    let value = |what: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(what)).expect(what);
        line.split_whitespace().nth(what.split(' ').count()).unwrap().parse::<f64>().unwrap()
    };
    let counts = &capture.forward.counts;
    assert_eq!(value("actual data pkts:"), counts.data_packets as f64);
    assert_eq!(value("actual data bytes:"), counts.payload_bytes as f64);
    assert_eq!(value("rexmt data pkts:"), counts.retransmissions as f64);
    assert_eq!(value("mss requested:"), f64::from(capture.mss.unwrap()));
    // tcptrace prints tenths of milliseconds. Its mean takes in what waited behind holes, where ours has SACK: within 10 %.
    let trips: Vec<f64> = capture.forward.round_trips.iter().map(|trip| trip.1.as_secs_f64() * 1e3).collect();
    let least = trips.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((value("RTT min:") - least).abs() < 1.3, "{} and {least}", value("RTT min:"));
    let mean = trips.iter().sum::<f64>() / trips.len() as f64;
    assert!((value("RTT avg:") / mean - 1.0).abs() < 0.1, "{} and {mean}", value("RTT avg:"));
}

#[test]
fn tshark_finds_the_same_retransmissions() {
    let (file, capture) = capture("tshark.pcap");
    let filter = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission";
    let Some(text) = output("tshark", &["-Y", filter, "-T", "fields", "-e", "frame.number", "-r"], &file)
    else {
        return;
    };
    let found = capture.forward.counts.retransmissions as usize;
    // Wireshark calls some out-of-order.
    assert!(text.lines().count().abs_diff(found) <= found / 20 + 1, "{} and {found}", text.lines().count());
    let Some(trips) = output(
        "tshark",
        &[
            "-Y",
            "tcp.srcport == 9 && tcp.analysis.ack_rtt",
            "-T",
            "fields",
            "-e",
            "tcp.analysis.ack_rtt",
            "-r",
        ],
        &file,
    ) else {
        return;
    };
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let theirs = median(trips.lines().filter_map(|line| line.parse().ok()).collect());
    let ours = median(capture.forward.round_trips.iter().map(|trip| trip.1.as_secs_f64()).collect());
    assert!((theirs / ours - 1.0).abs() < 0.05, "{theirs} and {ours}");
}
