//! The ends of connections: what is delivered to them, what their applications do, and what they send.

use crate::ahead::{Connected, Entry, Text, What, plain_bytes};
use crate::circuit::Circuit;
use crate::flow::{Flow, Phase, RECEIVER, SENDER, Transfer};
use crate::network::{Network, UDP_HEADERS_BYTES};
use crate::packet::{Load, Packet, STATIONS_OWN};
use crate::sampling;
use crate::stage::Stage;
use crate::timer::{Clock, Timer};
use crate::traffic::Action;
use crate::transfers::Transfers;
use airtcp_proto::prefetch::prefetch_part;
use airtcp_proto::queue::DropCause;
use airtcp_proto::tcp::{Connection, Event};
use airtcp_wire::{Header, SackBlocks, Time};

/// Flows and their connections. An end of a connection is called by its number: twice that of the connection's place, plus one
/// for the receiver. What sends through a circuit that its flow alone uses waits for that: then the answer is the circuit.
pub struct Ends {
    pub flows: Vec<Flow>,
    pub transfers: Transfers,
}

/// With no more connections than this, everything stays in the caches.
const FEW: usize = 32;

impl Ends {
    pub fn new(flows: Vec<Flow>, transfers: Transfers) -> Ends {
        Ends { flows, transfers }
    }

    /// Are there more than the caches hold?
    #[inline]
    pub fn are_many(&self) -> bool {
        self.transfers.len() > FEW
    }

    /// Fetches what will be needed of this packet's connection.
    #[inline]
    pub fn prefetch_connection(&self, packet: &Packet) {
        let Load::Tcp { endpoint } = packet.load else { return };
        let transfer = self.transfers.get(endpoint >> 1);
        let flow = &self.flows[packet.flow as usize];
        match (endpoint & 1) as usize {
            SENDER => {
                prefetch_part(&transfer.ends[SENDER], Connection::TOUCHED_BY_ACK);
                prefetch_part(flow, Flow::TOUCHED_BY_ACK);
            }
            _ => {
                for part in Connection::TOUCHED_BY_TEXT {
                    prefetch_part(&transfer.ends[RECEIVER], part);
                }
                prefetch_part(flow, Flow::TOUCHED_BY_TEXT);
            }
        }
        prefetch_part(transfer, Transfer::TOUCHED);
    }

    /// Fetches what an ACK will need of this connection, and what it lets go at the other end of it.
    #[inline]
    pub fn prefetch_transfer(&self, endpoint: u32) {
        let transfer = self.transfers.get(endpoint >> 1);
        prefetch_part(&transfer.ends[SENDER], Connection::TOUCHED_BY_ACK);
        for part in Connection::TOUCHED_BY_TEXT {
            prefetch_part(&transfer.ends[RECEIVER], part);
        }
        prefetch_part(transfer, Transfer::TOUCHED);
    }

    /// Fetches what that connection points to, and its flow, once it is here itself.
    #[inline]
    pub fn prefetch_beyond_transfer(&self, endpoint: u32) {
        let transfer = self.transfers.get(endpoint >> 1);
        prefetch_part(&self.flows[transfer.flow as usize], Flow::TOUCHED_BY_ACK);
        transfer.ends[SENDER].prefetch_for_ack();
        transfer.ends[RECEIVER].prefetch_for_text();
    }

    /// Fetches what the timer of that end of a connection will need.
    #[inline]
    pub fn prefetch_for_timer(&self, endpoint: u32) {
        let transfer = self.transfers.get(endpoint >> 1);
        prefetch_part(&transfer.ends[(endpoint & 1) as usize], Connection::TOUCHED_BY_TIMER);
        prefetch_part(transfer, Transfer::TOUCHED);
    }

    /// Fetches what that connection points to, once it is here itself.
    #[inline]
    pub fn prefetch_beyond_connection(&self, packet: &Packet) {
        let Load::Tcp { endpoint } = packet.load else { return };
        let ends = &self.transfers.get(endpoint >> 1).ends;
        match (endpoint & 1) as usize {
            SENDER => ends[SENDER].prefetch_for_ack(),
            _ => ends[RECEIVER].prefetch_for_text(),
        }
    }

