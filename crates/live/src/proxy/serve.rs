//! The serving thread: one epoll, and one turn per wake-up.

mod arrivals;
mod room;

use super::Doors;
use super::budget::Budget;
use super::config::{Config, Side};
use super::connecting::Connecting;
use super::counters::{Counter, Counters};
use super::listeners::Listener;
use super::own::{FlowKey, Newcomers, Stack};
use super::relay::{CLIENT, Handed, Outcome, Relay, SERVER};
use super::token::Token;
use super::tools::Tools;
use super::watch::Watch;
use super::way::Shortfall;
use crate::daemon::{Stop, Urgency};
use crate::emulate::Clock;
use crate::namespace::LinkWatch;
use airtcp_wire::{Dur, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use slab::Slab;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// How often buffers are measured while data moves.
const LOOK: Dur = Dur::from_millis(100);

/// How often the circuit is checked.
const LOOK_FOR_CIRCUIT: Dur = Dur::from_secs(1);

/// Packets read from the device at a wake-up, before others have their turn.
const PACKETS_A_TURN: usize = 128;

/// Serves connections to the listeners until it is told to stop.
///
/// # Errors
/// The kernel's, from epoll.
pub fn serve(config: &Config, doors: Doors, stop: Stop, counters: &Counters) -> io::Result<()> {
    let mut server = Server::new(config, doors, stop, counters)?;
    let mut events = vec![EpollEvent::empty(); 512];
    while server.is_serving() {
        server.wait()?;
        let count = match server.epoll.wait(&mut events, EpollTimeout::ZERO) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
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
    /// Relays that could go on at once.
    ready: Vec<usize>,
    tools: Tools,
    link: Option<LinkWatch>,
    /// Place and end of each of our own connections.
    own: BTreeMap<FlowKey, (usize, usize)>,
    watch: Option<Box<dyn Watch>>,
    budget: Budget,
    /// Whether there were enough files for the last connection.
    has_files: bool,
    /// Whether connections are accepted.
    is_open: bool,
    /// When to check next whether there is a circuit, and since when there is none.
    look_for_circuit: Time,
    without_circuit: Option<Time>,
    /// When to measure the buffers next; never while nothing moves.
    look: Time,
    drained_by: Time,
    /// Bytes moved since the last measurement: buffers grow with them.
    unseen: u64,
    /// Bytes that handshakes take which others have begun, as last counted.
    half_open: u64,
    /// The most bytes that connections have taken in this process, since some were given back.
    most_held: u64,
}

impl<'a> Server<'a> {
    fn new(config: &'a Config, doors: Doors, stop: Stop, counters: &'a Counters) -> io::Result<Server<'a>> {
        let Doors { listeners, watch, circuit, device } = doors;
        let clock = Clock::start();
        let (mut stack, link) = device.map(|device| device.stack(config)).transpose()?.unzip();
        if let Some(stack) = stack.as_mut().filter(|_| !config.is_transparent()) {
            stack.newcomers = Newcomers::PassBy;
        }
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let edge = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        epoll.add(&stop, EpollEvent::new(edge, Token::Stop.pack()))?;
        for (index, listener) in listeners.iter().enumerate() {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, Token::Listener(index).pack());
            epoll.add(&listener.socket, event)?;
        }
        if let Some(stack) = &stack {
            epoll.add(stack, EpollEvent::new(EpollFlags::EPOLLIN, Token::Stack.pack()))?;
            for circuit in stack.device().circuits() {
                let edge = EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
                epoll.add(circuit, EpollEvent::new(edge, Token::Circuit.pack()))?;
            }
        }
        if let Some(link) = &link {
            epoll.add(link, EpollEvent::new(EpollFlags::EPOLLIN, Token::Link.pack()))?;
        }
        Ok(Server {
            config,
            counters,
            clock,
            epoll,
            listeners,
            stop,
            urgency: Urgency::None,
            relays: Slab::new(),
            serial: 0,
            connecting: Connecting::new(config.limits.connecting, config.limits.connect_timeout),
            ready: Vec::new(),
            tools: Tools::new(stack, circuit, clock),
            link,
            own: BTreeMap::new(),
            watch,
            budget: Budget::new(&config.limits),
            has_files: true,
            is_open: true,
            look_for_circuit: Time::NEVER,
            without_circuit: None,
            look: Time::NEVER,
            drained_by: Time::NEVER,
            unseen: 0,
            half_open: 0,
            most_held: 0,
        })
    }

    fn is_serving(&self) -> bool {
        match self.urgency {
            Urgency::None => true,
            Urgency::Drain => !self.relays.is_empty() && self.clock.now() < self.drained_by,
            Urgency::AtOnce => false,
        }
    }

    /// Waits until something happens or is due, to the nanosecond, which epoll_wait(2) cannot.
    fn wait(&self) -> io::Result<()> {
        if !self.ready.is_empty() {
            return Ok(());
        }
        let timers = self.tools.stack.as_ref().map_or(Time::NEVER, Stack::poll_timeout);
        let looks = self.look.min(self.look_for_circuit);
        let next = self.connecting.poll_timeout().min(looks).min(self.drained_by).min(timers);
        let timeout =
            (!next.is_never()).then(|| TimeSpec::from(Duration::from_nanos(next.since(self.clock.now()).0)));
        match ppoll(&mut [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)], timeout, None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn turn(&mut self, events: &[EpollEvent]) -> io::Result<()> {
        let mut callers = Vec::new();
        let mut awake = std::mem::take(&mut self.ready);
        for event in events {
            match Token::unpack(event.data()) {
                Token::Stop => self.hear(),
                Token::Stack => self.take_packets()?,
                Token::Circuit => self.fill_circuit(),
                Token::Link => self.look_at_link(),
                Token::Listener(index) => callers.push(index),
                Token::End(place, end) => {
                    let Some(relay) = self.relays.get_mut(place) else { continue };
                    relay.handle(end, event.events());
                    awake.push(place);
                }
            }
        }
        awake.extend(self.wake_own());
        // A place is reused only after every event of its old relay has been handled.
        for place in awake {
            self.go_on(place);
        }
        callers.into_iter().for_each(|index| self.accept(index));
        self.accept_own();
        self.give_up();
        self.look_for_circuit();
        self.look_at_buffers();
        self.weigh();
        self.open_or_close_door()?;
        self.publish();
        self.show();
        Ok(())
    }

    fn go_on(&mut self, place: usize) {
        let Some(relay) = self.relays.get_mut(place) else { return };
        let (outcome, handed) = relay.go_on(&mut self.tools);
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
            Outcome::Truncated(from, shortfall) => self.end_short(place, from, shortfall),
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
        self.unseen += handed.iter().sum::<u64>();
        if self.unseen > 0 {
            let is_much = self.unseen > self.config.limits.memory.0 / 64;
            let due = if is_much { Time::ZERO } else { self.clock.now() + LOOK };
            self.look = self.look.min(due);
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
        self.forget_own(&relay);
        relay.release(&mut self.tools);
    }

    /// Both ends get a RST: a FIN would claim that all has come.
    fn end_short(&mut self, place: usize, from: Side, Shortfall { received, given }: Shortfall) {
        if let Some(relay) = self.relays.get(place) {
            let [client, server] = relay.addresses;
            tracing::warn!(%client, %server, %from, received, given, "connection reset: bytes were not passed on");
        }
        self.end(place, Counter::Truncated, None);
    }

    fn take_packets(&mut self) -> io::Result<()> {
        let Some(stack) = &mut self.tools.stack else { return Ok(()) };
        for _ in 0..PACKETS_A_TURN {
            if !stack.handle_packet(self.clock.now())? {
                break;
            }
        }
        Ok(())
    }

    fn fill_circuit(&mut self) {
        if let Some(stack) = &mut self.tools.stack {
            stack.handle_room(self.clock.now());
        }
    }

    fn look_at_link(&mut self) {
        if let Some(mtu) = self.link.as_mut().and_then(LinkWatch::poll)
            && let Some(stack) = &mut self.tools.stack
        {
            tracing::info!(mtu, "the link's MTU has changed");
            stack.handle_link_mtu(self.clock.now(), mtu.into());
        }
    }

    /// Places of relays of which an own connection has had an event.
    fn wake_own(&mut self) -> Vec<usize> {
        let Some(stack) = &mut self.tools.stack else { return Vec::new() };
        stack.handle_timeouts(self.clock.now());
        let mut places = Vec::new();
        for key in stack.take_woken() {
            let (Some(&(place, end)), Some(flow)) = (self.own.get(&key), stack.get(key)) else { continue };
            if let Some(relay) = self.relays.get_mut(place) {
                relay.handle_own(end, flow.is_connected);
                places.push(place);
            }
        }
        places
    }

    /// Accepts connections that came before the request to stop, and then no more.
    fn hear(&mut self) {
        let urgency = self.stop.urgency();
        if self.urgency == Urgency::None && urgency > Urgency::None {
            (0..self.listeners.len()).for_each(|index| self.accept(index));
            self.listeners.clear();
            if let Some(stack) = &mut self.tools.stack {
                stack.newcomers = Newcomers::PassBy;
            }
            self.drained_by = self.clock.now() + self.config.limits.drain;
            tracing::info!(connections = self.relays.len(), "draining");
        }
        self.urgency = urgency;
    }

    fn show(&mut self) {
        let Some(watch) = &mut self.watch else { return };
        for flow in self.own.keys().filter_map(|key| self.tools.flow(*key)) {
            watch.look(&flow.endpoints, &flow.stream.sender_view(), &flow.stream.stats());
        }
    }

    fn publish(&self) {
        self.counters.set(Counter::MemoryBytes, self.budget.promised());
        self.counters.set(Counter::HeldBytes, self.held());
        self.counters.set(Counter::Connecting, self.connecting.len() as u64);
        self.counters.set(Counter::Connections, self.relays.len() as u64);
        let standstills = self.tools.stack.as_ref().map_or(0, |stack| stack.standstills);
        self.counters.set(Counter::Standstills, standstills);
    }
}

/// The remaining connections are reset.
impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.counters.add(Counter::Cut, self.relays.len() as u64);
        self.relays.drain().for_each(|relay| relay.release(&mut self.tools));
        self.publish();
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
