//! The scenario as written. Field names are the keys of the TOML file, and doc comments become the JSON Schema's.

use super::link::LinkKeys;
use super::measurement::Measurement;
use super::one_of::OneOf;
use super::one_or_more;
use super::traffic::Traffic;
use super::way::Direction;
use airtcp_proto::path::medium;
use airtcp_wire::{Dur, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Absent: the link that loses most packets at random; among equals one that loses given packets, then one with outages,
    /// steps of delay or a varying rate, then the slowest, then the last.
    pub base_station: Option<String>,
    /// The nodes of a network. Absent: those that links name with `from` and `to`. If given, these are all.
    pub node: Vec<Node>,
    /// Media that several links share. Absent: each direction of a link has its own.
    pub medium: Vec<OneOf<medium::Kind>>,
    /// The links; at least one. Without `from` and `to` they form a chain, in path order from the sender to the
    /// receiver.
    pub link: Vec<LinkKeys>,
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
            medium: Vec::new(),
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
    pub traffic: OneOf<Traffic>,
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
    pub direction: Option<Direction>,
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
            traffic: OneOf::of("unlimited"),
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
