//! Two connections that replace one.

use super::config::{Config, Side};
use super::end::{End, Line};
use super::listeners::{Destination, Listener};
use super::options;
use super::own::FlowKey;
use super::tools::Tools;
use super::way::{Failure, Shortfall, Way};
use airtcp_wire::packet::Endpoints;
use nix::errno::Errno;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, bind, connect, setsockopt, socket, sockopt,
};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

/// Indices of a relay's ends.
pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

pub struct Relay {
    /// The client's end, and the server's, to which the proxy connects.
    pub ends: [End; 2],
    /// From the client, and from the server.
    ways: [Way; 2],
    clients: Side,
    /// Distinguishes the relay from later ones in the same place.
    pub serial: u64,
    pub is_connecting: bool,
    /// Bytes that its buffers may come to hold, as last measured.
    pub room: u64,
    /// Whether data has moved since then.
    pub has_moved: bool,
    pub addresses: [SocketAddr; 2],
}

/// The result of a turn.
#[derive(Debug)]
pub enum Outcome {
    Waits,
    /// There is more that could be done now.
    Goes,
    Completed,
    /// The end on this side is gone, for this reason.
    Lost(Side, io::Error),
    Unreachable(io::Error),
    Refused(io::Error),
    /// Not every byte that came from the end on this side was passed on.
    Truncated(Side, Shortfall),
}

/// Bytes that a turn has passed to each end.
pub type Handed = [u64; 2];

