//! How a daemon is told to stop.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use signal_hook::low_level::pipe;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// Reports that a daemon is to end. The first request lets connections drain, the second one cuts them.
pub struct Stop {
    words: UnixStream,
    heard: usize,
}

/// Asks for the end.
pub struct Stopper(UnixStream);

/// How urgent it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Urgency {
    None,
    Drain,
    AtOnce,
}

impl Stop {
    /// # Errors
    /// The kernel's: too many open files.
    pub fn new() -> io::Result<(Stop, Stopper)> {
        let (words, stopper) = UnixStream::pair()?;
        words.set_nonblocking(true)?;
        Ok((Stop { words, heard: 0 }, Stopper(stopper)))
    }

    /// One that signals stop, too.
    ///
    /// # Errors
    /// The kernel's.
    pub fn at(signals: &[i32]) -> io::Result<(Stop, Stopper)> {
        let (stop, stopper) = Stop::new()?;
        for &signal in signals {
            pipe::register(signal, stopper.0.try_clone()?)?;
        }
        Ok((stop, stopper))
    }

    pub fn urgency(&mut self) -> Urgency {
        let mut words = [0; 16];
        match self.words.read(&mut words) {
            Ok(heard) => self.heard += heard,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.heard += 1,
        }
        match self.heard {
            0 => Urgency::None,
            1 => Urgency::Drain,
            _ => Urgency::AtOnce,
        }
    }

    /// Waits for the first request: for a daemon that has nothing else to do.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self) -> io::Result<()> {
        while self.urgency() == Urgency::None {
            match poll(&mut [PollFd::new(self.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.words.as_fd()
    }
}

impl Stopper {
    /// Ends the taking of new connections; open ones may go on for a while. The second call cuts those that are left.
    pub fn stop(&self) {
        // The daemon may be gone.
        let _ = (&self.0).write_all(b".");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_goes_on_when_asked_to_stop() {
        let (mut stop, stopper) = Stop::new().unwrap();
        stopper.stop();
        stop.wait().unwrap();
        assert_eq!(stop.urgency(), Urgency::Drain);
    }
}
