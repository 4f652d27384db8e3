//! The most common link: a DropTail queue, a constant rate and a constant delay.
//!
//! Invariant: when a packet arrives, it is known whether and when it comes out; nothing that arrives later changes that. So it goes
//! straight into the row of packets under way.

use super::backlog::{Backlog, Shape};
use super::expected::Expected;
use crate::marks::{self, Mark};
use crate::path::dropped::Dropped;
use crate::path::front::{Foreseen, Front};
use crate::path::general::General;
use crate::path::line::Line;
use crate::path::link::{Fate, Output, QueueView};
use crate::path::stats::{Ahead, Counters, LinkStats};
use crate::path::{FixedRate, LossModel, Transmitter};
use crate::prefetch::prefetch;
use crate::queue::{DropCause, Item, Limit};
use crate::ring::Ring;
use airtcp_wire::{Dur, Time};

pub struct Lean {
    limit: Limit,
    transmitter: FixedRate,
    propagation: Dur,
    loss: Option<Box<dyn LossModel>>,
    /// How many packets come through before the loss model must be asked.
    until_loss: u32,
    backlog: Backlog,
    /// Packets like the last one, or like the last two in turn. `settle` adds them to `backlog` and `counters`.
    expected: Expected,
    /// Shapes of the last packet but one and of the last packet.
    recent: [Shape; 2],
    /// When the transmitter has sent all that it was given.
    free_at: Time,
    /// Packets under way, in order of arrival.
    flights: Ring<Output>,
    dropped: Dropped,
    /// When the first packet of `flights` or `dropped` comes out.
    next_out: Time,
    counters: Counters,
    /// A packet that comes out by then may [pass](Lean::pass).
    horizon: Time,
    /// A packet that comes out before then passes unless it is lost. Zero while packets are under way.
    open_until: Time,
    /// Nobody waits for a packet that comes out later.
    end: Time,
}

impl Lean {
    /// The link with these parts, if the transmitter's rate is constant.
    pub fn of(limit: Limit, transmitter: &dyn Transmitter, propagation: Dur) -> Option<Lean> {
        let transmitter = transmitter.fixed()?;
        Some(Lean {
            limit,
            transmitter,
            propagation,
            loss: None,
            until_loss: 0,
            backlog: Backlog::default(),
            expected: Expected::default(),
            recent: [Shape::default(); 2],
            free_at: Time::ZERO,
            flights: Ring::default(),
            dropped: Dropped::default(),
            next_out: Time::NEVER,
            counters: Counters::default(),
            horizon: Time::ZERO,
            open_until: Time::ZERO,
            end: Time::NEVER,
        })
    }

    pub fn set_loss(&mut self, loss: Box<dyn LossModel>) {
        self.loss = Some(loss);
    }

    pub fn set_end(&mut self, end: Time) {
        self.end = end;
    }

    pub fn set_horizon(&mut self, horizon: Time) {
        self.horizon = horizon;
        self.open();
    }

    /// Lets packets pass if none is under way any more.
    #[inline]
    fn open(&mut self) {
        if self.flights.is_empty() {
            self.open_until = self.horizon + Dur(1);
        }
    }

    #[inline(always)]
    pub fn handle_packet(&mut self, now: Time, item: Item) {
        if let Some(at) = self.take(now, item.bytes, || item) {
            let is_lost = self.is_lost(&item);
            self.fly(at, &item, is_lost);
        }
    }

