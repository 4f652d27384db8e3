//! The engine: what happens at each event. See [`crate::run`] for the loop around it.

use crate::circuit::{Circuit, ENTRY, EXIT};
use crate::flow::{Flow, Phase, RECEIVER, SENDER, Totals, Transfer};
use crate::network::{Network, UDP_HEADERS_BYTES};
use crate::packet::{Load, Packet, STATIONS_OWN};
use crate::prefetch::prefetch;
use crate::series::Recorder;
use crate::station::{self, Station, Stop};
use crate::timer::{Schedule, Timer};
use crate::topology::Side;
use crate::traffic::Action;
use crate::transfers::Transfers;
use airtcp_proto::middlebox::SeenPacket;
use airtcp_proto::path::{Fate, Output};
use airtcp_proto::queue::DropCause;
use airtcp_proto::tcp::Event;
use airtcp_wire::{Dur, Time};
use std::collections::BTreeSet;

pub struct Engine {
    network: Network,
    schedule: Schedule,
    flows: Vec<Flow>,
    stations: Vec<Station>,
    circuits: Vec<Circuit>,
    transfers: Transfers,
    /// What stations put out; empty between calls.
    scratch: Vec<SeenPacket>,
    packets_delivered: u64,
    end: Time,
}

/// What a run has come to.
pub struct Finished {
    pub network: Network,
    pub flows: Vec<Flow>,
    pub circuits: Vec<Circuit>,
    /// What each flow's connections have come to, ended ones included.
    pub totals: Vec<Totals>,
    pub packets_delivered: u64,
}

/// With no more connections than this, everything stays in the caches.
const FEW: usize = 32;

impl Engine {
    pub fn new(network: Network, flows: Vec<Flow>, stations: Vec<Station>, circuits: Vec<Circuit>) -> Engine {
        let mut engine = Engine {
            network,
            schedule: Schedule::new(flows.len(), stations.len(), circuits.len()),
            flows,
            stations,
            transfers: Transfers::new(circuits.last().map_or(0, Circuit::next_number)),
            circuits,
            scratch: Vec::new(),
            packets_delivered: 0,
            end: Time::ZERO,
        };
        engine.lead_on();
        engine.schedule_all();
        engine
    }

    /// Where nobody watches, packets pass the nodes at which no flow and no circuit begins or ends without an event.
    fn lead_on(&mut self) {
        if self.network.is_watched() {
            return;
        }
        let ends = self.flows.iter().flat_map(|flow| flow.nodes);
        let ends: BTreeSet<u16> =
            ends.chain(self.circuits.iter().flat_map(|circuit| circuit.place.nodes)).collect();
        self.network.topology.lead_on(|node| !ends.contains(&node));
    }

    fn schedule_all(&mut self) {
        for flow in 0..self.flows.len() {
            self.schedule.set(Timer::Source(flow), self.flows[flow].source.poll_timeout());
        }
        for station in 0..self.stations.len() {
            self.schedule_station(station);
        }
        for circuit in 0..self.circuits.len() {
            self.schedule_circuit(circuit, ENTRY);
            self.schedule_circuit(circuit, EXIT);
        }
        if let Some(recorder) = &self.network.recorder
            && recorder.interval > Dur::ZERO
        {
            self.schedule.set(Timer::Sample, Time::ZERO + recorder.interval);
        }
    }

    pub fn now(&self) -> Time {
        self.network.now
    }

    /// The run ends then; what comes before the end of its warm-up, if it has one, is not counted.
    pub fn set_ends(&mut self, warm_up: Option<Time>, end: Time) {
        self.end = end;
        self.network.topology.set_horizon(warm_up.unwrap_or(end));
        if let Some(warm_up) = warm_up {
            self.schedule.set(Timer::WarmUp, warm_up);
        }
    }

    /// Handles the next event unless it comes after `end`. Links go before timers of the same instant.
    #[inline]
    pub fn step(&mut self, end: Time) -> bool {
        let (at, side) = self.network.topology.next();
        let timer_at = self.schedule.next();
        if at.min(timer_at) > end {
            return false;
        }
        if at <= timer_at {
            self.network.now = at;
            self.on_link(side);
        } else {
            self.network.now = timer_at;
            if let Some(timer) = self.schedule.pop() {
                self.on_timer(timer);
            }
        }
        while let Some((id, node)) = self.network.sent_at_station.pop_front() {
            self.pass_stations(id, node);
        }
        true
    }

