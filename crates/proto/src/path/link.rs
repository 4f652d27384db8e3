//! One direction of a link: queue, transmitter, loss, delay.
//!
//! The link computes instead of waiting. Once it is known when the transmitter takes up a packet, the packet's departure, its fate
//! and the time at which it comes out are known, too, and the packet goes into the pipe. With a DropTail queue this is known when the
//! packet arrives. Any other queue is asked for the next packet at each departure.
//!
//! One wake-up per packet is enough for that. While packets wait, the transmitter holds one, which is in the pipe and does not come
//! out before the next one is taken up. Nobody can see whether the queue is asked at the departure or only then.

use super::compression::{Compressible, HopCompression};
use super::front::{Asked, Foreseen, Front, Handoff};
use super::general::General;
use super::line::Line;
use super::medium::{LoggedTurn, Medium, Port, TurnStats};
use super::shortcut::Lean;
use super::stats::LinkStats;
use super::{Arq, BlockCode, Cover, DelayModel, Episodes, LossModel, Transmitter};
use crate::circuit::Compression;
use crate::queue::{DropCause, Item, Limit, Queue};
use airtcp_wire::{Dur, Ecn, Time};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fate {
    #[default]
    Delivered,
    Lost(DropCause),
}

impl Fate {
    /// The fate of a packet that has crossed the link.
    #[inline]
    pub(super) fn across(is_lost: bool) -> Fate {
        if is_lost { Fate::Lost(DropCause::Corruption) } else { Fate::Delivered }
    }
}

/// A packet that has left the link, or will.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Output {
    /// The packet, as the driver knows it.
    pub id: u32,
    /// Its ECN field, which a queue may have marked.
    pub ecn: Ecn,
    /// When it came out at the far end, would have come out if it had not been corrupted, or was dropped.
    pub at: Time,
    pub fate: Fate,
}

/// The queue at one instant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QueueView {
    /// Packets waiting, without the one in the transmitter.
    pub packets: usize,
    pub bytes: u64,
    /// RED's average, in the unit it counts in.
    pub average: Option<f64>,
}

pub struct Link {
    kind: Kind,
}

#[allow(clippy::large_enum_variant, reason = "links are few, and access to the lean one must be direct")]
enum Kind {
    Lean(Lean),
    General(Box<General>),
    /// A general link whose transmitter waits for its turn on a medium.
    Shared(Port),
}

impl Link {
    /// A link with constant delay and without loss, whose queue drops what finds no room.
    pub fn drop_tail(limit: Limit, transmitter: Box<dyn Transmitter>, propagation: Dur) -> Link {
        let kind = match Lean::of(limit, &*transmitter, propagation) {
            Some(lean) => Kind::Lean(lean),
            None => Kind::general(Front::Foreseen(Foreseen::new(limit)), transmitter, propagation),
        };
        Link { kind }
    }

    /// A link with constant delay and without loss, with any queue.
    pub fn new(queue: Box<dyn Queue>, transmitter: Box<dyn Transmitter>, propagation: Dur) -> Link {
        Link { kind: Kind::general(Front::Asked(Asked::new(queue)), transmitter, propagation) }
    }

    pub fn with_loss(mut self, loss: Box<dyn LossModel>) -> Link {
        if let Kind::Lean(lean) = &mut self.kind {
            lean.set_loss(loss);
            return self;
        }
        self.with(|general| general.line.loss = Some(loss))
    }

    /// Loses packets before they reach the queue. Neither code nor ARQ helps against that.
    pub fn with_loss_before_queue(self, loss: Box<dyn LossModel>) -> Link {
        self.with(|general| general.loss_before = Some(loss))
    }

    /// Adds variable delay. A packet that would come out before the one in front of it does so if `overtaking`, or else comes out
    /// together with it.
    pub fn with_delay(self, delay: Box<dyn DelayModel>, overtaking: bool) -> Link {
        self.with(|general| general.line.set_delay(delay, overtaking))
    }

    /// Sends the packets of `cover` with the parity of `code`. The loss model must be built with the same code.
    pub fn with_code(self, code: BlockCode, cover: Cover) -> Link {
        self.with(|general| general.line.encoding.code = Some((code, cover)))
    }

