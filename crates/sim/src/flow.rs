//! Flows and their connections.

use crate::histogram::Histogram;
use crate::routes::RouteId;
use crate::topology::Side;
use crate::traffic::Source;
use crate::truth::{Spurious, Truth};
use airtcp_proto::middlebox::Direction;
use airtcp_proto::queue::DropCause;
use airtcp_proto::rng::{Chances, Dormant};
use airtcp_proto::scheme::Scheme;
use airtcp_proto::tcp::{Connection, Reason, Rules, State};
use airtcp_wire::{Dur, Time};
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

/// The sender of a flow's data and its receiver, as indices into [`Transfer::ends`].
pub const SENDER: usize = 0;
pub const RECEIVER: usize = 1;

/// One flow of the scenario: one of `count`.
#[repr(C)]
pub struct Flow {
    pub shared: Arc<Shared>,
    /// Boxed, because it is large and seldom needed. `None` once it will never act again.
    pub source: Option<Box<Source>>,
    /// Random numbers for initial sequence numbers and controllers' seeds.
    pub chance: Dormant,
    /// The connection that the application writes to. `None` before it opens, and for flows of transfers or datagrams.
    pub connection: Option<u32>,
    /// Boxed, because many flows are one connection that does not end.
    pub past: Option<Box<Past>>,
    pub rtt: Histogram,
    /// The nodes that handle its packets, and how.
    pub handlers: Box<[(u16, Handler)]>,
    /// The sender's node and the receiver's.
    pub nodes: [u16; 2],
    pub direction: Direction,
    /// The links on which they send, and the routes of what they send.
    pub ways: [Side; 2],
    pub routes: [RouteId; 2],
    /// The circuit that serves this flow alone. Its connections send as the circuit has room.
    pub circuit: Option<u16>,
    /// Its receiver is [ahead](crate::ahead) of the run, and only links, stations that are ahead, too, and the circuit of
    /// this flow alone lie between.
    pub runs_ahead: bool,
    /// The station ahead that serves it.
    pub station_ahead: Option<u16>,
    /// The sides on which its packets leave the node whose stations are ahead, as `ways`.
    pub ways_ahead: [Side; 2],
    /// The circuit that counts its packets when they are delivered.
    pub counted_by: Option<u16>,
    /// The nodes at which its packets leave a circuit and are counted, and those circuits: one for its data, one for its ACKs.
    pub counted_at: Box<[(u16, Carried)]>,
    /// Which of the `count` instances of the scenario's flow this is.
    pub instance: u32,
    /// Data packets outside the slab that arrive after the run's end.
    pub late_packets: u32,
    pub counts: Counts,
}

/// What the instances of one of the scenario's flows share.
pub struct Shared {
    /// Index into the scenario's flows.
    pub spec: usize,
    pub is_measured: bool,
    pub scheme: Arc<Scheme>,
    /// The rules of its connections.
    pub rules: Arc<Rules>,
    /// Random numbers of the run; each instance has [its own](Flow::chance) among them.
    pub chances: Chances,
}

impl Flow {
    /// The bytes of a `Flow` that the delivery of data touches.
    pub const TOUCHED_BY_TEXT: Range<usize> =
        offset_of!(Flow, handlers)..offset_of!(Flow, counts.retransmissions);
    /// The bytes that an ACK touches.
    pub const TOUCHED_BY_ACK: Range<usize> = offset_of!(Flow, rtt)..Flow::TOUCHED_BY_TEXT.end;

    /// If the circuit ends where the flow ends, and nothing else handles packets there, they are counted at delivery.
    pub fn count_at_delivery(&mut self) {
        let end = self.nodes[RECEIVER];
        if self.handler_at(end).is_some() {
            return;
        }
        let at_delivery = self.counted_at.iter().find(|(node, _)| *node == end);
        self.counted_by = at_delivery.map(|(_, carried)| carried.circuit);
        self.counted_at = self.counted_at.iter().filter(|(node, _)| *node != end).copied().collect();
    }

    /// Counts its packets where they leave a circuit.
    pub fn count_at(&mut self, node: u16, carried: Carried) {
        let counted_at = std::mem::take(&mut self.counted_at).into_iter();
        self.counted_at = counted_at.chain([(node, carried)]).collect();
    }

