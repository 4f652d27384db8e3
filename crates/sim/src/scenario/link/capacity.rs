//! How fast a link sends: at a fixed rate, as a recording says, or as a cell does.

use super::queue::FULL_PACKET_BYTES;
use super::value::{Around, Value};
use crate::scenario::check::Check;
use crate::scenario::error::hint_and_list;
use crate::scenario::files::Files;
use airtcp_proto::Chance;
use airtcp_proto::path::lte::Ue;
use airtcp_proto::path::medium::{Kind, Radio};
use airtcp_proto::path::wifi::{Course, Snr, SnrTrace};
use airtcp_proto::path::{
    Channel, ChannelConfig, DelayModel, FixedRate, LogDriven, LogLatency, RateLog, Trace, TraceDriven,
    Transmitter,
};
use airtcp_wire::{Dur, Rate, Time};
use serde::Serialize;
use std::path::PathBuf;

/// How often a signal that changes is looked at to tell a mean rate.
const GLIMPSES: u64 = 100;
/// The same of one that fades, which it does many times in a run.
const FADING_GLIMPSES: u64 = 1000;

/// The random numbers of a capacity.
pub struct Draws {
    /// Of this direction alone.
    pub own: Chance,
    /// The same in both directions of the link.
    pub shared: Chance,
}

/// One kind of capacity.
pub trait Keys {
    /// Mean rate of the whole recording; for a cell, a rough estimate.
    fn mean_rate(&self) -> Rate;

    /// Mean rate in bit/s between two times for packets of so many bytes, if there is always one to send.
    fn mean_bps(&self, span: [Time; 2], bytes: u32, draws: Draws) -> f64;

    fn build(&self, draws: Draws) -> Box<dyn Transmitter>;

    /// Learns what else this direction says.
    fn beside(&mut self, _around: &Around<'_>) {}

    /// Its place among the scenario's media, and that medium, if it is on one.
    fn medium(&self) -> Option<(usize, &Kind)> {
        None
    }

    /// Delay that the recording adds.
    fn latency(&self) -> Option<Box<dyn DelayModel>> {
        None
    }

    /// Length of the recording; zero if there is none.
    fn period(&self) -> Dur {
        Dur::ZERO
    }

    /// Starts the recording at this offset.
    fn enter(&mut self, _offset: Dur) {}
}

impl Value for Rate {
    type Written = Rate;

    fn read(written: &Rate, _: &Around<'_>, check: &mut Check<'_>) -> Option<Rate> {
        if *written == Rate(0) {
            check.refuse("must be above zero");
        }
        (*written > Rate(0)).then_some(*written)
    }
}

impl Keys for Rate {
    fn mean_rate(&self) -> Rate {
        *self
    }

    fn mean_bps(&self, _: [Time; 2], _: u32, _: Draws) -> f64 {
        self.0 as f64
    }

    fn build(&self, _: Draws) -> Box<dyn Transmitter> {
        Box::new(FixedRate::new(*self))
    }
}

/// A capacity trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct TraceFile {
    /// As written in the scenario. Logs have it, too.
    pub path: PathBuf,
    #[serde(skip)]
    pub trace: Trace,
}

impl Value for TraceFile {
    type Written = PathBuf;

    fn read(path: &PathBuf, _: &Around<'_>, check: &mut Check<'_>) -> Option<TraceFile> {
        Some(TraceFile { path: path.clone(), trace: check.file(path, Files::trace)? })
    }
}

impl Keys for TraceFile {
    fn mean_rate(&self) -> Rate {
        self.trace.mean_rate()
    }

    fn mean_bps(&self, span: [Time; 2], _: u32, _: Draws) -> f64 {
        recorded_bps(span, |until| self.trace.capacity_bytes(until))
    }

    fn build(&self, _: Draws) -> Box<dyn Transmitter> {
        Box::new(TraceDriven::new(self.trace.clone()))
    }

    fn period(&self) -> Dur {
        self.trace.period()
    }

    fn enter(&mut self, offset: Dur) {
        self.trace = self.trace.entered_at(offset);
    }
}

/// A bandwidth log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct LogFile {
    pub path: PathBuf,
    #[serde(skip)]
    pub log: RateLog,
    /// Does the log's latency at the time, a round trip, add half of it to this direction's delay? It does if no delay is given.
    #[serde(skip)]
    pub latency: bool,
}

impl Value for LogFile {
    type Written = PathBuf;

    fn read(path: &PathBuf, _: &Around<'_>, check: &mut Check<'_>) -> Option<LogFile> {
        Some(LogFile { path: path.clone(), log: check.file(path, Files::log)?, latency: true })
    }
}

impl Keys for LogFile {
    fn mean_rate(&self) -> Rate {
        self.log.mean_rate()
    }

    fn mean_bps(&self, span: [Time; 2], _: u32, _: Draws) -> f64 {
        recorded_bps(span, |until| self.log.capacity_bytes(until))
    }

    fn build(&self, _: Draws) -> Box<dyn Transmitter> {
        Box::new(LogDriven(self.log.clone()))
    }

    fn beside(&mut self, around: &Around<'_>) {
        self.latency = around.delay.is_none();
    }

    fn latency(&self) -> Option<Box<dyn DelayModel>> {
        self.latency.then(|| Box::new(LogLatency(self.log.clone())) as _)
    }

    fn period(&self) -> Dur {
        self.log.period()
    }

