//! TCP circuits: a sender at one node, a receiver at another, and header packets and their ACKs between them. Data
//! packets wait here unchanged until the circuit forwards them.
//!
//! A data packet that reaches the sender's node stays in the slab; its `queue::Item` waits in the tunnel queue
//! until `Sender::poll_transmit` names it. Header packets and their ACKs are packets of their own
//! (`Load::Header`, `Load::HeaderAck`) and carry only headers; where the circuit's end is ahead, most of them
//! never enter the slab (`Circuit::send_header`, `send_bare_reply`). Receivers need no test at their node,
//! since control packets are delivered there and data passes by. Unless `loss_reports` is off, the circuit
//! counts data where it leaves the circuit: header packets report in their window field how much was sent, ACKs
//! how much is missing, and `circuit/losses.rs` uses the round trips to tell congestion from corruption. A link
//! that compresses header packets does so between its queue and its transmitter (`path/compression.rs`). It
//! knows packets only as items, so the circuit tells it what each carries (`Circuit::announce`), and sends all
//! of them the general way.
//!
//! A flow whose scheme names `decoupling` has its own circuit. Its connections are data TCPs
//! (`circuit/data_tcp.rs`): the controller `cc/unlimited.rs`, the policy RACK-TLP or the paper's
//! `tcp/recovery/error_control.rs`, and a drain that stops when the tunnel queue is full and resumes when the
//! circuit has forwarded. A trunk (`[[circuit]]`) serves several flows, whose TCPs are unchanged; packets that
//! find its tunnel queue full are lost. What the connections of a flow's own circuit send enters the tunnel
//! queue directly, not through a station.
//!
//! Where data is repaired (`fec = auto`), each data packet gets the number by which repairs know it (`Part`), repairs are
//! packets of their own (`Load::Repair`), and what the exit recovers goes on from there (`repairing.rs`). Then nothing is ahead.

use crate::ahead::Arrival;
use crate::ends::Ends;
use crate::flow::Phase;
use crate::flow::{Carried, Flow, Handler};
use crate::network::Network;
use crate::packet::{Copied, Load, Packet, Part};
use crate::repairing::{RepairRecord, Repairing};
use crate::routes::RouteId;
use crate::stage::Stage;
use crate::timer::Timer;
use crate::topology::{Side, Topology};
use airtcp_proto::circuit::{self, Compression, Config, Output, Pair, Receiver, Reply, Sender, transmit};
use airtcp_proto::middlebox::Direction;
use airtcp_proto::path::Compressible;
use airtcp_proto::queue::{DropCause, Item};
use airtcp_proto::ring::Ring;
use airtcp_proto::tcp::Transmit;
use airtcp_wire::{Dur, Ecn, Header, SackBlocks, Segment, Time};

/// The names of a circuit, and where it runs.
#[derive(Clone, Debug)]
pub struct Site {
    /// Index among all circuits.
    pub number: u16,
    pub name: String,
    /// Which of the circuits of this name, from 0.
    pub index: u32,
    pub scheme: String,
    /// That of its header packets, as stations know it: of the data of its first flow.
    pub direction: Direction,
    /// The nodes of the sender and the receiver.
    pub nodes: [u16; 2],
    /// The side into which each of its ends sends, and the route of what it sends.
    pub ways: [Side; 2],
    pub routes: [RouteId; 2],
}

/// The ends of a circuit, as indices into [`Site::nodes`].
pub const ENTRY: usize = 0;
pub const EXIT: usize = 1;

pub struct Circuit {
    pub site: Site,
    /// The sides on its way that compress header packets.
    compressing: Vec<Side>,
    /// Bytes by which they shorten one.
    saving: u32,
    sender: Sender,
    receiver: Receiver,
    /// Stands for the addresses and ports of the first control TCP. Those of the others follow.
    first_number: u32,
    controls: u16,
    /// Bytes of data that a header packet stands for.
    vmss: u64,
    /// Does the receiver count data?
    reports_losses: bool,
    /// Present if data is repaired.
    repairing: Option<Repairing>,
    /// Length of the connections' data packets, if the connections ask for the control TCPs' window (F2).
    packet_bytes: Option<u64>,
    /// Sending ends that have more than the tunnel queue has room for.
    waiting: Ring<u32>,
    pub counts: Counts,
    pub baseline: ControlTotals,
}

