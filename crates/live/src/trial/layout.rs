//! Where hosts and routers stand on the path, and in which order flows pass them.
//!
//! A flow's packets pass the routers that serve it, and no others: the proxy beside the sender, or the base station and
//! the ends of its circuit, in the order of its route. Each router joins two segments of the path, which form no ring:
//! within a segment, the destination tells the way.

use super::flows::Flow;
use super::forms::{ProxySite, Settings};
use super::trunks::Trunk;
use airtcp_sim::scenario::Scenario;
use airtcp_sim::scenario::model::{self, Crossing, Direction, Route};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

/// What a router does. Data passes the routers at one node in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// Receives what a trunk carries.
    Receives(usize),
    /// Serves flows.
    Station,
    /// Sends into a trunk.
    Sends(usize),
}

/// A router and its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Site {
    pub node: u16,
    pub role: Role,
}

/// A host's place. Flows share a host if they need the same settings and pass the same routers.
pub struct HostSite<'a> {
    pub node: u16,
    pub settings: &'a Settings,
}

/// The places of a run's hosts and routers. Each host has one port to the path. After all of these come two of each
/// router: data enters by the first and leaves by the second, but at a base station the second is the one towards the
/// wireless link.
pub struct Layout<'a> {
    pub hosts: Vec<HostSite<'a>>,
    /// Indices of the sender's and the receiver's host, by flow.
    pub of_flow: Vec<[usize; 2]>,
    pub routers: Vec<Site>,
    /// By port.
    pub segments: Vec<u16>,
    passed: Vec<Vec<Pass>>,
}

/// A router on a flow's way, and by which of its ports the data enters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pass {
    site: Site,
    enters_by: usize,
}

impl Pass {
    fn back(&self) -> Pass {
        Pass { enters_by: 1 - self.enters_by, ..*self }
    }
}

