//! The commonest link: a DropTail queue, a constant rate and a constant delay.
//!
//! What is under way and what waits stand in one row, in the order in which they arrived; those that wait are the last of
//! it. How many of them have been taken up meanwhile is counted when somebody asks.

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
    flights: Ring<Flight>,
    /// So many of the first flights are [elsewhere](Lean::pass) already, and stay for what they say of the queue.
    passed: usize,
    /// At least so many of the last flights wait: those that had not been taken up when that was looked at.
    waiting: usize,
    waiting_bytes: u64,
    /// When the transmitter is through with all that it was given.
    free_at: Time,
    /// When the first of what is under way and in `dropped` comes out.
    next_out: Time,
    dropped: Dropped,
    counters: Counters,
}

/// A packet with the time at which it comes out.
#[derive(Clone, Copy, Default)]
struct Flight {
    at: Time,
    id: u32,
    bytes: u32,
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
            flights: Ring::default(),
            passed: 0,
            waiting: 0,
            waiting_bytes: 0,
            free_at: Time::ZERO,
            next_out: Time::NEVER,
            dropped: Dropped::default(),
            counters: Counters::default(),
        }
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
        if self.admit(now, &item) {
            let (at, _) = self.send(now, item);
            self.next_out = self.next_out.min(at);
        }
    }

    /// The same of a packet that is to go on at once where it comes out, if it comes out by `horizon`, after all before it and
    /// as it went in: then this returns when, and the link has nothing more to do with it.
    #[inline]
    pub fn pass(&mut self, now: Time, item: Item, horizon: Time) -> Option<Time> {
        if self.flights.is_full() {
            self.forget_passed(now);
        }
        if !self.admit(now, &item) {
            return None;
        }
        let is_first = self.passed == self.flights.len();
        let (at, is_lost) = self.send(now, item);
        let is_passed = is_first && at <= horizon;
        self.passed += usize::from(is_passed);
        if is_passed && !is_lost {
            return Some(at);
        }
        self.next_out = self.next_out.min(at);
        if is_passed {
            self.dropped.push(at, item.id, DropCause::Corruption);
        }
        None
    }

    /// Is there room for it? If not, it is dropped.
    #[inline(always)]
    fn admit(&mut self, now: Time, item: &Item) -> bool {
        self.counters.on_arrival();
        let is_admitted = match self.free_at > now {
            true => self.join(now, item.bytes),
            false => self.go_straight(item.bytes),
        };
        if !is_admitted {
            self.drop(now, item.id);
        }
        is_admitted
    }

    /// The transmitter is busy. The count of those that wait is renewed only where it can decide something.
    #[inline]
    fn join(&mut self, now: Time, bytes: u32) -> bool {
        let is_news = self.waiting as u64 >= self.counters.max_waiting();
        if is_news || !self.limit.admits(self.waiting, self.waiting_bytes, bytes) {
            self.forget_started(now);
            if !self.limit.admits(self.waiting, self.waiting_bytes, bytes) {
                return false;
            }
            self.counters.on_queue_length(self.waiting + 1);
        }
        self.waiting += 1;
        self.waiting_bytes += u64::from(bytes);
        self.counters.on_wait(self.free_at.since(now));
        true
    }

    /// The transmitter is free, so that nothing waits.
    #[inline]
    fn go_straight(&mut self, bytes: u32) -> bool {
        (self.waiting, self.waiting_bytes) = (0, 0);
        self.limit.admits(0, 0, bytes)
    }

    /// The transmitter has it next: returns when it comes out, and whether it is lost.
    #[inline(always)]
    fn send(&mut self, now: Time, item: Item) -> (Time, bool) {
        let held = self.transmitter.time_for(item.bytes);
        self.free_at = self.free_at.max(now) + held;
        let is_lost = self.loss.as_mut().is_some_and(|loss| loss.is_lost(self.free_at, &item));
        self.counters.on_send(item.bytes, held);
        let at = self.free_at + self.propagation;
        self.flights.push_back(Flight { at, id: item.id, bytes: item.bytes, ecn: item.ecn, is_lost });
        (at, is_lost)
    }

    #[cold]
    fn drop(&mut self, now: Time, id: u32) {
        self.dropped.push(now, id, DropCause::Overflow);
        self.next_out = self.next_out.min(now);
    }

    /// Looks which of those that wait have been taken up by now: a packet is when the one before it has left.
    #[inline(never)]
    fn forget_started(&mut self, now: Time) {
        while self.waiting > 0 {
            let first = self.flights.len() - self.waiting;
            if self.out_before(first).is_some_and(|out_at| out_at > now + self.propagation) {
                break;
            }
            self.waiting -= 1;
            self.waiting_bytes -= self.flights.get(first).map_or(0, |flight| u64::from(flight.bytes));
        }
    }

    /// When the flight before comes out, which left the transmitter as this one was taken up.
    fn out_before(&self, place: usize) -> Option<Time> {
        self.flights.get(place.checked_sub(1)?).map(|before| before.at)
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
        self.forget_passed(now);
        if !self.dropped.is_empty() {
            return self.pop_among_drops();
        }
        let output = self.pop_flight();
        self.count_lost(&output);
        self.next_out = self.next_at();
        output
    }

    /// [`pop`](Lean::pop) of a packet that comes out as it went in; `None` where there may be something else to tell.
    #[inline]
    pub fn pop_intact(&mut self, now: Time) -> Option<u32> {
        let &Flight { at, id, bytes, is_lost, .. } = self.flights.front()?;
        if at > now || is_lost || self.passed > 0 || !self.dropped.is_empty() {
            return None;
        }
        self.leave(bytes);
        self.next_out = self.next_at();
        Some(id)
    }

    /// Those that are elsewhere, and would have come out by now, say nothing more.
    #[inline]
    fn forget_passed(&mut self, now: Time) {
        while self.passed > 0
            && let Some(&Flight { bytes, .. }) = self.flights.front().filter(|flight| flight.at <= now)
        {
            self.leave(bytes);
            self.passed -= 1;
        }
    }

    /// The first flight, of so many bytes, is over.
    #[inline]
    fn leave(&mut self, bytes: u32) {
        self.flights.drop_front();
        // What comes out was taken up long ago.
        if self.waiting > self.flights.len() {
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(bytes);
        }
    }

    #[inline]
    fn pop_flight(&mut self) -> Option<Output> {
        let &Flight { at, id, bytes, ecn, is_lost } = self.flights.front()?;
        self.leave(bytes);
        let fate = if is_lost { Fate::Lost(DropCause::Corruption) } else { Fate::Delivered };
        Some(Output { id, ecn, at, fate })
    }

    #[inline]
    fn count_lost(&mut self, output: &Option<Output>) {
        if let Some(Output { fate: Fate::Lost(cause), .. }) = output {
            self.counters.on_lost(*cause);
        }
    }

    #[cold]
    fn pop_among_drops(&mut self) -> Option<Output> {
        let output =
            if self.next_at() < self.dropped.next_at() { self.pop_flight() } else { self.dropped.pop() };
        self.count_lost(&output);
        self.next_out = self.next_at().min(self.dropped.next_at());
        output
    }

    #[inline]
    fn next_at(&self) -> Time {
        self.flights.get(self.passed).map_or(Time::NEVER, |flight| flight.at)
    }

    pub fn queue_view(&mut self, now: Time) -> QueueView {
        self.forget_started(now);
        QueueView { packets: self.waiting, bytes: self.waiting_bytes, average: None }
    }

    pub fn stats(&mut self, now: Time) -> LinkStats {
        let ahead = self.ahead(now);
        self.counters.read(now, &ahead)
    }

    pub fn reset_stats(&mut self, now: Time) {
        let ahead = self.ahead(now);
        self.counters.reset(now, ahead);
    }

    /// What the counters hold that lies after `now`.
    fn ahead(&mut self, now: Time) -> Ahead {
        self.forget_started(now);
        let first = self.flights.len() - self.waiting;
        let starts = (first..self.flights.len()).filter_map(|place| self.out_before(place));
        let wait_ns = starts.fold(0, |sum: u64, out_at| {
            sum.wrapping_add(out_at.0.saturating_sub(self.propagation.0).saturating_sub(now.0))
        });
        Ahead {
            sent_packets: self.waiting as u64,
            sent_bytes: self.waiting_bytes,
            busy: self.free_at.since(now),
            wait_ns,
            waiting: self.waiting as u64,
            ..Ahead::default()
        }
    }
}
