//! One run: a scenario, a scheme and a seed on this host's kernel.

use super::application::Applications;
use super::books::Books;
use super::descriptors;
use super::flows::flows;
use super::forms::Host;
use super::hosts::Hosts;
use super::loaded::{Controllers, LoadError, TimerRule};
use super::measure::{Sampler, measure};
use super::meter::Meter;
use super::outcome::Outcome;
use super::plan;
use super::record::{Labels, record};
use super::trunks::trunks;
use crate::emulate::{Clock, Emulator, Framing, be_on_time};
use crate::namespace::leftovers;
use crate::rights::keep_only;
use airtcp_proto::scheme::{Scheme, SchemeError};
use airtcp_sim::scenario::Scenario;
use airtcp_sim::series::Recorder;
use airtcp_wire::Dur;
use caps::Capability;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What to run.
pub struct Run<'a> {
    pub scenario: &'a Scenario,
    pub scheme: &'a str,
    pub seed: u64,
    /// Time between two samples of the series; `None` for no series.
    pub series: Option<Dur>,
}

#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    #[error("interrupted")]
    Interrupted,
    #[error("`{scheme}`: {reason}")]
    NoForm { scheme: String, reason: String },
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Applications open sockets in their hosts' namespaces, and set options of them.
const RIGHTS: &[Capability] = &[Capability::CAP_SYS_ADMIN, Capability::CAP_NET_ADMIN];

/// How often to ask whether to break off the run.
const LOOK: Duration = Duration::from_millis(50);

/// Runs in real time. `look` is called several times a second with the time that has passed, and may break off.
///
/// # Errors
/// A scheme does not resolve or has no form here, the kernel refuses something, or the run is interrupted. Nothing is
/// left behind.
pub fn run(request: &Run<'_>, look: impl FnMut(Dur) -> ControlFlow<()>) -> Result<Outcome, TrialError> {
    let Run { scenario, seed, .. } = *request;
    let host = Host::this()?;
    let verdict = plan::verdict(scenario, request.scheme, &host)?;
    let Some(form) = verdict.form else {
        let reason = verdict.reason.unwrap_or_default();
        return Err(TrialError::NoForm { scheme: verdict.scheme, reason });
    };
    let scheme = Scheme::parse(request.scheme, &scenario.profile)?;
    let scenario = &*scenario.for_scheme(&scheme);
    // Before any thread starts.
    leftovers::clean()?;
    let trunks = trunks(scenario)?;
    let mut flows = flows(scenario, &scheme, &trunks, &host, seed)?;
    descriptors::allow(&flows)?;
    // They outlive the sockets below.
    let controllers = Controllers::load(&mut flows).map_err(LoadError::from)?;
    let _rule = form.rto.map(|rule| TimerRule::impose(&rule)).transpose()?;
    let labels = Labels::new(scenario, &flows, &trunks, seed);
    let books = Books::new(flows.len(), trunks.len() + flows.len());
    // The devices outlive the applications, which would find their addresses gone.
    let (hosts, mut devices) = Hosts::build(scenario, &flows, &trunks, &books)?;
    let recorder = request.series.map(|interval| Recorder::new(interval, flows.len()));
    let meter = Meter::new(&books, &hosts, flows.len(), recorder);
    let emulator = Emulator::new(scenario, seed, hosts.ports.clone())
        .with_framing(Framing::Ethernet)
        .with_observer(meter);
    let sampler = Sampler::new(&books, &flows);
    let mut applications = Applications::new(flows, &hosts, &books)?;

    let stop = AtomicBool::new(false);
    let clock = Clock::start();
    let measured = thread::scope(|scope| {
        let emulating = scope.spawn(|| {
            be_on_time();
            let done = keep_only(&[])
                .and_then(|()| measure(scenario, emulator, &mut devices, sampler, clock, &stop));
            stop.store(true, Ordering::Relaxed);
            done
        });
        let applying = scope.spawn(|| {
            let done = keep_only(RIGHTS).and_then(|()| applications.run(clock, &stop));
            stop.store(true, Ordering::Relaxed);
            done
        });
        wait(clock, &stop, look);
        applying.join().expect("a panic is a defect")?;
        emulating.join().expect("a panic is a defect")
    })?;
    let measured = measured.ok_or(TrialError::Interrupted)?;
    let record = record(scenario, &scheme.label, seed, &labels, &measured);
    let counters = controllers.counters(&form.congestion_control).map_err(LoadError::from)?;
    Ok(Outcome::new(record, measured, &host, &form, counters, verdict.notes))
}

#[allow(clippy::disallowed_methods, reason = "a run takes real time, which this thread waits for")]
fn wait(clock: Clock, stop: &AtomicBool, mut look: impl FnMut(Dur) -> ControlFlow<()>) {
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
        if look(Dur(clock.now().0)).is_break() {
            stop.store(true, Ordering::Relaxed);
        }
    }
}
