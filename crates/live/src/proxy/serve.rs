//! The thread that serves: one epoll, one turn a wake-up.

use super::budget::Budget;
use super::config::{Config, Side};
use super::connecting::{Connecting, GivenUp};
use super::counters::{Counter, Counters};
use super::listeners::Listener;
use super::pipe::Pipes;
use super::relay::{CLIENT, Handed, Outcome, Relay, SERVER};
use super::stop::{Stop, Urgency};
use super::token::Token;
use crate::emulate::Clock;
use airtcp_wire::{Dur, Time};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use slab::Slab;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// Connections taken at a wake-up from one listener, until others have their turn.
const ACCEPTED_A_TURN: usize = 64;

/// How often it is looked what buffers have come to, while something moves.
const LOOK: Dur = Dur::from_millis(100);

/// Serves the connections that come to `listeners` until it is told to stop.
///
/// # Errors
/// The kernel's, of epoll.
pub fn serve(config: &Config, listeners: Vec<Listener>, stop: Stop, counters: &Counters) -> io::Result<()> {
    let mut server = Server::new(config, listeners, stop, counters)?;
    let mut events = vec![EpollEvent::empty(); 512];
    while server.goes_on() {
        let count = match server.epoll.wait(&mut events, server.patience()) {
            Ok(count) => count,
            Err(nix::errno::Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        server.turn(&events[..count])?;
    }
    Ok(())
}

struct Server<'a> {
    config: &'a Config,
    counters: &'a Counters,
    clock: Clock,
    epoll: Epoll,
    listeners: Vec<Listener>,
    stop: Stop,
    urgency: Urgency,
    relays: Slab<Relay>,
    serial: u64,
    connecting: Connecting,
    /// Those that could go on at once.
    ready: Vec<usize>,
    pipes: Pipes,
    budget: Budget,
    /// Has this host had files for the last connection?
    has_files: bool,
    /// Are connections taken?
    is_open: bool,
    /// When buffers are looked at next; never while nothing moves.
    look: Time,
    drained_by: Time,
}

impl<'a> Server<'a> {
    fn new(
        config: &'a Config,
        listeners: Vec<Listener>,
        stop: Stop,
        counters: &'a Counters,
    ) -> io::Result<Server<'a>> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let edge = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        epoll.add(&stop, EpollEvent::new(edge, Token::Stop.pack()))?;
        for (index, listener) in listeners.iter().enumerate() {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, Token::Listener(index).pack());
            epoll.add(&listener.socket, event)?;
        }
        Ok(Server {
            config,
            counters,
            clock: Clock::start(),
            epoll,
            listeners,
            stop,
            urgency: Urgency::None,
            relays: Slab::new(),
            serial: 0,
            connecting: Connecting::new(config.limits.connecting, config.limits.connect_timeout),
            ready: Vec::new(),
            pipes: Pipes::default(),
            budget: Budget::new(&config.limits),
            has_files: true,
            is_open: true,
            look: Time::NEVER,
            drained_by: Time::NEVER,
        })
    }

    fn goes_on(&self) -> bool {
        match self.urgency {
            Urgency::None => true,
            Urgency::Drain => !self.relays.is_empty() && self.clock.now() < self.drained_by,
            Urgency::AtOnce => false,
        }
    }

    fn patience(&self) -> EpollTimeout {
        if !self.ready.is_empty() {
            return EpollTimeout::ZERO;
        }
        let next = self.connecting.poll_timeout().min(self.look).min(self.drained_by);
        if next == Time::NEVER {
            return EpollTimeout::NONE;
        }
        let now = self.clock.now();
        let wait = next.max(now).since(now);
        // Rounded up, so that it is time then.
        Duration::from_millis(wait.0.div_ceil(1_000_000)).try_into().unwrap_or(EpollTimeout::MAX)
    }

    fn turn(&mut self, events: &[EpollEvent]) -> io::Result<()> {
        let mut callers = Vec::new();
        let mut awake = std::mem::take(&mut self.ready);
        for event in events {
            match Token::unpack(event.data()) {
                Token::Stop => self.hear(),
                Token::Listener(index) => callers.push(index),
                Token::End(place, end) => {
                    let Some(relay) = self.relays.get_mut(place) else { continue };
                    relay.handle(end, event.events());
                    awake.push(place);
                }
            }
        }
        // Places are given anew only once all that was told of the old ones is dealt with.
        for place in awake {
            self.go_on(place);
        }
        callers.into_iter().for_each(|index| self.accept(index));
        self.give_up();
        self.look_at_buffers();
        self.open_or_close_door()?;
        self.tell();
        Ok(())
    }

    fn go_on(&mut self, place: usize) {
        let Some(relay) = self.relays.get_mut(place) else { return };
        let (outcome, handed) = relay.go_on(&mut self.pipes);
        if !relay.is_connecting {
            self.connecting.handle_end(relay.serial);
        }
        let to = [CLIENT, SERVER].map(|end| relay.side(end));
        self.count(to, handed);
        match outcome {
            Outcome::Waits => {}
            Outcome::Goes => self.ready.push(place),
            Outcome::Completed => self.end(place, Counter::Completed, None),
            Outcome::Unreachable(error) => self.end(place, Counter::Unreachable, Some(&error)),
            Outcome::Refused(error) => self.end(place, Counter::Refused, Some(&error)),
            Outcome::Lost(side, error) => self.end(place, lost(side, &error), Some(&error)),
        }
    }

    fn count(&mut self, to: [Side; 2], handed: Handed) {
        for (side, bytes) in to.into_iter().zip(handed) {
            let counter = match side {
                Side::Wireless => Counter::BytesToWireless,
                Side::Wired => Counter::BytesToWired,
            };
            self.counters.add(counter, bytes);
        }
        if handed != [0; 2] && self.look == Time::NEVER {
            self.look = self.clock.now() + LOOK;
        }
    }

    fn end(&mut self, place: usize, counter: Counter, error: Option<&io::Error>) {
        let Some(relay) = self.relays.try_remove(place) else { return };
        self.counters.add(counter, 1);
        let [client, server] = relay.addresses;
        let reason = error.map(tracing::field::display);
        tracing::debug!(%client, %server, ?counter, reason, "connection ended");
        self.connecting.handle_end(relay.serial);
        self.budget.handle_change(relay.room, 0);
        relay.release(&mut self.pipes);
    }

    fn accept(&mut self, index: usize) {
        for _ in 0..ACCEPTED_A_TURN {
            if !self.has_room() {
                return;
            }
            let Some(listener) = self.listeners.get(index) else { return };
            match listener.socket.accept() {
                Ok((client, _)) => self.open(client, index),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_of_host(&error) => return self.handle_shortage(),
                // That one was gone before it was taken.
                Err(_) => {}
            }
        }
    }

    fn open(&mut self, client: TcpStream, index: usize) {
        self.counters.add(Counter::Accepted, 1);
        self.serial += 1;
        let opened = Relay::open(client, &self.listeners[index], self.config, self.serial);
        let done = opened.and_then(|relay| self.watch(relay));
        if let Err(error) = done {
            let counter = if is_of_host(&error) { Counter::Refused } else { Counter::Unreachable };
            self.counters.add(counter, 1);
            if counter == Counter::Refused {
                self.handle_shortage();
            }
            tracing::debug!(reason = %error, "connection refused");
        }
    }

    /// Waits a moment.
    fn handle_shortage(&mut self) {
        self.has_files = false;
        self.look = self.look.min(self.clock.now() + LOOK);
    }

    fn watch(&mut self, mut relay: Relay) -> io::Result<()> {
        let entry = self.relays.vacant_entry();
        let place = entry.key();
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET;
        for (end, one) in relay.ends.iter().enumerate() {
            self.epoll.add(&one.socket, EpollEvent::new(flags, Token::End(place, end).pack()))?;
        }
        if let Some(share) = self.budget.share() {
            relay.limit_buffers(share);
        } else if self.budget.are_kept() {
            relay.keep_buffers(true);
        }
        relay.room = relay.measure();
        self.budget.handle_change(0, relay.room);
        self.connecting.handle_new(relay.serial, place, self.clock.now());
        entry.insert(relay);
        Ok(())
    }

    /// Such as have not been answered in time, and the eldest of too many.
    fn give_up(&mut self) {
        let now = self.clock.now();
        while let Some((place, why)) = self.connecting.poll(now) {
            match why {
                GivenUp::Late => self.end(place, Counter::Unreachable, Some(&io::ErrorKind::TimedOut.into())),
                GivenUp::Eldest => self.end(place, Counter::GaveWay, None),
            }
        }
    }

    fn look_at_buffers(&mut self) {
        let now = self.clock.now();
        if now < self.look {
            return;
        }
        self.has_files = true;
        self.look = Time::NEVER;
        for (_, relay) in self.relays.iter_mut().filter(|(_, relay)| relay.has_moved) {
            let (before, now) = (relay.room, relay.measure());
            self.budget.handle_change(before, now);
            (relay.room, relay.has_moved) = (now, false);
        }
        if let Some(kept) = self.budget.judge() {
            tracing::info!(
                kept,
                bytes = self.budget.promised(),
                "memory is short, buffers are kept as long as they are"
            );
            self.relays.iter().for_each(|(_, relay)| relay.keep_buffers(kept));
        }
    }

    fn has_room(&self) -> bool {
        self.has_files && self.relays.len() < self.config.limits.connections && self.budget.has_room()
    }

    /// Who finds no room waits in the kernel's queue.
    fn open_or_close_door(&mut self) -> io::Result<()> {
        let is_open = self.has_room();
        if is_open != self.is_open {
            self.is_open = is_open;
            let flags = if is_open { EpollFlags::EPOLLIN } else { EpollFlags::empty() };
            for (index, listener) in self.listeners.iter().enumerate() {
                let mut event = EpollEvent::new(flags, Token::Listener(index).pack());
                self.epoll.modify(&listener.socket, &mut event)?;
            }
            if !is_open {
                self.counters.add(Counter::Waits, 1);
                tracing::warn!(connections = self.relays.len(), "no room: new connections wait");
            }
        }
        Ok(())
    }

    /// Takes those that have come before the word did, and then none.
    fn hear(&mut self) {
        let urgency = self.stop.urgency();
        if self.urgency == Urgency::None && urgency > Urgency::None {
            (0..self.listeners.len()).for_each(|index| self.accept(index));
            self.listeners.clear();
            self.drained_by = self.clock.now() + self.config.limits.drain;
            tracing::info!(connections = self.relays.len(), "draining");
        }
        self.urgency = urgency;
    }

    fn tell(&self) {
        self.counters.set(Counter::Connections, self.relays.len() as u64);
        self.counters.set(Counter::Connecting, self.connecting.len() as u64);
        self.counters.set(Counter::MemoryBytes, self.budget.promised());
    }
}

/// Those that are left are told by a RST.
impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.counters.add(Counter::Cut, self.relays.len() as u64);
        self.relays.clear();
        self.tell();
    }
}

fn lost(side: Side, error: &io::Error) -> Counter {
    let is_told = matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe);
    match (side, is_told) {
        (Side::Wireless, true) => Counter::ResetByWireless,
        (Side::Wireless, false) => Counter::LostWireless,
        (Side::Wired, true) => Counter::ResetByWired,
        (Side::Wired, false) => Counter::LostWired,
    }
}

/// Is it this host that has no more of something, and no connection that has failed?
fn is_of_host(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}
