//! The applications of a run. They open connections, write, read and close when their [`Source`]s say so. One thread
//! with one epoll serves all of them. It sleeps unless there is something to do, so that it does not keep the
//! emulator from running.
//!
//! [`Source`]: airtcp_sim::traffic::Source

mod connection;
mod sockets;

use super::books::{Books, Sending};
use super::flows::Flow;
use super::forms::ProxySite;
use super::hosts::Hosts;
use crate::emulate::Clock;
use airtcp_sim::traffic::Action;
use airtcp_wire::units::NANOS_PER_SEC;
use airtcp_wire::{Dur, Time};
use connection::{CHUNK, Connection, RECEIVER, Reading, SENDER};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{SockFlag, SockaddrIn, accept4, getpeername};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::collections::BTreeMap;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Port of the first flow's receiver; the others follow. A packet's flow and direction are read from these ports.
pub const FIRST_PORT: u16 = 5000;
/// As many as there are ports for.
pub const MOST_FLOWS: usize = 10_000;
/// Ports of senders.
const SENDER_PORTS: std::ops::RangeInclusive<u16> = 20_000..=60_000;

/// Longest sleep, so that the end of the run is noticed.
const LOOK: Dur = Dur::from_millis(20);
const EVENTS: usize = 64;

/// Headers of IPv4 and UDP.
const UDP_HEADERS_BYTES: usize = 28;

/// The port of a flow's receiver.
pub fn port_of(flow: usize) -> u16 {
    FIRST_PORT + flow as u16
}

pub struct Applications<'a> {
    /// The run's clock, once it has begun.
    clock: Clock,
    hosts: &'a Hosts,
    books: &'a Books,
    flows: Vec<Flow>,
    epoll: Epoll,
    timer: TimerFd,
    /// Listeners of flows with connections. Indexed by flow, like the next two.
    listeners: Vec<Option<OwnedFd>>,
    datagrams: Vec<Option<[UdpSocket; 2]>>,
    /// Sender's port of the flow's lasting connection.
    lasting: Vec<Option<u16>>,
    /// By the sender's port.
    connections: BTreeMap<u16, Connection>,
    next_port: u16,
    buffer: Vec<u8>,
}

/// What an event is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token {
    Timer,
    Listener(u16),
    Sender(u16),
    Receiver(u16),
}

impl Token {
    fn from_u64(data: u64) -> Token {
        let number = data as u16;
        match data >> 16 {
            0 => Token::Timer,
            1 => Token::Listener(number),
            2 => Token::Sender(number),
            _ => Token::Receiver(number),
        }
    }

    fn to_u64(self) -> u64 {
        let (kind, number) = match self {
            Token::Timer => (0, 0),
            Token::Listener(flow) => (1, flow),
            Token::Sender(port) => (2, port),
            Token::Receiver(port) => (3, port),
        };
        kind << 16 | u64::from(number)
    }
}

