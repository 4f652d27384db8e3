//! The scenario as written. Field names are the keys of the TOML file; doc comments become the JSON Schema's.

use airtcp_wire::{Bytes, Dur, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A path, the flows that share it, and the schemes to compare on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// Simulated time of each run.
    #[serde(default = "defaults::duration")]
    pub duration: Dur,
    /// Time at the start that is left out of rates, delays and shares.
    #[serde(default)]
    pub warmup: Dur,
    /// Runs per scheme, each with its own seed.
    #[serde(default = "defaults::seeds")]
    pub seeds: u32,
    /// The first seed; the others follow it.
    #[serde(default = "defaults::seed")]
    pub seed: u64,
    /// Schemes to compare: a name, or a name with changes, e.g. "reno:recovery=newreno:rto.min=1s".
    #[serde(default = "defaults::schemes")]
    pub schemes: Vec<String>,
    /// Profile of every scheme that does not name one: see `airtcp schemes`.
    #[serde(default = "defaults::profile")]
    pub profile: String,
    /// The links in path order, from the sender to the receiver.
    #[serde(rename = "link", default = "defaults::links")]
    pub links: Vec<Link>,
    /// The flows. Without any: one unlimited transfer from end to end.
    #[serde(rename = "flow", default = "defaults::flows")]
    pub flows: Vec<Flow>,
}

/// One hop of the path, both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Used in results and in `--set link.NAME.key=value`.
    #[serde(default)]
    pub name: String,
    #[serde(flatten)]
    pub forward: LinkSide,
    /// What differs on the way back. Keys that are absent are as on the way there, but for loss, which is absent
    /// unless it is given.
    #[serde(default)]
    pub reverse: Option<LinkSide>,
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSide {
    /// Fixed rate. Give this, `trace` or `log`.
    pub rate: Option<Rate>,
    /// Capacity trace in mahimahi's format: each line the time in ms at which one 1500-byte packet may cross.
    pub trace: Option<PathBuf>,
    /// Bandwidth log: a JSON list of {duration_ms, bandwidth_kbps, latency_ms}.
    pub log: Option<PathBuf>,
    /// Propagation delay, one way.
    pub delay: Option<Dur>,
    pub jitter: Option<Jitter>,
    /// Sudden extra delay.
    pub spikes: Option<Spikes>,
    /// Times at which nothing crosses.
    pub outages: Option<Outages>,
    pub loss: Option<Loss>,
    pub queue: Option<Queue>,
}

/// Delay that varies from packet to packet, added to the propagation delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    pub distribution: Distribution,
    /// Of `constant`, `normal` (which is cut off at zero).
    pub mean: Option<Dur>,
    /// Standard deviation of `normal`.
    pub deviation: Option<Dur>,
    /// Of `uniform`.
    pub low: Option<Dur>,
    pub high: Option<Dur>,
    /// Of `table`: ranges with their probabilities, uniform inside each.
    #[serde(default)]
    pub ranges: Vec<DelayRange>,
    /// Of `series`: a file with one RTT in ms a line, half of which is this direction's delay.
    pub file: Option<PathBuf>,
    /// Time between two values of a `series`; absent: one value a packet.
    pub interval: Option<Dur>,
    /// May a packet overtake the one before it? Otherwise it waits for it.
    #[serde(default = "defaults::yes")]
    pub overtaking: bool,
    /// When variation begins.
    #[serde(default)]
    pub start: Dur,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    Constant,
    Uniform,
    Normal,
    Table,
    Series,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayRange {
    pub probability: f64,
    pub low: Dur,
    pub high: Dur,
}

/// Delay spikes: every packet that leaves during one has `extra` more delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spikes {
    /// Given start times.
    #[serde(default)]
    pub at: Vec<Dur>,
    /// Random spikes: mean time between two (exponential).
    pub every: Option<Dur>,
    /// How long a spike lasts.
    pub length: Dur,
    pub extra: Dur,
}

/// Outages and hand-offs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outages {
    #[serde(default)]
    pub at: Vec<Dur>,
    /// Random outages: mean time from the end of one to the start of the next (exponential).
    pub every: Option<Dur>,
    pub length: Dur,
    /// A hand-off: what waits in the queue and is on its way when it begins is lost. Otherwise it waits.
    #[serde(default)]
    pub handoff: bool,
}

/// Loss models; those that are given all apply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Loss {
    /// Bit error rate: a packet of n bytes is lost with 1 − (1 − ber)^(8n).
    pub ber: f64,
    /// Use the first-order form min(1, ber·8n) instead.
    pub first_order: bool,
    /// Probability that a packet is lost, whatever its size.
    pub packet: f64,
    pub burst: Option<GilbertElliott>,
    /// These packets are lost, counted from 1 in order of departure.
    pub packets: Vec<u64>,
    /// At each of these times, the next packet that leaves is lost.
    pub at: Vec<Dur>,
    /// When random loss begins.
    pub start: Dur,
}

/// Gilbert–Elliott: two states, changed from packet to packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability of going from good to bad, a packet.
    pub to_bad: f64,
    /// Probability of going from bad to good, a packet: 1/mean burst length.
    pub to_good: f64,
    /// Loss probability in the good state.
    #[serde(default)]
    pub good_loss: f64,
    /// Loss probability in the bad state.
    #[serde(default = "defaults::one")]
    pub bad_loss: f64,
}

