//! The scenario as written. Field names are the keys of the TOML file, and doc comments become the JSON Schema's.

use super::measurement::Measurement;
use super::one_of::OneOf;
use super::one_or_more;
use airtcp_proto::circuit::Compression;
use airtcp_proto::path::jitter::Distribution;
use airtcp_proto::path::{ChannelConfig, Loss};
use airtcp_proto::queue::Discipline;
use airtcp_wire::{Bytes, Dur, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A path, the flows that share it, and the schemes to compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScenarioFile {
    /// A short name for tables and figures. Absent: the file's name without its ending.
    pub name: Option<String>,
    /// What the scenario shows, in a sentence or two.
    pub description: String,
    /// Simulated time of each run.
    pub duration: Dur,
    /// Time at the start excluded from rates, delays and shares. Shorter than `duration`.
    pub warmup: Dur,
    /// Runs per scheme, each with a different seed; at least 1.
    pub seeds: u32,
    /// The first seed; the others follow it.
    pub seed: u64,
    /// Where runs enter the path's recordings: a `trace`, a `log`, or a `series` of delays.
    pub enter_recordings: EnterRecordings,
    /// Schemes to compare: names, optionally with settings, e.g. "reno:recovery=newreno:rto.min=1s". The first is the
    /// baseline.
    pub schemes: Vec<String>,
    /// TCP stack profile of every scheme that does not name one. `airtcp profiles` lists them.
    pub profile: String,
    /// Name of the wireless link. Its near end is the base station, where schemes place their base-station machine.
    /// Absent: the link that loses most packets at random; among equals one that loses given packets, then one with outages
    /// or a varying rate, then the slowest, then the last.
    pub base_station: Option<String>,
    /// The nodes of a network. Absent: those that links name with `from` and `to`. If given, these are all.
    pub node: Vec<Node>,
    /// The links; at least one. Without `from` and `to` they form a chain, in path order from the sender to the
    /// receiver.
    pub link: Vec<Link>,
    /// The flows. Absent: one unlimited transfer, called `main`, from end to end.
    pub flow: Vec<Flow>,
    /// TCP circuits that carry several flows (paper 000). Absent: none, except those that the scheme `decoupling`
    /// creates per flow.
    pub circuit: Vec<Circuit>,
    /// What the measurement to which the scenario was fitted leaves open. Absent: nothing. Runs are the same without
    /// it.
    pub measurement: Option<Measurement>,
}

impl Default for ScenarioFile {
    fn default() -> ScenarioFile {
        ScenarioFile {
            name: None,
            description: String::new(),
            duration: Dur::from_secs(60),
            warmup: Dur::ZERO,
            seeds: 5,
            seed: 1,
            enter_recordings: EnterRecordings::AtStart,
            schemes: ["reno", "cubic", "vegas", "westwood", "veno", "hybla", "bbr"]
                .map(str::to_owned)
                .to_vec(),
            profile: "linux".to_owned(),
            base_station: None,
            node: Vec::new(),
            link: Vec::new(),
            flow: Vec::new(),
            circuit: Vec::new(),
            measurement: None,
        }
    }
}

/// A node of a network, where links meet, and flows begin and end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// As `from` and `to` call it.
    pub name: String,
}

/// Where in a recording a run begins. A recording that ends begins again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EnterRecordings {
    /// At its start: all seeds meet the same conditions.
    AtStart,
    /// Each seed at a different place, spread evenly over the longest recording; all recordings at the same offset.
    BySeed,
}

/// A link has exactly one of these keys.
pub(super) const CAPACITY_KEYS: [&str; 4] = ["rate", "trace", "log", "channel"];

