//! Simulated paths, and captures of them in memory.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod records;
pub mod timeline;
pub mod wrap;

use airtcp_capture::read;
use airtcp_proto::scheme::Scheme;
use airtcp_sim::pcap::Format;
use airtcp_sim::record::FlowRecord;
use airtcp_sim::scenario::model::{Link, Side};
use airtcp_sim::{Capture, RunOptions, Scenario, run};
use airtcp_wire::{Dur, Rate};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

pub const RADIO: &str = "radio";
/// Behind the radio link: its near node is where the receiver is.
pub const LAST: &str = "last";
pub const RATE: Rate = Rate(10_000_000);
pub const ONE_WAY: Dur = Dur::from_millis(25);

/// A file in memory that outlives the run.
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A radio link of 10 Mbit/s and 50 ms there and back, whose way there `change` changes.
pub fn path(seconds: u64, change: impl FnOnce(&mut Side)) -> Scenario {
    let mut radio = Link::symmetric(RADIO, Side::plain(RATE, ONE_WAY, 60));
    change(&mut radio.forward);
    let last = Link::symmetric(LAST, Side::plain(Rate(10_000_000_000), Dur::ZERO, 10_000));
    Scenario::over(vec![radio, last], Dur::from_secs(seconds))
}

/// What the simulator knows, and the captures at the sender and at the receiver.
pub struct Run {
    pub truth: FlowRecord,
    pub at_sender: Vec<u8>,
    pub at_receiver: Vec<u8>,
}

pub fn simulate(scenario: &Scenario, scheme: &str, format: Format) -> Run {
    let files = [Shared::default(), Shared::default()];
    let capture = |(link, file): (&str, &Shared)| Capture {
        link: link.to_owned(),
        format,
        writer: Box::new(file.clone()),
    };
    let captures = [RADIO, LAST].into_iter().zip(&files).map(capture).collect();
    let options = RunOptions { captures, ..RunOptions::default() };
    let scheme = Scheme::parse(scheme, "linux").unwrap();
    let mut record = run(scenario, &scheme, 1, options).unwrap().record;
    let [at_sender, at_receiver] = files.map(|file| std::mem::take(&mut *file.0.lock().unwrap()));
    Run { truth: *record.flows.remove(0), at_sender, at_receiver }
}

impl Run {
    pub fn lost(&self) -> u64 {
        self.truth.losses_corruption + self.truth.losses_congestion + self.truth.losses_outage
    }

    pub fn sender(&self) -> airtcp_capture::Capture {
        read(|| Ok(&self.at_sender[..])).unwrap()
    }

    pub fn receiver(&self) -> airtcp_capture::Capture {
        read(|| Ok(&self.at_receiver[..])).unwrap()
    }
}
