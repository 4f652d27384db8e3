//! Whether there is room for more connections, and which ones give way.

use super::{LOOK_FOR_CIRCUIT, Server};
use crate::memory;
use crate::proxy::connecting::GivenUp;
use crate::proxy::counters::Counter;
use crate::proxy::own::{Newcomers, Stack};
use crate::proxy::relay::Relay;
use crate::proxy::token::Token;
use airtcp_wire::Time;
use nix::sys::epoll::{EpollEvent, EpollFlags};
use std::io;

/// Bytes that a relay takes, besides what its buffers hold.
const RELAY_BYTES: usize = size_of::<Relay>();

/// Bytes that are given back to the host when they are no longer used.
const WORTH_RETURNING: u64 = 1 << 20;

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
                relay.limit_buffers(fair, &mut self.tools);
                relay.has_moved = true;
            }
            self.measure();
        }
        if let Some(kept) = self.budget.judge() {
            tracing::info!(kept, bytes = self.budget.promised(), "memory is short: buffers will not grow");
            self.relays.iter().for_each(|(_, relay)| relay.keep_buffers(kept, &mut self.tools));
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

    /// Counts what handshakes take that others have begun, and gives back to the host what many of them, or many
    /// buffers, have taken and left.
    pub(super) fn weigh(&mut self) {
        let half_open = self.tools.stack.as_ref().map_or(0, Stack::half_open_bytes) as u64;
        self.budget.handle_change(self.half_open, half_open);
        self.half_open = half_open;
        let held = self.held();
        self.most_held = self.most_held.max(held);
        if self.most_held - held > (self.most_held / 2).max(WORTH_RETURNING) {
            self.most_held = held;
            memory::give_back();
        }
    }

    /// Bytes that connections take in this process.
    pub(super) fn held(&self) -> u64 {
        let own = self.tools.stack.as_ref().map_or(0, Stack::held) as u64;
        own + (self.relays.len() * RELAY_BYTES) as u64
    }

    pub(super) fn has_room(&self) -> bool {
        self.shortage().is_none()
    }

    /// The bound that keeps new connections out.
    fn shortage(&self) -> Option<&'static str> {
        if !self.has_files {
            return Some("this host is out of files or memory");
        }
        if self.relays.len() >= self.config.limits.connections {
            return Some(
                "as many connections are open as may be (--connections, or the limit on open files)",
            );
        }
        (!self.budget.has_room()).then_some("the buffers are as large as all may be together (--memory)")
    }

    /// Clients for which there is no room wait in the kernel's queue.
    pub(super) fn open_or_close_door(&mut self) -> io::Result<()> {
        let shortage = self.shortage();
        let is_open = shortage.is_none();
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
            if let Some(shortage) = shortage {
                self.counters.add(Counter::Waits, 1);
                let (connections, bytes) = (self.relays.len(), self.budget.promised());
                tracing::warn!(connections, bytes, "{shortage}: new connections wait until there is room");
            }
        }
        Ok(())
    }
}
