//! The engine: what happens at each event. See [`crate::run()`] for the loop around it.

use crate::ahead::{Arrival, Entry, StationNode, What};
use crate::circuit::{Circuit, ENTRY, EXIT};
use crate::ends::Ends;
use crate::flow::{Flow, RECEIVER, SENDER, Totals};
use crate::network::Network;
use crate::packet::{Load, Packet};
use crate::sampling;
use crate::stage::Stage;
use crate::station::{Station, Stop};
use crate::timer::{Clock, Schedule, Timer};
use crate::topology::Side;
use crate::transfers::Transfers;
use airtcp_proto::middlebox::Direction;
use airtcp_proto::path::{Fate, Output};
use airtcp_proto::prefetch::prefetch;
use airtcp_proto::queue::DropCause;
use airtcp_wire::{Dur, Header, SackBlocks, Time};
use std::collections::BTreeSet;

pub struct Engine {
    stage: Stage,
    ends: Ends,
    stations: Vec<Station>,
    circuits: Vec<Circuit>,
}

/// What a run has come to.
pub struct Finished {
    pub network: Network,
    pub flows: Vec<Flow>,
    pub circuits: Vec<Circuit>,
    /// What each flow's connections have come to, ended ones included.
    pub totals: Vec<Totals>,
    /// What would have been an event, had it not been done with another.
    pub included_events: u64,
}

impl Engine {
    pub fn new(network: Network, flows: Vec<Flow>, stations: Vec<Station>, circuits: Vec<Circuit>) -> Engine {
        let mut engine = Engine {
            stage: Stage {
                network,
                schedule: Schedule::new(flows.len(), stations.len(), circuits.len()),
                end: Time::ZERO,
            },
            ends: Ends::new(flows, Transfers::new(circuits.last().map_or(0, Circuit::next_number))),
            stations,
            circuits,
        };
        engine.lead_on();
        engine.schedule_all();
        engine
    }

    /// Where nobody watches, packets pass the nodes at which no flow and no circuit begins or ends without an event.
    fn lead_on(&mut self) {
        if self.stage.network.is_watched() {
            return;
        }
        let ends = self.ends.flows.iter().flat_map(|flow| flow.nodes);
        let ends: BTreeSet<u16> =
            ends.chain(self.circuits.iter().flat_map(|circuit| circuit.place.nodes)).collect();
        self.stage.network.topology.lead_on(|node| !ends.contains(&node));
        self.run_ahead();
    }

    /// If all flows go to one end of the path, and what goes there and comes back can be foreseen, that end runs ahead. Stations
    /// that resend do not let it: what a receiver has got would tell too early what became of the sender's own copies.
    fn run_ahead(&mut self) {
        let Engine { ends, stations, circuits, stage, .. } = self;
        let topology = &mut stage.network.topology;
        let Some(direction) = ends.flows.first().map(|flow| flow.direction) else { return };
        let end = topology.end(direction);
        let is_one_way = circuits.iter().all(|circuit| circuit.place.direction == direction)
            && ends.flows.iter().all(|flow| flow.direction == direction && flow.nodes[RECEIVER] == end);
        if is_one_way && !stations.iter().any(Station::resends) && topology.foresee_round_trips(direction) {
            let station = stations_ahead(stations, circuits, &ends.flows, direction)
                .filter(|&node| topology.foresee_station(node, direction));
            for flow in &mut ends.flows {
                let stops_ahead = flow.stops.iter().all(|(node, _)| Some(*node) == station);
                let is_countable = flow.counted_by.is_none_or(|circuit| flow.circuit == Some(circuit));
                flow.runs_ahead = stops_ahead && is_countable;
                flow.station_ahead = station.and_then(|node| flow.stop_at(node)).and_then(Stop::station);
            }
            (stage.network.ahead.direction, stage.network.ahead.station) = (Some(direction), station);
        }
    }

