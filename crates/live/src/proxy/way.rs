//! One direction of a relay: one end gets what the other one sends.

use super::end::{End, Line};
use super::pipe::{Moved, Pipe};
use super::tools::Tools;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Bytes that a way may move before others have their turn.
const TURN_BYTES: u64 = 1 << 20;

#[derive(Default)]
pub struct Way {
    /// Data under way in here: in a pipe between two sockets of the kernel, otherwise as bytes.
    pipe: Option<Pipe>,
    bytes: Vec<u8>,
    /// Bytes taken from the sender so far, and given to the receiver.
    taken: u64,
    given: u64,
    /// Whether the sender has sent its FIN.
    has_ended: bool,
    /// Whether the proxy has sent its FIN to the receiver.
    is_shut: bool,
}

/// Which end has failed, and why.
#[derive(Debug)]
pub enum Failure {
    Sender(io::Error),
    Receiver(io::Error),
    /// Neither: this host is out of files.
    Host(io::Error),
    Short(Shortfall),
}

/// Bytes of a stream that came from its sender, and that were given to its receiver, where these differ at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shortfall {
    pub received: u64,
    pub given: u64,
}

/// The result of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    pub bytes: u64,
    /// There is more to move now.
    pub is_cut: bool,
}

impl Way {
    /// Returns whether the receiver has been told that nothing more comes.
    pub fn is_shut(&self) -> bool {
        self.is_shut
    }

    /// Bytes under way in here.
    pub fn held(&self) -> usize {
        self.pipe.as_ref().map_or(0, Pipe::held) + self.bytes.len()
    }

    /// Moves what it can. What the receiver does not take stays with the sender, whose window closes.
    ///
    /// # Errors
    /// One of the two connections has ended.
    pub fn pump(&mut self, from: &mut End, to: &mut End, tools: &mut Tools) -> Result<Turn, Failure> {
        let mut bytes = 0;
        while bytes < TURN_BYTES {
            let moved = self.step(from, to, tools)?;
            if moved == 0 {
                self.shut_if_over(from, to, tools)?;
                return Ok(Turn { bytes, is_cut: false });
            }
            bytes += moved;
        }
        Ok(Turn { bytes, is_cut: true })
    }

    pub fn release(&mut self, tools: &mut Tools) {
        if let Some(pipe) = self.pipe.take() {
            tools.pipes.give_back(pipe);
        }
    }

    /// Returns how many bytes went out.
    fn step(&mut self, from: &mut End, to: &mut End, tools: &mut Tools) -> Result<u64, Failure> {
        match (&from.line, &to.line) {
            (Line::Kernel(_), Line::Kernel(_)) => self.splice(from, to, tools),
            (Line::Kernel(_), Line::Own(_)) => self.send(from, to, tools),
            (Line::Own(_), _) => self.receive(from, to, tools),
        }
    }

    /// Moves a pipeful, without a copy.
    fn splice(&mut self, from: &mut End, to: &mut End, tools: &mut Tools) -> Result<u64, Failure> {
        let (Line::Kernel(sender), Line::Kernel(receiver)) = (&from.line, &to.line) else { return Ok(0) };
        if self.pipe.is_none() {
            if self.has_ended || !from.readable || !to.writable {
                return Ok(0);
            }
            self.pipe = Some(tools.pipes.take().map_err(Failure::Host)?);
        }
        let Some(pipe) = &mut self.pipe else { return Ok(0) };
        if pipe.held() == 0 {
            match pipe.fill(sender.as_fd()).map_err(Failure::Sender)? {
                Moved::Bytes(moved) => self.taken += moved as u64,
                Moved::Nothing => from.readable = false,
                Moved::End => self.has_ended = true,
            }
        }
        let mut bytes = 0;
        while pipe.held() > 0 && to.writable {
            match pipe.drain(receiver.as_fd()).map_err(Failure::Receiver)? {
                Moved::Bytes(moved) => bytes += moved as u64,
                Moved::Nothing | Moved::End => to.writable = false,
            }
        }
        if pipe.held() == 0 {
            self.release(tools);
        }
        self.given += bytes;
        Ok(bytes)
    }

