//! The stack: packets of many connections on one TUN device.

use super::flow::{Flow, FlowKey, Phase};
use super::flows::Flows;
use crate::emulate::Clock;
use crate::tun::{PacketDevice, Tun};
use airtcp_proto::tcp::{Connection, TcpConfig};
use airtcp_proto::{Stream as Chance, Streams};
use airtcp_wire::packet::{Endpoints, TcpPacket, decode_tcp};
use airtcp_wire::{Bytes, Flags, Seq, Time};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

/// Longest packet in bytes that IP can carry.
const MAX_PACKET: usize = 1 << 16;

/// Packets read at a wake-up, until others have their turn.
const PACKETS_A_TURN: usize = 128;

/// Connections in TIME-WAIT; the eldest goes when there are more.
const MOST_WAITING: usize = 4096;

/// How its connections are.
#[derive(Clone, Debug)]
pub struct Settings {
    pub config: TcpConfig,
    /// Of a connection, each way, in bytes.
    pub buffer: usize,
    /// Longest packet on the wireless link, in bytes.
    pub mtu: u32,
    /// It takes connections to these ports, or to any if there are none.
    pub ports: Vec<u16>,
    /// Handshakes that others have begun, at once.
    pub half_open: usize,
}

/// What becomes of those that open a connection now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Newcomers {
    Taken,
    /// They hear nothing, and ask again.
    Wait,
    PassBy,
}

pub struct Stack {
    tun: Tun,
    settings: Settings,
    flows: Flows,
    clock: Clock,
    /// Of initial sequence numbers, which nobody can guess (RFC 9293 §3.4.1), and of the machines.
    chance: Chance,
    /// Handshakes that others have begun, the eldest first.
    half_open: VecDeque<FlowKey>,
    /// Others' connections that are established, and whom nobody has taken yet.
    established: VecDeque<FlowKey>,
    in_time_wait: VecDeque<FlowKey>,
    /// Flows to which something has happened.
    woken: Vec<FlowKey>,
    pub newcomers: Newcomers,
    received: Box<[u8]>,
    sent: Box<[u8]>,
}