    /// A timer of a connection may be due. If it is not, the connection is asked what it wants.
    pub fn handle_timer(&mut self, stage: &mut Stage, endpoint: u32) -> Option<u16> {
        if self.transfers.is_retired_by(stage.network.now, endpoint >> 1) {
            return None;
        }
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let end = &mut transfer.ends[(endpoint & 1) as usize];
        match end.handle_due(stage.network.now) {
            None => self.service(stage, endpoint),
            Some(wanted) => {
                stage.schedule.set(Timer::Endpoint(endpoint), wanted);
                None
            }
        }
    }

    /// Data, sent again or not, for a connection that only receives: its ACK, if one is due, leaves in the packet's place. Returns
    /// whether it was that.
    // It has one caller, which is hot.
    #[inline(always)]
    pub fn deliver_expected_data(
        &mut self,
        stage: &mut Stage,
        circuits: &mut [Circuit],
        id: u32,
        endpoint: u32,
    ) -> bool {
        let Network { packets, now, sack, packets_delivered, .. } = &mut stage.network;
        let (now, packet) = (*now, packets.get(id));
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let end = &mut transfer.ends[RECEIVER];
        if !packets.is_header_all(id) || !end.handle_expected_text(now, &packet.header, packet.ecn) {
            return false;
        }
        let flow = &mut self.flows[packet.flow as usize];
        if let Some(circuit) = flow.counted_by {
            circuits[usize::from(circuit)].on_delivered();
        }
        flow.counts.on_delivered(packet.bytes);
        *packets_delivered += 1;
        if transfer.truth.is_undecided() && packets.order(id) != STATIONS_OWN {
            transfer.truth.delivered(packet.range(), packets.order(id));
        }
        end.read_all();
        let ack = end.poll_expected_ack(now, sack);
        if let Some(ack) = ack
            && !flow.runs_ahead
        {
            packets.put_ack(id, ack, sack);
            packets.get_mut(id).address(endpoint, flow, transfer.numbers());
            stage.network.send(flow, RECEIVER, id);
            return true;
        }
        transfer.under_way -= 1;
        packets.remove(id);
        match ack {
            Some(ack) => Connected { stage, transfer, flow, endpoint: endpoint ^ 1 }.answer(now, ack),
            None => stage.schedule.set(Timer::Endpoint(endpoint), end.poll_expected_timeout()),
        }
        true
    }

    /// An ACK to a connection that only sends, and what it lets go. `None`: it is not that.
    // Its caller is one function, and sees everything at fixed places.
    #[inline(always)]
    pub fn deliver_expected_ack(&mut self, stage: &mut Stage, id: u32, endpoint: u32) -> Option<Option<u16>> {
        let Network { packets, now, .. } = &mut stage.network;
        let packet = packets.get(id);
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[packet.flow as usize];
        if !take_expected_ack(*now, transfer, flow, &packet.header, packets.sack(id)) {
            return None;
        }
        packets.remove(id);
        if flow.circuit.is_some() {
            return Some(flow.circuit);
        }
        if send_expected(stage, transfer, endpoint, flow) {
            return Some(None);
        }
        Some(self.service_anything(stage, endpoint))
    }

    /// The same of an ACK with these blocks, without a packet, from a receiver that is [ahead](crate::ahead).
    // Its callers are two functions, and see everything at fixed places.
    #[inline(always)]
    pub fn deliver_arrival(
        &mut self,
        stage: &mut Stage,
        endpoint: u32,
        ack: &Header,
        sack: &SackBlocks,
    ) -> Option<Option<u16>> {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[transfer.flow as usize];
        if !take_expected_ack(stage.network.now, transfer, flow, ack, sack) {
            return None;
        }
        if flow.circuit.is_some() {
            return Some(flow.circuit);
        }
        if !(Connected { stage, transfer, flow, endpoint }).send_expected() {
            self.service_anything(stage, endpoint);
        }
        Some(None)
    }

