//! A fixed host, a base station with a machine, and a mobile host: connections over a wire and a wireless link.

use crate::base_station::bench::relay;
use airtcp_proto::base_station::{BaseStation, MachineBuild};
use airtcp_proto::middlebox::{Direction, FlowId, Middlebox, Origin, SeenPacket};
use airtcp_proto::tcp::{Connection, Event, TcpConfig};
use airtcp_proto::{Chance, Chances};
use airtcp_wire::{Dur, Ecn, Seq, Time};
use std::collections::BTreeMap;

/// The wireless link; the wire takes 5 ms and loses nothing.
#[derive(Clone, Copy, Debug)]
pub struct Wireless {
    pub loss: f64,
    pub delay: Dur,
    /// Up to this much more, drawn for each packet: packets overtake each other.
    pub jitter: Dur,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    BaseStation,
    /// 0: the fixed host, 1: the mobile host.
    Host(usize),
}

/// One connection: the fixed host's end, which opens it, and the mobile host's.
pub struct Ends {
    pub ends: [Connection; 2],
    pub events: [Vec<Event>; 2],
}

pub struct World {
    pub now: Time,
    machine: Box<dyn Middlebox>,
    wireless: Wireless,
    /// The share of ECN-capable packets that the wireless link marks.
    pub marks: f64,
    /// Do the ends close as soon as they are connected?
    pub closes: bool,
    pub flows: Vec<Ends>,
    path: BTreeMap<(Time, u64), (Place, SeenPacket)>,
    next_id: u64,
    rng: Chance,
}

impl World {
    pub fn new(machine: &BaseStation, tcp: &TcpConfig, wireless: Wireless, seed: u64) -> World {
        let chances = Chances::new(seed);
        World {
            now: Time::ZERO,
            machine: machine.build(MachineBuild { tcp, hosts: tcp, chance: chances.chance("machine") }),
            wireless,
            marks: 0.0,
            closes: true,
            flows: Vec::new(),
            path: BTreeMap::new(),
            next_id: 0,
            rng: chances.chance("wireless"),
        }
    }

    /// Opens a connection on which each end writes so much and then closes.
    pub fn connect(&mut self, configs: [&TcpConfig; 2], iss: [u32; 2], bytes: [u64; 2]) {
        let seed = self.flows.len() as u64;
        let mut ends = [
            Connection::connect(configs[0], Seq(iss[0]), seed, self.now).unwrap(),
            Connection::listen(configs[1], Seq(iss[1]), seed).unwrap(),
        ];
        for (end, bytes) in ends.iter_mut().zip(bytes) {
            end.write(bytes);
        }
        self.flows.push(Ends { ends, events: [Vec::new(), Vec::new()] });
    }

    /// An end of a connection writes.
    pub fn write(&mut self, flow: usize, end: usize, bytes: u64) {
        self.flows[flow].ends[end].write(bytes);
        self.flush(flow);
    }

    /// Runs until nothing is left to do or `until` has come.
    pub fn run(&mut self, until: Time) {
        (0..self.flows.len()).for_each(|flow| self.flush(flow));
        loop {
            let arrival = self.path.keys().next().map_or(Time::NEVER, |key| key.0);
            let timers = self.flows.iter().flat_map(|flow| flow.ends.iter().map(Connection::poll_timeout));
            let timer = timers.min().unwrap_or(Time::NEVER).min(self.machine.poll_timeout());
            let next = arrival.min(timer);
            let holds = self.machine.holds();
            assert!(!holds || !self.machine.poll_timeout().is_never(), "the machine is stuck");
            if next > until || next.is_never() {
                return;
            }
            self.now = self.now.max(next);
            match arrival <= timer {
                true => {
                    let (_, (place, packet)) = self.path.pop_first().unwrap();
                    self.arrive(place, packet);
                }
                false => self.expire(),
            }
        }
    }

    fn arrive(&mut self, place: Place, packet: SeenPacket) {
        match place {
            Place::Host(end) => {
                let flow = packet.flow.0 as usize;
                self.flows[flow].ends[end].handle_segment(self.now, &packet.segment, packet.ecn);
                self.flush(flow);
            }
            Place::BaseStation => {
                let mut out = Vec::new();
                relay(&mut *self.machine, self.now, packet, &mut out);
                self.leave(out);
            }
        }
    }

    fn expire(&mut self) {
        if self.machine.poll_timeout() <= self.now {
            let mut out = Vec::new();
            self.machine.handle_timeout(self.now, &mut out);
            self.leave(out);
        }
        for flow in 0..self.flows.len() {
            for end in &mut self.flows[flow].ends {
                if end.poll_timeout() <= self.now {
                    end.handle_timeout(self.now);
                }
            }
            self.flush(flow);
        }
    }

    fn leave(&mut self, out: Vec<SeenPacket>) {
        for packet in out {
            match packet.direction {
                Direction::Forward => self.cross_wireless(Place::Host(1), packet),
                Direction::Reverse => self.cross_wire(Place::Host(0), packet),
            }
        }
    }

    fn flush(&mut self, flow: usize) {
        for by in [0, 1] {
            let Ends { ends, events } = &mut self.flows[flow];
            let end = &mut ends[by];
            let readable = end.readable();
            end.read(readable);
            while let Some(event) = end.poll_event() {
                events[by].push(event);
                if event == Event::Connected && self.closes {
                    end.shutdown();
                }
            }
            while let Some(transmit) = self.flows[flow].ends[by].poll_transmit(self.now) {
                let options = if transmit.segment.timestamps.is_some() { 12 } else { 0 };
                let packet = SeenPacket {
                    flow: FlowId(flow as u64),
                    direction: [Direction::Forward, Direction::Reverse][by],
                    ecn: transmit.ecn,
                    bytes: 40 + options + transmit.segment.len,
                    segment: transmit.segment,
                    origin: Origin { order: 0, reason: transmit.reason, offset: transmit.offset },
                };
                match by {
                    0 => self.cross_wire(Place::BaseStation, packet),
                    _ => self.cross_wireless(Place::BaseStation, packet),
                }
            }
        }
    }

    fn cross_wire(&mut self, to: Place, packet: SeenPacket) {
        self.schedule(Dur::from_millis(5), to, packet);
    }

    fn cross_wireless(&mut self, to: Place, mut packet: SeenPacket) {
        if self.marks > 0.0 && packet.ecn == Ecn::Ect0 && self.rng.happens(self.marks) {
            packet.ecn = Ecn::Ce;
        }
        let jitter = Dur((self.wireless.jitter.0 as f64 * self.rng.f64()) as u64);
        if !self.rng.happens(self.wireless.loss) {
            self.schedule(self.wireless.delay + jitter, to, packet);
        }
    }

    fn schedule(&mut self, delay: Dur, to: Place, packet: SeenPacket) {
        self.path.insert((self.now + delay, self.next_id), (to, packet));
        self.next_id += 1;
    }
}
