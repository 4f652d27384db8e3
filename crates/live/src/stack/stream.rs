//! A connection together with its bytes.

use super::store::{Store, Tally};
use airtcp_proto::tcp::{Connection, Event, SenderView, State, Stats};
use airtcp_wire::{Ecn, Segment, Time};

/// Room for bytes in each of a connection's two buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    pub first: usize,
    /// The most that it may grow to.
    pub most: usize,
}

impl Room {
    /// It stays as it is, as in a socket whose buffer sizes are set (socket(7)).
    #[must_use]
    pub const fn fixed(bytes: usize) -> Room {
        Room { first: bytes, most: bytes }
    }
}

impl Default for Room {
    /// Linux's first window (half of `tcp_rmem`), and its limit.
    fn default() -> Room {
        Room { first: 64 << 10, most: 6 << 20 }
    }
}

/// One end of a TCP connection as an application sees it: bytes in, bytes out.
///
/// The room of each buffer follows its path, up to a limit. The send buffer has room for twice what is under way, which
/// grows as cwnd does. The receive buffer doubles when the application has taken what it has room for, and leaves little.
pub struct Stream {
    connection: Connection,
    outgoing: Store,
    incoming: Store,
    written: u64,
    read: u64,
    /// Bytes that each buffer has room for, and the most that it may come to have.
    room_out: usize,
    room_in: usize,
    most: usize,
    /// Whether the buffers keep the room that they have.
    is_kept: bool,
    /// Bytes that the application has taken since the receive buffer grew.
    taken: usize,
    /// Whether the machine knows the room of the receive buffer.
    is_told: bool,
}

impl Stream {
    /// The room may come to be the connection's receive window, at least.
    pub(super) fn new(connection: Connection, room: Room, tally: &Tally) -> Stream {
        Stream {
            connection,
            outgoing: Store::new(tally),
            incoming: Store::new(tally),
            written: 0,
            read: 0,
            room_out: room.first,
            room_in: room.first,
            most: room.most,
            is_kept: false,
            taken: 0,
            is_told: false,
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
        self.room_out.saturating_sub((self.written - self.connection.acknowledged()) as usize)
    }

    /// Bytes that both buffers may come to hold, unless they grow.
    pub fn room(&self) -> usize {
        self.room_out + self.room_in
    }

    /// Limits the room of each buffer. What it has already it keeps, if it has been used.
    pub fn limit(&mut self, bytes: usize) {
        let least = if self.is_told { self.room_in } else { 0 };
        self.most = self.most.min(bytes).max(least);
        self.room_out = self.room_out.min(self.most);
        self.room_in = self.room_in.min(self.most);
    }

    /// The buffers keep the room that they have, or may grow again.
    pub fn keep(&mut self, kept: bool) {
        self.is_kept = kept;
    }

    /// The machine has done something: the send buffer may have to grow.
    pub(super) fn adjust(&mut self) {
        self.outgoing.release(self.connection.acknowledged());
        if self.is_kept || self.is_idle() {
            return;
        }
        let view = self.connection.sender_view();
        self.room_out = self.room_out.max(2 * (view.nxt - view.una) as usize).min(self.most);
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
        self.incoming.release(self.read);
        self.taken += taken;
        self.grow();
        self.connection.read(taken as u64);
        taken
    }

    /// Bytes of the peer's stream that have come in order.
    pub fn received(&self) -> u64 {
        self.connection.received()
    }

    /// The receive buffer doubles if the application keeps up with the peer.
    fn grow(&mut self) {
        let keeps_up = !self.is_kept && self.readable() <= self.room_in / 2;
        if self.taken >= self.room_in / 2 && keeps_up && self.room_in < self.most {
            self.room_in = (2 * self.room_in).min(self.most);
            self.taken = 0;
            self.connection.set_receive_buffer(self.room_in as u64);
        }
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
        self.outgoing.release(u64::MAX);
        self.incoming.release(u64::MAX);
    }

    pub(super) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(super) fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn, payload: &[u8]) {
        if segment.len > 0 {
            self.tell_room();
        }
        if let Some((offset, part)) = self.connection.handle_payload(now, segment, ecn) {
            self.incoming.put(offset, &payload[part]);
        }
    }

    /// A SYN whose Fast Open cookie is good.
    pub(super) fn handle_trusted_syn(&mut self, now: Time, syn: &Segment, ecn: Ecn, payload: &[u8]) {
        self.tell_room();
        let taken = self.connection.handle_trusted_syn(now, syn, ecn) as usize;
        self.incoming.put(0, &payload[..taken]);
    }

    fn tell_room(&mut self) {
        if !self.is_told {
            self.is_told = true;
            self.connection.set_receive_buffer(self.room_in as u64);
        }
    }

    /// Fills `payload` with the written bytes from stream position `offset` on.
    pub(super) fn copy_payload(&self, offset: u64, payload: &mut [u8]) {
        self.outgoing.get(offset, payload);
    }
}
