//! How a daemon is told to end.

use signal_hook::low_level::pipe;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// Where a daemon hears that it is to end: the first word lets connections drain, the second one cuts them.
pub struct Stop {
    words: UnixStream,
    heard: usize,
}

/// Tells it.
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

    /// One that signals tell, too.
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
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.words.as_fd()
    }
}

impl Stopper {
    /// Connections may go on for a while, new ones are not taken. Told again, those that are left are cut.
    pub fn stop(&self) {
        // A daemon that is gone hears nothing.
        let _ = (&self.0).write_all(b".");
    }
}