impl Relay {
    /// Begins to connect to a client's destination.
    ///
    /// # Errors
    /// The kernel's error. The client gets a RST.
    pub fn open(
        client: TcpStream,
        listener: &Listener,
        config: &Config,
        tools: &mut Tools,
    ) -> io::Result<Relay> {
        options::reset_at_close(&client)?;
        let peer = client.peer_addr()?;
        let to = match listener.to {
            Destination::Transparent => client.local_addr()?,
            Destination::Redirected { .. } => options::redirected_from(&client)?,
            Destination::Fixed(to) => to,
        };
        if !matches!(listener.to, Destination::Fixed(_)) && to == listener.address {
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, "that is the proxy's own address"));
        }
        client.set_nonblocking(true)?;
        options::tune(&client, config.tuning(listener.clients))?;
        let its_side = listener.clients.other();
        let local = match listener.to {
            Destination::Redirected { source } => SocketAddr::new(source, peer.port()),
            Destination::Transparent | Destination::Fixed(_) => peer,
        };
        let is_transparent = listener.to == Destination::Transparent;
        let now = tools.clock.now();
        let server = match tools.stack_for_new() {
            Some(stack) if its_side == Side::Wireless => Line::Own(stack.connect(now, local, to)?),
            _ => Line::Kernel(server(to, its_side, is_transparent.then_some(peer), config)?),
        };
        Ok(Relay::new(Line::Kernel(client.into()), server, listener.clients, [peer, to]))
    }

    /// Begins to connect to the destination of a client of our own stack.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open_own(client: FlowKey, endpoints: &Endpoints, config: &Config) -> io::Result<Relay> {
        let (to, peer) = (endpoints.source(), endpoints.reversed().source());
        let server = Line::Kernel(server(to, Side::Wired, Some(peer), config)?);
        let mut relay = Relay::new(Line::Own(client), server, Side::Wireless, [peer, to]);
        relay.handle_own(CLIENT, true);
        Ok(relay)
    }

    fn new(client: Line, server: Line, clients: Side, addresses: [SocketAddr; 2]) -> Relay {
        Relay {
            ends: [End::new(client), End::new(server)],
            ways: Default::default(),
            clients,
            serial: 0,
            is_connecting: true,
            room: 0,
            has_moved: true,
            addresses,
        }
    }

    /// The side on which an end is.
    pub fn side(&self, end: usize) -> Side {
        if end == CLIENT { self.clients } else { self.clients.other() }
    }

    /// Handles epoll's report on an end.
    pub fn handle(&mut self, end: usize, flags: EpollFlags) {
        let over = EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP;
        let [incoming, outgoing] = [EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP, EpollFlags::EPOLLOUT];
        self.ends[end].readable |= flags.intersects(incoming | over);
        self.ends[end].writable |= flags.intersects(outgoing | over);
    }

    /// Handles an event of an end that is our own.
    pub fn handle_own(&mut self, end: usize, is_connected: bool) {
        let end = &mut self.ends[end];
        (end.readable, end.writable) = (true, is_connected);
    }

    /// Moves data as far as possible now.
    pub fn go_on(&mut self, tools: &mut Tools) -> (Outcome, Handed) {
        let mut handed = [0; 2];
        if let Some(outcome) = self.loss(tools) {
            return (outcome, handed);
        }
        if self.is_connecting {
            if !self.ends[SERVER].writable {
                return (self.speak_early(tools), handed);
            }
            self.is_connecting = false;
        }
        let mut goes = false;
        for from in [CLIENT, SERVER] {
            let [client, server] = &mut self.ends;
            let (sender, receiver) = if from == CLIENT { (client, server) } else { (server, client) };
            match self.ways[from].pump(sender, receiver, tools) {
                Ok(turn) => {
                    handed[1 - from] += turn.bytes;
                    goes |= turn.is_cut;
                }
                Err(failure) => return (self.failed(from, failure), handed),
            }
        }
        self.has_moved |= handed != [0; 2];
        (if goes { Outcome::Goes } else { self.rest(tools) }, handed)
    }

    /// Gives a connection of our own that opens fast (RFC 7413) what its client has said: it goes with the SYN.
    fn speak_early(&mut self, tools: &mut Tools) -> Outcome {
        let [client, server] = &mut self.ends;
        let Line::Own(key) = server.line else { return Outcome::Waits };
        if !tools.flow(key).is_some_and(|flow| flow.awaits_text()) {
            return Outcome::Waits;
        }
        server.writable = true;
        let turn = self.ways[CLIENT].pump(client, server, tools);
        server.writable = false;
        turn.map_or_else(|failure| self.failed(CLIENT, failure), |_| Outcome::Waits)
    }

    /// Lets go of both connections. An end that has not closed its own gets a RST.
    pub fn release(mut self, tools: &mut Tools) {
        self.ways.iter_mut().for_each(|way| way.release(tools));
        for end in &self.ends {
            if let Line::Own(key) = end.line {
                tools.release(key);
            }
        }
    }

    /// Bytes that its buffers may come to hold now.
    pub fn measure(&self, tools: &Tools) -> u64 {
        let held: usize = self.ways.iter().map(Way::held).sum();
        self.ends.iter().map(|end| end.room(tools)).sum::<u64>() + held as u64
    }

    /// Limits all its buffers together to this many bytes.
    pub fn limit_buffers(&self, bytes: u64, tools: &mut Tools) {
        self.ends.iter().for_each(|end| end.limit_buffers(bytes / 4, tools));
    }

    pub fn keep_buffers(&self, kept: bool, tools: &mut Tools) {
        self.ends.iter().for_each(|end| end.keep_buffers(kept, tools));
    }

    /// What a relay does in which nothing can be moved: it waits, or is over.
    fn rest(&self, tools: &Tools) -> Outcome {
        let is_over = self.ways.iter().all(Way::is_shut);
        match is_over && self.ends.iter().all(|end| end.is_closed(tools)) {
            // An end may have been lost since the turn began.
            true => self.loss(tools).unwrap_or(Outcome::Completed),
            false => Outcome::Waits,
        }
    }

    fn loss(&self, tools: &Tools) -> Option<Outcome> {
        [CLIENT, SERVER].into_iter().find_map(|end| Some(self.lost(end, self.ends[end].error(tools)?)))
    }

    fn failed(&self, from: usize, failure: Failure) -> Outcome {
        match failure {
            Failure::Sender(error) => self.lost(from, error),
            Failure::Receiver(error) => self.lost(1 - from, error),
            Failure::Host(error) => Outcome::Refused(error),
            Failure::Short(shortfall) => Outcome::Truncated(self.side(from), shortfall),
        }
    }

    fn lost(&self, end: usize, error: io::Error) -> Outcome {
        match end == SERVER && self.is_connecting {
            true => Outcome::Unreachable(error),
            false => Outcome::Lost(self.side(end), error),
        }
    }
}

/// Opens a socket that begins to connect, from the client's address if there is one.
fn server(to: SocketAddr, side: Side, client: Option<SocketAddr>, config: &Config) -> io::Result<OwnedFd> {
    let family = if to.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let server = socket(family, SockType::Stream, flags, None)?;
    options::mark(&server, side)?;
    if let Some(client) = client {
        options::be_transparent(&server)?;
        // The client may have the same port for connections to others.
        setsockopt(&server, sockopt::ReuseAddr, &true)?;
        bind(server.as_raw_fd(), &SockaddrStorage::from(client))?;
    }
    options::reset_at_close(&server)?;
    options::keep_urgent_data_in_line(&server)?;
    options::tune(&server, config.tuning(side))?;
    match connect(server.as_raw_fd(), &SockaddrStorage::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(server),
        Err(error) => Err(error.into()),
    }
}
