//! One TCP connection, from the handshake to TIME-WAIT.

use super::config::TcpConfig;
use super::core::Phase;
use super::handshake::{ControllerFactory, Negotiated, negotiate, offer};
use super::receiver::{Arrival, Receiver};
use super::recovery::reads_sack;
use super::sender::{AckIn, Outgoing, Sender};
use super::spurious::timestamp;
use crate::cc::RegistryError;
use airtcp_wire::{Dur, Ecn, Flags, Segment, Seq, Time, Timestamps};

/// Connection states (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// Why a segment is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reason {
    /// Data (or SYN, FIN) for the first time.
    #[default]
    New,
    /// The retransmission that begins an episode of fast retransmit or SACK/RACK recovery.
    FastRetransmit,
    /// A further retransmission within recovery, or after a timeout.
    Retransmit,
    /// The retransmission at the timer's expiry.
    Timeout,
    /// A tail loss probe that resends (RFC 8985 §7).
    TailLossProbe,
    /// A zero-window probe (RFC 9293 §3.8.6.1).
    WindowProbe,
    /// No sequence space: an acknowledgment, a window update, a reset.
    Ack,
}

/// A segment to put on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Transmit {
    pub segment: Segment,
    /// The IP header's ECN field.
    pub ecn: Ecn,
    pub reason: Reason,
    /// Stream position of the first payload byte: 0 is the first byte that the application wrote.
    pub offset: u64,
}

/// What the application should know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    Connected,
    /// The peer's FIN has arrived: everything it will ever send is readable.
    PeerFinished,
    /// All that was written, and our FIN, has been acknowledged.
    AllAcknowledged,
    /// Reset by the peer, or given up after too many retransmissions.
    Reset,
    /// The connection is over and nothing more will be sent.
    Closed,
}

impl Event {
    const ALL: [Event; 5] =
        [Event::Connected, Event::PeerFinished, Event::AllAcknowledged, Event::Reset, Event::Closed];
}

/// The sender's state for time series. Windows in bytes, positions as stream offsets of the application's bytes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SenderView {
    pub cwnd: u64,
    pub ssthresh: u64,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// Zero before the first sample.
    pub srtt: Dur,
    pub rttvar: Dur,
    pub rto: Dur,
    pub in_flight: u64,
    pub una: u64,
    pub nxt: u64,
    pub peer_window: u64,
    pub in_recovery: bool,
}

/// Counters over the connection's life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    pub data_segments_sent: u64,
    pub data_bytes_sent: u64,
    pub retransmissions: u64,
    pub retransmitted_bytes: u64,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    pub tail_loss_probes: u64,
    /// Times that the controller reduced cwnd.
    pub cwnd_reductions: u64,
    /// Timeouts and recoveries that Eifel or F-RTO found spurious.
    pub spurious_detected: u64,
    pub segments_received: u64,
    pub acks_sent: u64,
    pub duplicate_acks_received: u64,
    pub ecn_echoes_received: u64,
    /// Segments that arrived with nothing new in them.
    pub duplicate_segments_received: u64,
}

/// A TCP endpoint. See [`crate::machine`] for how it is driven.
pub struct Connection {
    config: Box<TcpConfig>,
    factory: ControllerFactory,
    state: State,
    iss: Seq,
    negotiated: Negotiated,
    sender: Sender,
    receiver: Receiver,
    time_wait_deadline: Time,
    reset_due: Option<Segment>,
    events: u8,
    clock: Time,
}

impl Connection {
    /// Begins an active open: the first `poll_transmit` yields the SYN.
    ///
    /// # Errors
    /// If the congestion control or one of its parameters is unknown.
    pub fn connect(config: &TcpConfig, iss: Seq, seed: u64, now: Time) -> Result<Connection, RegistryError> {
        let mut connection = Connection::new(config, iss, seed, State::SynSent)?;
        connection.clock = now;
        Ok(connection)
    }