impl<'a> Layout<'a> {
    /// # Errors
    /// Why the flows cannot go on this kernel as they go in the simulator.
    pub fn new(scenario: &Scenario, flows: &'a [Flow], trunks: &[Trunk]) -> Result<Layout<'a>, String> {
        let passed =
            flows.iter().map(|flow| passes(scenario, flow, trunks)).collect::<Result<Vec<_>, _>>()?;
        let routers: BTreeSet<Site> = passed.iter().flatten().map(|pass| pass.site).collect();
        let (hosts, of_flow) = hosts(flows, &passed);
        let routers: Vec<Site> = routers.into_iter().collect();
        let mut layout = Layout { hosts, of_flow, routers, segments: Vec::new(), passed };
        layout.segments = layout.joined();
        layout.check_rings(trunks)?;
        layout.check_ways(scenario, flows)?;
        Ok(layout)
    }

    pub fn port_of_router(&self, router: usize, side: usize) -> usize {
        self.hosts.len() + 2 * router + side
    }

    pub fn node(&self, port: usize) -> u16 {
        let router = || self.routers[(port - self.hosts.len()) / 2].node;
        self.hosts.get(port).map_or_else(router, |host| host.node)
    }

    /// The ports that are reached through a router's port, in its segment and beyond.
    pub fn reached(&self, port: usize) -> Vec<usize> {
        let (mut found, mut from) = (Vec::new(), vec![port]);
        while let Some(port) = from.pop() {
            let alike = |other: &usize| self.segments[*other] == self.segments[port] && *other != port;
            for other in (0..self.segments.len()).filter(alike) {
                found.push(other);
                let opposite = self.opposite(other);
                found.extend(opposite);
                from.extend(opposite);
            }
        }
        found
    }

    /// Whether the flow's packets pass this router.
    pub fn is_passed(&self, router: usize, flow: usize) -> bool {
        self.passed[flow].iter().any(|pass| pass.site == self.routers[router])
    }

    /// The other port of a router.
    pub fn opposite(&self, port: usize) -> Option<usize> {
        let number = port.checked_sub(self.hosts.len())?;
        Some(self.hosts.len() + (number ^ 1))
    }

    /// The segments' numbers, by port: a flow's packets pass from router to router.
    fn joined(&self) -> Vec<u16> {
        let ports = self.hosts.len() + 2 * self.routers.len();
        let mut segments: Vec<u16> = (0..ports as u16).collect();
        for ([sender, receiver], passed) in self.of_flow.iter().zip(&self.passed) {
            let mut at = *sender;
            for Pass { site, enters_by } in passed {
                let router = self.routers.binary_search(site).expect("it has a place");
                let [enter, leave] =
                    [*enters_by, 1 - enters_by].map(|side| self.port_of_router(router, side));
                join(&mut segments, at, enter);
                at = leave;
            }
            join(&mut segments, at, *receiver);
        }
        segments
    }

    /// Only a base station serves flows that pass other routers before and behind it.
    fn check_rings(&self, trunks: &[Trunk]) -> Result<(), String> {
        let mut joined = self.segments.clone();
        for (router, site) in self.routers.iter().enumerate() {
            let [one, other] = [0, 1].map(|side| self.port_of_router(router, side));
            if joined[one] == joined[other] {
                return Err(format!(
                    "flows pass {} and other routers in different orders; on Linux, let them pass these in one order \
                     (`via`)",
                    named(site, trunks)
                ));
            }
            join(&mut joined, one, other);
        }
        Ok(())
    }

    /// The emulator has one way from each port's node to each other.
    fn check_ways(&self, scenario: &Scenario, flows: &[Flow]) -> Result<(), String> {
        let nodes = (0..self.segments.len()).map(|port| usize::from(self.node(port))).collect();
        let ways = scenario.ways_between(&nodes);
        for (flow, passed) in flows.iter().zip(&self.passed) {
            let route = route(scenario, flow);
            let [sender, receiver] = flow.nodes;
            let between = passed.iter().map(|pass| pass.site.node);
            let there: Vec<u16> = iter::once(sender).chain(between).chain([receiver]).collect();
            let back: Vec<u16> = there.iter().rev().copied().collect();
            for (stops, way) in [(there, &route.there), (back, &route.back)] {
                check_way(scenario, flow, (&stops, way), &ways)?;
            }
        }
        Ok(())
    }
}

/// The routers that a flow's data passes, in order.
fn passes(scenario: &Scenario, flow: &Flow, trunks: &[Trunk]) -> Result<Vec<Pass>, String> {
    let mut passes = Vec::new();
    match &flow.form.station {
        Some(station) if station.place() == Some(ProxySite::Sender) => {
            // Our own TCP sends no datagrams.
            let site = Site { node: flow.nodes[0], role: Role::Station };
            passes.extend((!flow.is_datagrams).then_some(Pass { site, enters_by: 0 }));
        }
        Some(_) => passes.push(base_station(scenario, flow)?),
        None => {}
    }
    if let Some(number) = flow.trunk {
        let [sends, receives] = trunks[number].nodes;
        let ends = [(sends, Role::Sends(number)), (receives, Role::Receives(number))];
        passes.extend(ends.map(|(node, role)| Pass { site: Site { node, role }, enters_by: 0 }));
    }
    let there = &route(scenario, flow).there;
    // How many links lie before it.
    let place = |pass: &Pass| {
        let node = usize::from(pass.site.node);
        let links = there.iter().take_while(|crossing| crossing.nodes(&scenario.links)[0] != node).count();
        (links, pass.site.role)
    };
    passes.sort_by_key(place);
    Ok(passes)
}

fn base_station(scenario: &Scenario, flow: &Flow) -> Result<Pass, String> {
    let Route { there, back } = route(scenario, flow);
    let direction = |way: &[Crossing]| {
        way.iter().find(|crossing| crossing.link == scenario.base_station).map(|crossing| crossing.direction)
    };
    let Some((data, acks)) = direction(there).zip(direction(back)) else {
        return Err(format!(
            "flow `{}` does not pass the base station there and back: set `base_station` to a link that it crosses",
            flow.name
        ));
    };
    if data == acks {
        return Err(format!(
            "what comes back to flow `{}` crosses the wireless link as the data does; on Linux, a base station stands \
             between both ends: change `return_via`",
            flow.name
        ));
    }
    let site = Site { node: scenario.base_station_node() as u16, role: Role::Station };
    Ok(Pass { site, enters_by: usize::from(data == Direction::Reverse) })
}

fn route<'a>(scenario: &'a Scenario, flow: &Flow) -> &'a Route {
    scenario.flows[flow.spec].route(flow.instance)
}

/// The hosts, and each flow's.
fn hosts<'a>(flows: &'a [Flow], passed: &[Vec<Pass>]) -> (Vec<HostSite<'a>>, Vec<[usize; 2]>) {
    let mut numbers: BTreeMap<(u16, Vec<Pass>, &Settings), usize> = BTreeMap::new();
    let (mut hosts, mut of_flow) = (Vec::new(), Vec::new());
    for (flow, passed) in flows.iter().zip(passed) {
        let settings = &flow.form.settings;
        let [sender, receiver] = flow.nodes;
        let back = passed.iter().rev().map(Pass::back).collect();
        of_flow.push([(sender, passed.clone()), (receiver, back)].map(|(node, passed)| {
            *numbers.entry((node, passed, settings)).or_insert_with(|| {
                hosts.push(HostSite { node, settings });
                hosts.len() - 1
            })
        }));
    }
    (hosts, of_flow)
}

