//! Waits for signals, and for the ends of child processes.

use crate::warn;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Milliseconds in which a command must end after it was told to.
const GRACE_MS: u16 = 2000;

/// Signals that this process has blocked and reads from a descriptor instead.
pub struct Signals {
    waiting: SignalFd,
    before: SigSet,
}

/// A signal that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A child ended.
    Child,
    /// The command is to get this signal.
    Forward(Signal),
    /// The terminal has sent the signal to the command as well.
    Passing,
}

impl Signals {
    /// Blocks the signals in the calling thread and in those that it starts. With SIGTTOU blocked, this process can
    /// write to the terminal, and give it away, from the background.
    ///
    /// # Errors
    /// The kernel's.
    pub fn block() -> io::Result<Signals> {
        let waited = [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGCHLD];
        let mut mask: SigSet = waited.into_iter().collect();
        let waiting = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        mask.add(Signal::SIGTTOU);
        let before = SigSet::thread_get_mask()?;
        mask.thread_block()?;
        Ok(Signals { waiting, before })
    }

    /// Restores the signal mask of the calling thread.
    ///
    /// # Errors
    /// The kernel's.
    pub fn unblock(&self) -> io::Result<()> {
        Ok(self.before.thread_set_mask()?)
    }

    /// Starts `command` with the signal mask from before. This process keeps the signals blocked: the first process
    /// of a PID namespace loses those that are not.
    #[allow(unsafe_code, reason = "the mask of the child alone")]
    pub fn as_before(&self, command: &mut Command) {
        let before = self.before;
        // SAFETY: it makes one system call, and allocates nothing.
        unsafe { command.pre_exec(move || Ok(before.thread_set_mask()?)) };
    }

    /// Returns the next event, if there is one.
    pub fn next(&self) -> io::Result<Option<Event>> {
        let Some(info) = self.waiting.read_signal()? else { return Ok(None) };
        let signal = Signal::try_from(info.ssi_signo as i32)?;
        let is_from_kernel = info.ssi_code == libc::SI_KERNEL;
        Ok(Some(match signal {
            Signal::SIGCHLD => Event::Child,
            Signal::SIGINT | Signal::SIGQUIT if is_from_kernel => Event::Passing,
            signal => Event::Forward(signal),
        }))
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&self) -> io::Result<Event> {
        loop {
            if let Some(event) = self.next()? {
                return Ok(event);
            }
            match poll(&mut [PollFd::new(self.waiting.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits for the end of the process inside, and returns its exit status. Passes signals on to it. If neither they
    /// nor the end of the path end the process, it is killed.
    pub fn attend(&self, inside: Pid, end_of_path: &impl AsFd) -> io::Result<u8> {
        let mut is_ending = false;
        loop {
            match self.wait_for(end_of_path.as_fd(), is_ending)? {
                Waited::TooLong => {
                    warn!("airtcpd: the command did not stop and was killed");
                    tell(inside, Signal::SIGKILL);
                }
                Waited::EndOfPath => {
                    is_ending = true;
                    tell(inside, Signal::SIGTERM);
                }
                Waited::Signal => match self.next()? {
                    Some(Event::Forward(signal)) => {
                        is_ending = true;
                        tell(inside, signal);
                    }
                    Some(Event::Child) => {
                        if let Some(status) = status(waitpid(inside, Some(WaitPidFlag::WNOHANG))?) {
                            return Ok(status);
                        }
                    }
                    Some(Event::Passing) | None => {}
                },
            }
        }
    }

    fn wait_for(&self, end_of_path: BorrowedFd<'_>, is_ending: bool) -> io::Result<Waited> {
        let mut ready = [
            PollFd::new(self.waiting.as_fd(), PollFlags::POLLIN),
            PollFd::new(end_of_path, PollFlags::POLLIN),
        ];
        let (watched, timeout) = match is_ending {
            true => (&mut ready[..1], PollTimeout::from(GRACE_MS)),
            false => (&mut ready[..], PollTimeout::NONE),
        };
        match poll(watched, timeout) {
            Ok(0) => Ok(Waited::TooLong),
            Ok(_) if watched[0].any() == Some(true) => Ok(Waited::Signal),
            Ok(_) => Ok(Waited::EndOfPath),
            Err(Errno::EINTR) => Ok(Waited::Signal),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.waiting.as_fd()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Waited {
    Signal,
    EndOfPath,
    TooLong,
}

/// Sends a signal to a process, which may have ended meanwhile.
pub fn tell(process: Pid, signal: Signal) {
    let _ = kill(process, signal);
}

/// An exit status as shells report it; `None` while the process runs.
pub fn status(waited: WaitStatus) -> Option<u8> {
    match waited {
        WaitStatus::Exited(_, status) => Some(status as u8),
        WaitStatus::Signaled(_, signal, _) => Some(128 + signal as u8),
        _ => None,
    }
}

/// Prints why a program cannot be started, and returns the exit status that shells use for this.
pub fn refusal(program: &str, error: &io::Error) -> u8 {
    if error.kind() == io::ErrorKind::NotFound {
        warn!("airtcpd: {program}: no such program");
        return 127;
    }
    warn!("airtcpd: {program}: {error}");
    126
}
