//! What runs: the scenario after defaults are filled in, names are resolved and files are read. The engine builds
//! its parts from this and from nothing else; it opens no file.

pub use super::file::{EnterRecordings, Protected};
pub use super::measurement::Measurement;
pub use airtcp_proto::path::Loss;
pub use airtcp_proto::path::jitter::Distribution;
use airtcp_proto::path::{BlockCode, ChannelConfig, RateLog, Trace};
use airtcp_proto::queue::drop_tail;
pub use airtcp_proto::queue::{Discipline, Room};
use airtcp_wire::{Bytes, Dur, Rate};
use serde::Serialize;
use std::path::PathBuf;

/// A path, the flows that share it, and the schemes to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub name: String,
    pub description: String,
    /// Simulated time of each run.
    pub duration: Dur,
    /// Time at the start excluded from rates, delays and shares. Shorter than `duration`.
    pub warmup: Dur,
    /// Runs per scheme, at least 1.
    pub seeds: u32,
    /// The first seed; the others follow it.
    pub seed: u64,
    /// See [`Scenario::for_seed`].
    pub enter_recordings: EnterRecordings,
    /// Schemes to compare, at least one.
    pub schemes: Vec<String>,
    /// Profile of every scheme that does not name one.
    pub profile: String,
    /// In path order, at least one.
    pub links: Vec<Link>,
    /// The link whose near node is the base station.
    pub base_station: usize,
    /// At least one.
    pub flows: Vec<Flow>,
    /// Trunks.
    pub circuits: Vec<Circuit>,
    /// Of no run's concern.
    pub measurement: Option<Measurement>,
}

/// A TCP circuit that carries several flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Circuit {
    /// Unique.
    pub name: String,
    /// Has a circuit's configuration.
    pub scheme: String,
    /// Of its flows, all of them.
    pub direction: Direction,
    /// Each flow is in one circuit at most, and crosses all of its links.
    pub flows: Vec<usize>,
    /// The first and the last link that it spans, in path order.
    pub enter: usize,
    pub leave: usize,
}

/// One hop, both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Unique.
    pub name: String,
    pub forward: Side,
    pub reverse: Side,
    /// Nothing crosses in either direction: both draw from the same chance.
    pub outages: Option<Outages>,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    pub capacity: Capacity,
    /// Propagation delay, one way.
    pub delay: Dur,
    pub jitter: Option<Jitter>,
    pub spikes: Option<Spikes>,
    pub loss: Loss,
    pub fec: Option<Fec>,
    pub arq: Option<Arq>,
    pub queue: Queue,
}

/// How fast the link sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// Above zero.
    Fixed(Rate),
    Trace {
        /// As written in the scenario, here and below.
        path: PathBuf,
        trace: Trace,
    },
    Log {
        path: PathBuf,
        log: RateLog,
        /// Half of the log's latency at the time, which is a round trip, adds to this direction's `delay`.
        latency: bool,
    },
    Channel {
        config: ChannelConfig,
        /// Roughly what it gives.
        mean_rate: Rate,
    },
}

/// Delay that varies from packet to packet, added to the propagation delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Jitter {
    #[serde(flatten)]
    pub distribution: Distribution,
    /// Whether a packet may overtake the one before it. Otherwise it waits for it.
    pub overtaking: bool,
    /// When the variation starts.
    pub start: Dur,
}

/// When something that lasts `length` happens. Both kinds of times may be given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Episodes {
    /// Given start times, in order.
    pub at: Vec<Dur>,
    /// Random ones: mean time from the end of one to the start of the next (exponential).
    pub every: Option<Dur>,
    /// One at each multiple of this, from the first on.
    pub period: Option<Dur>,
    pub length: Dur,
}

/// Delay spikes: every packet that leaves during a spike is delayed by `extra` more.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spikes {
    #[serde(flatten)]
    pub when: Episodes,
    pub extra: Dur,
}

/// Times at which nothing crosses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outages {
    #[serde(flatten)]
    pub when: Episodes,
    /// What waits in the queue and is on its way when it begins is lost. Otherwise it waits.
    pub handoff: bool,
}

/// Forward error correction: in a block, half as many symbols as there is parity may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fec {
    /// None of the three is zero.
    pub symbol_bits: u32,
    pub data_symbols: u32,
    pub parity_symbols: u32,
    /// Absent: all packets are protected.
    pub only: Option<Protected>,
}

/// Local retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Arq {
    /// Not zero.
    pub retries: u32,
    /// From the end of a copy to the start of the next one.
    pub round_trip: Dur,
    pub in_order: bool,
    /// Absent: all packets are repeated.
    pub only: Option<Protected>,
}

