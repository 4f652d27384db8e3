//! The engine: what happens at each event. See [`crate::run`] for the loop around it.

use crate::flow::{Flow, Phase, RECEIVER, SENDER, Totals, Transfer, is_retransmission};
use crate::packet::{Load, Packet, Packets, range};
use crate::prefetch::prefetch;
use crate::schedule::{TimerId, Timers};
use crate::series::Recorder;
use crate::tap::Tap;
use crate::topology::{Side, Topology};
use crate::traffic::Action;
use airtcp_proto::middlebox::{Direction, TcpPacket};
use airtcp_proto::path::{Fate, Output};
use airtcp_proto::queue::{DropCause, Item};
use airtcp_proto::tcp::{Connection, Event, Reason, Transmit};
use airtcp_wire::{Dur, Ecn, Segment, Seq, Time, tcp};
use std::collections::VecDeque;

const IP_HEADER_BYTES: u32 = 20;
const UDP_HEADERS_BYTES: u32 = IP_HEADER_BYTES + 8;

/// The order of a packet that a middlebox made: it tells nothing about the sender's copies.
const INJECTED: u32 = u32::MAX;

pub struct Engine {
    pub now: Time,
    pub topology: Topology,
    pub timers: Timers,
    pub packets: Packets,
    pub flows: Vec<Flow>,
    pub transfers: Vec<Transfer>,
    free_transfers: Vec<u32>,
    connections_opened: u32,
    pub recorder: Option<Recorder>,
    pub taps: Vec<Tap>,
    /// There is a recorder or a tap.
    is_watched: bool,
    /// Packets that a middlebox sent to an endpoint at its own node.
    arrivals: VecDeque<u32>,
    scratch: Vec<TcpPacket>,
    pub packets_delivered: u64,
}

/// With no more connections than this, everything stays in the caches.
const FEW: usize = 32;

/// What a timer is for. Those whose number is fixed come first.
enum Timer {
    WarmUp,
    Sample,
    Source(usize),
    Node(usize),
    Endpoint(u32),
}

impl Engine {
    pub fn new(topology: Topology, flows: Vec<Flow>, recorder: Option<Recorder>, taps: Vec<Tap>) -> Engine {
        let mut engine = Engine {
            now: Time::ZERO,
            topology,
            timers: Timers::default(),
            packets: Packets::default(),
            flows,
            transfers: Vec::new(),
            free_transfers: Vec::new(),
            connections_opened: 0,
            is_watched: recorder.is_some() || !taps.is_empty(),
            recorder,
            taps,
            arrivals: VecDeque::new(),
            scratch: Vec::new(),
            packets_delivered: 0,
        };
        engine.schedule_all();
        engine
    }

    fn schedule_all(&mut self) {
        for flow in 0..self.flows.len() {
            self.timers.set(self.source_timer(flow), self.flows[flow].source.poll_timeout());
        }
        for node in 0..self.topology.nodes.len() {
            self.schedule_node(node);
        }
        if let Some(recorder) = &self.recorder
            && recorder.interval > Dur::ZERO
        {
            self.timers.set(1, Time::ZERO + recorder.interval);
        }
    }

    pub fn schedule_warm_up(&mut self, end: Time) {
        self.timers.set(0, end);
    }

    fn source_timer(&self, flow: usize) -> TimerId {
        2 + flow as TimerId
    }

    fn node_timer(&self, node: usize) -> TimerId {
        self.source_timer(self.flows.len()) + node as TimerId
    }

    #[inline]
    fn endpoint_timer(&self, endpoint: u32) -> TimerId {
        2 + (self.flows.len() + self.topology.nodes.len()) as TimerId + endpoint
    }

    fn timer(&self, id: TimerId) -> Timer {
        let (flows, nodes) = (self.flows.len(), self.topology.nodes.len());
        match id as usize {
            0 => Timer::WarmUp,
            1 => Timer::Sample,
            id if id < 2 + flows => Timer::Source(id - 2),
            id if id < 2 + flows + nodes => Timer::Node(id - 2 - flows),
            id => Timer::Endpoint((id - 2 - flows - nodes) as u32),
        }
    }

