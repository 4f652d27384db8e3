//! The ends of connections: what is delivered to them, what their applications do, and what they send.

use crate::connected::Connected;
use crate::flow::{Flow, Phase, RECEIVER, SENDER, Transfer};
use crate::network::{Network, UDP_HEADERS_BYTES};
use crate::outlet::{IntoCircuit, IntoNetwork, Outflow, Target, ToReceiver};
use crate::packet::{Load, Packet, STATIONS_OWN};
use crate::parcel::Parcel;
use crate::stage::Stage;
use crate::timer::{Clock, Timer};
use crate::traffic::Action;
use crate::transfers::Transfers;
use airtcp_proto::prefetch::prefetch_part;
use airtcp_proto::queue::DropCause;
use airtcp_proto::tcp::{Connection, Event, Outcome, transmit};
use airtcp_wire::{Header, SackBlocks, Segment, Time};

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

    /// Connects what acts on the connection with this sending end.
    #[inline(always)]
    pub fn connected<'a>(&'a mut self, stage: &'a mut Stage, endpoint: u32) -> Connected<'a> {
        let transfer = self.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.flows[transfer.flow as usize];
        Connected { stage, transfer, flow, endpoint }
    }

    /// Delivers data, new or repeated, from this sending end to a connection that only receives, and answers if an ACK is
    /// due. Returns whether the connection expected this; if not, nothing has changed.
    #[inline(always)]
    pub fn deliver_data(&mut self, stage: &mut Stage, endpoint: u32, data: &Parcel) -> bool {
        let (now, clock) = (stage.network.now, stage.schedule.clock());
        let mut connected = self.connected(stage, endpoint);
        connected.take(now, data, false, clock)
    }

    /// Delivers an ACK to a connection that only sends, which then sends what it may. Returns `None` if the connection
    /// does not expect this ACK, else the circuit that it sends through, if any.
    // The callers are hot, and know where everything is.
    #[inline(always)]
    pub fn deliver_ack(
        &mut self,
        stage: &mut Stage,
        endpoint: u32,
        ack: &Header,
        sack: &SackBlocks,
    ) -> Option<Option<u16>> {
        let now = stage.network.now;
        let mut connected = self.connected(stage, endpoint);
        let Connected { transfer, flow, .. } = &mut connected;
        if !transfer.ends[SENDER].receive_ack(now, ack, sack) {
            return None;
        }
        transfer.on_gone();
        note_ack(transfer, flow);
        if flow.circuit.is_some() {
            return Some(flow.circuit);
        }
        if !send(connected) {
            self.retire_when_over(stage, endpoint >> 1);
        }
        Some(None)
    }

    /// Delivers data that has left the circuit of its flow alone to the receiver, if that is [ahead](crate::ahead) and
    /// expects it. Returns whether it has been delivered.
    #[inline(always)]
    pub fn deliver_ahead(&mut self, stage: &mut Stage, id: u32, at: Time) -> bool {
        let packet = stage.network.packets.get(id);
        let Load::Tcp { endpoint } = packet.load else { return false };
        // What waits in a tunnel queue is never marked, so its ECN field is that of new data.
        let (data, is_plain) = (stage.network.packets.parcel(id), packet.is_plain());
        let mut connected = self.connected(stage, endpoint ^ 1);
        let is_delivered = connected.flow.runs_ahead && is_plain && connected.receive(at, &data, false);
        if is_delivered {
            stage.network.packets.remove(id);
        }
        is_delivered
    }

    /// Delivers any packet to this end of its connection. `segment` is all of it, of which `parcel` may lack options.
    #[inline(never)]
    pub fn deliver_segment(
        &mut self,
        stage: &mut Stage,
        endpoint: u32,
        segment: &Segment,
        parcel: &Parcel,
    ) -> Option<u16> {
        let mut connected = self.connected(stage, endpoint & !1);
        let Connected { stage: Stage { network, .. }, transfer, flow, .. } = &mut connected;
        let Network { now, recorder, .. } = network;
        let end = (endpoint & 1) as usize;
        let duplicates =
            if recorder.is_some() { transfer.ends[end].stats().duplicate_acks_received } else { 0 };
        transfer.ends[end].handle_segment(*now, segment, parcel.ecn);
        if end == SENDER {
            if let Some(recorder) = recorder {
                recorder.on_ack(*now, transfer.flow, &transfer.ends[SENDER], duplicates);
            }
            note_ack(transfer, flow);
        }
        match end == RECEIVER && segment.len > 0 {
            true => connected.count_delivered(parcel),
            false => connected.transfer.on_gone(),
        }
        self.service_seldom(stage, endpoint)
    }

    pub fn deliver_datagram(&mut self, network: &mut Network, id: u32) {
        let &Packet { bytes, flow: index, .. } = network.packets.get(id);
        let flow = &mut self.flows[index as usize];
        flow.counts.on_delivered(bytes);
        let payload = u64::from(bytes.saturating_sub(UDP_HEADERS_BYTES));
        flow.counts.rare_mut().datagram_bytes += payload;
        if let Some(recorder) = &mut network.recorder {
            recorder.on_received(index, payload);
        }
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
        transfer.on_gone();
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
        let end = (endpoint & 1) as usize;
        let mut connected = self.connected(stage, endpoint & !1);
        serve_application(&mut connected, end);
        if end == SENDER && connected.flow.circuit.is_some() {
            return connected.flow.circuit;
        }
        let is_running = connected.transfer.phase == Phase::Running;
        match end {
            SENDER => _ = send(connected),
            _ => send_as_receiver(connected),
        }
        if !is_running {
            self.retire_when_over(stage, endpoint >> 1);
        }
        None
    }

    /// As [`service`](Ends::service), for callers that are not hot.
    #[inline(never)]
    fn service_seldom(&mut self, stage: &mut Stage, endpoint: u32) -> Option<u16> {
        self.service(stage, endpoint)
    }

    /// Retires the connection in that place if it is over; at an end that is ahead, once the run has come that far.
    pub fn retire_when_over(&mut self, stage: &Stage, index: u32) {
        match stage.schedule.clock() {
            Clock::Run => self.retire_if_over(index),
            Clock::Ahead => self.transfers.retire_later(stage.network.now, index),
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
        enter: impl FnMut(&Network, u32),
    ) -> bool {
        let now = stage.network.now;
        let from = self.connected(stage, endpoint);
        let has_more =
            transmit(now, &mut Outflow { from, target: IntoCircuit { room, enter } }) == Outcome::Part;
        match has_more {
            true => self.schedule_waiting(stage, endpoint),
            false => stage.schedule_sender(endpoint, &self.transfers.get(endpoint >> 1).ends[SENDER]),
        }
        has_more
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

/// Handles what an end tells its application, which reads all.
#[inline(always)]
fn serve_application(connected: &mut Connected<'_>, end: usize) {
    let Connected { stage, transfer, flow, endpoint } = connected;
    while let Some(event) = transfer.ends[end].poll_event() {
        on_event(stage.network.now, *endpoint >> 1, end, transfer, flow, event);
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
}

/// Sends what the sender of a connection may send. Returns whether that was new data alone.
#[inline(always)]
fn send(from: Connected<'_>) -> bool {
    match from.flow.runs_ahead {
        true => send_into(from, ToReceiver::default()),
        false => send_into_network(from),
    }
}

#[inline(never)]
fn send_into_network(from: Connected<'_>) -> bool {
    send_into(from, IntoNetwork::<SENDER>)
}

#[inline(never)]
fn send_as_receiver(from: Connected<'_>) {
    send_into(from, IntoNetwork::<RECEIVER>);
}

#[inline(always)]
fn send_into(from: Connected<'_>, target: impl Target) -> bool {
    matches!(Outflow { from, target }.run(), Outcome::NewData { .. })
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
