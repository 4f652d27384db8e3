//! The sending node. It opens a session with the receiving node, and forwards data as the control TCPs allow.

use super::session::{Reader, Writer};
use super::{IDLE, PATIENCE, REPEAT, STANDSTILL, nonce};
use airtcp_proto::Chance;
use airtcp_proto::cc::RegistryError;
use airtcp_proto::circuit::{self, Compression, Config, Fec, Sender};
use airtcp_proto::fec::{Packet, Repair, Sources};
use airtcp_proto::queue::Item;
use airtcp_proto::tcp::{Connection, TcpConfig, Transmit};
use airtcp_wire::circuit::{Datagram, FINGERPRINT_LEN, Hello, Key, Kind, Nonce, REPAIR_LEN, Terms, Welcome};
use airtcp_wire::{Dur, Ecn, Flags, Segment, Time};
use std::collections::VecDeque;

/// An output of the node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// A data packet, as it came.
    Data(Item),
    /// A datagram to the receiving node.
    Datagram(Datagram, Ecn),
    /// One that stands in for data packets, and is data to routers.
    Repair(Vec<u8>),
}

pub struct SendingNode {
    config: Config,
    tcp: TcpConfig,
    key: Key,
    chance: Chance,
    phase: Phase,
    /// Data packets that leave at once, because there is no circuit, or was none when they came.
    passing: VecDeque<Item>,
    /// Data packets that the circuit holds. They came after those that pass.
    waiting: VecDeque<Item>,
    /// Nothing else controls what sends the data, so that it waits while there is no circuit.
    needs_circuit: bool,
    /// Bytes of a repair that the path takes as one packet.
    longest_repair: usize,
    /// Sessions opened so far.
    pub sessions: u64,
    /// Times that data waited while nothing was under way, and the session was given up for it.
    pub standstills: u64,
    /// Datagrams that failed authentication.
    pub refused: u64,
}

enum Phase {
    Calling { nonce: Nonce, next: Time },
    Open(Box<Open>),
}

struct Open {
    sender: Sender,
    writer: Writer,
    reader: Reader,
    /// Present if data is repaired.
    sources: Option<Sources>,
    /// When to send the next PING.
    ping: Time,
    /// Since when an answer is due.
    awaits: Option<Time>,
    /// Since when data waits while nothing is under way.
    stands: Option<Time>,
}

impl SendingNode {
    /// `chance` supplies nonces, initial sequence numbers and controllers' seeds.
    ///
    /// # Errors
    /// The congestion control or one of its parameters is unknown.
    pub fn new(
        config: Config,
        tcp: TcpConfig,
        key: Key,
        mut chance: Chance,
        now: Time,
    ) -> Result<SendingNode, RegistryError> {
        Sender::new(&config, &tcp, &mut chance, now)?;
        let phase = call(&mut chance, now);
        let (passing, waiting) = (VecDeque::new(), VecDeque::new());
        let needs_circuit = false;
        Ok(SendingNode {
            config,
            tcp,
            key,
            chance,
            phase,
            passing,
            waiting,
            needs_circuit,
            longest_repair: usize::MAX,
            sessions: 0,
            standstills: 0,
            refused: 0,
        })
    }

    /// For data from data TCPs, which have no congestion control: without a circuit, the data waits.
    #[must_use]
    pub fn for_data_tcps(mut self) -> SendingNode {
        self.needs_circuit = true;
        self
    }

    /// Sends no repair that is longer, as the payload of a datagram.
    #[must_use]
    pub fn with_repairs_within(mut self, bytes: usize) -> SendingNode {
        self.longest_repair = bytes;
        self
    }

    /// Does it repair data, if the receiver does too? Then each data packet must come alone.
    pub fn repairs_data(&self) -> bool {
        self.config.fec.repairs_data()
    }

    /// Takes a data packet, if there is [room](SendingNode::room).
    pub fn handle_packet(&mut self, now: Time, item: Item) {
        let is_held = match &mut self.phase {
            Phase::Open(open) => open.sender.handle_packet(now, item),
            Phase::Calling { .. } => false,
        };
        let queue = if is_held { &mut self.waiting } else { &mut self.passing };
        queue.push_back(item);
    }

    /// Handles a datagram to the node's port.
    pub fn handle_datagram(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        let is_believed = match &mut self.phase {
            Phase::Open(open) => open.handle_datagram(now, datagram, ecn),
            Phase::Calling { nonce, .. } => match Welcome::decode(datagram, nonce, &self.key) {
                Ok(welcome) => {
                    let nonce = *nonce;
                    self.open(now, &nonce, &welcome)
                }
                Err(_) => false,
            },
        };
        self.refused += u64::from(!is_believed);
    }