impl<'a> Applications<'a> {
    /// Makes everything that must be there before the first packet.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(flows: Vec<Flow>, hosts: &'a Hosts, books: &'a Books) -> io::Result<Applications<'a>> {
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        let mut applications = Applications {
            clock: Clock::start(),
            hosts,
            books,
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            timer,
            listeners: Vec::new(),
            datagrams: Vec::new(),
            lasting: vec![None; flows.len()],
            connections: BTreeMap::new(),
            next_port: *SENDER_PORTS.start(),
            buffer: vec![0; CHUNK],
            flows: Vec::new(),
        };
        applications.watch(&applications.timer, Token::Timer, EpollFlags::EPOLLIN)?;
        for (index, flow) in flows.iter().enumerate() {
            let (from, to) = (hosts.sender(index), hosts.receiver(index));
            let (listener, datagrams) = match flow.is_datagrams {
                true => (None, Some(sockets::datagrams(from, to, port_of(index))?)),
                false => (Some(sockets::listener(to, port_of(index), &flow.form)?), None),
            };
            if let Some(listener) = &listener {
                applications.watch(listener, Token::Listener(index as u16), EpollFlags::EPOLLIN)?;
            }
            applications.listeners.push(listener);
            applications.datagrams.push(datagrams);
        }
        applications.flows = flows;
        Ok(applications)
    }

    /// Runs until `stop` is set, by this clock.
    ///
    /// # Errors
    /// The kernel's.
    pub fn run(&mut self, clock: Clock, stop: &AtomicBool) -> io::Result<()> {
        self.clock = clock;
        let mut events = [EpollEvent::empty(); EVENTS];
        while !stop.load(Ordering::Relaxed) {
            self.act()?;
            self.set_timer()?;
            let ready = match self.epoll.wait(&mut events, EpollTimeout::NONE) {
                Err(Errno::EINTR) => 0,
                ready => ready?,
            };
            for event in &events[..ready] {
                self.on_event(Token::from_u64(event.data()), event.events())?;
            }
        }
        Ok(())
    }

    /// Does what the sources have asked for until now.
    fn act(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        for flow in 0..self.flows.len() {
            loop {
                let due = self.flows[flow].source.poll_timeout();
                if due > now {
                    break;
                }
                // At its due time, so that lateness does not delay what comes after it.
                let action = self.flows[flow].source.handle_timeout(due);
                self.take(flow, action)?;
            }
        }
        Ok(())
    }

    fn set_timer(&mut self) -> io::Result<()> {
        let next = self.flows.iter().map(|flow| flow.source.poll_timeout()).min().unwrap_or(Time::NEVER);
        let left = next.since(self.clock.now()).min(LOOK).max(Dur(1));
        let after = TimeSpec::new((left.0 / NANOS_PER_SEC) as i64, (left.0 % NANOS_PER_SEC) as i64);
        Ok(self.timer.set(Expiration::OneShot(after), TimerSetTimeFlags::empty())?)
    }

    fn take(&mut self, flow: usize, action: Action) -> io::Result<()> {
        match action {
            Action::Open => {
                self.lasting[flow] = Some(self.open(flow, true, |_| {})?);
            }
            Action::Transfer(bytes) => {
                self.open(flow, false, |connection| {
                    connection.write(bytes);
                    connection.close();
                })?;
            }
            Action::Write(bytes) => self.with_lasting(flow, |connection| connection.write(bytes)),
            Action::Greedy(greedy) => self.with_lasting(flow, |connection| connection.set_greedy(greedy)),
            Action::Close => self.with_lasting(flow, Connection::close),
            Action::Datagram(bytes) => {
                if let Some([sender, _]) = &self.datagrams[flow] {
                    let payload = (bytes as usize).saturating_sub(UDP_HEADERS_BYTES).min(CHUNK);
                    // A datagram that finds the device's queue full is lost, as on any host.
                    let _ = sender.send(&self.buffer[..payload]);
                }
            }
            Action::Nothing => {}
        }
        Ok(())
    }

    fn with_lasting(&mut self, flow: usize, act: impl FnOnce(&mut Connection)) {
        let Some(connection) = self.lasting[flow].and_then(|port| self.connections.get_mut(&port)) else {
            return;
        };
        act(connection);
        connection.flush(&self.buffer);
    }

    /// Opens a connection, and returns its sender's port.
    fn open(
        &mut self,
        flow: usize,
        is_lasting: bool,
        begin: impl FnOnce(&mut Connection),
    ) -> io::Result<u16> {
        let (port, socket) = self.bound(flow)?;
        let sending = Arc::new(Sending {
            socket,
            flow,
            is_lasting,
            received: AtomicU64::new(0),
            port,
            expiries: Mutex::default(),
            own: (self.flows[flow].proxy_site() == Some(ProxySite::Sender))
                .then(|| self.hosts.senders.clone()),
        });
        // The meter looks here when it sees the SYN.
        self.books.open(port, sending.clone());
        let mut connection = Connection::new(sending, self.clock.now());
        begin(&mut connection);
        sockets::open(&connection.sending.socket, self.hosts.receiver(flow), port_of(flow))?;
        let interest =
            EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET;
        self.watch(&connection.sending.socket, Token::Sender(port), interest)?;
        self.connections.insert(port, connection);
        Ok(port)
    }

    /// A sender's socket, bound to a port that no connection has.
    fn bound(&mut self, flow: usize) -> io::Result<(u16, OwnedFd)> {
        for _ in SENDER_PORTS {
            let port = self.next_port;
            self.next_port = if port == *SENDER_PORTS.end() { *SENDER_PORTS.start() } else { port + 1 };
            if self.connections.contains_key(&port) {
                continue;
            }
            match sockets::sender(self.hosts.sender(flow), port, &self.flows[flow].form) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                made => return made.map(|socket| (port, socket)),
            }
        }
        Err(io::Error::new(io::ErrorKind::AddrInUse, "more concurrent connections than ports"))
    }

    fn on_event(&mut self, token: Token, flags: EpollFlags) -> io::Result<()> {
        match token {
            Token::Timer => drop(self.timer.wait()),
            Token::Listener(flow) => self.accept(flow)?,
            Token::Sender(port) => self.on_sender(port, flags),
            Token::Receiver(port) => self.on_receiver(port, flags),
        }
        Ok(())
    }

    fn accept(&mut self, flow: u16) -> io::Result<()> {
        let Some(listener) = &self.listeners[usize::from(flow)] else { return Ok(()) };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        loop {
            let accepted = match accept4(listener.as_raw_fd(), flags) {
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR | Errno::ECONNABORTED) => continue,
                accepted => owned(accepted?),
            };
            let Ok(peer) = getpeername::<SockaddrIn>(accepted.as_raw_fd()) else { continue };
            if self.connections.contains_key(&peer.port()) {
                let interest = EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET;
                self.watch(&accepted, Token::Receiver(peer.port()), interest)?;
                self.connections.entry(peer.port()).and_modify(|known| known.receiver = Some(accepted));
            }
        }
    }

    fn on_sender(&mut self, port: u16, flags: EpollFlags) {
        let Some(connection) = self.connections.get_mut(&port) else { return };
        if flags.contains(EpollFlags::EPOLLOUT)
            && !flags.intersects(EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP)
        {
            connection.on_connected();
            connection.flush(&self.buffer);
        }
        if flags.intersects(
            EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP,
        ) {
            match connection.poll_sender(&mut self.buffer[..1]) {
                Reading::Nothing => {}
                Reading::End => self.over(port, SENDER),
                Reading::Failed => self.fail(port),
            }
        }
    }

    fn on_receiver(&mut self, port: u16, flags: EpollFlags) {
        let Some(connection) = self.connections.get_mut(&port) else { return };
        let reading = connection.receive(&mut self.buffer);
        if let Some(receiver) = &connection.receiver {
            sockets::clamp_again(receiver, &self.flows[connection.sending.flow].form);
        }
        match reading {
            Reading::Nothing => {}
            Reading::End => {
                if !connection.is_complete {
                    connection.complete();
                    let (now, sending) = (self.clock.now(), &connection.sending);
                    let took = now.since(connection.started);
                    self.books.completed(sending.flow, took, sending.is_lasting.then_some(now));
                }
                if flags.contains(EpollFlags::EPOLLHUP) {
                    self.over(port, RECEIVER);
                }
            }
            Reading::Failed => self.fail(port),
        }
    }

    /// One end is done. A receiver is kept until its FIN is acknowledged, because a socket that nobody holds would
    /// keep the namespace.
    fn over(&mut self, port: u16, end: usize) {
        let Some(connection) = self.connections.get_mut(&port) else { return };
        connection.is_over[end] = true;
        if connection.is_over == [true; 2] {
            self.books.retire(port);
            self.connections.remove(&port);
        }
    }

    fn fail(&mut self, port: u16) {
        let Some(connection) = self.connections.remove(&port) else { return };
        self.books.reset(connection.sending.flow);
        self.books.retire(port);
        connection.abandon();
    }

    fn watch(&self, source: impl AsFd, token: Token, interest: EpollFlags) -> io::Result<()> {
        Ok(self.epoll.add(source, EpollEvent::new(interest, token.to_u64()))?)
    }
}

impl Drop for Applications<'_> {
    fn drop(&mut self) {
        self.connections.values().for_each(Connection::abandon);
    }
}

#[allow(unsafe_code, reason = "accept4 answers a bare number, of which there is no other owner")]
fn owned(fd: i32) -> OwnedFd {
    unsafe { OwnedFd::from_raw_fd(fd) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_the_kernel() {
        for token in [Token::Timer, Token::Listener(0), Token::Sender(60_000), Token::Receiver(20_000)] {
            assert_eq!(Token::from_u64(token.to_u64()), token);
        }
    }
}
