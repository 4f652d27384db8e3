//! One end of a relay.

use super::options;
use super::own::FlowKey;
use super::tools::Tools;
use nix::sys::socket::{Shutdown, shutdown};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// A connection, and its last known readiness: epoll reports only changes.
pub struct End {
    pub line: Line,
    pub readable: bool,
    pub writable: bool,
}

/// Who runs the connection.
pub enum Line {
    Kernel(OwnedFd),
    Own(FlowKey),
}

impl End {
    pub fn new(line: Line) -> End {
        End { line, readable: false, writable: false }
    }

    /// The error that has ended the connection.
    pub fn error(&self, tools: &Tools) -> Option<io::Error> {
        match &self.line {
            Line::Kernel(socket) => options::error(socket),
            Line::Own(key) => tools.flow(*key)?.failure.map(io::Error::from),
        }
    }

    /// Returns whether everything has been sent and acknowledged, in both directions.
    pub fn is_closed(&self, tools: &Tools) -> bool {
        match &self.line {
            Line::Kernel(socket) => options::is_closed(socket),
            Line::Own(key) => tools.flow(*key).is_none_or(|flow| flow.is_over()),
        }
    }

    /// Bytes of its peer's stream that have come, once the FIN has. Counted by whoever runs the connection, not by who
    /// reads it.
    pub fn received(&self, tools: &Tools) -> Option<u64> {
        match &self.line {
            Line::Kernel(socket) => options::received(socket),
            Line::Own(key) => Some(tools.flow(*key)?.stream.received()),
        }
    }

    /// Ends sending.
    pub fn shut(&self, tools: &mut Tools) -> io::Result<()> {
        match &self.line {
            Line::Kernel(socket) => Ok(shutdown(socket.as_raw_fd(), Shutdown::Write)?),
            Line::Own(key) => {
                tools.shut(*key);
                Ok(())
            }
        }
    }

    /// Bytes that its buffers may come to hold.
    pub fn room(&self, tools: &Tools) -> u64 {
        match &self.line {
            Line::Kernel(socket) => options::room(socket),
            Line::Own(key) => tools.flow(*key).map_or(0, |flow| flow.stream.room() as u64),
        }
    }

    /// Limits each of its buffers to this many bytes.
    pub fn limit_buffers(&self, bytes: u64, tools: &mut Tools) {
        match &self.line {
            Line::Kernel(socket) => options::limit_buffers(socket, bytes),
            Line::Own(key) => tools.limit(*key, bytes as usize),
        }
    }

    /// Keeps its buffers' sizes, or lets them follow the path again.
    pub fn keep_buffers(&self, kept: bool, tools: &mut Tools) {
        match &self.line {
            Line::Kernel(socket) => options::keep_buffers(socket, kept),
            Line::Own(key) => tools.keep(*key, kept),
        }
    }
}
