//! The commonest link: a DropTail queue, a constant rate and a constant delay.
//!
//! When a packet arrives, all is known of it: it stands in one row with what is under way, until it comes out.

use super::alike::Alike;
use super::backlog::{Backlog, Shape};
use super::dropped::Dropped;
use super::link::{Fate, Output, QueueView};
use super::stats::{Ahead, Counters, LinkStats};
use super::{FixedRate, LossModel};
use crate::prefetch::prefetch;
use crate::queue::{DropCause, Item, Limit};
use crate::ring::Ring;
use airtcp_wire::{Dur, Ecn, Time};

pub(super) struct Lean {
    limit: Limit,
    transmitter: FixedRate,
    propagation: Dur,
    loss: Option<Box<dyn LossModel>>,
    /// So many of the next packets come through.
    intact: u32,
    backlog: Backlog,
    /// Packets like the last one, or like the last two by turns. `backlog` and `counters` learn of them in `settle`.
    alike: Alike,
    /// The last two packets.
    recent: [Shape; 2],
    /// When the transmitter is through with all that it was given.
    free_at: Time,
    /// In the order in which they arrived.
    flights: Ring<Flight>,
    dropped: Dropped,
    /// When the first of what is under way and in `dropped` comes out.
    next_out: Time,
    counters: Counters,
    /// What comes out by then may [pass](Lean::pass).
    horizon: Time,
    /// What comes out before then passes unless it is lost: nothing is under way.
    open_until: Time,
    /// Nobody waits for what comes out later.
    end: Time,
}

/// A packet with the time at which it comes out.
#[derive(Clone, Copy, Default)]
struct Flight {
    at: Time,
    id: u32,
    ecn: Ecn,
    is_lost: bool,
}

impl Lean {
    pub fn new(limit: Limit, transmitter: FixedRate, propagation: Dur) -> Lean {
        Lean {
            limit,
            transmitter,
            propagation,
            loss: None,
            intact: 0,
            backlog: Backlog::default(),
            alike: Alike::default(),
            recent: [Shape::default(); 2],
            free_at: Time::ZERO,
            flights: Ring::default(),
            dropped: Dropped::default(),
            next_out: Time::NEVER,
            counters: Counters::default(),
            horizon: Time::ZERO,
            open_until: Time::ZERO,
            end: Time::NEVER,
        }
    }

    pub fn set_horizon(&mut self, horizon: Time) {
        self.horizon = horizon;
        self.open();
    }

    /// Opens the way for what passes, if nothing is under way any more.
    #[inline]
    fn open(&mut self) {
        if self.flights.is_empty() {
            self.open_until = self.horizon + Dur(1);
        }
    }

    pub fn set_end(&mut self, end: Time) {
        self.end = end;
    }

    pub fn set_loss(&mut self, loss: Box<dyn LossModel>) {
        self.loss = Some(loss);
    }

    /// What it was made of, before anything was sent.
    pub fn into_parts(self) -> (Limit, FixedRate, Dur, Option<Box<dyn LossModel>>) {
        (self.limit, self.transmitter, self.propagation, self.loss)
    }

    #[inline(always)]
    pub fn handle_packet(&mut self, now: Time, item: Item) {
        if let Some(at) = self.take(now, item.bytes, || item) {
            let is_lost = self.is_lost(&item);
            self.fly(at, &item, is_lost);
        }
    }