    /// Handles the next event unless it comes after `end`. Links go before timers of the same instant.
    #[inline]
    pub fn step(&mut self, end: Time) -> bool {
        let (at, side) = self.topology.next();
        let timer_at = self.timers.next();
        if at.min(timer_at) > end {
            return false;
        }
        if at <= timer_at {
            self.now = at;
            self.on_link(side);
        } else {
            self.now = timer_at;
            if let Some(id) = self.timers.pop() {
                self.on_timer(id);
            }
        }
        if !self.arrivals.is_empty() {
            self.deliver_arrivals();
        }
        true
    }

    #[cold]
    fn deliver_arrivals(&mut self) {
        while let Some(id) = self.arrivals.pop_front() {
            self.deliver(id);
        }
    }

    /// A link has something to give. If it has more at this instant, that is another event.
    #[inline]
    fn on_link(&mut self, side: Side) {
        let Some(Output { id, ecn, at, fate }) = self.topology.poll(self.now, side) else { return };
        if self.transfers.len() > FEW {
            self.look_ahead(side);
        }
        if self.is_watched {
            self.watch(side, Direction::Reverse, id, fate);
        }
        match fate {
            Fate::Delivered => {
                self.packets.get_mut(id).transmit.ecn = ecn;
                self.arrive(id, side.far_node());
            }
            Fate::Lost(cause) => self.lose(id, cause, at),
        }
    }

    /// Fetches what the next packets out of a link will need: of the second one the packet, of the first one, which was
    /// fetched so before, the connection.
    #[inline]
    fn look_ahead(&self, side: Side) {
        if let Some(id) = self.topology.peek(side, 1) {
            prefetch(self.packets.get(id));
        }
        if let Some(id) = self.topology.peek(side, 0)
            && let Packet { load: Load::Tcp { endpoint }, flow, .. } = self.packets.get(id)
        {
            let transfer = &self.transfers[(endpoint >> 1) as usize];
            prefetch(&transfer.ends[(endpoint & 1) as usize]);
            prefetch(&transfer.truth);
            prefetch(&self.flows[*flow as usize]);
        }
    }

    fn on_timer(&mut self, id: TimerId) {
        match self.timer(id) {
            Timer::WarmUp => self.begin_measurement(),
            Timer::Sample => self.sample(),
            Timer::Source(flow) => self.on_source(flow),
            Timer::Node(node) => self.on_node(node),
            Timer::Endpoint(endpoint) => self.on_endpoint(endpoint),
        }
    }

    /// A timer of a connection may be due. If it is not, the connection is asked what it wants.
    fn on_endpoint(&mut self, endpoint: u32) {
        let transfer = &mut self.transfers[(endpoint >> 1) as usize];
        if transfer.phase == Phase::Retired {
            return;
        }
        let end = &mut transfer.ends[(endpoint & 1) as usize];
        let deadline = end.poll_timeout();
        if deadline > self.now {
            self.timers.set(self.endpoint_timer(endpoint), deadline);
            return;
        }
        end.handle_timeout(self.now);
        self.service(endpoint);
    }

    /// A packet has come to a node.
    #[inline(always)]
    fn arrive(&mut self, id: u32, node: u16) {
        if self.topology.nodes[usize::from(node)].is_some() {
            return self.through_middlebox(id, node);
        }
        match self.packets.get(id).exit == node {
            true => self.deliver(id),
            false => self.forward(id, node),
        }
    }

    /// A packet leaves a node for the next link.
    #[inline]
    fn forward(&mut self, id: u32, node: u16) {
        let packet = self.packets.get(id);
        let side = Side::out_of(node, packet.direction);
        let flow = match packet.load {
            Load::Tcp { endpoint } => endpoint,
            Load::Udp => u32::MAX - packet.flow,
        };
        let item = Item { id, bytes: packet.bytes, flow, ecn: packet.transmit.ecn };
        self.topology.send(self.now, side, item);
        if self.is_watched {
            self.watch(side, Direction::Forward, id, Fate::Delivered);
        }
    }