    /// Moves data from a socket to a connection of our own, as much as that has room for.
    fn send(&mut self, from: &mut End, to: &mut End, tools: &mut Tools) -> Result<u64, Failure> {
        let (Line::Kernel(socket), Line::Own(key)) = (&from.line, &to.line) else { return Ok(0) };
        let room = tools.flow(*key).map_or(0, |flow| flow.stream.writable());
        to.writable = room > 0;
        if self.has_ended || !from.readable || room == 0 {
            return Ok(0);
        }
        let most = room.min(tools.buffer.len());
        match recv(socket.as_raw_fd(), &mut tools.buffer[..most], MsgFlags::MSG_DONTWAIT) {
            Ok(0) => self.has_ended = true,
            Ok(len) => {
                self.taken += len as u64;
                let given = tools.write(*key, len) as u64;
                self.given += given;
                return Ok(given);
            }
            Err(Errno::EAGAIN) => from.readable = false,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(Failure::Sender(error.into())),
        }
        Ok(0)
    }

    /// Moves data from a connection of our own to a socket.
    fn receive(&mut self, from: &mut End, to: &mut End, tools: &mut Tools) -> Result<u64, Failure> {
        let (Line::Own(key), Line::Kernel(socket)) = (&from.line, &to.line) else { return Ok(0) };
        if !to.writable {
            return Ok(0);
        }
        if self.bytes.is_empty() {
            let len = tools.read(*key);
            if len == 0 {
                self.has_ended = tools.flow(*key).is_some_and(|flow| flow.has_ended);
                return Ok(0);
            }
            self.taken += len as u64;
            let sent = deliver(socket, &tools.buffer[..len]).map_err(Failure::Receiver)?;
            to.writable = sent == len;
            self.bytes.extend_from_slice(&tools.buffer[sent..len]);
            self.given += sent as u64;
            return Ok(sent as u64);
        }
        let sent = deliver(socket, &self.bytes).map_err(Failure::Receiver)?;
        to.writable = sent == self.bytes.len();
        self.bytes.drain(..sent);
        self.given += sent as u64;
        if self.bytes.is_empty() {
            self.bytes = Vec::new();
        }
        Ok(sent as u64)
    }

    /// Passes on the FIN, which claims that all has come.
    fn shut_if_over(&mut self, from: &End, to: &End, tools: &mut Tools) -> Result<(), Failure> {
        if self.has_ended && !self.is_shut && self.held() == 0 {
            let received = from.received(tools).unwrap_or(self.taken);
            if received != self.given {
                return Err(Failure::Short(Shortfall { received, given: self.given }));
            }
            self.is_shut = true;
            to.shut(tools).map_err(Failure::Receiver)?;
        }
        Ok(())
    }
}

/// Gives a socket what it takes now.
fn deliver(socket: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    match send(socket.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT) {
        Ok(sent) => Ok(sent),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::Clock;
    use crate::proxy::options::reset_at_close;
    use std::io::{ErrorKind, Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    fn end(socket: TcpStream) -> End {
        socket.set_nonblocking(true).unwrap();
        reset_at_close(&socket).unwrap();
        End { readable: true, writable: true, ..End::new(Line::Kernel(socket.into())) }
    }

    /// An urgent byte that is not in line, as one that is lost in whatever way.
    #[test]
    fn a_stream_that_lacks_a_byte_ends_with_a_reset() {
        let ((mut sender, from), (to, mut receiver)) = (pair(), pair());
        sender.write_all(b"ab").unwrap();
        send(sender.as_raw_fd(), b"!", MsgFlags::MSG_OOB).unwrap();
        sender.write_all(b"more").unwrap();
        sender.shutdown(Shutdown::Write).unwrap();
        let (mut from, mut to) = (end(from), end(to));
        let (mut way, mut tools) = (Way::default(), Tools::new(None, None, Clock::start()));
        let failure = loop {
            match way.pump(&mut from, &mut to, &mut tools) {
                Ok(_) => from.readable = true,
                Err(failure) => break failure,
            }
        };
        assert!(matches!(failure, Failure::Short(Shortfall { received: 7, given: 6 })), "{failure:?}");
        drop((from, to));
        let mut bytes = Vec::new();
        let error = receiver.read_to_end(&mut bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "after {bytes:?}");
    }
}
