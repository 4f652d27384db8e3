//! One connection of our own, and the writing and reading of its packets.

use super::connections::Settings;
use super::fast_open::Cookie;
use super::keepalive::{Keepalive, KeepaliveStep};
use super::path_mtu::PathMtu;
use super::store::Tally;
use super::stream::Stream;
use super::too_big::TooBig;
use crate::offload::Offload;
use airtcp_proto::tcp::{Connection, Event, Reason, State, Transmit};
use airtcp_wire::Time;
use airtcp_wire::packet::{Endpoints, TcpPacket};
use airtcp_wire::tcp::{MIN_HEADER_LEN, header_len};
use airtcp_wire::{Ecn, Flags, Segment};
use std::net::IpAddr;
use std::{io, mem};

/// Identifies a flow. The key of a flow that is gone finds nothing, even if another flow has its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FlowKey {
    pub(super) place: usize,
    pub(super) serial: u64,
}

pub struct StackFlow {
    pub stream: Stream,
    /// From us to the peer.
    pub endpoints: Endpoints,
    /// When the machine wants to be called again.
    pub timer: Time,
    /// Whether the handshake is complete.
    pub is_connected: bool,
    /// Whether the peer has sent its FIN.
    pub has_ended: bool,
    /// Why it is over before both ends have closed it.
    pub failure: Option<io::ErrorKind>,
    pub(super) phase: Phase,
    path: PathMtu,
    /// Whether it is in the list of woken flows.
    pub(super) is_woken: bool,
    /// Whether it is in the list of flows that found the device without room.
    pub(super) is_waiting: bool,
    keepalive: Keepalive,
    /// Whether the peer is to be probed.
    asks: bool,
    /// The Fast Open cookie of our SYN or SYN-ACK.
    pub(super) cookie: Option<Cookie>,
    /// Until when the SYN waits for text that could go with it.
    speaks_at: Option<Time>,
}

/// Who uses a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Used,
    /// Nobody any more: it exists only for the network.
    Released,
}

impl StackFlow {
    pub(super) fn new(
        connection: Connection,
        endpoints: Endpoints,
        settings: &Settings,
        tally: &Tally,
    ) -> StackFlow {
        StackFlow {
            stream: Stream::new(connection, settings.room, tally),
            endpoints,
            timer: Time::NEVER,
            is_connected: false,
            has_ended: false,
            failure: None,
            phase: Phase::Used,
            path: PathMtu::new(settings.mtu, endpoints.source().is_ipv4()),
            is_woken: false,
            is_waiting: false,
            keepalive: Keepalive::new(settings.keepalive),
            asks: false,
            cookie: None,
            speaks_at: None,
        }
    }

    /// Handles a packet that was read from `bytes`. It may consist of several segments.
    pub(super) fn handle_packet(&mut self, now: Time, packet: &TcpPacket, offload: Offload, bytes: &[u8]) {
        self.keepalive.handle_sign_of_life(now);
        let payload = &bytes[packet.payload.clone()];
        let size = offload.tcp_segment_len().unwrap_or(payload.len()).max(1);
        let pieces = payload.len().div_ceil(size).max(1);
        for piece in 0..pieces {
            let from = piece * size;
            let part = &payload[from..payload.len().min(from + size)];
            let segment = cut(&packet.segment, from, part.len(), [piece == 0, piece + 1 == pieces]);
            self.stream.handle_segment(now, &segment, packet.ecn, part);
        }
        let acknowledged = self.stream.connection().acknowledged();
        if self.path.handle_ack(now, acknowledged) {
            self.fit();
        }
        let is_reset = packet.segment.flags.contains(Flags::RST);
        self.hear(if is_reset { io::ErrorKind::ConnectionReset } else { io::ErrorKind::TimedOut });
    }

    /// The peer's address.
    pub(super) fn peer(&self) -> IpAddr {
        self.endpoints.reversed().source().ip()
    }

    /// Opens with this cookie, and with what is written by then: at once if something is, else at that time.
    pub(super) fn open_fast(&mut self, cookie: Cookie, mss: u16, speaks_at: Time) {
        self.stream.connection().use_cookie(cookie.option(), mss);
        (self.cookie, self.speaks_at) = (Some(cookie), Some(speaks_at));
    }