impl Stack {
    /// Its timers go by `clock`.
    ///
    /// # Errors
    /// There is no /dev/urandom.
    pub fn new(tun: Tun, settings: Settings, clock: Clock) -> io::Result<Stack> {
        let mut seed = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut seed)?;
        let buffer = || vec![0; MAX_PACKET].into_boxed_slice();
        Ok(Stack {
            tun,
            settings,
            flows: Flows::default(),
            clock,
            chance: Streams::new(u64::from_ne_bytes(seed)).stream("own.chance"),
            half_open: VecDeque::new(),
            established: VecDeque::new(),
            in_time_wait: VecDeque::new(),
            woken: Vec::new(),
            newcomers: Newcomers::Taken,
            received: buffer(),
            sent: buffer(),
        })
    }

    /// Begins a connection.
    ///
    /// # Errors
    /// The two are not of one family; one between them is open.
    pub fn connect(&mut self, local: SocketAddr, peer: SocketAddr) -> io::Result<FlowKey> {
        let endpoints = Endpoints::new(local, peer).ok_or(io::ErrorKind::InvalidInput)?;
        if self.flows.find(&endpoints).and_then(|key| self.flows.get(key)).is_some_and(|flow| !flow.is_over())
        {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let (iss, seed) = (Seq(self.chance.u32()), self.chance.u64());
        let config = self.config(local);
        let connection = Connection::connect(&config, iss, seed, self.clock.now());
        let connection = connection.map_err(io::Error::other)?;
        let key = self.flows.insert(Flow::new(connection, endpoints, self.settings.buffer, Phase::Used));
        self.flush(key);
        Ok(key)
    }

    /// The next connection that others have opened.
    pub fn accept(&mut self) -> Option<(FlowKey, Endpoints)> {
        let key = self.established.pop_front()?;
        self.flows.get(key).map(|flow| (key, flow.endpoints))
    }

    pub fn get(&self, key: FlowKey) -> Option<&Flow> {
        self.flows.get(key)
    }

    pub fn get_mut(&mut self, key: FlowKey) -> Option<&mut Flow> {
        self.flows.get_mut(key)
    }

    /// Those to which something has happened since it was asked last.
    pub fn take_woken(&mut self) -> Vec<FlowKey> {
        std::mem::take(&mut self.woken)
    }

    pub fn poll_timeout(&self) -> Time {
        self.flows.poll_timeout()
    }

    /// Of a connection, each way, in bytes.
    pub fn buffer(&self) -> usize {
        self.settings.buffer
    }

    pub fn handle_timeouts(&mut self) {
        let now = self.clock.now();
        while let Some(key) = self.flows.due(now) {
            if let Some(flow) = self.flows.get_mut(key) {
                flow.handle_timeout(now);
            }
            self.after(key);
        }
    }

    /// Takes in packets that have come.
    ///
    /// # Errors
    /// The device's.
    pub fn handle_packets(&mut self) -> io::Result<()> {
        for _ in 0..PACKETS_A_TURN {
            let Some(len) = self.tun.recv(&mut self.received)? else { return Ok(()) };
            // What is no TCP, or is damaged, is none of ours.
            let packet = decode_tcp(&self.received[..len]).ok();
            match packet.map_or(Place::Others, |packet| self.place(packet)) {
                Place::Ours(key, packet) => {
                    let now = self.clock.now();
                    if let Some(flow) = self.flows.get_mut(key) {
                        flow.handle_packet(now, &packet, &self.received[..len]);
                    }
                    self.after(key);
                }
                Place::Nowhere => {}
                Place::Others => self.tun.send(&self.received[..len])?,
            }
        }
        Ok(())
    }

    /// Sends what may be sent now.
    pub fn flush(&mut self, key: FlowKey) {
        let now = self.clock.now();
        let Some(flow) = self.flows.get_mut(key) else { return };
        while let Some(transmit) = flow.stream.connection().poll_transmit(now) {
            // A packet that cannot leave is lost, as on any link.
            if let Ok(len) = flow.stream.encode(&transmit, &mut self.sent) {
                let _ = self.tun.send(&self.sent[..len]);
            }
        }
        self.flows.set_timer(key);
    }

    /// Nobody uses it any more: what is not over is reset.
    pub fn release(&mut self, key: FlowKey) {
        let Some(flow) = self.flows.get_mut(key) else { return };
        flow.phase = Phase::Released;
        if !flow.is_over() {
            flow.stream.abort();
            self.flush(key);
            return self.flows.remove(key);
        }
        if flow.is_closed() {
            return self.flows.remove(key);
        }
        flow.stream.forget();
        self.in_time_wait.push_back(key);
        if self.in_time_wait.len() > MOST_WAITING
            && let Some(eldest) = self.in_time_wait.pop_front()
        {
            self.flows.remove(eldest);
        }
    }

    /// What has happened is put down, and answered.
    fn after(&mut self, key: FlowKey) {
        self.flush(key);
        let Some(flow) = self.flows.get_mut(key) else { return };
        match flow.phase {
            Phase::Used => self.woken.push(key),
            Phase::HalfOpen if flow.is_connected => {
                flow.phase = Phase::Used;
                self.half_open.retain(|one| *one != key);
                self.established.push_back(key);
            }
            Phase::HalfOpen if flow.is_in_vain() => {
                self.half_open.retain(|one| *one != key);
                self.flows.remove(key);
            }
            Phase::Released if flow.is_closed() => {
                self.in_time_wait.retain(|one| *one != key);
                self.flows.remove(key);
            }
            Phase::HalfOpen | Phase::Released => {}
        }
    }

    /// Whose a packet is. For a SYN that is to be taken it makes a connection.
    fn place(&mut self, packet: TcpPacket) -> Place {
        let endpoints = packet.endpoints.reversed();
        if let Some(key) = self.flows.find(&endpoints) {
            return Place::Ours(key, packet);
        }
        let flags = packet.segment.flags;
        let is_syn = flags.contains(Flags::SYN) && !flags.contains(Flags::ACK) && !flags.contains(Flags::RST);
        let port = endpoints.ports.source;
        let is_wanted = self.settings.ports.is_empty() || self.settings.ports.contains(&port);
        match self.newcomers {
            Newcomers::Taken if is_syn && is_wanted => {
                self.begin(endpoints).map_or(Place::Nowhere, |key| Place::Ours(key, packet))
            }
            Newcomers::Wait if is_syn && is_wanted => Place::Nowhere,
            _ => Place::Others,
        }
    }

    fn begin(&mut self, endpoints: Endpoints) -> Option<FlowKey> {
        let (iss, seed) = (Seq(self.chance.u32()), self.chance.u64());
        let connection = Connection::listen(&self.config(endpoints.source()), iss, seed).ok()?;
        let key = self.flows.insert(Flow::new(connection, endpoints, self.settings.buffer, Phase::HalfOpen));
        self.half_open.push_back(key);
        if self.half_open.len() > self.settings.half_open
            && let Some(eldest) = self.half_open.pop_front()
        {
            self.flows.remove(eldest);
        }
        Some(key)
    }

    fn config(&self, local: SocketAddr) -> TcpConfig {
        let config = &self.settings.config;
        // The configuration counts an IPv4 header; IPv6's is 20 bytes longer (RFC 6691 §2).
        let longer = if local.is_ipv6() { 20 } else { 0 };
        let window = Bytes(self.settings.buffer as u64);
        TcpConfig {
            packet_size: config.packet_size.min(self.settings.mtu) - longer,
            receive_window: window,
            receive_buffer: None,
            ..config.clone()
        }
    }
}

/// Whose a packet is.
enum Place {
    Ours(FlowKey, TcpPacket),
    /// It is dropped.
    Nowhere,
    Others,
}

impl AsFd for Stack {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}
