//! A connection together with its bytes.

use super::ring::Ring;
use airtcp_proto::tcp::{Connection, Event, SenderView, State, Stats};
use airtcp_wire::{Ecn, Segment, Time};

/// One end of a TCP connection as an application sees it: bytes in, bytes out.
pub struct Stream {
    connection: Connection,
    outgoing: Ring,
    incoming: Ring,
    written: u64,
    read: u64,
}

impl Stream {
    /// `capacity` of each buffer in bytes, at least the connection's receive window.
    pub(super) fn new(connection: Connection, capacity: usize) -> Stream {
        Stream {
            connection,
            outgoing: Ring::new(capacity),
            incoming: Ring::new(capacity),
            written: 0,
            read: 0,
        }
    }

    /// Writes as much of `data` as the send buffer has room for. Returns the number of bytes.
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

    /// Written bytes that the peer has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.connection.acknowledged()
    }

    /// Returns whether nothing is outstanding, and nothing waits.
    pub(super) fn is_idle(&self) -> bool {
        self.written == self.connection.acknowledged()
    }

    /// Bytes that [`read`](Stream::read) would return.
    pub fn readable(&self) -> usize {
        self.connection.readable() as usize
    }

    /// Moves received bytes to `out`, and returns their number.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        let taken = out.len().min(self.readable());
        self.incoming.get(self.read, &mut out[..taken]);
        self.read += taken as u64;
        self.connection.read(taken as u64);
        taken
    }

    /// Bytes of the peer's stream that have come in order.
    pub fn received(&self) -> u64 {
        self.connection.received()
    }

    /// Ends writing.
    pub fn shutdown(&mut self) {
        self.connection.shutdown();
    }

    /// Ends writing and reading: unread data, or data that arrives later, resets the connection.
    pub fn close(&mut self) {
        self.connection.close();
    }

    /// Resets the connection.
    pub fn abort(&mut self) {
        self.connection.abort();
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        self.connection.poll_event()
    }

    pub fn state(&self) -> State {
        self.connection.state()
    }

    pub fn sender_view(&self) -> SenderView {
        self.connection.sender_view()
    }

    pub fn stats(&self) -> Stats {
        self.connection.stats()
    }

    /// Frees the buffers, when nothing will be written or read any more.
    pub(super) fn forget(&mut self) {
        (self.outgoing, self.incoming) = (Ring::new(1), Ring::new(1));
    }

    pub(super) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(super) fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn, payload: &[u8]) {
        if let Some((offset, part)) = self.connection.handle_payload(now, segment, ecn) {
            self.incoming.put(offset, &payload[part]);
        }
    }

    /// Fills `payload` with the written bytes from stream position `offset` on.
    pub(super) fn copy_payload(&self, offset: u64, payload: &mut [u8]) {
        self.outgoing.get(offset, payload);
    }
}
