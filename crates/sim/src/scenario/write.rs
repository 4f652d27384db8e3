//! Writes a scenario in full, as a file that can be read again.

use super::file::CAPACITY_KEYS;
use super::model::{
    Access, Arq, Capacity, Circuit, Direction, EnterRecordings, Fec, Flow, Jitter, Link, Loss, Measurement,
    Outages, Queue, Route, Scenario, Side, Spikes, Traffic,
};
use super::way::Crossing;
use airtcp_proto::circuit::Compression;
use airtcp_wire::Dur;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Display;

impl Scenario {
    /// The scenario as TOML with all defaults written out. Reading it back gives the same scenario, provided that it
    /// was read from a file and that the files that it names are found from the same folder.
    pub fn to_toml(&self) -> String {
        let own: usize = self.flows.iter().map(Flow::access_links).sum();
        let keys = ScenarioKeys {
            name: &self.name,
            description: &self.description,
            duration: self.duration,
            warmup: self.warmup,
            seeds: self.seeds,
            seed: self.seed,
            enter_recordings: self.enter_recordings,
            schemes: &self.schemes,
            profile: &self.profile,
            base_station: &self.links[self.base_station].name,
            node: self.nodes.iter().map(|name| NodeKeys { name }).collect(),
            link: self.links[..self.links.len() - own].iter().map(|link| self.link_keys(link)).collect(),
            flow: self.flows.iter().map(|flow| self.flow_keys(flow)).collect(),
            circuit: self.circuits.iter().map(|circuit| self.circuit_keys(circuit)).collect(),
            measurement: self.measurement.as_ref(),
        };
        toml::to_string_pretty(&keys).expect("a scenario has nothing that TOML lacks")
    }

    fn circuit_keys<'a>(&'a self, circuit: &'a Circuit) -> CircuitKeys<'a> {
        CircuitKeys {
            name: &circuit.name,
            scheme: &circuit.scheme,
            flows: circuit.flows.iter().map(|&flow| self.flows[flow].name.as_str()).collect(),
            place: self.place_keys(&circuit.route),
        }
    }

    /// Where a route begins and ends.
    fn place_keys(&self, route: &Route) -> PlaceKeys<'_> {
        let links = || route.there.iter().map(|crossing| crossing.link);
        let link = |index: Option<usize>| index.map(|index| self.links[index].name.as_str());
        match self.nodes.is_empty() {
            true => {
                PlaceKeys { enter: link(links().min()), leave: link(links().max()), ..PlaceKeys::default() }
            }
            false => {
                let [from, to] = route.ends(&self.links).map(|node| Some(self.nodes[node].as_str()));
                PlaceKeys { from, to, ..PlaceKeys::default() }
            }
        }
    }

    /// All links of a way, if it is in a network.
    fn via(&self, way: &[Crossing]) -> Option<Vec<&str>> {
        let names = || way.iter().map(|crossing| self.links[crossing.link].name.as_str()).collect();
        (!self.nodes.is_empty()).then(names)
    }

    fn link_keys<'a>(&'a self, link: &'a Link) -> LinkKeys<'a> {
        let end = |end: usize| self.nodes.get(link.ends[end]).map(String::as_str);
        LinkKeys { from: end(0), to: end(1), ..link_keys(link) }
    }

    fn flow_keys<'a>(&'a self, flow: &'a Flow) -> FlowKeys<'a> {
        let route = flow.shared_route();
        FlowKeys {
            name: &flow.name,
            count: flow.count,
            scheme: flow.scheme.as_deref(),
            start: flow.start,
            stagger: flow.stagger,
            start_within: flow.start_within,
            stop: flow.stop,
            direction: self.nodes.is_empty().then(|| self.direction_of(flow)),
            place: self.place_keys(&route),
            via: self.via(&route.there),
            return_via: self.via(&route.back),
            access: &flow.access,
            measure: flow.measure,
            traffic: &flow.traffic,
        }
    }
}