    fn schedule_all(&mut self) {
        for flow in 0..self.ends.flows.len() {
            self.ends.schedule_source(&mut self.stage, flow);
        }
        for station in &self.stations {
            station.schedule(&mut self.stage);
        }
        for circuit in &self.circuits {
            circuit.schedule(&mut self.stage, ENTRY);
            circuit.schedule(&mut self.stage, EXIT);
        }
        if let Some(recorder) = &self.stage.network.recorder
            && recorder.interval > Dur::ZERO
        {
            self.stage.schedule.set(Timer::Sample, Time::ZERO + recorder.interval);
        }
    }

    pub fn now(&self) -> Time {
        self.stage.network.now
    }

    /// The run ends then; what comes before the end of its warm-up, if it has one, is not counted.
    pub fn set_ends(&mut self, warm_up: Option<Time>, end: Time) {
        self.stage.end = end;
        self.stage.network.topology.set_end(end);
        self.stage.network.set_horizon(warm_up.unwrap_or(end));
        if let Some(warm_up) = warm_up {
            self.stage.schedule.set(Timer::WarmUp, warm_up);
        }
    }

    /// Handles the next event unless it comes after `end`. Links go before timers of the same instant.
    #[inline]
    pub fn step(&mut self, end: Time) -> bool {
        let (at, side) = self.stage.network.topology.next();
        let (timer_at, clock) = self.stage.schedule.next();
        let arrival_at = self.stage.network.ahead.next();
        if at.min(timer_at).min(arrival_at) > end {
            return false;
        }
        self.ends.catch_up(at.min(timer_at).min(arrival_at));
        if arrival_at < at && arrival_at <= timer_at {
            self.stage.network.now = arrival_at;
            self.on_arrivals(end);
        } else if at <= timer_at {
            self.stage.network.now = at;
            self.on_link(side);
        } else {
            self.on_next_timer(timer_at, clock);
            self.look_at_next_timer();
        }
        while let Some((id, node)) = self.stage.network.sent_at_station.pop_front() {
            self.pass_stations(id, node);
        }
        if self.stage.network.ahead.is_waiting() {
            self.deliver_ahead();
        }
        true
    }

    /// What came from the end of the path that is ahead has come to the other one, and so does what comes next, as long as nothing
    /// else happens before.
    #[inline(never)]
    fn on_arrivals(&mut self, end: Time) {
        loop {
            self.on_arrival();
            let at = self.stage.network.ahead.next();
            if at > end || !self.stage.is_next_arrival(at) {
                break;
            }
            self.ends.catch_up(at);
            self.stage.network.now = at;
            self.stage.network.ahead.events += 1;
        }
    }

    #[inline(always)]
    fn on_arrival(&mut self) {
        if let Some(returning) = self.stage.network.ahead.pop_returning() {
            return self.pass_returning(&returning);
        }
        let Some(arrival) = self.stage.network.ahead.pop_arrival() else { return };
        let header = arrival.header();
        if self.ends.are_many() {
            self.look_ahead_in_arrivals();
        }
        match arrival.what() {
            What::Plain(endpoint) => self.deliver_arrival(endpoint, &header),
            What::Sacked(endpoint) => self.deliver_sacked(endpoint, &header),
            What::HeaderAck(circuit) => self.deliver_header_ack(circuit, &header),
            What::Packet(id) => self.deliver(id),
        }
    }

    /// A plain ACK that is no packet has come to the sender.
    #[inline(always)]
    fn deliver_arrival(&mut self, endpoint: u32, ack: &Header) {
        let Engine { ends, stage, .. } = self;
        match ends.deliver_arrival(stage, endpoint, ack, &SackBlocks::NONE) {
            Some(circuit) => self.send_by_circuit(circuit, endpoint),
            None => self.deliver_as_packet(endpoint, *ack, &SackBlocks::NONE),
        }
    }

    /// The same of one with SACK blocks.
    #[inline(never)]
    fn deliver_sacked(&mut self, endpoint: u32, ack: &Header) {
        let Engine { ends, stage, .. } = self;
        let blocks = stage.network.ahead.pop_blocks();
        match ends.deliver_arrival(stage, endpoint, ack, &blocks) {
            Some(circuit) => self.send_by_circuit(circuit, endpoint),
            None => self.deliver_as_packet(endpoint, *ack, &blocks),
        }
    }

