//! The ends of connections: what is delivered to them, what their applications do, and what they send.

use crate::ahead::{Connected, Entry, Text, plain_bytes};
use crate::circuit::Circuit;
use crate::flow::{Flow, Phase, RECEIVER, SENDER, Transfer, note_delivered};
use crate::network::{Network, UDP_HEADERS_BYTES};
use crate::packet::{Load, Packet, STATIONS_OWN};
use crate::stage::Stage;
use crate::timer::{Clock, Timer};
use crate::traffic::Action;
use crate::transfers::Transfers;
use airtcp_proto::prefetch::prefetch_part;
use airtcp_proto::queue::DropCause;
use airtcp_proto::tcp::{Connection, Event};
use airtcp_wire::{Header, SackBlocks, Time};

/// Flows and their connections. The number of a connection's end, its `endpoint`, is twice the connection's place, plus
/// one for the receiver. Where a method returns a circuit, the connection sends through it and waits for it.
pub struct Ends {
    pub flows: Vec<Flow>,
    pub transfers: Transfers,
}

/// With no more connections than this, everything stays in the caches.
const FEW: usize = 32;

impl Ends {
    /// Are there more connections than the caches hold?
    #[inline]
    pub fn are_many(&self) -> bool {
        self.transfers.len() > FEW
    }

    /// Prefetches what packets for these ends of a connection will need.
    #[inline(always)]
    pub fn prefetch_ends(&self, index: u32, ends: &[usize]) {
        let transfer = self.transfers.get(index);
        for &end in ends {
            prefetch_part(&transfer.ends[end], Connection::TOUCHED);
        }
        prefetch_part(transfer, Transfer::TOUCHED);
    }

    /// Prefetches the sender of the one and the receiver of the other of these ends, once the ends themselves are in the
    /// cache.
    #[inline(always)]
    pub fn prefetch_halves(&self, index: u32, ends: &[usize]) {
        let transfer = self.transfers.get(index);
        for &end in ends {
            match end {
                SENDER => transfer.ends[SENDER].prefetch_sender(),
                _ => transfer.ends[RECEIVER].prefetch_receiver(),
            }
        }
    }

    /// Prefetches what these ends point to, and their flow, once the ends themselves are in the cache.
    #[inline(always)]
    pub fn prefetch_beyond_ends(&self, index: u32, ends: &[usize]) {
        let transfer = self.transfers.get(index);
        prefetch_part(&self.flows[transfer.flow as usize], Flow::TOUCHED_BY_ACK);
        for &end in ends {
            match end {
                SENDER => transfer.ends[SENDER].prefetch_for_ack(),
                _ => transfer.ends[RECEIVER].prefetch_for_text(),
            }
        }
    }

    /// Prefetches what the timer of this end will need.
    #[inline]
    pub fn prefetch_for_timer(&self, endpoint: u32) {
        let transfer = self.transfers.get(endpoint >> 1);
        prefetch_part(&transfer.ends[(endpoint & 1) as usize], Connection::TOUCHED);
        prefetch_part(transfer, Transfer::TOUCHED);
    }

    /// Handles a timer of a connection that may be due. If it is not, it is set to when the connection wants it.
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

    /// Delivers data, new or repeated, to a connection that only receives, and sends its ACK if one is due. Returns
    /// whether the connection expected this.
    #[inline(never)]
    pub fn deliver_expected_data(
        &mut self,
        stage: &mut Stage,
        circuits: &mut [Circuit],
        id: u32,
        endpoint: u32,
    ) -> bool {
        let Network { packets, now, .. } = &stage.network;
        let (now, packet) = (*now, packets.get(id));
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let end = &mut transfer.ends[RECEIVER];
        if !packets.is_header_all(id) || !end.handle_expected_text(now, &packet.header, packet.ecn) {
            return false;
        }
        let flow = &mut self.flows[packet.flow as usize];
        count_at_circuit(circuits, flow);
        count_delivery(&mut stage.network, transfer, flow, id);
        stage.network.packets.remove(id);
        transfer.under_way -= 1;
        let end = &mut transfer.ends[RECEIVER];
        match end.read_and_answer(now, &mut stage.network.sack) {
            Ok(ack) => Connected { stage, transfer, flow, endpoint: endpoint ^ 1 }.send_ack(ack),
            Err(deadline) => stage.schedule.set(Timer::Endpoint(endpoint), deadline),
        }
        true
    }

