//! The loop that runs one connection on a device. See [`airtcp_proto::machine`] for the contract that it keeps.

use crate::stream::Stream;
use crate::tun::PacketDevice;
use airtcp_proto::cc::RegistryError;
use airtcp_proto::tcp::{Connection, TcpConfig};
use airtcp_wire::packet::{PacketError, decode_tcp};
use airtcp_wire::units::NANOS_PER_SEC;
use airtcp_wire::{Seq, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Instant;

/// Longest packet in bytes that IP can carry.
const MAX_PACKET: usize = 1 << 16;

/// What uses a connection.
pub trait Application {
    /// Called on each turn of the loop, after what has arrived was handled and before anything is sent. It reads and
    /// writes as much as it can: the next turn may come only when something arrives. `Break` leaves the loop, after
    /// what can be sent was sent.
    fn on_turn(&mut self, stream: &mut Stream) -> ControlFlow<()>;
}

/// Why a connection cannot be begun or run.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    #[error("{local} and {peer} are not of one address family")]
    Families { local: SocketAddr, peer: SocketAddr },
    #[error(transparent)]
    Config(#[from] RegistryError),
    #[error("the device: {0}")]
    Device(#[from] io::Error),
    #[error("a segment that does not fit a packet: {0}")]
    Packet(#[from] PacketError),
}

/// What a connection is begun with.
#[derive(Clone, Debug)]
pub struct Opening {
    pub config: TcpConfig,
    /// Initial send sequence number, which others must not be able to guess (RFC 9293 §3.4.1).
    pub iss: Seq,
    /// Of the connection's random choices.
    pub seed: u64,
    /// Send buffer in bytes.
    pub send_capacity: usize,
}

/// Runs one connection on a device.
pub struct Driver<D> {
    device: D,
    stream: Stream,
    epoch: Instant,
    received: Box<[u8]>,
    sent: Box<[u8]>,
}

impl<D: PacketDevice> Driver<D> {
    /// An active open from `local` to `peer`.
    ///
    /// # Errors
    /// [`DriverError::Families`] and [`DriverError::Config`].
    pub fn connect(
        device: D,
        local: SocketAddr,
        peer: SocketAddr,
        opening: &Opening,
    ) -> Result<Driver<D>, DriverError> {
        if local.is_ipv4() != peer.is_ipv4() {
            return Err(DriverError::Families { local, peer });
        }
        let config = config_for(local, &opening.config);
        let connection = Connection::connect(&config, opening.iss, opening.seed, Time::ZERO)?;
        Ok(Driver::new(device, connection, local, Some(peer), opening))
    }

    /// A passive open that takes the first connection to `local`.
    ///
    /// # Errors
    /// [`DriverError::Config`].
    pub fn listen(device: D, local: SocketAddr, opening: &Opening) -> Result<Driver<D>, DriverError> {
        let config = config_for(local, &opening.config);
        let connection = Connection::listen(&config, opening.iss, opening.seed)?;
        Ok(Driver::new(device, connection, local, None, opening))
    }

    #[allow(clippy::disallowed_methods, reason = "the real-time driver is where clocks are read")]
    fn new(
        device: D,
        connection: Connection,
        local: SocketAddr,
        peer: Option<SocketAddr>,
        opening: &Opening,
    ) -> Driver<D> {
        let receive_capacity = opening.config.receive_window.0 as usize;
        Driver {
            device,
            stream: Stream::new(connection, local, peer, opening.send_capacity, receive_capacity),
            epoch: Instant::now(),
            received: vec![0; MAX_PACKET].into_boxed_slice(),
            sent: vec![0; MAX_PACKET].into_boxed_slice(),
        }
    }

    /// Runs until `application` breaks off.
    ///
    /// # Errors
    /// [`DriverError::Device`] and [`DriverError::Packet`].
    pub fn run(&mut self, application: &mut impl Application) -> Result<(), DriverError> {
        loop {
            let now = self.now();
            let is_idle = !self.receive(now)?;
            if self.stream.connection().poll_timeout() <= now {
                self.stream.connection().handle_timeout(now);
            }
            let flow = application.on_turn(&mut self.stream);
            self.transmit(now)?;
            if flow.is_break() {
                return Ok(());
            }
            if is_idle {
                self.wait(now)?;
            }
        }
    }

    pub fn device(&self) -> &D {
        &self.device
    }

    /// The one clock read of a turn.
    #[allow(clippy::disallowed_methods, reason = "the real-time driver is where clocks are read")]
    fn now(&self) -> Time {
        Time(Instant::now().duration_since(self.epoch).as_nanos() as u64)
    }

    /// Handles the next packet, if one waits. One a turn: a clock that stood still over several would show RACK that
    /// what was sent between them had been sent at once, in the order of sequence numbers (RFC 8985 §6.2).
    fn receive(&mut self, now: Time) -> io::Result<bool> {
        let Some(len) = self.device.recv(&mut self.received)? else { return Ok(false) };
        let bytes = &self.received[..len];
        // RFC 9293 §3.1: what has a wrong checksum, or is no TCP packet at all, is dropped silently.
        if let Ok(packet) = decode_tcp(bytes) {
            self.stream.handle_packet(now, &packet, bytes);
        }
        Ok(true)
    }

    fn transmit(&mut self, now: Time) -> Result<(), DriverError> {
        while let Some(transmit) = self.stream.connection().poll_transmit(now) {
            let len = self.stream.encode(&transmit, &mut self.sent)?;
            self.device.send(&self.sent[..len])?;
        }
        Ok(())
    }

    /// Sleeps until a packet waits or the connection wants its timer served.
    fn wait(&mut self, now: Time) -> io::Result<()> {
        let deadline = self.stream.connection().poll_timeout();
        let timeout = (!deadline.is_never()).then(|| {
            let left = deadline.since(now).0;
            TimeSpec::new((left / NANOS_PER_SEC) as i64, (left % NANOS_PER_SEC) as i64)
        });
        let mut waiting = [PollFd::new(self.device.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut waiting, timeout, None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The configuration counts an IPv4 header; IPv6's is 20 bytes longer (RFC 6691 §2).
fn config_for(local: SocketAddr, config: &TcpConfig) -> TcpConfig {
    let longer = if local.is_ipv6() { 20 } else { 0 };
    TcpConfig { packet_size: config.packet_size.saturating_sub(longer), ..config.clone() }
}
