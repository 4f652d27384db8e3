//! A circuit over a path that takes a fixed time each way, loses what a script says, and may be no faster than a link.

use airtcp_proto::circuit::{Config, ErrorControl, Output, Receiver, Sender};
use airtcp_proto::queue::Item;
use airtcp_proto::tcp::{Reason, TcpConfig, Transmit, profile};
use airtcp_proto::{Chance, Chances};
use airtcp_wire::{Dur, Ecn, Rate, Segment, Time};
use std::collections::BTreeMap;

pub const DELAY: Dur = Dur::from_millis(10);

pub fn ms(n: u64) -> Time {
    Time::ZERO + Dur::from_millis(n)
}

/// Reno with the RFCs' timers and timestamps: header packets of 52 bytes. Nothing on the path but ssthresh keeps slow
/// start from growing.
pub fn reno() -> TcpConfig {
    TcpConfig { initial_window: 1, initial_ssthresh: Some(16), limited_transmit: false, ..profile::rfc() }
}

/// The circuit as the paper has it: error control by F1, F2 and F3, and the tunnel queue of a network interface.
pub fn papers() -> Config {
    Config {
        error_control: ErrorControl::Paper,
        tunnel_delay: Dur::ZERO,
        tunnel_queue: 50,
        loss_reports: false,
        ..Config::default()
    }
}

fn item(id: usize, bytes: u32) -> Item {
    Item { id: id as u32, bytes, flow: 7, ecn: Ecn::Ect1, is_header: false }
}

/// A packet that left the sending node, data or header packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Left {
    Data(Item),
    Header {
        control: u16,
        offset: u64,
        reason: Reason,
        bytes: u32,
    },
    Repair {
        bytes: u32,
    },
    /// Of the handshake.
    Other {
        bytes: u32,
    },
}

/// A link with a queue.
pub struct Link {
    pub rate: Rate,
    /// Longest wait in the queue.
    pub room: Dur,
    /// Does the packet itself need room, too? Then a header packet finds some where data does not.
    pub counts_bytes: bool,
    pub free_at: Time,
    /// Bytes that crossed.
    pub crossed: u64,
}

impl Link {
    pub fn new(rate: Rate, room: Dur) -> Link {
        Link { rate, room, counts_bytes: false, free_at: Time::ZERO, crossed: 0 }
    }

    /// When the packet has been sent; `None` if it found no room.
    fn cross(&mut self, now: Time, bytes: u32) -> Option<Time> {
        let time = self.rate.time_for(u64::from(bytes));
        let needed = if self.counts_bytes { time } else { Dur::ZERO };
        if self.free_at.since(now) + needed > self.room {
            return None;
        }
        self.free_at = self.free_at.max(now) + time;
        self.crossed += u64::from(bytes);
        Some(self.free_at)
    }
}

enum Arrival {
    Forward { control: u16, segment: Segment, ecn: Ecn, bytes: u32, repeats: u8 },
    Back { control: u16, segment: Segment, ecn: Ecn },
    Data,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    pub data: f64,
    pub headers: f64,
    pub acks: f64,
    pub marks: f64,
}

/// Is this header packet lost? Counted from zero.
pub type Lose = Box<dyn FnMut(usize, &Left) -> bool>;

pub struct World {
    pub now: Time,
    pub sender: Sender,
    pub receiver: Receiver,
    /// Every so many data packets one is lost on the way.
    pub loses_data_every: Option<usize>,
    /// What left the sending node, and when.
    pub left: Vec<(Time, Left)>,
    /// Lengths of what left the receiving node.
    pub replies: Vec<u32>,
    pub loses: Lose,
    /// Shares of data packets, header packets and ACKs that are lost as chance has it, and of header packets that are marked.
    pub weather: Weather,
    pub link: Option<Link>,
    /// Nothing of the control TCPs reaches the other end.
    pub is_cut: bool,
    /// Data packets for which the link had no room.
    pub refused: usize,
    /// Data packets that came to the tunnel queue.
    pub offered: Vec<Item>,
    /// Lengths of the packets that an application with more and more of them offers whenever there is room.
    pub backlog: Option<Box<dyn FnMut() -> u32>>,
    path: BTreeMap<(Time, u64), Arrival>,
    packets: u64,
    headers: usize,
    chance: Chance,
}

impl World {
    pub fn new(config: &Config, tcp: &TcpConfig) -> World {
        World::with_seed(config, tcp, 1)
    }

    pub fn with_seed(config: &Config, tcp: &TcpConfig, seed: u64) -> World {
        let chances = Chances::new(seed);
        World {
            now: Time::ZERO,
            sender: Sender::new(config, tcp, &mut chances.chance("sender"), Time::ZERO).unwrap(),
            receiver: Receiver::new(config, tcp, &mut chances.chance("receiver")).unwrap(),
            loses_data_every: None,
            left: Vec::new(),
            replies: Vec::new(),
            loses: Box::new(|_, _| false),
            link: None,
            is_cut: false,
            refused: 0,
            offered: Vec::new(),
            backlog: None,
            path: BTreeMap::new(),
            packets: 0,
            headers: 0,
            weather: Weather::default(),
            chance: chances.chance("weather"),
        }
    }

    /// A data packet comes to the sending node.
    pub fn offer(&mut self, bytes: u32) -> bool {
        let item = item(self.offered.len(), bytes);
        let has_room = self.sender.handle_packet(self.now, item);
        if has_room {
            self.offered.push(item);
        }
        self.drain();
        has_room
    }