    /// Returns whether its SYN waits for text.
    pub fn awaits_text(&self) -> bool {
        self.speaks_at.is_some()
    }

    /// A SYN whose cookie is good opens the connection. Its text is in `payload`.
    pub(super) fn handle_trusted_syn(&mut self, now: Time, syn: &Segment, ecn: Ecn, payload: &[u8]) {
        self.keepalive.handle_sign_of_life(now);
        self.stream.handle_trusted_syn(now, syn, ecn, payload);
        self.hear(io::ErrorKind::TimedOut);
    }

    /// Returns whether the SYN had to be sent again.
    pub(super) fn has_resent_syn(&self) -> bool {
        self.stream.stats().retransmissions > 0
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if now >= self.stream.connection().poll_timeout() {
            self.stream.connection().handle_timeout(now);
            self.consider_black_hole(now);
        }
        if now >= self.question_due() {
            self.consider_silence(now);
        }
        self.hear(io::ErrorKind::TimedOut);
    }

    /// When the machine wants to be called, or a silent peer is to be probed.
    pub(super) fn poll_timeout(&mut self) -> Time {
        let speaks_at = self.speaks_at.unwrap_or(Time::NEVER);
        speaks_at.min(self.question_due()).min(self.stream.connection().poll_timeout())
    }

    /// While a connection is being opened or closed, other timers watch it.
    fn question_due(&self) -> Time {
        match self.is_connected && !self.is_over() {
            true => self.keepalive.poll_timeout(),
            false => Time::NEVER,
        }
    }

    fn consider_silence(&mut self, now: Time) {
        if !self.stream.is_idle() {
            // Outstanding data is a probe already, with a timer of its own.
            self.keepalive.handle_sign_of_life(now);
        }
        match self.keepalive.handle_timeout(now) {
            KeepaliveStep::Wait => {}
            KeepaliveStep::Ask => self.asks = true,
            KeepaliveStep::GiveUp => {
                self.stream.abort();
                self.failure = Some(io::ErrorKind::TimedOut);
            }
        }
    }

    /// Returns a probe: a segment below what the peer expects, which it answers (RFC 9293 §3.8.4).
    pub(super) fn take_question(&mut self, now: Time) -> Option<Transmit> {
        mem::take(&mut self.asks).then(|| self.stream.connection().question(now))
    }

    /// Handles a router's report that a packet was too long. It is trusted if it quotes data in flight (RFC 5927 §7).
    pub(super) fn handle_too_big(&mut self, now: Time, too_big: &TooBig) {
        if let Some(offset) = self.stream.connection().outstanding_offset(too_big.seq)
            && self.path.handle_too_big(now, offset, too_big.mtu)
        {
            self.shorten();
        }
    }

    /// The first link carries packets of this many bytes from now on.
    pub(super) fn handle_link_mtu(&mut self, now: Time, mtu: u32) {
        let before = self.path.longest();
        self.path.handle_link(now, mtu);
        if self.path.longest() < before {
            self.shorten();
        } else {
            self.fit();
        }
    }

    /// The retransmission timer may have expired: perhaps the path loses long packets, and nobody tells.
    fn consider_black_hole(&mut self, now: Time) {
        let (expiries, payload) = self.stream.connection().first_in_vain();
        let size = self.headers_len() + payload as usize;
        if self.path.handle_expiry(now, expiries, size as u32) {
            self.fit();
        }
    }

    /// Sends shorter segments from now on, and again what left in longer ones.
    fn shorten(&mut self) {
        self.fit();
        let payload = self.payload_within(self.path.longest());
        self.stream.connection().resend_longer_than(payload.into());
    }

    /// The machine's segments are to be as long as the path allows.
    fn fit(&mut self) {
        let payload = self.payload_within(self.path.longest());
        self.stream.connection().limit_mss(payload);
    }

    /// Bytes of IP and TCP headers, with the timestamps option, which most segments have.
    fn headers_len(&self) -> usize {
        self.endpoints.addresses.header_len() + MIN_HEADER_LEN + 12
    }

