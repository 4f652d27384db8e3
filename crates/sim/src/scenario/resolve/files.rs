//! Reads the files that a scenario names.

use super::check::Check;
use crate::scenario::recipe;
use airtcp_proto::path::{LogStep, RateLog, Trace};
use airtcp_wire::spelling::{did_you_mean, nearest};
use airtcp_wire::{Dur, Rate};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds, reads and parses files.
pub(crate) struct Files<'a> {
    /// The scenario's folder. Paths in overrides are relative to the current directory.
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

impl<'a> Files<'a> {
    pub fn new(folder: &'a Path, texts: &'a mut recipe::Files) -> Files<'a> {
        Files { folder, texts, traces: BTreeMap::new() }
    }

    pub fn trace(&mut self, check: &mut Check<'_>, path: &Path) -> Option<Trace> {
        let place = self.locate(check, path);
        if let Some(trace) = self.traces.get(&place) {
            return Some(trace.clone());
        }
        let text = self.read(check, path, &place)?;
        let trace = parse(check, path, text, |text| Trace::parse(text))?;
        self.traces.insert(place, trace.clone());
        Some(trace)
    }

    pub fn log(&mut self, check: &mut Check<'_>, path: &Path) -> Option<RateLog> {
        let text = self.text(check, path)?;
        let entries: Vec<LogEntry> =
            parse(check, path, text, |text| serde_json::from_str(text).map_err(NotALog))?;
        parse(check, path, entries, |entries| RateLog::new(entries.iter().map(LogEntry::step)))
    }

    pub fn text(&mut self, check: &mut Check<'_>, path: &Path) -> Option<Arc<str>> {
        self.read(check, path, &self.locate(check, path))
    }

    fn locate(&self, check: &Check<'_>, path: &Path) -> PathBuf {
        if check.is_override() { path.to_owned() } else { self.folder.join(path) }
    }

    fn read(&mut self, check: &mut Check<'_>, path: &Path, place: &Path) -> Option<Arc<str>> {
        self.texts.read(place).map_err(|error| refuse(check, path, place, &error)).ok()
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

fn parse<In, Out, Wrong: Display>(
    check: &mut Check<'_>,
    path: &Path,
    input: In,
    parse: impl FnOnce(&In) -> Result<Out, Wrong>,
) -> Option<Out> {
    parse(&input).map_err(|wrong| check.refuse(format!("{}: {wrong}", path.display()))).ok()
}

fn refuse(check: &mut Check<'_>, path: &Path, place: &Path, error: &io::Error) {
    let from = if check.is_override() { "the current directory" } else { "the scenario's directory" };
    let relative = if path.is_relative() { format!(" (relative to {from})") } else { String::new() };
    let place_shown = format!("`{}`{relative}", place.display());
    check.refuse(match error.kind() {
        io::ErrorKind::NotFound => format!("no such file: {place_shown}{}", instead(place)),
        io::ErrorKind::InvalidData => format!("{place_shown} is not text in UTF-8"),
        _ => format!("cannot read {place_shown}: {error}"),
    });
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
