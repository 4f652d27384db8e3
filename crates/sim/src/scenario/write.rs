//! Writes a scenario in full, as a file that can be read again.

use super::file;
use super::link::{Outages, Shown, Steps};
use super::model::{
    Access, Circuit, Crossing, Direction, EnterRecordings, Flow, Link, Measurement, Medium, Route, Scenario,
    Side, Traffic,
};
use airtcp_wire::Dur;
use serde::Serialize;

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
            node: self.nodes.iter().map(|name| file::Node { name: name.clone() }).collect(),
            medium: &self.media,
            link: self.links[..self.links.len() - own].iter().map(|link| self.link_keys(link)).collect(),
            flow: self.flows.iter().map(|flow| self.flow_keys(flow)).collect(),
            circuit: self.circuits.iter().map(|circuit| self.circuit_keys(circuit)).collect(),
            measurement: self.measurement.as_ref(),
        };
        toml::to_string_pretty(&keys).expect("a scenario has nothing that TOML lacks")
    }

    fn circuit_keys(&self, circuit: &Circuit) -> file::Circuit {
        let PlaceKeys { enter, leave, from, to } = self.place_keys(&circuit.route);
        let [enter, leave, from, to] = [enter, leave, from, to].map(|name| name.map(str::to_owned));
        file::Circuit {
            name: Some(circuit.name.clone()),
            scheme: circuit.scheme.clone(),
            flows: circuit.flows.iter().map(|&flow| self.flows[flow].name.clone()).collect(),
            enter,
            leave,
            from,
            to,
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

    /// Where a log's latency counts, no `delay` was given, neither for that direction nor for the one it inherits from.
    fn link_keys<'a>(&'a self, link: &'a Link) -> LinkKeys<'a> {
        let end = |end: usize| self.nodes.get(link.ends[end]).map(String::as_str);
        let uses_latency = |side: &Side| side.capacity.latency().is_some();
        let Link { forward, reverse, .. } = link;
        let back_only = uses_latency(reverse);
        LinkKeys {
            name: &link.name,
            from: end(0),
            to: end(1),
            forward: Shown { side: forward, forward, with_delay: !uses_latency(forward) && !back_only },
            steps: link.steps.as_ref(),
            outages: link.outages.as_ref(),
            reverse: Shown { side: reverse, forward, with_delay: !back_only },
        }
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
    node: Vec<file::Node>,
    medium: &'a [Medium],
    link: Vec<LinkKeys<'a>>,
    flow: Vec<FlowKeys<'a>>,
    circuit: Vec<file::Circuit>,
    measurement: Option<&'a Measurement>,
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
    forward: Shown<'a>,
    steps: Option<&'a Steps>,
    outages: Option<&'a Outages>,
    reverse: Shown<'a>,
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
