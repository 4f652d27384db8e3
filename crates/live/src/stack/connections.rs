//! The stack: packets of many connections on one device.

mod opening;

use super::cookies;
use super::fast_open::FastOpens;
use super::flow::{FlowKey, Phase, StackFlow};
use super::flows::Flows;
use super::half_open::{Begun, HALF_OPEN_BYTES, HalfOpen};
use super::isn::InitialNumbers;
use super::outbox::Outbox;
use super::peers::Peers;
use super::store::Tally;
use super::stream::Room;
use super::too_big::TooBig;
use crate::tun::PacketDevice;
use airtcp_proto::tcp::TcpConfig;
use airtcp_proto::{Chance, Chances};
use airtcp_wire::packet::{Endpoints, PacketError, TcpPacket, decode_tcp, decode_tcp_vouched_for};
use airtcp_wire::{Bytes, Dur, Flags, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::{io, mem};

/// Longest packet in bytes that IP can carry.
const MAX_PACKET: usize = 1 << 16;

/// Most connections in TIME-WAIT. The oldest one goes if there are more.
const MOST_WAITING: usize = 4096;

/// Bytes that a connection takes, besides what its buffers hold.
const FLOW_BYTES: usize = 4 << 10;

/// Settings of a stack's connections.
#[derive(Clone, Debug)]
pub struct Settings {
    pub config: TcpConfig,
    pub room: Room,
    /// Longest packet on the wireless link, in bytes.
    pub mtu: u32,
    /// Connections to these ports are accepted; if empty, to any port.
    pub ports: Vec<u16>,
    /// Most handshakes at once that others have begun. Further ones are answered with SYN cookies.
    pub half_open: usize,
    /// Silence after which a peer is probed; `None` for never.
    pub keepalive: Option<Dur>,
    /// TCP Fast Open (RFC 7413), for connections in both directions.
    pub fast_open: bool,
}

/// What happens to connections that others open now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Newcomers {
    Taken,
    /// They get no answer, and try again.
    Wait,
    PassBy,
}

pub struct Stack<D> {
    device: D,
    pub(super) settings: Settings,
    flows: Flows,
    numbers: Box<dyn InitialNumbers>,
    /// Random numbers for the machines' seeds.
    chance: Chance,
    outbox: Outbox,
    half_open: HalfOpen,
    /// Until when an ACK may bring a SYN cookie back.
    cookies_until: Time,
    fast_opens: FastOpens,
    /// SRTT and RTTVAR of the last connection to each peer (RFC 9040).
    round_trips: Peers<(Dur, Dur)>,
    /// Connections that a SYN's text has opened, and whose handshake may still go on.
    early: Vec<FlowKey>,
    tally: Tally,
    /// Connections of others that are established, and not yet accepted.
    established: VecDeque<FlowKey>,
    in_time_wait: BTreeMap<u64, FlowKey>,
    /// Flows that found the device without room.
    waiting: VecDeque<FlowKey>,
    /// Flows that have had events.
    woken: Vec<FlowKey>,
    /// Times that a connection had something to send and no timer.
    pub standstills: u64,
    pub newcomers: Newcomers,
    received: Box<[u8]>,
}

impl<D: PacketDevice> Stack<D> {
    /// `seed` is for the machines' random choices.
    pub fn new(device: D, settings: Settings, numbers: impl InitialNumbers + 'static, seed: u64) -> Stack<D> {
        Stack {
            device,
            settings,
            flows: Flows::default(),
            numbers: Box::new(numbers),
            chance: Chances::new(seed).chance("own.chance"),
            outbox: Outbox::new(),
            half_open: HalfOpen::default(),
            cookies_until: Time::ZERO,
            fast_opens: FastOpens::default(),
            round_trips: Peers::default(),
            early: Vec::new(),
            tally: Tally::default(),
            established: VecDeque::new(),
            in_time_wait: BTreeMap::new(),
            waiting: VecDeque::new(),
            woken: Vec::new(),
            standstills: 0,
            newcomers: Newcomers::Taken,
            received: vec![0; MAX_PACKET].into_boxed_slice(),
        }
    }

