//! The scenario that runs: with defaults filled in, names resolved and files read. The engine builds its parts from
//! this and from nothing else; it opens no file.

pub use super::file::{Access, EnterRecordings};
pub use super::link::capacity::{Cell, Draws, LogFile, OnMedium, TraceFile};
pub use super::link::{
    Arq, Capacity, Episodes, Fec, Jitter, Link, Outages, Protected, Queue, Side, Spikes, Steps, ends_on,
};
pub use super::measurement::Measurement;
pub use super::medium::Medium;
pub use super::traffic::{Arrivals, Bursts, Datagrams, Traffic, Transfer, Unlimited};
pub use super::way::{Crossing, Direction, Route};
use airtcp_proto::Chances;
pub use airtcp_proto::path::Loss;
pub use airtcp_proto::path::jitter::Distribution;
pub use airtcp_proto::queue::{Discipline, Room};
use airtcp_wire::{Dur, Time};

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
    /// Names of the network's nodes. None: the links form a chain, and the i-th begins at node i.
    pub nodes: Vec<String>,
    /// Those that links share.
    pub media: Vec<Medium>,
    /// At least one; of a chain in path order. The links of [`Flow::access`] come last.
    pub links: Vec<Link>,
    /// The link whose near node is the base station.
    pub base_station: usize,
    /// At least one.
    pub flows: Vec<Flow>,
    /// Trunks.
    pub circuits: Vec<Circuit>,
    /// Runs ignore it.
    pub measurement: Option<Measurement>,
}

/// A TCP circuit that carries several flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Circuit {
    /// Unique.
    pub name: String,
    /// A scheme that has a circuit.
    pub scheme: String,
    /// [That](Scenario::direction_of) of its first flow. In a network, others may cross the wireless link the other way, or not at all.
    pub direction: Direction,
    /// Each flow is in one circuit at most, and crosses all of its links.
    pub flows: Vec<usize>,
    pub route: Route,
}

/// One flow, or several identical ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Unique.
    pub name: String,
    /// At least 1.
    pub count: u32,
    /// Absent: the scheme that is compared.
    pub scheme: Option<String>,
    pub traffic: Traffic,
    pub start: Dur,
    /// Starts are spread evenly over this time when `count` is more than 1.
    pub stagger: Dur,
    /// Each start is later by a random part of this time.
    pub start_within: Dur,
    /// The application stops writing.
    pub stop: Option<Dur>,
    /// One that all copies take, or one for each.
    pub routes: Vec<Route>,
    /// The links of each copy's own that its route begins with, as written: none, one for all, or one for each.
    pub access: Vec<Access>,
    /// Are its results reported?
    pub measure: bool,
}

impl Flow {
    /// When one of the `count` instances starts in the run with these chances, whatever the scheme.
    pub fn start_of(&self, instance: u32, chances: &Chances) -> Time {
        let on_time = Time::ZERO + self.start + self.stagger * u64::from(instance) / u64::from(self.count);
        match self.start_within.as_secs_f64() {
            0.0 => on_time,
            within => {
                let mut chance = chances.chance(&format!("flow.{}.{instance}.start", self.name));
                on_time + Dur::from_secs_f64(chance.range_f64(0.0, within))
            }
        }
    }

    /// The route of one of the `count` instances.
    pub fn route(&self, instance: u32) -> &Route {
        self.routes.get(instance as usize).unwrap_or(&self.routes[0])
    }

    /// What the routes of all its copies have in common: all but the links of their own.
    pub(super) fn shared_route(&self) -> Route {
        let Route { mut there, mut back } = self.routes[0].clone();
        if !self.access.is_empty() {
            there.remove(0);
            back.pop();
        }
        Route { there, back }
    }

    /// How many links of their own its copies have.
    pub(super) fn access_links(&self) -> usize {
        if self.access.is_empty() { 0 } else { self.count as usize }
    }

    /// In which direction the data crosses the wireless link, or else its first link.
    pub(super) fn direction(&self, wireless: usize) -> Direction {
        let Route { there, .. } = self.shared_route();
        there.iter().find(|crossing| crossing.link == wireless).unwrap_or(&there[0]).direction
    }

    /// The flow with its data going in this direction of a chain.
    #[must_use]
    pub fn heading(mut self, direction: Direction) -> Flow {
        if self.routes[0].there[0].direction != direction {
            self.routes = self.routes.into_iter().map(Route::reversed).collect();
        }
        self
    }

    /// One unlimited transfer of the compared scheme over the links of a chain from `enter` to `leave`.
    pub fn unlimited(name: &str, enter: usize, leave: usize) -> Flow {
        Flow {
            name: name.to_owned(),
            count: 1,
            scheme: None,
            traffic: Traffic::Unlimited(Unlimited {}),
            start: Dur::ZERO,
            stagger: Dur::ZERO,
            start_within: Dur::ZERO,
            stop: None,
            routes: vec![Route::of_chain(Direction::Forward, enter, leave)],
            access: Vec::new(),
            measure: true,
        }
    }
}

impl Scenario {
    /// The direction of a flow's data, as stations know it.
    pub fn direction_of(&self, flow: &Flow) -> Direction {
        flow.direction(self.base_station)
    }

    /// Are the links in a row, with no others beside them?
    pub fn is_chain(&self) -> bool {
        self.links.iter().enumerate().all(|(index, link)| link.ends == [index, index + 1])
    }

    /// The node in front of the wireless link.
    pub fn base_station_node(&self) -> usize {
        self.links[self.base_station].ends[0]
    }

    /// The number of the network's nodes.
    pub fn node_count(&self) -> usize {
        self.links.iter().flat_map(|link| link.ends).max().map_or(0, |last| last + 1)
    }
}
