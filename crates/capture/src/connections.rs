//! Finds the connections of a capture and the one with the most data.

use crate::handshake::Handshake;
use crate::layers::Wrappings;
use crate::packet::TappedPacket;
use crate::sightings::Sightings;
use crate::way_summary::WaySummary;
use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Dur, Flags};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Limit on the connections tracked at once. Beyond it, the half with the least data is forgotten, except that a
/// connection with a thousandth of all the data always stays.
const MOST: usize = 1 << 13;
/// An interface that saw so many times the packets of a direction shows it better.
const MUCH_MORE: u64 = 10;

/// A connection on one interface; the key is equal for both directions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key {
    /// The smaller of the two directions.
    endpoints: Endpoints,
    interface: u64,
}

impl Key {
    /// Also returns the number of the packet's direction.
    fn of(packet: &TappedPacket) -> (Key, usize) {
        let reversed = packet.endpoints.reversed();
        let is_forward = packet.endpoints <= reversed;
        let endpoints = if is_forward { packet.endpoints } else { reversed };
        (Key { endpoints, interface: packet.interface }, usize::from(!is_forward))
    }
}

/// Where a connection is followed: each direction on one interface.
#[derive(Clone, Copy, Debug)]
pub struct Route([Key; 2]);

impl Route {
    /// Returns the direction in which this packet is followed.
    pub fn way_of(&self, packet: &TappedPacket) -> Option<usize> {
        let (key, way) = Key::of(packet);
        (self.0[way] == key).then_some(way)
    }
}

/// Summary of one connection. Direction 0 is the key's.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    pub endpoints: Endpoints,
    pub ways: [WaySummary; 2],
    /// Positions of its first and last packet in the file: another connection may use the same addresses and ports
    /// before or after it.
    pub first: u64,
    pub last: u64,
    pub handshake: Handshake,
    /// Around its first packet.
    pub through: Wrappings,
    /// Packets with data that were seen again, and the sum of the times until then.
    again: (u64, Dur),
}

impl Connection {
    fn new(key: &Key, place: u64, through: Wrappings) -> Connection {
        let (ways, handshake) = ([WaySummary::default(); 2], Handshake::default());
        Connection {
            endpoints: key.endpoints,
            ways,
            first: place,
            last: place,
            handshake,
            through,
            again: (0, Dur::ZERO),
        }
    }

    pub fn payload_bytes(&self) -> u64 {
        self.ways.iter().map(|way| way.payload_bytes).sum()
    }

    /// Bytes that the acknowledgments in the file report.
    pub fn acknowledged(&self) -> u64 {
        self.ways.iter().map(|way| way.acknowledged).max().unwrap_or(0)
    }

    /// Returns for how long the same packet can only be one that the tap sees again, not one that was sent again.
    ///
    /// A packet sent again has another identification, if its sender counts them. Without that, a copy cannot follow
    /// before news of the loss can have reached the sender; a lone acknowledgment is repeated sooner (RFC 5681 §3.2), and
    /// then only the time that other packets took to be seen again tells.
    pub fn patience(&self, packet: &TappedPacket, way: usize) -> Dur {
        const WITH_ID: Dur = Dur::from_millis(1000);
        /// RFC 6298 §2.1: the first RTO is a second.
        const OPENING: Dur = Dur::from_millis(500);
        const UNKNOWN: Dur = Dur::from_millis(1);
        if self.ways[way].has_ids && packet.id != 0 {
            WITH_ID
        } else if packet.segment.flags.contains(Flags::SYN) {
            OPENING
        } else if packet.segment.seq_len() > 0 {
            self.handshake.rtt().map_or(UNKNOWN, |rtt| rtt / 2)
        } else {
            self.usual_lag() * 4
        }
    }

    /// Returns the mean time after which packets with data were seen again; zero if they hardly ever were.
    fn usual_lag(&self) -> Dur {
        let (count, sum) = self.again;
        let packets: u64 = self.ways.iter().map(|way| way.packets).sum();
        if count < 3 || count * 100 < packets { Dur::ZERO } else { sum / count }
    }

    fn note(&mut self, packet: &TappedPacket, way: usize, place: u64, sightings: &mut Sightings) {
        self.last = place;
        if packet.segment.seq_len() > 0
            && let Some(lag) = sightings.again(packet, self.patience(packet, way))
        {
            self.again = (self.again.0 + 1, self.again.1 + lag);
            self.ways[way].note_mss(packet);
            return;
        }
        self.handshake.note(packet, way);
        self.ways[way].note(packet);
    }

    /// Returns whether this SYN opens another connection between the same ports.
    fn is_over(&self, packet: &TappedPacket, way: usize) -> bool {
        let segment = &packet.segment;
        segment.flags.contains(Flags::SYN)
            && !segment.flags.contains(Flags::ACK)
            && self.ways[way].syn != Some(segment.seq)
            && self.ways.iter().any(|glance| glance.packets > 0)
    }

    /// Takes a direction from where it was seen.
    fn take(&mut self, other: &Connection, way: usize) {
        self.ways[way] = other.ways[way];
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.handshake = self.handshake.with(other.handshake);
    }
}