    /// Repeats lost packets. Packets that may overtake because of their delay may do so even if `arq` is in order.
    pub fn with_arq(self, arq: Arq) -> Link {
        self.with(|general| general.line.set_arq(arq))
    }

    /// Compresses the header packets that are [announced](Link::announce). The link must keep packets in order.
    pub fn with_compression(self, compression: Compression) -> Link {
        match HopCompression::new(compression) {
            None => self,
            some => self.with(|general| general.line.encoding.compression = some),
        }
    }

    /// Sends nothing during `outages`. If they are hand-offs, all packets that are under way when one begins are lost, though the
    /// transmitter still spends its time on the packet that it held, and those that wait are lost or forwarded.
    pub fn with_outages(self, outages: Episodes, handoff: Option<Handoff>) -> Link {
        self.with(|general| general.interrupt(outages, handoff))
    }

    /// The same link without its shortcut. It does and counts the same.
    pub fn without_shortcut(self) -> Link {
        self.with(|_| ())
    }

    /// Shares `medium` with all other links on it. The transmitter sends when it has its turn, as many packets as it
    /// [serves](Transmitter::serve) at a time. What ARQ repeats waits for a further turn. A link that shares a medium stays on it.
    pub fn on(self, medium: &Medium) -> Link {
        let port = self.kind.into_general().map_or_else(|port| port, |general| medium.join(*general));
        Link { kind: Kind::Shared(port) }
    }

    /// Adds what only a general link has, before anything was sent.
    fn with(self, change: impl FnOnce(&mut General)) -> Link {
        let kind = match self.kind.into_general() {
            Ok(mut general) => {
                change(&mut general);
                Kind::General(general)
            }
            Err(port) => {
                port.alter(change);
                Kind::Shared(port)
            }
        };
        Link { kind }
    }

    /// Does it compress header packets?
    pub fn compresses(&self) -> bool {
        let compresses = |general: &General| general.line.encoding.compression.is_some();
        match &self.kind {
            Kind::Lean(_) => false,
            Kind::General(general) => compresses(general),
            Kind::Shared(port) => port.with(|general| compresses(general)),
        }
    }

    /// Tells a link that compresses what the header packet with this `id` carries, before the packet arrives.
    pub fn announce(&mut self, id: u32, header: Compressible) {
        match &mut self.kind {
            Kind::Lean(_) => {}
            Kind::General(general) => general.announce(id, header),
            Kind::Shared(port) => port.with(|general| general.announce(id, header)),
        }
    }

    /// A packet arrives at the near end.
    #[inline(always)]
    pub fn handle_packet(&mut self, now: Time, item: Item) {
        match &mut self.kind {
            Kind::Lean(lean) => lean.handle_packet(now, item),
            Kind::General(general) => {
                general.handle_packet(now, item);
            }
            Kind::Shared(port) => port.handle_packet(now, item),
        }
    }

    /// Can packets [pass](Link::pass)?
    pub fn can_pass(&self) -> bool {
        matches!(self.kind, Kind::Lean(_))
    }

