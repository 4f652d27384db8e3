//! A proxy as two processes: the worker, which touches what comes from the network and owns no more than that takes; and the
//! keeper, which waits for it with the rights to undo what was set up. Whichever of them dies, the other one ends.

use super::config::Config;
use super::counters::Counters;
use super::desk::{Desk, DeskFiles, MetricsAddress};
use super::rights;
use super::serve::serve;
use super::stop::Stop;
use super::{Everything, Proxy};
use anyhow::Context;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, setpgid};
use serde_json::Value;
use signal_hook::consts::SIGTERM;
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::thread;

/// Sets a proxy up, serves until a signal tells it to end (SIGTERM, SIGINT, SIGHUP), and undoes what it set up. This thread
/// must be the only one. `about` is what `status` tells of the proxy beside its counters.
///
/// # Errors
/// What cannot be set up, and why; nothing is left behind then.
pub fn run(config: &Config, metrics: Option<&MetricsAddress>, about: Value) -> anyhow::Result<ExitCode> {
    let (desk, _files): (Desk, DeskFiles) = Desk::open(metrics)?;
    let Proxy { doors, rules } = Proxy::set_up(config)?;
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGCHLD]);
    signals.thread_block()?;
    let keeper = getpid();
    if let ForkResult::Parent { child } = fork_alone()? {
        // The worker has copies, and they end with it.
        drop((desk, doors));
        return keep(child, &signals, rules);
    }
    let served = settle(config, keeper).and_then(|stop| {
        signals.thread_unblock()?;
        let counters = Arc::new(Counters::default());
        let theirs = Arc::clone(&counters);
        thread::spawn(move || desk.serve(&about, &theirs));
        tracing::info!("serving");
        Ok(serve(config, doors, stop, &counters)?)
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
fn settle(config: &Config, keeper: Pid) -> anyhow::Result<Stop> {
    setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
    rights::give_up(config).context("giving up rights")?;
    // After the change of user, which would undo it.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    anyhow::ensure!(getppid() == keeper, "the keeper is dead");
    Ok(Stop::at(&[SIGTERM])?.0)
}

/// Hands on what it is told until the worker ends.
fn keep(worker: Pid, signals: &SigSet, mut rules: Option<Everything>) -> anyhow::Result<ExitCode> {
    loop {
        if signals.wait()? != Signal::SIGCHLD {
            if let Some(rules) = &mut rules {
                rules.take_no_more();
            }
            let _ = kill(worker, Signal::SIGTERM);
        }
        match waitpid(worker, Some(WaitPidFlag::WNOHANG)) {
            // nft, if anyone.
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => {}
            Ok(WaitStatus::Exited(_, 0)) => return Ok(ExitCode::SUCCESS),
            Ok(WaitStatus::Exited(..)) => return Ok(ExitCode::FAILURE),
            ended => anyhow::bail!("the proxy's worker was killed ({ended:?})"),
        }
    }
}
