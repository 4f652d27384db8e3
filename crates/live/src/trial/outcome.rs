//! A run's results as JSON.

use super::forms::{Form, Host};
use super::measure::Measured;
use crate::emulate::Timekeeping;
use airtcp_kernel::cc::Counters;
use airtcp_sim::record::RunRecord;
use airtcp_sim::series::{Columns, Series};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

#[derive(Serialize)]
pub struct Outcome {
    pub record: RunRecord,
    pub series: Option<SeriesTables>,
    pub host: HostReport,
}

#[derive(Serialize)]
pub struct SeriesTables {
    flows: Table,
    queues: Table,
    events: Table,
    deliveries: Table,
    rtts: Table,
}

/// Columns by their names.
struct Table(Columns);

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, column)| (name, column)))
    }
}

impl From<Series> for SeriesTables {
    fn from(series: Series) -> SeriesTables {
        SeriesTables {
            flows: Table(series.flows.into_columns()),
            queues: Table(series.queues.into_columns()),
            events: Table(series.events.into_columns()),
            deliveries: Table(series.deliveries.into_columns()),
            rtts: Table(series.rtts.into_columns()),
        }
    }
}

/// Where the run was, and how well it went there.
#[derive(Serialize)]
pub struct HostReport {
    kernel: String,
    /// The kernel's name of the compared scheme's congestion control.
    congestion_control: String,
    lateness: Lateness,
    /// Packets that this machine and not the path lost since the warm-up.
    lost_by_machine: u64,
    /// Counters of the compared scheme's controller, if it was loaded for the run.
    controller: Option<Counters>,
    sysctls: BTreeMap<String, String>,
    notes: Vec<String>,
}

/// How well the emulator kept time since the warm-up, over all its devices.
#[derive(Serialize)]
struct Lateness {
    departures: u64,
    /// Departures later than the emulator promises at the median.
    late: u64,
    mean_us: f64,
    max_us: f64,
    /// How often the emulator could not run for a millisecond.
    absences: u64,
    longest_absence_us: f64,
}

impl Lateness {
    fn of(kept: &Timekeeping) -> Lateness {
        let ports: Vec<_> = (0..kept.lateness.len()).map(|port| kept.departures(port)).collect();
        let departures: u64 = ports.iter().map(|port| port.lateness.departures).sum();
        let total_us = ports.iter().map(|port| port.lateness.mean_us * port.lateness.departures as f64);
        Lateness {
            departures,
            late: ports.iter().map(|port| port.lateness.late_departures).sum(),
            mean_us: total_us.sum::<f64>() / departures.max(1) as f64,
            max_us: ports.iter().map(|port| port.lateness.max_us).fold(0.0, f64::max),
            absences: kept.absences,
            longest_absence_us: kept.longest_absence.as_secs_f64() * 1e6,
        }
    }
}

impl Outcome {
    pub fn new(
        record: RunRecord,
        measured: Measured,
        host: &Host,
        form: &Form,
        controller: Option<Counters>,
        notes: Vec<String>,
    ) -> Outcome {
        Outcome {
            record,
            host: HostReport {
                kernel: host.kernel.clone(),
                congestion_control: form.congestion_control.name.clone(),
                lateness: Lateness::of(&measured.timekeeping),
                lost_by_machine: measured.lost_by_machine,
                controller,
                sysctls: form.settings.sysctls.clone(),
                notes,
            },
            series: measured.series.map(SeriesTables::from),
        }
    }
}
