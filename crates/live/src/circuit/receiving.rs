//! The receiving node. It answers any sending node that has the key. Data packets bypass it (§4.6), and may be
//! counted.

use super::nonce;
use super::session::{Heard, Reader, Writer};
use airtcp_proto::Chance;
use airtcp_proto::cc::RegistryError;
use airtcp_proto::circuit::{Config, Fec, Receiver};
use airtcp_proto::fec::{self, Rebuilder};
use airtcp_proto::tcp::{TcpConfig, Transmit};
use airtcp_wire::circuit::{Datagram, Hello, Key, Kind, Nonce, Repair, Terms, Welcome};
use airtcp_wire::ip::IPV4_HEADER_LEN;
use airtcp_wire::{Bytes, Dur, Ecn, Time, tcp};
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Sessions that may begin. Replayed HELLOs displace these, but never an open session.
const MOST_OFFERS: usize = 4;

/// Open sessions. A new one replaces the one that has been silent for longest.
pub(super) const MOST_SESSIONS: usize = 32;

/// A session ends after this silence: a live sender sends PING.
const SILENCE: Dur = Dur::from_secs(15);

/// Minimum time between two answers to the same HELLO.
const ANSWER: Dur = Dur::from_millis(100);

/// A datagram that leaves the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    pub to: SocketAddr,
    pub datagram: Datagram,
    pub ecn: Ecn,
}

pub struct ReceivingNode {
    tcp: TcpConfig,
    key: Key,
    chance: Chance,
    /// Sessions that begin with the first datagram under their key.
    offers: VecDeque<Offer>,
    open: Vec<Session>,
    /// Datagrams to send beside those of the control TCPs' receivers.
    replies: VecDeque<Reply>,
    /// Whether data packets are counted.
    pub counts: bool,
    /// Whether the driver hands on what has been rebuilt. It counts data then, too.
    pub rebuilds: bool,
    /// Data packets counted.
    pub data_packets: u64,
    /// Repairs that have come.
    pub repairs: u64,
    /// The caller that sent the last header packet. Data that follows is attributed to it.
    counted: Option<Nonce>,
    /// Sessions begun so far.
    pub sessions: u64,
    /// Datagrams that failed authentication.
    pub refused: u64,
    pub header_packets: u64,
}

struct Offer {
    caller: Nonce,
    welcome: Welcome,
    /// When it may be answered again.
    next: Time,
    session: Session,
}

struct Session {
    caller: Nonce,
    receiver: Receiver,
    writer: Writer,
    reader: Reader,
    /// Present if data is repaired.
    rebuilder: Option<Rebuilder>,
    peer: SocketAddr,
    /// When the last datagram came.
    heard: Time,
}

impl ReceivingNode {
    /// `chance` supplies nonces and initial sequence numbers.
    pub fn new(tcp: TcpConfig, key: Key, chance: Chance) -> ReceivingNode {
        ReceivingNode {
            tcp,
            key,
            chance,
            offers: VecDeque::new(),
            open: Vec::new(),
            replies: VecDeque::new(),
            counts: false,
            rebuilds: false,
            data_packets: 0,
            repairs: 0,
            counted: None,
            sessions: 0,
            refused: 0,
            header_packets: 0,
        }
    }

    /// Counts data packets that have passed since the last call.
    pub fn handle_data(&mut self, packets: u16) {
        self.data_packets += u64::from(packets);
        self.open.iter_mut().for_each(|session| session.receiver.handle_data(packets));
    }

    /// Does it want to [see](ReceivingNode::handle_packet) data packets?
    pub fn wants_packets(&self) -> bool {
        self.open.iter().any(|session| session.rebuilder.is_some())
    }

    /// A data packet has passed, which is counted besides.
    pub fn handle_packet(&mut self, packet: &[u8]) {
        self.rebuilders().for_each(|rebuilder| rebuilder.handle_packet(packet));
    }

    /// The next data packet that was lost and has been rebuilt.
    pub fn poll_rebuilt(&mut self) -> Option<Vec<u8>> {
        self.rebuilders().find_map(Rebuilder::poll_rebuilt)
    }