    fn payload_within(&self, packet: u32) -> u32 {
        packet.saturating_sub(self.headers_len() as u32).max(1)
    }

    /// The machine's next segment. If a longer packet is to be tried, it is one of new data that is as long.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        self.speaks_at = None;
        let useful = self.headers_len() as u32 + self.stream.connection().negotiated_mss();
        let transmit = match self.path.poll_trial(now, useful) {
            Some(size) => self.poll_trial(now, size),
            None => self.stream.connection().poll_transmit(now),
        };
        if let Some(transmit) = transmit.filter(|transmit| transmit.reason != Reason::New) {
            self.path.handle_resent(now, transmit.offset);
        }
        transmit
    }

    fn poll_trial(&mut self, now: Time, size: u32) -> Option<Transmit> {
        let before = self.payload_within(self.path.longest());
        let payload = self.payload_within(size);
        if self.stream.connection().allowance(now) < payload.into() {
            return self.stream.connection().poll_transmit(now);
        }
        self.stream.connection().limit_mss(payload);
        let transmit = self.stream.connection().poll_transmit(now);
        self.fit();
        match transmit {
            Some(Transmit { segment, reason: Reason::New, offset, .. }) if segment.len > before => {
                self.path.begin_trial(size, offset..offset + u64::from(segment.len));
                transmit
            }
            Some(_) => transmit,
            // There is less to send than would fill it.
            None => self.stream.connection().poll_transmit(now),
        }
    }

    /// Passes the segments that carry `transmit` to `put`: more than one if the path has become narrower since it was
    /// first sent, or if it carries SACK blocks.
    pub(super) fn send(&self, transmit: &Transmit, mut put: impl FnMut(&Transmit)) {
        let segment = &transmit.segment;
        let headers_len = self.endpoints.addresses.header_len() + header_len(segment);
        let longest = self.path.longest_from(transmit.offset) as usize;
        let most = longest.saturating_sub(headers_len).max(1);
        let pieces = (segment.len as usize).div_ceil(most).max(1);
        for piece in 0..pieces {
            let from = piece * most;
            let len = (segment.len as usize - from).min(most);
            let segment = cut(segment, from, len, [piece == 0, piece + 1 == pieces]);
            put(&Transmit { segment, offset: transmit.offset + from as u64, ..*transmit });
        }
    }

    /// Returns whether nothing more comes or is to be sent, except for TIME-WAIT's answers.
    pub fn is_over(&self) -> bool {
        matches!(self.stream.state(), State::Closed | State::TimeWait)
    }

    /// Returns whether a handshake that the peer began has failed.
    pub fn is_in_vain(&self) -> bool {
        self.failure.is_some() || matches!(self.stream.state(), State::Listen | State::Closed)
    }

    pub fn is_closed(&self) -> bool {
        self.stream.state() == State::Closed
    }

    fn handle_connected(&mut self) {
        self.is_connected = true;
        if self.payload_within(self.path.longest()) < self.stream.connection().negotiated_mss() {
            self.fit();
        }
    }

    /// Handles the machine's events. `cause` is the reason, should the connection have been given up.
    fn hear(&mut self, cause: io::ErrorKind) {
        while let Some(event) = self.stream.poll_event() {
            match event {
                Event::Connected => self.handle_connected(),
                Event::PeerFinished => self.has_ended = true,
                Event::Reset => self.failure = Some(cause),
                Event::AllAcknowledged | Event::Closed => {}
            }
        }
    }
}

/// Returns the part of a long segment that begins at byte `from` of its payload. Only the first part reports a
/// reduced window, and only the last one may have PSH or FIN.
fn cut(whole: &Segment, from: usize, len: usize, [is_first, is_last]: [bool; 2]) -> Segment {
    let cleared =
        if is_first { 0 } else { Flags::CWR.0 } | if is_last { 0 } else { Flags::FIN.0 | Flags::PSH.0 };
    Segment {
        seq: whole.seq.at(from as u64),
        len: len as u32,
        flags: Flags(whole.flags.0 & !cleared),
        ..*whole
    }
}
