//! A daemon as two processes. The worker handles what comes from the network, with no more rights than that takes.
//! The keeper waits for the worker, and has the rights to undo the set-up. When either of them dies, the other one
//! ends.

mod counters;
mod desk;
mod keeper;
mod stop;

pub(crate) use counters::counters;
pub use counters::{Counters, Kind, Metrics, Table};
pub use desk::{MetricsAddress, statuses};
pub use stop::{Stop, Stopper, Urgency};

use crate::rights::become_nobody;
use crate::signals::Signals;
use anyhow::Context;
use caps::Capability;
use desk::{Desk, DeskFiles};
use keeper::Worker;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, setpgid};
use serde_json::Value;
use signal_hook::consts::SIGTERM;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::process::{self, Command, ExitCode};
use std::sync::Arc;
use std::thread;

/// What a daemon does.
pub trait Service {
    /// Name that `status` uses.
    const NAME: &'static str;
    /// What the worker serves with.
    type Doors;
    /// What the keeper undoes by dropping it.
    type Rules;

    /// Sets up in the network namespace of the calling thread.
    ///
    /// # Errors
    /// What cannot be set up, and why; nothing is left behind then.
    fn set_up(&self) -> anyhow::Result<(Self::Doors, Self::Rules)>;

    /// Capabilities that serving needs.
    ///
    /// # Errors
    /// The kernel's.
    fn rights(&self) -> io::Result<Vec<Capability>>;

    /// The daemon is to end, but may take a while: new work is no longer taken.
    fn take_no_more(_rules: &mut Self::Rules) {}

    /// The command that alone is served, and whose end is the daemon's. The keeper starts it.
    ///
    /// # Errors
    /// The kernel's.
    fn command(&self, _rules: &Self::Rules) -> anyhow::Result<Option<Command>> {
        Ok(None)
    }

    fn metrics(&self) -> Arc<dyn Metrics>;

    /// Serves until `stop` asks for the end.
    ///
    /// # Errors
    /// The kernel's.
    fn serve(&self, doors: Self::Doors, stop: Stop) -> io::Result<()>;
}

/// Sets a daemon up, serves until SIGTERM, SIGINT or SIGHUP, or until its command ends, and undoes the set-up. The
/// calling thread must be the only one. `status` shows `about` in addition to the counters. Returns the command's
/// exit status, if there is a command.
///
/// # Errors
/// What cannot be set up, and why; nothing is left behind then.
pub fn run<S: Service>(
    service: &S,
    metrics: Option<&MetricsAddress>,
    about: Value,
) -> anyhow::Result<ExitCode> {
    let (desk, _files): (Desk, DeskFiles) = Desk::open(S::NAME, metrics)?;
    let (doors, rules) = service.set_up()?;
    let command = service.command(&rules)?;
    let signals = Signals::block()?;
    let keeper = getpid();
    if let ForkResult::Parent { child } = fork_alone()? {
        // The worker has copies, which end with it.
        drop((desk, doors));
        let worker = Worker { pid: child, name: S::NAME, rules: Some(rules) };
        return match command {
            Some(command) => worker.keep_for(command, S::take_no_more, &signals),
            None => worker.keep(S::take_no_more, &signals),
        };
    }
    let work = || {
        let stop = settle(service, keeper)?;
        signals.unblock()?;
        let metrics = service.metrics();
        thread::spawn(move || desk.serve(&about, &*metrics));
        tracing::info!("serving");
        Ok(service.serve(doors, stop)?)
    };
    // The keeper undoes the set-up; the copies of what it holds must not be dropped here, whatever happens.
    process::exit(status_of(work));
}

/// Exit status of a worker that has panicked, as of any Rust program.
const PANICKED: i32 = 101;

/// Does a worker's work. Returns its exit status.
fn status_of(work: impl FnOnce() -> anyhow::Result<()>) -> i32 {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            tracing::error!("{error:#}");
            1
        }
        Err(_) => PANICKED,
    }
}

#[allow(unsafe_code, reason = "a process that runs no other program")]
fn fork_alone() -> nix::Result<ForkResult> {
    // SAFETY: no other thread is running, as `run` demands, so that nothing is half-done in the child.
    unsafe { fork() }
}

/// Prepares the worker. It leaves the process group, because Ctrl-C reaches all of that; the keeper passes it on.
fn settle(service: &impl Service, keeper: Pid) -> anyhow::Result<Stop> {
    setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
    become_nobody(&service.rights()?).context("giving up rights")?;
    // After the change of user, which would reset it.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    anyhow::ensure!(getppid() == keeper, "the keeper is dead");
    Ok(Stop::at(&[SIGTERM])?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_panics_has_a_status_of_its_own() {
        assert_eq!(status_of(|| Ok(())), 0);
        assert_eq!(status_of(|| anyhow::bail!("an error")), 1);
        assert_eq!(status_of(|| panic!("a bug")), PANICKED);
    }
}