    /// New data that is no packet, and gets to its receiver, which is [ahead](crate::ahead). If that does not expect it, it becomes
    /// a packet after all, and is returned with the number of that end.
    #[inline(always)]
    pub fn deliver_text(&mut self, stage: &mut Stage, entry: &Entry) -> Option<(u32, u32)> {
        let &Entry { at, what: What::Plain(endpoint), ref header, offset } = entry else { return None };
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[transfer.flow as usize];
        let mut connected = Connected { stage, transfer, flow, endpoint };
        if !connected.take(at, &Text { header, offset, follows: false }) {
            return Some((connected.put(header, offset), endpoint ^ 1));
        }
        flow.counts.on_delivered(plain_bytes(header));
        stage.network.packets_delivered += 1;
        transfer.under_way -= 1;
        None
    }

    /// It becomes a packet after all.
    #[cold]
    pub fn put_arrival(
        &mut self,
        network: &mut Network,
        endpoint: u32,
        ack: Header,
        sack: &SackBlocks,
    ) -> u32 {
        let transfer = self.transfers.get(endpoint >> 1);
        let flow = &self.flows[transfer.flow as usize];
        network.packets.insert_answer(ack, sack, endpoint, flow, transfer.numbers())
    }

    /// Data that has left a circuit which its flow alone uses, and gets to the receiver at that time, which is
    /// [ahead](crate::ahead). Returns whether it has been delivered.
    #[inline(always)]
    pub fn deliver_ahead(&mut self, stage: &mut Stage, id: u32, at: Time) -> bool {
        let packet = stage.network.packets.get(id);
        let Load::Tcp { endpoint } = packet.load else { return false };
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[packet.flow as usize];
        let &Packet { header, offset, bytes, .. } = packet;
        if !flow.runs_ahead || !packet.is_plain() {
            return false;
        }
        // What waits in a tunnel queue is never marked, so its ECN field is that of new data.
        let text = Text { header: &header, offset, follows: false };
        let mut connected = Connected { stage, transfer, flow, endpoint: endpoint ^ 1 };
        if !connected.receive(at, &text) {
            return false;
        }
        connected.count_received(1, bytes);
        transfer.under_way -= 1;
        stage.network.packets.remove_plain(id);
        true
    }

    /// Any packet of a connection.
    #[inline(never)]
    pub fn deliver_segment(
        &mut self,
        stage: &mut Stage,
        circuits: &mut [Circuit],
        id: u32,
        endpoint: u32,
    ) -> Option<u16> {
        let Network { packets, now, recorder, packets_delivered, .. } = &mut stage.network;
        let packet = packets.get(id);
        let end = (endpoint & 1) as usize;
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[packet.flow as usize];
        transfer.under_way -= 1;
        let duplicates = if recorder.is_some() { sampling::duplicate_acks(transfer) } else { 0 };
        transfer.ends[end].handle_segment(*now, &packets.segment(id), packet.ecn);
        if end == SENDER {
            if let Some(recorder) = recorder {
                sampling::record_ack(recorder, *now, transfer, duplicates);
            }
            if let Some(rtt) = transfer.ends[SENDER].last_rtt() {
                flow.rtt.add(rtt);
            }
            if !transfer.truth.is_empty() {
                transfer.truth.acknowledged(transfer.ends[SENDER].acknowledged());
            }
        } else if let Some(circuit) = flow.counted_by {
            circuits[usize::from(circuit)].on_delivered();
        }
        if packet.is_data() && end == RECEIVER {
            flow.counts.on_delivered(packet.bytes);
            *packets_delivered += 1;
            if transfer.truth.is_undecided() && packets.order(id) != STATIONS_OWN {
                transfer.truth.delivered(packet.range(), packets.order(id));
            }
        }
        packets.remove(id);
        self.service_seldom(stage, endpoint)
    }