/// What has passed the circuit since the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub header_packets_sent: u64,
    pub header_bytes_sent: u64,
    pub header_packets_lost: u64,
    pub acks_sent: u64,
    pub ack_bytes_sent: u64,
    pub acks_lost: u64,
    pub forwarded_packets: u64,
    pub forwarded_bytes: u64,
    pub tunnel_queue_drops: u64,
    pub repairs: RepairRecord,
    /// Sum of the control TCPs' windows, in segments, integrated over time in nanoseconds.
    window_time: u128,
    window: u32,
    window_since: Time,
    began: Time,
}

/// Sums over the control TCPs since they were opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlTotals {
    pub timeouts: u64,
    pub cwnd_reductions: u64,
}

impl Counts {
    #[inline(always)]
    fn on_data_sent(&mut self, bytes: u32) {
        self.forwarded_packets += 1;
        self.forwarded_bytes += u64::from(bytes);
    }

    fn on_repair_sent(&mut self, bytes: u32) {
        self.repairs.repair_packets_sent += 1;
        self.repairs.repair_bytes_sent += u64::from(bytes);
    }

    #[inline(always)]
    fn on_header_sent(&mut self, bytes: u32) {
        self.header_packets_sent += 1;
        self.header_bytes_sent += u64::from(bytes);
    }

    fn on_window(&mut self, now: Time, window: u32) {
        self.window_time += u128::from(self.window) * u128::from(now.since(self.window_since).0);
        (self.window, self.window_since) = (window, now);
    }

    /// Mean sum of the control TCPs' windows until `now`, in segments.
    pub fn mean_window(&self, now: Time) -> f64 {
        let mut counts = *self;
        counts.on_window(now, 0);
        counts.window_time as f64 / (now.since(self.began).max(Dur(1)).0 as f64)
    }
}

impl Circuit {
    /// The control TCPs are numbered from `first_number` on.
    pub fn new(
        site: Site,
        sender: Sender,
        receiver: Receiver,
        config: &Config,
        first_number: u32,
    ) -> Circuit {
        let saving = match config.compression {
            Compression::None => circuit::saved_by_compression(config.loss_reports),
            Compression::Rfc1144 | Compression::Twice => 0,
        };
        Circuit {
            site,
            compressing: Vec::new(),
            saving,
            sender,
            receiver,
            first_number,
            controls: config.controls,
            vmss: config.vmss.0,
            reports_losses: config.loss_reports,
            repairing: config.fec.repairs_data().then(Repairing::default),
            packet_bytes: None,
            waiting: Ring::default(),
            counts: Counts::default(),
            baseline: ControlTotals::default(),
        }
    }

    /// Lets the sender handle the flow's packets at its node. It carries those of one direction.
    pub fn handle(&self, flow: &mut Flow, direction: Direction) {
        let Site { number: circuit, nodes, .. } = self.site;
        flow.add_handler(nodes[ENTRY], Handler::Circuit(Carried { circuit, direction }));
    }

    /// Lets the links on its way that compress header packets know what these carry.
    pub fn find_compressing(&mut self, topology: &Topology) {
        self.compressing = topology.compressing_sides(self.site.routes[ENTRY]);
    }

    /// Lets the receiver count the flow's packets that leave the circuit, if it counts data.
    pub fn count(&self, flow: &mut Flow, direction: Direction) {
        let Site { number: circuit, nodes, .. } = self.site;
        if self.reports_losses {
            flow.count_at(nodes[EXIT], Carried { circuit, direction });
        }
    }

    pub fn repairs_data(&self) -> bool {
        self.repairing.is_some()
    }

    /// Notes that connections whose data packets have this length ask for the control TCPs' window.
    pub fn tell_window_in(&mut self, packet_bytes: u64) {
        self.packet_bytes = Some(packet_bytes);
    }

    /// The number that follows those of the control TCPs.
    pub fn next_number(&self) -> u32 {
        self.first_number + u32::from(self.controls)
    }

    /// Sum of the control TCPs' congestion windows, in bytes of data.
    pub fn window_bytes(&self) -> u64 {
        u64::from(self.sender.control_window()) * self.vmss
    }

    /// The data of a round trip in packets of the connections, if they ask for it.
    pub fn window_told(&self) -> Option<u32> {
        let packets = u64::from(self.sender.window()) * self.vmss / self.packet_bytes?;
        Some(u32::try_from(packets).unwrap_or(u32::MAX))
    }

