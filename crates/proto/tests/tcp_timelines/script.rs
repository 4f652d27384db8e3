//! Packet timelines: at this time this goes in, that must come out. Data is counted in segments of [`MSS`] bytes.

use airtcp_proto::tcp::{Connection, Event, Reason, SenderView, TcpConfig, Transmit, profile};
use airtcp_wire::{Bytes, Dur, Ecn, Flags, SackBlocks, Segment, Seq, SynOptions, Time, Timestamps};
use std::ops::Range;

pub const MSS: u64 = 1000;
const ISS: Seq = Seq(0xffff_f000);
const PEER_ISS: Seq = Seq(5000);

/// The RFCs' rules with nothing switched on that a test does not ask for: Reno, no options, initial window of two
/// segments, segments of 1000 bytes.
pub fn plain() -> TcpConfig {
    TcpConfig {
        packet_size: 1040,
        initial_window: 2,
        timestamps: false,
        sack: false,
        window_scaling: false,
        limited_transmit: false,
        ack_every: 1,
        byte_counting_limit: Some(1),
        receive_window: Bytes(64_000),
        recovery: airtcp_proto::tcp::Recovery::Reno,
        ..profile::rfc()
    }
}

/// A connection under test and the peer that a test plays.
pub struct Script {
    pub connection: Connection,
    now: Time,
    out: Vec<(Time, Transmit)>,
    window: u64,
    timestamps: bool,
    peer_sent: u64,
}

impl Script {
    /// Connects at time 0, with the peer's SYN-ACK `rtt_ms` later.
    pub fn connected(config: &TcpConfig, rtt_ms: u64) -> Script {
        Script::with_window(config, rtt_ms, 60_000)
    }

    /// The same with a window of `window` bytes.
    pub fn with_window(config: &TcpConfig, rtt_ms: u64, window: u64) -> Script {
        let mut script = Script {
            connection: Connection::connect(config, ISS, 1, Time::ZERO).unwrap(),
            now: Time::ZERO,
            out: Vec::new(),
            window,
            timestamps: config.timestamps,
            peer_sent: 0,
        };
        script.flush();
        let ecn = if config.ecn { Flags::ECE } else { Flags(0) };
        let syn = Segment {
            seq: PEER_ISS,
            flags: Flags::SYN | Flags::ACK | ecn,
            syn: SynOptions {
                mss: Some(1460),
                window_scale: config.window_scaling.then_some(0),
                sack_permitted: config.sack,
                ..SynOptions::default()
            },
            ..script.header(0, 0)
        };
        script.at(rtt_ms);
        script.input(Segment { ack: ISS.at(1), ..syn }, Ecn::NotEct);
        script.drain();
        script
    }

    /// Lets time pass up to `ms`; timers on the way expire.
    pub fn at(&mut self, ms: u64) -> &mut Script {
        let then = Time::ZERO + Dur::from_millis(ms);
        assert!(then >= self.now, "time goes back");
        while self.connection.poll_timeout() <= then {
            self.now = self.connection.poll_timeout().max(self.now);
            self.connection.handle_timeout(self.now);
            self.flush();
        }
        self.now = then;
        self
    }

    fn flush(&mut self) {
        while let Some(transmit) = self.connection.poll_transmit(self.now) {
            self.out.push((self.now, transmit));
        }
    }

    pub fn input(&mut self, segment: Segment, ecn: Ecn) {
        self.take(segment, ecn);
    }

    /// A segment arrives. Returns the range of the peer's stream that is taken from it.
    pub fn take(&mut self, segment: Segment, ecn: Ecn) -> Option<Range<u64>> {
        let taken = self.connection.handle_payload(self.now, &segment, ecn);
        self.flush();
        taken.map(|(offset, part)| offset..offset + part.len() as u64)
    }

    /// The application writes `segments` full segments.
    pub fn write(&mut self, segments: u64) -> &mut Script {
        self.connection.write(segments * MSS);
        self.flush();
        self
    }

    pub fn shutdown(&mut self) -> &mut Script {
        self.connection.shutdown();
        self.flush();
        self
    }

    /// A segment of the peer's that acknowledges everything before segment `acked`.
    pub fn header(&self, acked: u64, echo: u32) -> Segment {
        let value = (self.now.0 / 1_000_000) as u32;
        Segment {
            seq: PEER_ISS.at(1 + self.peer_sent),
            ack: ISS.at(1 + acked * MSS),
            flags: Flags::ACK,
            window: self.window as u16,
            timestamps: self.timestamps.then_some(Timestamps { value, echo }),
            ..Segment::default()
        }
    }