    fn rebuilders(&mut self) -> impl Iterator<Item = &mut Rebuilder> {
        self.open.iter_mut().filter_map(|session| session.rebuilder.as_mut())
    }

    /// Handles a datagram to the node's port.
    pub fn handle_datagram(&mut self, now: Time, from: SocketAddr, datagram: &[u8], ecn: Ecn) {
        let is_believed = match Kind::of(datagram) {
            Some((Kind::Hello, _)) => self.handle_hello(now, from, datagram),
            Some((Kind::Repair, _)) => self.handle_repair(now, from, datagram),
            Some(_) => self.handle_word(now, from, datagram, ecn),
            None => false,
        };
        self.refused += u64::from(!is_believed);
    }

    pub fn handle_timeout(&mut self, now: Time) {
        self.open.retain(|session| now < session.heard + SILENCE);
        self.open.iter_mut().for_each(|session| session.receiver.handle_timeout(now));
    }

    pub fn poll_timeout(&self) -> Time {
        let due = |session: &Session| session.receiver.poll_timeout().min(session.heard + SILENCE);
        self.open.iter().map(due).fold(Time::NEVER, Time::min)
    }

    pub fn poll_transmit(&mut self, now: Time) -> Option<Reply> {
        if let Some(reply) = self.replies.pop_front() {
            return Some(reply);
        }
        self.open.iter_mut().find_map(|session| session.poll_transmit(now))
    }

    /// Number of open sessions.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Number of sessions that may begin.
    pub fn offers(&self) -> usize {
        self.offers.len()
    }