    /// Lets the node handle the flow's packets.
    pub fn add_handler(&mut self, node: u16, handler: Handler) {
        let handlers = std::mem::take(&mut self.handlers).into_iter();
        self.handlers = handlers.chain([(node, handler)]).collect();
    }

    /// Packets of data that have reached the receiver, those of the warm-up included.
    pub fn packets_delivered(&self) -> u64 {
        let past = self.past.as_ref().map_or(0, |past| past.packets_delivered);
        past + self.counts.data_packets_delivered
    }

    #[inline]
    pub fn handler_at(&self, node: u16) -> Option<Handler> {
        self.handlers.iter().find(|(at, _)| *at == node).map(|(_, handler)| *handler)
    }
}

/// What handles a flow's packets at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handler {
    Station(u16),
    /// A circuit that its packets enter here.
    Circuit(Carried),
}

/// A circuit that carries a flow's packets in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    pub circuit: u16,
    /// Of the flow's packets, as stations know it: that of its data, or that of its ACKs.
    pub direction: Direction,
}

impl Handler {
    pub fn station(self) -> Option<u16> {
        match self {
            Handler::Station(station) => Some(station),
            Handler::Circuit(_) => None,
        }
    }
}

/// What a flow's ended connections leave behind.
#[derive(Default)]
pub struct Past {
    /// Totals of the ended connections.
    pub retired: Totals,
    /// Totals of all connections at the end of the warm-up.
    pub baseline: Totals,
    /// Durations of the connections that completed.
    pub completions: Vec<Dur>,
    /// In the warm-up.
    pub packets_delivered: u64,
    /// SRTT and RTTVAR of the last connection that ended, at each end, if they are shared.
    pub known_rtts: [Option<(Dur, Dur)>; 2],
    /// When the receiver had all that the application wrote before it closed.
    pub completed: Option<Time>,
}

/// What the engine counts of a flow since the warm-up. The fields that every packet touches come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Counts {
    pub data_packets_sent: u64,
    pub data_packets_delivered: u64,
    /// On the wire, headers included.
    pub data_bytes_delivered: u64,
    pub retransmissions: u64,
    /// Data packets that found a queue full.
    overflows: u64,
    pub transfers_started: u64,
    rare: Option<Box<RareCounts>>,
}

/// Counts that are 0 for most flows.
#[derive(Clone, Copy, Debug, Default)]
pub struct RareCounts {
    /// Data packets lost otherwise, in the order of [`DropCause`].
    losses: [u64; 4],
    /// Packets without data that were lost, in both directions.
    pub acks_lost: u64,
    pub resets: u64,
    pub spurious: Spurious,
    /// Payload of datagrams that arrived.
    pub datagram_bytes: u64,
}

impl Counts {
    #[inline]
    pub fn on_sent(&mut self, reason: Reason) {
        self.data_packets_sent += 1;
        self.retransmissions += u64::from(is_retransmission(reason));
    }

    #[inline]
    pub fn on_delivered(&mut self, bytes: u32) {
        self.on_all_delivered(1, bytes);
    }

    /// Counts `packets` of `bytes` each.
    #[inline]
    pub fn on_all_delivered(&mut self, packets: u32, bytes: u32) {
        self.data_packets_delivered += u64::from(packets);
        self.data_bytes_delivered += u64::from(packets) * u64::from(bytes);
    }

    pub fn rare(&self) -> RareCounts {
        self.rare.as_deref().copied().unwrap_or_default()
    }

    pub fn rare_mut(&mut self) -> &mut RareCounts {
        self.rare.get_or_insert_default()
    }

    /// A data packet is lost.
    pub fn on_lost(&mut self, cause: DropCause) {
        match cause {
            DropCause::Overflow => self.overflows += 1,
            _ => self.rare_mut().losses[cause as usize] += 1,
        }
    }

    /// A retransmission that was sent for this reason is found spurious.
    pub fn on_spurious(&mut self, reason: Reason) {
        self.rare_mut().spurious.count(reason);
    }

    pub fn losses(&self, cause: DropCause) -> u64 {
        match cause {
            DropCause::Overflow => self.overflows,
            _ => self.rare().losses[cause as usize],
        }
    }
}

/// Does a segment sent for this reason carry bytes that were sent before?
#[inline]
pub fn is_retransmission(reason: Reason) -> bool {
    use Reason::{Copy, FastRetransmit, Retransmit, TailLossProbe, Timeout};
    matches!(reason, FastRetransmit | Retransmit | Timeout | TailLossProbe | Copy)
}