/// Declares the keys of one direction once, for the link itself and for its `reverse` table. With serde's `flatten`,
/// the places of mistakes would be lost.
macro_rules! one_direction {
    ($($(#[$attribute:meta])* $key:ident: $type:ty,)*) => {
        /// One hop of the path or network, in both directions. The keys describe the forward direction; the reverse direction is
        /// the same except for what `reverse` sets.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct Link {
            /// Used in results and in `--set link.NAME.key=value`. Absent: `link` and its number, from `link0`.
            pub name: Option<String>,
            /// Name of the node at which the link begins: its forward direction leads from here. All links have `from` and
            /// `to`, or none. Absent: the links form a chain.
            pub from: Option<String>,
            /// Name of the node at which the link ends. Absent: the links form a chain.
            pub to: Option<String>,
            $($(#[$attribute])* pub $key: Option<$type>,)*
            /// Times when nothing crosses in either direction. Absent: none.
            pub outages: Option<Outages>,
            /// What differs in the reverse direction. Keys that are absent are as in the forward direction, including
            /// loss, since the two directions of a wireless link share the medium. A table given here replaces the
            /// whole forward table: `loss = {}` is no loss. Only `spikes` and packets lost by number or time apply
            /// solely where they are written.
            pub reverse: Option<Way>,
        }

        /// One direction of a link.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct Way {
            $($(#[$attribute])* pub $key: Option<$type>,)*
        }

        impl Link {
            /// The keys of the forward direction.
            pub fn forward(&self) -> Way {
                Way { $($key: self.$key.clone(),)* }
            }
        }
    };
}

one_direction! {
    /// Fixed rate, above zero. Give exactly one of `rate`, `trace`, `log` and `channel`. Absent: another one is given.
    rate: Rate,
    /// Capacity trace in mahimahi's format, relative to the scenario's directory: each line the time in ms at which one
    /// 1500-byte packet may cross. Absent: another one is given.
    trace: PathBuf,
    /// Bandwidth log, relative to the scenario's directory: a JSON list of {duration_ms, bandwidth_kbps, latency_ms}.
    /// Absent: another one is given.
    log: PathBuf,
    /// A 3G cell: fading channels, and a proportional-fair scheduler among several users. Each run and each direction
    /// has its own cell. Absent: another one is given.
    channel: ChannelConfig,
    /// Propagation delay, one way. Absent: zero, or with `log` half of its latency_ms, which is a round trip.
    delay: Dur,
    /// Delay that varies from packet to packet, added to the propagation delay. Absent: none.
    jitter: OneOf<Distribution>,
    /// Sudden extra delay in this direction. Absent: none.
    spikes: Spikes,
    /// Packets that the link loses. Absent: none.
    loss: Loss,
    /// Forward error correction. Absent: none.
    fec: Fec,
    /// Local retransmission of what is lost. Absent: none.
    arq: Arq,
    /// Compression of TCP circuits' header packets on this link alone (paper 000 §10); in the simulator. Packets must stay in
    /// order. Absent: none.
    compression: Compression,
    /// The queue in front of the link. Absent: DropTail with its default room.
    queue: OneOf<Discipline>,
}

/// Delay spikes: every packet that leaves during a spike is delayed by `extra` more. Give `at`, `every` or `period`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spikes {
    /// Given start times.
    #[serde(default)]
    pub at: Vec<Dur>,
    /// Random spikes: mean time from the end of one to the start of the next (exponential). Absent: none at random.
    pub every: Option<Dur>,
    /// Regular spikes: time from the start of one to the start of the next; the first is one period after the
    /// beginning. Absent: none.
    pub period: Option<Dur>,
    /// How long a spike lasts.
    pub length: Dur,
    /// Delay that a spike adds.
    pub extra: Dur,
}

/// Outages and hand-offs. Give `at`, `every` or `period`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outages {
    /// Given start times.
    #[serde(default)]
    pub at: Vec<Dur>,
    /// Random outages: mean time from the end of one to the start of the next (exponential). Absent: none at random.
    pub every: Option<Dur>,
    /// Regular outages: time from the start of one to the start of the next; the first is one period after the
    /// beginning. Absent: none.
    pub period: Option<Dur>,
    /// How long an outage lasts.
    pub length: Dur,
    /// A hand-off: packets queued or in flight when it starts are lost. Otherwise they wait.
    #[serde(default)]
    pub handoff: bool,
    /// With a hand-off, queued packets are forwarded: so long after its start they join the queue of the next base station, where
    /// what was sent meanwhile is ahead of them (paper 003 §III). Absent: they are lost.
    pub forward: Option<Dur>,
}

/// Forward error correction by a block code, as a Reed–Solomon code: a packet survives if in none of its blocks more
/// symbols are wrong than half of the parity. It helps against `loss.ber`; other losses take a packet together with
/// its parity. Parity takes air time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fec {
    /// Bits of a symbol.
    pub symbol_bits: u32,
    /// Symbols of data in a block. With the defaults, the code is RS(255, 223).
    pub data_symbols: u32,
    /// Symbols of parity in a block. 0: no code.
    pub parity_symbols: u32,
    /// Protect only these packets. Absent: all.
    pub only: Option<Protected>,
}

impl Default for Fec {
    fn default() -> Fec {
        Fec { symbol_bits: 8, data_symbols: 223, parity_symbols: 32, only: None }
    }
}

/// Local retransmission (ARQ): a packet dropped by the loss models is resent after a round trip over the link. Each
/// copy takes air time; requests are never lost and take none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Arq {
    /// Maximum retransmissions of a packet. 0: no ARQ.
    pub retries: u32,
    /// From the end of a copy to the start of the next one. Absent: the link's delay there and back.
    pub round_trip: Option<Dur>,
    /// Later packets wait for one being resent. Otherwise they overtake it.
    pub in_order: bool,
    /// Resend only these packets. Absent: all.
    pub only: Option<Protected>,
}