    /// The peer acknowledges everything before segment `acked`.
    pub fn ack(&mut self, acked: u64) -> &mut Script {
        self.input(self.header(acked, self.now_ms()), Ecn::NotEct);
        self
    }

    /// The same ACK `times` times.
    pub fn acks(&mut self, acked: u64, times: usize) -> &mut Script {
        for _ in 0..times {
            self.ack(acked);
        }
        self
    }

    /// An ACK that echoes the timestamp of something sent at `echo_ms`.
    pub fn ack_echoing(&mut self, acked: u64, echo_ms: u64) -> &mut Script {
        self.input(self.header(acked, echo_ms as u32), Ecn::NotEct);
        self
    }

    /// An ACK with SACK blocks, in segments.
    pub fn sack(&mut self, acked: u64, blocks: &[(u64, u64)]) -> &mut Script {
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|(left, right)| sack.push(ISS.at(1 + left * MSS), ISS.at(1 + right * MSS)));
        self.input(Segment { sack, ..self.header(acked, self.now_ms()) }, Ecn::NotEct);
        self
    }

    /// An ACK with more flags.
    pub fn ack_with(&mut self, acked: u64, flags: Flags) -> &mut Script {
        let header = self.header(acked, self.now_ms());
        self.input(Segment { flags: header.flags | flags, ..header }, Ecn::NotEct);
        self
    }

    /// The peer's window from now on, in bytes.
    pub fn window(&mut self, bytes: u64) -> &mut Script {
        self.window = bytes;
        self
    }

    /// The peer sends `len` bytes from `offset` of its stream on.
    pub fn data(&mut self, offset: u64, len: u32, ecn: Ecn, flags: Flags) -> &mut Script {
        let header = self.header(0, self.now_ms());
        let seq = PEER_ISS.at(1 + offset);
        self.input(Segment { seq, len, flags: header.flags | flags, ..header }, ecn);
        self
    }

    fn now_ms(&self) -> u32 {
        (self.now.0 / 1_000_000) as u32
    }

    /// Everything that left since the last call.
    pub fn drain(&mut self) -> Vec<(Time, Transmit)> {
        std::mem::take(&mut self.out)
    }

    /// Data that left since the last call, as numbers of segments.
    pub fn sent(&mut self) -> Vec<u64> {
        let data = |transmit: &Transmit| transmit.segment.len > 0;
        self.drain().iter().filter(|(_, transmit)| data(transmit)).map(|(_, t)| t.offset / MSS).collect()
    }

    /// The same with the time in ms and the reason.
    pub fn sent_why(&mut self) -> Vec<(u64, u64, Reason)> {
        let data = |transmit: &Transmit| transmit.segment.len > 0;
        self.drain()
            .iter()
            .filter(|(_, transmit)| data(transmit))
            .map(|(at, t)| (at.0 / 1_000_000, t.offset / MSS, t.reason))
            .collect()
    }

    pub fn view(&self) -> SenderView {
        self.connection.sender_view()
    }

    /// cwnd (with Reno's inflation) and ssthresh in whole segments.
    pub fn windows(&self) -> (u64, u64) {
        (self.view().cwnd / MSS, self.view().ssthresh / MSS)
    }

    pub fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.connection.poll_event()).collect()
    }

    /// Offset in our sequence space of an ACK that came out, in the peer's bytes.
    pub fn acked_by(transmit: &Transmit) -> u64 {
        transmit.segment.ack.offset(PEER_ISS.at(1), 0).unwrap()
    }

    /// SACK blocks that came out, in the peer's bytes.
    pub fn sacked_by(transmit: &Transmit) -> Vec<(u64, u64)> {
        let offset = |seq: Seq| seq.offset(PEER_ISS.at(1), 0).unwrap();
        transmit.segment.sack.as_slice().iter().map(|(l, r)| (offset(*l), offset(*r))).collect()
    }

    /// Opens the window to `segments` in slow start, all acknowledged, by time `ms`; answers the next segment's number.
    pub fn opened(config: &TcpConfig, segments: u32) -> Script {
        let config = TcpConfig { initial_window: segments, ..config.clone() };
        Script::connected(&config, 100)
    }
}