    /// As [`handle_packet`](Link::handle_packet), for a packet that the driver wants to send on at once. Returns when it comes out, if
    /// that is by the [horizon](Link::set_horizon), after all packets before it, and without a loss; the link then reports it no
    /// more. For a packet that comes out after the [end](Link::set_end) that is [`Time::NEVER`]. `item` is called only if more than
    /// the size is needed.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, bytes: u32, mut item: impl FnMut() -> Item) -> Option<Time> {
        if let Kind::Lean(lean) = &mut self.kind {
            return lean.pass(now, bytes, item);
        }
        self.handle_packet(now, item());
        None
    }

    /// Packets that come out by then may [pass](Link::pass): nobody asks for the link's counters before.
    pub fn set_horizon(&mut self, horizon: Time) {
        if let Kind::Lean(lean) = &mut self.kind {
            lean.set_horizon(horizon);
        }
    }

    /// Nobody waits for packets that [pass](Link::pass) and come out later.
    pub fn set_end(&mut self, end: Time) {
        if let Kind::Lean(lean) = &mut self.kind {
            lean.set_end(end);
        }
    }

    /// The next packet that [`pass`](Link::pass) has kept and that comes out by the present horizon, and when it does.
    pub fn release(&mut self) -> Option<(Time, u32)> {
        match &mut self.kind {
            Kind::Lean(lean) => lean.release(),
            Kind::General(_) | Kind::Shared(_) => None,
        }
    }

    /// The next packet that has left the link by `now`, in order of time. What the queue drops at a departure is reported at the next
    /// wake-up, with the true time of its drop.
    #[inline]
    pub fn poll_delivery(&mut self, now: Time) -> Option<Output> {
        match &mut self.kind {
            Kind::Lean(lean) => lean.pop(now),
            Kind::General(general) => general.pop(now),
            Kind::Shared(port) => port.at(now, |general| general.pop(now)),
        }
    }

    /// As [`poll_delivery`](Link::poll_delivery), for a packet that comes out as it went in. `None` if there may be something else to
    /// report.
    #[inline]
    pub fn poll_intact(&mut self, now: Time) -> Option<u32> {
        match &mut self.kind {
            Kind::Lean(lean) => lean.pop_intact(now),
            Kind::General(_) | Kind::Shared(_) => None,
        }
    }

    /// Fetches ahead what [`peek`](Link::peek) will read.
    #[inline]
    pub fn prefetch(&self, skipped: usize) {
        match &self.kind {
            Kind::Lean(lean) => lean.prefetch(skipped),
            Kind::General(general) => general.line.pipe.prefetch(skipped),
            Kind::Shared(_) => {}
        }
    }

    /// A guess at the packet that comes out after `skipped` others, good enough to fetch ahead what the driver knows of it.
    #[inline]
    pub fn peek(&self, skipped: usize) -> Option<u32> {
        match &self.kind {
            Kind::Lean(lean) => lean.peek(skipped),
            Kind::General(general) => general.line.pipe.peek(skipped),
            Kind::Shared(_) => None,
        }
    }

    /// When to call [`poll_delivery`](Link::poll_delivery) next. Nothing is delivered before.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        match &self.kind {
            Kind::Lean(lean) => lean.next_out(),
            Kind::General(general) => general.next_out(),
            Kind::Shared(port) => port.next_out(),
        }
    }

    /// Its number among the links on its medium, from 0, in the order in which they joined it. Absent without a medium.
    pub fn number_on_medium(&self) -> Option<usize> {
        match &self.kind {
            Kind::Shared(port) => Some(port.link),
            Kind::Lean(_) | Kind::General(_) => None,
        }
    }

    /// Are both on the same medium?
    pub fn shares_medium_with(&self, other: &Link) -> bool {
        matches!((&self.kind, &other.kind), (Kind::Shared(one), Kind::Shared(other)) if one.is_beside(other))
    }

    /// The number of a link on the same medium whose [`poll_timeout`](Link::poll_timeout) may have changed since it was asked. To be called after
    /// each call of a link on a medium, until there is none.
    #[inline]
    pub fn poll_moved(&self) -> Option<usize> {
        match &self.kind {
            Kind::Shared(port) => port.poll_moved(),
            Kind::Lean(_) | Kind::General(_) => None,
        }
    }

    /// The queue at `now`, for time series.
    pub fn queue_view(&mut self, now: Time) -> QueueView {
        match &mut self.kind {
            Kind::Lean(lean) => lean.queue_view(now),
            Kind::General(general) => general.queue_view(now),
            Kind::Shared(port) => port.at(now, |general| general.queue_view(now)),
        }
    }

    pub fn stats(&mut self, now: Time) -> LinkStats {
        match &mut self.kind {
            Kind::Lean(lean) => lean.stats(now),
            Kind::General(general) => general.stats(now),
            Kind::Shared(port) => port.at(now, |general| general.stats(now)),
        }
    }

    /// What the link did on its medium; `None` if it is on none.
    pub fn turn_stats(&self, now: Time) -> Option<TurnStats> {
        match &self.kind {
            Kind::Lean(_) | Kind::General(_) => None,
            Kind::Shared(port) => Some(port.turn_stats(now)),
        }
    }

    /// From now on, its turns are logged, if it is on a medium.
    pub fn log_turns(&mut self) {
        if let Kind::Shared(port) = &self.kind {
            port.with(|general| general.line.log_turns());
        }
    }

    /// What was logged until `now`, in order of time; nothing is logged from then on.
    pub fn take_turns(&mut self, now: Time) -> Vec<LoggedTurn> {
        match &self.kind {
            Kind::Lean(_) | Kind::General(_) => Vec::new(),
            Kind::Shared(port) => port.at(now, |general| general.line.take_turns()),
        }
    }

    /// Starts counting anew, at the end of a warm-up.
    pub fn reset_stats(&mut self, now: Time) {
        match &mut self.kind {
            Kind::Lean(lean) => lean.reset_stats(now),
            Kind::General(general) => general.reset_stats(now),
            Kind::Shared(port) => port.reset_stats(now),
        }
    }
}

