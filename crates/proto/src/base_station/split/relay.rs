//! The two connections of a flow, and what passes from one to the other.

use crate::middlebox::{Direction, FlowId, Origin, SeenPacket};
use crate::tcp::{Connection, Event, State, TcpConfig, Transmit};
use airtcp_wire::{Seq, Time};

pub struct Relay {
    flow: FlowId,
    /// By the direction in which they send.
    sides: [Side; 2],
    /// A buffer for what leaves.
    transmit: Transmit,
}

struct Side {
    connection: Connection,
    /// Bytes that the other side has handed over.
    written: u64,
    /// The peer has sent its last byte.
    peer_has_finished: bool,
    is_closing: bool,
}

impl Relay {
    /// `configs` and `draws` (initial sequence numbers and seeds) are by the direction in which a side sends.
    pub fn new(now: Time, syn: &SeenPacket, configs: &[TcpConfig; 2], draws: [(Seq, u64); 2]) -> Relay {
        let side = |direction: Direction| {
            let (iss, seed) = draws[direction as usize];
            let config = &configs[direction as usize];
            let connection = match direction == syn.direction {
                true => Connection::connect(config, iss, seed, now),
                false => Connection::listen(config, iss, seed),
            };
            let connection = connection.expect("schemes are checked before the run");
            Side { connection, written: 0, peer_has_finished: false, is_closing: false }
        };
        let sides = [side(Direction::Forward), side(Direction::Reverse)];
        Relay { flow: syn.flow, sides, transmit: Transmit::default() }
    }

    /// Passes a packet to the side that speaks to the packet's sender.
    pub fn handle_packet(&mut self, now: Time, packet: &SeenPacket) {
        let side = &mut self.sides[packet.direction.opposite() as usize];
        side.connection.handle_segment(now, &packet.segment, packet.ecn);
    }

    pub fn handle_timeout(&mut self, now: Time) {
        for side in &mut self.sides {
            if side.connection.poll_timeout() <= now {
                side.connection.handle_timeout(now);
            }
        }
    }

    pub fn poll_timeout(&self) -> Time {
        self.sides.iter().map(|side| side.connection.poll_timeout()).min().unwrap_or(Time::NEVER)
    }

    /// Has it data that a host has not acknowledged?
    pub fn holds(&self) -> bool {
        self.sides.iter().any(|side| side.connection.has_work())
    }

    /// Are both connections closed?
    pub fn is_over(&self) -> bool {
        self.sides.iter().all(|side| side.connection.state() == State::Closed)
    }

    /// Hands data and events over from each side to the other, and adds what may be sent to `out`.
    pub fn pump(&mut self, now: Time, buffer: u64, out: &mut Vec<SeenPacket>) {
        let [forward, reverse] = &mut self.sides;
        hand_over(forward, reverse, buffer);
        hand_over(reverse, forward, buffer);
        for direction in [Direction::Forward, Direction::Reverse] {
            let connection = &mut self.sides[direction as usize].connection;
            while connection.poll_transmit_into(now, &mut self.transmit) {
                out.push(packet(self.flow, direction, &self.transmit));
            }
        }
    }
}

/// Passes data, its end, or a reset from one side to the other. Data without room stays unread, which closes the window that `from`
/// advertises.
fn hand_over(from: &mut Side, to: &mut Side, buffer: u64) {
    while let Some(event) = from.connection.poll_event() {
        match event {
            Event::PeerFinished => from.peer_has_finished = true,
            Event::Reset => to.connection.abort(),
            _ => {}
        }
    }
    let waiting = to.written - to.connection.acknowledged();
    let bytes = from.connection.readable().min(buffer.saturating_sub(waiting));
    if bytes > 0 && !to.is_closing {
        from.connection.read(bytes);
        to.connection.write(bytes);
        to.written += bytes;
    }
    if from.peer_has_finished && from.connection.readable() == 0 && !to.is_closing {
        to.connection.shutdown();
        to.is_closing = true;
    }
}

fn packet(flow: FlowId, direction: Direction, transmit: &Transmit) -> SeenPacket {
    let Transmit { segment, ecn, reason, offset } = *transmit;
    let origin = Origin { reason, offset, ..Origin::default() };
    SeenPacket { ecn, origin, ..SeenPacket::made(flow, direction, segment) }
}
