//! Places the schemes' stations and circuits on the path.

use crate::circuit::{Circuit, ENTRY, Site};
use crate::error::RunError;
use crate::flow::{Flow, Handler};
use crate::links;
use crate::routes::{Routes, Ways};
use crate::scenario::{Scenario, model};
use crate::station::Station;
use crate::topology::Topology;
use airtcp_proto::Chances;
use airtcp_proto::base_station::MachineBuild;
use airtcp_proto::cc::Controllers;
use airtcp_proto::circuit::{self, Receiver, Sender};
use airtcp_proto::middlebox::{Direction, Middlebox};
use airtcp_proto::scheme::Scheme;
use airtcp_wire::Time;
use std::sync::Arc;

/// The direction of data, as machines know it.
pub fn direction(direction: model::Direction) -> Direction {
    match direction {
        model::Direction::Forward => Direction::Forward,
        model::Direction::Reverse => Direction::Reverse,
    }
}

/// The stations and circuits of a run, as they are placed. Flows that share a scheme share its machine at the base
/// station.
pub struct Stations<'a> {
    scenario: &'a Scenario,
    chances: &'a Chances,
    no_shortcuts: bool,
    routes: Routes,
    placed: Vec<Station>,
    circuits: Vec<Circuit>,
    /// The schemes that have a machine at the base station, and their stations.
    owners: Vec<(Arc<Scheme>, u16)>,
}

