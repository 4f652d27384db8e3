//! `airtcpd run`.

use super::input::BadInput;
use airtcp_live::trial::forms::Host;
use airtcp_live::trial::plan::plan;
use airtcp_live::trial::{self, Run};
use airtcp_live::{say, warn};
use airtcp_sim::scenario::{Recipe, Scenario, text_file};
use airtcp_wire::{Dur, human};
use anyhow::Context;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd run --plan --recipe recipe.json
  airtcpd run --recipe recipe.json --scheme cubic --seed 1 --out record.json
  airtcpd run --recipe recipe.json --scheme westwood-vt:beta=18 --seed 7 --series-interval 40ms --out record.json

`airtcp compare --on linux` writes recipes and calls this once per scheme and seed. It takes the scenario's duration in
real time, and needs root.";

/// The shortest sampling interval.
const INTERVAL_MIN: Dur = Dur::from_millis(1);

/// Run a scenario once on this host's kernel and write a record
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The scenario as JSON: its text, overrides and the files it names
    #[arg(long, value_name = "FILE")]
    recipe: PathBuf,
    /// Print how each scheme of the scenario would run on this kernel, as JSON, without running it; needs no root
    #[arg(long, conflicts_with_all = ["scheme", "seed", "series_interval", "out", "progress"])]
    plan: bool,
    /// Scheme of the flows that name none
    #[arg(long, required_unless_present = "plan")]
    scheme: Option<String>,
    /// Seed of the path's and the applications' random numbers
    #[arg(long, required_unless_present = "plan")]
    seed: Option<u64>,
    /// Record time series at this interval, at least 1ms
    #[arg(long, value_name = "TIME", value_parser = series_interval)]
    series_interval: Option<Dur>,
    /// Output file for the record, as JSON
    #[arg(long, value_name = "FILE", required_unless_present = "plan")]
    out: Option<PathBuf>,
    /// Print lines of JSON to stderr while it runs: {"done_s": 1.25, "of_s": 20.0}
    #[arg(long)]
    progress: bool,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let scenario = read(&options.recipe)?;
    let (Some(scheme), Some(seed), Some(out)) = (&options.scheme, options.seed, &options.out) else {
        say!("{}", serde_json::to_string_pretty(&plan(&scenario, &Host::this()?)?)?);
        return Ok(ExitCode::SUCCESS);
    };
    let interrupts = interrupts()?;
    // A run must not outlive a comparison that was killed: it would disturb the next one.
    set_pdeathsig(Signal::SIGTERM)?;
    let request = Run { scenario: &scenario, scheme, seed, series: options.series_interval };
    let outcome = trial::run(&request, |done| {
        if options.progress {
            warn!(
                r#"{{"done_s": {:.2}, "of_s": {:?}}}"#,
                done.as_secs_f64(),
                scenario.duration.as_secs_f64()
            );
        }
        match interrupts.read_signal() {
            Ok(Some(_)) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    })?;
    write(out, &serde_json::to_vec(&outcome)?)?;
    Ok(ExitCode::SUCCESS)
}

fn series_interval(text: &str) -> Result<Dur, String> {
    let interval: Dur = human::parse(text).map_err(|error| error.to_string())?;
    if interval < INTERVAL_MIN {
        return Err(format!("must be at least {INTERVAL_MIN}"));
    }
    Ok(interval)
}

fn read(path: &Path) -> Result<Scenario, BadInput> {
    let text = text_file::read(path).map_err(|error| BadInput::of_file(path, error))?;
    let mut recipe: Recipe = serde_json::from_str(&text).map_err(|error| BadInput::of_file(path, error))?;
    Ok(recipe.read()?)
}

/// Writes the whole file, or none of it.
fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, bytes).with_context(name)?;
    fs::rename(&unfinished, path).with_context(name)
}

/// Blocks SIGINT and SIGTERM, which end the run in order, in this thread and in those that it starts.
fn interrupts() -> anyhow::Result<SignalFd> {
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    signals.thread_block()?;
    Ok(SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?)
}