    /// A packet is where it goes.
    fn deliver(&mut self, id: u32) {
        let packet = self.packets.get(id);
        let endpoint = match packet.load {
            Load::Tcp { endpoint } => endpoint,
            Load::Udp => return self.deliver_datagram(id),
        };
        let end = (endpoint & 1) as usize;
        let transfer = &mut self.transfers[(endpoint >> 1) as usize];
        let flow = &mut self.flows[packet.flow as usize];
        transfer.under_way -= 1;
        transfer.ends[end].handle_segment(self.now, &packet.transmit.segment, packet.transmit.ecn);
        if end == SENDER {
            if let Some(rtt) = transfer.ends[SENDER].last_rtt() {
                flow.rtt.add(rtt);
            }
            if !transfer.truth.is_empty() {
                transfer.truth.acknowledged(transfer.ends[SENDER].acknowledged());
            }
        } else if packet.is_data() {
            flow.counts.on_delivered(packet.bytes);
            self.packets_delivered += 1;
            if transfer.truth.is_undecided() {
                transfer.truth.delivered(packet.range(), packet.order);
            }
        }
        self.packets.remove(id);
        self.service(endpoint);
        if end == SENDER && self.recorder.is_some() {
            self.sample_flow_at_ack(endpoint >> 1);
        }
    }

    fn deliver_datagram(&mut self, id: u32) {
        let &Packet { bytes, flow, .. } = self.packets.get(id);
        let counts = &mut self.flows[flow as usize].counts;
        counts.on_delivered(bytes);
        counts.datagram_bytes += u64::from(bytes.saturating_sub(UDP_HEADERS_BYTES));
        self.packets_delivered += 1;
        self.packets.remove(id);
    }

    #[cold]
    fn lose(&mut self, id: u32, cause: DropCause, at: Time) {
        let packet = *self.packets.get(id);
        self.packets.remove(id);
        if let Load::Tcp { endpoint } = packet.load {
            self.lose_segment(endpoint, &packet);
        }
        let counts = &mut self.flows[packet.flow as usize].counts;
        match packet.is_data() {
            true => counts.losses[cause as usize] += 1,
            false => counts.acks_lost += 1,
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.on_loss(at, packet.flow, cause, packet.is_data(), packet.transmit.offset);
        }
    }

    fn lose_segment(&mut self, endpoint: u32, packet: &Packet) {
        let transfer = &mut self.transfers[(endpoint >> 1) as usize];
        transfer.under_way -= 1;
        if packet.is_data() {
            let una = transfer.ends[SENDER].acknowledged();
            transfer.truth.lost(packet.range(), packet.order, una);
        }
        self.retire_if_over(endpoint >> 1);
    }

    /// Steps 2 and 3 of the loop contract for one end of a connection, with the application's part.
    fn service(&mut self, endpoint: u32) {
        let (index, end) = ((endpoint >> 1) as usize, (endpoint & 1) as usize);
        while let Some(event) = self.transfers[index].ends[end].poll_event() {
            self.on_event(index, end, event);
        }
        let connection = &mut self.transfers[index].ends[end];
        let readable = connection.readable();
        if readable > 0 {
            connection.read(readable);
        }
        loop {
            let id = self.packets.vacant();
            let transmit = &mut self.packets.get_mut(id).transmit;
            if !self.transfers[index].ends[end].poll_transmit_into(self.now, transmit) {
                break;
            }
            self.packets.occupy(id);
            self.transmit(endpoint, id);
        }
        let transfer = &self.transfers[index];
        let (deadline, phase) = (transfer.ends[end].poll_timeout(), transfer.phase);
        self.timers.set(self.endpoint_timer(endpoint), deadline);
        if phase != Phase::Running {
            self.retire_if_over(endpoint >> 1);
        }
    }

