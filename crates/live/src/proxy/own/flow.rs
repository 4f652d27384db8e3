//! One connection of our own, and how its packets are written and read.

use crate::stream::Stream;
use airtcp_proto::tcp::{Connection, Event, State};
use airtcp_wire::Time;
use airtcp_wire::packet::{Endpoints, TcpPacket};
use std::io;

/// Which one. Whoever keeps the key of a connection that is gone finds nothing, whatever has its place now.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FlowKey {
    pub(super) place: usize,
    pub(super) serial: u64,
}

pub struct Flow {
    pub stream: Stream,
    /// From us to the peer.
    pub endpoints: Endpoints,
    /// When the machine wants to be called again.
    pub timer: Time,
    /// The handshake is complete.
    pub is_connected: bool,
    /// The peer has sent its FIN.
    pub has_ended: bool,
    /// Why it is over before both ends have closed it.
    pub failure: Option<io::ErrorKind>,
    pub phase: Phase,
}

/// Who minds a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Nobody yet: its handshake, which the peer has begun, is under way.
    HalfOpen,
    Used,
    /// Nobody any more: it is there for the network alone.
    Released,
}

impl Flow {
    pub fn new(connection: Connection, endpoints: Endpoints, buffer: usize, phase: Phase) -> Flow {
        let stream =
            Stream::new(connection, endpoints.source(), Some(endpoints.reversed().source()), buffer, buffer);
        Flow {
            stream,
            endpoints,
            timer: Time::NEVER,
            is_connected: false,
            has_ended: false,
            failure: None,
            phase,
        }
    }

    pub fn handle_packet(&mut self, now: Time, packet: &TcpPacket, bytes: &[u8]) {
        let is_reset = packet.segment.flags.contains(airtcp_wire::Flags::RST);
        self.stream.handle_packet(now, packet, bytes);
        self.hear(if is_reset { io::ErrorKind::ConnectionReset } else { io::ErrorKind::TimedOut });
    }

    pub fn handle_timeout(&mut self, now: Time) {
        self.stream.connection().handle_timeout(now);
        self.hear(io::ErrorKind::TimedOut);
    }

    /// Nothing more comes and nothing more is to be sent, but for what TIME-WAIT answers.
    pub fn is_over(&self) -> bool {
        matches!(self.stream.state(), State::Closed | State::TimeWait)
    }

    /// Has a handshake that the peer began come to nothing?
    pub fn is_in_vain(&self) -> bool {
        self.failure.is_some() || matches!(self.stream.state(), State::Listen | State::Closed)
    }

    pub fn is_closed(&self) -> bool {
        self.stream.state() == State::Closed
    }

    /// `cause` is what has happened, should the connection have been given up.
    fn hear(&mut self, cause: io::ErrorKind) {
        while let Some(event) = self.stream.poll_event() {
            match event {
                Event::Connected => self.is_connected = true,
                Event::PeerFinished => self.has_ended = true,
                Event::Reset => self.failure = Some(cause),
                Event::AllAcknowledged | Event::Closed => {}
            }
        }
    }
}