/// Makes one segment of two ports'.
fn join(segments: &mut [u16], one: usize, other: usize) {
    let [kept, gone] = [segments[one], segments[other]];
    if kept != gone {
        segments.iter_mut().filter(|segment| **segment == gone).for_each(|segment| *segment = kept);
    }
}

fn named(site: &Site, trunks: &[Trunk]) -> String {
    match site.role {
        Role::Station => "the base station".to_owned(),
        Role::Sends(number) | Role::Receives(number) => format!("circuit `{}`", trunks[number].name),
    }
}

/// Checks that packets which stop at these nodes go this way.
fn check_way(
    scenario: &Scenario,
    flow: &Flow,
    (stops, way): (&[u16], &[Crossing]),
    ways: &BTreeMap<[usize; 2], Vec<Crossing>>,
) -> Result<(), String> {
    for ends in stops.windows(2).filter(|ends| ends[0] != ends[1]) {
        let ends = [0, 1].map(|end| usize::from(ends[end]));
        let Some(part) = part(scenario, way, ends) else {
            return Err(format!(
                "what comes back to flow `{}` passes its routers in another order; on Linux, let it take the data's \
                 way (`return_via`)",
                flow.name
            ));
        };
        let known = ways[&ends].as_slice();
        if known != part {
            return Err(format!(
                "flows `{}` and `{}` take different ways between the same nodes; on Linux, let them take the same one \
                 (`via`), or begin or end at nodes of their own, for example with `access`",
                user(scenario, known),
                flow.name
            ));
        }
    }
    Ok(())
}

/// The part of a way between two of its nodes.
fn part<'a>(scenario: &Scenario, way: &'a [Crossing], [from, to]: [usize; 2]) -> Option<&'a [Crossing]> {
    let first = way.iter().position(|crossing| crossing.nodes(&scenario.links)[0] == from)?;
    let last = way.iter().position(|crossing| crossing.nodes(&scenario.links)[1] == to)?;
    way.get(first..=last)
}

/// The first flow that goes this way.
fn user<'a>(scenario: &'a Scenario, way: &[Crossing]) -> &'a str {
    let goes = |whole: &[Crossing]| whole.windows(way.len()).any(|part| part == way);
    let uses = |flow: &&model::Flow| flow.routes.iter().any(|route| goes(&route.there) || goes(&route.back));
    scenario.flows.iter().find(uses).map_or("", |flow| &flow.name)
}

#[cfg(test)]
mod tests {
    use super::super::flows::flows;
    use super::super::forms::Host;
    use super::super::trunks::trunks;
    use super::*;
    use airtcp_proto::scheme::Scheme;

    fn link(name: &str, from: &str, to: &str) -> String {
        format!("[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1Mbit/s\"\n")
    }

    fn flow(name: &str, from: &str, to: &str, keys: &str) -> String {
        format!("[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{keys}\n")
    }

    fn circuit(name: &str, from: &str, to: &str, flows: &str) -> String {
        format!(
            "[[circuit]]\nname = \"{name}\"\nscheme = \"reno+decoupling\"\nflows = [{flows}]\nfrom = \"{from}\"\n\
             to = \"{to}\"\n"
        )
    }

    /// What each flow's data passes, as node and role; checks on the way that the destination leads there.
    fn passed(scheme: &str, text: &str) -> Result<Vec<Vec<(String, Role)>>, String> {
        let scenario = Scenario::load(text, "t.toml", "".as_ref(), &[]).unwrap();
        let trunks = trunks(&scenario).unwrap();
        let host =
            Host { kernel: String::new(), congestion_controls: vec!["reno".to_owned()], hystart: true };
        let scheme = Scheme::parse(scheme, &scenario.profile).unwrap();
        let flows = flows(&scenario, &scheme, &trunks, &host, 1).unwrap();
        let layout = Layout::new(&scenario, &flows, &trunks)?;
        for (flow, [sender, receiver]) in layout.of_flow.iter().enumerate() {
            assert_eq!(walk(&layout, *sender, *receiver), layout.passed[flow]);
            let back: Vec<Pass> = layout.passed[flow].iter().rev().map(Pass::back).collect();
            assert_eq!(walk(&layout, *receiver, *sender), back);
        }
        let named = |pass: &Pass| {
            let name = scenario.nodes.get(usize::from(pass.site.node));
            (name.map_or("access", String::as_str).to_owned(), pass.site.role)
        };
        Ok(layout.passed.iter().map(|passed| passed.iter().map(named).collect()).collect())
    }