    /// Takes a packet that the driver wants to send on at once. Returns when it comes out, if that is by the
    /// [horizon](Lean::set_horizon), after all packets before it, and without a loss; the link then forgets it. It also forgets a
    /// packet that would come out after the [end](Lean::end), and returns [`Time::NEVER`]. Most packets need only their size, so
    /// `item` is called only for the others.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, bytes: u32, mut item: impl FnMut() -> Item) -> Option<Time> {
        let at = self.take(now, bytes, &mut item)?;
        if at < self.open_until && self.until_loss > 0 {
            self.until_loss -= 1;
            return Some(at);
        }
        self.pass_or_keep(at, item())
    }

    #[inline(never)]
    fn pass_or_keep(&mut self, at: Time, item: Item) -> Option<Time> {
        let is_lost = self.is_lost(&item);
        if at < self.open_until && !is_lost {
            return Some(at);
        }
        if at > self.end {
            return Some(Time::NEVER);
        }
        if at >= self.open_until {
            self.fly(at, &item, is_lost);
        } else {
            self.dropped.push(at, item.id, DropCause::Corruption);
            self.next_out = self.next_out.min(at);
        }
        None
    }

    /// The next packet that [`pass`](Lean::pass) has kept and that comes out by the present horizon, and when it does.
    pub fn release(&mut self) -> Option<(Time, u32)> {
        while let Some(&Output { at, id, fate, .. }) = self.flights.front()
            && at <= self.horizon
        {
            self.drop_flight();
            if fate == Fate::Delivered {
                self.find_next_out();
                return Some((at, id));
            }
            self.dropped.push(at, id, DropCause::Corruption);
        }
        None
    }

    #[inline(always)]
    fn fly(&mut self, at: Time, item: &Item, is_lost: bool) {
        self.flights.push_back(Output { id: item.id, ecn: item.ecn, at, fate: Fate::across(is_lost) });
        self.open_until = Time::ZERO;
        self.next_out = self.next_out.min(at);
    }

    #[inline]
    fn drop_flight(&mut self) {
        self.flights.drop_front();
        self.open();
    }

    /// Takes a packet if there is room for it. Returns when it comes out.
    #[inline(always)]
    fn take(&mut self, now: Time, bytes: u32, mut item: impl FnMut() -> Item) -> Option<Time> {
        marks::hit(Mark::LeanLink);
        let is_taken = bytes == self.expected.bytes && self.take_expected(now, self.recent[1].held);
        if !is_taken && !self.take_unexpected(now, item()) {
            return None;
        }
        Some(self.free_at + self.propagation)
    }

    /// Is the packet that was just taken lost? The loss model may answer for some of the next packets, too.
    #[inline]
    fn is_lost(&mut self, item: &Item) -> bool {
        if self.until_loss > 0 {
            self.until_loss -= 1;
            return false;
        }
        let Some(loss) = &mut self.loss else {
            self.until_loss = u32::MAX;
            return false;
        };
        let is_lost = loss.is_lost(self.free_at, item);
        self.until_loss = loss.until_loss();
        is_lost
    }

    /// Takes a packet that occupies the transmitter for `held`, if that needs no decision. Returns whether it did; if not, nothing has
    /// changed.
    #[inline(always)]
    fn take_expected(&mut self, now: Time, held: Dur) -> bool {
        if self.free_at <= now {
            self.expected.pass();
            self.backlog.clear();
            self.free_at = now + held;
            return true;
        }
        let wait = self.free_at.since(now);
        let is_taken = self.expected.wait(wait);
        if is_taken {
            self.counters.on_wait(wait);
            self.free_at += held;
        }
        is_taken
    }

    /// Takes a packet that differs from the last one, if there is room for it.
    #[inline(never)]
    fn take_unexpected(&mut self, now: Time, item: Item) -> bool {
        let [next, last] = self.recent;
        if self.expected.alternates && item.bytes == next.bytes && self.take_expected(now, next.held) {
            self.recent = [last, next];
            return true;
        }
        self.take_any(now, item)
    }

    /// Takes any packet if there is room for it.
    #[inline(never)]
    fn take_any(&mut self, now: Time, item: Item) -> bool {
        self.settle();
        self.counters.on_arrivals(1);
        let shape = Shape { held: self.transmitter.time_for(item.bytes), bytes: item.bytes };
        let waits = self.free_at > now;
        let has_room = match waits {
            true => self.has_room(now, item.bytes),
            false => {
                self.backlog.clear();
                self.limit.admits(0, 0, item.bytes)
            }
        };
        if !has_room {
            self.drop(now, item.id);
            return false;
        }
        let begin = self.free_at.max(now);
        self.free_at = begin + shape.held;
        if waits {
            self.counters.on_wait(begin.since(now));
            self.backlog.push(shape, self.free_at);
        }
        self.counters.on_send(1, shape.bytes, shape.held);
        self.expect_like(shape);
        true
    }

    /// Expects the next packet to repeat the pattern, if this one is like the last packet or like the last but one.
    fn expect_like(&mut self, shape: Shape) {
        let [before, last] = self.recent;
        self.recent = [last, shape];
        if shape != last && shape != before {
            self.expected = Expected::default();
            return;
        }
        let (waiting, are_only) = (self.backlog.at_most(), self.backlog.is_only(self.recent));
        self.expected =
            Expected::new(self.recent, waiting, are_only, self.counters.max_waiting(), self.limit);
    }

    /// Adds the expected packets that were taken to the backlog and to the counters.
    #[inline]
    fn settle(&mut self) {
        let (taken, waiting) = self.expected.settle();
        if taken == 0 {
            return;
        }
        let [before, last] = self.recent;
        self.counters.on_arrivals(taken);
        self.counters.on_send(taken / 2, before.bytes, before.held);
        self.counters.on_send(taken.div_ceil(2), last.bytes, last.held);
        self.backlog.push_alternating(waiting, self.recent, self.free_at);
    }

    /// Packets and bytes that wait now.
    fn count(&mut self, now: Time) -> (usize, u64) {
        self.settle();
        self.backlog.count(now)
    }

    /// May another packet wait? The backlog is counted only where that can make a difference.
    fn has_room(&mut self, now: Time, bytes: u32) -> bool {
        let (packets, all_bytes) = self.backlog.at_most();
        let may_be_most = packets as u64 >= self.counters.max_waiting();
        if !may_be_most && self.limit.admits(packets, all_bytes, bytes) {
            return true;
        }
        let (packets, all_bytes) = self.backlog.count(now);
        let has_room = self.limit.admits(packets, all_bytes, bytes);
        if has_room {
            self.counters.on_queue_length(packets + 1);
        }
        has_room
    }

    #[cold]
    fn drop(&mut self, now: Time, id: u32) {
        self.dropped.push(now, id, DropCause::Overflow);
        self.next_out = self.next_out.min(now);
    }

    #[inline]
    pub fn prefetch(&self, skipped: usize) {
        self.flights.get(skipped).map(prefetch);
    }

    #[inline]
    pub fn peek(&self, skipped: usize) -> Option<u32> {
        self.flights.get(skipped).map(|flight| flight.id)
    }

    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<Output> {
        if self.next_out > now {
            return None;
        }
        let output = match self.flights.front() {
            Some(&flight) if flight.at < self.dropped.next_at() => {
                self.drop_flight();
                flight
            }
            _ => self.dropped.pop()?,
        };
        if let Fate::Lost(cause) = output.fate {
            self.counters.on_lost(cause);
        }
        self.find_next_out();
        Some(output)
    }

    /// As [`pop`](Lean::pop), for a packet that comes out as it went in. `None` if there may be something else to report.
    #[inline]
    pub fn pop_intact(&mut self, now: Time) -> Option<u32> {
        let &Output { at, id, fate, .. } = self.flights.front()?;
        if at > now || fate != Fate::Delivered || !self.dropped.is_empty() {
            return None;
        }
        self.drop_flight();
        self.next_out = self.next_at();
        Some(id)
    }

    #[inline]
    fn find_next_out(&mut self) {
        self.next_out = self.next_at().min(self.dropped.next_at());
    }

    #[inline]
    fn next_at(&self) -> Time {
        self.flights.front().map_or(Time::NEVER, |flight| flight.at)
    }

    /// When the next packet comes out or is reported as dropped.
    #[inline]
    pub fn next_out(&self) -> Time {
        self.next_out
    }

    pub fn queue_view(&mut self, now: Time) -> QueueView {
        let (packets, bytes) = self.count(now);
        QueueView { packets, bytes, average: None }
    }

    pub fn stats(&mut self, now: Time) -> LinkStats {
        let ahead = self.ahead(now);
        self.counters.read(now, &ahead)
    }

    pub fn reset_stats(&mut self, now: Time) {
        let ahead = self.ahead(now);
        self.expected = Expected::default();
        self.counters.reset(now, ahead);
    }

    /// What the counters already include although it lies after `now`.
    fn ahead(&mut self, now: Time) -> Ahead {
        let (packets, bytes) = self.count(now);
        Ahead {
            sent_packets: packets as u64,
            sent_bytes: bytes,
            busy: self.free_at.since(now),
            wait_ns: self.backlog.waits_ns(now),
            waiting: packets as u64,
            ..Ahead::default()
        }
    }
}

impl From<Lean> for General {
    fn from(lean: Lean) -> General {
        let Lean { limit, transmitter, propagation, loss, .. } = lean;
        let mut line = Line::new(Box::new(transmitter), propagation);
        line.loss = loss;
        General::new(Front::Foreseen(Foreseen::new(limit)), line)
    }
}