    fn on_event(&mut self, index: usize, end: usize, event: Event) {
        let transfer = &mut self.transfers[index];
        let flow = &mut self.flows[transfer.flow as usize];
        match event {
            Event::PeerFinished if end == RECEIVER => {
                flow.completions.push(self.now.since(transfer.started));
                if flow.connection == Some(index as u32) {
                    flow.completed = Some(self.now);
                }
                transfer.phase = Phase::Completed;
                transfer.ends[RECEIVER].close();
            }
            Event::Reset => {
                flow.counts.resets += 1;
                transfer.phase = Phase::Failed;
            }
            _ => {}
        }
    }

    /// One end of a connection has put a segment into the packet `id`.
    fn transmit(&mut self, endpoint: u32, id: u32) {
        let end = (endpoint & 1) as usize;
        let transfer = &mut self.transfers[(endpoint >> 1) as usize];
        let flow = &mut self.flows[transfer.flow as usize];
        let packet = self.packets.get_mut(id);
        let segment = &packet.transmit.segment;
        packet.bytes = IP_HEADER_BYTES + tcp::header_len(segment) as u32 + segment.len;
        packet.load = Load::Tcp { endpoint: endpoint ^ 1 };
        packet.flow = transfer.flow;
        packet.exit = flow.nodes[end ^ 1];
        packet.direction = if end == SENDER { flow.direction } else { opposite(flow.direction) };
        packet.order = 0;
        transfer.under_way += 1;
        if segment.len > 0 {
            flow.counts.on_sent(packet.transmit.reason);
            packet.order = account(transfer, &packet.transmit, self.now, self.recorder.as_mut());
        }
        let node = flow.nodes[end];
        match &self.topology.nodes[usize::from(node)] {
            None => self.forward(id, node),
            Some(_) => self.through_middlebox(id, node),
        }
    }

    fn on_source(&mut self, index: usize) {
        let source = &mut self.flows[index].source;
        if source.poll_timeout() <= self.now {
            let action = source.handle_timeout(self.now);
            self.act(index, action);
        }
        self.timers.set(self.source_timer(index), self.flows[index].source.poll_timeout());
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
                self.transfers[transfer as usize].write(bytes);
                self.transfers[transfer as usize].close();
                self.service(transfer << 1);
            }
            Action::Write(bytes) => self.with_connection(flow, |transfer| transfer.write(bytes)),
            Action::Greedy(greedy) => self.with_connection(flow, |transfer| transfer.set_greedy(greedy)),
            Action::Close => self.with_connection(flow, Transfer::close),
            Action::Datagram(bytes) => self.send_datagram(flow, bytes),
            Action::Nothing => {}
        }
    }

    /// The application does something with the flow's connection, if that is still there.
    fn with_connection(&mut self, flow: usize, act: impl FnOnce(&mut Transfer)) {
        let Some(index) = self.flows[flow].connection else { return };
        let transfer = &mut self.transfers[index as usize];
        if transfer.flow as usize == flow && transfer.phase == Phase::Running {
            act(transfer);
            self.service(index << 1);
        }
    }

    /// Opens a connection; the sender's end has its SYN ready.
    fn open(&mut self, index: usize) -> u32 {
        let flow = &mut self.flows[index];
        flow.counts.transfers_started += 1;
        let config = &flow.scheme.config;
        let mut draw = || (Seq(flow.stream.u32()), flow.stream.u64());
        let ((sender_iss, sender_seed), (receiver_iss, receiver_seed)) = (draw(), draw());
        let ends = [
            Connection::connect(config, sender_iss, sender_seed, self.now),
            Connection::listen(config, receiver_iss, receiver_seed),
        ];
        let ends = ends.map(|end| end.expect("schemes are checked before the run"));
        self.connections_opened += 1;
        let transfer = Transfer::new(index as u32, self.connections_opened - 1, ends, self.now);
        match self.free_transfers.pop() {
            Some(id) => {
                self.transfers[id as usize] = transfer;
                id
            }
            None => {
                self.transfers.push(transfer);
                (self.transfers.len() - 1) as u32
            }
        }
    }

    #[inline]
    fn retire_if_over(&mut self, id: u32) {
        let transfer = &mut self.transfers[id as usize];
        if transfer.phase != Phase::Running && transfer.is_over() {
            let totals = Totals::of(transfer);
            transfer.phase = Phase::Retired;
            self.flows[transfer.flow as usize].retired.add(&totals);
            self.free_transfers.push(id);
        }
    }

    fn send_datagram(&mut self, index: usize, bytes: u32) {
        let flow = &mut self.flows[index];
        flow.counts.data_packets_sent += 1;
        let packet = Packet {
            transmit: untracked(Segment::default(), Ecn::NotEct),
            load: Load::Udp,
            flow: index as u32,
            bytes,
            order: 0,
            exit: flow.nodes[RECEIVER],
            direction: flow.direction,
        };
        let (id, node) = (self.packets.insert(packet), flow.nodes[SENDER]);
        self.forward(id, node);
    }

    /// What each flow's connections have come to, ended ones included.
    pub fn totals(&self) -> Vec<Totals> {
        let mut totals: Vec<Totals> = self.flows.iter().map(|flow| flow.retired).collect();
        for transfer in self.transfers.iter().filter(|transfer| transfer.phase != Phase::Retired) {
            totals[transfer.flow as usize].add(&Totals::of(transfer));
        }
        totals
    }

    /// The warm-up is over: everything is counted anew.
    fn begin_measurement(&mut self) {
        self.transfers.iter_mut().for_each(|transfer| transfer.truth.begin_measurement());
        self.flows.iter_mut().for_each(|flow| flow.retired = Totals::default());
        let totals = self.totals();
        for (flow, baseline) in self.flows.iter_mut().zip(totals) {
            flow.baseline = baseline;
            flow.counts = Default::default();
            flow.rtt = Default::default();
            flow.completions.clear();
        }
        for side in self.topology.sides() {
            self.topology.side_mut(side).reset_stats(self.now);
        }
    }
}