    /// The same of a packet that is to go on at once where it comes out, if it comes out by the [horizon](Lean::set_horizon),
    /// after all before it and as it went in: then this returns when, and the link has nothing more to do with it. So it has
    /// with what comes out after the [end](Lean::set_end): never, for all that anybody cares. Of most packets nothing but the
    /// size is looked at.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, bytes: u32, mut item: impl FnMut() -> Item) -> Option<Time> {
        let at = self.take(now, bytes, &mut item)?;
        if at < self.open_until && self.intact > 0 {
            self.intact -= 1;
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

    /// What was kept as it comes out later is over, as [`pass`](Lean::pass) says, for that is the horizon now.
    pub fn release(&mut self) -> Option<(Time, u32)> {
        while let Some(&Flight { at, id, is_lost, .. }) = self.flights.front()
            && at <= self.horizon
        {
            self.drop_flight();
            if !is_lost {
                self.next_out = self.next_at().min(self.dropped.next_at());
                return Some((at, id));
            }
            self.dropped.push(at, id, DropCause::Corruption);
        }
        None
    }

    #[inline(always)]
    fn fly(&mut self, at: Time, item: &Item, is_lost: bool) {
        self.flights.push_back(Flight { at, id: item.id, ecn: item.ecn, is_lost });
        self.open_until = Time::ZERO;
        self.next_out = self.next_out.min(at);
    }

    #[inline]
    fn drop_flight(&mut self) {
        self.flights.drop_front();
        self.open();
    }

    /// Takes a packet, if there is room for it: returns when it comes out.
    #[inline(always)]
    fn take(&mut self, now: Time, bytes: u32, mut item: impl FnMut() -> Item) -> Option<Time> {
        if !self.take_alike(now, bytes) && !self.take_unlike(now, item()) {
            return None;
        }
        Some(self.free_at + self.propagation)
    }

    /// Is the packet that was just taken lost? Some of those behind it need no answer then.
    #[inline]
    fn is_lost(&mut self, item: &Item) -> bool {
        if self.intact > 0 {
            self.intact -= 1;
            return false;
        }
        let Some(loss) = &mut self.loss else {
            self.intact = u32::MAX;
            return false;
        };
        let is_lost = loss.is_lost(self.free_at, item);
        self.intact = loss.intact();
        is_lost
    }

    /// Takes a packet for which there is nothing to decide. Returns whether it was that; if not, nothing has changed.
    #[inline(always)]
    fn take_alike(&mut self, now: Time, bytes: u32) -> bool {
        bytes == self.alike.bytes && self.take_undecided(now, self.recent[1].held)
    }

    #[inline(always)]
    fn take_undecided(&mut self, now: Time, held: Dur) -> bool {
        if self.free_at <= now {
            self.alike.pass();
            self.backlog.clear();
            self.free_at = now + held;
            return true;
        }
        let wait = self.free_at.since(now);
        let is_taken = self.alike.wait(wait);
        if is_taken {
            self.counters.on_wait(wait);
            self.free_at += held;
        }
        is_taken
    }

    /// Takes a packet that is not like the last one, if there is room for it.
    #[inline(never)]
    fn take_unlike(&mut self, now: Time, item: Item) -> bool {
        self.take_by_turns(now, item.bytes) || self.take_any(now, item)
    }

    /// As [`take_alike`](Lean::take_alike), of a packet that is like the last but one.
    // Apart from that, which is inlined in many places and has enough with one size.
    #[inline(always)]
    fn take_by_turns(&mut self, now: Time, bytes: u32) -> bool {
        let [next, last] = self.recent;
        let is_taken = self.alike.is_by_turns && bytes == next.bytes && self.take_undecided(now, next.held);
        if is_taken {
            self.recent = [last, next];
        }
        is_taken
    }

    /// Takes any packet, if there is room for it.
    #[inline(never)]
    fn take_any(&mut self, now: Time, item: Item) -> bool {
        self.settle();
        self.counters.on_arrival();
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
        self.expect_alike(shape);
        true
    }

    /// The next packet is more likely to be like this one if this one is like the last one, and like that if this one is like the one
    /// before it.
    fn expect_alike(&mut self, shape: Shape) {
        let [before, last] = self.recent;
        self.recent = [last, shape];
        if shape != last && shape != before {
            self.alike = Alike::default();
            return;
        }
        let (waiting, are_only) = (self.backlog.at_least(), self.backlog.is_only(self.recent));
        self.alike = Alike::new(self.recent, waiting, are_only, self.counters.max_waiting(), self.limit);
    }

    /// Notes what was taken as alike.
    #[inline]
    fn settle(&mut self) {
        let (taken, waiting) = self.alike.settle();
        if taken == 0 {
            return;
        }
        let [before, last] = self.recent;
        self.counters.on_arrivals(taken);
        self.counters.on_send(taken / 2, before.bytes, before.held);
        self.counters.on_send(taken.div_ceil(2), last.bytes, last.held);
        self.backlog.push_by_turns(waiting, self.recent, self.free_at);
    }

    /// The backlog as it is now.
    fn count(&mut self, now: Time) -> (usize, u64) {
        self.settle();
        self.backlog.count(now)
    }

    /// May another packet wait? Those that do are counted only where that can decide something.
    #[inline(always)]
    fn has_room(&mut self, now: Time, bytes: u32) -> bool {
        let (packets, all_bytes) = self.backlog.at_least();
        let is_news = packets as u64 >= self.counters.max_waiting();
        (!is_news && self.limit.admits(packets, all_bytes, bytes)) || self.has_room_now(now, bytes)
    }

    fn has_room_now(&mut self, now: Time, bytes: u32) -> bool {
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
    pub fn next_out(&self) -> Time {
        self.next_out
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
        let is_flight = self.next_at() < self.dropped.next_at();
        let output = if is_flight { self.pop_flight() } else { self.dropped.pop() };
        if let Some(Output { fate: Fate::Lost(cause), .. }) = output {
            self.counters.on_lost(cause);
        }
        self.next_out = self.next_at().min(self.dropped.next_at());
        output
    }

    /// [`pop`](Lean::pop) of a packet that comes out as it went in; `None` where there may be something else to tell.
    #[inline]
    pub fn pop_intact(&mut self, now: Time) -> Option<u32> {
        let &Flight { at, id, is_lost, .. } = self.flights.front()?;
        if at > now || is_lost || !self.dropped.is_empty() {
            return None;
        }
        self.drop_flight();
        self.next_out = self.next_at();
        Some(id)
    }

    fn pop_flight(&mut self) -> Option<Output> {
        let &Flight { at, id, ecn, is_lost } = self.flights.front()?;
        self.drop_flight();
        let fate = if is_lost { Fate::Lost(DropCause::Corruption) } else { Fate::Delivered };
        Some(Output { id, ecn, at, fate })
    }

    #[inline]
    fn next_at(&self) -> Time {
        self.flights.front().map_or(Time::NEVER, |flight| flight.at)
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
        self.alike = Alike::default();
        self.counters.reset(now, ahead);
    }

    /// What the counters hold that lies after `now`.
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
