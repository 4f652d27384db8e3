//! Pipes, through which the kernel moves data from one socket to another without a copy.
//!
//! A way holds a pipe only while there is data in it, so that only ways whose receiver takes no more need one.

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, splice};

use nix::sys::socket::{MsgFlags, recv};
use nix::unistd::{pipe2, write};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// In bytes. A slot holds no more than a part of one packet, so that a pipe is full long before where packets come
/// one by one.
const PIPE_BYTES: usize = 256 << 10;

/// Empty pipes that are kept.
const SPARE: usize = 16;

pub struct Pipe {
    out: OwnedFd,
    into: OwnedFd,
    /// Bytes in the pipe.
    held: usize,
}

/// The result of moving data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    Bytes(usize),
    /// No more can be moved now.
    Nothing,
    End,
}

impl Pipe {
    fn new() -> io::Result<Pipe> {
        let (out, into) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        // Beyond `fs.pipe-user-pages-soft`, pipes stay short, which is slower but works.
        let _ = fcntl(&into, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES as i32));
        Ok(Pipe { out, into, held: 0 })
    }

    pub fn held(&self) -> usize {
        self.held
    }

    /// Takes in what has come at `socket`. The pipe must be empty.
    ///
    /// # Errors
    /// What has ended the connection.
    pub fn fill(&mut self, socket: impl AsFd) -> io::Result<Moved> {
        let moved = match transfer(&socket, &self.into, PIPE_BYTES)? {
            // In front of urgent data, splice tells the same. Only a read tells the difference, and gets past it.
            Moved::Nothing | Moved::End => self.read(&socket)?,
            moved @ Moved::Bytes(_) => moved,
        };
        if let Moved::Bytes(bytes) = moved {
            self.held += bytes;
        }
        Ok(moved)
    }

    /// Copies what has come at `socket`, as much as every pipe has room for.
    fn read(&self, socket: impl AsFd) -> io::Result<Moved> {
        let mut bytes = [0; libc::PIPE_BUF];
        match recv(socket.as_fd().as_raw_fd(), &mut bytes, MsgFlags::MSG_DONTWAIT) {
            Ok(0) => Ok(Moved::End),
            // A write of so few bytes is never cut (pipe(7)).
            Ok(len) => Ok(Moved::Bytes(write(&self.into, &bytes[..len])?)),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(Moved::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// Passes on what the pipe holds.
    ///
    /// # Errors
    /// What has ended the connection.
    pub fn drain(&mut self, socket: impl AsFd) -> io::Result<Moved> {
        let moved = transfer(&self.out, socket, self.held)?;
        if let Moved::Bytes(bytes) = moved {
            self.held -= bytes;
        }
        Ok(moved)
    }
}

fn transfer(from: impl AsFd, to: impl AsFd, most: usize) -> io::Result<Moved> {
    let flags = SpliceFFlags::SPLICE_F_MOVE | SpliceFFlags::SPLICE_F_NONBLOCK;
    loop {
        return match splice(&from, None, &to, None, most, flags) {
            Ok(0) => Ok(Moved::End),
            Ok(bytes) => Ok(Moved::Bytes(bytes)),
            Err(Errno::EINTR) => continue,
            Err(Errno::EAGAIN) => Ok(Moved::Nothing),
            Err(error) => Err(error.into()),
        };
    }
}

/// Spare pipes.
#[derive(Default)]
pub struct Pipes(Vec<Pipe>);

impl Pipes {
    /// # Errors
    /// The kernel's: too many open files.
    pub fn take(&mut self) -> io::Result<Pipe> {
        self.0.pop().map_or_else(Pipe::new, Ok)
    }

    /// Keeps an empty pipe, unless there are enough.
    pub fn give_back(&mut self, pipe: Pipe) {
        if pipe.held == 0 && self.0.len() < SPARE {
            self.0.push(pipe);
        }
    }
}