    pub fn deliver_datagram(&mut self, network: &mut Network, circuits: &mut [Circuit], id: u32) {
        let &Packet { bytes, flow, .. } = network.packets.get(id);
        let Flow { counts, counted_by, .. } = &mut self.flows[flow as usize];
        if let Some(circuit) = *counted_by {
            circuits[usize::from(circuit)].on_delivered();
        }
        counts.on_delivered(bytes);
        let payload = u64::from(bytes.saturating_sub(UDP_HEADERS_BYTES));
        counts.datagram_bytes += payload;
        if let Some(recorder) = &mut network.recorder {
            recorder.on_received(flow, payload);
        }
        network.packets_delivered += 1;
        network.packets.remove(id);
    }

    /// A packet of a flow is lost.
    pub fn lose(&mut self, network: &mut Network, id: u32, cause: DropCause, at: Time) {
        let (packet, order) = (*network.packets.get(id), network.packets.order(id));
        network.packets.remove(id);
        if let Load::Tcp { endpoint } = packet.load {
            self.lose_segment(endpoint, &packet, order);
        }
        let counts = &mut self.flows[packet.flow as usize].counts;
        match packet.is_data() {
            true => counts.losses[cause as usize] += 1,
            false => counts.acks_lost += 1,
        }
        if let Some(recorder) = &mut network.recorder {
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
        self.retire_if_over(endpoint >> 1);
    }

    /// Steps 2 and 3 of the loop contract for one end of a connection, with the application's part.
    // Inlined where timers are handled, which is hot.
    #[inline(always)]
    fn service(&mut self, stage: &mut Stage, endpoint: u32) -> Option<u16> {
        let is_all = match (endpoint & 1) as usize {
            SENDER => self.send_expected(stage, endpoint),
            _ => self.send_expected_ack(stage, endpoint),
        };
        if is_all { None } else { self.service_anything(stage, endpoint) }
    }

    /// The same where that is seldom needed.
    #[inline(never)]
    fn service_seldom(&mut self, stage: &mut Stage, endpoint: u32) -> Option<u16> {
        self.service(stage, endpoint)
    }

    /// The same if an ACK is all that a receiver may have to say: returns whether that was so.
    fn send_expected_ack(&mut self, stage: &mut Stage, endpoint: u32) -> bool {
        let Network { packets, now, sack, .. } = &mut stage.network;
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let end = &mut transfer.ends[RECEIVER];
        if transfer.phase != Phase::Running || !end.only_receives() || end.readable() > 0 {
            return false;
        }
        let ack = end.poll_expected_ack(*now, sack);
        stage.schedule.set(Timer::Endpoint(endpoint), end.poll_expected_timeout());
        if let Some(ack) = ack {
            let flow = &mut self.flows[transfer.flow as usize];
            if flow.runs_ahead {
                let now = *now;
                Connected { stage, transfer, flow, endpoint: endpoint ^ 1 }.answer(now, ack);
                return true;
            }
            let id = packets.insert_answer(ack, sack, endpoint ^ 1, flow, transfer.numbers());
            transfer.under_way += 1;
            stage.network.send(flow, RECEIVER, id);
        }
        true
    }

    /// The same if new data is all that a sender has to say: returns whether that was so.
    #[inline(always)]
    fn send_expected(&mut self, stage: &mut Stage, endpoint: u32) -> bool {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[transfer.flow as usize];
        let is_plain = flow.circuit.is_none()
            && transfer.phase == Phase::Running
            && transfer.ends[SENDER].readable() == 0;
        is_plain && send_expected(stage, transfer, endpoint, flow)
    }

    #[inline(never)]
    fn service_anything(&mut self, stage: &mut Stage, endpoint: u32) -> Option<u16> {
        let (index, end) = (endpoint >> 1, (endpoint & 1) as usize);
        let transfer = self.transfers.get_mut(index);
        let flow = &mut self.flows[transfer.flow as usize];
        while let Some(event) = transfer.ends[end].poll_event() {
            on_event(stage.network.now, index, end, transfer, flow, event);
        }
        let readable = transfer.ends[end].readable();
        if readable > 0 {
            transfer.ends[end].read(readable);
            if let Some(recorder) = &mut stage.network.recorder
                && end == RECEIVER
            {
                recorder.on_received(transfer.flow, readable);
            }
        }
        if end == SENDER && flow.circuit.is_some() {
            return flow.circuit;
        }
        let send = |network: &mut Network, flow: &Flow, id| network.send(flow, end, id);
        stage.network.drain(transfer, endpoint, flow, u32::MAX, send);
        stage.schedule.set(Timer::Endpoint(endpoint), transfer.ends[end].poll_timeout());
        self.look_whether_over(stage, index);
        None
    }

    /// Something has come to a connection: perhaps it is over then.
    pub fn look_whether_over(&mut self, stage: &Stage, index: u32) {
        match stage.schedule.clock() {
            Clock::Run => self.retire_if_over(index),
            Clock::Ahead => self.transfers.put_off(stage.network.now, index),
        }
    }

    /// The circuit that carries the flow of this connection alone, if it has one and is not over.
    #[inline]
    pub fn circuit_of(&self, endpoint: u32) -> Option<u16> {
        let transfer = self.transfers.get(endpoint >> 1);
        self.flows[transfer.flow as usize].circuit.filter(|_| transfer.phase != Phase::Retired)
    }

    /// A sending end puts up to `room` packets into its circuit with `enter`. Returns whether it has more than that.
    #[inline(always)]
    pub fn fill(
        &mut self,
        stage: &mut Stage,
        endpoint: u32,
        room: u32,
        mut enter: impl FnMut(&mut Network, u32),
    ) -> bool {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[transfer.flow as usize];
        let mut enter = |network: &mut Network, _: &Flow, id| enter(network, id);
        let left = stage.network.take_expected(transfer, endpoint, flow, room, &mut enter);
        let is_all = match left {
            None => true,
            Some(0) => false,
            Some(left) => drain(&mut stage.network, transfer, endpoint, flow, left, &mut enter),
        };
        match is_all {
            true => stage.schedule_sender(endpoint, &transfer.ends[SENDER]),
            false => schedule_waiting(stage, transfer, endpoint),
        }
        !is_all
    }

    /// A sending end waits for room in a circuit. What it has to do already, it does when there is some.
    pub fn schedule_waiting(&self, stage: &mut Stage, endpoint: u32) {
        schedule_waiting(stage, self.transfers.get(endpoint >> 1), endpoint);
    }

    /// What has come [ahead](crate::ahead) to connections that end has come by now.
    #[inline(always)]
    pub fn catch_up(&mut self, now: Time) {
        self.transfers.catch_up(now, &mut self.flows);
    }

    /// The connection in that place is forgotten if it is over.
    #[inline(always)]
    pub fn retire_if_over(&mut self, index: u32) {
        self.transfers.retire_if_over(index, &mut self.flows);
    }

    /// A source may have something to do. Returns the circuit that an end of a connection waits for then, and that end.
    pub fn handle_source(&mut self, stage: &mut Stage, index: usize) -> Option<(u16, u32)> {
        let source = &mut self.flows[index].source;
        let due = source.as_mut().filter(|source| source.poll_timeout() <= stage.network.now);
        let action = due.map_or(Action::Nothing, |source| source.handle_timeout(stage.network.now));
        source.take_if(|source| source.poll_timeout().is_never());
        let endpoint = self.act(&mut stage.network, index, action);
        // Before anything is sent: a paced sender asks what happens next.
        self.schedule_source(stage, index);
        endpoint.and_then(|endpoint| Some((self.service_seldom(stage, endpoint)?, endpoint)))
    }

    /// The source is woken when it acts next.
    pub fn schedule_source(&self, stage: &mut Stage, index: usize) {
        if let Some(source) = &self.flows[index].source {
            stage.schedule.set(Timer::Source(index), source.poll_timeout());
        }
    }

    /// An application does something. Returns the sending end that is to be served for it.
    fn act(&mut self, network: &mut Network, flow: usize, action: Action) -> Option<u32> {
        let transfer = match action {
            Action::Open => {
                let transfer = self.open(flow, network.now);
                self.flows[flow].connection = Some(transfer);
                transfer
            }
            Action::Transfer(bytes) => {
                let transfer = self.open(flow, network.now);
                self.transfers.get_mut(transfer).write(bytes);
                self.transfers.get_mut(transfer).close();
                transfer
            }
            Action::Write(bytes) => self.with_connection(flow, |transfer| transfer.write(bytes))?,
            Action::Greedy(greedy) => self.with_connection(flow, |transfer| transfer.set_greedy(greedy))?,
            Action::Close => self.with_connection(flow, Transfer::close)?,
            Action::Datagram(bytes) => {
                network.send_datagram(&mut self.flows[flow], flow as u32, bytes);
                return None;
            }
            Action::Nothing => return None,
        };
        Some(transfer << 1)
    }

    /// The warm-up is over: everything is counted anew.
    pub fn begin_measurement(&mut self) {
        self.transfers.begin_measurement(&mut self.flows);
    }

    fn open(&mut self, flow: usize, now: Time) -> u32 {
        self.transfers.open(flow, &mut self.flows[flow], now)
    }

    /// The application does something with the flow's connection, if that is still there.
    fn with_connection(&mut self, flow: usize, act: impl FnOnce(&mut Transfer)) -> Option<u32> {
        let index = self.flows[flow].connection?;
        let transfer = self.transfers.get_mut(index);
        if transfer.flow as usize != flow || transfer.phase != Phase::Running {
            return None;
        }
        act(transfer);
        Some(index)
    }
}

/// An ACK to a connection that only sends. Returns whether it was that.
#[inline(always)]
fn take_expected_ack(
    now: Time,
    transfer: &mut Transfer,
    flow: &mut Flow,
    ack: &Header,
    sack: &SackBlocks,
) -> bool {
    let end = &mut transfer.ends[SENDER];
    if !end.handle_expected_ack(now, ack, sack) {
        return false;
    }
    transfer.under_way -= 1;
    if let Some(rtt) = end.last_rtt() {
        flow.rtt.add(rtt);
    }
    if !transfer.truth.is_empty() {
        transfer.truth.acknowledged(end.acknowledged());
    }
    true
}

/// Sends what is expected of a connection that only sends. Returns whether that was all that may leave: then it will be woken.
#[inline(always)]
fn send_expected(stage: &mut Stage, transfer: &mut Transfer, endpoint: u32, flow: &mut Flow) -> bool {
    if flow.runs_ahead {
        return Connected { stage, transfer, flow, endpoint }.send_expected();
    }
    let send = |network: &mut Network, flow: &Flow, id| network.send(flow, SENDER, id);
    let is_all = stage.network.take_expected(transfer, endpoint, flow, u32::MAX, send).is_none();
    if is_all {
        stage.schedule_sender(endpoint, &transfer.ends[SENDER]);
    }
    is_all
}

/// [`Network::drain`], where that is seldom needed.
#[inline(never)]
fn drain(
    network: &mut Network,
    transfer: &mut Transfer,
    endpoint: u32,
    flow: &mut Flow,
    most: u32,
    send: impl FnMut(&mut Network, &Flow, u32),
) -> bool {
    network.drain(transfer, endpoint, flow, most, send)
}

#[inline(always)]
fn schedule_waiting(stage: &mut Stage, transfer: &Transfer, endpoint: u32) {
    let (end, now) = (&transfer.ends[SENDER], stage.network.now);
    let deadline = || Some(end.poll_timeout()).filter(|at| *at > now).unwrap_or(Time::NEVER);
    stage.schedule.set_lazily(Timer::Endpoint(endpoint), end.earliest_timeout(), deadline);
}

/// A connection tells its application something.
#[cold]
fn on_event(now: Time, index: u32, end: usize, transfer: &mut Transfer, flow: &mut Flow, event: Event) {
    match event {
        Event::PeerFinished if end == RECEIVER => {
            let past = flow.past.get_or_insert_default();
            past.completions.push(now.since(transfer.started));
            if flow.connection == Some(index) {
                past.completed = Some(now);
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