/// The connections of a capture.
#[derive(Default)]
pub struct Connections {
    open: BTreeMap<Key, Connection>,
    /// The largest of the connections whose ports a later connection reused.
    closed: Option<(Key, Connection)>,
    sightings: Sightings,
    /// Connections with and without data.
    pub count: u64,
    /// Connections forgotten because there were too many.
    pub forgotten: u64,
    pub payload_bytes: u64,
}

/// The connection with the most data.
pub struct Largest {
    pub route: Route,
    pub connection: Connection,
    /// Its packets on interfaces where it is not followed, and their payload.
    pub elsewhere: (u64, u64),
}

impl Connections {
    pub fn note(&mut self, packet: &TappedPacket, place: u64) {
        let (key, way) = Key::of(packet);
        if self.open.get(&key).is_some_and(|known| known.is_over(packet, way))
            && let Some(over) = self.open.remove(&key)
        {
            self.close(key, over);
        }
        if !self.open.contains_key(&key) {
            let is_new = self.on_all_interfaces(key.endpoints).next().is_none();
            self.count += u64::from(is_new);
            self.open.insert(key, Connection::new(&key, place, packet.through));
        }
        let Some(connection) = self.open.get_mut(&key) else { return };
        let before = connection.payload_bytes();
        connection.note(packet, way, place, &mut self.sightings);
        self.payload_bytes += connection.payload_bytes() - before;
        if self.open.len() > MOST {
            self.forget();
        }
    }

    fn on_all_interfaces(&self, endpoints: Endpoints) -> impl Iterator<Item = (&Key, &Connection)> {
        let at = |interface| Key { endpoints, interface };
        self.open.range(at(0)..=at(u64::MAX))
    }

    /// Returns the connection with the most data or, if there is only news of data, with the most of that. Where one
    /// interface saw only one direction of it, the other direction is taken from where it was seen.
    pub fn largest(&self) -> Option<Largest> {
        let all = self.open.iter().chain(self.closed.iter().map(|(key, found)| (key, found)));
        let (key, found) = all.max_by_key(|(key, found)| {
            (found.payload_bytes(), found.acknowledged(), Reverse(key.interface))
        })?;
        let others = || self.on_all_interfaces(key.endpoints).filter(|(other, _)| *other != key);
        let (mut connection, mut elsewhere) = (*found, (0, 0));
        let keys = [0, 1].map(|way| {
            let best = others().max_by_key(|(_, other)| other.ways[way].packets);
            let better = best.filter(|(_, its)| its.ways[way].packets > MUCH_MORE * found.ways[way].packets);
            let (followed, is_at) = better.map_or((key, found), |(other, its)| (other, its));
            if better.is_some() {
                connection.take(is_at, way);
            }
            let all = others().chain([(key, found)]).filter(|(other, _)| *other != followed);
            for (_, other) in all {
                elsewhere.0 += other.ways[way].packets;
                elsewhere.1 += other.ways[way].payload_bytes;
            }
            *followed
        });
        Some(Largest { route: Route(keys), connection, elsewhere })
    }

    fn close(&mut self, key: Key, over: Connection) {
        if self.closed.as_ref().is_none_or(|(_, largest)| largest.payload_bytes() < over.payload_bytes()) {
            self.closed = Some((key, over));
        }
    }

    fn forget(&mut self) {
        let mut sizes: Vec<u64> = self.open.values().map(Connection::payload_bytes).collect();
        let (_, &mut median, _) = sizes.select_nth_unstable(MOST / 2);
        let mut small = MOST / 2;
        self.open.retain(|_, known| {
            let goes = small > 0 && known.payload_bytes() <= median;
            small -= usize::from(goes);
            !goes
        });
        self.forgotten += (MOST / 2) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Options;
    use airtcp_wire::{Ecn, Segment, Time};

    fn packet(port: u16, len: u32) -> TappedPacket {
        let (client, server) = (([10, 0, 0, 1], port).into(), ([10, 0, 0, 2], 80).into());
        TappedPacket {
            time: Time::ZERO,
            interface: 0,
            endpoints: Endpoints::new(client, server).unwrap(),
            ecn: Ecn::NotEct,
            id: 0,
            bytes: len + 40,
            segment: Segment { len, flags: Flags::ACK, ..Segment::default() },
            options: Options::default(),
            through: Wrappings::default(),
        }
    }

    /// A repeated scan of every port does not evict the connection that carries the data.
    #[test]
    fn among_too_many_connections_the_largest_stays() {
        let mut connections = Connections::default();
        for place in 0..200_000 {
            let port = (place % 60_000) as u16;
            connections.note(&if port == 7 { packet(7, 1400) } else { packet(port, 1) }, place);
            assert!(connections.open.len() <= MOST);
        }
        assert!(connections.forgotten > 0);
        let largest = connections.largest().unwrap().connection;
        assert_eq!(largest.payload_bytes(), 4 * 1400);
        assert_eq!(largest.first, 7);
    }
}
