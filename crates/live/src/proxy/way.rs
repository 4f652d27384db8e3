//! One way through a relay: what one end sends the other one gets.

use super::pipe::{Moved, Pipe, Pipes};
use nix::sys::socket::{Shutdown, shutdown};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Bytes that a way may move until others have their turn.
const TURN_BYTES: u64 = 1 << 20;

/// A socket, and what it was last known to be ready for: epoll tells of changes alone.
pub struct End {
    pub socket: OwnedFd,
    pub readable: bool,
    pub writable: bool,
}

#[derive(Default)]
pub struct Way {
    pipe: Option<Pipe>,
    /// The sender has sent its FIN.
    has_ended: bool,
    /// So has the proxy to the receiver.
    is_shut: bool,
}

/// Which end has failed, and why.
#[derive(Debug)]
pub enum Failure {
    Sender(io::Error),
    Receiver(io::Error),
    /// Neither: this host has no more files.
    Host(io::Error),
}

/// How a turn has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    pub bytes: u64,
    /// There is more that could be moved now.
    pub is_cut: bool,
}

impl Way {
    /// Whether its receiver has been told that nothing more comes.
    pub fn is_shut(&self) -> bool {
        self.is_shut
    }

    /// Bytes under way in here.
    pub fn held(&self) -> usize {
        self.pipe.as_ref().map_or(0, Pipe::held)
    }

    /// Moves what it can. What the receiver does not take stays with the sender: its window closes.
    ///
    /// # Errors
    /// The connection of one of both has ended.
    pub fn pump(&mut self, from: &mut End, to: &mut End, pipes: &mut Pipes) -> Result<Turn, Failure> {
        let mut bytes = 0;
        while bytes < TURN_BYTES {
            let moved = self.step(from, to, pipes)?;
            if moved == 0 {
                self.shut_if_over(to)?;
                return Ok(Turn { bytes, is_cut: false });
            }
            bytes += moved;
        }
        Ok(Turn { bytes, is_cut: true })
    }

    pub fn release(&mut self, pipes: &mut Pipes) {
        if let Some(pipe) = self.pipe.take() {
            pipes.give_back(pipe);
        }
    }

    /// A pipe full, in and out. Answers how much of it went out.
    fn step(&mut self, from: &mut End, to: &mut End, pipes: &mut Pipes) -> Result<u64, Failure> {
        if self.pipe.is_none() {
            if self.has_ended || !from.readable || !to.writable {
                return Ok(0);
            }
            self.pipe = Some(pipes.take().map_err(Failure::Host)?);
        }
        let Some(pipe) = &mut self.pipe else { return Ok(0) };
        if pipe.held() == 0 {
            match pipe.fill(from.socket.as_fd()).map_err(Failure::Sender)? {
                Moved::Bytes(_) => {}
                Moved::Nothing => from.readable = false,
                Moved::End => self.has_ended = true,
            }
        }
        let mut bytes = 0;
        while pipe.held() > 0 && to.writable {
            match pipe.drain(to.socket.as_fd()).map_err(Failure::Receiver)? {
                Moved::Bytes(moved) => bytes += moved as u64,
                Moved::Nothing | Moved::End => to.writable = false,
            }
        }
        if pipe.held() == 0 {
            self.release(pipes);
        }
        Ok(bytes)
    }

    fn shut_if_over(&mut self, to: &End) -> Result<(), Failure> {
        if self.has_ended && !self.is_shut && self.held() == 0 {
            self.is_shut = true;
            shutdown(to.socket.as_raw_fd(), Shutdown::Write)
                .map_err(|error| Failure::Receiver(error.into()))?;
        }
        Ok(())
    }
}
