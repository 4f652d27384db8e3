//! The engine: what happens at each event. See [`crate::run()`] for the loop around it.

use crate::ahead::Arrival;
use crate::circuit::{Circuit, ENTRY, EXIT};
use crate::ends::Ends;
use crate::flow::{Carried, Flow, Handler, RECEIVER, SENDER, Totals};
use crate::network::Network;
use crate::packet::{Load, Packet};
use crate::parcel::Parcel;
use crate::sampling;
use crate::shortcut;
use crate::stage::Stage;
use crate::station::{Station, put_out};
use crate::timer::{Clock, Schedule, Timer};
use crate::topology::Side;
use crate::transfers::Transfers;
use airtcp_proto::marks::{self, Mark};
use airtcp_proto::path::{Fate, Output};
use airtcp_proto::prefetch::prefetch;
use airtcp_proto::queue::DropCause;
use airtcp_wire::{Dur, Ecn, Header, SackBlocks, Segment, Time};

pub struct Engine {
    stage: Stage,
    ends: Ends,
    stations: Vec<Station>,
    circuits: Vec<Circuit>,
}

/// The state of a run at its end.
pub struct Finished {
    pub network: Network,
    pub flows: Vec<Flow>,
    pub circuits: Vec<Circuit>,
    /// Sums over each flow's connections, ended ones included.
    pub totals: Vec<Totals>,
    /// What was done within other events, but would else have been events.
    pub included_events: u64,
}

impl Engine {
    pub fn new(network: Network, flows: Vec<Flow>, stations: Vec<Station>, circuits: Vec<Circuit>) -> Engine {
        let mut engine = Engine {
            stage: Stage {
                network,
                schedule: Schedule::new(stations.len(), circuits.len()),
                end: Time::ZERO,
            },
            ends: Ends { flows, transfers: Transfers::new(circuits.last().map_or(0, Circuit::next_number)) },
            stations,
            circuits,
        };
        let Engine { stage, ends, stations, circuits } = &mut engine;
        shortcut::foresee(stage, ends, stations, circuits);
        engine.schedule_all();
        engine
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

    /// Sets when the warm-up ends, if the run has one, and when the run does.
    pub fn set_ends(&mut self, warm_up: Option<Time>, end: Time) {
        self.stage.end = end;
        self.stage.network.topology.set_end(end);
        self.stage.network.set_horizon(warm_up.unwrap_or(end));
        if let Some(warm_up) = warm_up {
            self.stage.schedule.set(Timer::WarmUp, warm_up);
        }
    }

    /// Handles the next event. Returns `false` if there is none until `end`. At the same instant, links go before
    /// timers.
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

    /// Handles what arrives from the end that is ahead, and the following arrivals until another event comes first.
    #[inline(never)]
    fn on_arrivals(&mut self, end: Time) {
        loop {
            match self.stage.network.ahead.pop_arrival() {
                Some(arrival) => self.on_arrival(arrival),
                None => self.on_returning(),
            }
            if !self.moves_on_to_arrival(end) {
                return;
            }
        }
    }

    /// Moves time on to the next arrival, if it comes before all other events and `end`. Returns whether it does.
    #[inline(always)]
    fn moves_on_to_arrival(&mut self, end: Time) -> bool {
        let at = self.stage.network.ahead.next();
        let moves_on = at <= end && self.stage.is_next_arrival(at);
        if moves_on {
            self.ends.catch_up(at);
            self.stage.network.now = at;
            self.stage.network.ahead.events += 1;
        }
        moves_on
    }

    #[inline(always)]
    fn on_arrival(&mut self, arrival: Arrival) {
        if self.ends.are_many() {
            self.look_ahead_in_arrivals();
        }
        match arrival {
            Arrival::Ack { endpoint, header } => self.deliver_ack(endpoint, &header, &SackBlocks::NONE),
            _ => self.deliver_arrival(arrival),
        }
    }

    /// Handles an answer that reaches a station.
    #[inline(never)]
    fn on_returning(&mut self) {
        if let Some((at, arrival)) = self.stage.network.ahead.pop_returning() {
            self.pass_station(at, &arrival);
        }
    }

    /// Delivers what was foreseen to arrive now.
    // By value, so that the caller can keep the ACKs that it handles itself in registers.
    #[inline(never)]
    fn deliver_arrival(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Data { endpoint, header, offset } => self.deliver_new_data(endpoint, &header, offset),
            Arrival::Ack { endpoint, header } => self.deliver_ack(endpoint, &header, &SackBlocks::NONE),
            Arrival::SackedAck { endpoint, header } => {
                let blocks = self.stage.network.ahead.pop_blocks();
                self.deliver_ack(endpoint, &header, &blocks);
            }
            Arrival::HeaderAck { circuit, header } => self.deliver_header_ack(circuit, &header),
            Arrival::Kept(id) => self.deliver(id),
        }
    }

