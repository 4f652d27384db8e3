//! A connection together with the bytes that it speaks of.

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
    /// `capacity` in bytes, each way; it is at least the connection's receive window.
    pub(super) fn new(connection: Connection, capacity: usize) -> Stream {
        Stream {
            connection,
            outgoing: Ring::new(capacity),
            incoming: Ring::new(capacity),
            written: 0,
            read: 0,
        }
    }

    /// Takes as many of `data`'s bytes as the send buffer has room for, and returns how many.
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

    /// Is nothing under way, and nothing waiting?
    pub(super) fn is_idle(&self) -> bool {
        self.written == self.connection.acknowledged()
    }

    /// Bytes that [`read`](Stream::read) would give.
    pub fn readable(&self) -> usize {
        self.connection.readable() as usize
    }

    /// Moves received bytes to `out` and returns how many.
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

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        self.connection.poll_event()
    }

    pub fn state(&self) -> State {
        self.connection.state()
    }

    pub fn sender_view(&self) -> SenderView {
        self.connection.sender_view()
    }

    pub fn stats(&self) -> &Stats {
        self.connection.stats()
    }

    /// Lets go of the bytes, when none will be read or written any more.
    pub(super) fn forget(&mut self) {
        (self.outgoing, self.incoming) = (Ring::new(1), Ring::new(1));
    }

    pub(super) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(super) fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn, payload: &[u8]) {
        let start = self.connection.payload_offset(segment);
        self.connection.handle_segment(now, segment, ecn);
        let (Some(start), accepted) = (start, self.connection.accepted()) else { return };
        if !accepted.is_empty() {
            let [from, to] = [accepted.start, accepted.end].map(|offset| (offset - start) as usize);
            self.incoming.put(accepted.start, &payload[from..to]);
        }
    }

    /// Copies what was written at stream position `offset` and after it to fill `payload`.
    pub(super) fn copy_payload(&self, offset: u64, payload: &mut [u8]) {
        self.outgoing.get(offset, payload);
    }
}