    pub fn totals(&self) -> ControlTotals {
        let stats = || self.sender.controls().map(|control| control.stats());
        ControlTotals {
            timeouts: stats().map(|stats| stats.timeouts).sum(),
            cwnd_reductions: stats().map(|stats| stats.cwnd_reductions).sum(),
        }
    }

    pub fn begin_measurement(&mut self, now: Time) {
        self.baseline = self.totals();
        let Counts { window, .. } = self.counts;
        self.counts = Counts { window, window_since: now, began: now, ..Counts::default() };
    }

    pub fn schedule(&self, stage: &mut Stage, end: usize) {
        match end {
            ENTRY => self.schedule_sender(stage),
            _ => stage.schedule.set(self.timer(EXIT), self.receiver.poll_timeout()),
        }
    }

    #[inline(always)]
    fn schedule_sender(&self, stage: &mut Stage) {
        let earliest = self.sender.earliest_timeout();
        stage.schedule.set_lazily(self.timer(ENTRY), earliest, || self.sender.poll_timeout());
    }

    #[inline]
    fn timer(&self, end: usize) -> Timer {
        Timer::Circuit(usize::from(self.site.number), end)
    }

    /// Handles a timer of one of the ends, which may be due.
    pub fn handle_timer(&mut self, stage: &mut Stage, ends: &mut Ends, end: usize) {
        let now = stage.network.now;
        match end {
            ENTRY if self.sender.poll_timeout() <= now => {
                self.sender.handle_timeout(now);
                self.run(stage, ends);
            }
            EXIT if self.receiver.poll_timeout() <= now => {
                self.receiver.handle_timeout(now);
                self.reply(&mut stage.network);
                self.schedule(stage, EXIT);
            }
            _ => self.schedule(stage, end),
        }
    }

    /// Lets a sending end, whose flow alone uses the circuit, send what it has.
    #[inline(never)]
    pub fn serve(&mut self, stage: &mut Stage, ends: &mut Ends, endpoint: u32) {
        if !self.waiting.iter().any(|waiting| *waiting == endpoint) {
            self.waiting.push_back(endpoint);
        }
        // Often nothing can leave or enter until something arrives.
        let is_stuck = self.sender.rests(stage.network.now) && !self.sender.has_room();
        match is_stuck {
            true => ends.schedule_waiting(stage, endpoint),
            false => self.run(stage, ends),
        }
        ends.retire_if_over(endpoint >> 1);
    }

    /// Sends what the sender has to send, and lets waiting connections fill its tunnel queue.
    fn run(&mut self, stage: &mut Stage, ends: &mut Ends) {
        loop {
            self.fill(stage, ends);
            if !self.transmit(stage, ends) || self.waiting.is_empty() {
                break;
            }
        }
        self.counts.on_window(stage.network.now, self.sender.control_window());
        self.schedule_sender(stage);
    }

    fn fill(&mut self, stage: &mut Stage, ends: &mut Ends) {
        while let Some(&endpoint) = self.waiting.front()
            && self.sender.has_room()
        {
            // The connection may be over by now, and one of another flow may have its place.
            let has_more = ends.circuit_of(endpoint) == Some(self.site.number)
                && self.fill_from(stage, ends, endpoint, self.sender.room());
            // A connection that waits alone and has more stays first.
            if has_more && self.waiting.len() == 1 {
                continue;
            }
            self.waiting.drop_front();
            if has_more {
                self.waiting.push_back(endpoint);
            }
        }
    }

    /// Lets a connection put up to `room` packets into the tunnel queue. Returns whether it has more than that.
    #[inline(never)]
    fn fill_from(&mut self, stage: &mut Stage, ends: &mut Ends, endpoint: u32, room: u32) -> bool {
        let mut refused = Vec::new();
        let has_more = ends.fill(stage, endpoint, room, |network, id| {
            if !self.enter(network, id) {
                refused.push(id);
            }
        });
        if !refused.is_empty() {
            refuse(&mut stage.network, ends, &refused);
        }
        has_more
    }

    /// Handles a data packet that one of the flows has sent to the sender's node.
    pub fn handle_data(&mut self, stage: &mut Stage, ends: &mut Ends, id: u32) {
        if !self.enter(&stage.network, id) {
            refuse(&mut stage.network, ends, &[id]);
        }
        self.run(stage, ends);
    }

    /// Puts a data packet into the tunnel queue. Returns `false` if that is full.
    #[inline(always)]
    fn enter(&mut self, network: &Network, id: u32) -> bool {
        let packet = network.packets.get(id);
        let item = Item { id, bytes: packet.bytes, flow: packet.number, is_header: false, ecn: packet.ecn };
        let has_room = self.sender.handle_packet(network.now, item);
        self.counts.tunnel_queue_drops += u64::from(!has_room);
        has_room
    }