impl<'a> Stations<'a> {
    pub fn new(scenario: &'a Scenario, chances: &'a Chances, no_shortcuts: bool) -> Stations<'a> {
        let (placed, circuits, owners) = (Vec::new(), Vec::new(), Vec::new());
        Stations { scenario, chances, no_shortcuts, routes: Routes::default(), placed, circuits, owners }
    }

    /// The ways of a flow or circuit over these links.
    ///
    /// # Errors
    /// [`RunError::TooManyRoutes`]
    pub fn ways(&mut self, route: &model::Route) -> Result<Ways, RunError> {
        let ways = self.routes.ways(route, &self.scenario.links);
        ways.ok_or(RunError::TooManyRoutes { most: Routes::MOST })
    }

    /// The links, once flows and circuits are placed.
    pub fn topology(&mut self) -> Topology {
        let routes = std::mem::take(&mut self.routes);
        let links = links::build_all(self.scenario, self.chances).map(|(ends, (there, back))| {
            match self.no_shortcuts {
                true => (ends, (there.without_shortcut(), back.without_shortcut())),
                false => (ends, (there, back)),
            }
        });
        Topology::new(links, routes)
    }

    /// The scheme, without shortcuts if the run has none.
    pub fn allowed(&self, scheme: Arc<Scheme>) -> Arc<Scheme> {
        if self.no_shortcuts { Arc::new(Scheme::clone(&scheme).without_shortcuts()) } else { scheme }
    }

    /// Returns the node of the base station and the station there that serves a flow with `scheme`, if the scheme has
    /// one.
    ///
    /// # Errors
    /// [`RunError::NotAtBaseStation`]
    pub fn base_station(
        &mut self,
        scheme: &Arc<Scheme>,
        flow: &model::Flow,
    ) -> Result<Option<(u16, Handler)>, RunError> {
        let Some(machine) = scheme.base_station.as_ref() else { return Ok(None) };
        let link = self.scenario.base_station;
        if !flow.routes.iter().all(|route| route.crosses(link)) {
            return Err(RunError::NotAtBaseStation {
                flow: flow.name.clone(),
                scheme: scheme.label.clone(),
                link: self.scenario.links[link].name.clone(),
            });
        }
        let node = self.scenario.base_station_node() as u16;
        if let Some((_, station)) = self.owners.iter().find(|(owner, _)| Arc::ptr_eq(owner, scheme)) {
            return Ok(Some((node, Handler::Station(*station))));
        }
        let station = self.placed.len() as u16;
        let chance = self.chances.chance(&format!("base-station.{}", self.owners.len()));
        let build = MachineBuild { tcp: &machine.tcp, hosts: &scheme.config, chance };
        self.placed.push(Station::new(station, node, machine.machine.build(build)));
        self.owners.push((scheme.clone(), station));
        Ok(Some((node, Handler::Station(station))))
    }

    /// Places machines that serve every flow, each at its node.
    ///
    /// # Errors
    /// [`RunError::UnknownNode`]
    pub fn serve_all(
        &mut self,
        machines: Vec<(usize, Box<dyn Middlebox>)>,
        flows: &mut [Flow],
    ) -> Result<(), RunError> {
        let last = self.scenario.node_count() - 1;
        for (node, machine) in machines {
            if node > last {
                return Err(RunError::UnknownNode { node, last });
            }
            let node = node as u16;
            let number = self.placed.len() as u16;
            self.placed.push(Station::new(number, node, machine));
            flows.iter_mut().for_each(|flow| flow.add_handler(node, Handler::Station(number)));
        }
        Ok(())
    }

    /// Checks that there is room for the circuits of the flows that `spec` stands for.
    ///
    /// # Errors
    /// [`RunError::TooManyCircuits`]
    pub fn check_room(&self, scheme: &Scheme, spec: &model::Flow) -> Result<(), RunError> {
        let most = usize::from(u16::MAX) / 4;
        let circuits = self.circuits.len() + scheme.circuit.as_ref().map_or(0, |_| spec.count as usize);
        if circuits > most { Err(RunError::TooManyCircuits { circuits, most }) } else { Ok(()) }
    }

    /// Adds a circuit.
    fn circuit(&mut self, site: Site, scheme: &Scheme, config: &circuit::Config) -> &mut Circuit {
        let chance = |end| self.chances.chance(&format!("circuit.{}.{}.{end}", site.name, site.index));
        let sender = Sender::new(config, &scheme.config, &mut chance("sender"), Time::ZERO);
        let receiver = Receiver::new(config, &scheme.config, &mut chance("receiver"));
        let sender = sender.expect("schemes are checked before the run");
        let receiver = receiver.expect("schemes are checked before the run");
        let first_number = self.circuits.last().map_or(0, Circuit::next_number);
        self.circuits.push(Circuit::new(site, sender, receiver, config, first_number));
        self.circuits.last_mut().expect("just pushed")
    }

    /// Places the circuits that carry several flows.
    ///
    /// # Errors
    /// A scheme that does not resolve; [`RunError::TwoStations`].
    pub fn trunks(&mut self, controllers: &Controllers, flows: &mut [Flow]) -> Result<(), RunError> {
        let scenario = self.scenario;
        for trunk in &scenario.circuits {
            let scheme = Scheme::parse_with(&trunk.scheme, &self.scenario.profile, controllers)?;
            let scheme = self.allowed(Arc::new(scheme));
            let config = scheme.circuit.as_ref().expect("checked with the scenario");
            let Ways { nodes, routes, sides } = self.ways(&trunk.route)?;
            let site = Site {
                number: self.circuits.len() as u16,
                name: trunk.name.clone(),
                index: 0,
                scheme: scheme.label.clone(),
                direction: direction(trunk.direction),
                nodes,
                ways: sides,
                routes,
            };
            let circuit = self.circuit(site, &scheme, config);
            for flow in flows.iter_mut().filter(|flow| trunk.flows.contains(&flow.shared.spec)) {
                if flow.circuit.is_some() || flow.handler_at(nodes[ENTRY]).is_some() {
                    return Err(RunError::TwoStations {
                        flow: scenario.flows[flow.shared.spec].name.clone(),
                        scheme: flow.shared.scheme.label.clone(),
                        circuit: trunk.name.clone(),
                    });
                }
                // Else it carries the flow's ACKs.
                let carries_data = scenario.flows[flow.shared.spec].routes[0].contains(&trunk.route);
                let direction = if carries_data { flow.direction } else { flow.direction.opposite() };
                circuit.handle(flow, direction);
                circuit.count(flow, direction);
            }
        }
        Ok(())
    }

    /// Gives a flow a circuit of its own, if its scheme has one. Its connections send directly into the circuit, as
    /// there is room. Only datagrams pass the sender's node, and the ACKs of connections that ask for the window.
    pub fn own_circuit(&mut self, mut flow: Flow, spec: &model::Flow) -> Flow {
        let scheme = flow.shared.scheme.clone();
        let Some(config) = &scheme.circuit else { return flow };
        let site = Site {
            number: self.circuits.len() as u16,
            name: spec.name.clone(),
            index: flow.instance,
            scheme: scheme.label.clone(),
            direction: flow.direction,
            nodes: flow.nodes,
            ways: flow.ways,
            routes: flow.routes,
        };
        let data = flow.direction;
        let circuit = self.circuit(site, &scheme, config);
        if config.repeats_first() {
            circuit.tell_window_in(u64::from(scheme.config.packet_size));
        }
        if config.repeats_first() || matches!(spec.traffic, model::Traffic::Udp(_)) {
            circuit.handle(&mut flow, data);
        }
        circuit.count(&mut flow, data);
        flow.circuit = Some(circuit.site.number);
        flow
    }

    /// Marks the nodes at which the flows' packets are handled, and returns the stations and circuits.
    pub fn placed(mut self, flows: &mut [Flow], topology: &mut Topology) -> (Vec<Station>, Vec<Circuit>) {
        for flow in flows {
            flow.count_at_delivery();
            let nodes = flow
                .handlers
                .iter()
                .map(|(node, _)| node)
                .chain(flow.counted_at.iter().map(|(node, _)| node));
            nodes.for_each(|node| topology.put_station(*node));
        }
        self.circuits.iter_mut().for_each(|circuit| circuit.find_compressing(topology));
        (self.placed, self.circuits)
    }
}
