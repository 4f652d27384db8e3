//! How punctual the driver is.

use airtcp_sim::histogram::Histogram;
use airtcp_wire::Dur;
use serde::Serialize;

/// A packet that leaves more than this after its time counts as late. The emulator promises to keep this at the
/// median.
pub const LATE: Dur = Dur::from_micros(200);

/// How long after their time packets left by one port.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    histogram: Histogram,
    late: u64,
}

/// [`Lateness`] in numbers.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct LatenessRecord {
    pub departures: u64,
    /// Departures more than [`LATE`] after their time.
    pub late_departures: u64,
    pub mean_us: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
}

impl Lateness {
    pub(super) fn add(&mut self, late_by: Dur) {
        self.histogram.add(late_by);
        self.late += u64::from(late_by > LATE);
    }

    /// Departures more than [`LATE`] after their time.
    pub fn late(&self) -> u64 {
        self.late
    }

    pub fn record(&self) -> LatenessRecord {
        let micros = |dur: Option<Dur>| dur.map_or(0.0, |dur| dur.as_secs_f64() * 1e6);
        LatenessRecord {
            departures: self.histogram.samples(),
            late_departures: self.late,
            mean_us: micros(self.histogram.mean()),
            p50_us: micros(self.histogram.quantile(0.5)),
            p99_us: micros(self.histogram.quantile(0.99)),
            max_us: micros(self.histogram.quantile(1.0)),
        }
    }
}

impl LatenessRecord {
    /// Share of the departures that were late.
    pub fn late_share(&self) -> f64 {
        self.late_departures as f64 / self.departures.max(1) as f64
    }
}
