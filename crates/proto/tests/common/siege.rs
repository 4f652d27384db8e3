//! A transfer both ways while a stranger sends, too. All that happens is read from bytes, so that a property test and a
//! fuzz target share it.

use super::{Pair, Weather, ms};
use airtcp_proto::tcp::profile::PROFILES;
use airtcp_proto::tcp::{Event, TcpConfig};
use airtcp_wire::{Bytes, Dur, Ecn, Flags, SackBlocks, Segment, Seq, Time, Timestamps};

/// What the stranger knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stranger {
    /// Addresses and ports. A segment that would hit all that a receiver checks is not sent.
    OffPath,
    /// All that is on the wire.
    OnPath,
}

/// Runs the transfer that `data` describes. With an off-path stranger both ends must receive every byte once, in order and
/// unchanged; with an on-path one they must keep within their own bounds.
pub fn besiege(data: &[u8], stranger: Stranger) {
    let mut source = Source(data);
    let mut siege = Siege::begin(&mut source);
    let end = match stranger {
        Stranger::OffPath => Time::ZERO + Dur::from_secs(100_000),
        Stranger::OnPath => Time::ZERO + Dur::from_secs(1000),
    };
    for _ in 0..MAX_STEPS {
        siege.overhear();
        let attacks = if siege.is_open() { source.byte() % 4 } else { 0 };
        for _ in 0..attacks {
            siege.attack(&mut source, stranger);
        }
        if !siege.pair.step(end) {
            return siege.judge(stranger);
        }
    }
    panic!("no end: {} {:?}", siege.pair.now, siege.pair.ends.map(|end| end.sender_view()));
}

const MAX_STEPS: u32 = 100_000;
const LATEST_TIMESTAMP: u32 = 0x4000_0000;

/// Bytes to choose by; zeros when they have run out.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    fn chance(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A sequence number: this one, or one beside it, or some windows away, or any.
    fn near(&mut self, true_one: Seq) -> Seq {
        let shift = match self.byte() % 4 {
            0 => 0,
            1 => i32::from(self.byte() as i8),
            2 => i32::from(self.word() as i16) * 16,
            _ => self.word() as i32,
        };
        Seq(true_one.0.wrapping_add_signed(shift))
    }
}

/// What an end has said: positions in its own sequence space, and in its peer's.
#[derive(Clone, Copy, Default)]
struct Said {
    /// After the last sequence number.
    next: u64,
    /// The last ACK, the right edge of the window, and the widest window.
    ack: u64,
    edge: u64,
    widest: u64,
    shift: u8,
}

struct Siege {
    pair: Pair,
    iss: [Seq; 2],
    written: [u64; 2],
    has_timestamps: bool,
    said: [Said; 2],
    /// Segments of the log that are in `said`.
    overheard: usize,
}

impl Siege {
    fn begin(source: &mut Source) -> Siege {
        let configs = [config(source), config(source)];
        let iss = [Seq(source.word()), Seq(source.word())];
        let weather = Weather {
            loss: f64::from(source.byte()) / 1000.0,
            duplication: f64::from(source.byte()) / 1000.0,
            delay: ms(20),
            jitter: ms(u64::from(source.byte())),
        };
        let [client, server] = &configs;
        let seed = u64::from(source.byte());
        let mut pair = Pair::new(client, server, iss.map(|iss| iss.0), weather, seed);
        let written = [source.word() % 40_000, source.word() % 40_000].map(u64::from);
        written.iter().zip(&mut pair.ends).for_each(|(&bytes, end)| end.write(bytes));
        pair.closes = [true, true];
        pair.flush();
        let has_timestamps = client.timestamps && server.timestamps;
        Siege { pair, iss, written, has_timestamps, said: Default::default(), overheard: 0 }
    }

    /// Takes in what the two ends have sent.
    fn overhear(&mut self) {
        for sent in &self.pair.log[self.overheard..] {
            let (by, segment) = (sent.by, &sent.transmit.segment);
            let said = &mut self.said[by];
            let is_syn = segment.flags.contains(Flags::SYN);
            if is_syn {
                said.shift = segment.syn.window_scale.unwrap_or(0);
            }
            let window = u64::from(segment.window) << if is_syn { 0 } else { said.shift };
            said.widest = said.widest.max(window);
            if let Some(start) = segment.seq.offset(self.iss[by], said.next) {
                said.next = said.next.max(start + u64::from(segment.seq_len()));
            }
            if segment.flags.contains(Flags::ACK)
                && let Some(ack) = segment.ack.offset(self.iss[1 - by], said.ack)
            {
                said.ack = ack;
                said.edge = said.edge.max(ack + window);
            }
        }
        self.overheard = self.pair.log.len();
    }