    /// Delivers new data that is not in the slab.
    fn deliver_new_data(&mut self, endpoint: u32, header: &Header, offset: u64) {
        self.count_at_circuit(self.ends.transfers.get(endpoint >> 1).flow);
        let Engine { ends, stage, .. } = self;
        let data = ends.connected(stage, endpoint).new_data(header, offset);
        if !ends.deliver_data(stage, endpoint, &data) {
            self.deliver_segment(endpoint ^ 1, &header.into(), &data);
        }
    }

    /// Delivers an ACK that is not in the slab.
    #[inline(always)]
    fn deliver_ack(&mut self, endpoint: u32, ack: &Header, sack: &SackBlocks) {
        if !self.deliver_expected_ack(endpoint, ack, sack) {
            let segment = Segment { sack: *sack, ..ack.into() };
            self.deliver_segment(endpoint, &segment, &Parcel::new(*ack, 0, Ecn::NotEct));
        }
    }

    /// Delivers an ACK if the sender expects it. Returns whether it does; if not, nothing has changed.
    #[inline(always)]
    fn deliver_expected_ack(&mut self, endpoint: u32, ack: &Header, sack: &SackBlocks) -> bool {
        let Engine { ends, stage, .. } = self;
        let Some(circuit) = ends.deliver_ack(stage, endpoint, ack, sack) else { return false };
        self.send_by_circuit(circuit, endpoint);
        true
    }

    fn deliver_header_ack(&mut self, circuit: u16, ack: &Header) {
        let Engine { ends, circuits, stage, .. } = self;
        circuits[usize::from(circuit)].handle_arrival(stage, ends, ack);
    }

    /// Handles the next timer by this clock. One that was set to a time in the past expires now.
    fn on_next_timer(&mut self, at: Time, clock: Clock) {
        self.stage.schedule.go_by(clock);
        self.stage.network.now = self.stage.network.now.max(at);
        if let Some(timer) = self.stage.schedule.pop() {
            self.on_timer(timer);
        }
        self.stage.schedule.go_by(Clock::Run);
    }

    /// Delivers what was sent to the end that is ahead, and takes what is sent there past the stations on the way.
    fn deliver_ahead(&mut self) {
        let now = self.stage.network.now;
        loop {
            if let Some((at, arrival)) = self.stage.network.ahead.pop_sent() {
                self.pass_timers_ahead(at);
                self.at_time_ahead(at, |engine| engine.deliver_arrival(arrival));
            } else if let Some((at, arrival)) = self.stage.network.ahead.pop_entering() {
                self.pass_timers_ahead(at);
                while let Some((at, returning)) = self.stage.network.ahead.pop_returning_before(at) {
                    self.at_time_ahead(at, |engine| engine.pass_station(at, &returning));
                }
                self.at_time_ahead(at, |engine| engine.pass_station(at, &arrival));
            } else {
                break;
            }
        }
        self.stage.network.now = now;
    }

    /// Handles an event at the end that is ahead.
    #[inline(always)]
    fn at_time_ahead(&mut self, at: Time, event: impl FnOnce(&mut Engine)) {
        self.stage.schedule.go_by(Clock::Ahead);
        self.stage.network.now = at;
        self.stage.network.ahead.events += 1;
        marks::hit(Mark::Ahead);
        event(self);
        self.stage.schedule.go_by(Clock::Run);
    }

