//! Circuits that carry several flows.

use super::graph::{Graph, find};
use super::routes::{NO_CHAIN, refuse_keys, span};
use crate::scenario::check::Check;
use crate::scenario::error::unknown;
use crate::scenario::file::{self, ScenarioFile};
use crate::scenario::model::{Circuit, Flow, Route};
use crate::scenario::way::Crossing;
use airtcp_proto::scheme::{Scheme, SchemeError};

pub(super) fn circuits(
    written: &ScenarioFile,
    names: Vec<String>,
    graph: &Graph,
    flows: &[Flow],
    wireless: usize,
    check: &mut Check<'_>,
) -> Option<Vec<Circuit>> {
    let mut circuits: Vec<Option<Circuit>> = Vec::new();
    check.inside("circuit", |check| {
        for (index, (circuit, name)) in written.circuit.iter().zip(names).enumerate() {
            let one = check
                .inside(index, |check| self::circuit(circuit, name, written, graph, flows, wireless, check));
            let others = circuits.iter().flatten().flat_map(|other| &other.flows);
            let taken: Vec<usize> = others.copied().collect();
            let twice = one.iter().flat_map(|one| &one.flows).find(|flow| taken.contains(flow));
            if let Some(&flow) = twice {
                let message = format!("`{}` is already carried by another circuit", flows[flow].name);
                check.inside(index, |check| check.refuse_key("flows", message));
            }
            circuits.push(one);
        }
    });
    circuits.into_iter().collect()
}

fn circuit(
    written: &file::Circuit,
    name: String,
    scenario: &ScenarioFile,
    graph: &Graph,
    flows: &[Flow],
    wireless: usize,
    check: &mut Check<'_>,
) -> Option<Circuit> {
    check.inside("scheme", |check| scheme(&written.scheme, &scenario.profile, check));
    let span = match graph.is_chain() {
        true => of_chain(written, graph, check),
        false => of_network(written, graph, check),
    };
    let carried = check.inside("flows", |check| carried(&written.flows, flows, check));
    let (span, carried) = (span?, carried?);
    let first = &flows[*carried.first()?];
    let direction = first.direction(wireless);
    let Some(route) = span.of(first, graph) else {
        let problem = format!("`{}` does not pass the circuit's ends, one after the other", first.name);
        check.inside("flows", |check| check.inside(0, |check| check.refuse(problem)));
        return None;
    };
    check.inside("flows", |check| {
        for (index, &flow) in carried.iter().enumerate() {
            let problem = check_flow(&flows[flow], &route, |text| {
                Scheme::parse_with(text, &scenario.profile, check.controllers)
            });
            if let Some(problem) = problem {
                check.inside(index, |check| check.refuse(format!("`{}` {problem}", flows[flow].name)));
            }
        }
    });
    Some(Circuit { name, scheme: written.scheme.clone(), direction, flows: carried, route })
}

/// Where a circuit begins and ends.
enum Span {
    /// The first and the last link of a chain, in path order.
    Links(usize, usize),
    /// Nodes; absent, those of its first flow.
    Nodes([Option<usize>; 2]),
}

fn of_chain(written: &file::Circuit, graph: &Graph, check: &mut Check<'_>) -> Option<Span> {
    let keys = [("from", written.from.is_some()), ("to", written.to.is_some())];
    refuse_keys(keys, "the links form a chain: use `enter` and `leave`", check);
    let (enter, leave) = span(written.enter.as_deref(), written.leave.as_deref(), graph.written(), check)?;
    Some(Span::Links(enter.min(leave), enter.max(leave)))
}

fn of_network(written: &file::Circuit, graph: &Graph, check: &mut Check<'_>) -> Option<Span> {
    let keys = [("enter", written.enter.is_some()), ("leave", written.leave.is_some())];
    refuse_keys(keys, NO_CHAIN, check);
    let mut end = |key, name: &Option<String>| match name {
        Some(name) => find("node", name, &graph.nodes, key, check).map(Some),
        None => Some(None),
    };
    let (from, to) = (end("from", &written.from), end("to", &written.to));
    Some(Span::Nodes([from?, to?]))
}

impl Span {
    /// The part of the flow's route between the circuit's ends; `None` if it does not pass these.
    fn of(&self, flow: &Flow, graph: &Graph) -> Option<Route> {
        let &[from, to] = match self {
            Span::Links(enter, leave) => {
                return Some(Route::of_chain(flow.shared_route().there[0].direction, *enter, *leave));
            }
            Span::Nodes(nodes) => nodes,
        };
        let Route { there, back } = flow.shared_route();
        let part = |way: &[Crossing], from: Option<usize>, to: Option<usize>| {
            let first = way
                .iter()
                .position(|crossing| from.is_none_or(|from| graph.nodes_of(*crossing)[0] == from))?;
            let last =
                way.iter().rposition(|crossing| to.is_none_or(|to| graph.nodes_of(*crossing)[1] == to))?;
            way.get(first..=last).filter(|part| !part.is_empty()).map(<[Crossing]>::to_vec)
        };
        Some(Route { there: part(&there, from, to)?, back: part(&back, to, from)? })
    }
}

/// Returns why this circuit cannot carry a flow, if it cannot.
fn check_flow(
    flow: &Flow,
    circuit: &Route,
    parse: impl Fn(&str) -> Result<Scheme, SchemeError>,
) -> Option<&'static str> {
    let own_circuit = |text: &String| parse(text).is_ok_and(|own| own.circuit.is_some());
    if flow.routes.iter().any(|route| circuit.there.iter().any(|crossing| !route.crosses(crossing.link))) {
        Some("does not cross all links of the circuit")
    } else if flow.routes.iter().any(|route| route.contains(&circuit.clone().reversed())) {
        Some("runs in the opposite direction; a circuit carries data one way")
    } else if !flow.routes.iter().all(|route| route.contains(circuit)) {
        Some("crosses the circuit's links in another order, or comes back over others")
    } else if flow.scheme.as_ref().is_some_and(own_circuit) {
        Some("already has its own circuit through its scheme")
    } else {
        None
    }
}

fn scheme(text: &str, profile: &str, check: &mut Check<'_>) {
    match Scheme::parse_with(text, profile, check.controllers) {
        Err(error) => check.refuse(error.to_string()),
        Ok(scheme) if scheme.circuit.is_none() => {
            check.refuse(
                "must name `decoupling`, with the circuit's keys, e.g. \"reno+decoupling:controls=2\"",
            );
        }
        Ok(scheme) if scheme.queue.is_some() => {
            check.refuse("a queue belongs to the path; set it as the link's `queue`");
        }
        Ok(_) => {}
    }
}

/// Finds the flows with these names.
fn carried(names: &[String], flows: &[Flow], check: &mut Check<'_>) -> Option<Vec<usize>> {
    if names.is_empty() {
        check.refuse("is empty; name the flows that the circuit carries");
        return None;
    }
    let mut carried = Vec::new();
    for (index, name) in names.iter().enumerate() {
        match flows.iter().position(|flow| flow.name == *name) {
            Some(flow) if carried.contains(&flow) => {
                check.inside(index, |check| check.refuse(format!("`{name}` is listed twice")));
            }
            Some(flow) => carried.push(flow),
            None => {
                let known = flows.iter().map(|flow| flow.name.as_str());
                check.inside(index, |check| check.refuse(unknown("flow", name, known)));
            }
        }
    }
    (carried.len() == names.len()).then_some(carried)
}