    pub fn handle_timeout(&mut self, now: Time) {
        let Phase::Open(open) = &mut self.phase else { return };
        open.sender.handle_timeout(now);
        let stands_still = open.stands_until() <= now;
        if stands_still || open.dies_at() <= now {
            self.standstills += u64::from(stands_still);
            self.phase = call(&mut self.chance, now);
            self.passing.append(&mut self.waiting);
        }
    }

    pub fn poll_timeout(&self) -> Time {
        match &self.phase {
            Phase::Calling { next, .. } => *next,
            Phase::Open(open) => open.poll_timeout(),
        }
    }

    /// Returns the next packet to send now, if any.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Output> {
        if let Some(item) = self.passing.pop_front() {
            return Some(Output::Data(item));
        }
        match &mut self.phase {
            Phase::Calling { nonce, next } if *next <= now => {
                *next = now + REPEAT;
                let hello = Hello { nonce: *nonce, terms: terms(&self.config) };
                Some(Output::Datagram(hello.encode(&self.key), Ecn::NotEct))
            }
            Phase::Calling { .. } => None,
            Phase::Open(open) => {
                let output = open.poll_transmit(now, self.longest_repair);
                if let Some(Output::Data(_)) = output {
                    self.waiting.pop_front();
                }
                open.watch(now, output.is_none() && !self.waiting.is_empty());
                output
            }
        }
    }

    /// The last data packet that was sent will be cut into this many more packets.
    pub fn count_more(&mut self, packets: u16) {
        if let Phase::Open(open) = &mut self.phase {
            open.sender.count_more(packets);
        }
    }

    /// The last data packet that was sent leaves as these bytes; `None` if they are not known.
    pub fn keep(&mut self, packet: Option<&[u8]>) {
        if let Phase::Open(open) = &mut self.phase
            && let (Some(sources), Some(number)) = (&mut open.sources, open.sender.last_source())
        {
            sources.keep(number, packet.and_then(Packet::of));
        }
    }

    /// Number of data packets for which there is room.
    pub fn room(&self) -> u32 {
        match &self.phase {
            Phase::Calling { .. } if self.needs_circuit => 0,
            Phase::Calling { .. } => self.config.tunnel_queue.saturating_sub(self.passing.len() as u32),
            Phase::Open(open) => open.sender.room(),
        }
    }

    /// Number of data packets that the node holds.
    pub fn waiting(&self) -> usize {
        self.passing.len() + self.waiting.len()
    }

    /// Stops calling, and lets the data pass that the node holds.
    pub fn hang_up(&mut self) {
        self.phase = Phase::Calling { nonce: Nonce::default(), next: Time::NEVER };
        self.passing.append(&mut self.waiting);
    }

    /// Returns whether there is a session.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open(_))
    }

    /// The control TCPs, while there is a session.
    pub fn controls(&self) -> impl Iterator<Item = &Connection> {
        let open = if let Phase::Open(open) = &self.phase { Some(open) } else { None };
        open.into_iter().flat_map(|open| open.sender.controls())
    }

    /// Bytes of data in a round trip; 0 while there is no session.
    pub fn window_bytes(&self) -> u64 {
        let Phase::Open(open) = &self.phase else { return 0 };
        u64::from(open.sender.window()) * self.config.vmss.0
    }

    /// Bytes of data that the control TCPs allow in this time; `None` before they know their RTT.
    pub fn bytes_in(&self, time: Dur) -> Option<u64> {
        let views = self.controls().map(|control| control.sender_view());
        let (cwnd, srtt) = views.fold((0, 0), |(cwnd, srtt), view| (cwnd + view.cwnd, view.srtt.0.max(srtt)));
        (srtt > 0).then(|| (u128::from(cwnd) * u128::from(time.0) / u128::from(srtt)) as u64)
    }

    fn open(&mut self, now: Time, nonce: &Nonce, welcome: &Welcome) -> bool {
        let session = self.key.session(nonce, &welcome.nonce);
        let loss_reports = self.config.loss_reports && welcome.counts;
        // Without loss reports, nobody would notice the congestion that FEC hides.
        let fec = match self.config.fec {
            _ if !loss_reports => Fec::Repeat(0),
            Fec::Auto if welcome.rebuilds != Some(true) => Fec::Repeat(self.config.fec.repeats()),
            fec => fec,
        };
        let config = Config { loss_reports, fec, ..self.config.clone() };
        let terms = terms(&config);
        let Ok(mut sender) = Sender::new(&config, &self.tcp, &mut self.chance, now) else {
            return false;
        };
        for item in &self.waiting {
            sender.handle_packet(now, *item);
        }
        let (writer, reader) = (Writer::new(&session, terms), Reader::new(&session, terms));
        let names = self.key.fingerprints(nonce, &welcome.nonce);
        let sources = terms.repairs.then(|| Sources::new(names));
        self.phase = Phase::Open(Box::new(Open {
            sender,
            writer,
            reader,
            sources,
            ping: now + IDLE,
            awaits: None,
            stands: None,
        }));
        self.sessions += 1;
        true
    }
}