    /// Takes what has reached the stations that are ahead past them.
    fn pass_station(&mut self, at: Time, arrival: &Arrival) {
        let Some(node) = self.stage.network.ahead.station else { return };
        if let Arrival::Kept(id) = *arrival {
            return self.pass_stations(id, node);
        }
        let Engine { stage, ends, stations, .. } = self;
        if let Some(station) = shortcut::pass_station(stage, ends, stations, at, arrival) {
            self.leave_station(station);
        }
    }

    /// Handles the timers at the end that is ahead that expire before `end`.
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

    /// Handles one packet that comes out of a link. If another one comes out at this instant, that is another event.
    #[inline]
    fn on_link(&mut self, side: Side) {
        if let Some((id, plain_end)) = self.stage.network.poll_intact(side) {
            if self.ends.are_many() {
                self.look_ahead(side);
            }
            return match self.stage.network.packets.get(id).exit == plain_end {
                true => self.deliver(id),
                false => self.arrive(id, self.stage.network.topology.far_node(side)),
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
            Fate::Delivered => self.arrive(id, self.stage.network.topology.far_node(side)),
            Fate::Lost(cause) => {
                self.report_drop(id, cause, side);
                self.lose(id, cause, at);
            }
        }
    }

    /// Prefetches what the packets that come out of a link next will need, step by step: each step needs what the step
    /// before fetched some packets earlier.
    #[inline]
    fn look_ahead(&self, side: Side) {
        let Network { topology, packets, .. } = &self.stage.network;
        let endpoint = |skipped| match packets.get(topology.peek(side, skipped)?).load {
            Load::Tcp { endpoint } => Some(endpoint),
            _ => None,
        };
        topology.prefetch(side, 24);
        self.look_at_packet(side, 8);
        if let Some(endpoint) = endpoint(6) {
            self.ends.prefetch_ends(endpoint >> 1, &[(endpoint & 1) as usize]);
        }
        if let Some(endpoint) = endpoint(4) {
            self.ends.prefetch_halves(endpoint >> 1, &[(endpoint & 1) as usize]);
        }
        if let Some(endpoint) = endpoint(2) {
            self.ends.prefetch_beyond_ends(endpoint >> 1, &[(endpoint & 1) as usize]);
        }
    }

    /// Prefetches the packet that comes out of a link after this number of others. Where packets overtake, they are
    /// scattered.
    #[inline]
    fn look_at_packet(&self, side: Side, skipped: usize) {
        let Network { topology, packets, .. } = &self.stage.network;
        topology.peek(side, skipped).map(|id| packets.get(id)).into_iter().for_each(prefetch);
    }

    /// Prefetches what the next arrivals will need, and the segments that they release.
    #[inline]
    fn look_ahead_in_arrivals(&self) {
        let arrivals = &self.stage.network.ahead.arrivals;
        arrivals.get(16).into_iter().for_each(prefetch);
        let endpoint = |skipped| arrivals.get(skipped).and_then(|(_, arrival)| arrival.endpoint());
        if let Some(endpoint) = endpoint(12) {
            self.ends.prefetch_ends(endpoint >> 1, &[SENDER, RECEIVER]);
        }
        if let Some(endpoint) = endpoint(8) {
            self.ends.prefetch_halves(endpoint >> 1, &[SENDER, RECEIVER]);
        }
        if let Some(endpoint) = endpoint(4) {
            self.ends.prefetch_beyond_ends(endpoint >> 1, &[SENDER, RECEIVER]);
        }
    }

    /// Prefetches the connection whose timer comes up next.
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

    /// Handles a packet that reaches a node.
    #[inline(always)]
    fn arrive(&mut self, id: u32, node: u16) {
        if self.stage.network.topology.has_station(node) {
            return self.pass_stations(id, node);
        }
        self.leave_node(id, node);
    }

    /// Sends a packet on from a node, past its stations.
    #[inline(always)]
    fn leave_node(&mut self, id: u32, node: u16) {
        match self.stage.network.packets.get(id).exit == node {
            true => self.deliver(id),
            false => self.stage.network.forward(id, node),
        }
    }

    /// Takes a packet past the stations at a node. Those that serve other flows do not see it.
    #[inline(never)]
    fn pass_stations(&mut self, id: u32, node: u16) {
        let packet = self.stage.network.packets.get(id);
        if packet.load.is_control() {
            return self.leave_node(id, node);
        }
        let flow = &self.ends.flows[packet.flow as usize];
        let mut repairing = None;
        for &(_, Carried { circuit, direction }) in flow.counted_at.iter().filter(|(at, _)| *at == node) {
            let index = usize::from(circuit);
            if packet.direction == direction {
                self.circuits[index].handle_exit(&self.stage.network, id);
                repairing = Some(index);
            }
        }
        let handler = flow.handler_at(node);
        if let Some(circuit) = repairing {
            self.deliver_recovered(circuit);
        }
        match handler {
            Some(Handler::Circuit(carried)) => self.at_circuit(carried, id, node),
            Some(Handler::Station(station)) => self.at_station(usize::from(station), id, node),
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
            self.ends.retire_when_over(&self.stage, endpoint >> 1);
        }
    }

    fn on_station(&mut self, index: usize) {
        self.stations[index].handle_timeout(&self.stage);
        self.leave_station(index);
    }

    /// Sends what a station has put out.
    fn leave_station(&mut self, index: usize) {
        let node = self.stations[index].node;
        if !self.stations[index].out.is_empty() {
            let mut out = std::mem::take(&mut self.stations[index].out);
            for packet in out.drain(..) {
                if let Some(id) = put_out(&mut self.stage, &mut self.ends, &packet) {
                    self.leave_node(id, node);
                }
            }
            self.stations[index].out = out;
        }
        self.stations[index].schedule(&mut self.stage);
    }

    /// Reports to the station in front of a queue that the queue has dropped a packet of a flow that the station
    /// serves.
    #[cold]
    fn report_drop(&mut self, id: u32, cause: DropCause, side: Side) {
        let packet = self.stage.network.packets.get(id);
        if cause.is_congestion()
            && !packet.load.is_control()
            && let Some(Handler::Station(station)) =
                self.ends.flows[packet.flow as usize].handler_at(self.stage.network.topology.near_node(side))
        {
            let station = &mut self.stations[usize::from(station)];
            station.handle_drop(&self.stage, id);
            station.schedule(&mut self.stage);
        }
    }

    /// Handles a packet of one of the circuit's flows at the sender's node: what it carries enters the tunnel, the rest passes by.
    fn at_circuit(&mut self, carried: Carried, id: u32, node: u16) {
        let Engine { ends, circuits, stage, .. } = self;
        let circuit = &mut circuits[usize::from(carried.circuit)];
        let packet = stage.network.packets.get(id);
        if packet.direction == carried.direction {
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

    /// Lets the sending end of a connection send through the circuit of its flow alone, if there is one.
    #[inline(always)]
    fn send_by_circuit(&mut self, circuit: Option<u16>, endpoint: u32) {
        if let Some(circuit) = circuit {
            let Engine { ends, circuits, stage, .. } = self;
            circuits[usize::from(circuit)].serve(stage, ends, endpoint);
        }
    }

    /// Delivers a packet that has reached its end of the path.
    #[inline(always)]
    fn deliver(&mut self, id: u32) {
        let &Packet { load, flow, .. } = self.stage.network.packets.get(id);
        let Load::Tcp { endpoint } = load else {
            return self.deliver_other(id);
        };
        if (endpoint & 1) as usize == RECEIVER {
            self.leave_circuit(flow, id);
        }
        if self.stage.network.is_watched {
            return self.deliver_watched(id, endpoint);
        }
        let is_expected = match (endpoint & 1) as usize {
            SENDER => self.deliver_kept_ack(id, endpoint),
            _ => self.deliver_kept_data(id, endpoint),
        };
        match is_expected {
            true => self.stage.network.packets.remove(id),
            false => self.deliver_kept_segment(id, endpoint),
        }
    }

    #[inline(never)]
    fn deliver_kept_ack(&mut self, id: u32, endpoint: u32) -> bool {
        let packets = &self.stage.network.packets;
        let (ack, sack) = (packets.get(id).header, *packets.sack(id));
        self.deliver_expected_ack(endpoint, &ack, &sack)
    }

    #[inline(never)]
    fn deliver_kept_data(&mut self, id: u32, endpoint: u32) -> bool {
        let Engine { ends, stage, .. } = self;
        let packets = &stage.network.packets;
        let (data, is_header_all) = (packets.parcel(id), packets.is_header_all(id));
        is_header_all && ends.deliver_data(stage, endpoint ^ 1, &data)
    }

    #[inline(never)]
    fn deliver_kept_segment(&mut self, id: u32, endpoint: u32) {
        let packets = &mut self.stage.network.packets;
        let (segment, parcel) = (packets.segment(id), packets.parcel(id));
        packets.remove(id);
        self.deliver_segment(endpoint, &segment, &parcel);
    }

    /// Delivers any packet of a connection. `segment` is all of it.
    #[inline(never)]
    fn deliver_segment(&mut self, endpoint: u32, segment: &Segment, parcel: &Parcel) {
        let Engine { ends, stage, .. } = self;
        let circuit = ends.deliver_segment(stage, endpoint, segment, parcel);
        self.send_by_circuit(circuit, endpoint);
    }

    /// Counts a packet that reaches its receiver where it leaves its circuit.
    #[inline(always)]
    fn count_at_circuit(&mut self, flow: u32) {
        if let Some(circuit) = self.ends.flows[flow as usize].counted_by {
            self.circuits[usize::from(circuit)].on_delivered();
        }
    }

    /// Takes a packet in the slab that reaches its receiver out of its circuit, if one ends there.
    #[inline(always)]
    fn leave_circuit(&mut self, flow: u32, id: u32) {
        if let Some(circuit) = self.ends.flows[flow as usize].counted_by {
            self.circuits[usize::from(circuit)].handle_exit(&self.stage.network, id);
            self.deliver_recovered(circuit.into());
        }
    }

    /// Sends on what a circuit has recovered.
    #[inline]
    fn deliver_recovered(&mut self, index: usize) {
        let node = self.circuits[index].site.nodes[EXIT];
        while self.circuits[index].repairs_data() {
            let Engine { ends, circuits, stage, .. } = self;
            let Some(id) = circuits[index].poll_recovered(&mut stage.network, ends) else { return };
            self.leave_node(id, node);
        }
    }

    #[inline(never)]
    fn deliver_watched(&mut self, id: u32, endpoint: u32) {
        self.deliver_kept_segment(id, endpoint);
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
            Load::Repair => {
                circuits[index].handle_exit(&stage.network, id);
                stage.network.packets.remove(id);
                self.deliver_recovered(index);
            }
            Load::Tcp { .. } | Load::Udp => {
                self.leave_circuit(flow, id);
                self.ends.deliver_datagram(&mut self.stage.network, id);
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
        let Stage { mut network, schedule, .. } = stage;
        // Timers and what is still under way no longer matter, and the records need their memory.
        drop(schedule);
        let events_ahead = std::mem::take(&mut network.ahead).events;
        let included_events = network.topology.passes() + events_ahead;
        let totals = transfers.totals(&flows);
        Finished { network, flows, circuits, totals, included_events }
    }

    /// The largest numbers of connections and packets that there were at once.
    #[cfg(test)]
    pub fn places(&self) -> (usize, usize) {
        (self.ends.transfers.len(), self.stage.network.packets.places())
    }

    /// Ends the warm-up: all counts start again.
    fn begin_measurement(&mut self) {
        self.ends.transfers.begin_measurement(&mut self.ends.flows);
        let now = self.stage.network.now;
        self.circuits.iter_mut().for_each(|circuit| circuit.begin_measurement(now));
        for side in self.stage.network.topology.sides() {
            self.stage.network.topology.side_mut(side).reset_stats(self.stage.network.now);
        }
        self.stage.network.set_horizon(self.stage.end);
    }

    /// Takes all samples, and schedules the next ones.
    fn sample(&mut self) {
        sampling::sample(&mut self.stage.network, &self.ends, &self.circuits);
        if let Some(recorder) = &self.stage.network.recorder {
            self.stage.schedule.set(Timer::Sample, self.stage.network.now + recorder.interval);
        }
    }
}