    /// It becomes a packet after all.
    #[cold]
    fn deliver_as_packet(&mut self, endpoint: u32, ack: Header, sack: &SackBlocks) {
        let id = self.ends.put_arrival(&mut self.stage.network, endpoint, ack, sack);
        self.deliver_segment(id, endpoint);
    }

    /// An ACK that is no packet has come to a circuit's sender.
    #[inline(never)]
    fn deliver_header_ack(&mut self, circuit: u32, ack: &Header) {
        let Engine { ends, circuits, stage, .. } = self;
        circuits[circuit as usize].handle_arrival(stage, ends, ack);
    }

    /// A timer that was set to a time that was over already expires now.
    fn on_next_timer(&mut self, at: Time, clock: Clock) {
        self.stage.schedule.go_by(clock);
        self.stage.network.now = self.stage.network.now.max(at);
        if let Some(timer) = self.stage.schedule.pop() {
            self.on_timer(timer);
        }
        self.stage.schedule.go_by(Clock::Run);
    }

    /// Delivers what was sent to the end of the path that is [ahead](crate::ahead), if need be through stations.
    fn deliver_ahead(&mut self) {
        let now = self.stage.network.now;
        self.deliver_sent();
        while let Some(entry) = self.stage.network.ahead.pop_entering() {
            self.pass_timers_ahead(entry.at);
            while let Some(returning) = self.stage.network.ahead.pop_returning_before(entry.at) {
                self.at_time_ahead(returning.at, |engine| engine.pass_returning(&returning));
            }
            self.at_time_ahead(entry.at, |engine| engine.pass_entering(&entry));
            self.deliver_sent();
        }
        self.stage.network.now = now;
    }

    /// Timers that expire at the end of the path before go first.
    fn deliver_sent(&mut self) {
        while let Some(entry) = self.stage.network.ahead.pop_sent() {
            self.pass_timers_ahead(entry.at);
            self.at_time_ahead(entry.at, |engine| match entry.what {
                What::Packet(id) => engine.deliver(id),
                _ => engine.deliver_text(&entry),
            });
        }
    }

    /// New data that is no packet has come to the receiver.
    fn deliver_text(&mut self, entry: &Entry) {
        let Engine { ends, stage, .. } = self;
        if let Some((id, endpoint)) = ends.deliver_text(stage, entry) {
            self.deliver_segment(id, endpoint);
        }
    }

    /// An event that is ahead.
    #[inline(always)]
    fn at_time_ahead(&mut self, at: Time, event: impl FnOnce(&mut Engine)) {
        self.stage.schedule.go_by(Clock::Ahead);
        self.stage.network.now = at;
        self.stage.network.ahead.events += 1;
        event(self);
        self.stage.schedule.go_by(Clock::Run);
    }

    /// Something comes to stations that are ahead.
    fn pass_entering(&mut self, entry: &Entry) {
        let Some(node) = self.stage.network.ahead.station else { return };
        if let What::Packet(id) = entry.what {
            return self.pass_stations(id, node);
        }
        let Engine { stage, ends, stations, .. } = self;
        if let Some(station) = (StationNode { stage, ends, stations, node }).pass_text(entry) {
            self.leave_station(station);
        }
    }

    /// The same on its way back.
    fn pass_returning(&mut self, arrival: &Arrival) {
        let Some(node) = self.stage.network.ahead.station else { return };
        if let What::Packet(id) = arrival.what() {
            return self.pass_stations(id, node);
        }
        let Engine { stage, ends, stations, .. } = self;
        if let Some(station) = (StationNode { stage, ends, stations, node }).pass_ack(arrival) {
            self.leave_station(station);
        }
    }

    fn pass_timers_ahead(&mut self, end: Time) {
        loop {
            let at = self.stage.schedule.next_by(Clock::Ahead);
            if at >= end {
                break;
            }
            self.stage.network.ahead.events += 1;
            self.on_next_timer(at, Clock::Ahead);
        }
    }

