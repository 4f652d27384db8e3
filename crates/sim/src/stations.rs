//! Places the machines that the schemes have on the path.

use crate::flow::Flow;
use crate::run::RunError;
use crate::scenario::{Scenario, model};
use crate::station::Station;
use crate::topology::Topology;
use airtcp_proto::Streams;
use airtcp_proto::base_station::MachineBuild;
use airtcp_proto::middlebox::Middlebox;
use airtcp_proto::scheme::Scheme;
use std::sync::Arc;

/// The stations of a run as they are placed. Flows with one and the same scheme share what stands at the base station.
pub struct Stations<'a> {
    scenario: &'a Scenario,
    streams: &'a Streams,
    placed: Vec<Station>,
    /// Whose machine each base-station entry is.
    owners: Vec<(Arc<Scheme>, u16)>,
}

impl<'a> Stations<'a> {
    pub fn new(scenario: &'a Scenario, streams: &'a Streams) -> Stations<'a> {
        Stations { scenario, streams, placed: Vec::new(), owners: Vec::new() }
    }

    /// The node and the number of the station that serves a flow with `scheme` at the base station, if it has one there.
    ///
    /// # Errors
    /// [`RunError::NotAtBaseStation`]
    pub fn base_station(
        &mut self,
        scheme: &Arc<Scheme>,
        flow: &model::Flow,
    ) -> Result<Option<(u16, u16)>, RunError> {
        let Some(machine) = scheme.base_station.as_ref() else { return Ok(None) };
        let link = self.scenario.base_station;
        if !(flow.enter..=flow.leave).contains(&link) {
            return Err(RunError::NotAtBaseStation {
                flow: flow.name.clone(),
                scheme: scheme.label.clone(),
                link: self.scenario.links[link].name.clone(),
            });
        }
        let node = link as u16;
        if let Some((_, station)) = self.owners.iter().find(|(owner, _)| Arc::ptr_eq(owner, scheme)) {
            return Ok(Some((node, *station)));
        }
        let station = self.placed.len() as u16;
        let stream = self.streams.stream(&format!("base-station.{}", self.owners.len()));
        let build = MachineBuild { tcp: &machine.tcp, stream };
        self.placed.push(Station { node, machine: machine.machine.build(build) });
        self.owners.push((scheme.clone(), station));
        Ok(Some((node, station)))
    }

    /// Machines that serve every flow, each at its node.
    ///
    /// # Errors
    /// [`RunError::UnknownNode`]
    pub fn serve_all(
        &mut self,
        machines: Vec<(usize, Box<dyn Middlebox>)>,
        flows: &mut [Flow],
    ) -> Result<(), RunError> {
        let last = self.scenario.links.len();
        for (node, machine) in machines {
            if node > last {
                return Err(RunError::UnknownNode { node, last });
            }
            let at = (node as u16, self.placed.len() as u16);
            self.placed.push(Station { node: at.0, machine });
            flows.iter_mut().for_each(|flow| flow.stations.push(at));
        }
        Ok(())
    }

    /// Says at the nodes that there are stations, and gives them.
    pub fn placed(self, topology: &mut Topology) -> Vec<Station> {
        for station in &self.placed {
            topology.has_station[usize::from(station.node)] = true;
        }
        self.placed
    }
}
