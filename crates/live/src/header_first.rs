//! Header-first dropping at a router, as a daemon: the program stays on the interface for as long as the daemon lives.

use crate::daemon::{self, Metrics, Service, Stop, counters};
use airtcp_kernel::header_first::{Attached, Fifo, Meter, Parameters, attach};
use caps::Capability;
use serde_json::{Map, Value};
use std::io;
use std::sync::{Arc, OnceLock};

/// The daemons' name.
pub const NAME: &str = "header-first";

pub struct HeaderFirst {
    /// Packets leave the router by this.
    pub interface: String,
    pub parameters: Parameters,
    pub counters: Arc<Counted>,
}

counters! {
    pub enum Counter of "header_first" {
        HeadersPassed: Counter = "header_packets_total", "header packets that entered the queue";
        HeadersDropped: Counter = "dropped_header_packets_total", "header packets dropped because --max-headers of them waited";
        HeadersOverflow: Counter = "overflow_header_packets_total", "header packets dropped because the queue had no room";
        DataPassed: Counter = "data_packets_total", "other packets that entered the queue";
        DataOverflow: Counter = "overflow_data_packets_total",
            "other packets dropped because the queue had no room: with a low enough --max-headers, none of circuits";
    }
}

/// What the program in the kernel has counted, read whenever somebody asks.
#[derive(Default)]
pub struct Counted {
    meter: OnceLock<Meter>,
    counters: daemon::Counters<Counter>,
}

impl Counted {
    fn read(&self) -> &daemon::Counters<Counter> {
        if let Some(totals) = self.meter.get().and_then(|meter| meter.totals().ok()) {
            let values = [
                (Counter::HeadersPassed, totals.headers_passed),
                (Counter::HeadersDropped, totals.headers_dropped),
                (Counter::HeadersOverflow, totals.headers_overflow),
                (Counter::DataPassed, totals.data_passed),
                (Counter::DataOverflow, totals.data_overflow),
            ];
            values.into_iter().for_each(|(counter, value)| self.counters.set(counter, value));
        }
        &self.counters
    }
}

impl Metrics for Counted {
    fn values(&self) -> Map<String, Value> {
        self.read().values()
    }

    fn exposition(&self) -> String {
        self.read().exposition()
    }
}

impl Service for HeaderFirst {
    const NAME: &'static str = NAME;
    type Doors = Meter;
    type Rules = Attached;

    fn set_up(&self) -> anyhow::Result<(Meter, Attached)> {
        let (attached, meter, Fifo { kind, limit_packets, limit_bytes }) =
            attach(&self.interface, self.parameters)?;
        let limit = if limit_bytes == u64::MAX {
            format!("{limit_packets} packets")
        } else {
            format!("{limit_bytes} bytes")
        };
        tracing::info!("in front of the {kind} of {}, which holds {limit}", self.interface);
        Ok((meter, attached))
    }

    fn rights(&self) -> io::Result<Vec<Capability>> {
        Ok(vec![])
    }

    fn metrics(&self) -> Arc<dyn Metrics> {
        Arc::clone(&self.counters) as Arc<dyn Metrics>
    }

    /// The kernel does the work.
    fn serve(&self, meter: Meter, mut stop: Stop) -> io::Result<()> {
        let _ = self.counters.meter.set(meter);
        stop.wait()
    }
}
