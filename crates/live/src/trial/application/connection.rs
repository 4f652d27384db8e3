//! A connection with both its ends, as the applications at them use it.

use super::sockets::abandon;
use crate::trial::books::Sending;
use crate::trial::send_buffer;
use airtcp_wire::Time;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, Shutdown, recv, send, shutdown};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes that are written or read with one call: about as many as Linux puts into one packet before it asks again whether
/// the send buffer has room.
pub const CHUNK: usize = 64 << 10;

pub struct Connection {
    pub sending: Arc<Sending>,
    /// `None` before the receiver has accepted.
    pub receiver: Option<OwnedFd>,
    pub started: Time,
    /// Bytes that the application wants to write and the kernel has not taken.
    unwritten: u64,
    is_greedy: bool,
    is_closing: bool,
    is_connected: bool,
    is_shut: bool,
    /// Whether the receiver has everything.
    pub is_complete: bool,
    /// For each end, whether it has seen that the other one has closed.
    pub is_over: [bool; 2],
}

/// The result of reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    Nothing,
    /// There will be no more.
    End,
    Failed,
}

/// Indices into [`Connection::is_over`].
pub const SENDER: usize = 0;
pub const RECEIVER: usize = 1;

impl Connection {
    pub fn new(sending: Arc<Sending>, started: Time) -> Connection {
        Connection {
            sending,
            receiver: None,
            started,
            unwritten: 0,
            is_greedy: false,
            is_closing: false,
            is_connected: false,
            is_shut: false,
            is_complete: false,
            is_over: [false; 2],
        }
    }

    pub fn write(&mut self, bytes: u64) {
        self.unwritten += bytes;
    }

    pub fn set_greedy(&mut self, greedy: bool) {
        self.is_greedy = greedy;
    }

    pub fn close(&mut self) {
        self.is_greedy = false;
        self.is_closing = true;
    }

    pub fn on_connected(&mut self) {
        self.is_connected = true;
    }

    /// Writes as much as the kernel takes. Errors show when the socket is read.
    pub fn flush(&mut self, zeros: &[u8]) {
        while (self.is_greedy || self.unwritten > 0) && send_buffer::has_room(&self.sending.socket) {
            let len =
                if self.is_greedy { zeros.len() as u64 } else { self.unwritten.min(zeros.len() as u64) };
            match send(self.sending.socket.as_raw_fd(), &zeros[..len as usize], MsgFlags::MSG_NOSIGNAL) {
                Ok(sent) if self.is_greedy => self.is_connected |= sent > 0,
                Ok(sent) => self.unwritten -= sent as u64,
                Err(Errno::EINTR) => {}
                Err(_) => return,
            }
        }
        if self.is_closing && self.is_connected && !self.is_shut {
            self.is_shut = true;
            let _ = shutdown(self.sending.socket.as_raw_fd(), Shutdown::Write);
        }
    }

    /// Reads what has arrived at the receiver; only its length matters.
    pub fn receive(&mut self, room: &mut [u8]) -> Reading {
        let Some(receiver) = &self.receiver else { return Reading::Nothing };
        loop {
            // MSG_TRUNC discards the bytes without copying them.
            match recv(receiver.as_raw_fd(), room, MsgFlags::MSG_TRUNC) {
                Ok(0) => return Reading::End,
                Ok(read) => drop(self.sending.received.fetch_add(read as u64, Ordering::Relaxed)),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Reading::Nothing,
                Err(_) => return Reading::Failed,
            }
        }
    }

    /// Ends the connection at the receiver, which has everything and sends nothing itself.
    pub fn complete(&mut self) {
        self.is_complete = true;
        if let Some(receiver) = &self.receiver {
            let _ = shutdown(receiver.as_raw_fd(), Shutdown::Write);
        }
    }

    /// Returns whether the receiver has closed, too. It sends nothing else.
    pub fn poll_sender(&mut self, room: &mut [u8]) -> Reading {
        match recv(self.sending.socket.as_raw_fd(), room, MsgFlags::MSG_TRUNC) {
            Ok(0) => Reading::End,
            Ok(_) | Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOTCONN) => Reading::Nothing,
            Err(_) => Reading::Failed,
        }
    }

    /// Leaves nothing behind in the kernel.
    pub fn abandon(&self) {
        abandon(&self.sending.socket);
        self.receiver.iter().for_each(abandon);
    }
}