/// Middleboxes.
impl Engine {
    fn on_node(&mut self, node: usize) {
        let Some(middlebox) = &mut self.topology.nodes[node] else { return };
        if middlebox.poll_timeout() <= self.now {
            let mut out = std::mem::take(&mut self.scratch);
            middlebox.handle_timeout(self.now, &mut out);
            self.leave_middlebox(None, node as u16, out);
        }
        self.schedule_node(node);
    }

    fn schedule_node(&mut self, node: usize) {
        if let Some(middlebox) = &self.topology.nodes[node] {
            self.timers.set(self.node_timer(node), middlebox.poll_timeout());
        }
    }

    fn through_middlebox(&mut self, id: u32, node: u16) {
        let packet = *self.packets.get(id);
        let (Load::Tcp { endpoint }, Some(middlebox)) =
            (packet.load, &mut self.topology.nodes[usize::from(node)])
        else {
            return self.leave_node(id, node);
        };
        let seen = TcpPacket {
            flow: endpoint >> 1,
            direction: packet.direction,
            ecn: packet.transmit.ecn,
            bytes: packet.bytes,
            segment: packet.transmit.segment,
        };
        let mut out = std::mem::take(&mut self.scratch);
        middlebox.handle_packet(self.now, seen, &mut out);
        self.packets.remove(id);
        self.transfers[seen.flow as usize].under_way -= 1;
        self.leave_middlebox(Some(packet), node, out);
        self.schedule_node(usize::from(node));
        self.retire_if_over(seen.flow);
    }