    /// Everything that happens up to `until`.
    pub fn run(&mut self, until: Time) {
        self.drain();
        loop {
            let arrival = self.path.keys().next().map_or(Time::NEVER, |key| key.0);
            let timer = self.sender.poll_timeout().min(self.receiver.poll_timeout());
            let next = arrival.min(timer);
            if next > until || next.is_never() {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            if arrival <= timer {
                self.arrive();
            } else {
                self.sender.handle_timeout(self.now);
                self.receiver.handle_timeout(self.now);
            }
            self.drain();
        }
    }

    fn arrive(&mut self) {
        match self.path.pop_first().unwrap().1 {
            Arrival::Forward { control, segment, ecn, bytes, repeats } => {
                self.receiver.handle_segment(self.now, control, &segment, ecn, bytes, repeats);
            }
            Arrival::Back { control, segment, ecn } => {
                self.sender.handle_segment(self.now, control, &segment, ecn);
            }
            Arrival::Data => self.receiver.handle_data(1),
        }
    }

    fn drain(&mut self) {
        loop {
            self.refill();
            let before = self.left.len();
            let mut transmit = Transmit::default();
            while let Some(output) = self.sender.poll_transmit(self.now, &mut transmit) {
                self.leave(output, &transmit);
            }
            if self.backlog.is_none() || self.left.len() == before {
                break;
            }
        }
        let mut transmit = Transmit::default();
        while let Some(reply) = self.receiver.poll_transmit(self.now, &mut transmit) {
            self.replies.push(reply.bytes);
            let Transmit { segment, ecn, .. } = transmit;
            if !self.chance.happens(self.weather.acks) {
                self.put(self.now + DELAY, Arrival::Back { control: reply.control, segment, ecn });
            }
        }
    }

    fn refill(&mut self) {
        while let Some(backlog) = self.backlog.as_mut().filter(|_| self.sender.room() > 0) {
            let item = item(self.offered.len(), backlog());
            assert!(self.sender.handle_packet(self.now, item));
            self.offered.push(item);
        }
    }

    fn leave(&mut self, output: Output, transmit: &Transmit) {
        let (control, bytes, repeats) = match output {
            Output::Data(item) => {
                self.left.push((self.now, Left::Data(item)));
                let is_lost =
                    self.loses_data_every.is_some_and(|every| (item.id as usize).is_multiple_of(every))
                        || self.chance.happens(self.weather.data);
                match self.cross(item.bytes) {
                    Some(arrival) if !is_lost => self.put(arrival, Arrival::Data),
                    Some(_) => {}
                    None => self.refused += 1,
                }
                return;
            }
            Output::Repair { bytes, .. } => {
                self.left.push((self.now, Left::Repair { bytes }));
                if !self.chance.happens(self.weather.data)
                    && let Some(arrival) = self.cross(bytes)
                {
                    self.put(arrival, Arrival::Data);
                }
                return;
            }
            Output::Header { control, bytes, repeats } => (control, bytes, repeats),
        };
        let left = match transmit.segment.len {
            0 => Left::Other { bytes },
            _ => Left::Header { control, offset: transmit.offset, reason: transmit.reason, bytes },
        };
        self.left.push((self.now, left));
        let is_header = matches!(left, Left::Header { .. });
        self.headers += usize::from(is_header);
        let is_lost =
            (is_header && (self.loses)(self.headers - 1, &left)) || self.chance.happens(self.weather.headers);
        let is_marked = transmit.ecn == Ecn::Ect0 && self.chance.happens(self.weather.marks);
        let ecn = if is_marked { Ecn::Ce } else { transmit.ecn };
        let arrival = self.cross(bytes);
        if let Some(arrival) = arrival.filter(|_| !is_lost && !self.is_cut) {
            self.put(arrival, Arrival::Forward { control, segment: transmit.segment, ecn, bytes, repeats });
        }
    }

    /// When a packet that leaves now is at the other end.
    fn cross(&mut self, bytes: u32) -> Option<Time> {
        let now = self.now;
        let sent = self.link.as_mut().map_or(Some(now), |link| link.cross(now, bytes))?;
        Some(sent + DELAY)
    }

    fn put(&mut self, at: Time, arrival: Arrival) {
        self.packets += 1;
        self.path.insert((at, self.packets), arrival);
    }

    /// Data packets that have left, in order.
    pub fn data(&self) -> impl Iterator<Item = Item> {
        self.left.iter().filter_map(|(_, left)| match left {
            Left::Data(item) => Some(*item),
            _ => None,
        })
    }

    /// Header packets that have left: control TCP, offset, reason.
    pub fn header_packets(&self) -> impl Iterator<Item = (u16, u64, Reason)> {
        self.left.iter().filter_map(|(_, left)| match left {
            Left::Header { control, offset, reason, .. } => Some((*control, *offset, *reason)),
            _ => None,
        })
    }

    /// `D` for a data packet, `H` for a header packet, since `from`.
    pub fn order(&self, from: Time) -> String {
        let sent = self.left.iter().filter(|(at, _)| *at >= from);
        sent.filter_map(|(_, left)| match left {
            Left::Data(_) => Some('D'),
            Left::Header { .. } => Some('H'),
            Left::Repair { .. } | Left::Other { .. } => None,
        })
        .collect()
    }
}