    /// A passive open: waits for a SYN.
    ///
    /// # Errors
    /// As [`Connection::connect`].
    pub fn listen(config: &TcpConfig, iss: Seq, seed: u64) -> Result<Connection, RegistryError> {
        Connection::new(config, iss, seed, State::Listen)
    }

    fn new(config: &TcpConfig, iss: Seq, seed: u64, state: State) -> Result<Connection, RegistryError> {
        let factory = ControllerFactory::new(config, seed)?;
        let mss = u64::from(config.segment_payload());
        let cc = factory.before_handshake(config, mss, config.initial_window);
        Ok(Connection {
            config: Box::new(config.clone()),
            factory,
            state,
            iss,
            negotiated: Negotiated { mss, ..Negotiated::default() },
            sender: Sender::new(config, cc, mss, false),
            receiver: Receiver::new(config),
            time_wait_deadline: Time::NEVER,
            reset_due: None,
            events: 0,
            clock: Time::ZERO,
        })
    }

    /// A segment has arrived; `ecn` is its IP header's ECN field.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.clock = now;
        self.sender.core.stats.segments_received += 1;
        self.sender.last_rtt = None;
        match self.state {
            State::Closed => {}
            State::Listen => self.handle_in_listen(segment),
            State::SynSent => self.handle_in_syn_sent(now, segment),
            _ => self.handle_synchronized(now, segment, ecn),
        }
    }

    /// RFC 9293 §3.10.7.2.
    fn handle_in_listen(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) || !segment.flags.contains(Flags::SYN) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.reset_due = Some(Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() });
            return;
        }
        self.accept_syn(segment);
        self.state = State::SynReceived;
    }

    /// RFC 9293 §3.10.7.3.
    fn handle_in_syn_sent(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        let acks_syn = flags.contains(Flags::ACK) && segment.ack == self.iss.at(1);
        if flags.contains(Flags::ACK) && !acks_syn {
            if !flags.contains(Flags::RST) {
                self.reset_due = Some(Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() });
            }
            return;
        }
        if flags.contains(Flags::RST) {
            if acks_syn {
                self.reset_by_peer();
            }
            return;
        }
        if !flags.contains(Flags::SYN) {
            return;
        }
        self.accept_syn(segment);
        if acks_syn {
            self.take_ack(now, segment);
            self.establish();
            self.receiver.acks.demand();
        } else {
            // Simultaneous open: our SYN goes out again, now with an ACK.
            self.state = State::SynReceived;
            self.sender.core.mark_first_lost();
        }
    }

    fn accept_syn(&mut self, segment: &Segment) {
        self.negotiated = negotiate(&self.config, segment);
        self.receiver.on_syn(segment, &self.config);
        self.sender.on_initial_window(u64::from(segment.window));
    }

    fn establish(&mut self) {
        self.state = State::Established;
        // RFC 5681 §3.1: after a lost SYN the initial window is one segment.
        let syn_was_lost = self.sender.core.stats.retransmissions > 0;
        let initial_window = if syn_was_lost { 1 } else { self.config.initial_window };
        let Negotiated { mss, sack, .. } = self.negotiated;
        let cc = self.factory.build(&self.config, mss, initial_window);
        self.sender.establish(&self.config, cc, mss, sack && reads_sack(&self.config));
        self.receiver.acks.on_handshake(self.sender.core.rtt.srtt());
        self.notify(Event::Connected);
    }

    /// RFC 9293 §3.10.7.4.
    fn handle_synchronized(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            return self.handle_reset(segment);
        }
        // RFC 7323 §3.2: once negotiated, a timestamp is on every segment; §5.3 R1: an old one is not acceptable.
        if self.negotiated.timestamps {
            if segment.timestamps.is_none() {
                return;
            }
            if self.receiver.is_old_timestamp(segment) {
                // Not for a late ACK without data, as in `Receiver::handle`.
                if segment.seq_len() > 0 {
                    self.receiver.acks.demand();
                }
                return;
            }
        }
        if flags.contains(Flags::SYN) {
            return self.handle_stray_syn(now, segment);
        }
        if !flags.contains(Flags::ACK) {
            return;
        }
        if self.state == State::SynReceived {
            let core = &self.sender.core;
            if !self.ack_position(segment).is_some_and(|ack| core.una < ack && ack <= core.nxt) {
                self.reset_due = Some(Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() });
                return;
            }
            self.take_ack(now, segment);
            self.establish();
        } else if self.receiver.position(segment).is_some() {
            self.take_ack(now, segment);
        }
        self.take_text(now, segment, ecn);
        self.advance_state(now);
    }

    /// RFC 5961 §3.2: only a reset with exactly the next sequence number is obeyed; others in the window are challenged.
    fn handle_reset(&mut self, segment: &Segment) {
        match self.receiver.position(segment) {
            Some(position) if position == self.receiver.reassembly.next() => match self.state {
                // RFC 9293 §3.10.7.4, second: both sides have finished, so that nobody is told of a reset.
                State::Closing | State::LastAck | State::TimeWait => self.finish(),
                _ => self.reset_by_peer(),
            },
            Some(position)
                if position > self.receiver.reassembly.next() && position <= self.receiver.limit() =>
            {
                self.receiver.acks.demand();
            }
            _ => {}
        }
    }

    /// A SYN again: our SYN-ACK or its ACK was lost; the answer to ours, when both ends open at once (RFC 9293 §3.5,
    /// figure 7); or a stray one, which is challenged (RFC 5961 §4.2).
    fn handle_stray_syn(&mut self, now: Time, segment: &Segment) {
        let is_repeated = self.state == State::SynReceived && self.receiver.position(segment) == Some(0);
        if !is_repeated {
            self.receiver.acks.demand();
        } else if !segment.flags.contains(Flags::ACK) {
            self.sender.core.mark_first_lost();
        } else if segment.ack == self.iss.at(1) {
            self.take_ack(now, segment);
            self.establish();
        }
    }

    fn ack_position(&self, segment: &Segment) -> Option<u64> {
        segment.ack.offset(self.iss, self.sender.core.una)
    }

    #[inline]
    fn take_ack(&mut self, now: Time, segment: &Segment) {
        let Some(ack) = self.ack_position(segment) else { return };
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.negotiated.peer_window_shift };
        let window = u64::from(segment.window) << shift;
        match self.sender.is_idle_at(ack) {
            true => self.sender.update_window(ack, window),
            false => self.take_news(now, segment, ack, window),
        }
    }

    #[inline(never)]
    fn take_news(&mut self, now: Time, segment: &Segment, ack: u64, window: u64) {
        let timestamps = segment.timestamps.filter(|_| self.negotiated.timestamps);
        let mut blocks = [(0, 0); 4];
        let (mut count, mut dsack) = (0, None);
        if !segment.sack.is_empty() && self.sender.core.has_sack {
            (count, dsack) = self.sack_blocks(segment, ack, &mut blocks);
        }
        self.sender.handle_ack(
            now,
            &AckIn {
                ack,
                blocks: &blocks[..count],
                dsack,
                window,
                has_payload: segment.seq_len() > 0,
                ece: self.negotiated.ecn
                    && segment.flags.contains(Flags::ECE)
                    && !segment.flags.contains(Flags::SYN),
                eln: segment.flags.contains(Flags::ELN) && self.config.eln,
                echo: timestamps.map(|ts| ts.echo),
                peer_timestamp: timestamps.map(|ts| ts.value),
            },
        );
    }

    /// The blocks above the ACK as positions; and the first one, if it reports a duplicate (RFC 2883 §4: it lies below the
    /// ACK or inside the second block).
    fn sack_blocks(
        &self,
        segment: &Segment,
        ack: u64,
        blocks: &mut [(u64, u64); 4],
    ) -> (usize, Option<(u64, u64)>) {
        let core = &self.sender.core;
        let ranges = segment.sack.as_slice();
        let (mut count, mut dsack) = (0, None);
        for (index, &(left, right)) in ranges.iter().enumerate() {
            let (Some(left), Some(right)) = (left.offset(self.iss, ack), right.offset(self.iss, ack)) else {
                continue;
            };
            let is_inside_next = || {
                let (l, r) = *ranges.get(index + 1)?;
                Some(l.offset(self.iss, ack)? <= left && right <= r.offset(self.iss, ack)?)
            };
            if index == 0 && (right <= ack || is_inside_next().unwrap_or(false)) {
                dsack = Some((left, right));
            } else if left < right && left >= ack && right <= core.nxt {
                blocks[count] = (left, right);
                count += 1;
            }
        }
        // Older blocks follow newer ones on the wire. After a lost ACK several are news, and that is no reordering:
        // RFC 8985 §6.2 step 3 takes them in ascending order.
        blocks[..count].sort_unstable();
        (count, dsack)
    }

    #[inline]
    fn take_text(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        let ecn = if self.negotiated.ecn { ecn } else { Ecn::NotEct };
        if self.receiver.handle(now, segment, ecn) == Arrival::Duplicate {
            self.sender.core.stats.duplicate_segments_received += 1;
        }
    }

    /// FINs sent, acknowledged and received (RFC 9293 §3.10.7.4, fifth and eighth).
    #[inline]
    fn advance_state(&mut self, now: Time) {
        let acked = self.sender.is_finished();
        let finished = self.receiver.has_finished();
        if !acked && !finished {
            return;
        }
        if finished
            && !matches!(self.state, State::CloseWait | State::LastAck | State::Closing | State::TimeWait)
        {
            self.notify(Event::PeerFinished);
        }
        if acked && matches!(self.state, State::FinWait1 | State::Closing | State::LastAck) {
            self.notify(Event::AllAcknowledged);
        }
        self.state = match self.state {
            State::Established if finished => State::CloseWait,
            State::FinWait1 if acked && finished => State::TimeWait,
            State::FinWait1 if acked => State::FinWait2,
            State::FinWait1 if finished => State::Closing,
            State::FinWait2 if finished => State::TimeWait,
            State::Closing if acked => State::TimeWait,
            State::LastAck if acked => State::Closed,
            other => other,
        };
        match self.state {
            // A FIN that comes again restarts the wait.
            State::TimeWait => self.time_wait_deadline = now + self.config.time_wait,
            State::Closed => self.notify(Event::Closed),
            _ => {}
        }
    }

    fn reset_by_peer(&mut self) {
        self.notify(Event::Reset);
        self.finish();
    }

    fn finish(&mut self) {
        self.state = State::Closed;
        self.notify(Event::Closed);
    }

    /// A timer may have expired.
    pub fn handle_timeout(&mut self, now: Time) {
        self.clock = now;
        self.receiver.acks.handle_timeout(now);
        if self.time_wait_deadline <= now {
            self.time_wait_deadline = Time::NEVER;
            self.finish();
        }
        if !matches!(self.state, State::Closed | State::Listen) {
            self.sender.handle_timeout(now);
            if self.sender.retries > self.config.max_retries {
                // RFC 9293 §3.8.3 (R2).
                self.reset_by_peer();
            }
        }
    }

    /// The next segment to send, if any may be sent now.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let mut transmit = Transmit::default();
        self.poll_transmit_into(now, &mut transmit).then_some(transmit)
    }

    /// As [`poll_transmit`](Connection::poll_transmit), into a place that the driver has for it: copying costs more than
    /// making. Answers whether there was a segment. After an acknowledgment without data there is none.
    pub fn poll_transmit_into(&mut self, now: Time, out: &mut Transmit) -> bool {
        self.clock = now;
        if let Some(segment) = self.reset_due.take() {
            *out = Transmit { segment, ecn: Ecn::NotEct, reason: Reason::Ack, offset: 0 };
            return true;
        }
        let outgoing = match self.state {
            State::Closed | State::Listen => return false,
            State::SynSent | State::SynReceived => return self.poll_syn(now, out),
            State::TimeWait => None,
            _ => self.sender.poll(now),
        };
        match outgoing {
            Some(outgoing) => self.data_segment(now, &outgoing, out),
            None if self.receiver.acks.is_due() => self.pure_ack(now, out),
            None => return false,
        }
        true
    }

    fn poll_syn(&mut self, now: Time, out: &mut Transmit) -> bool {
        let Some(outgoing) = self.sender.poll_syn(now) else { return false };
        let mut segment = Segment {
            seq: self.iss,
            flags: Flags::SYN,
            syn: offer(&self.config, self.receiver.window_shift()),
            timestamps: self.config.timestamps.then(|| Timestamps { value: timestamp(now), echo: 0 }),
            window: self.config.receive_window.0.min(0xffff) as u16,
            ..Segment::default()
        };
        if self.state == State::SynReceived {
            segment.flags.set(Flags::ACK);
            segment.timestamps = segment.timestamps.filter(|_| self.negotiated.timestamps);
            segment.syn.sack_permitted = self.negotiated.sack;
            self.receiver.acknowledge_syn(&mut segment);
            if self.negotiated.ecn {
                segment.flags.set(Flags::ECE);
            }
        } else if self.config.ecn {
            segment.flags.set(Flags::ECE | Flags::CWR);
        }
        *out = Transmit { segment, ecn: Ecn::NotEct, reason: outgoing.reason, offset: 0 };
        true
    }

    /// Makes a segment with everything but its sequence space.
    #[inline]
    fn header(&mut self, now: Time, position: u64, segment: &mut Segment) {
        *segment = Segment { seq: self.iss.at(position), flags: Flags::ACK, ..Segment::default() };
        if self.negotiated.timestamps {
            segment.timestamps = Some(Timestamps { value: timestamp(now), echo: 0 });
        }
        if self.receiver.echoes_congestion() {
            segment.flags.set(Flags::ECE);
        }
        self.receiver.acknowledge(segment);
    }

    fn pure_ack(&mut self, now: Time, out: &mut Transmit) {
        self.sender.core.stats.acks_sent += 1;
        self.header(now, self.sender.core.nxt, &mut out.segment);
        (out.ecn, out.reason, out.offset) = (Ecn::NotEct, Reason::Ack, 0);
    }

    fn data_segment(&mut self, now: Time, outgoing: &Outgoing, out: &mut Transmit) {
        let segment = &mut out.segment;
        self.header(now, outgoing.start, segment);
        let mut length = outgoing.end - outgoing.start;
        if self.sender.is_fin(outgoing.end) {
            segment.flags.set(Flags::FIN);
            length -= 1;
            self.on_fin_sent(outgoing.reason);
        }
        segment.len = length as u32;
        if length > 0 && self.sender.unsent() == 0 {
            segment.flags.set(Flags::PSH);
        }
        let mut ecn = Ecn::NotEct;
        if self.negotiated.ecn && length > 0 {
            // RFC 3168 §6.1.5 and §6.1.6: neither retransmissions nor window probes are ECN-capable.
            ecn = match outgoing.reason {
                Reason::New => Ecn::Ect0,
                Reason::WindowProbe => Ecn::NotEct,
                _ if self.config.ecn_retransmissions => Ecn::Ect0,
                _ => Ecn::NotEct,
            };
            // RFC 3168 §6.1.2: on the first new data after the reduction.
            let may_tell = outgoing.reason == Reason::New || self.config.ecn_retransmissions;
            if may_tell && std::mem::take(&mut self.sender.core.owes_cwr) {
                segment.flags.set(Flags::CWR);
            }
        }
        (out.ecn, out.reason, out.offset) = (ecn, outgoing.reason, outgoing.start - 1);
    }

    fn on_fin_sent(&mut self, reason: Reason) {
        self.state = match self.state {
            State::Established if reason != Reason::WindowProbe => State::FinWait1,
            State::CloseWait if reason != Reason::WindowProbe => State::LastAck,
            other => other,
        };
    }

    /// When `handle_timeout` is wanted.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        if matches!(self.state, State::Closed | State::Listen) {
            return Time::NEVER;
        }
        self.sender.deadline(self.clock).min(self.receiver.acks.deadline()).min(self.time_wait_deadline)
    }

    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.events == 0 {
            return None;
        }
        let event = Event::ALL[self.events.trailing_zeros() as usize];
        self.events &= self.events - 1;
        Some(event)
    }

    fn notify(&mut self, event: Event) {
        self.events |= 1 << event as u8;
    }

    /// The application has `bytes` more to send. Not to be called after [`close`](Connection::close).
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    /// For a stream of virtual bytes: exactly `bytes` wait to be sent, whatever was said to wait before.
    pub fn set_unsent(&mut self, bytes: u64) {
        self.sender.set_unsent(bytes);
    }

    /// Bytes of new data that would leave at `now`.
    pub fn allowance(&self, now: Time) -> u64 {
        match self.state {
            State::Established | State::CloseWait => self.sender.allowance(now),
            _ => 0,
        }
    }

    /// The application has written all it will: FIN follows the last byte.
    pub fn close(&mut self) {
        match self.state {
            State::Closed => {}
            State::Listen => self.state = State::Closed,
            _ => self.sender.close(),
        }
    }

    /// For the data TCP of a circuit (paper 000 §6, F2): on so many duplicate ACKs, its first unacknowledged segment is
    /// resent again.
    pub fn repeat_first_every(&mut self, duplicates: u32) {
        self.sender.core.repeat_every = duplicates.max(1);
    }

    /// Sends RST and forgets the connection.
    pub fn abort(&mut self) {
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            let mut reset = Segment {
                seq: self.iss.at(self.sender.core.nxt),
                flags: Flags::RST | Flags::ACK,
                ..Segment::default()
            };
            self.receiver.acknowledge(&mut reset);
            self.reset_due = Some(reset);
        }
        self.state = State::Closed;
        self.notify(Event::Closed);
    }

    /// Bytes received in order and not yet read.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// The application takes `bytes`, at most what is readable; the window opens by as much.
    #[inline]
    pub fn read(&mut self, bytes: u64) {
        self.receiver.read(bytes);
    }

    /// Has every byte of the peer's stream in `start..end` arrived?
    pub fn has_received(&self, start: u64, end: u64) -> bool {
        self.receiver.reassembly.contains(start + 1, end + 1)
    }

    /// Bytes of the peer's stream received in order.
    pub fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// Stream offset of the first payload byte of a segment that is about to be handled; `None` if it is no part of the
    /// stream.
    pub fn payload_offset(&self, segment: &Segment) -> Option<u64> {
        let skipped = u64::from(segment.flags.contains(Flags::SYN));
        (self.receiver.position(segment)? + skipped).checked_sub(1)
    }

    /// Stream offset at which the receive window ends: what lies beyond is not kept.
    pub fn receive_limit(&self) -> u64 {
        self.receiver.limit()
    }

    /// Bytes of our stream acknowledged.
    pub fn acknowledged(&self) -> u64 {
        let core = &self.sender.core;
        core.una.saturating_sub(1 + u64::from(self.sender.is_finished()))
    }

    /// The RTT sample that the last `handle_segment` took.
    #[inline]
    pub fn last_rtt(&self) -> Option<Dur> {
        self.sender.last_rtt
    }

    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    pub fn sender_view(&self) -> SenderView {
        let core = &self.sender.core;
        SenderView {
            cwnd: core.window(),
            ssthresh: core.cc.ssthresh(),
            mss: core.mss,
            srtt: core.rtt.srtt(),
            rttvar: core.rtt.rttvar(),
            rto: core.rtt.rto(),
            in_flight: core.board.in_flight(),
            una: core.una.saturating_sub(1),
            nxt: core.nxt.saturating_sub(1),
            peer_window: self.sender.peer_window(),
            in_recovery: core.phase != Phase::Open,
        }
    }

    /// Segments and ranges that are kept: what the connection's memory grows with. Bounded by the two windows.
    pub fn kept(&self) -> usize {
        self.sender.kept() + self.receiver.reassembly.kept()
    }

    #[inline]
    pub fn stats(&self) -> &Stats {
        &self.sender.core.stats
    }
}