    /// Sends on what a middlebox put out, when `original` reached it.
    fn leave_middlebox(&mut self, original: Option<Packet>, node: u16, mut out: Vec<TcpPacket>) {
        for packet in out.drain(..) {
            let transfer = &mut self.transfers[packet.flow as usize];
            if transfer.phase == Phase::Retired {
                continue;
            }
            transfer.under_way += 1;
            let flow = &self.flows[transfer.flow as usize];
            let end = if packet.direction == flow.direction { RECEIVER } else { SENDER };
            let endpoint = packet.flow << 1 | end as u32;
            let segment = packet.segment;
            let is_same = |original: &Packet| {
                let before = &original.transmit.segment;
                original.load == Load::Tcp { endpoint }
                    && (before.seq, before.len) == (segment.seq, segment.len)
            };
            let (transmit, order) = match original.filter(is_same) {
                Some(original) => {
                    (Transmit { segment, ecn: packet.ecn, ..original.transmit }, original.order)
                }
                None => (untracked(segment, packet.ecn), INJECTED),
            };
            let id = self.packets.insert(Packet {
                transmit,
                load: Load::Tcp { endpoint },
                flow: transfer.flow,
                bytes: packet.bytes,
                order,
                exit: flow.nodes[end],
                direction: packet.direction,
            });
            self.leave_node(id, node);
        }
        self.scratch = out;
    }

    fn leave_node(&mut self, id: u32, node: u16) {
        match self.packets.get(id).exit == node {
            true => self.arrivals.push_back(id),
            false => self.forward(id, node),
        }
    }
}

/// Recording.
impl Engine {
    fn sample(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        for transfer in self.transfers.iter().filter(|transfer| transfer.phase != Phase::Retired) {
            if self.flows[transfer.flow as usize].is_measured {
                let view = transfer.ends[SENDER].sender_view();
                recorder.on_flow(self.now, transfer.flow, &view, transfer.ends[RECEIVER].received());
            }
        }
        for side in self.topology.sides() {
            recorder.on_queue(self.now, side.0, &self.topology.side_mut(side).queue_view(self.now));
        }
        let next = self.now + recorder.interval;
        self.timers.set(1, next);
    }

    fn sample_flow_at_ack(&mut self, index: u32) {
        let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.interval == Dur::ZERO) else {
            return;
        };
        let transfer = &self.transfers[index as usize];
        if self.flows[transfer.flow as usize].is_measured {
            let view = transfer.ends[SENDER].sender_view();
            recorder.on_flow(self.now, transfer.flow, &view, transfer.ends[RECEIVER].received());
        }
    }

    /// A packet goes onto a link or has come off it: samples the queue, and captures what the link's near node sees,
    /// which is what leaves forward and what arrives on the way back.
    #[cold]
    fn watch(&mut self, side: Side, captured: Direction, id: u32, fate: Fate) {
        if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.interval == Dur::ZERO) {
            recorder.on_queue(self.now, side.0, &self.topology.side_mut(side).queue_view(self.now));
        }
        if side.direction() != captured || fate != Fate::Delivered {
            return;
        }
        let packet = self.packets.get(id);
        for tap in self.taps.iter_mut().filter(|tap| tap.link == side.link()) {
            let number = match packet.load {
                Load::Tcp { endpoint } => self.transfers[(endpoint >> 1) as usize].number,
                Load::Udp => u32::MAX - packet.flow,
            };
            tap.write(self.now, number, packet);
        }
    }
}

/// Books data that is sent, and answers which copy of its bytes it is.
fn account(transfer: &mut Transfer, transmit: &Transmit, now: Time, recorder: Option<&mut Recorder>) -> u32 {
    let range = range(transmit);
    if !is_retransmission(transmit.reason) {
        transfer.on_sent(range.end);
        return 0;
    }
    if let Some(recorder) = recorder {
        recorder.on_resent(now, transfer.flow, transmit.reason, transmit.offset);
    }
    let Transfer { truth, ends, .. } = transfer;
    truth.resent(range, transmit.reason, |range| ends[RECEIVER].has_received(range.start, range.end))
}

/// A packet that no connection sent.
fn untracked(segment: Segment, ecn: Ecn) -> Transmit {
    Transmit { segment, ecn, reason: Reason::New, offset: 0 }
}

pub fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Forward => Direction::Reverse,
        Direction::Reverse => Direction::Forward,
    }
}
