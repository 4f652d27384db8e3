//! Finds the connections of a capture and the one with the most data.

use crate::handshake::Handshake;
use crate::packet::TappedPacket;
use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Flags, Seq};
use std::collections::BTreeMap;

/// Limit on the connections tracked at once. Beyond it, the half with the least data is forgotten, except that a
/// connection with a thousandth of all the data always stays.
const MOST: usize = 1 << 13;

/// A connection on one interface; the key is equal for both directions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key {
    /// The smaller of the two directions.
    endpoints: Endpoints,
    interface: u32,
}

impl Key {
    /// Also returns whether the packet travels in the key's direction.
    pub fn of(packet: &TappedPacket, interface: u32) -> (Key, bool) {
        let reversed = packet.endpoints.reversed();
        let is_forward = packet.endpoints <= reversed;
        let endpoints = if is_forward { packet.endpoints } else { reversed };
        (Key { endpoints, interface }, is_forward)
    }
}

/// Summary of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaySummary {
    pub packets: u64,
    pub payload_bytes: u64,
    pub longest_payload: u32,
    /// MSS option of the sender's SYN: the largest segment that it can receive, in bytes.
    pub mss: Option<u16>,
    pub timestamps: bool,
    syn: Option<Seq>,
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
}

impl Connection {
    fn new(key: &Key, place: u64) -> Connection {
        let (ways, handshake) = ([WaySummary::default(); 2], Handshake::default());
        Connection { endpoints: key.endpoints, ways, first: place, last: place, handshake }
    }

    pub fn payload_bytes(&self) -> u64 {
        self.ways.iter().map(|way| way.payload_bytes).sum()
    }

    fn note(&mut self, packet: &TappedPacket, way: usize, place: u64) {
        let segment = &packet.segment;
        self.last = place;
        self.handshake.note(packet, way);
        let glance = &mut self.ways[way];
        glance.packets += 1;
        glance.payload_bytes += u64::from(segment.len);
        glance.longest_payload = glance.longest_payload.max(segment.len);
        glance.timestamps |= segment.timestamps.is_some();
        if segment.flags.contains(Flags::SYN) {
            glance.mss = segment.syn.mss.or(glance.mss);
            glance.syn = Some(segment.seq);
        }
    }

    /// Returns whether this SYN opens another connection between the same ports.
    fn is_over(&self, packet: &TappedPacket, way: usize) -> bool {
        let segment = &packet.segment;
        segment.flags.contains(Flags::SYN)
            && !segment.flags.contains(Flags::ACK)
            && self.ways[way].syn != Some(segment.seq)
            && self.ways.iter().any(|glance| glance.packets > 0)
    }
}

/// The connections of a capture.
#[derive(Default)]
pub struct Connections {
    open: BTreeMap<Key, Connection>,
    /// The largest of the connections whose ports a later connection reused.
    closed: Option<(Key, Connection)>,
    /// Connections with and without data.
    pub count: u64,
    /// Connections forgotten because there were too many.
    pub forgotten: u64,
    pub payload_bytes: u64,
}

impl Connections {
    pub fn note(&mut self, packet: &TappedPacket, interface: u32, place: u64) {
        let (key, is_forward) = Key::of(packet, interface);
        let way = usize::from(!is_forward);
        self.payload_bytes += u64::from(packet.segment.len);
        if self.open.get(&key).is_some_and(|known| known.is_over(packet, way))
            && let Some(over) = self.open.remove(&key)
        {
            self.close(key, over);
        }
        let count = &mut self.count;
        let connection = self.open.entry(key).or_insert_with(|| {
            *count += 1;
            Connection::new(&key, place)
        });
        connection.note(packet, way, place);
        if self.open.len() > MOST {
            self.forget();
        }
    }

    /// Returns the connection with the most data.
    pub fn largest(self) -> Option<(Key, Connection)> {
        let all = self.open.into_iter().chain(self.closed);
        all.filter(|(_, found)| found.payload_bytes() > 0).max_by_key(|(_, found)| found.payload_bytes())
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
    use airtcp_wire::{Ecn, Segment, Time};

    fn packet(port: u16, len: u32) -> TappedPacket {
        let (client, server) = (([10, 0, 0, 1], port).into(), ([10, 0, 0, 2], 80).into());
        TappedPacket {
            time: Time::ZERO,
            endpoints: Endpoints::new(client, server).unwrap(),
            ecn: Ecn::NotEct,
            id: 0,
            bytes: len + 40,
            segment: Segment { len, flags: Flags::ACK, ..Segment::default() },
        }
    }

    /// A repeated scan of every port does not evict the connection that carries the data.
    #[test]
    fn among_too_many_connections_the_largest_stays() {
        let mut connections = Connections::default();
        for place in 0..200_000 {
            let port = (place % 60_000) as u16;
            connections.note(&if port == 7 { packet(7, 1400) } else { packet(port, 1) }, 0, place);
            assert!(connections.open.len() <= MOST);
        }
        assert!(connections.forgotten > 0);
        let (_, largest) = connections.largest().unwrap();
        assert_eq!(largest.payload_bytes(), 4 * 1400);
        assert_eq!(largest.first, 7);
    }
}