    /// Returns the next connection that others have opened.
    pub fn accept(&mut self) -> Option<(FlowKey, Endpoints)> {
        let key = self.established.pop_front()?;
        self.flows.get(key).map(|flow| (key, flow.endpoints))
    }

    pub fn get(&self, key: FlowKey) -> Option<&StackFlow> {
        self.flows.get(key)
    }

    pub fn get_mut(&mut self, key: FlowKey) -> Option<&mut StackFlow> {
        self.flows.get_mut(key)
    }

    /// Flows that have had events since the last call.
    pub fn take_woken(&mut self) -> Vec<FlowKey> {
        let woken = std::mem::take(&mut self.woken);
        for key in &woken {
            if let Some(flow) = self.flows.get_mut(*key) {
                flow.is_woken = false;
            }
        }
        woken
    }

    pub fn poll_timeout(&self) -> Time {
        self.flows.poll_timeout().min(self.half_open.poll_timeout())
    }

    /// Bytes that handshakes take which others have begun.
    pub fn half_open_bytes(&self) -> usize {
        self.half_open.len() * HALF_OPEN_BYTES
    }

    /// Bytes that all connections take now.
    pub fn held(&self) -> usize {
        self.half_open_bytes() + self.flows.len() * FLOW_BYTES + self.tally.bytes()
    }