impl Default for Arq {
    fn default() -> Arq {
        Arq { retries: 3, round_trip: None, in_order: true, only: None }
    }
}

/// Packets to which a link layer may limit its protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protected {
    /// Those of TCP circuits' control connections (paper 000 §10).
    HeaderPackets,
}

/// One flow, or several identical ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    /// Used in results and in `--set flow.NAME.key=value`. Absent: `flow` and its number, from `flow0`.
    pub name: Option<String>,
    /// Number of such flows; at least 1.
    pub count: u32,
    /// A fixed scheme, e.g. for cross traffic. Absent: the scheme being compared. For `udp` a scheme with
    /// `decoupling`, whose circuit carries the datagrams; absent: none.
    pub scheme: Option<String>,
    /// What the application sends.
    pub traffic: Traffic,
    /// When it begins. Absent: at 0, and later by what `start_within` says.
    pub start: Option<Dur>,
    /// Starts are spread evenly over this time when `count` is more than 1. Absent: they are not.
    pub stagger: Option<Dur>,
    /// Each of `count` begins later by a random part of this time, which is the same under all schemes. Absent: a round
    /// trip of its path, as hosts are not in step; none if `start` or `stagger` is given.
    pub start_within: Option<Dur>,
    /// The application stops writing. Absent: never.
    pub stop: Option<Dur>,
    /// Of a chain: direction of the data, along the path or back. Absent: forward.
    pub direction: Option<FlowDirection>,
    /// Of a chain: name of the first link that it crosses, in path order also for `reverse`. Absent: the path's first.
    pub enter: Option<String>,
    /// Of a chain: name of the last link that it crosses, in path order also for `reverse`. Absent: the path's last.
    pub leave: Option<String>,
    /// Of a network: name of the sender's node. Absent: an error there.
    pub from: Option<String>,
    /// Of a network: name of the receiver's node. Absent: an error there.
    pub to: Option<String>,
    /// Of a network: names of links that the data crosses, in this order. Between them, and without them, it takes the way
    /// over the fewest links. Absent: none.
    pub via: Option<Vec<String>>,
    /// Of a network: the same for what comes back from the receiver; `[]` is the way over the fewest links. Absent: it comes
    /// back over the links that the data has crossed.
    pub return_via: Option<Vec<String>>,
    /// A link of its own for each of `count`, from its sender to where the flow begins. A list has one for each. Absent:
    /// none.
    #[serde(deserialize_with = "one_or_more::read")]
    #[schemars(with = "one_or_more::OneOrMore<Access>")]
    pub access: Vec<Access>,
    /// Whether its results are reported. Absent: yes, except for `udp`, which is background traffic.
    pub measure: Option<bool>,
}

