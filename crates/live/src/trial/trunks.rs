//! The scenario's circuits, which carry several flows.

use super::forms::Circuit;
use airtcp_proto::scheme::{Scheme, SchemeError};
use airtcp_sim::scenario::Scenario;
use airtcp_sim::scenario::model;

/// A circuit that carries several flows.
#[derive(Clone, Debug)]
pub struct Trunk {
    pub name: String,
    /// Label of its scheme.
    pub label: String,
    pub circuit: Circuit,
    /// Nodes of the sending and the receiving gateway.
    pub nodes: [u16; 2],
    /// Indices into the scenario's flows.
    pub flows: Vec<usize>,
}

/// The trunks in the scenario's order.
///
/// # Errors
/// A scheme that does not resolve.
///
/// # Panics
/// A circuit's scheme names no circuit, which the scenario's checks rule out.
pub fn trunks(scenario: &Scenario) -> Result<Vec<Trunk>, SchemeError> {
    scenario.circuits.iter().map(|circuit| trunk(scenario, circuit)).collect()
}

fn trunk(scenario: &Scenario, circuit: &model::Circuit) -> Result<Trunk, SchemeError> {
    let scheme = Scheme::parse(&circuit.scheme, &scenario.profile)?;
    let config = scheme.circuit.clone().expect("checked with the scenario");
    Ok(Trunk {
        name: circuit.name.clone(),
        label: scheme.label.clone(),
        circuit: Circuit { config, tcp: Box::new(scheme.config.clone()) },
        nodes: circuit.route.ends(&scenario.links).map(|node| node as u16),
        flows: circuit.flows.clone(),
    })
}
