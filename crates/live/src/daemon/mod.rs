//! A daemon as two processes: the worker, which touches what comes from the network and owns no more than that takes; and the
//! keeper, which waits for it with the rights to undo what was set up. Whichever of them dies, the other one ends.

mod counters;
mod desk;
mod stop;

pub use counters::{Counters, Kind, Table, Told};
pub use desk::{MetricsAddress, statuses};
pub use stop::{Stop, Stopper, Urgency};

use crate::rights::become_nobody;
use anyhow::Context;
use caps::Capability;
use desk::{Desk, DeskFiles};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, setpgid};
use serde_json::Value;
use signal_hook::consts::SIGTERM;
use std::io;
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::thread;

/// What a daemon does.
pub trait Service {
    /// What `status` calls it.
    const NAME: &'static str;
    /// What the worker serves with.
    type Doors;
    /// What the keeper undoes, by dropping it.
    type Rules;

    /// In the network namespace of the calling thread.
    ///
    /// # Errors
    /// What cannot be set up, and why; nothing is left behind then.
    fn set_up(&self) -> anyhow::Result<(Self::Doors, Self::Rules)>;

    /// What serving takes.
    ///
    /// # Errors
    /// The kernel's.
    fn rights(&self) -> io::Result<Vec<Capability>>;

    /// It is told to end, and may take a while.
    fn take_no_more(_rules: &mut Self::Rules) {}

    fn told(&self) -> Arc<dyn Told>;

    /// Serves until it is told to stop.
    ///
    /// # Errors
    /// The kernel's.
    fn serve(&self, doors: Self::Doors, stop: Stop) -> io::Result<()>;
}

/// Sets a daemon up, serves until a signal tells it to end (SIGTERM, SIGINT, SIGHUP), and undoes what it set up. This thread
/// must be the only one. `about` is what `status` tells of it beside its counters.
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
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGCHLD]);
    signals.thread_block()?;
    let keeper = getpid();
    if let ForkResult::Parent { child } = fork_alone()? {
        // The worker has copies, and they end with it.
        drop((desk, doors));
        return keep::<S>(child, &signals, rules);
    }
    let served = settle(service, keeper).and_then(|stop| {
        signals.thread_unblock()?;
        let told = service.told();
        thread::spawn(move || desk.serve(&about, &*told));
        tracing::info!("serving");
        Ok(service.serve(doors, stop)?)
    });
    if let Err(error) = &served {
        tracing::error!("{error:#}");
    }
    // What was set up is the keeper's to undo.
    process::exit(i32::from(served.is_err()));
}

#[allow(unsafe_code, reason = "a process of its own that is no other program")]
fn fork_alone() -> nix::Result<ForkResult> {
    // SAFETY: no other thread is running, as `run` demands; so nothing is half-done in the child.
    unsafe { fork() }
}

/// What the worker does before it serves. Ctrl-C, which comes to all in the terminal, is the keeper's to hand on.
fn settle(service: &impl Service, keeper: Pid) -> anyhow::Result<Stop> {
    setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
    become_nobody(&service.rights()?).context("giving up rights")?;
    // After the change of user, which would undo it.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    anyhow::ensure!(getppid() == keeper, "the keeper is dead");
    Ok(Stop::at(&[SIGTERM])?.0)
}

/// Hands on what it is told until the worker ends.
fn keep<S: Service>(worker: Pid, signals: &SigSet, mut rules: S::Rules) -> anyhow::Result<ExitCode> {
    loop {
        if signals.wait()? != Signal::SIGCHLD {
            S::take_no_more(&mut rules);
            let _ = kill(worker, Signal::SIGTERM);
        }
        match waitpid(worker, Some(WaitPidFlag::WNOHANG)) {
            // nft, if anyone.
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => {}
            Ok(WaitStatus::Exited(_, 0)) => return Ok(ExitCode::SUCCESS),
            Ok(WaitStatus::Exited(..)) => return Ok(ExitCode::FAILURE),
            ended => anyhow::bail!("the {}'s worker was killed ({ended:?})", S::NAME),
        }
    }
}
