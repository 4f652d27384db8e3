//! What can be foreseen in a run, found before its first event.

use crate::circuit::Circuit;
use crate::ends::Ends;
use crate::flow::{Flow, Handler, RECEIVER, SENDER};
use crate::stage::Stage;
use crate::station::Station;
use airtcp_proto::middlebox::Direction;
use std::collections::BTreeSet;

/// If nobody watches, lets packets pass without an event at the nodes where no flow and no circuit begins or ends, and lets
/// the end of the path run ahead if it can.
pub fn foresee(stage: &mut Stage, ends: &mut Ends, stations: &[Station], circuits: &[Circuit]) {
    if stage.network.is_watched {
        return;
    }
    let nodes = ends.flows.iter().flat_map(|flow| flow.nodes);
    let nodes: BTreeSet<u16> = nodes.chain(circuits.iter().flat_map(|circuit| circuit.site.nodes)).collect();
    stage.network.topology.lead_on(|node| !nodes.contains(&node));
    run_ahead(stage, ends, stations, circuits);
}

/// Lets the end of the path run [ahead](crate::ahead) if all flows go there and arrivals can be foreseen, both there and
/// back. No station may resend: the fate of the sender's own copies would be known too early.
fn run_ahead(stage: &mut Stage, ends: &mut Ends, stations: &[Station], circuits: &[Circuit]) {
    let topology = &mut stage.network.topology;
    let Some(direction) = ends.flows.first().map(|flow| flow.direction) else { return };
    let end = topology.end(direction);
    let is_one_way = circuits.iter().all(|circuit| circuit.site.direction == direction)
        && ends.flows.iter().all(|flow| flow.direction == direction && flow.nodes[RECEIVER] == end)
        && !circuits.iter().any(Circuit::repairs_data);
    if is_one_way && !stations.iter().any(Station::resends) && topology.foresee_round_trips(direction) {
        let station = stations_ahead(stations, circuits, &ends.flows, direction)
            .filter(|&node| topology.foresee_station(node, direction));
        for flow in &mut ends.flows {
            let is_handled_ahead = flow.handlers.iter().all(|(node, _)| Some(*node) == station);
            let is_countable = flow.counted_by.is_none_or(|circuit| flow.circuit == Some(circuit));
            flow.runs_ahead = is_handled_ahead && is_countable;
            if let Some(node) = station {
                flow.station_ahead = flow.handler_at(node).and_then(Handler::station);
                flow.ways_ahead = flow.routes.map(|route| topology.way_out(route, node));
            }
        }
        let ahead = &mut stage.network.ahead;
        (ahead.direction, ahead.station) = (Some(direction), station);
    }
}

/// The node whose stations can be ahead together with the end of the path in this direction: all stations stand there,
/// and all senders on its other side.
fn stations_ahead(
    stations: &[Station],
    circuits: &[Circuit],
    flows: &[Flow],
    direction: Direction,
) -> Option<u16> {
    let node = stations.first()?.node;
    let sends_before = |flow: &Flow| match direction {
        Direction::Forward => flow.nodes[SENDER] < node,
        Direction::Reverse => flow.nodes[SENDER] > node,
    };
    let can_be = circuits.is_empty()
        && stations.iter().all(|station| station.node == node && station.acts_at_once())
        && flows.iter().all(sends_before);
    can_be.then_some(node)
}