    fn enter(&mut self, offset: Dur) {
        self.log = self.log.entered_at(offset);
    }
}

/// A user of a 3G cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Cell {
    pub config: ChannelConfig,
    /// A rough estimate.
    #[serde(skip)]
    pub mean_rate: Rate,
}

impl Value for Cell {
    type Written = ChannelConfig;

    fn read(config: &ChannelConfig, _: &Around<'_>, check: &mut Check<'_>) -> Option<Cell> {
        if let Some((key, problem)) = config.problem() {
            check.refuse_key(key, problem);
            return None;
        }
        let mean_rate = config.mean_rate();
        let problem = "the link's user never hears the base station";
        check.refuse_if(mean_rate == Rate(0), "edge_snr_db", problem);
        Some(Cell { config: *config, mean_rate: mean_rate.max(Rate(1)) })
    }
}

impl Keys for Cell {
    fn mean_rate(&self) -> Rate {
        self.mean_rate
    }

    fn mean_bps(&self, span: [Time; 2], bytes: u32, draws: Draws) -> f64 {
        let [from, until] = span;
        bps(Channel::new(&self.config, draws.own).saturated_bytes(from, until, bytes), span)
    }

    fn build(&self, draws: Draws) -> Box<dyn Transmitter> {
        Box::new(Channel::new(&self.config, draws.own))
    }
}

/// A place on a medium that other links share.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct OnMedium {
    /// The medium's.
    pub name: String,
    /// Among the scenario's media.
    #[serde(skip)]
    index: usize,
    #[serde(skip)]
    kind: Kind,
    /// Modulation and coding scheme of this direction.
    #[serde(skip)]
    mcs: u32,
    #[serde(skip)]
    snr: Option<Snr>,
    #[serde(skip)]
    ue: Option<Ue>,
}

impl Value for OnMedium {
    type Written = String;

    fn read(name: &String, around: &Around<'_>, check: &mut Check<'_>) -> Option<OnMedium> {
        let Some(index) = around.media.iter().position(|medium| medium.name == *name) else {
            let hint = hint_and_list(name, around.media.iter().map(|medium| medium.name.as_str()));
            check.refuse(format!("no medium called `{name}`{hint}"));
            return None;
        };
        let kind = around.media[index].kind.clone();
        Some(OnMedium { name: name.clone(), index, mcs: kind.mcs(), snr: None, ue: None, kind })
    }
}

impl OnMedium {
    fn in_cell_db(&self, now: Time) -> Option<f64> {
        self.ue.map(|ue| self.kind.mean_db(&ue, now))
    }
}

impl Keys for OnMedium {
    fn mean_rate(&self) -> Rate {
        let snr_db = self.snr.as_ref().map(|snr| snr.mean_at(Time::ZERO));
        let snr_db = snr_db.or(self.in_cell_db(Time::ZERO));
        self.kind.saturated(self.mcs, snr_db, FULL_PACKET_BYTES as u32).max(Rate(1))
    }

    fn mean_bps(&self, [from, until]: [Time; 2], bytes: u32, draws: Draws) -> f64 {
        let looks = match (&self.snr, &self.ue) {
            (Some(snr), _) if snr.moves() && snr.fades() => FADING_GLIMPSES,
            (Some(snr), _) if snr.moves() => GLIMPSES,
            (_, Some(ue)) if ue.moves() => GLIMPSES,
            _ => 1,
        };
        let step = Dur(until.since(from).0 / looks);
        let mut snr = self.course(draws.shared);
        let mut rate_bps = |look| {
            let at = from + step * look;
            let snr_db = snr.as_mut().map(|snr| snr.at(at)).or(self.in_cell_db(at));
            self.kind.saturated(self.mcs, snr_db, bytes).0 as f64
        };
        (0..looks).map(&mut rate_bps).sum::<f64>() / looks as f64
    }

    fn build(&self, Draws { own, shared }: Draws) -> Box<dyn Transmitter> {
        self.kind.transmitter(Radio { mcs: self.mcs, snr: self.course(shared), ue: self.ue }, own)
    }

    /// A scheme that the medium lacks is refused by the rules of links.
    fn beside(&mut self, around: &Around<'_>) {
        let given = around.mcs.filter(|mcs| self.kind.mcs_problem(*mcs).is_none());
        self.mcs = given.unwrap_or(self.kind.mcs());
        self.snr = around.snr.clone();
        self.ue = around.ue;
    }

    fn period(&self) -> Dur {
        let trace = self.snr.as_ref().and_then(|snr| snr.recorded.as_ref());
        trace.map_or(Dur::ZERO, SnrTrace::period)
    }

    fn enter(&mut self, offset: Dur) {
        if let Some(trace) = self.snr.as_mut().and_then(|snr| snr.recorded.as_mut()) {
            *trace = trace.entered_at(offset);
        }
    }

    fn medium(&self) -> Option<(usize, &Kind)> {
        Some((self.index, &self.kind))
    }
}

impl OnMedium {
    /// The channel of one run.
    fn course(&self, shared: Chance) -> Option<Course> {
        self.snr.clone().map(|snr| Course::new(snr, shared))
    }
}

fn recorded_bps([from, until]: [Time; 2], bytes_before: impl Fn(Time) -> u64) -> f64 {
    bps(bytes_before(until) - bytes_before(from), [from, until])
}

fn bps(bytes: u64, [from, until]: [Time; 2]) -> f64 {
    bytes as f64 * 8.0 / until.since(from).as_secs_f64()
}
