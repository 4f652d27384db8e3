//! Reads the files that a scenario names.

use super::recipe;
use airtcp_proto::path::wifi::SnrTrace;
use airtcp_proto::path::{LogStep, RateLog, Trace};
use airtcp_wire::spelling::{did_you_mean, nearest};
use airtcp_wire::{Dur, Rate};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where files are found, and those that have been read.
pub(crate) struct Files<'a> {
    /// The scenario's folder.
    folder: &'a Path,
    texts: &'a mut recipe::Files,
    traces: BTreeMap<PathBuf, Trace>,
}

/// Where a file stops being a bandwidth log. Its content is not quoted, since a scenario may name any file.
#[derive(Debug, thiserror::Error)]
#[error(
    "line {}, column {}: not a bandwidth log, a JSON list of {{\"duration_ms\": …, \"bandwidth_kbps\": …}}",
    .0.line(), .0.column()
)]
struct NotALog(serde_json::Error);

/// One entry of a bandwidth log.
#[derive(Deserialize)]
struct LogEntry {
    duration_ms: f64,
    bandwidth_kbps: f64,
    #[serde(default)]
    latency_ms: Option<f64>,
}

/// How a value names a file.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub path: &'a Path,
    /// Is the value an override? Paths in these are relative to the current directory.
    pub is_override: bool,
}

impl<'a> Files<'a> {
    pub fn new(folder: &'a Path, texts: &'a mut recipe::Files) -> Files<'a> {
        Files { folder, texts, traces: BTreeMap::new() }
    }

    /// # Errors
    /// The file cannot be read, or is no capacity trace. The same holds for the others.
    pub fn trace(&mut self, named: Named<'_>) -> Result<Trace, String> {
        let place = self.place(named);
        if let Some(trace) = self.traces.get(&place) {
            return Ok(trace.clone());
        }
        let trace = Trace::parse(&self.text(named)?).map_err(|wrong| named.is_wrong(&wrong))?;
        self.traces.insert(place, trace.clone());
        Ok(trace)
    }

    pub fn log(&mut self, named: Named<'_>) -> Result<RateLog, String> {
        let text = self.text(named)?;
        let entries: Vec<LogEntry> =
            serde_json::from_str(&text).map_err(|wrong| named.is_wrong(&NotALog(wrong)))?;
        RateLog::new(entries.iter().map(LogEntry::step)).map_err(|wrong| named.is_wrong(&wrong))
    }

    pub fn snr_trace(&mut self, named: Named<'_>) -> Result<SnrTrace, String> {
        SnrTrace::parse(&self.text(named)?).map_err(|wrong| named.is_wrong(&wrong))
    }

    pub fn text(&mut self, named: Named<'_>) -> Result<Arc<str>, String> {
        let place = self.place(named);
        self.texts.read(&place).map_err(|error| named.is_unreadable(&place, &error))
    }

    fn place(&self, named: Named<'_>) -> PathBuf {
        if named.is_override { named.path.to_owned() } else { self.folder.join(named.path) }
    }
}

impl Named<'_> {
    fn is_wrong(self, wrong: &dyn Display) -> String {
        format!("{}: {wrong}", self.path.display())
    }

    fn is_unreadable(self, place: &Path, error: &io::Error) -> String {
        let from = if self.is_override { "the current directory" } else { "the scenario's directory" };
        let relative = if self.path.is_relative() { format!(" (relative to {from})") } else { String::new() };
        let place_shown = format!("`{}`{relative}", place.display());
        match error.kind() {
            io::ErrorKind::NotFound => format!("no such file: {place_shown}{}", instead(place)),
            io::ErrorKind::InvalidData => format!("{place_shown} is not text in UTF-8"),
            _ => format!("cannot read {place_shown}: {error}"),
        }
    }
}

impl LogEntry {
    fn step(&self) -> LogStep {
        let duration = |ms: f64| Dur::from_secs_f64(ms / 1e3);
        LogStep {
            length: duration(self.duration_ms),
            rate: Rate((self.bandwidth_kbps * 1e3 + 0.5) as u64),
            latency: self.latency_ms.map(duration),
        }
    }
}

/// Suggests a file in the same folder with a similar name, if there is one.
fn instead(place: &Path) -> String {
    let folder = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return format!("; directory `{}` does not exist", folder.display());
    };
    let mut names: Vec<_> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let wanted = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let nearest = nearest(&wanted, names.iter().map(String::as_str));
    did_you_mean("; ", nearest.as_deref(), "")
}
