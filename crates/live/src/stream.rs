//! A connection together with the bytes that it speaks of.

use crate::ring::Ring;
use airtcp_proto::tcp::{Connection, Event, State, Stats, Transmit};
use airtcp_wire::Time;
use airtcp_wire::packet::{Endpoints, PacketError, TcpPacket, encode_tcp};
use std::net::SocketAddr;

/// One end of a TCP connection as an application sees it: bytes in, bytes out.
pub struct Stream {
    connection: Connection,
    local: SocketAddr,
    /// From us to the peer; `None` until a SYN has come.
    endpoints: Option<Endpoints>,
    outgoing: Ring,
    incoming: Ring,
    written: u64,
    read: u64,
    payload: Vec<u8>,
}

impl Stream {
    /// `peer` is `None` for a connection that listens. Capacities in bytes; `receive_capacity` is at least the
    /// connection's receive window.
    pub(crate) fn new(
        connection: Connection,
        local: SocketAddr,
        peer: Option<SocketAddr>,
        send_capacity: usize,
        receive_capacity: usize,
    ) -> Stream {
        Stream {
            connection,
            local,
            endpoints: peer.and_then(|peer| Endpoints::new(local, peer)),
            outgoing: Ring::new(send_capacity),
            incoming: Ring::new(receive_capacity),
            written: 0,
            read: 0,
            payload: Vec::new(),
        }
    }

    /// Takes as many of `data`'s bytes as the send buffer has room for, and answers how many.
    pub fn write(&mut self, data: &[u8]) -> usize {
        let taken = data.len().min(self.writable());
        self.outgoing.put(self.written, &data[..taken]);
        self.written += taken as u64;
        self.connection.write(taken as u64);
        taken
    }

    /// Room in the send buffer in bytes.
    pub fn writable(&self) -> usize {
        self.outgoing.capacity() - (self.written - self.connection.acknowledged()) as usize
    }

    /// Bytes that [`read`](Stream::read) would give.
    pub fn readable(&self) -> usize {
        self.connection.readable() as usize
    }

    /// Moves received bytes to `out` and answers how many.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        let taken = out.len().min(self.readable());
        self.incoming.get(self.read, &mut out[..taken]);
        self.read += taken as u64;
        self.connection.read(taken as u64);
        taken
    }

    /// No more will be written.
    pub fn shutdown(&mut self) {
        self.connection.shutdown();
    }

    /// Nor will more be read: what is unread, or arrives later, resets the connection.
    pub fn close(&mut self) {
        self.connection.close();
    }

    /// Resets the connection.
    pub fn abort(&mut self) {
        self.connection.abort();
    }

    pub fn poll_event(&mut self) -> Option<Event> {
        self.connection.poll_event()
    }

    pub fn state(&self) -> State {
        self.connection.state()
    }

    pub fn stats(&self) -> &Stats {
        self.connection.stats()
    }

    /// Lets go of the bytes, when none will be read or written any more.
    pub(crate) fn forget(&mut self) {
        (self.outgoing, self.incoming) = (Ring::new(1), Ring::new(1));
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// A packet that was read from `bytes` has arrived. Those of other connections are ignored.
    pub(crate) fn handle_packet(&mut self, now: Time, packet: &TcpPacket, bytes: &[u8]) {
        if !self.is_ours(packet) {
            return;
        }
        let start = self.connection.payload_offset(&packet.segment);
        self.connection.handle_segment(now, &packet.segment, packet.ecn);
        let (Some(start), accepted) = (start, self.connection.accepted()) else { return };
        if !accepted.is_empty() {
            let payload = &bytes[packet.payload.clone()];
            let [from, to] = [accepted.start, accepted.end].map(|offset| (offset - start) as usize);
            self.incoming.put(accepted.start, &payload[from..to]);
        }
    }

    /// Is it from the peer to us? A connection that listens takes whoever speaks to it as its peer, until a SYN has come.
    fn is_ours(&mut self, packet: &TcpPacket) -> bool {
        let from_peer = packet.endpoints.reversed();
        if self.connection.state() == State::Listen && from_peer.source() == self.local {
            self.endpoints = Some(from_peer);
        }
        self.endpoints == Some(from_peer)
    }

    /// Writes the packet that carries `transmit`, and answers its length in bytes.
    pub(crate) fn encode(&mut self, transmit: &Transmit, buffer: &mut [u8]) -> Result<usize, PacketError> {
        let endpoints = self.endpoints.expect("a connection without a peer sends nothing");
        self.payload.resize(transmit.segment.len as usize, 0);
        self.outgoing.get(transmit.offset, &mut self.payload);
        encode_tcp(&endpoints, transmit.ecn, &transmit.segment, &self.payload, buffer)
    }
}
