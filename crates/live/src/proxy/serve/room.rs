//! Whether there is room for more connections, and which ones give way.

use super::{LOOK_FOR_CIRCUIT, Server};
use crate::proxy::connecting::GivenUp;
use crate::proxy::counters::Counter;
use crate::proxy::own::Newcomers;
use crate::proxy::token::Token;
use airtcp_wire::Time;
use nix::sys::epoll::{EpollEvent, EpollFlags};
use std::io;

impl Server<'_> {
    /// Gives up connections that were not answered in time, and the oldest of too many.
    pub(super) fn give_up(&mut self) {
        let now = self.clock.now();
        while let Some((place, why)) = self.connecting.poll(now) {
            match why {
                GivenUp::Late => self.end(place, Counter::Unreachable, Some(&io::ErrorKind::TimedOut.into())),
                GivenUp::Eldest => self.end(place, Counter::GaveWay, None),
            }
        }
    }

    /// Ends connections that wait for a circuit that does not come back.
    pub(super) fn look_for_circuit(&mut self) {
        let now = self.clock.now();
        let needs_one = self.tools.circuit.is_some() && !self.own.is_empty();
        self.look_for_circuit = if needs_one { now + LOOK_FOR_CIRCUIT } else { Time::NEVER };
        if !needs_one || self.tools.has_way() {
            self.without_circuit = None;
            return;
        }
        if now < *self.without_circuit.get_or_insert(now) + self.config.limits.connect_timeout {
            return;
        }
        let places: Vec<_> = self.own.values().map(|&(place, _)| place).collect();
        for place in places {
            self.end(place, Counter::LostWireless, Some(&io::ErrorKind::TimedOut.into()));
        }
    }

    pub(super) fn look_at_buffers(&mut self) {
        let now = self.clock.now();
        if now < self.look {
            return;
        }
        self.has_files = true;
        (self.look, self.unseen) = (Time::NEVER, 0);
        self.measure();
        if let Some(fair) = self.budget.excess_over(self.relays.len()) {
            for (_, relay) in self.relays.iter_mut().filter(|(_, relay)| relay.room > fair) {
                relay.limit_buffers(fair);
                relay.has_moved = true;
            }
            self.measure();
        }
        if let Some(kept) = self.budget.judge() {
            tracing::info!(kept, bytes = self.budget.promised(), "memory is short: buffers will not grow");
            self.relays.iter().for_each(|(_, relay)| relay.keep_buffers(kept));
        }
    }

    /// Measures the buffers of relays in which data has moved.
    pub(super) fn measure(&mut self) {
        for (_, relay) in self.relays.iter_mut().filter(|(_, relay)| relay.has_moved) {
            let (before, now) = (relay.room, relay.measure(&self.tools));
            self.budget.handle_change(before, now);
            (relay.room, relay.has_moved) = (now, false);
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.has_files && self.relays.len() < self.config.limits.connections && self.budget.has_room()
    }

    /// Clients for which there is no room wait in the kernel's queue.
    pub(super) fn open_or_close_door(&mut self) -> io::Result<()> {
        let is_open = self.has_room();
        if is_open != self.is_open {
            self.is_open = is_open;
            let flags = if is_open { EpollFlags::EPOLLIN } else { EpollFlags::empty() };
            for (index, listener) in self.listeners.iter().enumerate() {
                let mut event = EpollEvent::new(flags, Token::Listener(index).pack());
                self.epoll.modify(&listener.socket, &mut event)?;
            }
            if let Some(stack) = self.tools.stack.as_mut().filter(|_| self.config.is_transparent()) {
                stack.newcomers = if is_open { Newcomers::Taken } else { Newcomers::Wait };
            }
            if !is_open {
                self.counters.add(Counter::Waits, 1);
                tracing::warn!(connections = self.relays.len(), "memory limit reached: new connections wait");
            }
        }
        Ok(())
    }
}
