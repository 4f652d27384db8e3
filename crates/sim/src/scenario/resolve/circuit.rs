//! Circuits that carry several flows.

use super::check::Check;
use super::flow::ends;
use crate::scenario::error::unknown;
use crate::scenario::file::{self, ScenarioFile};
use crate::scenario::model::{Circuit, Direction, Flow};
use airtcp_proto::scheme::{Scheme, SchemeError};

pub(super) fn circuits(
    written: &ScenarioFile,
    names: Vec<String>,
    links: &[String],
    flows: &[Flow],
    check: &mut Check<'_>,
) -> Option<Vec<Circuit>> {
    let mut circuits: Vec<Option<Circuit>> = Vec::new();
    check.inside("circuit", |check| {
        for (index, (circuit, name)) in written.circuit.iter().zip(names).enumerate() {
            let one = check.inside(index, |check| self::circuit(circuit, name, written, links, flows, check));
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
    links: &[String],
    flows: &[Flow],
    check: &mut Check<'_>,
) -> Option<Circuit> {
    check.inside("scheme", |check| scheme(&written.scheme, &scenario.profile, check));
    let span = ends(written.enter.as_deref(), written.leave.as_deref(), links, check);
    let carried = check.inside("flows", |check| carried(&written.flows, flows, check));
    let ((enter, leave), carried) = (span?, carried?);
    let direction = flows[*carried.first()?].direction;
    check.inside("flows", |check| {
        for (index, &flow) in carried.iter().enumerate() {
            let problem = check_flow(&flows[flow], (enter, leave), direction, |text| {
                Scheme::parse_with(text, &scenario.profile, check.controllers)
            });
            if let Some(problem) = problem {
                check.inside(index, |check| check.refuse(format!("`{}` {problem}", flows[flow].name)));
            }
        }
    });
    Some(Circuit { name, scheme: written.scheme.clone(), direction, flows: carried, enter, leave })
}

/// Returns why this circuit cannot carry a flow, if it cannot.
fn check_flow(
    flow: &Flow,
    (enter, leave): (usize, usize),
    direction: Direction,
    parse: impl Fn(&str) -> Result<Scheme, SchemeError>,
) -> Option<&'static str> {
    let own_circuit = |text: &String| parse(text).is_ok_and(|own| own.circuit.is_some());
    if flow.enter > enter || flow.leave < leave {
        Some("does not cross all links of the circuit")
    } else if flow.direction != direction {
        Some("runs in the opposite direction; a circuit carries data one way")
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
