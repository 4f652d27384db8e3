//! Scenarios in a line or two.

use airtcp_proto::scheme::Scheme;
use airtcp_sim::record::FlowRecord;
use airtcp_sim::scenario::model::{Flow, Link, Side};
use airtcp_sim::{RunOptions, RunRecord, Scenario, run};
use airtcp_wire::{Dur, Rate};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

pub const MBIT: u64 = 1_000_000;

pub fn ms(millis: u64) -> Dur {
    Dur::from_millis(millis)
}

/// A link with this rate, half this round-trip time each way, and this many packets of room.
pub fn link(name: &str, rate_bps: u64, rtt: Dur, queue_packets: u32) -> Link {
    Link::symmetric(name, Side::plain(Rate(rate_bps), rtt / 2, queue_packets))
}

/// One unlimited flow over one link.
pub fn one_link(rate_bps: u64, rtt: Dur, queue_packets: u32, seconds: u64) -> Scenario {
    Scenario::over(vec![link("link", rate_bps, rtt, queue_packets)], Dur::from_secs(seconds))
}

pub fn scheme(text: &str) -> Scheme {
    Scheme::parse(text, "linux").unwrap()
}

pub fn go(scenario: &Scenario, text: &str, seed: u64) -> RunRecord {
    run(scenario, &scheme(text), seed, RunOptions::default()).unwrap().record
}

pub fn unlimited(name: &str, enter: usize, leave: usize) -> Flow {
    Flow::unlimited(name, enter, leave)
}

/// Every data packet that was sent has arrived, was lost for a known cause, or is still under way.
pub fn assert_conserved(flow: &FlowRecord) {
    let lost = flow.losses_congestion + flow.losses_corruption + flow.losses_outage;
    assert_eq!(
        flow.data_packets_sent,
        flow.data_packets_delivered + lost + flow.data_packets_under_way,
        "{flow:#?}"
    );
}

/// A file in memory that outlives the run.
#[derive(Clone, Default)]
pub struct Shared(pub Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