    /// Sends what the sender has to send. Returns whether anything left.
    fn transmit(&mut self, stage: &mut Stage, ends: &mut Ends) -> bool {
        let now = stage.network.now;
        if self.sender.rests(now) {
            return false;
        }
        let is_plain = !stage.network.is_watched && self.compressing.is_empty();
        let any = is_plain && transmit(now, &mut Tunnel { circuit: self, stage, ends, follows: false });
        if self.sender.rests(now) {
            return any;
        }
        self.transmit_anything(&mut stage.network) || any
    }

    #[inline(never)]
    fn transmit_anything(&mut self, network: &mut Network) -> bool {
        let mut any = false;
        let node = self.site.nodes[ENTRY];
        loop {
            let mut transmit = Transmit::default();
            let Some(output) = self.sender.poll_transmit(network.now, &mut transmit) else { return any };
            any = true;
            let id = match output {
                Output::Data(item) => {
                    self.counts.on_data_sent(item.bytes);
                    self.number(network, item.id);
                    item.id
                }
                Output::Repair { repair, bytes } => {
                    self.counts.on_repair_sent(bytes);
                    let id = network.packets.insert(Packet::default());
                    self.address(network.packets.get_mut(id), Load::Repair, bytes);
                    network.packets.set_part(id, Part::Repair(repair));
                    id
                }
                Output::Header { control, bytes, repeats } => {
                    self.counts.on_header_sent(bytes);
                    let id = network.packets.insert_segment(&transmit);
                    self.address(network.packets.get_mut(id), Load::Header { control, repeats }, bytes);
                    self.announce(&mut network.topology, id, transmit.segment);
                    id
                }
            };
            network.forward(id, node);
        }
    }

    /// Numbers a data packet that leaves, if data is repaired.
    fn number(&mut self, network: &mut Network, id: u32) {
        if let Some(repairing) = &mut self.repairing
            && let Some(number) = self.sender.last_source()
        {
            repairing.keep(network.packets.copied(id));
            network.packets.set_part(id, Part::Source(number));
        }
    }

    fn announce(&self, topology: &mut Topology, id: u32, segment: Segment) {
        let header = Compressible { segment, saving: self.saving };
        self.compressing.iter().for_each(|&side| topology.side_mut(side).announce(id, header));
    }

    /// Sends a data packet, and delivers it where the receiver is [ahead](crate::ahead).
    #[inline(always)]
    fn send_data(&mut self, stage: &mut Stage, ends: &mut Ends, item: Item) {
        let Some(at) = self.send(&mut stage.network, ENTRY, item) else { return };
        match ends.deliver_ahead(stage, item.id, at) {
            true => self.on_delivered(),
            false => stage.network.ahead.take_sent(item.id, at),
        }
    }

    /// Sends the header packet that follows it. Only if it cannot be delivered at once does it enter the slab.
    /// `follows` says whether the header packet before it in the burst was delivered. Returns whether this one was.
    #[inline(always)]
    fn send_header(&mut self, stage: &mut Stage, header: &Header, pair: Pair, follows: bool) -> bool {
        let id = stage.network.packets.vacant();
        let item = Item { id, bytes: pair.bytes, flow: self.first_number, is_header: true, ecn: pair.ecn };
        let at = self.send(&mut stage.network, ENTRY, item);
        let is_delivered = match at {
            Some(at) if stage.is_next_ahead(at) => {
                stage.try_ahead(at, |stage| self.receive_header(stage, header, pair.ecn, follows))
            }
            _ => false,
        };
        if !is_delivered {
            self.put_header(&mut stage.network, header, pair, at);
        }
        is_delivered
    }

    /// Puts a header packet into the slab.
    #[inline(never)]
    fn put_header(&self, network: &mut Network, header: &Header, pair: Pair, at: Option<Time>) {
        let id = network.packets.insert_new_data(header, pair.ecn, pair.offset);
        self.address(network.packets.get_mut(id), Load::Header { control: 0, repeats: 0 }, pair.bytes);
        if let Some(at) = at {
            network.ahead.take_sent(id, at);
        }
    }

