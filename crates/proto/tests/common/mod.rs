//! Two connections and a path between them that loses, delays and duplicates as a script or chance says.

#![allow(dead_code, reason = "each test file uses a part")]

pub mod siege;

use airtcp_proto::tcp::{Connection, Event, Reason, State, TcpConfig, Transmit};
use airtcp_proto::{Chance, Chances};
use airtcp_wire::{Dur, Ecn, Flags, Segment, Seq, Time};
use std::collections::BTreeMap;

pub const fn ms(n: u64) -> Dur {
    Dur::from_millis(n)
}

/// More than any of these transfers needs.
const MAX_STEPS: u32 = 300_000;

/// What the path does to packets, each way.
#[derive(Clone, Debug)]
pub struct Weather {
    pub loss: f64,
    pub duplication: f64,
    /// One way.
    pub delay: Dur,
    /// Up to this much more, drawn for each packet: packets overtake each other.
    pub jitter: Dur,
}

impl Weather {
    pub fn clear(delay: Dur) -> Weather {
        Weather { loss: 0.0, duplication: 0.0, delay, jitter: Dur::ZERO }
    }
}

/// A segment that was put on the path.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub by: usize,
    pub transmit: Transmit,
    pub was_lost: bool,
}

/// Is this segment, sent by that end, lost?
pub type Lose = Box<dyn FnMut(usize, &Transmit) -> bool>;

/// The byte at `offset` of the stream that `by` writes: below 128.
fn written(by: usize, offset: u64) -> u8 {
    (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57) as u8 ^ by as u8
}

/// A client (0) and a server (1).
pub struct Pair {
    pub now: Time,
    pub ends: [Connection; 2],
    pub weather: Weather,
    /// The share of ECN-capable packets that the path marks.
    pub marks: f64,
    configs: [TcpConfig; 2],
    /// Tail loss probes so far.
    probes: [u64; 2],
    pub log: Vec<Sent>,
    pub events: [Vec<Event>; 2],
    /// Decides over packets before the weather does: `true` loses this one.
    pub lose: Lose,
    /// An end that may not send now, as one that waits for room in a circuit.
    pub waits: Option<usize>,
    /// Does the application take what arrives?
    pub reads: [bool; 2],
    /// Does the application close as soon as it is connected?
    pub closes: [bool; 2],
    /// The server takes the client's Fast Open cookie for a good one.
    pub trusts: bool,
    /// What each end's application has been given, by stream offset.
    streams: [Vec<u8>; 2],
    path: BTreeMap<(Time, u64), (usize, Transmit)>,
    next_id: u64,
    rng: Chance,
}

impl Pair {
    pub fn new(client: &TcpConfig, server: &TcpConfig, iss: [u32; 2], weather: Weather, seed: u64) -> Pair {
        Pair {
            now: Time::ZERO,
            ends: [
                Connection::connect(client, Seq(iss[0]), seed, Time::ZERO).unwrap(),
                Connection::listen(server, Seq(iss[1]), seed).unwrap(),
            ],
            weather,
            marks: 0.0,
            configs: [client.clone(), server.clone()],
            probes: [0, 0],
            log: Vec::new(),
            events: [Vec::new(), Vec::new()],
            lose: Box::new(|_, _| false),
            waits: None,
            reads: [true, true],
            closes: [false, false],
            trusts: false,
            streams: [Vec::new(), Vec::new()],
            path: BTreeMap::new(),
            next_id: 0,
            rng: Chances::new(seed).chance("weather"),
        }
    }

    /// Runs until nothing is left to do or `until` has come.
    pub fn run(&mut self, until: Time) {
        self.flush();
        for _ in 0..MAX_STEPS {
            if !self.step(until) {
                return;
            }
        }
        panic!("no end: {} {:?} {:?}", self.now, self.ends[0].sender_view(), self.ends[1].sender_view());
    }

    /// The next arrival or timer; `false` if there is none before `until`.
    pub fn step(&mut self, until: Time) -> bool {
        let arrival = self.path.keys().next().map_or(Time::NEVER, |key| key.0);
        // What is due at an end that waits, it does when it may send.
        let due = |end: usize| match self.ends[end].poll_timeout() {
            at if self.waits == Some(end) && at <= self.now => Time::NEVER,
            at => at,
        };
        let timer = due(0).min(due(1));
        let next = arrival.min(timer);
        if next > until || next.is_never() {
            return false;
        }
        self.now = self.now.max(next);
        if let Some(end) = self.waits.filter(|end| self.ends[*end].poll_timeout() <= self.now) {
            self.ends[end].handle_timeout(self.now);
        }
        if arrival <= timer {
            let (_, (to, Transmit { segment, ecn, offset, .. })) = self.path.pop_first().unwrap();
            self.arrive(to, &segment, ecn, |index| written(1 - to, offset + index));
        } else {
            for end in &mut self.ends {
                if end.poll_timeout() <= self.now {
                    end.handle_timeout(self.now);
                }
            }
        }
        self.flush();
        true
    }