impl Kind {
    fn general(front: Front, transmitter: Box<dyn Transmitter>, propagation: Dur) -> Kind {
        Kind::General(Box::new(General::new(front, Line::new(transmitter, propagation))))
    }

    /// The general link, or its place on a medium.
    fn into_general(self) -> Result<Box<General>, Port> {
        match self {
            Kind::Lean(lean) => Ok(Box::new(General::from(lean))),
            Kind::General(general) => Ok(general),
            Kind::Shared(port) => Err(port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::FixedRate;
    use crate::queue::{DropTail, Limit};
    use airtcp_wire::Rate;

    /// 1 000 bytes take 1 ms; 10 ms to the other end; two packets may wait.
    fn link() -> Link {
        let transmitter = Box::new(FixedRate::new(Rate(8_000_000)));
        Link::new(Box::new(DropTail::new(Limit::packets(2))), transmitter, Dur::from_millis(10))
    }

    fn packet(id: u32) -> Item {
        Item { id, bytes: 1000, ..Item::default() }
    }

    /// Wakes the link when it asks to be woken; returns (id, at in ms, fate).
    fn drain(link: &mut Link) -> Vec<(u32, u64, Fate)> {
        let mut out = Vec::new();
        while !link.poll_timeout().is_never() {
            let now = link.poll_timeout();
            while let Some(output) = link.poll_delivery(now) {
                out.push((output.id, output.at.0 / 1_000_000, output.fate));
            }
        }
        out
    }

    #[test]
    fn a_burst_is_spaced_by_the_transmitter_and_the_rest_dropped() {
        let mut link = link();
        (0..4).for_each(|id| link.handle_packet(Time::ZERO, packet(id)));
        let overflow = Fate::Lost(DropCause::Overflow);
        let expected =
            [(3, 0, overflow), (0, 11, Fate::Delivered), (1, 12, Fate::Delivered), (2, 13, Fate::Delivered)];
        assert_eq!(drain(&mut link), expected);
    }

    #[test]
    fn stats_integrate_the_queue_over_time() {
        let mut link = link();
        (0..4).for_each(|id| link.handle_packet(Time::ZERO, packet(id)));
        drain(&mut link);
        let stats = link.stats(Time(4_000_000));
        // Two wait for 1 ms, one for another: 3 packet-ms in 4 ms.
        assert_eq!(stats.mean_queue_packets, 0.75);
        assert_eq!((stats.arrived_packets, stats.sent_packets, stats.sent_bytes), (4, 3, 3000));
        assert_eq!((stats.busy, stats.max_queue_packets), (Dur::from_millis(3), 2));
        assert_eq!(stats.dropped(DropCause::Overflow), 1);
    }

    #[test]
    fn a_reset_in_mid_packet_counts_the_rest_of_it() {
        let mut link = link();
        (0..3).for_each(|id| link.handle_packet(Time::ZERO, packet(id)));
        link.reset_stats(Time(500_000));
        let stats = link.stats(Time(1_500_000));
        assert_eq!(stats.busy, Dur::from_millis(1));
        assert_eq!(stats.mean_queue_packets, 1.5);
        assert_eq!(stats.sent_packets, 1);
    }
}