/// The queue in front of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Queue {
    /// Room for packets or bytes is given; where both are, both hold.
    #[serde(flatten)]
    pub room: Room,
    #[serde(flatten)]
    pub discipline: Discipline,
}

/// One flow, or several identical ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Unique.
    pub name: String,
    /// At least 1.
    pub count: u32,
    /// Always this scheme; absent: the scheme that is compared.
    pub scheme: Option<String>,
    pub traffic: Traffic,
    pub start: Dur,
    /// Starts are spread evenly over this time when `count` is more than 1.
    pub stagger: Dur,
    /// The application stops writing.
    pub stop: Option<Dur>,
    pub direction: Direction,
    /// Index of the first link it crosses in path order, also for `Reverse`.
    pub enter: usize,
    /// Index of the last link it crosses in path order; not below `enter`.
    pub leave: usize,
    /// Does it count in the results' table?
    pub measure: bool,
}

/// Which way the data goes: with the path order or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Forward,
    Reverse,
}

/// What the application sends.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Traffic {
    /// Always more to send.
    Unlimited,
    /// One transfer.
    Bytes { size: Bytes },
    /// Bursts and silence of exponential length.
    OnOff {
        on: Dur,
        off: Dur,
        /// While on; absent: as fast as it can.
        rate: Option<Rate>,
    },
    /// Short transfers, each on a connection of its own.
    Poisson {
        /// Mean time between two arrivals.
        interval: Dur,
        /// Mean transfer.
        size: Bytes,
        /// Are sizes exponential, or all the same?
        exponential: bool,
    },
    /// Constant-rate datagrams without congestion control.
    Udp {
        /// On the wire.
        rate: Rate,
        /// Length of the IP packet.
        packet: Bytes,
    },
}

impl Capacity {
    /// Averaged over the whole trace or log; of a channel a rough figure.
    pub fn mean_rate(&self) -> Rate {
        match self {
            Capacity::Fixed(rate) => *rate,
            Capacity::Trace { trace, .. } => trace.mean_rate(),
            Capacity::Log { log, .. } => log.mean_rate(),
            Capacity::Channel { mean_rate, .. } => *mean_rate,
        }
    }
}

impl Fec {
    pub fn code(&self) -> BlockCode {
        let Fec { symbol_bits, data_symbols, parity_symbols, .. } = *self;
        BlockCode { symbol_bits, data_symbols, parity_symbols }
    }
}

impl Side {
    /// A fixed rate and delay, no loss, a DropTail queue of `packets`.
    pub fn plain(rate: Rate, delay: Dur, packets: u32) -> Side {
        Side {
            capacity: Capacity::Fixed(rate),
            delay,
            jitter: None,
            spikes: None,
            loss: Loss::default(),
            fec: None,
            arq: None,
            queue: Queue {
                room: Room { packets: Some(packets), bytes: None },
                discipline: Discipline::DropTail(drop_tail::Config {}),
            },
        }
    }
}

impl Link {
    /// Both directions alike.
    pub fn symmetric(name: &str, side: Side) -> Link {
        Link { name: name.to_owned(), reverse: side.clone(), forward: side, outages: None }
    }
}

impl Flow {
    /// One unlimited transfer of the compared scheme over the links from `enter` to `leave`.
    pub fn unlimited(name: &str, enter: usize, leave: usize) -> Flow {
        Flow {
            name: name.to_owned(),
            count: 1,
            scheme: None,
            traffic: Traffic::Unlimited,
            start: Dur::ZERO,
            stagger: Dur::ZERO,
            stop: None,
            direction: Direction::Forward,
            enter,
            leave,
            measure: true,
        }
    }
}

impl Scenario {
    /// These links, one unlimited flow across all of them, one run of `reno`; the rest as in an empty file.
    pub fn over(links: Vec<Link>, duration: Dur) -> Scenario {
        let last = links.len().saturating_sub(1);
        Scenario {
            name: String::new(),
            description: String::new(),
            duration,
            warmup: Dur::ZERO,
            seeds: 1,
            seed: 1,
            enter_recordings: EnterRecordings::AtStart,
            schemes: vec!["reno".to_owned()],
            profile: "linux".to_owned(),
            links,
            base_station: last,
            flows: vec![Flow::unlimited("main", 0, last)],
            circuits: Vec::new(),
            measurement: None,
        }
    }

    /// The sum of the propagation delays from end to end and back.
    pub fn base_rtt(&self) -> Dur {
        self.links.iter().fold(Dur::ZERO, |sum, link| sum + link.forward.delay + link.reverse.delay)
    }
}
