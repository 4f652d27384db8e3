//! Runs the path between two devices, as the options say.

use super::Options;
use crate::input::BadInput;
use airtcp_live::PacketDevice;
use airtcp_live::emulate::{
    Capture, Clock, Control, Emulator, Framing, Live, Report, Station, be_on_time, drive,
};
use airtcp_live::warn;
use airtcp_sim::Scenario;
use airtcp_wire::{Dur, Time};
use anyhow::Context;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

pub struct Emulation {
    emulator: Emulator,
    capture: Option<Capture>,
    names: [String; 2],
    seed: u64,
    duration: Option<Dur>,
    /// How long packets under way may take to arrive after the end.
    drain: Dur,
    /// Time between two lines of counters.
    every: Option<Dur>,
    /// Where the final counters go.
    report: Option<ReportTo>,
}

enum ReportTo {
    Stderr,
    Json(Box<dyn Write + Send>),
}

impl Emulation {
    /// `interface` is the name of the first port in a capture, and `names` are those of the two directions. Files are
    /// opened here, because the right to open them may be gone later.
    pub fn new(
        options: &Options,
        scenario: &Scenario,
        framing: Framing,
        interface: &str,
        names: [String; 2],
    ) -> Result<Emulation, BadInput> {
        let capture = |path: &Path| {
            Capture::create(path, interface, framing).map_err(|error| BadInput::of_file(path, error))
        };
        let capture = options.capture.as_deref().map(capture).transpose()?;
        let seed = options.seed.unwrap_or(scenario.seed);
        let emulator = Emulator::end_to_end(scenario, seed).with_framing(framing);
        Ok(Emulation {
            emulator: match &options.base_station {
                Some(machine) => emulator.with_station(Station::new(machine, scenario, seed)),
                None => emulator,
            },
            capture,
            names,
            seed,
            duration: options.duration,
            drain: options.drain(),
            every: every(options),
            report: match &options.json {
                None => (!options.quiet).then_some(ReportTo::Stderr),
                Some(path) => {
                    Some(ReportTo::Json(output(path).map_err(|error| BadInput::of_file(path, error))?))
                }
            },
        })
    }

    /// Runs the scenario from now until `stop` is set or the duration is over, and reports the final counters.
    ///
    /// # Errors
    /// A device is gone, or a file cannot be written.
    pub fn run(self, devices: &mut [impl PacketDevice; 2], stop: &AtomicBool) -> anyhow::Result<()> {
        let clock = Clock::start();
        let epoch = clock.look().epoch();
        let mut emulator = self.emulator.with_observer(self.capture.map(|capture| capture.since(epoch)));
        let deadline = self.duration.map_or(Time::NEVER, |duration| clock.now() + duration);
        let control = Control { stop, drain: self.drain, deadline, every: self.every.unwrap_or(Dur::MAX) };
        let mut live = Live::new(&self.names, clock.now());
        let kept = drive(&mut emulator, devices, &clock, &control, |now, emulator, kept| {
            show(&live.line(now, emulator, kept));
            ControlFlow::Continue(())
        })
        .context("an interface at an end of the path")?;
        let report = Report::new(&self.names, self.seed, clock.now(), &mut emulator, &kept);
        if self.every.is_some() && io::stderr().is_terminal() {
            warn!("");
        }
        let captured = emulator.into_observer().map_or(Ok(()), Capture::finish).context("--capture");
        self.report.map_or(Ok(()), |to| to.tell(&report)).context("--json")?;
        captured
    }
}

impl ReportTo {
    fn tell(self, report: &Report) -> io::Result<()> {
        match self {
            // The terminal may have gone, as at SIGHUP.
            ReportTo::Stderr => io::stderr().write_all(report.to_string().as_bytes()).or(Ok(())),
            ReportTo::Json(mut file) => {
                report.warnings().iter().for_each(|warning| warn!("airtcpd: {warning}"));
                file.write_all((serde_json::to_string_pretty(report)? + "\n").as_bytes())
            }
        }
    }
}

/// Makes the kernel wake this thread in time, if it may.
pub fn be_punctual() {
    if !be_on_time() {
        warn!(
            "airtcpd: no permission for real-time priority (CAP_SYS_NICE): packets will be late more often"
        );
    }
}

/// Prints a line of counters, on a terminal over the previous one.
fn show(line: &str) {
    let mut stderr = io::stderr().lock();
    // The reader may have gone; the path stays.
    let _ = match stderr.is_terminal() {
        true => write!(stderr, "\r{line}\x1b[K"),
        false => writeln!(stderr, "{line}"),
    };
}

/// Time between two lines of counters. A command behind the path has the terminal to itself.
fn every(options: &Options) -> Option<Dur> {
    let default = if options.shell { Dur::ZERO } else { Dur::from_secs(1) };
    options.every.or(Some(default)).filter(|&every| every > Dur::ZERO && !options.quiet)
}

fn output(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    Ok(match path == Path::new("-") {
        true => Box::new(io::stdout()),
        false => Box::new(File::create(path)?),
    })
}
