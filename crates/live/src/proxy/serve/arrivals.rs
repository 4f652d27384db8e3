//! Accepts connections.

use super::{LOOK, Server};
use crate::proxy::counters::Counter;
use crate::proxy::end::Line;
use crate::proxy::own::Stack;
use crate::proxy::relay::Relay;
use crate::proxy::token::Token;
use nix::sys::epoll::{EpollEvent, EpollFlags};
use std::io;
use std::net::TcpStream;

/// Connections accepted from one listener at a wake-up, before others have their turn.
const ACCEPTED_A_TURN: usize = 64;

impl Server<'_> {
    pub(super) fn accept(&mut self, index: usize) {
        for _ in 0..ACCEPTED_A_TURN {
            if !self.has_room() {
                return;
            }
            let Some(listener) = self.listeners.get(index) else { return };
            match listener.socket.accept() {
                Ok((client, _)) => self.open(client, index),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_of_host(&error) => return self.handle_shortage(),
                // The client was gone before it was accepted.
                Err(_) => {}
            }
        }
    }

    pub(super) fn open(&mut self, client: TcpStream, index: usize) {
        self.counters.add(Counter::Accepted, 1);
        let opened = Relay::open(client, &self.listeners[index], self.config, &mut self.tools);
        if let Err(error) = opened.and_then(|relay| self.watch(relay)) {
            self.refuse(&error);
        }
    }

    pub(super) fn refuse(&mut self, error: &io::Error) {
        let counter = if is_of_host(error) { Counter::Refused } else { Counter::Unreachable };
        self.counters.add(counter, 1);
        if counter == Counter::Refused {
            self.handle_shortage();
        }
        tracing::debug!(reason = %error, "connection refused");
    }

    /// Stops accepting for a moment.
    pub(super) fn handle_shortage(&mut self) {
        self.has_files = false;
        self.look = self.look.min(self.clock.now() + LOOK);
    }

    /// Begins to serve a relay, or releases it if it cannot be served.
    pub(super) fn watch(&mut self, mut relay: Relay) -> io::Result<()> {
        let place = self.relays.vacant_key();
        if let Err(error) = self.register(&relay, place) {
            self.forget_own(&relay);
            relay.release(&mut self.tools);
            return Err(error);
        }
        self.serial += 1;
        relay.serial = self.serial;
        if let Some(share) = self.budget.share() {
            relay.limit_buffers(share, &mut self.tools);
        } else if self.budget.are_kept() {
            relay.keep_buffers(true, &mut self.tools);
        }
        relay.room = relay.measure(&self.tools);
        self.budget.handle_change(0, relay.room);
        self.connecting.handle_new(relay.serial, place, self.clock.now());
        self.relays.insert(relay);
        Ok(())
    }

    fn register(&mut self, relay: &Relay, place: usize) -> io::Result<()> {
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET;
        for (end, one) in relay.ends.iter().enumerate() {
            match &one.line {
                Line::Kernel(socket) => {
                    self.epoll.add(socket, EpollEvent::new(flags, Token::End(place, end).pack()))?;
                }
                Line::Own(key) => drop(self.own.insert(*key, (place, end))),
            }
        }
        Ok(())
    }

    pub(super) fn forget_own(&mut self, relay: &Relay) {
        for end in &relay.ends {
            if let Line::Own(key) = end.line {
                self.own.remove(&key);
            }
        }
    }

    pub(super) fn accept_own(&mut self) {
        while self.has_room()
            && let Some((key, endpoints)) = self.tools.stack.as_mut().and_then(Stack::accept)
        {
            self.counters.add(Counter::Accepted, 1);
            let opened = Relay::open_own(key, &endpoints, self.config);
            if opened.is_err() {
                self.tools.release(key);
            }
            if let Err(error) = opened.and_then(|relay| self.watch(relay)) {
                self.refuse(&error);
            }
        }
    }
}

/// Returns whether this host has run out of something, rather than a connection failed.
fn is_of_host(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}