    /// Delivers an ACK to a connection that only sends, which then sends what it may. Returns `None` if the connection
    /// does not expect this ACK, else the circuit that it sends through, if any.
    // The callers are hot, and know where everything is.
    #[inline(always)]
    pub fn deliver_expected_ack(
        &mut self,
        stage: &mut Stage,
        endpoint: u32,
        ack: &Header,
        sack: &SackBlocks,
    ) -> Option<Option<u16>> {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[transfer.flow as usize];
        if !transfer.ends[SENDER].handle_expected_ack(stage.network.now, ack, sack) {
            return None;
        }
        transfer.under_way -= 1;
        note_ack(transfer, flow);
        if flow.circuit.is_some() {
            return Some(flow.circuit);
        }
        if !send_expected(stage, transfer, endpoint, flow) {
            self.service_anything(stage, endpoint);
        }
        Some(None)
    }

    /// Delivers new data that is not in the slab to its receiver, which is [ahead](crate::ahead). If the receiver does
    /// not expect it, it goes into the slab: returns its id there.
    #[inline(always)]
    pub fn deliver_text(&mut self, stage: &mut Stage, endpoint: u32, entry: &Entry) -> Option<u32> {
        let &Entry { at, ref header, offset, .. } = entry;
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[transfer.flow as usize];
        let mut connected = Connected { stage, transfer, flow, endpoint };
        if !connected.take(at, &Text { header, offset, follows: false }) {
            return Some(connected.put_data(header, offset));
        }
        flow.counts.on_delivered(plain_bytes(header));
        stage.network.packets_delivered += 1;
        transfer.under_way -= 1;
        None
    }