    /// A link has something to give. If it has more at this instant, that is another event.
    #[inline]
    fn on_link(&mut self, side: Side) {
        if let Some((id, plain_end)) = self.stage.network.poll_intact(side) {
            if self.ends.are_many() {
                self.look_ahead(side);
            }
            return match self.stage.network.packets.get(id).exit == plain_end {
                true => self.deliver(id),
                false => self.arrive(id, side.far_node()),
            };
        }
        self.on_output(side);
    }

    #[inline(never)]
    fn on_output(&mut self, side: Side) {
        let Some(Output { id, at, fate, .. }) = self.stage.network.poll(side) else { return };
        match self.ends.are_many() {
            true => self.look_ahead(side),
            false => self.look_at_packet(side, 8),
        }
        match fate {
            Fate::Delivered => self.arrive(id, side.far_node()),
            Fate::Lost(cause) => {
                self.tell_station(id, cause, side);
                self.lose(id, cause, at);
            }
        }
    }

    /// Fetches what the packets that come out of a link next will need, by steps: what one has fetched, the next one, some
    /// packets later, looks at.
    #[inline]
    fn look_ahead(&self, side: Side) {
        let Network { topology, packets, .. } = &self.stage.network;
        let packet = |skipped| topology.peek(side, skipped).map(|id| packets.get(id));
        topology.prefetch(side, 24);
        packet(8).into_iter().for_each(prefetch);
        packet(4).into_iter().for_each(|packet| self.ends.prefetch_connection(packet));
        packet(1).into_iter().for_each(|packet| self.ends.prefetch_beyond_connection(packet));
    }

    /// Fetches the packet that comes out of a link after so many others: where they overtake, they are scattered.
    #[inline]
    fn look_at_packet(&self, side: Side, skipped: usize) {
        let Network { topology, packets, .. } = &self.stage.network;
        topology.peek(side, skipped).map(|id| packets.get(id)).into_iter().for_each(prefetch);
    }

    /// The same of what comes back from an end that is ahead.
    #[inline]
    fn look_ahead_in_arrivals(&self) {
        let arrivals = &self.stage.network.ahead.arrivals;
        let endpoint = |skipped| arrivals.get(skipped).and_then(|arrival| arrival.what().endpoint());
        arrivals.get(16).into_iter().for_each(prefetch);
        endpoint(8).into_iter().for_each(|endpoint| self.ends.prefetch_transfer(endpoint));
        endpoint(4).into_iter().for_each(|endpoint| self.ends.prefetch_beyond_transfer(endpoint));
    }

    /// Fetches the connection whose timer comes up next.
    #[inline]
    fn look_at_next_timer(&self) {
        if self.ends.are_many()
            && let Some(Timer::Endpoint(endpoint)) = self.stage.schedule.peek()
        {
            self.ends.prefetch_for_timer(endpoint);
        }
    }

    fn on_timer(&mut self, timer: Timer) {
        match timer {
            Timer::WarmUp => self.begin_measurement(),
            Timer::Sample => self.sample(),
            Timer::Source(flow) => self.on_source(flow),
            Timer::Station(station) => self.on_station(station),
            Timer::Circuit(circuit, end) => self.on_circuit(circuit, end),
            Timer::Endpoint(endpoint) => self.on_endpoint(endpoint),
        }
    }

    fn on_endpoint(&mut self, endpoint: u32) {
        let Engine { ends, stage, .. } = self;
        let circuit = ends.handle_timer(stage, endpoint);
        self.send_by_circuit(circuit, endpoint);
    }

    fn on_source(&mut self, flow: usize) {
        let Engine { ends, stage, .. } = self;
        if let Some((circuit, endpoint)) = ends.handle_source(stage, flow) {
            self.send_by_circuit(Some(circuit), endpoint);
        }
    }

    /// A packet has come to a node.
    #[inline(always)]
    fn arrive(&mut self, id: u32, node: u16) {
        if self.stage.network.topology.has_station(node) {
            return self.pass_stations(id, node);
        }
        self.leave_node(id, node);
    }

