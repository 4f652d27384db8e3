//! The path as a machine: packets go in, and the models say whether and when they come out.

use super::counts::Counts;
use super::header::{Framing, Header};
use super::observer::Observer;
use super::ports::{Port, way_out};
use super::slab::{Destination, Slab};
use super::station::Station;
use airtcp_proto::Chances;
use airtcp_proto::path::{Fate, Output, QueueView};
use airtcp_proto::queue::{DropCause, Item};
use airtcp_sim::links;
use airtcp_sim::path_records::{MediumRecord, PathNames};
use airtcp_sim::record::LinkRecord;
use airtcp_sim::routes::{RouteId, Routes};
use airtcp_sim::scenario::model::Scenario;
use airtcp_sim::topology::{Side, Topology};
use airtcp_wire::{Bytes, Ecn, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes of packets that may be on the path at once, unless [`Emulator::with_memory`] says otherwise. The queues bound
/// what waits; this bounds what is under way, which is rate times delay.
pub const MEMORY: Bytes = Bytes(256 << 20);

/// A scenario's links, in real time or any other. It follows the loop contract of [`airtcp_proto::machine`]: `now` is
/// an argument and never goes back. What happens between two calls happens at its own time, however late the call is.
/// A driver that oversleeps makes packets late, and has no other effect on them.
pub struct Emulator<O = ()> {
    topology: Topology,
    /// How packets get from one node to another.
    route_of: BTreeMap<[u16; 2], RouteId>,
    names: PathNames,
    ports: Vec<Port>,
    framing: Framing,
    station: Option<Station>,
    packets: Slab,
    /// Packets that have left the path and have not been fetched.
    ready: VecDeque<(u32, Time)>,
    /// The last packet that was fetched.
    fetched: Vec<u8>,
    counts: Vec<Counts>,
    since: Time,
    observer: O,
}

/// A packet to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmit<'a> {
    /// Index of the port.
    pub port: usize,
    pub bytes: &'a [u8],
    /// When it left the path: now, unless the driver is late.
    pub due: Time,
}

impl Emulator {
    /// Builds the links of `scenario`, with `seed` for their random numbers, and devices at its nodes. Packets begin
    /// with the IP header.
    ///
    /// Packets between two nodes take the way that a flow takes between them.
    ///
    /// # Panics
    /// If a port names a node that the path does not have, or there are fewer than two.
    pub fn new(scenario: &Scenario, seed: u64, ports: Vec<Port>) -> Emulator {
        assert!(ports.len() >= 2, "what comes in by one port leaves by another one");
        let last = scenario.node_count() - 1;
        let nodes: BTreeSet<usize> = ports.iter().map(|port| usize::from(port.node)).collect();
        assert!(nodes.last() <= Some(&last), "the path's nodes are 0 to {last}");
        let chances = Chances::new(seed);
        let scenario = &*scenario.for_seed(seed);
        let mut routes = Routes::default();
        let route_of = scenario.ways_between(&nodes).into_iter().map(|(ends, way)| {
            let route = routes.add(&way, &scenario.links).expect("fewer than flows have");
            (ends.map(|node| node as u16), route)
        });
        let route_of = route_of.collect();
        Emulator {
            topology: Topology::new(links::build_all(scenario, &chances), routes),
            route_of,
            names: PathNames::of(scenario),
            counts: vec![Counts::default(); ports.len()],
            ports,
            framing: Framing::Ip,
            station: None,
            packets: Slab::new(MEMORY),
            ready: VecDeque::new(),
            fetched: Vec::new(),
            since: Time::ZERO,
            observer: (),
        }
    }

    /// An emulator between the two ends of a chain: port 0 at its first node, port 1 at its last.
    pub fn end_to_end(scenario: &Scenario, seed: u64) -> Emulator {
        Emulator::new(scenario, seed, vec![Port::at(0), Port::at(scenario.links.len() as u16)])
    }
}

impl<O: Observer> Emulator<O> {
    /// Sets how packets begin.
    #[must_use]
    pub fn with_framing(self, framing: Framing) -> Emulator<O> {
        Emulator { framing, ..self }
    }

    /// Sets the station in front of the wireless link.
    #[must_use]
    pub fn with_station(self, station: Station) -> Emulator<O> {
        Emulator { station: Some(station), ..self }
    }

    /// Holds at most `limit` of packets, counting short ones as 2 KiB.
    #[must_use]
    pub fn with_memory(self, limit: Bytes) -> Emulator<O> {
        Emulator { packets: Slab::new(limit), ..self }
    }

    /// Replaces the observer.
    #[must_use]
    pub fn with_observer<P: Observer>(self, observer: P) -> Emulator<P> {
        let Emulator { topology, names, ports, framing, station, packets, ready, fetched, .. } = self;
        let Emulator { counts, since, route_of, .. } = self;
        Emulator {
            topology,
            route_of,
            names,
            ports,
            framing,
            station,
            packets,
            ready,
            fetched,
            counts,
            since,
            observer,
        }
    }