    /// As [`Topology::send_to_end`](crate::topology::Topology::send_to_end), from one of the ends. Requires that nobody
    /// watches.
    #[inline(always)]
    fn send(&self, network: &mut Network, end: usize, item: Item) -> Option<Time> {
        network.topology.send_to_end(network.now, self.site.ways[end], item.bytes, || item)
    }

    /// Delivers a header packet that is not in the slab to the receiver. Returns whether the receiver expected it.
    #[inline(always)]
    fn receive_header(&mut self, stage: &mut Stage, header: &Header, ecn: Ecn, follows: bool) -> bool {
        let now = stage.network.now;
        let is_expected = (follows && self.receiver.handle_next(now, 0, header))
            || self.receiver.handle_expected(now, 0, header, ecn);
        if is_expected {
            self.answer_expected(stage, 0);
        }
        is_expected
    }

    /// Counts a packet of one of the flows that leaves the circuit.
    #[inline]
    pub fn on_delivered(&mut self) {
        self.receiver.handle_data(1);
    }

    /// Takes a packet in the slab that leaves the circuit: data of one of the flows, or a repair of data. What has been
    /// recovered has no number. It was lost on the way, and is counted so.
    pub fn handle_exit(&mut self, network: &Network, id: u32) {
        match (&mut self.repairing, network.packets.part(id)) {
            (None, _) => self.receiver.handle_data(1),
            (Some(repairing), Some(part)) => {
                self.receiver.handle_data(1);
                repairing.handle(part);
            }
            (Some(_), None) => {}
        }
    }

    /// Puts the next packet into the slab that has been recovered, at the node of the exit.
    pub fn poll_recovered(&mut self, network: &mut Network, ends: &mut Ends) -> Option<u32> {
        let repairing = self.repairing.as_mut()?;
        let copy = std::iter::from_fn(|| repairing.poll_recovered()).find(|copy| is_expected(ends, copy))?;
        self.counts.repairs.data_packets_recovered += 1;
        Some(network.packets.insert_copied(&copy))
    }

    /// Delivers a header packet to the receiver, and sends its answers.
    #[inline]
    pub fn handle_header(&mut self, stage: &mut Stage, id: u32, control: u16, repeats: u8) {
        let Network { packets, now, .. } = &mut stage.network;
        let packet = packets.get(id);
        if !packet.is_plain() || !self.receiver.handle_expected(*now, control, &packet.header, packet.ecn) {
            self.handle_any_header(&mut stage.network, id, control, repeats);
            return self.schedule(stage, EXIT);
        }
        packets.remove(id);
        self.answer_expected(stage, control);
    }

    /// Sends the answer to an expected header packet, if one is due. It does not enter the slab if it has no SACK
    /// blocks and its arrival is foreseen.
    #[inline(always)]
    fn answer_expected(&mut self, stage: &mut Stage, control: u16) {
        let Stage { network, schedule, .. } = stage;
        let Some((ack, reply)) = self.receiver.poll_expected(network.now, control, &mut network.sack) else {
            return schedule.set(self.timer(EXIT), self.receiver.poll_expected_timeout(control));
        };
        if control == 0 && network.sack.is_empty() && network.ahead.direction.is_some() {
            return self.send_bare_reply(network, &ack, reply);
        }
        let id = network.packets.insert_ack(ack, &network.sack);
        self.send_reply(network, id, reply);
    }

    #[inline(always)]
    fn send_bare_reply(&mut self, network: &mut Network, ack: &Header, reply: Reply) {
        // No station is ahead where there are circuits: stations see only packets and plain ACKs.
        debug_assert!(network.ahead.station.is_none());
        self.count_reply(reply);
        let id = network.packets.vacant();
        let item = Item { id, bytes: reply.bytes, flow: self.first_number, ..Item::default() };
        if let Some(at) = self.send(network, EXIT, item) {
            return network.ahead.answer(at, Arrival::HeaderAck { circuit: self.site.number, header: *ack });
        }
        let id = network.packets.insert_ack(*ack, &SackBlocks::NONE);
        self.address_reply(network, id, reply);
    }

    #[inline(never)]
    fn handle_any_header(&mut self, network: &mut Network, id: u32, control: u16, repeats: u8) {
        let (segment, &Packet { ecn, bytes, .. }) = (network.packets.segment(id), network.packets.get(id));
        self.receiver.handle_segment(network.now, control, &segment, ecn, bytes, repeats);
        network.packets.remove(id);
        self.reply(network);
    }

