//! TCP circuits: a sender at one node, a receiver at another, and header packets and their ACKs in between. Data packets
//! wait here as they are and go on when the circuit says so.

use crate::engine::Engine;
use crate::flow::{Phase, SENDER};
use crate::packet::{Load, Packet};
use airtcp_proto::circuit::{Output, Receiver, Reply, Sender};
use airtcp_proto::middlebox::Direction;
use airtcp_proto::queue::{DropCause, Item};
use airtcp_proto::tcp::Transmit;
use airtcp_wire::{Dur, Time};
use std::collections::VecDeque;

/// What a circuit is called, and where it runs.
#[derive(Clone, Debug)]
pub struct Place {
    pub name: String,
    /// Which of the circuits of this name, from 0.
    pub index: u32,
    pub scheme: String,
    /// Of the data.
    pub direction: Direction,
    /// Nodes at which the sender and the receiver stand.
    pub nodes: [u16; 2],
}

pub struct Circuit {
    pub place: Place,
    pub sender: Sender,
    pub receiver: Receiver,
    /// The stations that have the timers of sender and receiver.
    pub stations: [u16; 2],
    /// Stands for addresses and ports of the first control TCP; the others' follow.
    pub first_number: u32,
    pub controls: u16,
    /// Bytes of data that a header packet stands for.
    pub vmss: u64,
    /// Does the receiver count data?
    pub reports_losses: bool,
    /// How long a data packet of the connections is, if they want to know the control TCPs' window in them (F2).
    pub packet_bytes: Option<u64>,
    /// Sending ends that have more than the tunnel queue had room for.
    pub waiting: VecDeque<u32>,
    pub counts: Counts,
    pub baseline: ControlTotals,
}

/// What has gone through since the warm-up.
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
    /// The control TCPs' windows together, in segments, over time in nanoseconds.
    window_time: u128,
    window: u32,
    window_since: Time,
    began: Time,
}

/// What the control TCPs have come to since they were opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlTotals {
    pub timeouts: u64,
    pub cwnd_reductions: u64,
}

impl Counts {
    fn on_window(&mut self, now: Time, window: u32) {
        self.window_time += u128::from(self.window) * u128::from(now.since(self.window_since).0);
        (self.window, self.window_since) = (window, now);
    }

    /// Mean over the time until `now`.
    pub fn mean_window(&self, now: Time) -> f64 {
        let mut counts = *self;
        counts.on_window(now, 0);
        counts.window_time as f64 / (now.since(self.began).max(Dur(1)).0 as f64)
    }
}

impl Circuit {
    /// The number after those of its control TCPs.
    pub fn next_number(&self) -> u32 {
        self.first_number + u32::from(self.controls)
    }

    /// Congestion windows of its control TCPs together, in bytes of data.
    pub fn window_bytes(&self) -> u64 {
        u64::from(self.sender.control_window()) * self.vmss
    }

    pub fn totals(&self) -> ControlTotals {
        let stats = || self.sender.controls().map(|control| control.stats());
        ControlTotals {
            timeouts: stats().map(|stats| stats.timeouts).sum(),
            cwnd_reductions: stats().map(|stats| stats.cwnd_reductions).sum(),
        }
    }

    /// A packet of one of its flows passes the node where it ends.
    pub fn leave(&mut self, direction: Direction) {
        if direction == self.place.direction {
            self.receiver.handle_data(1);
        }
    }

    /// Where data is counted, if it is.
    pub fn counted_at(&self, number: u16) -> Option<(u16, u16)> {
        self.reports_losses.then_some((self.place.nodes[1], number))
    }

    pub fn begin_measurement(&mut self, now: Time) {
        self.baseline = self.totals();
        let Counts { window, .. } = self.counts;
        self.counts = Counts { window, window_since: now, began: now, ..Counts::default() };
    }

    fn control_packet(
        &self,
        index: usize,
        load: Load,
        control: u16,
        transmit: Transmit,
        bytes: u32,
    ) -> Packet {
        let Place { nodes, direction, .. } = self.place;
        let (exit, direction) = match load {
            Load::HeaderAck { .. } => (nodes[0], direction.opposite()),
            _ => (nodes[1], direction),
        };
        let number = self.first_number + u32::from(control);
        Packet { transmit, load, flow: index as u32, number, bytes, order: 0, exit, direction }
    }
}

impl Engine {
    /// A packet of one of the circuit's flows is at the sender's node: data enters the tunnel, what comes back passes by.
    pub fn at_circuit(&mut self, index: usize, id: u32, node: u16) {
        let circuit = &self.circuits[index];
        let packet = self.network.packets.get(id);
        if packet.direction == circuit.place.direction {
            self.enter(index, id);
            return self.run_circuit(index);
        }
        if let (Some(packet_bytes), Load::Tcp { endpoint }) = (circuit.packet_bytes, packet.load) {
            let window = u64::from(circuit.sender.window()) * circuit.vmss / packet_bytes;
            let sender = &mut self.transfers[(endpoint >> 1) as usize].ends[SENDER];
            sender.repeat_first_every(u32::try_from(window).unwrap_or(u32::MAX));
        }
        self.leave_node(id, node);
    }