    /// Number of connections, in whatever state.
    pub fn len(&self) -> usize {
        self.flows.len() + self.half_open.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn device(&self) -> &D {
        &self.device
    }

    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// The link at the device carries packets of this many bytes from now on.
    pub fn handle_link_mtu(&mut self, now: Time, mtu: u32) {
        self.settings.mtu = mtu;
        for key in self.flows.keys() {
            if let Some(flow) = self.flows.get_mut(key) {
                flow.handle_link_mtu(now, mtu);
            }
            self.flush(now, key);
        }
    }

    pub fn handle_timeouts(&mut self, now: Time) {
        while let Some(key) = self.flows.due(now) {
            if let Some(flow) = self.flows.get_mut(key) {
                flow.handle_timeout(now);
            }
            self.after(now, key);
        }
        while let Some((endpoints, begun)) = self.half_open.take_due(now) {
            if !begun.is_in_vain() {
                self.answer(now, endpoints, begun);
            }
        }
    }

    /// Handles the next packet, and returns whether there was one. One at a time: with one time for several, RACK
    /// would take what was sent between them for sent at once, in the order of sequence numbers (RFC 8985 §6.2).
    ///
    /// # Errors
    /// The device's.
    pub fn handle_packet(&mut self, now: Time) -> io::Result<bool> {
        let Some(len) = self.device.recv(&mut self.received)? else { return Ok(false) };
        let offload = self.device.offload();
        let decode = if offload.is_vouched_for() { decode_tcp_vouched_for } else { decode_tcp };
        let place = match decode(&self.received[..len]) {
            Ok(packet) => self.place(now, packet),
            Err(PacketError::NotTcp(_)) => self.place_message(now, len),
            // Damaged packets are none of ours.
            Err(_) => Owner::Others,
        };
        match place {
            Owner::Ours(key, packet) => {
                if let Some(flow) = self.flows.get_mut(key) {
                    if let Some(duplicates) = self.device.repeats_first_every(&flow.endpoints) {
                        flow.stream.connection().repeat_first_every(duplicates);
                    }
                    flow.handle_packet(now, &packet, offload, &self.received[..len]);
                }
                if packet.segment.flags.contains(Flags::SYN) {
                    self.note_syn_ack(now, key, &packet);
                }
                self.after(now, key);
            }
            Owner::Newcomer(packet) => self.open_at_once(now, &packet),
            Owner::HalfOpen(begun, packet) => self.go_on(now, &begun, &packet, offload, len),
            Owner::Nowhere => {}
            Owner::Others => self.hand_back(len)?,
        }
        Ok(true)
    }

    /// Sends what may be sent now.
    pub fn flush(&mut self, now: Time, key: FlowKey) {
        let Some(flow) = self.flows.get_mut(key) else { return };
        loop {
            if !self.device.has_room(&flow.endpoints) {
                if !mem::replace(&mut flow.is_waiting, true) {
                    self.waiting.push_back(key);
                }
                break;
            }
            let Some(transmit) = flow.poll_transmit(now) else { break };
            flow.send(&transmit, |part| {
                let fill = |payload: &mut [u8]| flow.stream.copy_payload(part.offset, payload);
                self.outbox.put(&mut self.device, &flow.endpoints, part, fill);
                if part.segment.syn.fast_open.has_cookie() {
                    self.outbox.seal(flow.cookie);
                }
            });
        }
        if let Some(question) = flow.take_question(now) {
            self.outbox.put(&mut self.device, &flow.endpoints, &question, |_| {});
        }
        self.outbox.send(&mut self.device);
        // The watchdog. A flow that waits for room is sent again when there is some.
        if !flow.is_waiting && flow.stream.connection().revive(now) {
            self.standstills += 1;
            tracing::warn!(
                "the connection to {} stood still: it is resumed",
                flow.endpoints.reversed().source()
            );
        }
        flow.stream.adjust();
        self.flows.set_timer(key);
    }

    /// The device has room again. Flows take turns: one that has sent goes to the end of the line.
    pub fn handle_room(&mut self, now: Time) {
        let mut still = VecDeque::new();
        // Ports of peers without room, so that the device is asked once for each.
        let mut full = BTreeSet::new();
        for key in mem::take(&mut self.waiting) {
            let Some(flow) = self.flows.get_mut(key) else { continue };
            let port = flow.endpoints.ports.destination;
            if full.contains(&port) || !self.device.has_room(&flow.endpoints) {
                full.insert(port);
                still.push_back(key);
            } else {
                flow.is_waiting = false;
                self.flush(now, key);
            }
        }
        still.append(&mut self.waiting);
        self.waiting = still;
    }

    /// Nobody uses the flow any more. It is reset unless it is over.
    pub fn release(&mut self, now: Time, key: FlowKey) {
        let Some(flow) = self.flows.get_mut(key) else { return };
        if self.settings.config.temporal_sharing
            && let Some(known) = flow.stream.connection().known_rtt()
        {
            self.round_trips.insert(flow.peer(), known);
        }
        flow.phase = Phase::Released;
        if !flow.is_over() {
            flow.stream.abort();
            self.flush(now, key);
            return self.flows.remove(key);
        }
        if flow.is_closed() {
            return self.flows.remove(key);
        }
        flow.stream.forget();
        self.in_time_wait.insert(key.serial, key);
        if self.in_time_wait.len() > MOST_WAITING
            && let Some((_, eldest)) = self.in_time_wait.pop_first()
        {
            self.flows.remove(eldest);
        }
    }

    fn hand_back(&mut self, len: usize) -> io::Result<()> {
        let packet = &self.received[..len];
        self.device.hand_back(packet, headers_len(packet))
    }

    /// Sends what an event has caused, and records the event.
    fn after(&mut self, now: Time, key: FlowKey) {
        self.flush(now, key);
        let Some(flow) = self.flows.get_mut(key) else { return };
        match flow.phase {
            Phase::Used if !flow.is_woken => {
                flow.is_woken = true;
                self.woken.push(key);
            }
            Phase::Released if flow.is_closed() => self.forget(key),
            Phase::Used | Phase::Released => {}
        }
    }

    /// Removes a flow from everywhere.
    fn forget(&mut self, key: FlowKey) {
        self.in_time_wait.remove(&key.serial);
        self.flows.remove(key);
    }

    /// Decides whose a packet is. Makes a connection for a SYN that is to be accepted.
    fn place(&mut self, now: Time, packet: TcpPacket) -> Owner {
        let endpoints = packet.endpoints.reversed();
        if let Some(key) = self.flows.find(&endpoints) {
            let gives_way = self.flows.get_mut(key).is_some_and(|flow| {
                flow.phase == Phase::Released && flow.stream.connection().gives_way_to(now, &packet.segment)
            });
            if !gives_way || self.newcomers != Newcomers::Taken {
                return Owner::Ours(key, packet);
            }
            self.forget(key);
        }
        if let Some(begun) = self.half_open.get(&endpoints) {
            return Owner::HalfOpen(begun.clone(), packet);
        }
        let flags = packet.segment.flags;
        let is_syn = flags.contains(Flags::SYN) && !flags.contains(Flags::ACK) && !flags.contains(Flags::RST);
        let port = endpoints.ports.source;
        let is_wanted = self.settings.ports.is_empty() || self.settings.ports.contains(&port);
        match self.newcomers {
            Newcomers::Taken if is_syn && is_wanted => match self.may_take_text(now, &endpoints, &packet) {
                true => Owner::Newcomer(packet),
                false => {
                    self.begin(now, endpoints, &packet.segment);
                    Owner::Nowhere
                }
            },
            Newcomers::Wait if is_syn && is_wanted => Owner::Nowhere,
            _ => self.place_ack(now, &endpoints, packet),
        }
    }

    /// Decides whose a packet of an unknown connection is: its ACK may bring a SYN cookie back.
    fn place_ack(&self, now: Time, endpoints: &Endpoints, packet: TcpPacket) -> Owner {
        if now >= self.cookies_until {
            return Owner::Others;
        }
        let config = self.config(endpoints.source());
        match cookies::begun(&*self.numbers, now, endpoints, &packet.segment, &config) {
            // The peer sends it again.
            Some(_) if self.newcomers == Newcomers::Wait => Owner::Nowhere,
            Some(begun) => Owner::HalfOpen(begun, packet),
            None => Owner::Others,
        }
    }

    /// Decides whose a router's message is, and handles it.
    fn place_message(&mut self, now: Time, len: usize) -> Owner {
        let Some(too_big) = TooBig::read(&self.received[..len]) else { return Owner::Others };
        let Some(key) = self.flows.find(&too_big.endpoints) else { return Owner::Others };
        if let Some(flow) = self.flows.get_mut(key) {
            flow.handle_too_big(now, &too_big);
        }
        self.flush(now, key);
        Owner::Nowhere
    }

    fn config(&self, local: SocketAddr) -> TcpConfig {
        let config = &self.settings.config;
        // The configuration counts an IPv4 header; IPv6's is 20 bytes longer (RFC 6691 §2).
        let longer = if local.is_ipv6() { 20 } else { 0 };
        let window = Bytes(self.settings.room.most as u64);
        TcpConfig {
            packet_size: config.packet_size.min(self.settings.mtu) - longer,
            receive_window: window,
            receive_buffer: None,
            ..config.clone()
        }
    }
}

/// Who a packet belongs to.
enum Owner {
    Ours(FlowKey, TcpPacket),
    /// To a handshake that its sender has begun.
    HalfOpen(Begun, TcpPacket),
    /// To a connection that it opens with its text.
    Newcomer(TcpPacket),
    /// To nobody: the packet is dropped.
    Nowhere,
    Others,
}

/// Length in bytes of a packet's headers. It matters only if the packet is to be cut.
fn headers_len(packet: &[u8]) -> usize {
    decode_tcp_vouched_for(packet).map_or(0, |packet| packet.payload.start)
}

impl<D: AsFd> AsFd for Stack<D> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}
