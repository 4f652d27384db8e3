//! The first process inside. It starts the command, reaps what dies there, and ends the rest when it ends.

use crate::invoker::Invoker;
use crate::namespace::Namespace;
use crate::signals::{Event, Signals, refusal, status, tell};
use crate::warn;
use anyhow::Context;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::os::fd::AsFd;
use std::process::{self, Command};

/// The command for the process inside.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Order {
    pub program: String,
    pub arguments: Vec<String>,
    /// In addition to this process's environment.
    pub environment: Vec<(String, String)>,
}

/// The process inside, seen from outside. It is killed when this value is dropped.
pub struct Inside {
    pid: Pid,
    orders: Option<PipeWriter>,
}

impl Inside {
    /// Starts the process in `namespace`, with PIDs and mounts of its own. It waits for an order.
    ///
    /// The calling thread must be the only one, and must last: when it ends, the kernel kills the process inside.
    ///
    /// # Errors
    /// The kernel's: without CAP_SYS_ADMIN, permission denied.
    pub fn start(
        namespace: &Namespace,
        invoker: Option<&Invoker>,
        signals: &Signals,
    ) -> anyhow::Result<Inside> {
        let (hearing, orders) = io::pipe()?;
        let outside = File::open("/proc/self/ns/pid")?;
        unshare(CloneFlags::CLONE_NEWPID).context("a PID namespace")?;
        let forked = fork_alone();
        if let Ok(ForkResult::Child) = forked {
            drop(orders);
            process::exit(i32::from(live(namespace, invoker, signals, hearing)));
        }
        // Otherwise this process could start neither threads nor anything outside.
        setns(outside, CloneFlags::CLONE_NEWPID)?;
        match forked? {
            ForkResult::Parent { child } => Ok(Inside { pid: child, orders: Some(orders) }),
            ForkResult::Child => unreachable!("it has ended above"),
        }
    }

    /// Makes it start the command.
    ///
    /// # Errors
    /// The kernel's.
    pub fn order(&mut self, order: &Order) -> io::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.orders.as_mut().map_or(Ok(()), |orders| orders.write_all(&line))
    }

    pub fn pid(&self) -> Pid {
        self.pid
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        drop(self.orders.take());
        tell(self.pid, Signal::SIGKILL);
        let _ = waitpid(self.pid, None);
    }
}

#[allow(unsafe_code, reason = "a process in a PID namespace of its own that runs no other program")]
fn fork_alone() -> nix::Result<ForkResult> {
    // SAFETY: no other thread is running, as `Inside::start` demands, so that nothing is half-done in the child.
    unsafe { fork() }
}

/// Runs the process inside. Returns its exit status.
fn live(namespace: &Namespace, invoker: Option<&Invoker>, signals: &Signals, orders: PipeReader) -> u8 {
    let lived = settle(namespace, invoker).and_then(|()| match hear(orders)? {
        Some(order) => obey(&order, signals),
        None => Ok(1),
    });
    lived.unwrap_or_else(|error| {
        warn!("airtcpd: {error:#}");
        1
    })
}

fn settle(namespace: &Namespace, invoker: Option<&Invoker>) -> anyhow::Result<()> {
    namespace.enter_thread()?;
    unshare(CloneFlags::CLONE_NEWNS).context("a mount namespace")?;
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_SLAVE | MsFlags::MS_REC, None::<&str>)?;
    let plain = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), plain, None::<&str>).context("/proc inside")?;
    if let Some(invoker) = invoker {
        invoker.adopt()?;
    }
    // After the change of user, which would reset it.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    Ok(())
}

/// Reads the order. `None` if the process outside has ended, without an order or before it could take this process
/// along.
fn hear(orders: PipeReader) -> anyhow::Result<Option<Order>> {
    let mut line = String::new();
    let mut orders = BufReader::new(orders);
    if orders.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut ends = [PollFd::new(orders.get_ref().as_fd(), PollFlags::empty())];
    let is_alone = poll(&mut ends, PollTimeout::ZERO)? > 0;
    // The process outside keeps its end open as long as it lives, and so does this one.
    std::mem::forget(orders);
    Ok((!is_alone).then(|| serde_json::from_str(&line)).transpose()?)
}

fn obey(order: &Order, signals: &Signals) -> anyhow::Result<u8> {
    let mut command = Command::new(&order.program);
    command.args(&order.arguments).envs(order.environment.iter().cloned());
    signals.as_before(&mut command);
    let child = match command.spawn() {
        Ok(child) => Pid::from_raw(child.id() as i32),
        Err(error) => return Ok(refusal(&order.program, &error)),
    };
    loop {
        if let Some(status) = reap(child)? {
            return Ok(status);
        }
        poll(&mut [PollFd::new(signals.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE)?;
        if let Some(Event::Forward(signal)) = signals.next()? {
            tell(child, signal);
        }
    }
}

/// Reaps all processes that have died, which includes orphans: they become this process's children. Returns the
/// command's status.
fn reap(command: Pid) -> nix::Result<Option<u8>> {
    let mut answer = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(nix::errno::Errno::ECHILD) => return Ok(answer),
            Ok(waited) if waited.pid() == Some(command) => answer = status(waited).or(answer),
            Ok(_) => {}
            Err(error) => return Err(error),
        }
    }
}
