//! How connections open: by our SYN or a peer's, with a handshake that is kept, with one that is not (SYN cookies), or at once (Fast
//! Open).

use super::Stack;
use crate::offload::Offload;
use crate::stack::cookies;
use crate::stack::fast_open::{Cookie, Opening};
use crate::stack::flow::{FlowKey, StackFlow};
use crate::stack::half_open::Begun;
use crate::tun::PacketDevice;
use airtcp_proto::tcp::{Connection, State};
use airtcp_wire::ip::Found;
use airtcp_wire::packet::{Endpoints, TcpPacket};
use airtcp_wire::{Dur, FastOpen, Flags, Segment, Time, tcp};
use std::io;
use std::net::SocketAddr;

/// How long a SYN that may carry text waits for some. A program speaks sooner, if it speaks first.
const PATIENCE: Dur = Dur::from_millis(5);

impl<D: PacketDevice> Stack<D> {
    /// Opens a connection.
    ///
    /// # Errors
    /// The addresses are not of one family; a connection between them is open; the congestion control is unknown.
    pub fn connect(&mut self, now: Time, local: SocketAddr, peer: SocketAddr) -> io::Result<FlowKey> {
        let endpoints = Endpoints::new(local, peer).ok_or(io::ErrorKind::InvalidInput)?;
        if let Some(key) = self.flows.find(&endpoints) {
            if self.flows.get(key).is_some_and(|flow| !flow.is_over()) {
                return Err(io::ErrorKind::AddrInUse.into());
            }
            self.forget(key);
        }
        self.half_open.remove(&endpoints);
        let (iss, seed) = (self.numbers.next(now, &endpoints), self.chance.u64());
        let connection =
            Connection::connect(&self.config(local), iss, seed, now).map_err(io::Error::other)?;
        let mut flow = StackFlow::new(connection, endpoints, &self.settings, &self.tally);
        self.prepare(now, &mut flow);
        let awaits_text = flow.awaits_text();
        let key = self.flows.insert(flow);
        match awaits_text {
            true => self.flows.set_timer(key),
            false => self.flush(now, key),
        }
        Ok(key)
    }

    /// Prepares a new connection to begin as the last one to its peer has ended, and to open fast, if it may.
    fn prepare(&self, now: Time, flow: &mut StackFlow) {
        let peer = flow.peer();
        self.share_round_trip(flow);
        if !self.settings.fast_open {
            return;
        }
        match self.fast_opens.opening(now, peer) {
            Opening::Fast(cookie, mss) => flow.open_fast(cookie, mss, now + PATIENCE),
            Opening::Request => flow.stream.connection().request_cookie(),
            Opening::Plain => {}
        }
    }

    fn share_round_trip(&self, flow: &mut StackFlow) {
        if let Some(&(srtt, rttvar)) = self.round_trips.get(flow.peer()) {
            flow.stream.connection().share_rtt(srtt, rttvar);
        }
    }

    /// Returns whether a SYN's text may be taken at once. No more connections opened so may be unconfirmed than
    /// handshakes (RFC 7413 §5.1).
    pub(super) fn may_take_text(&mut self, now: Time, endpoints: &Endpoints, packet: &TcpPacket) -> bool {
        if !self.settings.fast_open || !packet.segment.syn.fast_open.has_cookie() {
            return false;
        }
        let flows = &self.flows;
        let is_early =
            |key: &FlowKey| flows.get(*key).is_some_and(|flow| flow.stream.state() == State::SynReceived);
        if self.early.len() >= self.settings.half_open {
            self.early.retain(is_early);
        }
        let cookie = self.cookie_of(packet).filter(|_| self.early.len() < self.settings.half_open);
        cookie.is_some_and(|cookie| {
            self.fast_opens.take(&*self.numbers, now, endpoints, packet.segment.seq, &cookie)
        })
    }

    /// Opens the connection whose SYN has text.
    pub(super) fn open_at_once(&mut self, now: Time, packet: &TcpPacket) {
        let endpoints = packet.endpoints.reversed();
        let (iss, seed) = (self.numbers.next(now, &endpoints), self.chance.u64());
        let Ok(machine) = Connection::listen(&self.config(endpoints.source()), iss, seed) else { return };
        let mut flow = StackFlow::new(machine, endpoints, &self.settings, &self.tally);
        self.share_round_trip(&mut flow);
        flow.handle_trusted_syn(now, &packet.segment, packet.ecn, &self.received[packet.payload.clone()]);
        let key = self.flows.insert(flow);
        self.early.push(key);
        self.established.push_back(key);
        self.flush(now, key);
    }