impl Open {
    fn handle_datagram(&mut self, now: Time, datagram: &[u8], ecn: Ecn) -> bool {
        let Ok(heard) = self.reader.read(datagram, &[Kind::Ack, Kind::Pong]) else { return false };
        if let Some((control, segment)) = heard.segment {
            self.sender.handle_segment(now, control, &segment, ecn);
        }
        self.ping = now + IDLE;
        self.awaits = self.is_outstanding().then_some(now);
        true
    }

    /// Is a header packet under way?
    fn is_outstanding(&self) -> bool {
        self.sender.controls().any(|control| control.sender_view().in_flight > 0)
    }

    /// The watchdog, after each step. `waits`: data waits, and nothing may leave now.
    fn watch(&mut self, now: Time, waits: bool) {
        self.stands = (waits && !self.is_outstanding()).then(|| self.stands.unwrap_or(now));
    }

    fn poll_transmit(&mut self, now: Time, longest_repair: usize) -> Option<Output> {
        if self.ping <= now {
            self.ping = now + REPEAT;
            self.awaits.get_or_insert(now);
            return Some(Output::Datagram(self.writer.keepalive(Kind::Ping), Ecn::NotEct));
        }
        let mut transmit = Transmit::default();
        loop {
            match self.sender.poll_transmit(now, &mut transmit)? {
                circuit::Output::Data(item) => return Some(Output::Data(item)),
                circuit::Output::Repair { repair, .. } => match self.repair(repair, longest_repair) {
                    Some(datagram) => return Some(Output::Repair(datagram)),
                    None => self.sender.take_back_repair(),
                },
                circuit::Output::Header { control, repeats, .. } => {
                    if has_answer(&transmit.segment) {
                        self.awaits.get_or_insert(now);
                    }
                    let datagram = self.writer.header(control, transmit.segment, repeats);
                    return Some(Output::Datagram(datagram, transmit.ecn));
                }
            }
        }
    }

    /// `None` if it covers a packet whose bytes are not known, or would be longer than `most`.
    fn repair(&mut self, repair: Repair, most: usize) -> Option<Vec<u8>> {
        let coded = self.sources.as_mut()?.code(repair)?;
        let bytes = REPAIR_LEN + FINGERPRINT_LEN * coded.names.len() + coded.symbol.bytes().len();
        (bytes <= most).then(|| self.writer.repair(repair, coded))
    }

    fn poll_timeout(&self) -> Time {
        let ends = self.dies_at().min(self.stands_until());
        self.sender.poll_timeout().min(self.ping).min(ends)
    }

    /// When a session that stands still is given up.
    fn stands_until(&self) -> Time {
        self.stands.map_or(Time::NEVER, |since| since + STANDSTILL)
    }

    fn dies_at(&self) -> Time {
        self.awaits.map_or(Time::NEVER, |since| since + PATIENCE)
    }
}

fn has_answer(segment: &Segment) -> bool {
    segment.len > 0 || segment.flags.contains(Flags::SYN)
}

fn call(chance: &mut Chance, now: Time) -> Phase {
    Phase::Calling { nonce: nonce(chance), next: now }
}

fn terms(config: &Config) -> Terms {
    Terms {
        vmss: config.vmss.0 as u16,
        controls: config.controls,
        guesses: match config.compression {
            Compression::None => None,
            Compression::Rfc1144 => Some(0),
            Compression::Twice => Some(2),
        },
        counts: config.loss_reports,
        fec: if config.loss_reports { config.fec.repeats() } else { 0 },
        repairs: config.loss_reports && config.fec.repairs_data(),
    }
}