    fn handle_hello(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> bool {
        let Ok(hello) = Hello::decode(datagram, &self.key) else { return false };
        if self.open.iter().any(|session| session.caller == hello.nonce) {
            return false;
        }
        let known = self.offers.iter().position(|offer| offer.caller == hello.nonce);
        let index = match known {
            Some(index) => index,
            None => match self.offer(now, from, &hello) {
                Ok(offer) => {
                    if self.offers.len() == MOST_OFFERS {
                        self.offers.pop_front();
                    }
                    self.offers.push_back(offer);
                    self.offers.len() - 1
                }
                Err(_) => return false,
            },
        };
        let offer = &mut self.offers[index];
        if offer.next <= now {
            offer.next = now + ANSWER;
            let datagram = offer.welcome.encode(&hello.nonce, &self.key);
            self.replies.push_back(Reply { to: from, datagram, ecn: Ecn::NotEct });
        }
        true
    }

    fn offer(&mut self, now: Time, from: SocketAddr, hello: &Hello) -> Result<Offer, RegistryError> {
        let nonce = nonce(&mut self.chance);
        let key = self.key.session(&hello.nonce, &nonce);
        let counts = self.counts;
        let counted = hello.terms.counts && counts;
        let fec = if counted { hello.terms.fec } else { 0 };
        let rebuilds = hello.terms.repairs.then_some(counts && self.rebuilds);
        let terms = Terms { counts: counted, fec, repairs: rebuilds == Some(true), ..hello.terms };
        let names = self.key.fingerprints(&hello.nonce, &nonce);
        let session = Session {
            caller: hello.nonce,
            receiver: Receiver::new(&config(terms), &self.tcp, &mut self.chance)?,
            writer: Writer::new(&key, terms),
            reader: Reader::new(&key, terms),
            rebuilder: terms.repairs.then(|| Rebuilder::new(names)),
            peer: from,
            heard: now,
        };
        Ok(Offer { caller: hello.nonce, welcome: Welcome { nonce, counts, rebuilds }, next: now, session })
    }

    /// Handles a datagram of an open session, or the first one of an offered session, which opens it.
    fn handle_word(&mut self, now: Time, from: SocketAddr, datagram: &[u8], ecn: Ecn) -> bool {
        let found = self.find(from, |session| session.read(datagram));
        let Some((index, heard)) = found.or_else(|| self.begin(datagram)) else {
            return false;
        };
        let session = &mut self.open[index];
        session.heard_from(now, heard.is_newest.then_some(from));
        match heard.segment {
            Some((control, segment)) => {
                self.header_packets += u64::from(segment.len > 0);
                if segment.len > 0 && self.counted.replace(session.caller) != Some(session.caller) {
                    session.receiver.begin_count(&segment);
                }
                let bytes = IPV4_HEADER_LEN + tcp::header_len(&segment);
                session.receiver.handle_segment(now, control, &segment, ecn, bytes as u32, heard.repeats);
            }
            None => {
                let datagram = session.writer.keepalive(Kind::Pong);
                self.replies.push_back(Reply { to: session.peer, datagram, ecn: Ecn::NotEct });
            }
        }
        true
    }

    /// Handles a repair of an open session. It counts as data.
    fn handle_repair(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> bool {
        let Some((index, (repair, is_newest))) = self.find(from, |session| session.read_repair(datagram))
        else {
            return false;
        };
        let session = &mut self.open[index];
        session.heard_from(now, is_newest.then_some(from));
        session.receiver.handle_data(1);
        self.repairs += 1;
        if let Some(rebuilder) = &mut session.rebuilder {
            let Repair { key, first, names, coded, .. } = repair;
            let repair = fec::Repair { key, count: names.len() as u16, first };
            rebuilder.handle_repair(repair, &names, coded);
        }
        true
    }

    /// Finds the session of a datagram, which `read`s it, first among those with this address.
    fn find<T>(&mut self, from: SocketAddr, read: impl Fn(&mut Session) -> Option<T>) -> Option<(usize, T)> {
        let mut among = |is_near: bool| {
            let open = self.open.iter_mut().enumerate();
            open.filter(|(_, session)| (session.peer == from) == is_near)
                .find_map(|(index, session)| Some((index, read(session)?)))
        };
        among(true).or_else(|| among(false))
    }

    fn begin(&mut self, datagram: &[u8]) -> Option<(usize, Heard)> {
        let mut offers = self.offers.iter_mut().enumerate();
        let (index, heard) =
            offers.find_map(|(index, offer)| Some((index, offer.session.read(datagram)?)))?;
        let session = self.offers.remove(index)?.session;
        self.sessions += 1;
        let heard_first = |index: &usize| self.open[*index].heard;
        match (0..self.open.len()).min_by_key(heard_first).filter(|_| self.open.len() == MOST_SESSIONS) {
            Some(eldest) => {
                self.open[eldest] = session;
                Some((eldest, heard))
            }
            None => {
                self.open.push(session);
                Some((self.open.len() - 1, heard))
            }
        }
    }
}

impl Session {
    /// A datagram has come; the newest one from this address.
    fn heard_from(&mut self, now: Time, newest: Option<SocketAddr>) {
        self.heard = now;
        self.peer = newest.unwrap_or(self.peer);
    }

    fn read_repair<'a>(&mut self, datagram: &'a [u8]) -> Option<(Repair<'a>, bool)> {
        self.reader.read_repair(datagram).ok()
    }

    fn read(&mut self, datagram: &[u8]) -> Option<Heard> {
        self.reader.read(datagram, &[Kind::Header, Kind::Compressed, Kind::Ping]).ok()
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Reply> {
        let mut transmit = Transmit::default();
        let reply = self.receiver.poll_transmit(now, &mut transmit)?;
        let segment = transmit.segment;
        self.reader.expect_ack(reply.control, segment.seq.at(segment.seq_len().into()));
        let datagram = self.writer.ack(reply.control, segment);
        Some(Reply { to: self.peer, datagram, ecn: transmit.ecn })
    }
}

/// Configuration of the receiving machine. It gets header packets decompressed.
fn config(terms: Terms) -> Config {
    Config {
        vmss: Bytes(terms.vmss.into()),
        controls: terms.controls,
        loss_reports: terms.counts,
        fec: Fec::Repeat(terms.fec),
        ..Config::default()
    }
}
