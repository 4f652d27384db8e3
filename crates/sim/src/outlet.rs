//! Where the segments of connections go: into the network, into a circuit, or to a receiver that is ahead.

use crate::connected::Connected;
use crate::flow::{RECEIVER, SENDER, Transfer, is_retransmission};
use crate::network::Network;
use crate::timer::Timer;
use airtcp_proto::tcp::{Connection, Outcome, Outlet, Reason, Transmit, transmit};
use airtcp_wire::{Flags, Header, Time};
use std::ops::Range;

/// What takes the packets of one end of a connection.
pub trait Target {
    /// The end that sends.
    const END: usize = SENDER;

    /// How many packets it has room for.
    fn room(&self) -> u32 {
        u32::MAX
    }

    /// As [`Outlet::begin_burst`].
    fn begin_burst(&mut self) {}

    /// Takes new data.
    #[inline(always)]
    fn take_new_data(&mut self, from: &mut Connected<'_>, header: &Header, offset: u64) {
        let id = from.keep_data(header, offset);
        self.take(from, id);
    }

    /// Takes a packet in the slab.
    fn take(&mut self, from: &mut Connected<'_>, id: u32);

    /// As [`Outlet::moves_on`].
    fn moves_on(&mut self, _from: &mut Connected<'_>, _at: Time) -> bool {
        false
    }
}

/// The network, from the sender or the receiver.
pub struct IntoNetwork<const END: usize>;

impl<const END: usize> Target for IntoNetwork<END> {
    const END: usize = END;

    #[inline(always)]
    fn take(&mut self, from: &mut Connected<'_>, id: u32) {
        from.stage.network.send(from.flow, END, id);
    }
}

/// A receiver that is [ahead](crate::ahead).
#[derive(Default)]
pub struct ToReceiver {
    /// Has the receiver just got new data of the same burst?
    follows: bool,
}

impl Target for ToReceiver {
    #[inline(always)]
    fn begin_burst(&mut self) {
        self.follows = false;
    }

    #[inline(always)]
    fn take_new_data(&mut self, from: &mut Connected<'_>, header: &Header, offset: u64) {
        self.follows = from.send_ahead(header, offset, self.follows);
    }

    fn take(&mut self, from: &mut Connected<'_>, id: u32) {
        from.stage.network.send(from.flow, SENDER, id);
    }

    #[inline(always)]
    fn moves_on(&mut self, from: &mut Connected<'_>, at: Time) -> bool {
        let is_direct = from.stage.network.ahead.station.is_none();
        is_direct && from.stage.moves_on(Timer::Endpoint(from.endpoint), at)
    }
}

/// A circuit with this much room, which takes packets by `enter`.
pub struct IntoCircuit<F> {
    pub room: u32,
    pub enter: F,
}

impl<F: FnMut(&Network, u32)> Target for IntoCircuit<F> {
    #[inline(always)]
    fn room(&self) -> u32 {
        self.room
    }

    #[inline(always)]
    fn take(&mut self, from: &mut Connected<'_>, id: u32) {
        self.room -= 1;
        (self.enter)(&from.stage.network, id);
    }
}

/// One end of a connection, and what takes its packets.
pub struct Outflow<'a, T> {
    pub from: Connected<'a>,
    pub target: T,
}

impl<T: Target> Outflow<'_, T> {
    /// Sends what the end may send now, and schedules its timer.
    #[inline(always)]
    pub fn run(mut self) -> Outcome {
        let sent = transmit(self.from.stage.network.now, &mut self);
        let Connected { stage, transfer, endpoint, .. } = self.from;
        match (T::END, sent) {
            (SENDER, Outcome::NewData { next: Some(at) }) => {
                stage.schedule.set(Timer::Endpoint(endpoint), at)
            }
            (SENDER, _) => stage.schedule_sender(endpoint, &transfer.ends[SENDER]),
            _ => stage.schedule.set(Timer::Endpoint(endpoint ^ 1), transfer.ends[RECEIVER].poll_timeout()),
        }
        sent
    }
}

impl<T: Target> Outlet for Outflow<'_, T> {
    #[inline(always)]
    fn connection(&mut self) -> &mut Connection {
        &mut self.from.transfer.ends[T::END]
    }

    #[inline(always)]
    fn room(&self) -> u32 {
        self.target.room()
    }

    #[inline(always)]
    fn begin_burst(&mut self) {
        self.target.begin_burst();
    }

    #[inline(always)]
    fn take_new_data(&mut self, header: &Header, offset: u64) {
        let Connected { transfer, flow, .. } = &mut self.from;
        transfer.on_under_way();
        flow.counts.on_sent(Reason::New);
        transfer.on_sent(offset + u64::from(header.len));
        self.target.take_new_data(&mut self.from, header, offset);
    }

    fn take(&mut self, transmit: &Transmit) {
        if T::END == RECEIVER && self.from.flow.runs_ahead && is_plain_ack(transmit) {
            self.from.stage.network.sack = transmit.segment.sack;
            return self.from.answer(self.from.stage.network.now, (&transmit.segment).into());
        }
        self.from.transfer.on_under_way();
        let id = keep(&mut self.from, T::END, transmit);
        self.target.take(&mut self.from, id);
    }

    #[inline(always)]
    fn moves_on(&mut self, at: Time) -> bool {
        self.target.moves_on(&mut self.from, at)
    }
}

fn is_plain_ack(transmit: &Transmit) -> bool {
    transmit.reason == Reason::Ack && transmit.segment.len == 0 && transmit.segment.flags == Flags::ACK
}

/// Puts any segment into the slab, and records the data that it carries.
fn keep(from: &mut Connected<'_>, end: usize, transmit: &Transmit) -> u32 {
    let packets = &mut from.stage.network.packets;
    let id = packets.insert_segment(transmit);
    packets.get_mut(id).address(from.endpoint | end as u32, from.flow, from.transfer.numbers());
    if transmit.segment.len > 0 {
        from.flow.counts.on_sent(transmit.reason);
        let order = account(from, transmit);
        from.stage.network.packets.set_order(id, order);
    }
    id
}

/// Records the data that is sent. Returns which copy of its bytes it is.
fn account(from: &mut Connected<'_>, transmit: &Transmit) -> u32 {
    let Connected { stage, transfer, flow, .. } = from;
    let range = transmit.offset..transmit.offset + u64::from(transmit.segment.len);
    if !is_retransmission(transmit.reason) {
        transfer.on_sent(range.end);
        return 0;
    }
    let Network { recorder, now, .. } = &mut stage.network;
    if let Some(recorder) = recorder {
        recorder.on_resent(*now, transfer.flow, transmit.reason, transmit.offset);
    }
    // Data that reaches a split-connection proxy has arrived, and that cannot be seen here.
    if flow.shared.scheme.is_split() {
        return 0;
    }
    let Transfer { truth, ends, .. } = &mut **transfer;
    let has_received = |range: &Range<u64>| ends[RECEIVER].has_received(range.start, range.end);
    let (order, is_spurious) = truth.resent(range, transmit.reason, has_received);
    if is_spurious {
        flow.counts.on_spurious(transmit.reason);
    }
    order
}