    /// The routers that a packet passes, as the emulator finds its way.
    fn walk(layout: &Layout<'_>, mut at: usize, to: usize) -> Vec<Pass> {
        let mut passes = Vec::new();
        loop {
            let reaches = |port: usize| {
                let beyond = layout.opposite(port).map(|other| layout.reached(other));
                port == to || beyond.is_some_and(|beyond| beyond.contains(&to))
            };
            let ports = (0..layout.segments.len()).filter(|&port| port != at);
            let next: Vec<usize> =
                ports.filter(|&port| layout.segments[port] == layout.segments[at] && reaches(port)).collect();
            let [port] = next[..] else { panic!("{at} to {to}: {next:?}") };
            let Some(opposite) = layout.opposite(port) else { return passes };
            let number = port - layout.hosts.len();
            passes.push(Pass { site: layout.routers[number / 2], enters_by: number % 2 });
            at = opposite;
        }
    }

    fn dumbbell(flows: &str) -> String {
        let links = link("air", "left", "right") + &link("core", "right", "far");
        format!("base_station = \"air\"\n{links}{flows}")
    }

    #[test]
    fn what_stands_in_a_network() {
        let flows = flow("there", "left", "far", "count = 2\naccess = {}")
            + &flow("near", "left", "right", "")
            + &flow("back", "far", "left", "");
        let at = |node: &str, role: Role| vec![(node.to_owned(), role)];
        let found = passed("reno+packet-control", &dumbbell(&flows)).unwrap();
        assert_eq!(found, vec![at("left", Role::Station); 4]);
        assert_eq!(passed("reno", &dumbbell(&flows)).unwrap(), vec![vec![]; 4]);
        let found = passed("tahoe", &dumbbell(&flows)).unwrap();
        assert_eq!(found, ["access", "access", "left", "far"].map(|node| at(node, Role::Station)));
    }

    #[test]
    fn a_circuit_and_a_station_stand_in_the_order_of_the_route() {
        let flows = flow("there", "left", "far", "") + &flow("near", "left", "right", "");
        let text = dumbbell(&(flows + &circuit("t", "right", "far", "\"there\"")));
        let found = passed("reno+packet-control", &text).unwrap();
        let site = |node: &str, role: Role| (node.to_owned(), role);
        let [there, near] = &found[..] else { panic!() };
        let station = site("left", Role::Station);
        assert_eq!(there, &[station.clone(), site("right", Role::Sends(0)), site("far", Role::Receives(0))]);
        assert_eq!(near, &[station]);
        let own = passed("tahoe", &text).unwrap();
        assert_eq!(own[0].len(), 3);
    }

    /// Both flows cross the wireless link and the circuit's link.
    #[test]
    fn flows_pass_routers_in_one_order() {
        let links = [("air", "a", "b"), ("bc", "b", "c"), ("cd", "c", "d"), ("da", "d", "a")];
        let links = links.map(|(name, from, to)| link(name, from, to)).concat();
        let one = flow("one", "a", "d", "via = [\"air\", \"cd\"]");
        let and = |two: &str| {
            let circuit = circuit("t", "c", "d", "\"one\", \"two\"");
            passed("reno+packet-control", &format!("base_station = \"air\"\n{links}{one}{two}{circuit}"))
        };
        let found = and(&one.replace("one", "two")).unwrap();
        assert_eq!((found[0].len(), &found[0]), (3, &found[1]));
        let problem = and(&flow("two", "c", "b", "via = [\"cd\", \"air\"]")).unwrap_err();
        let cure = "in different orders; on Linux, let them pass these in one order (`via`)";
        assert!(problem.contains(cure), "{problem}");
    }

    #[test]
    fn flows_go_one_way_between_two_stops() {
        let links = link("l", "a", "b") + &link("m", "a", "b");
        let via = |name: &str, keys: &str| flow(name, "a", "b", keys);
        let both = via("one", "via = [\"l\"]") + &via("two", "via = [\"m\"]");
        let problem = passed("reno", &format!("{links}{both}")).unwrap_err();
        assert!(problem.contains("`one` and `two` take different ways"), "{problem}");
        let back = via("one", "via = [\"l\"]\nreturn_via = [\"m\"]");
        assert_eq!(passed("reno", &format!("{links}{back}")), Ok(vec![vec![]]));
        let problem =
            passed("reno+packet-control", &format!("base_station = \"l\"\n{links}{back}")).unwrap_err();
        assert!(
            problem.contains("`one` does not pass the base station there and back: set `base_station`"),
            "{problem}"
        );
        let stray = via("one", "via = [\"l\"]") + &via("two", "via = [\"m\"]\naccess = {}");
        assert_eq!(passed("reno", &format!("{links}{stray}")).unwrap().len(), 2);
    }
}