/// Totals of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Application bytes received in order.
    pub received: u64,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    pub cwnd_reductions: u64,
}

impl Totals {
    pub fn of(transfer: &Transfer) -> Totals {
        let stats = transfer.ends[SENDER].stats();
        Totals {
            received: transfer.ends[RECEIVER].received(),
            timeouts: stats.timeouts,
            fast_retransmits: stats.fast_retransmits,
            cwnd_reductions: stats.cwnd_reductions,
        }
    }

    pub fn add(&mut self, other: &Totals) {
        self.received += other.received;
        self.timeouts += other.timeouts;
        self.fast_retransmits += other.fast_retransmits;
        self.cwnd_reductions += other.cwnd_reductions;
    }
}

/// Notes that a copy of data has arrived while the truth about some retransmission is undecided.
// By value, so that the callers, which are hot, can keep the range in registers.
#[cold]
pub fn note_delivered(truth: &mut Truth, flow: &mut Flow, range: Range<u64>, order: u32) {
    truth.delivered(range, order, |reason| flow.counts.on_spurious(reason));
}

/// How far a greedy application writes ahead of what is sent, in bytes. So much still leaves after it stops.
const AHEAD: u64 = 32 << 10;

/// One connection of a flow.
#[repr(C)]
pub struct Transfer {
    pub ends: [Connection; 2],
    pub flow: u32,
    /// Connections are numbered in the order in which they open.
    pub number: u32,
    /// Packets of this connection that are under way.
    under_way: u32,
    pub phase: Phase,
    /// The application writes more once the sender has sent beyond this stream position.
    refill_at: u64,
    pub truth: Truth,
    pub started: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Running,
    /// The receiver has everything.
    Completed,
    /// One end was reset or gave up.
    Failed,
    /// Over, and its place is free.
    Retired,
}

impl Transfer {
    /// The bytes of a `Transfer` that every packet touches beside the ends.
    pub const TOUCHED: Range<usize> = offset_of!(Transfer, flow)..offset_of!(Transfer, started);

    pub fn new(flow: u32, number: u32, ends: [Connection; 2], started: Time) -> Transfer {
        Transfer {
            flow,
            number,
            ends,
            truth: Truth::default(),
            started,
            under_way: 0,
            refill_at: u64::MAX,
            phase: Phase::Running,
        }
    }

    /// Numbers of the flow and of the connection.
    #[inline]
    pub fn numbers(&self) -> (u32, u32) {
        (self.flow, self.number)
    }

    pub fn write(&mut self, bytes: u64) {
        self.ends[SENDER].write(bytes);
    }

    pub fn close(&mut self) {
        self.refill_at = u64::MAX;
        self.ends[SENDER].shutdown();
    }

    pub fn set_greedy(&mut self, greedy: bool) {
        self.refill_at = u64::MAX;
        if greedy {
            self.refill();
        }
    }

    /// The sender has sent up to `position`.
    #[inline]
    pub fn on_sent(&mut self, position: u64) {
        if position > self.refill_at {
            self.refill();
        }
    }

    #[cold]
    fn refill(&mut self) {
        self.write(2 * AHEAD);
        self.refill_at = self.ends[SENDER].written() - AHEAD;
    }

    /// One of its packets, data or ACK, is on its way.
    #[inline(always)]
    pub fn on_under_way(&mut self) {
        self.under_way += 1;
    }

    /// One of its packets has got to its end, is lost, or stays at a station.
    #[inline(always)]
    pub fn on_gone(&mut self) {
        debug_assert!(self.under_way > 0, "a packet is gone that was not under way");
        self.under_way -= 1;
    }

    /// Can nothing that matters happen any more? TIME-WAIT guards against packets that are not there.
    pub fn is_over(&self) -> bool {
        self.is_over_but_for(0)
    }

    /// [`is_over`](Transfer::is_over), but for `packets` that are still under way.
    pub fn is_over_but_for(&self, packets: u32) -> bool {
        let is_closed = |end: &Connection| matches!(end.state(), State::Closed | State::TimeWait);
        self.under_way == packets
            && match self.phase {
                Phase::Running | Phase::Retired => false,
                Phase::Completed => self.ends.iter().all(is_closed),
                Phase::Failed => true,
            }
    }
}
