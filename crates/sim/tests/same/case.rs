//! One run of the set that `make same` compares, and all that a user can see of it.
//!
//! `make same` also compiles this file against an older engine: it uses little of the library, and nothing of the set.

use airtcp_proto::scheme::Scheme;
use airtcp_sim::pcap::Format;
use airtcp_sim::series::Column;
use airtcp_sim::{Capture, Outcome, RunOptions, Scenario, run};
use airtcp_wire::Dur;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A run of the set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub name: String,
    /// The scenario file's text.
    pub scenario: String,
    pub scheme: String,
    pub seed: u64,
}

/// What a user can see of a run. The number of events is no part of it: how many there are is the engine's business.
#[derive(Serialize)]
pub struct Seen {
    pub record: Value,
    totals: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    series: BTreeMap<&'static str, BTreeMap<&'static str, Column>>,
    /// Length and hash of each link's capture.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    captures: BTreeMap<String, (usize, u64)>,
}

/// A case run twice: nobody watches, and everything is watched.
#[derive(Serialize)]
pub struct Both {
    pub unwatched: Seen,
    pub watched: Seen,
}

impl Case {
    /// # Errors
    /// Scenario or scheme cannot be read, or the run was refused or has panicked.
    pub fn run(&self, folder: &Path) -> Result<Both, String> {
        let (scenario, scheme) = self.read(folder)?;
        let both = || {
            let unwatched = seen(&scenario, &scheme, self.seed, RunOptions::default(), Vec::new())?;
            Ok(Both { unwatched, watched: self.watched(&scenario, &scheme)? })
        };
        catch_unwind(AssertUnwindSafe(both)).unwrap_or_else(|_| Err("panicked".to_owned()))
    }

    /// # Errors
    /// Scenario or scheme cannot be read.
    pub fn read(&self, folder: &Path) -> Result<(Scenario, Scheme), String> {
        let unreadable = |error: &dyn std::fmt::Display| format!("unreadable: {error}");
        let scenario =
            Scenario::load(&self.scenario, &self.name, folder, &[]).map_err(|error| unreadable(&error))?;
        let scheme = Scheme::parse(&self.scheme, &scenario.profile).map_err(|error| unreadable(&error))?;
        Ok((scenario, scheme))
    }

    /// Half of the seeds are sampled at intervals, half at every ACK.
    fn watched(&self, scenario: &Scenario, scheme: &Scheme) -> Result<Seen, String> {
        let interval = if self.seed.is_multiple_of(2) { Dur::from_millis(10) } else { Dur::ZERO };
        let files: Vec<_> =
            scenario.links.iter().map(|link| (link.name.clone(), Captured::default())).collect();
        let capture = |(link, file): &(String, Captured)| Capture {
            link: link.clone(),
            format: Format::Pcapng,
            writer: Box::new(file.clone()),
        };
        let options = RunOptions {
            series: Some(interval),
            packets: true,
            captures: files.iter().map(capture).collect(),
            ..RunOptions::default()
        };
        seen(scenario, scheme, self.seed, options, files)
    }
}

fn seen(
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    options: RunOptions<'_>,
    captures: Vec<(String, Captured)>,
) -> Result<Seen, String> {
    let Outcome { record, series, packets, turns } =
        run(scenario, scheme, seed, options).map_err(|error| format!("refused: {error}"))?;
    let totals = record.totals().into_iter().map(|(name, total)| (name.to_owned(), format!("{total:?}")));
    let mut value = serde_json::to_value(&record).map_err(|error| error.to_string())?;
    value.as_object_mut().and_then(|record| record.remove("events"));
    let mut tables = Vec::new();
    if let Some(series) = series {
        tables.push(("flows", series.flows.into_columns()));
        tables.push(("queues", series.queues.into_columns()));
        tables.push(("events", series.events.into_columns()));
        tables.push(("deliveries", series.deliveries.into_columns()));
        tables.push(("rtts", series.rtts.into_columns()));
    }
    tables.extend(packets.map(|packets| ("packets", packets.into_columns())));
    tables.extend(turns.filter(|turns| !turns.link.is_empty()).map(|turns| ("turns", turns.into_columns())));
    Ok(Seen {
        record: value,
        totals: totals.collect(),
        series: tables.into_iter().map(|(name, columns)| (name, columns.into_iter().collect())).collect(),
        captures: captures.into_iter().map(|(link, file)| (link, file.fingerprint())).collect(),
    })
}

/// A file in memory that outlives the run.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    fn fingerprint(&self) -> (usize, u64) {
        let bytes = self.0.lock().expect("the run is over");
        let mut hash = Hash::default();
        hash.add(&bytes);
        (bytes.len(), hash.0)
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("one run").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// FNV-1a, which is the same everywhere.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A number that differs where what is seen does.
pub fn fingerprint(seen: &Seen) -> u64 {
    let mut hash = Hash::default();
    serde_json::to_writer(&mut hash, seen).expect("plain data");
    hash.0
}