    /// Have both ends seen the other's SYN?
    fn is_open(&self) -> bool {
        self.pair.events.iter().all(|events| events.contains(&Event::Connected))
    }

    fn attack(&mut self, source: &mut Source, stranger: Stranger) {
        let to = usize::from(source.chance());
        let segment = self.forge(source, to);
        if stranger == Stranger::OnPath || !self.is_hit(to, &segment) {
            self.pair.arrive(to, &segment, Ecn::from_bits(source.byte()), |_| 0xff);
            self.pair.flush();
            self.overhear();
        }
    }

    /// A segment to end `to`, some of whose numbers may be right.
    fn forge(&self, source: &mut Source, to: usize) -> Segment {
        let (said, iss) = (&self.said[to], self.iss[to]);
        let ack = source.near(iss.at(said.next));
        let mut sack = SackBlocks::default();
        for _ in 0..source.byte() % 3 {
            sack.push(source.near(iss.at(said.next)), source.near(iss.at(said.next)));
        }
        Segment {
            seq: source.near(self.iss[1 - to].at(said.ack)),
            ack,
            flags: Flags(u16::from(source.byte())),
            window: source.word() as u16,
            len: source.word() % 1461,
            timestamps: source.chance().then(|| Timestamps { value: source.word(), echo: source.word() }),
            sack,
            ..Segment::default()
        }
    }

    /// Does the segment pass all that the RFCs have a receiver check? To pass, a stranger would have to guess right.
    fn is_hit(&self, to: usize, segment: &Segment) -> bool {
        let said = &self.said[to];
        let next = self.pair.ends[to].received() + 1;
        let Some(start) = segment.seq.offset(self.iss[1 - to], next) else { return false };
        // The peer's FIN may have come, or not.
        if segment.flags.contains(Flags::RST) {
            return (next..=next + 1).contains(&start);
        }
        // RFC 5961 §4: no SYN does anything.
        if segment.flags.contains(Flags::SYN) || !segment.flags.contains(Flags::ACK) {
            return false;
        }
        let is_in_window =
            start + u64::from(segment.seq_len()) >= said.ack && start <= said.edge.max(next + 1);
        is_in_window && self.may_acknowledge(to, segment) && self.is_of_age(segment)
    }

    /// RFC 5961 §5.2.
    fn may_acknowledge(&self, to: usize, segment: &Segment) -> bool {
        let una = self.pair.ends[to].sender_view().una + 1;
        let oldest = una.saturating_sub(self.said[1 - to].widest);
        let ack = segment.ack.offset(self.iss[to], una);
        ack.is_some_and(|ack| (oldest..=self.said[to].next).contains(&ack))
    }

    /// RFC 7323 §5.3 R1, of which Linux forgives a tick. The ends' clocks begin at 0, so that the last quarter of the numbers is
    /// older than all of theirs.
    fn is_of_age(&self, segment: &Segment) -> bool {
        let is_young = |ts: Timestamps| ts.value.wrapping_add(1) <= u32::MAX - LATEST_TIMESTAMP;
        !self.has_timestamps || segment.timestamps.is_some_and(is_young)
    }

    fn judge(&self, stranger: Stranger) {
        if stranger == Stranger::OnPath {
            return;
        }
        for to in [0, 1] {
            assert_eq!(self.pair.ends[to].received(), self.written[1 - to], "end {to}");
            assert!(self.pair.is_intact(to), "end {to} was given what its peer did not write");
            assert!(self.pair.events[to].contains(&Event::PeerFinished), "{:?}", self.pair.events);
        }
    }
}

fn config(source: &mut Source) -> TcpConfig {
    let profile = &PROFILES[usize::from(source.byte()) % PROFILES.len()];
    let [sack, timestamps, window_scaling, ecn] = std::array::from_fn(|_| source.chance());
    TcpConfig {
        sack,
        dsack: sack,
        timestamps,
        window_scaling,
        ecn,
        receive_window: Bytes(3000 + u64::from(source.word() % 100_000)),
        max_retries: 1000,
        packet_size: 1500,
        time_wait: Dur::from_secs(1),
        ..(profile.config)()
    }
}
