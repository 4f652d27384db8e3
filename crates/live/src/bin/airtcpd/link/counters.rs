//! What the emulator counted, for people and for programs.

use super::Options;
use airtcp_live::emulate::{Counts, DepartureRecord, Emulator, Observer, Timekeeping};
use anyhow::Context;
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// Of a whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Counters {
    ways: [Way; 2],
    /// How often the emulator could not run for more than 1 ms.
    absences: u64,
    longest_absence_s: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Way {
    name: &'static str,
    #[serde(flatten)]
    counts: Counts,
    departures: DepartureRecord,
}

impl Counters {
    /// `names` are those of the ways out of port 0 and out of port 1 of a path between two ports.
    pub fn new<O: Observer>(
        names: [&'static str; 2],
        emulator: &Emulator<O>,
        kept: &Timekeeping,
    ) -> Counters {
        let way = |port: usize| Way {
            name: names[port],
            counts: emulator.counts()[port],
            departures: kept.departures(1 - port),
        };
        Counters {
            ways: [way(0), way(1)],
            absences: kept.absences,
            longest_absence_s: kept.longest_absence.as_secs_f64(),
        }
    }

    /// To stderr or as JSON to a file, as the options have it.
    pub fn tell(&self, options: &Options) -> anyhow::Result<()> {
        match &options.json {
            Some(path) => self.write(path).with_context(|| path.display().to_string()),
            None if options.quiet => Ok(()),
            None => {
                eprint!("{self}");
                Ok(())
            }
        }
    }

    fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        if path == Path::new("-") {
            print!("{text}");
            return Ok(());
        }
        Ok(std::fs::write(path, text)?)
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for way in &self.ways {
            write!(f, "airtcpd: {}: {}", way.name, way)?;
        }
        if self.absences > 0 {
            let ms = self.longest_absence_s * 1e3;
            writeln!(
                f,
                "airtcpd: the emulator was kept from running {} times, up to {ms:.1} ms",
                self.absences
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { entered_packets, entered_bytes, delivered_packets, .. } = self.counts;
        let kilobytes = entered_bytes as f64 / 1e3;
        write!(f, "{entered_packets} packets ({kilobytes:.1} kB) entered, {delivered_packets} came out")?;
        let lost = [
            ("queue full", self.counts.lost_overflow),
            ("queue management", self.counts.lost_aqm),
            ("corrupted", self.counts.lost_corruption),
            ("outage", self.counts.lost_outage),
            ("too much on the path", self.counts.refused_memory),
            ("not taken by the device", self.departures.unsent_packets),
        ];
        let lost: Vec<String> = lost
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(cause, count)| format!("{count} {cause}"))
            .collect();
        if !lost.is_empty() {
            write!(f, "; lost: {}", lost.join(", "))?;
        }
        if self.counts.marked_packets > 0 {
            write!(f, "; {} marked", self.counts.marked_packets)?;
        }
        let late = &self.departures.lateness;
        if late.late_departures > 0 {
            let (share, median, max) = (late.late_share() * 100.0, late.p50_us / 1e3, late.max_us / 1e3);
            write!(f, "; {share:.2} % late (median {median:.3} ms after their time, at most {max:.1} ms)")?;
        }
        writeln!(f)
    }
}
