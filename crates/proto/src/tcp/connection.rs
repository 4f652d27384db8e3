//! One TCP connection, from the handshake to TIME-WAIT.

use super::config::TcpConfig;
use crate::cc::RegistryError;
use airtcp_wire::{Dur, Ecn, Segment, Seq, Time};

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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Data (or SYN, FIN) for the first time.
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// The sender's state for time series. Windows in bytes, positions as stream offsets of the application's bytes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SenderView {
    pub cwnd: u64,
    pub ssthresh: u64,
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
    _private: (),
}

impl Connection {
    /// Begins an active open: the first `poll_transmit` yields the SYN.
    ///
    /// # Errors
    /// If the congestion control or one of its parameters is unknown.
    pub fn connect(
        _config: &TcpConfig,
        _iss: Seq,
        _seed: u64,
        _now: Time,
    ) -> Result<Connection, RegistryError> {
        todo!()
    }

    /// A passive open: waits for a SYN.
    ///
    /// # Errors
    /// As [`Connection::connect`].
    pub fn listen(_config: &TcpConfig, _iss: Seq, _seed: u64) -> Result<Connection, RegistryError> {
        todo!()
    }

    /// A segment has arrived; `ecn` is its IP header's ECN field. Answers where its payload belongs.
    pub fn handle_segment(&mut self, _now: Time, _segment: &Segment, _ecn: Ecn) {
        todo!()
    }

    /// A timer may have expired.
    pub fn handle_timeout(&mut self, _now: Time) {
        todo!()
    }

    /// The next segment to send, if any may be sent now.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Transmit> {
        todo!()
    }

    /// When `handle_timeout` is wanted.
    pub fn poll_timeout(&self) -> Time {
        todo!()
    }

    pub fn poll_event(&mut self) -> Option<Event> {
        todo!()
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, _bytes: u64) {
        todo!()
    }

    /// The application has written all it will: FIN follows the last byte.
    pub fn close(&mut self) {
        todo!()
    }

    /// Sends RST and forgets the connection.
    pub fn abort(&mut self) {
        todo!()
    }

    /// Bytes received in order and not yet read.
    pub fn readable(&self) -> u64 {
        todo!()
    }

    /// The application takes `bytes`, at most what is readable; the window opens by as much.
    pub fn read(&mut self, _bytes: u64) {
        todo!()
    }

    /// Has every byte of the peer's stream in `start..end` arrived?
    pub fn has_received(&self, _start: u64, _end: u64) -> bool {
        todo!()
    }

    /// Bytes of the peer's stream received in order.
    pub fn received(&self) -> u64 {
        todo!()
    }

    /// Bytes of our stream acknowledged.
    pub fn acknowledged(&self) -> u64 {
        todo!()
    }

    /// The RTT sample that the last `handle_segment` took.
    pub fn last_rtt(&self) -> Option<Dur> {
        todo!()
    }

    pub fn state(&self) -> State {
        todo!()
    }

    pub fn sender_view(&self) -> SenderView {
        todo!()
    }

    pub fn stats(&self) -> &Stats {
        todo!()
    }
}