#[derive(Serialize)]
struct ScenarioKeys<'a> {
    name: &'a str,
    description: &'a str,
    duration: Dur,
    warmup: Dur,
    seeds: u32,
    seed: u64,
    enter_recordings: EnterRecordings,
    schemes: &'a [String],
    profile: &'a str,
    base_station: &'a str,
    node: Vec<NodeKeys<'a>>,
    link: Vec<LinkKeys<'a>>,
    flow: Vec<FlowKeys<'a>>,
    circuit: Vec<CircuitKeys<'a>>,
    measurement: Option<&'a Measurement>,
}

#[derive(Serialize)]
struct CircuitKeys<'a> {
    name: &'a str,
    scheme: &'a str,
    flows: Vec<&'a str>,
    #[serde(flatten)]
    place: PlaceKeys<'a>,
}

#[derive(Serialize)]
struct NodeKeys<'a> {
    name: &'a str,
}

#[derive(Default, Serialize)]
struct PlaceKeys<'a> {
    enter: Option<&'a str>,
    leave: Option<&'a str>,
    from: Option<&'a str>,
    to: Option<&'a str>,
}

#[derive(Serialize)]
struct LinkKeys<'a> {
    name: &'a str,
    from: Option<&'a str>,
    to: Option<&'a str>,
    #[serde(flatten)]
    forward: WayKeys<'a>,
    outages: Option<&'a Outages>,
    reverse: WayKeys<'a>,
}

#[derive(Serialize)]
struct WayKeys<'a> {
    #[serde(flatten)]
    capacity: BTreeMap<&'static str, toml::Value>,
    delay: Option<Dur>,
    jitter: Option<&'a Jitter>,
    spikes: Option<&'a Spikes>,
    loss: &'a Loss,
    fec: Option<Fec>,
    arq: Option<Arq>,
    compression: Option<Compression>,
    queue: &'a Queue,
}

#[derive(Serialize)]
struct FlowKeys<'a> {
    name: &'a str,
    count: u32,
    scheme: Option<&'a str>,
    start: Dur,
    stagger: Dur,
    start_within: Dur,
    stop: Option<Dur>,
    direction: Option<Direction>,
    #[serde(flatten)]
    place: PlaceKeys<'a>,
    via: Option<Vec<&'a str>>,
    return_via: Option<Vec<&'a str>>,
    measure: bool,
    access: &'a [Access],
    traffic: &'a Traffic,
}

/// Where a log's latency counts, no `delay` was given, neither for that direction nor for the one it inherits from.
fn link_keys(link: &Link) -> LinkKeys<'_> {
    let uses_latency = |side: &Side| matches!(side.capacity, Capacity::Log { latency: true, .. });
    let back_only = uses_latency(&link.reverse);
    LinkKeys {
        name: &link.name,
        from: None,
        to: None,
        forward: way_keys(&link.forward, &link.forward, !uses_latency(&link.forward) && !back_only),
        outages: link.outages.as_ref(),
        reverse: way_keys(&link.reverse, &link.forward, !back_only),
    }
}

/// Where a direction has no protection but would inherit some, writes protection that is switched off.
fn way_keys<'a>(side: &'a Side, inherited: &Side, with_delay: bool) -> WayKeys<'a> {
    WayKeys {
        capacity: BTreeMap::from([capacity_key(&side.capacity)]),
        delay: with_delay.then_some(side.delay),
        jitter: side.jitter.as_ref(),
        spikes: side.spikes.as_ref(),
        loss: &side.loss,
        fec: side.fec.or(inherited.fec.map(|fec| Fec { parity_symbols: 0, ..fec })),
        arq: side.arq.or(inherited.arq.map(|arq| Arq { retries: 0, ..arq })),
        compression: [side, inherited]
            .iter()
            .any(|side| side.compression != Compression::None)
            .then_some(side.compression),
        queue: &side.queue,
    }
}

fn capacity_key(capacity: &Capacity) -> (&'static str, toml::Value) {
    let [rate_key, trace_key, log_key, channel_key] = CAPACITY_KEYS;
    let text = |value: &dyn Display| toml::Value::String(value.to_string());
    match capacity {
        Capacity::Fixed(rate) => (rate_key, text(rate)),
        Capacity::Trace { path, .. } => (trace_key, text(&path.display())),
        Capacity::Log { path, .. } => (log_key, text(&path.display())),
        Capacity::Channel { config, .. } => {
            (channel_key, toml::Value::try_from(config).expect("numbers and times"))
        }
    }
}