impl Default for Flow {
    fn default() -> Flow {
        Flow {
            name: None,
            count: 1,
            scheme: None,
            traffic: Traffic::default(),
            start: None,
            stagger: None,
            start_within: None,
            stop: None,
            direction: None,
            enter: None,
            leave: None,
            from: None,
            to: None,
            via: None,
            return_via: None,
            access: Vec::new(),
            measure: None,
        }
    }
}

/// A link in front of a flow's sender, the same in both directions. Its queue has the default room.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    /// Propagation delay, one way.
    pub delay: Dur,
    /// Above zero. The default is faster than most bottlenecks.
    pub rate: Rate,
}

impl Default for Access {
    fn default() -> Access {
        Access { delay: Dur::ZERO, rate: Rate(10_000_000_000) }
    }
}

/// A TCP circuit between two nodes of the path, as a trunk of several flows. Data packets of these flows, including
/// datagrams, enter it before the link `enter` (after `leave` if the flows run in reverse) and leave it at the other
/// end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Circuit {
    /// Used in results and in `--set circuit.NAME.key=value`. Absent: `circuit` and its number, from `circuit0`.
    pub name: Option<String>,
    /// Its control TCPs and circuit keys: a scheme with `decoupling`, e.g. "reno+decoupling:controls=2:gmb=1Mbit/s".
    pub scheme: String,
    /// Names of the flows it carries. All run in one direction and cross all of its links.
    pub flows: Vec<String>,
    /// Of a chain: name of the first link that it spans, in path order. Absent: the path's first.
    pub enter: Option<String>,
    /// Of a chain: name of the last link that it spans, in path order. Absent: the path's last.
    pub leave: Option<String>,
    /// Of a network: name of the node at which data enters it. Absent: where its first flow begins.
    pub from: Option<String>,
    /// Of a network: name of the node at which data leaves it. Absent: where its first flow ends.
    pub to: Option<String>,
}

/// Which way the data goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowDirection {
    #[default]
    Forward,
    Reverse,
}

impl FlowDirection {
    #[must_use]
    pub fn opposite(self) -> FlowDirection {
        match self {
            FlowDirection::Forward => FlowDirection::Reverse,
            FlowDirection::Reverse => FlowDirection::Forward,
        }
    }
}

/// What the application sends. Keys that belong to another kind are errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Traffic {
    pub kind: TrafficKind,
    /// Of `bytes`: the whole transfer. Of `poisson`: the mean transfer. Absent: an error for these.
    pub size: Option<Bytes>,
    /// Of `poisson`: whether sizes are exponential; otherwise all the same. Default: true.
    pub exponential: Option<bool>,
    /// Of `poisson`: mean time between two arrivals. Absent: an error for it.
    pub interval: Option<Dur>,
    /// Of `on-off`: mean length (exponential) of the sending periods. Absent: an error for it.
    pub on: Option<Dur>,
    /// Of `on-off`: mean length (exponential) of the silent periods. Absent: an error for it.
    pub off: Option<Dur>,
    /// Of `udp`: rate of the IP packets; absent: an error for it. Of `on-off`: rate while on; absent: as fast as
    /// possible.
    pub rate: Option<Rate>,
    /// Of `udp`: length of the IP packet. Default: 1000B.
    pub packet: Option<Bytes>,
}

/// Kinds of application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrafficKind {
    /// Always more to send.
    #[default]
    Unlimited,
    /// One transfer of `size`.
    Bytes,
    /// Alternating bursts and silence.
    OnOff,
    /// Short transfers, each on its own connection, with recorded completion times.
    Poisson,
    /// Constant-rate datagrams without congestion control.
    Udp,
}