    /// A SYN-ACK may grant a cookie, and tells whether the path carries SYNs with text.
    pub(super) fn note_syn_ack(&mut self, now: Time, key: FlowKey, packet: &TcpPacket) {
        let cookie = self.cookie_of(packet).filter(|_| self.settings.fast_open);
        let Some(flow) = self.flows.get(key).filter(|flow| flow.is_connected) else { return };
        let peer = flow.peer();
        if flow.cookie.is_some() {
            self.fast_opens.handle_open(now, peer, !flow.has_resent_syn());
        }
        if let Some(cookie) = cookie {
            self.fast_opens.learn(peer, cookie, packet.segment.syn.mss.unwrap_or(536));
        }
    }

    /// The Fast Open cookie of the packet that was received last.
    fn cookie_of(&self, packet: &TcpPacket) -> Option<Cookie> {
        if !packet.segment.syn.fast_open.has_cookie() {
            return None;
        }
        let headers = &self.received[..packet.payload.start];
        let tcp_at = Found::read(headers).ok()?.header_len;
        Cookie::new(tcp::cookie(headers.get(tcp_at..)?)?)
    }

    /// Answers a SYN, and keeps it if there is room.
    pub(super) fn begin(&mut self, now: Time, endpoints: Endpoints, syn: &Segment) {
        let mut syn = Segment { len: 0, ..*syn };
        if !self.settings.fast_open {
            syn.syn.fast_open = FastOpen::ABSENT;
        }
        if self.half_open.len() < self.settings.half_open {
            let iss = self.numbers.next(now, &endpoints);
            return self.answer(now, endpoints, Begun { syn, iss, at: now, sent: 0, due: now });
        }
        let syn = Segment { flags: Flags::SYN, ..syn };
        let Some(iss) = cookies::cookie(&*self.numbers, now, &endpoints, &syn) else { return };
        self.cookies_until = now + cookies::AGE;
        let begun = Begun { syn, iss, at: now, sent: 0, due: now };
        if let Some(machine) = begun.machine(&self.config(endpoints.source()), 0) {
            self.send_all(now, &mut StackFlow::new(machine, endpoints, &self.settings, &self.tally));
        }
    }

    /// Sends a SYN-ACK, for the first time or again.
    pub(super) fn answer(&mut self, now: Time, endpoints: Endpoints, begun: Begun) {
        let Some(mut machine) = begun.machine(&self.config(endpoints.source()), 0) else { return };
        machine.handle_timeout(now);
        let mut flow = StackFlow::new(machine, endpoints, &self.settings, &self.tally);
        self.send_all(now, &mut flow);
        let due = flow.stream.connection().poll_timeout();
        self.half_open.insert(endpoints, Begun { sent: begun.sent + 1, due, ..begun });
    }

    /// Handles a packet of a handshake. If that is complete, there is a connection now.
    pub(super) fn go_on(
        &mut self,
        now: Time,
        begun: &Begun,
        packet: &TcpPacket,
        offload: Offload,
        len: usize,
    ) {
        let endpoints = packet.endpoints.reversed();
        let seed = self.chance.u64();
        let Some(machine) = begun.machine(&self.config(endpoints.source()), seed) else { return };
        let mut flow = StackFlow::new(machine, endpoints, &self.settings, &self.tally);
        flow.handle_packet(now, packet, offload, &self.received[..len]);
        if flow.is_connected || flow.is_in_vain() {
            self.half_open.remove(&endpoints);
        }
        if flow.is_connected && flow.failure.is_none() {
            let key = self.flows.insert(flow);
            self.established.push_back(key);
            return self.flush(now, key);
        }
        self.send_all(now, &mut flow);
    }

    /// Sends what a flow has to say that is not kept.
    fn send_all(&mut self, now: Time, flow: &mut StackFlow) {
        while let Some(transmit) = flow.stream.connection().poll_transmit(now) {
            self.outbox.put(&mut self.device, &flow.endpoints, &transmit, |_| {});
            if transmit.segment.syn.fast_open.has_cookie() {
                self.outbox.seal(Some(self.fast_opens.grant(&*self.numbers, now, &flow.endpoints)));
            }
        }
        self.outbox.send(&mut self.device);
    }
}