    /// Sends what the receiver has to send.
    fn reply(&mut self, network: &mut Network) {
        loop {
            let mut transmit = Transmit::default();
            let Some(reply) = self.receiver.poll_transmit(network.now, &mut transmit) else { return };
            let id = network.packets.insert_segment(&transmit);
            self.send_reply(network, id, reply);
        }
    }

    fn send_reply(&mut self, network: &mut Network, id: u32, reply: Reply) {
        self.count_reply(reply);
        self.address_reply(network, id, reply);
        network.forward(id, self.site.nodes[EXIT]);
    }

    #[inline]
    fn count_reply(&mut self, reply: Reply) {
        self.counts.acks_sent += 1;
        self.counts.ack_bytes_sent += u64::from(reply.bytes);
    }

    fn address_reply(&self, network: &mut Network, id: u32, Reply { control, bytes }: Reply) {
        self.address(network.packets.get_mut(id), Load::HeaderAck { control }, bytes);
    }

    pub fn handle_header_ack(&mut self, stage: &mut Stage, ends: &mut Ends, id: u32, control: u16) {
        let network = &mut stage.network;
        let (segment, ecn) = (network.packets.segment(id), network.packets.get(id).ecn);
        self.sender.handle_segment(network.now, control, &segment, ecn);
        network.packets.remove(id);
        self.run(stage, ends);
    }

    /// Handles an ACK of the first control TCP that is not in the slab.
    pub fn handle_arrival(&mut self, stage: &mut Stage, ends: &mut Ends, ack: &Header) {
        let now = stage.network.now;
        if !self.sender.handle_expected(now, ack) {
            self.sender.handle_segment(now, 0, &ack.into(), Ecn::NotEct);
        }
        self.run(stage, ends);
    }

    /// Counts a control packet as lost.
    pub fn lose(&mut self, load: Load) {
        match load {
            Load::HeaderAck { .. } => self.counts.acks_lost += 1,
            Load::Repair => self.counts.repairs.repair_packets_lost += 1,
            _ => self.counts.header_packets_lost += 1,
        }
    }

    /// Fills in what surrounds the segment of a control packet.
    fn address(&self, packet: &mut Packet, load: Load, bytes: u32) {
        let Site { number, nodes, direction, routes, .. } = self.site;
        let (control, end, direction) = match load {
            Load::Header { control, .. } => (control, EXIT, direction),
            Load::HeaderAck { control } => (control, ENTRY, direction.opposite()),
            Load::Repair => (0, EXIT, direction),
            Load::Tcp { .. } | Load::Udp => return,
        };
        (packet.load, packet.bytes) = (load, bytes);
        (packet.exit, packet.route, packet.direction) = (nodes[end], routes[end ^ 1], direction);
        packet.flow = u32::from(number);
        packet.number = self.first_number + u32::from(control);
    }
}

/// Where a circuit's data packets and header packets go if nobody watches and no link compresses.
struct Tunnel<'a> {
    circuit: &'a mut Circuit,
    stage: &'a mut Stage,
    ends: &'a mut Ends,
    /// Has the receiver just got a header packet of the same burst?
    follows: bool,
}

impl circuit::Outlet for Tunnel<'_> {
    #[inline(always)]
    fn sender(&mut self) -> &mut Sender {
        &mut self.circuit.sender
    }

    #[inline(always)]
    fn begin_burst(&mut self) {
        self.follows = false;
    }

    #[inline(always)]
    fn take(&mut self, header: &Header, pair: Pair) {
        let Tunnel { circuit, stage, ends, follows } = self;
        circuit.counts.on_data_sent(pair.item.bytes);
        circuit.counts.on_header_sent(pair.bytes);
        circuit.send_data(stage, ends, pair.item);
        *follows = circuit.send_header(stage, header, pair, *follows);
    }
}

/// Is a recovered packet's connection still there? If so, it is under way once more.
fn is_expected(ends: &mut Ends, copy: &Copied) -> bool {
    let Load::Tcp { endpoint } = copy.packet.load else { return true };
    let transfer = ends.transfers.get_mut(endpoint >> 1);
    let is_expected = transfer.number == copy.packet.number && transfer.phase != Phase::Retired;
    if is_expected {
        transfer.on_under_way();
    }
    is_expected
}

/// Drops packets for which the tunnel queue has no room.
#[cold]
fn refuse(network: &mut Network, ends: &mut Ends, ids: &[u32]) {
    let now = network.now;
    ids.iter().for_each(|&id| ends.lose(network, id, DropCause::Overflow, now));
}
