//! The process that waits for the worker, and then undoes the set-up.

use crate::signals::{Event, Signals, refusal, status, tell};
use crate::warn;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::process::{Command, ExitCode};

/// The worker, as the keeper sees it.
pub struct Worker<R> {
    pub pid: Pid,
    /// The daemon's name.
    pub name: &'static str,
    /// Dropped when the worker has ended.
    pub rules: Option<R>,
}

impl<R> Worker<R> {
    /// Tells the worker to stop at each signal, until it has ended.
    pub fn keep(mut self, take_no_more: fn(&mut R), signals: &Signals) -> anyhow::Result<ExitCode> {
        loop {
            match self.poll() {
                Some(WaitStatus::Exited(_, 0)) => return Ok(ExitCode::SUCCESS),
                Some(WaitStatus::Exited(..)) => return Ok(ExitCode::FAILURE),
                Some(ended) => anyhow::bail!("the {}'s worker was killed ({ended:?})", self.name),
                None => {}
            }
            if signals.wait()? != Event::Child {
                self.end(take_no_more);
            }
        }
    }

    /// Runs a command, and tells the worker to stop when the command has ended. Returns the command's exit status.
    pub fn keep_for(
        mut self,
        mut command: Command,
        take_no_more: fn(&mut R),
        signals: &Signals,
    ) -> anyhow::Result<ExitCode> {
        signals.as_before(&mut command);
        let status = match command.spawn() {
            Ok(child) => self.attend(Pid::from_raw(child.id() as i32), signals)?,
            Err(error) => refusal(&command.get_program().to_string_lossy(), &error),
        };
        if self.rules.is_some() {
            self.end(take_no_more);
            if let Err(error) = self.keep(take_no_more, signals) {
                warn!("airtcpd: {error}");
            }
        }
        Ok(ExitCode::from(status))
    }

    /// Passes signals on to the command. If the worker dies, the command goes on without it.
    fn attend(&mut self, command: Pid, signals: &Signals) -> anyhow::Result<u8> {
        loop {
            match signals.wait()? {
                Event::Forward(signal) => tell(command, signal),
                Event::Passing => {}
                Event::Child => {
                    if let Some(status) = status(waitpid(command, Some(WaitPidFlag::WNOHANG))?) {
                        return Ok(status);
                    }
                    if let Some(ended) = self.poll() {
                        warn!("airtcpd: the {}'s worker is gone ({ended:?})", self.name);
                    }
                }
            }
        }
    }

    fn end(&mut self, take_no_more: fn(&mut R)) {
        self.rules.as_mut().map(take_no_more);
        tell(self.pid, Signal::SIGTERM);
    }

    /// Returns how the worker has ended, if it has. The set-up is undone then.
    fn poll(&mut self) -> Option<WaitStatus> {
        match waitpid(self.pid, Some(WaitPidFlag::WNOHANG)) {
            // If a child has ended, it was another one, such as nft.
            Ok(WaitStatus::StillAlive) | Err(_) => None,
            Ok(ended) => {
                self.rules = None;
                Some(ended)
            }
        }
    }
}