/// The queue in front of the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    pub discipline: Discipline,
    /// Room in packets.
    pub packets: Option<u32>,
    /// Room in bytes.
    pub bytes: Option<Bytes>,
    /// Mark ECN-capable packets instead of dropping them (RED, CoDel, FQ-CoDel).
    pub ecn: bool,
    /// RED: thresholds in packets, or in mean packets when it counts bytes.
    pub min_threshold: f64,
    pub max_threshold: f64,
    /// RED: drop probability at the maximum threshold.
    pub max_probability: f64,
    /// RED: weight of the average.
    pub weight: f64,
    /// RED: probability rises from max_probability to 1 between the maximum threshold and twice that.
    pub gentle: bool,
    /// RED: space the drops evenly.
    pub wait: bool,
    /// RED: count bytes instead of packets.
    pub count_bytes: bool,
    /// RED: mean packet size, for idle time and for counting bytes.
    pub mean_packet: Bytes,
    /// CoDel, FQ-CoDel: acceptable standing delay (RFC 8289 §4.4).
    pub target: Dur,
    /// CoDel, FQ-CoDel: sliding window (RFC 8289 §4.3).
    pub interval: Dur,
    /// FQ-CoDel: number of flow queues (RFC 8290 §4.2).
    pub flows: u32,
    /// FQ-CoDel: bytes a flow may send in one turn.
    pub quantum: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    Droptail,
    Red,
    Codel,
    FqCodel,
}

/// One flow, or several alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    pub name: String,
    /// How many flows like this.
    pub count: u32,
    /// Always this scheme, e.g. for cross traffic; absent: the scheme that is compared.
    pub scheme: Option<String>,
    pub traffic: Traffic,
    pub start: Dur,
    /// Starts are spread evenly over this time when `count` is more than 1.
    pub stagger: Dur,
    /// The application stops writing.
    pub stop: Option<Dur>,
    /// Which way the data goes.
    pub direction: FlowDirection,
    /// Name of the first link it crosses; absent: the path's first. In path order also for `reverse`.
    pub enter: Option<String>,
    /// Name of the last link it crosses; absent: the path's last.
    pub leave: Option<String>,
    /// Does it count in the results' table? Cross traffic usually does not.
    pub measure: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowDirection {
    #[default]
    Forward,
    Reverse,
}

/// What the application sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Traffic {
    pub kind: TrafficKind,
    /// Of `bytes`: the whole transfer. Of `poisson`: the mean transfer.
    pub size: Option<Bytes>,
    /// Of `poisson`: are sizes exponential, or all the same?
    pub exponential: bool,
    /// Of `poisson`: mean time between two arrivals.
    pub interval: Option<Dur>,
    /// Of `on-off`: mean lengths (exponential) of the times in which it sends and is silent.
    pub on: Option<Dur>,
    pub off: Option<Dur>,
    /// Of `udp`: rate on the wire; of `on-off`: rate while on (absent: as fast as it can).
    pub rate: Option<Rate>,
    /// Of `udp`: length of the IP packet.
    pub packet: Bytes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrafficKind {
    /// Always more to send.
    #[default]
    Unlimited,
    /// One transfer of `size`.
    Bytes,
    /// Bursts and silence.
    OnOff,
    /// Short transfers, each on a connection of its own, whose completion times are recorded.
    Poisson,
    /// Constant-rate datagrams without congestion control.
    Udp,
}

mod defaults {
    use super::*;

    pub fn duration() -> Dur {
        Dur::from_secs(60)
    }
    pub fn seeds() -> u32 {
        5
    }
    pub fn seed() -> u64 {
        1
    }
    pub fn schemes() -> Vec<String> {
        ["reno", "cubic", "vegas", "westwood", "veno", "hybla", "bbr"].map(str::to_owned).to_vec()
    }
    pub fn profile() -> String {
        "linux".to_owned()
    }
    pub fn links() -> Vec<Link> {
        Vec::new()
    }
    pub fn flows() -> Vec<Flow> {
        vec![Flow::default()]
    }
    pub fn yes() -> bool {
        true
    }
    pub fn one() -> f64 {
        1.0
    }
}

impl Default for Queue {
    fn default() -> Queue {
        Queue {
            discipline: Discipline::Droptail,
            packets: None,
            bytes: None,
            ecn: false,
            min_threshold: 5.0,
            max_threshold: 15.0,
            max_probability: 0.1,
            weight: 0.002,
            gentle: true,
            wait: true,
            count_bytes: false,
            mean_packet: Bytes(1000),
            target: Dur::from_millis(5),
            interval: Dur::from_millis(100),
            flows: 1024,
            quantum: Bytes(1514),
        }
    }
}

impl Default for Flow {
    fn default() -> Flow {
        Flow {
            name: String::new(),
            count: 1,
            scheme: None,
            traffic: Traffic::default(),
            start: Dur::ZERO,
            stagger: Dur::ZERO,
            stop: None,
            direction: FlowDirection::Forward,
            enter: None,
            leave: None,
            measure: true,
        }
    }
}

impl Default for Traffic {
    fn default() -> Traffic {
        Traffic {
            kind: TrafficKind::Unlimited,
            size: None,
            exponential: true,
            interval: None,
            on: None,
            off: None,
            rate: None,
            packet: Bytes(1000),
        }
    }
}