    /// The sending end of a connection may have something for the circuit that its flow alone uses.
    pub fn send_by_circuit(&mut self, index: usize, endpoint: u32) {
        let waiting = &mut self.circuits[index].waiting;
        if !waiting.contains(&endpoint) {
            waiting.push_back(endpoint);
        }
        self.run_circuit(index);
    }

    /// Sends what the circuit's sender has to send, and lets those that wait fill its tunnel queue.
    pub fn run_circuit(&mut self, index: usize) {
        loop {
            self.fill(index);
            if !self.transmit(index) || self.circuits[index].waiting.is_empty() {
                break;
            }
        }
        let circuit = &mut self.circuits[index];
        circuit.counts.on_window(self.network.now, circuit.sender.control_window());
        let station = usize::from(circuit.stations[0]);
        self.schedule_station(station);
    }

    fn fill(&mut self, index: usize) {
        while let Some(&endpoint) = self.circuits[index].waiting.front() {
            let room = self.circuits[index].sender.room();
            if room == 0 {
                return;
            }
            self.circuits[index].waiting.pop_front();
            if self.fill_from(index, endpoint, room) {
                self.circuits[index].waiting.push_back(endpoint);
            }
        }
    }

    /// Answers whether the connection has more than there was room for.
    #[inline(never)]
    fn fill_from(&mut self, index: usize, endpoint: u32, room: u32) -> bool {
        let timer = self.endpoint_timer(endpoint);
        let transfer = &mut self.transfers[(endpoint >> 1) as usize];
        if transfer.phase == Phase::Retired {
            return false;
        }
        let flow = &mut self.flows[transfer.flow as usize];
        let before = self.network.sent_at_station.len();
        let is_all = self.network.drain(transfer, endpoint, flow, room);
        self.timers.set(timer, transfer.ends[SENDER].poll_timeout());
        while let Some((id, _)) = self.network.sent_at_station.remove(before) {
            self.enter(index, id);
        }
        !is_all
    }

    /// A data packet comes to the tunnel queue.
    fn enter(&mut self, index: usize, id: u32) {
        let circuit = &mut self.circuits[index];
        let packet = self.network.packets.get(id);
        let item =
            Item { id, bytes: packet.bytes, flow: packet.number, is_header: false, ecn: packet.transmit.ecn };
        if !circuit.sender.handle_packet(self.network.now, item) {
            circuit.counts.tunnel_queue_drops += 1;
            self.lose(id, DropCause::Overflow, self.network.now);
        }
    }

    /// Answers whether anything left.
    fn transmit(&mut self, index: usize) -> bool {
        let mut any = false;
        let node = self.circuits[index].place.nodes[0];
        while let Some(output) = self.circuits[index].sender.poll_transmit(self.network.now) {
            any = true;
            let circuit = &mut self.circuits[index];
            match output {
                Output::Data(item) => {
                    circuit.counts.forwarded_packets += 1;
                    circuit.counts.forwarded_bytes += u64::from(item.bytes);
                    self.leave_node(item.id, node);
                }
                Output::Header { control, transmit, bytes, repeats } => {
                    circuit.counts.header_packets_sent += 1;
                    circuit.counts.header_bytes_sent += u64::from(bytes);
                    let packet = circuit.control_packet(
                        index,
                        Load::Header { control, repeats },
                        control,
                        transmit,
                        bytes,
                    );
                    let id = self.network.packets.insert(packet);
                    self.network.forward(id, node);
                }
            }
        }
        any
    }

    /// A header packet is at the circuit's end.
    pub fn deliver_header(&mut self, id: u32, control: u16, repeats: u8) {
        let &Packet { transmit, flow, bytes, .. } = self.network.packets.get(id);
        self.network.packets.remove(id);
        let receiver = &mut self.circuits[flow as usize].receiver;
        receiver.handle_segment(self.network.now, control, &transmit.segment, transmit.ecn, bytes, repeats);
        self.reply(flow as usize);
    }

    /// Sends what the circuit's receiver has to send.
    pub fn reply(&mut self, index: usize) {
        let circuit = &mut self.circuits[index];
        while let Some(Reply { control, transmit, bytes }) = circuit.receiver.poll_transmit(self.network.now)
        {
            circuit.counts.acks_sent += 1;
            circuit.counts.ack_bytes_sent += u64::from(bytes);
            let packet = circuit.control_packet(index, Load::HeaderAck { control }, control, transmit, bytes);
            let id = self.network.packets.insert(packet);
            self.network.forward(id, circuit.place.nodes[1]);
        }
        let station = usize::from(circuit.stations[1]);
        self.schedule_station(station);
    }

    pub fn deliver_header_ack(&mut self, id: u32, control: u16) {
        let &Packet { transmit, flow, .. } = self.network.packets.get(id);
        self.network.packets.remove(id);
        let sender = &mut self.circuits[flow as usize].sender;
        sender.handle_segment(self.network.now, control, &transmit.segment, transmit.ecn);
        self.run_circuit(flow as usize);
    }

    pub fn lose_control_packet(&mut self, packet: &Packet) {
        let counts = &mut self.circuits[packet.flow as usize].counts;
        match packet.load {
            Load::HeaderAck { .. } => counts.acks_lost += 1,
            _ => counts.header_packets_lost += 1,
        }
    }
}