    /// A packet leaves a node, past its stations.
    #[inline(always)]
    fn leave_node(&mut self, id: u32, node: u16) {
        match self.stage.network.packets.get(id).exit == node {
            true => self.deliver(id),
            false => self.stage.network.forward(id, node),
        }
    }

    /// A packet is at a node with stations. It passes by those that serve other flows.
    #[inline(never)]
    fn pass_stations(&mut self, id: u32, node: u16) {
        let packet = self.stage.network.packets.get(id);
        if packet.load.is_control() {
            return self.leave_node(id, node);
        }
        let flow = &self.ends.flows[packet.flow as usize];
        if let Some((at, circuit)) = flow.counted_at
            && at == node
        {
            self.circuits[usize::from(circuit)].on_passing(packet.direction);
        }
        match flow.stop_at(node) {
            Some(Stop::Circuit(circuit)) => self.at_circuit(usize::from(circuit), id, node),
            Some(Stop::Station(station)) => self.at_station(usize::from(station), id, node),
            None => self.leave_node(id, node),
        }
    }

    fn at_station(&mut self, index: usize, id: u32, node: u16) {
        let Engine { stage, ends, stations, .. } = self;
        let load = stage.network.packets.get(id).load;
        let goes_on = stations[index].handle_packet(stage, ends, id);
        if goes_on {
            self.leave_node(id, node);
        }
        self.leave_station(index);
        if !goes_on && let Load::Tcp { endpoint } = load {
            self.ends.look_whether_over(&self.stage, endpoint >> 1);
        }
    }

    fn on_station(&mut self, index: usize) {
        self.stations[index].handle_timeout(&self.stage);
        self.leave_station(index);
    }

    /// A station was called, and may have put something out.
    fn leave_station(&mut self, index: usize) {
        let node = self.stations[index].node;
        while let Some(id) = self.stations[index].poll_packet(&mut self.stage, &mut self.ends) {
            self.leave_node(id, node);
        }
        self.stations[index].schedule(&mut self.stage);
    }

    /// The station at a queue sees what that drops of its flows' packets.
    #[cold]
    fn tell_station(&mut self, id: u32, cause: DropCause, side: Side) {
        let packet = self.stage.network.packets.get(id);
        if cause.is_congestion()
            && !packet.load.is_control()
            && let Some(Stop::Station(station)) =
                self.ends.flows[packet.flow as usize].stop_at(side.near_node())
        {
            let station = &mut self.stations[usize::from(station)];
            station.handle_drop(&self.stage, id);
            station.schedule(&mut self.stage);
        }
    }

    /// A packet of one of the circuit's flows is at the sender's node: data enters the tunnel, what comes back passes by.
    fn at_circuit(&mut self, index: usize, id: u32, node: u16) {
        let Engine { ends, circuits, stage, .. } = self;
        let circuit = &mut circuits[index];
        let packet = stage.network.packets.get(id);
        if packet.direction == circuit.place.direction {
            return circuit.handle_data(stage, ends, id);
        }
        if let Load::Tcp { endpoint } = packet.load
            && let Some(packets) = circuit.window_told()
        {
            ends.transfers.get_mut(endpoint >> 1).ends[SENDER].repeat_first_every(packets);
        }
        self.leave_node(id, node);
    }

    fn on_circuit(&mut self, index: usize, end: usize) {
        let Engine { ends, circuits, stage, .. } = self;
        circuits[index].handle_timer(stage, ends, end);
    }

    /// The sending end of a connection may have something for the circuit that its flow alone uses, if there is one.
    #[inline(always)]
    fn send_by_circuit(&mut self, circuit: Option<u16>, endpoint: u32) {
        if let Some(circuit) = circuit {
            let Engine { ends, circuits, stage, .. } = self;
            circuits[usize::from(circuit)].serve(stage, ends, endpoint);
        }
    }

    /// A packet is where it goes.
    #[inline(always)]
    fn deliver(&mut self, id: u32) {
        let Load::Tcp { endpoint } = self.stage.network.packets.get(id).load else {
            return self.deliver_other(id);
        };
        if self.stage.network.is_watched() {
            return self.deliver_watched(id, endpoint);
        }
        let is_expected = match (endpoint & 1) as usize {
            SENDER => self.deliver_expected_ack(id, endpoint),
            _ => self.deliver_expected_data(id, endpoint),
        };
        if !is_expected {
            self.deliver_segment(id, endpoint);
        }
    }