    /// A segment reaches end `to`. The application gets of its payload, told by index, what the connection accepts.
    pub fn arrive(&mut self, to: usize, segment: &Segment, ecn: Ecn, payload: impl Fn(u64) -> u8) {
        let is_fast = self.trusts && segment.syn.fast_open.has_cookie();
        let taken = match self.ends[to].state() {
            State::Listen if is_fast => {
                let bytes = self.ends[to].handle_trusted_syn(self.now, segment, ecn);
                (bytes > 0).then_some((0, 0..bytes as usize))
            }
            _ => self.ends[to].handle_payload(self.now, segment, ecn),
        };
        let Some((offset, part)) = taken else { return };
        assert!(part.start < part.end && part.end <= segment.len as usize, "{segment:?}");
        let (stream, offset) = (&mut self.streams[to], offset as usize);
        stream.resize(stream.len().max(offset + part.len()), 0);
        let payload = part.map(|index| payload(index as u64));
        stream[offset..].iter_mut().zip(payload).for_each(|(byte, written)| *byte = written);
    }

    /// Is every byte that end `to` received what its peer wrote at that offset?
    pub fn is_intact(&self, to: usize) -> bool {
        let received = &self.streams[to][..self.ends[to].received() as usize];
        received.iter().enumerate().all(|(offset, &byte)| byte == written(1 - to, offset as u64))
    }

    /// Drains both ends.
    pub fn flush(&mut self) {
        for by in [0, 1] {
            if self.reads[by] {
                let readable = self.ends[by].readable();
                self.ends[by].read(readable);
            }
            while let Some(event) = self.ends[by].poll_event() {
                self.events[by].push(event);
                if event == Event::Connected && self.closes[by] {
                    self.ends[by].shutdown();
                }
            }
            while self.waits != Some(by)
                && let Some(transmit) = self.ends[by].poll_transmit(self.now)
            {
                self.put(by, transmit);
            }
        }
    }

    fn put(&mut self, by: usize, transmit: Transmit) {
        self.check(by, &transmit);
        let was_lost = (self.lose)(by, &transmit) || self.rng.happens(self.weather.loss);
        self.log.push(Sent { at: self.now, by, transmit, was_lost });
        let is_marked = self.marks > 0.0 && transmit.ecn == Ecn::Ect0 && self.rng.happens(self.marks);
        let transmit = Transmit { ecn: if is_marked { Ecn::Ce } else { transmit.ecn }, ..transmit };
        let copies = if was_lost { 0 } else { 1 + u32::from(self.rng.happens(self.weather.duplication)) };
        for _ in 0..copies {
            let jitter = Dur((self.weather.jitter.0 as f64 * self.rng.f64()) as u64);
            let key = (self.now + self.weather.delay + jitter, self.next_id);
            self.next_id += 1;
            self.path.insert(key, (1 - by, transmit));
        }
    }

    /// What must hold whenever something is sent.
    fn check(&mut self, by: usize, transmit: &Transmit) {
        let probes = self.ends[by].stats().tail_loss_probes;
        let is_probe = std::mem::replace(&mut self.probes[by], probes) < probes;
        let (view, config) = (self.ends[by].sender_view(), &self.configs[by]);
        assert!(view.rto >= config.rto.min.min(config.rto.initial) && view.rto <= config.rto.max, "{view:?}");
        assert!(transmit.segment.len <= config.packet_size - 40);
        // One entry a segment out, one a retransmission under way, one a gap.
        let windows: u64 = self.configs.iter().map(|config| config.receive_window.0).sum();
        assert!(self.ends[by].kept() as u64 <= 8 + windows / 64, "{} kept", self.ends[by].kept());
        // What goes with a SYN goes before the peer has offered a window (RFC 7413 §4.2.1).
        let is_syn = transmit.segment.flags.contains(Flags::SYN);
        if transmit.reason == Reason::New && transmit.segment.len > 0 && !is_syn {
            let end = transmit.offset + u64::from(transmit.segment.len);
            assert!(
                end <= view.una + view.peer_window + 1,
                "beyond the peer's window: {transmit:?} {view:?}"
            );
            let most = config.most_outstanding(self.ends[by].negotiated_mss());
            assert!(end <= view.una + u64::from(most) + 1, "beyond the send buffer: {transmit:?} {view:?}");
            // F-RTO's two segments leave with everything else still counted as in flight (RFC 5682 §2.1 step 2b); a tail
            // loss probe leaves whatever cwnd says (RFC 8985 §7.3).
            let is_f_rto = config.f_rto && view.in_recovery;
            let fin = u64::from(transmit.segment.flags.contains(Flags::FIN));
            let syn = u64::from(self.ends[by].state() == State::SynReceived);
            assert!(
                is_f_rto || is_probe || view.in_flight <= view.cwnd + fin + syn,
                "beyond cwnd: {transmit:?} {view:?}"
            );
        }
    }

    /// Data segments that end `by` sent: time in ms, first byte in units of `unit`, reason.
    pub fn data_sent(&self, by: usize, unit: u64) -> Vec<(u64, u64, Reason)> {
        self.log
            .iter()
            .filter(|sent| sent.by == by && sent.transmit.segment.len > 0)
            .map(|sent| (sent.at.0 / 1_000_000, sent.transmit.offset / unit, sent.transmit.reason))
            .collect()
    }
}