    /// Handles a packet that came in by `port`, whatever its bytes are.
    pub fn handle_packet(&mut self, now: Time, port: usize, bytes: &[u8]) {
        self.advance(now);
        let header = Header::read(self.framing, bytes);
        let counts = &mut self.counts[port];
        let Some(out) = way_out(&self.ports, port, header.destination(bytes)) else {
            counts.refused_unreachable += 1;
            return;
        };
        let [node, exit] = [port, out].map(|port| self.ports[port].node);
        let route = match self.route_of.get(&[node, exit]) {
            Some(route) => *route,
            None if node == exit => RouteId::default(),
            None => {
                counts.refused_unreachable += 1;
                return;
            }
        };
        let to = Destination { port: out as u16, exit, route };
        let Some(id) = self.packets.insert(bytes, header, port as u16, to) else {
            counts.refused_memory += 1;
            return;
        };
        counts.entered_packets += 1;
        counts.entered_bytes += u64::from(header.bytes);
        self.observer.entered(now, port, bytes);
        self.arrive(now, id, node);
    }

    /// Returns the next packet that has left the path by `now`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit<'_>> {
        self.advance(now);
        let (id, due) = self.ready.pop_front()?;
        let packet = self.packets.get_mut(id);
        let port = usize::from(packet.to.port);
        self.fetched.clear();
        self.fetched.extend_from_slice(&packet.bytes);
        self.packets.remove(id);
        Some(Transmit { port, bytes: &self.fetched, due })
    }

    /// When to call [`poll_transmit`](Emulator::poll_transmit) next.
    pub fn poll_timeout(&self) -> Time {
        self.ready.front().map_or_else(|| self.topology.next().0.min(self.release()), |&(_, due)| due)
    }

    /// What became of packets, by the port at which they came in.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// Packets that have been neither lost nor fetched.
    pub fn under_way(&self) -> usize {
        self.packets.len()
    }

    /// Each link's forward and reverse direction, in path order, since the beginning or the last
    /// [`reset_stats`](Emulator::reset_stats).
    pub fn link_records(&mut self, now: Time) -> Vec<LinkRecord> {
        self.advance(now);
        self.names.links(&mut self.topology, now, now.since(self.since))
    }

    /// The media that links share, over the same time.
    pub fn medium_records(&mut self, now: Time) -> Vec<MediumRecord> {
        self.advance(now);
        self.names.media(&mut self.topology, now)
    }

    /// Each link's queues as they are now, in the order of [`link_records`](Emulator::link_records).
    pub fn queue_views(&mut self, now: Time) -> Vec<QueueView> {
        self.advance(now);
        self.topology.sides().map(|side| self.topology.side_mut(side).queue_view(now)).collect()
    }

    /// Starts counting anew, at the end of a warm-up.
    pub fn reset_stats(&mut self, now: Time) {
        self.advance(now);
        self.topology.sides().for_each(|side| self.topology.side_mut(side).reset_stats(now));
        self.counts.fill(Counts::default());
        self.since = now;
    }

    pub fn observer(&mut self) -> &mut O {
        &mut self.observer
    }

    pub fn into_observer(self) -> O {
        self.observer
    }

    /// Handles everything that happens until `now`, each thing at its own time.
    fn advance(&mut self, now: Time) {
        loop {
            let (at, side) = self.topology.next();
            let release = self.release();
            if at.min(release) > now {
                return;
            }
            // As in the simulator, links come before timers.
            if release < at {
                self.on_release(release);
            } else if let Some(output) = self.topology.poll(at, side) {
                self.on_output(at, side, output);
            }
        }
    }

    /// When the station will release the next packet.
    fn release(&self) -> Time {
        self.station.as_ref().map_or(Time::NEVER, Station::poll_timeout)
    }

    fn on_release(&mut self, now: Time) {
        let Some(station) = &mut self.station else { return };
        let node = station.node();
        for id in station.released(now) {
            let side = self.topology.way_out(self.packets.get(id).to.route, node);
            self.send(now, id, side);
        }
    }

    fn on_output(&mut self, now: Time, side: Side, output: Output) {
        match output.fate {
            Fate::Lost(cause) => self.lose(output.id, cause, output.at),
            Fate::Delivered => {
                self.packets.get_mut(output.id).header.ecn = output.ecn;
                self.arrive(now, output.id, self.topology.far_node(side));
            }
        }
    }

    /// A packet has come to `node`, where it leaves the path, is held by the station, or takes the next link.
    fn arrive(&mut self, at: Time, id: u32, node: u16) {
        let packet = self.packets.get(id);
        if packet.to.exit == node {
            return self.deliver(at, id);
        }
        let side = self.topology.way_out(packet.to.route, node);
        let station = self.station.as_mut().filter(|station| station.node() == node);
        if !station.is_some_and(|station| station.holds(at, id, packet, side.direction())) {
            self.send(at, id, side);
        }
    }

    fn send(&mut self, at: Time, id: u32, side: Side) {
        let Header { bytes, flow, ecn, is_header, .. } = self.packets.get(id).header;
        self.topology.send(at, side, Item { id, bytes, flow, is_header, ecn });
    }

    fn deliver(&mut self, due: Time, id: u32) {
        let packet = self.packets.get_mut(id);
        let counts = &mut self.counts[usize::from(packet.from)];
        counts.delivered_packets += 1;
        counts.delivered_bytes += u64::from(packet.header.bytes);
        if packet.header.ecn == Ecn::Ce && packet.header.mark(&mut packet.bytes) {
            counts.marked_packets += 1;
        }
        self.observer.delivered(due, usize::from(packet.to.port), &packet.bytes);
        self.ready.push_back((id, due));
    }

    fn lose(&mut self, id: u32, cause: DropCause, at: Time) {
        let packet = self.packets.get(id);
        self.counts[usize::from(packet.from)].add_lost(cause);
        self.observer.lost(at, cause, usize::from(packet.from), &packet.bytes);
        self.packets.remove(id);
    }
}

#[cfg(test)]
mod tests;
