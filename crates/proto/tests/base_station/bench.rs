//! A machine on the bench: packets are handed to it at chosen times, and what it puts out is looked at. Data is counted in
//! segments of [`MSS`] bytes; sequence numbers wrap after the fourth.

use airtcp_proto::Chances;
use airtcp_proto::base_station::{self, MachineBuild};
use airtcp_proto::middlebox::{Direction, FlowId, Middlebox, Origin, SeenPacket};
use airtcp_proto::scheme::Scheme;
use airtcp_wire::{Dur, Ecn, Flags, SackBlocks, Segment, Seq, Time, Timestamps};

pub const MSS: u64 = 1000;
pub const ISS: Seq = Seq(0xffff_f000);
const MOBILE_ISS: Seq = Seq(70_000);
pub const FLOW: FlowId = FlowId(1);

/// What a test says about a packet: which way it goes, and the segment that it carries or the one that it asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    Data(u64),
    Ack(u64),
    /// A duplicate ACK with ELN.
    Eln(u64),
}

pub struct Bench {
    pub machine: Box<dyn Middlebox>,
    pub now: Time,
    pub flow: FlowId,
    out: Vec<SeenPacket>,
}

/// The machine that `term` names.
pub fn machine(term: &str) -> Box<dyn Middlebox> {
    let scheme = Scheme::parse(term, "rfc").unwrap();
    let station = scheme.base_station.as_ref().unwrap();
    let chance = Chances::new(1).chance("bench");
    station.machine.build(MachineBuild { tcp: &station.tcp, hosts: &scheme.config, chance })
}

/// What leaves when this packet has come goes to `out`, the packet itself first if it goes on.
pub fn relay(machine: &mut dyn Middlebox, now: Time, packet: SeenPacket, out: &mut Vec<SeenPacket>) {
    let place = out.len();
    if machine.handle_packet(now, &packet, out) {
        out.insert(place, packet);
    }
}

impl Bench {
    pub fn new(term: &str) -> Bench {
        assert!(base_station::find(term.split(':').next().unwrap()).is_some());
        Bench { machine: machine(term), now: Time::ZERO, flow: FLOW, out: Vec::new() }
    }

    /// Lets time pass up to `ms`, and returns what timers put out on the way.
    pub fn at(&mut self, ms: u64) -> Vec<Seen> {
        let then = Time::ZERO + Dur::from_millis(ms);
        while self.machine.poll_timeout() <= then {
            self.now = self.now.max(self.machine.poll_timeout());
            self.machine.handle_timeout(self.now, &mut self.out);
        }
        self.now = then;
        self.drain()
    }

    pub fn give(&mut self, packet: SeenPacket) -> Vec<Seen> {
        relay(&mut *self.machine, self.now, packet, &mut self.out);
        self.drain()
    }

    /// What `give` puts out, as it is.
    pub fn put(&mut self, packet: SeenPacket) -> Vec<SeenPacket> {
        relay(&mut *self.machine, self.now, packet, &mut self.out);
        std::mem::take(&mut self.out)
    }

    fn drain(&mut self) -> Vec<Seen> {
        self.out.drain(..).map(|packet| seen(&packet)).collect()
    }

    /// Segment `n` goes forward.
    pub fn data(&mut self, n: u64) -> Vec<Seen> {
        let packet = self.data_packet(n);
        self.give(packet)
    }

    /// The mobile host has everything before segment `n`.
    pub fn ack(&mut self, n: u64) -> Vec<Seen> {
        let packet = self.ack_packet(n);
        self.give(packet)
    }

    /// As [`ack`](Bench::ack), with segments `first..end` reported above.
    pub fn sack(&mut self, n: u64, first: u64, end: u64) -> Vec<Seen> {
        let mut packet = self.ack_packet(n);
        packet.segment.sack = blocks(&[(first, end)]);
        self.give(packet)
    }

    pub fn data_packet(&self, n: u64) -> SeenPacket {
        let segment = Segment {
            seq: ISS.at(n * MSS),
            ack: MOBILE_ISS,
            flags: Flags::ACK,
            window: 1000,
            len: MSS as u32,
            timestamps: Some(Timestamps { value: self.stamp(), echo: 0 }),
            ..Segment::default()
        };
        self.packet(Direction::Forward, segment)
    }

    pub fn ack_packet(&self, n: u64) -> SeenPacket {
        let segment = Segment {
            seq: MOBILE_ISS,
            ack: ISS.at(n * MSS),
            flags: Flags::ACK,
            window: 1000,
            timestamps: Some(Timestamps { value: self.stamp(), echo: 0 }),
            ..Segment::default()
        };
        self.packet(Direction::Reverse, segment)
    }

    pub fn packet(&self, direction: Direction, segment: Segment) -> SeenPacket {
        let origin = Origin { order: 0, ..Origin::default() };
        SeenPacket { flow: self.flow, direction, ecn: Ecn::NotEct, bytes: 52 + segment.len, segment, origin }
    }

    fn stamp(&self) -> u32 {
        (self.now.0 / 1_000_000) as u32
    }
}

pub fn blocks(ranges: &[(u64, u64)]) -> SackBlocks {
    let mut blocks = SackBlocks::default();
    ranges.iter().for_each(|(first, end)| blocks.push(ISS.at(first * MSS), ISS.at(end * MSS)));
    blocks
}

pub fn seen(packet: &SeenPacket) -> Seen {
    let number = |seq: Seq| u64::from(seq.0.wrapping_sub(ISS.0)) / MSS;
    match (packet.direction, packet.segment.len) {
        (Direction::Forward, 1..) => Seen::Data(number(packet.segment.seq)),
        _ if packet.segment.flags.contains(Flags::ELN) => Seen::Eln(number(packet.segment.ack)),
        _ => Seen::Ack(number(packet.segment.ack)),
    }
}