    /// A link has something to give. If it has more at this instant, that is another event.
    #[inline]
    fn on_link(&mut self, side: Side) {
        if let Some(id) = self.network.poll_intact(side) {
            if self.transfers.len() > FEW {
                self.look_ahead(side);
            }
            return self.arrive(id, side.far_node());
        }
        self.on_output(side);
    }

    #[inline(never)]
    fn on_output(&mut self, side: Side) {
        let Some(Output { id, at, fate, .. }) = self.network.poll(side) else { return };
        if self.transfers.len() > FEW {
            self.look_ahead(side);
        }
        match fate {
            Fate::Delivered => self.arrive(id, side.far_node()),
            Fate::Lost(cause) => {
                self.tell_station(id, cause, side);
                self.lose(id, cause, at);
            }
        }
    }

    /// Fetches what packets to come out of a link will need: of the fifth one the packet, of the third one, whose packet was
    /// fetched so before, the connection.
    #[inline]
    fn look_ahead(&self, side: Side) {
        let Network { topology, packets, .. } = &self.network;
        if let Some(id) = topology.peek(side, 4) {
            prefetch(packets.get(id));
        }
        if let Some(id) = topology.peek(side, 2)
            && let Packet { load: Load::Tcp { endpoint }, flow, .. } = packets.get(id)
        {
            let transfer = self.transfers.get(endpoint >> 1);
            prefetch(&transfer.ends[(endpoint & 1) as usize]);
            prefetch(&transfer.truth);
            prefetch(&self.flows[*flow as usize]);
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

    /// A timer of a connection may be due. If it is not, the connection is asked what it wants.
    fn on_endpoint(&mut self, endpoint: u32) {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        if transfer.phase == Phase::Retired {
            return;
        }
        let end = &mut transfer.ends[(endpoint & 1) as usize];
        match end.handle_due(self.network.now) {
            true => self.service(endpoint),
            false => self.schedule.set(Timer::Endpoint(endpoint), end.poll_timeout()),
        }
    }

    /// A packet has come to a node.
    #[inline(always)]
    fn arrive(&mut self, id: u32, node: u16) {
        if self.network.topology.has_station[usize::from(node)] {
            return self.pass_stations(id, node);
        }
        self.leave_node(id, node);
    }

    /// A packet leaves a node, past its stations.
    #[inline(always)]
    fn leave_node(&mut self, id: u32, node: u16) {
        match self.network.packets.get(id).exit == node {
            true => self.deliver(id),
            false => self.network.forward(id, node),
        }
    }

    /// A packet is at a node with stations. It passes by those that serve other flows.
    #[inline(never)]
    fn pass_stations(&mut self, id: u32, node: u16) {
        let packet = self.network.packets.get(id);
        if packet.load.is_control() {
            return self.leave_node(id, node);
        }
        let flow = &self.flows[packet.flow as usize];
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

    fn at_station(&mut self, station: usize, id: u32, node: u16) {
        let Some(seen) = station::seen(&self.network.packets, id) else {
            return self.leave_node(id, node);
        };
        let goes_on =
            self.stations[station].machine.handle_packet(self.network.now, &seen, &mut self.scratch);
        if goes_on {
            self.leave_node(id, node);
            return self.leave_station(station);
        }
        self.network.packets.remove(id);
        let (_, slot) = station::connection(seen.flow);
        self.transfers.get_mut(slot).under_way -= 1;
        self.leave_station(station);
        self.transfers.retire_if_over(slot, &mut self.flows);
    }

    /// A station's timer may be due.
    fn on_station(&mut self, station: usize) {
        let (now, machine) = (self.network.now, &mut self.stations[station].machine);
        if machine.poll_timeout() <= now {
            machine.handle_timeout(now, &mut self.scratch);
        }
        self.leave_station(station);
    }

    /// A station was called, and may have put something out.
    fn leave_station(&mut self, station: usize) {
        if !self.scratch.is_empty() {
            self.send_from_station(station);
        }
        self.schedule_station(station);
    }

    /// Sends on what a station put out, but for connections that are over.
    #[inline(never)]
    fn send_from_station(&mut self, station: usize) {
        let node = self.stations[station].node;
        let mut out = std::mem::take(&mut self.scratch);
        for packet in &out {
            let (number, slot) = station::connection(packet.flow);
            let transfer = self.transfers.get_mut(slot);
            if transfer.number == number && transfer.phase != Phase::Retired {
                transfer.under_way += 1;
                let flow = &self.flows[transfer.flow as usize];
                let id = self.network.packets.vacant();
                self.network.packets.occupy(id);
                self.network.packets.take(id, packet, flow, transfer.numbers());
                self.leave_node(id, node);
            }
        }
        out.clear();
        self.scratch = out;
    }

    /// The station at a queue sees what that drops of its flows' packets.
    #[cold]
    fn tell_station(&mut self, id: u32, cause: DropCause, side: Side) {
        let packet = self.network.packets.get(id);
        if let Some(seen) = station::seen(&self.network.packets, id)
            && cause.is_congestion()
            && let Some(Stop::Station(station)) = self.flows[packet.flow as usize].stop_at(side.near_node())
        {
            self.stations[usize::from(station)].machine.handle_drop(self.network.now, &seen);
            self.schedule_station(usize::from(station));
        }
    }

    fn schedule_station(&mut self, station: usize) {
        self.schedule.set(Timer::Station(station), self.stations[station].machine.poll_timeout());
    }

    /// A packet of one of the circuit's flows is at the sender's node: data enters the tunnel, what comes back passes by.
    fn at_circuit(&mut self, index: usize, id: u32, node: u16) {
        let circuit = &self.circuits[index];
        let packet = self.network.packets.get(id);
        if packet.direction == circuit.place.direction {
            self.enter(index, id);
            return self.run_circuit(index);
        }
        if let Load::Tcp { endpoint } = packet.load
            && let Some(packets) = circuit.window_told()
        {
            self.transfers.get_mut(endpoint >> 1).ends[SENDER].repeat_first_every(packets);
        }
        self.leave_node(id, node);
    }

    fn enter(&mut self, index: usize, id: u32) {
        if !self.circuits[index].enter(&self.network, id) {
            self.lose(id, DropCause::Overflow, self.network.now);
        }
    }

    /// A circuit's timer may be due.
    fn on_circuit(&mut self, index: usize, end: usize) {
        let (now, circuit) = (self.network.now, &mut self.circuits[index]);
        if circuit.poll_timeout(end) > now {
            return self.schedule_circuit(index, end);
        }
        circuit.handle_timeout(now, end);
        match end {
            ENTRY => self.run_circuit(index),
            _ => self.reply(index),
        }
    }

    /// The sending end of a connection may have something for the circuit that its flow alone uses.
    fn send_by_circuit(&mut self, circuit: u16, endpoint: u32) {
        let index = usize::from(circuit);
        let circuit = &mut self.circuits[index];
        circuit.stand_in_line(endpoint);
        match circuit.is_stuck(self.network.now) {
            true => self.schedule_waiting(endpoint),
            false => self.run_circuit(index),
        }
    }

    /// The sending end of a connection waits for room in a circuit. What it has to do already, it does when there is some.
    fn schedule_waiting(&mut self, endpoint: u32) {
        let deadline = self.transfers.get(endpoint >> 1).ends[SENDER].poll_timeout();
        if deadline > self.network.now {
            self.schedule.set(Timer::Endpoint(endpoint), deadline);
        }
    }

    /// Sends what the circuit's sender has to send, and lets those in line fill its tunnel queue.
    fn run_circuit(&mut self, index: usize) {
        loop {
            self.fill(index);
            let circuit = &mut self.circuits[index];
            if !circuit.transmit(&mut self.network) || !circuit.is_awaited() {
                break;
            }
        }
        self.circuits[index].note_window(self.network.now);
        self.schedule_circuit(index, ENTRY);
    }

    fn fill(&mut self, index: usize) {
        while let Some((endpoint, room)) = self.circuits[index].first_in_line() {
            if self.fill_from(index, endpoint, room) {
                self.circuits[index].stand_last(endpoint);
            }
        }
    }

    /// Answers whether the connection has more than there was room for.
    #[inline(never)]
    fn fill_from(&mut self, index: usize, endpoint: u32, room: u32) -> bool {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        if transfer.phase == Phase::Retired {
            return false;
        }
        let flow = &mut self.flows[transfer.flow as usize];
        let circuit = &mut self.circuits[index];
        let mut refused = Vec::new();
        let mut enter = |network: &mut Network, _: &Flow, id| {
            if !circuit.enter(network, id) {
                refused.push(id);
            }
        };
        let left = self.network.take_expected(transfer, endpoint, flow, room, &mut enter);
        let is_all = left.is_none_or(|left| self.network.drain(transfer, endpoint, flow, left, &mut enter));
        match is_all {
            true => self.schedule.set(Timer::Endpoint(endpoint), transfer.ends[SENDER].poll_timeout()),
            false => self.schedule_waiting(endpoint),
        }
        refused.into_iter().for_each(|id| self.lose(id, DropCause::Overflow, self.network.now));
        !is_all
    }

    /// Sends what the circuit's receiver has to send.
    fn reply(&mut self, index: usize) {
        self.circuits[index].reply(&mut self.network);
        self.schedule_circuit(index, EXIT);
    }

    fn schedule_circuit(&mut self, index: usize, end: usize) {
        self.schedule.set(Timer::Circuit(index, end), self.circuits[index].poll_timeout(end));
    }

    /// A packet is where it goes.
    #[inline(always)]
    fn deliver(&mut self, id: u32) {
        let Load::Tcp { endpoint } = self.network.packets.get(id).load else { return self.deliver_other(id) };
        let is_expected = !self.network.is_watched()
            && match (endpoint & 1) as usize {
                SENDER => self.deliver_expected_ack(id, endpoint),
                _ => self.deliver_expected_data(id, endpoint),
            };
        if !is_expected {
            self.deliver_segment(id, endpoint);
        }
    }

    /// The next data of a connection that only receives: its ACK, if one is due, leaves in the packet's place. Answers
    /// whether it was that.
    #[inline]
    fn deliver_expected_data(&mut self, id: u32, endpoint: u32) -> bool {
        let Network { packets, now, sack, .. } = &mut self.network;
        let packet = packets.get_mut(id);
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let end = &mut transfer.ends[RECEIVER];
        if !packet.is_plain() || !end.handle_expected_text(*now, &packet.header, packet.ecn) {
            return false;
        }
        let flow = &mut self.flows[packet.flow as usize];
        if let Some(circuit) = flow.counted_by {
            self.circuits[usize::from(circuit)].on_delivered();
        }
        flow.counts.on_delivered(packet.bytes);
        self.packets_delivered += 1;
        if transfer.truth.is_undecided() {
            transfer.truth.delivered(packet.range(), 0);
        }
        end.read_all();
        if let Some(ack) = end.poll_expected_ack(*now, sack) {
            packet.address(endpoint, flow, transfer.numbers());
            packets.put_ack(id, ack, sack);
            self.network.send(flow, RECEIVER, id);
        } else {
            transfer.under_way -= 1;
            let deadline = end.poll_expected_timeout();
            packets.remove_plain(id);
            self.schedule.set(Timer::Endpoint(endpoint), deadline);
        }
        true
    }

    /// An ACK to a connection that only sends, and what it lets go. Answers whether it was that.
    #[inline]
    fn deliver_expected_ack(&mut self, id: u32, endpoint: u32) -> bool {
        let Network { packets, now, .. } = &mut self.network;
        let packet = packets.get(id);
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let end = &mut transfer.ends[SENDER];
        let flow = &mut self.flows[packet.flow as usize];
        if !end.handle_expected_ack(*now, &packet.header, packets.sack(id)) {
            return false;
        }
        transfer.under_way -= 1;
        if let Some(rtt) = end.last_rtt() {
            flow.rtt.add(rtt);
        }
        if !transfer.truth.is_empty() {
            transfer.truth.acknowledged(end.acknowledged());
        }
        packets.remove(id);
        if let Some(circuit) = flow.circuit {
            self.send_by_circuit(circuit, endpoint);
            return true;
        }
        match send_expected(&mut self.network, transfer, endpoint, flow) {
            true => {
                let deadline = transfer.ends[SENDER].poll_timeout();
                self.schedule.set(Timer::Endpoint(endpoint), deadline);
            }
            false => self.service_anything(endpoint),
        }
        true
    }

    /// The same of any packet of a connection.
    #[inline(never)]
    fn deliver_segment(&mut self, id: u32, endpoint: u32) {
        let Network { packets, now, recorder, .. } = &mut self.network;
        let packet = packets.get(id);
        let end = (endpoint & 1) as usize;
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[packet.flow as usize];
        transfer.under_way -= 1;
        let duplicates = if recorder.is_some() { duplicate_acks(transfer) } else { 0 };
        transfer.ends[end].handle_segment(*now, &packets.segment(id), packet.ecn);
        if end == SENDER {
            if let Some(recorder) = recorder {
                record_ack(recorder, *now, transfer, duplicates);
            }
            if let Some(rtt) = transfer.ends[SENDER].last_rtt() {
                flow.rtt.add(rtt);
            }
            if !transfer.truth.is_empty() {
                transfer.truth.acknowledged(transfer.ends[SENDER].acknowledged());
            }
        } else if let Some(circuit) = flow.counted_by {
            self.circuits[usize::from(circuit)].on_delivered();
        }
        if packet.is_data() && end == RECEIVER {
            flow.counts.on_delivered(packet.bytes);
            self.packets_delivered += 1;
            if transfer.truth.is_undecided() && packets.order(id) != STATIONS_OWN {
                transfer.truth.delivered(packet.range(), packets.order(id));
            }
        }
        packets.remove(id);
        self.service(endpoint);
        if end == SENDER && self.network.recorder.is_some() {
            self.sample_at_ack(endpoint >> 1);
        }
    }

    #[inline(never)]
    fn deliver_other(&mut self, id: u32) {
        let &Packet { load, flow, .. } = self.network.packets.get(id);
        let index = flow as usize;
        match load {
            Load::Header { control, repeats } => {
                if !self.circuits[index].handle_header(&mut self.network, id, control, repeats) {
                    self.schedule_circuit(index, EXIT);
                }
            }
            Load::HeaderAck { control } => {
                self.circuits[index].handle_header_ack(&mut self.network, id, control);
                self.run_circuit(index);
            }
            Load::Tcp { .. } | Load::Udp => self.deliver_datagram(id),
        }
    }

    fn deliver_datagram(&mut self, id: u32) {
        let &Packet { bytes, flow, .. } = self.network.packets.get(id);
        let Flow { counts, counted_by, .. } = &mut self.flows[flow as usize];
        if let Some(circuit) = *counted_by {
            self.circuits[usize::from(circuit)].on_delivered();
        }
        counts.on_delivered(bytes);
        let payload = u64::from(bytes.saturating_sub(UDP_HEADERS_BYTES));
        counts.datagram_bytes += payload;
        if let Some(recorder) = &mut self.network.recorder {
            recorder.on_received(flow, payload);
        }
        self.packets_delivered += 1;
        self.network.packets.remove(id);
    }

    #[cold]
    fn lose(&mut self, id: u32, cause: DropCause, at: Time) {
        let packet = *self.network.packets.get(id);
        let order = self.network.packets.order(id);
        self.network.packets.remove(id);
        match packet.load {
            Load::Tcp { endpoint } => self.lose_segment(endpoint, &packet, order),
            Load::Udp => {}
            Load::Header { .. } | Load::HeaderAck { .. } => {
                return self.circuits[packet.flow as usize].lose(packet.load);
            }
        }
        let counts = &mut self.flows[packet.flow as usize].counts;
        match packet.is_data() {
            true => counts.losses[cause as usize] += 1,
            false => counts.acks_lost += 1,
        }
        if let Some(recorder) = &mut self.network.recorder {
            recorder.on_loss(at, packet.flow, cause, packet.is_data(), packet.offset);
        }
    }

    fn lose_segment(&mut self, endpoint: u32, packet: &Packet, order: u32) {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        transfer.under_way -= 1;
        if packet.is_data() && order != STATIONS_OWN {
            let una = transfer.ends[SENDER].acknowledged();
            transfer.truth.lost(packet.range(), order, una);
        }
        self.transfers.retire_if_over(endpoint >> 1, &mut self.flows);
    }

    /// Steps 2 and 3 of the loop contract for one end of a connection, with the application's part.
    fn service(&mut self, endpoint: u32) {
        let is_all = match (endpoint & 1) as usize {
            SENDER => self.send_expected(endpoint),
            _ => self.send_expected_ack(endpoint),
        };
        if !is_all {
            self.service_anything(endpoint);
        }
    }

    /// The same if an ACK is all that a receiver may have to say: answers whether that was so.
    fn send_expected_ack(&mut self, endpoint: u32) -> bool {
        let Network { packets, now, sack, .. } = &mut self.network;
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let end = &mut transfer.ends[RECEIVER];
        if transfer.phase != Phase::Running || !end.only_receives() || end.readable() > 0 {
            return false;
        }
        let ack = end.poll_expected_ack(*now, sack);
        self.schedule.set(Timer::Endpoint(endpoint), end.poll_timeout());
        if let Some(ack) = ack {
            let flow = &self.flows[transfer.flow as usize];
            let id = packets.vacant();
            packets.occupy(id);
            packets.put_ack(id, ack, sack);
            packets.get_mut(id).address(endpoint, flow, transfer.numbers());
            transfer.under_way += 1;
            self.network.send(flow, RECEIVER, id);
        }
        true
    }

    /// The same if new data is all that a sender has to say: answers whether that was so.
    fn send_expected(&mut self, endpoint: u32) -> bool {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[transfer.flow as usize];
        let is_plain = flow.circuit.is_none()
            && transfer.phase == Phase::Running
            && transfer.ends[SENDER].readable() == 0;
        if !is_plain || !send_expected(&mut self.network, transfer, endpoint, flow) {
            return false;
        }
        let deadline = transfer.ends[SENDER].poll_timeout();
        self.schedule.set(Timer::Endpoint(endpoint), deadline);
        true
    }

    #[inline(never)]
    fn service_anything(&mut self, endpoint: u32) {
        let (index, end) = (endpoint >> 1, (endpoint & 1) as usize);
        let transfer = self.transfers.get_mut(index);
        let flow = &mut self.flows[transfer.flow as usize];
        while let Some(event) = transfer.ends[end].poll_event() {
            on_event(self.network.now, index, end, transfer, flow, event);
        }
        let readable = transfer.ends[end].readable();
        if readable > 0 {
            transfer.ends[end].read(readable);
            if let Some(recorder) = &mut self.network.recorder
                && end == RECEIVER
            {
                recorder.on_received(transfer.flow, readable);
            }
        }
        match flow.circuit {
            Some(circuit) if end == SENDER => self.send_by_circuit(circuit, endpoint),
            _ => {
                let send = |network: &mut Network, flow: &Flow, id| network.send(flow, end, id);
                self.network.drain(transfer, endpoint, flow, u32::MAX, send);
                self.schedule.set(Timer::Endpoint(endpoint), transfer.ends[end].poll_timeout());
            }
        }
        self.transfers.retire_if_over(index, &mut self.flows);
    }

    fn on_source(&mut self, index: usize) {
        let source = &mut self.flows[index].source;
        if source.poll_timeout() <= self.network.now {
            let action = source.handle_timeout(self.network.now);
            self.act(index, action);
        }
        self.schedule.set(Timer::Source(index), self.flows[index].source.poll_timeout());
    }

    fn act(&mut self, flow: usize, action: Action) {
        match action {
            Action::Open => {
                let transfer = self.open(flow);
                self.flows[flow].connection = Some(transfer);
                self.service(transfer << 1);
            }
            Action::Transfer(bytes) => {
                let transfer = self.open(flow);
                self.transfers.get_mut(transfer).write(bytes);
                self.transfers.get_mut(transfer).close();
                self.service(transfer << 1);
            }
            Action::Write(bytes) => self.with_connection(flow, |transfer| transfer.write(bytes)),
            Action::Greedy(greedy) => self.with_connection(flow, |transfer| transfer.set_greedy(greedy)),
            Action::Close => self.with_connection(flow, Transfer::close),
            Action::Datagram(bytes) => {
                self.network.send_datagram(&mut self.flows[flow], flow as u32, bytes);
            }
            Action::Nothing => {}
        }
    }

    fn open(&mut self, flow: usize) -> u32 {
        self.transfers.open(flow, &mut self.flows[flow], self.network.now)
    }

    /// The application does something with the flow's connection, if that is still there.
    fn with_connection(&mut self, flow: usize, act: impl FnOnce(&mut Transfer)) {
        let Some(index) = self.flows[flow].connection else { return };
        let transfer = self.transfers.get_mut(index);
        if transfer.flow as usize == flow && transfer.phase == Phase::Running {
            act(transfer);
            self.service(index << 1);
        }
    }

    /// The run ends.
    pub fn finish(mut self, end: Time) -> Finished {
        self.network.now = end;
        let totals = self.transfers.totals(&self.flows);
        let Engine { network, flows, circuits, packets_delivered, .. } = self;
        Finished { network, flows, circuits, totals, packets_delivered }
    }

    /// Places for connections and packets that there ever was need of.
    #[cfg(test)]
    pub fn places(&self) -> (usize, usize) {
        (self.transfers.len(), self.network.packets.places())
    }

    /// The warm-up is over: everything is counted anew.
    fn begin_measurement(&mut self) {
        self.transfers.begin_measurement(&mut self.flows);
        let now = self.network.now;
        self.circuits.iter_mut().for_each(|circuit| circuit.begin_measurement(now));
        for side in self.network.topology.sides() {
            self.network.topology.side_mut(side).reset_stats(self.network.now);
        }
        self.network.topology.set_horizon(self.end);
    }

    /// Samples everything, every so often.
    fn sample(&mut self) {
        for index in 0..self.transfers.len() as u32 {
            self.sample_flow(index);
        }
        self.network.sample_queues();
        if let Some(recorder) = &mut self.network.recorder {
            let flows = self.flows.iter().enumerate().filter(|(_, flow)| flow.is_measured);
            flows.for_each(|(flow, _)| recorder.on_delivery(self.network.now, flow as u32));
            self.schedule.set(Timer::Sample, self.network.now + recorder.interval);
        }
    }

    fn sample_at_ack(&mut self, index: u32) {
        if self.network.keen_recorder().is_some() {
            self.sample_flow(index);
        }
        let (now, flow) = (self.network.now, self.transfers.get(index).flow);
        if let Some(recorder) = self.network.keen_recorder()
            && self.flows[flow as usize].is_measured
        {
            recorder.on_delivery(now, flow);
        }
    }

    fn sample_flow(&mut self, index: u32) {
        let transfer = self.transfers.get(index);
        let flow = &self.flows[transfer.flow as usize];
        if let Some(recorder) = &mut self.network.recorder
            && transfer.phase != Phase::Retired
            && flow.is_measured
        {
            let mut view = transfer.ends[SENDER].sender_view();
            // The data TCP's own is infinite.
            if let Some(circuit) = flow.circuit {
                view.cwnd = self.circuits[usize::from(circuit)].window_bytes();
            }
            let received = transfer.ends[RECEIVER].received();
            let is_lasting = flow.connection == Some(index);
            recorder.on_flow(self.network.now, transfer.flow, &view, received, is_lasting);
        }
    }
}

/// Sends what is expected of a connection that only sends. Answers whether that was all that may leave.
#[inline(always)]
fn send_expected(network: &mut Network, transfer: &mut Transfer, endpoint: u32, flow: &mut Flow) -> bool {
    let send = |network: &mut Network, flow: &Flow, id| network.send(flow, SENDER, id);
    network.take_expected(transfer, endpoint, flow, u32::MAX, send).is_none()
}

fn duplicate_acks(transfer: &Transfer) -> u64 {
    transfer.ends[SENDER].stats().duplicate_acks_received
}

/// A sender has handled an ACK; before it, so many `duplicates` had come.
#[cold]
fn record_ack(recorder: &mut Recorder, now: Time, transfer: &Transfer, duplicates: u64) {
    if let Some(rtt) = transfer.ends[SENDER].last_rtt() {
        recorder.on_rtt(transfer.flow, rtt);
    }
    if duplicate_acks(transfer) > duplicates {
        recorder.on_duplicate_ack(now, transfer.flow, transfer.ends[SENDER].acknowledged());
    }
}

/// A connection tells its application something.
#[cold]
fn on_event(now: Time, index: u32, end: usize, transfer: &mut Transfer, flow: &mut Flow, event: Event) {
    match event {
        Event::PeerFinished if end == RECEIVER => {
            flow.completions.push(now.since(transfer.started));
            if flow.connection == Some(index) {
                flow.completed = Some(now);
            }
            transfer.phase = Phase::Completed;
            transfer.ends[RECEIVER].shutdown();
        }
        Event::Reset => {
            flow.counts.resets += 1;
            transfer.phase = Phase::Failed;
        }
        _ => {}
    }
}