    fn deliver_expected_data(&mut self, id: u32, endpoint: u32) -> bool {
        let Engine { ends, circuits, stage, .. } = self;
        ends.deliver_expected_data(stage, circuits, id, endpoint)
    }

    fn deliver_expected_ack(&mut self, id: u32, endpoint: u32) -> bool {
        let Engine { ends, stage, .. } = self;
        let Some(circuit) = ends.deliver_expected_ack(stage, id, endpoint) else { return false };
        self.send_by_circuit(circuit, endpoint);
        true
    }

    #[inline(never)]
    fn deliver_segment(&mut self, id: u32, endpoint: u32) {
        let Engine { ends, circuits, stage, .. } = self;
        let circuit = ends.deliver_segment(stage, circuits, id, endpoint);
        self.send_by_circuit(circuit, endpoint);
    }

    #[inline(never)]
    fn deliver_watched(&mut self, id: u32, endpoint: u32) {
        self.deliver_segment(id, endpoint);
        if (endpoint & 1) as usize == SENDER {
            sampling::sample_at_ack(&mut self.stage.network, &self.ends, &self.circuits, endpoint >> 1);
        }
    }

    #[inline(never)]
    fn deliver_other(&mut self, id: u32) {
        let &Packet { load, flow, .. } = self.stage.network.packets.get(id);
        let index = flow as usize;
        let Engine { ends, circuits, stage, .. } = self;
        match load {
            Load::Header { control, repeats } => circuits[index].handle_header(stage, id, control, repeats),
            Load::HeaderAck { control } => circuits[index].handle_header_ack(stage, ends, id, control),
            Load::Tcp { .. } | Load::Udp => {
                ends.deliver_datagram(&mut stage.network, circuits, id);
            }
        }
    }

    #[cold]
    fn lose(&mut self, id: u32, cause: DropCause, at: Time) {
        let &Packet { load, flow, .. } = self.stage.network.packets.get(id);
        match load.is_control() {
            true => {
                self.stage.network.packets.remove(id);
                self.circuits[flow as usize].lose(load);
            }
            false => self.ends.lose(&mut self.stage.network, id, cause, at),
        }
    }

    /// The run ends.
    pub fn finish(mut self, end: Time) -> Finished {
        self.stage.network.now = end;
        let Engine { stage, ends, circuits, .. } = self;
        let Ends { flows, transfers } = ends;
        let mut network = stage.network;
        // What is under way there matters no more, and its memory is needed for the records.
        let events_ahead = std::mem::take(&mut network.ahead).events;
        let included_events = network.topology.passes() + events_ahead;
        let totals = transfers.totals(&flows);
        Finished { network, flows, circuits, totals, included_events }
    }

    /// Places for connections and packets that there ever was need of.
    #[cfg(test)]
    pub fn places(&self) -> (usize, usize) {
        (self.ends.transfers.len(), self.stage.network.packets.places())
    }

    /// The warm-up is over: everything is counted anew.
    fn begin_measurement(&mut self) {
        self.ends.begin_measurement();
        let now = self.stage.network.now;
        self.circuits.iter_mut().for_each(|circuit| circuit.begin_measurement(now));
        for side in self.stage.network.topology.sides() {
            self.stage.network.topology.side_mut(side).reset_stats(self.stage.network.now);
        }
        self.stage.network.set_horizon(self.stage.end);
    }

    /// Samples everything, every so often.
    fn sample(&mut self) {
        sampling::sample(&mut self.stage.network, &self.ends, &self.circuits);
        if let Some(recorder) = &self.stage.network.recorder {
            self.stage.schedule.set(Timer::Sample, self.stage.network.now + recorder.interval);
        }
    }
}

/// The node with stations that can be [ahead](crate::ahead) with the end of the path in that direction: all senders are on its other
/// side.
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