    /// Delivers data that has left the circuit of its flow alone to the receiver, if that is [ahead](crate::ahead) and
    /// expects it. Returns whether it has been delivered.
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
        stage.network.packets.remove(id);
        true
    }

    /// Delivers any packet of a connection.
    #[inline(never)]
    pub fn deliver_segment(
        &mut self,
        stage: &mut Stage,
        circuits: &mut [Circuit],
        id: u32,
        endpoint: u32,
    ) -> Option<u16> {
        let Network { packets, now, recorder, .. } = &mut stage.network;
        let packet = packets.get(id);
        let end = (endpoint & 1) as usize;
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[packet.flow as usize];
        transfer.under_way -= 1;
        let duplicates =
            if recorder.is_some() { transfer.ends[end].stats().duplicate_acks_received } else { 0 };
        transfer.ends[end].handle_segment(*now, &packets.segment(id), packet.ecn);
        if end == SENDER {
            if let Some(recorder) = recorder {
                recorder.on_ack(*now, transfer.flow, &transfer.ends[SENDER], duplicates);
            }
            note_ack(transfer, flow);
        } else {
            count_at_circuit(circuits, flow);
            if packet.is_data() {
                count_delivery(&mut stage.network, transfer, flow, id);
            }
        }
        stage.network.packets.remove(id);
        self.service_seldom(stage, endpoint)
    }

    pub fn deliver_datagram(&mut self, network: &mut Network, circuits: &mut [Circuit], id: u32) {
        let &Packet { bytes, flow: index, .. } = network.packets.get(id);
        let flow = &mut self.flows[index as usize];
        count_at_circuit(circuits, flow);
        flow.counts.on_delivered(bytes);
        let payload = u64::from(bytes.saturating_sub(UDP_HEADERS_BYTES));
        flow.counts.rare_mut().datagram_bytes += payload;
        if let Some(recorder) = &mut network.recorder {
            recorder.on_received(index, payload);
        }
        network.packets_delivered += 1;
        network.packets.remove(id);
    }

    /// Counts a packet of a flow as lost.
    pub fn lose(&mut self, network: &mut Network, id: u32, cause: DropCause, at: Time) {
        let (packet, order) = (*network.packets.get(id), network.packets.order(id));
        network.packets.remove(id);
        if let Load::Tcp { endpoint } = packet.load {
            self.lose_segment(endpoint, &packet, order);
        }
        let counts = &mut self.flows[packet.flow as usize].counts;
        match packet.is_data() {
            true => counts.on_lost(cause),
            false => counts.rare_mut().acks_lost += 1,
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

    /// Performs steps 2 and 3 of the loop contract (see [`airtcp_proto::machine`]) for one end of a connection, and
    /// reads for the application.
    // Inlined where timers are handled, which is hot.
    #[inline(always)]
    fn service(&mut self, stage: &mut Stage, endpoint: u32) -> Option<u16> {
        let is_all = match (endpoint & 1) as usize {
            SENDER => self.service_sender(stage, endpoint),
            _ => self.service_receiver(stage, endpoint),
        };
        if is_all { None } else { self.service_anything(stage, endpoint) }
    }

    /// As [`service`](Ends::service), for callers that are not hot.
    #[inline(never)]
    fn service_seldom(&mut self, stage: &mut Stage, endpoint: u32) -> Option<u16> {
        self.service(stage, endpoint)
    }

    /// Services a receiver that has nothing to send but perhaps an ACK. Returns whether that is so.
    fn service_receiver(&mut self, stage: &mut Stage, endpoint: u32) -> bool {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let end = &mut transfer.ends[RECEIVER];
        if transfer.phase != Phase::Running || !end.only_receives() || end.readable() > 0 {
            return false;
        }
        let ack = end.poll_expected_ack(stage.network.now, &mut stage.network.sack);
        stage.schedule.set(Timer::Endpoint(endpoint), end.poll_expected_timeout());
        if let Some(ack) = ack {
            let flow = &mut self.flows[transfer.flow as usize];
            Connected { stage, transfer, flow, endpoint: endpoint ^ 1 }.send_ack(ack);
        }
        true
    }

    /// Services a sender that has nothing to send but new data. Returns whether that is so.
    fn service_sender(&mut self, stage: &mut Stage, endpoint: u32) -> bool {
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

    /// Retires a connection that has received something and may be over now.
    pub fn look_whether_over(&mut self, stage: &Stage, index: u32) {
        match stage.schedule.clock() {
            Clock::Run => self.retire_if_over(index),
            Clock::Ahead => self.transfers.put_off(stage.network.now, index),
        }
    }

    /// The circuit of this connection's flow alone, if it has one and the connection is not over.
    #[inline]
    pub fn circuit_of(&self, endpoint: u32) -> Option<u16> {
        let transfer = self.transfers.get(endpoint >> 1);
        self.flows[transfer.flow as usize].circuit.filter(|_| transfer.phase != Phase::Retired)
    }

    /// Lets a sending end put up to `room` packets into its circuit with `enter`. Returns whether it has more than
    /// that.
    #[inline(always)]
    pub fn fill(
        &mut self,
        stage: &mut Stage,
        endpoint: u32,
        room: u32,
        mut enter: impl FnMut(&mut Network, &Flow, u32),
    ) -> bool {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[transfer.flow as usize];
        let left = stage.network.take_expected(transfer, endpoint, flow, room, &mut enter);
        let is_all = match left {
            None => true,
            Some(0) => false,
            Some(left) => stage.network.drain(transfer, endpoint, flow, left, &mut enter),
        };
        match is_all {
            true => stage.schedule_sender(endpoint, &transfer.ends[SENDER]),
            false => self.schedule_waiting(stage, endpoint),
        }
        !is_all
    }

    /// Schedules a sending end that waits for room in a circuit. What is due already, it does when there is room.
    #[inline]
    pub fn schedule_waiting(&self, stage: &mut Stage, endpoint: u32) {
        let (end, now) = (&self.transfers.get(endpoint >> 1).ends[SENDER], stage.network.now);
        let deadline = || Some(end.poll_timeout()).filter(|at| *at > now).unwrap_or(Time::NEVER);
        stage.schedule.set_lazily(Timer::Endpoint(endpoint), end.earliest_timeout(), deadline);
    }

    /// Retires connections that have ended [ahead](crate::ahead) by now.
    #[inline(always)]
    pub fn catch_up(&mut self, now: Time) {
        self.transfers.catch_up(now, &mut self.flows);
    }

    /// Retires the connection in that place if it is over.
    #[inline(always)]
    pub fn retire_if_over(&mut self, index: u32) {
        self.transfers.retire_if_over(index, &mut self.flows);
    }

    /// Lets a source act if it is due. Returns the circuit that an end of a connection then waits for, and that end.
    pub fn handle_source(&mut self, stage: &mut Stage, index: usize) -> Option<(u16, u32)> {
        let source = &mut self.flows[index].source;
        let due = source.as_mut().filter(|source| source.poll_timeout() <= stage.network.now);
        let action = due.map_or(Action::Nothing, |source| source.handle_timeout(stage.network.now));
        source.take_if(|source| source.poll_timeout().is_never());
        let endpoint = self.act(&mut stage.network, index, action);
        // Before anything is sent, since a paced sender asks what happens next.
        self.schedule_source(stage, index);
        endpoint.and_then(|endpoint| Some((self.service_seldom(stage, endpoint)?, endpoint)))
    }

    /// Schedules a source for when it acts next.
    pub fn schedule_source(&self, stage: &mut Stage, index: usize) {
        if let Some(source) = &self.flows[index].source {
            stage.schedule.set_source(index, source.poll_timeout());
        }
    }

    /// Does what an application does. Returns the sending end that must be serviced then.
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

    fn open(&mut self, flow: usize, now: Time) -> u32 {
        self.transfers.open(flow, &mut self.flows[flow], now)
    }

    /// Acts on the flow's connection, if there still is one. Returns its place.
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

/// Sends the new data of a connection that only sends. Returns whether nothing else may leave; then the sender is
/// scheduled.
#[inline(always)]
fn send_expected(stage: &mut Stage, transfer: &mut Transfer, endpoint: u32, flow: &mut Flow) -> bool {
    match flow.runs_ahead {
        true => Connected { stage, transfer, flow, endpoint }.send_expected(),
        false => send_packets(stage, transfer, endpoint, flow),
    }
}

/// As [`send_expected`] where the receiver is not ahead.
#[inline(never)]
fn send_packets(stage: &mut Stage, transfer: &mut Transfer, endpoint: u32, flow: &mut Flow) -> bool {
    let send = |network: &mut Network, flow: &Flow, id| network.send(flow, SENDER, id);
    let is_all = stage.network.take_expected(transfer, endpoint, flow, u32::MAX, send).is_none();
    if is_all {
        stage.schedule_sender(endpoint, &transfer.ends[SENDER]);
    }
    is_all
}

/// Notes what an ACK has told the sender.
#[inline(always)]
fn note_ack(transfer: &mut Transfer, flow: &mut Flow) {
    let sender = &transfer.ends[SENDER];
    if let Some(rtt) = sender.last_rtt() {
        flow.rtt.add(rtt);
    }
    if !transfer.truth.is_empty() {
        transfer.truth.acknowledged(sender.acknowledged());
    }
}

/// Counts a packet of the flow where it leaves its circuit.
#[inline]
fn count_at_circuit(circuits: &mut [Circuit], flow: &Flow) {
    if let Some(circuit) = flow.counted_by {
        circuits[usize::from(circuit)].on_delivered();
    }
}

/// Counts data that has reached its receiver.
#[inline]
fn count_delivery(network: &mut Network, transfer: &mut Transfer, flow: &mut Flow, id: u32) {
    let packet = network.packets.get(id);
    flow.counts.on_delivered(packet.bytes);
    network.packets_delivered += 1;
    let order = network.packets.order(id);
    if transfer.truth.is_undecided() && order != STATIONS_OWN {
        note_delivered(&mut transfer.truth, flow, packet.range(), order);
    }
}

/// Handles what a connection tells its application.
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
            flow.counts.rare_mut().resets += 1;
            transfer.phase = Phase::Failed;
        }
        _ => {}
    }
}
