//! The process that waits for the worker, and then undoes the set-up.

use super::PANICKED;
use crate::signals::{Event, Signals, refusal, status, tell};
use crate::warn;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::process::{Command, ExitCode};

/// Says how a daemon's worker has ended before its time.
fn failure(name: &str, ended: WaitStatus) -> String {
    match ended {
        WaitStatus::Exited(_, PANICKED) => {
            format!("the {name}'s worker has panicked, as it says above: please report that to airtcp")
        }
        WaitStatus::Exited(_, status) => format!("the {name}'s worker has ended with status {status}"),
        WaitStatus::Signaled(_, signal, _) => format!("the {name}'s worker was killed by {signal}"),
        other => format!("the {name}'s worker is gone ({other:?})"),
    }
}

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
        Ok(if self.outlast(take_no_more, signals)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Waits for the end of the worker. Returns whether it has done all its work.
    fn outlast(&mut self, take_no_more: fn(&mut R), signals: &Signals) -> anyhow::Result<bool> {
        loop {
            match self.poll() {
                Some(WaitStatus::Exited(_, 0)) => return Ok(true),
                // It has said why.
                Some(WaitStatus::Exited(_, 1)) => return Ok(false),
                Some(ended) => {
                    warn!("airtcpd: {}", failure(self.name, ended));
                    return Ok(false);
                }
                None => {}
            }
            if signals.wait()? != Event::Child {
                self.end(take_no_more);
            }
        }
    }

    /// Runs a command, and tells the worker to stop when the command has ended. Returns the command's exit status; if the
    /// worker has failed, a failure.
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
        let has_served = self.rules.is_some() && {
            self.end(take_no_more);
            self.outlast(take_no_more, signals)?
        };
        // What the command has written may not have arrived.
        Ok(ExitCode::from(if has_served { status } else { status.max(1) }))
    }

    /// Passes signals on to the command. If the worker dies, undoing the set-up may end the command.
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
                        warn!("airtcpd: {}", failure(self.name, ended));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_worker_ended_is_told() {
        let pid = Pid::from_raw(7);
        let told = |ended| failure("proxy", ended);
        assert!(told(WaitStatus::Exited(pid, PANICKED)).contains("has panicked"));
        assert!(told(WaitStatus::Exited(pid, 1)).ends_with("status 1"));
        assert!(told(WaitStatus::Signaled(pid, Signal::SIGKILL, false)).ends_with("killed by SIGKILL"));
    }
}
