//! Captures through a run: what is written is what crossed the link's near node.

use crate::common::{MBIT, Shared, link, ms, one_link, scheme};
use airtcp_sim::pcap::Format;
use airtcp_sim::scenario::model::{Datagrams, Flow, Traffic};
use airtcp_sim::{Capture, RunError, RunOptions, run};
use airtcp_wire::{Bytes, Rate};
use std::io::{self, Write};

/// A disk that is full.
struct Full;

impl Write for Full {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn capture(link: &str, writer: impl Write + Send + 'static) -> Capture {
    Capture { link: link.to_owned(), format: Format::Pcap, writer: Box::new(writer) }
}

/// The packets of a pcap file: length, and whether it goes forward by its addresses.
fn packets(file: &[u8]) -> Vec<(u32, bool)> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let mut packets = Vec::new();
    let mut at = 24;
    while at < file.len() {
        packets.push((word(at + 12), file[at + 16 + 13] == 0));
        at += 16 + word(at + 8) as usize;
    }
    packets
}

#[test]
fn a_capture_holds_what_enters_the_link_and_what_comes_back_from_it() {
    let links = vec![link("a", 10 * MBIT, ms(10), 20), link("b", 5 * MBIT, ms(10), 20)];
    let mut scenario = airtcp_sim::Scenario::over(links, ms(3_000));
    let udp = Traffic::Udp(Datagrams { rate: Rate(MBIT), packet: Bytes(500) });
    scenario.flows.push(Flow { traffic: udp, ..Flow::unlimited("datagrams", 0, 0) });
    let files = [Shared::default(), Shared::default()];
    let captures =
        ["a", "b"].into_iter().zip(&files).map(|(name, file)| capture(name, file.clone())).collect();
    let options = RunOptions { captures, ..RunOptions::default() };
    let record = run(&scenario, &scheme("reno"), 1, options).unwrap().record;
    for (index, file) in files.iter().enumerate() {
        let packets = packets(&file.0.lock().unwrap());
        let forward = packets.iter().filter(|(_, forward)| *forward).count() as u64;
        assert_eq!(forward, record.links[2 * index].packets_arrived);
        let back = packets.len() as u64 - forward;
        let sent = record.links[2 * index + 1].packets_sent;
        // Those that are still on their way back have not been seen.
        assert!(back <= sent && back + 20 > sent, "{back} of {sent}");
        let datagrams = packets.iter().filter(|(len, _)| *len == 500).count() as u64;
        assert_eq!(datagrams, if index == 0 { record.flows[1].data_packets_sent } else { 0 });
    }
}

#[test]
fn a_link_that_is_not_there_and_a_full_disk_are_errors() {
    let mut scenario = one_link(MBIT, ms(10), 20, 1);
    scenario.links[0].name = "radio".to_owned();
    let go = |capture| {
        let options = RunOptions { captures: vec![capture], ..RunOptions::default() };
        run(&scenario, &scheme("reno"), 1, options).map(drop)
    };
    assert!(matches!(go(capture("radoi", Full)), Err(RunError::UnknownLink { .. })));
    assert!(matches!(go(capture("radio", Full)), Err(RunError::Capture(_))));
    assert!(go(capture("radio", io::sink())).is_ok());
}
