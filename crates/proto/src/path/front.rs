//! The front of a link: which packets wait, and which is sent next.

use super::line::Line;
use super::link::QueueView;
use super::stats::Ahead;
use super::{Episodes, Frame, Schedule};
use crate::queue::{DropCause, DropTail, Drops, Item, Limit, Queue};
use airtcp_wire::{Dur, Time};
use std::collections::VecDeque;

/// What a hand-off does to the packets that wait. Those under way are lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Handoff {
    /// How long they take to the queue of the next base station, where what is sent meanwhile overtakes them. `None`: they are lost.
    pub forward: Option<Dur>,
}

pub(super) enum Front {
    Foreseen(Foreseen),
    Asked(Asked),
}

impl Front {
    /// The queue as one that is asked. A DropTail queue becomes one, before anything has arrived.
    pub fn asked(&mut self) -> &mut Asked {
        if let Front::Foreseen(Foreseen { limit, .. }) = *self {
            *self = Front::Asked(Asked::new(Box::new(DropTail::new(limit))));
        }
        match self {
            Front::Asked(asked) => asked,
            Front::Foreseen(_) => unreachable!("it has just been replaced"),
        }
    }

    /// What the counters already include although it lies after `now`.
    pub fn ahead(&mut self, now: Time, line: &mut Line) -> Ahead {
        let ahead = match self {
            Front::Foreseen(foreseen) => foreseen.ahead(now),
            Front::Asked(asked) => {
                asked.catch_up(now, line);
                asked.ahead(now)
            }
        };
        Ahead { busy: line.free_at.since(now), ..ahead }
    }
}

/// A DropTail queue. Nothing that arrives later changes when a packet is taken up, so a packet goes to the line at once.
pub(super) struct Foreseen {
    pub limit: Limit,
    /// When each waiting packet will be taken up, and its size.
    waiting: VecDeque<(Time, u32)>,
    bytes: u64,
}

impl Foreseen {
    pub fn new(limit: Limit) -> Foreseen {
        Foreseen { limit, waiting: VecDeque::new(), bytes: 0 }
    }

    #[inline]
    pub fn handle_packet(&mut self, now: Time, item: Item, line: &mut Line) {
        line.counters.on_arrivals(1);
        self.forget_started(now);
        if !self.limit.admits(self.waiting.len(), self.bytes, item.bytes) {
            line.drop(now, item.id, DropCause::Overflow);
            return;
        }
        let start = line.free_at.max(now);
        if start > now {
            self.waiting.push_back((start, item.bytes));
            self.bytes += u64::from(item.bytes);
            line.counters.on_wait(start.since(now));
            line.counters.on_queue_length(self.waiting.len());
        }
        line.send(start, item);
    }

    pub fn view(&mut self, now: Time) -> QueueView {
        self.forget_started(now);
        QueueView { packets: self.waiting.len(), bytes: self.bytes, average: None }
    }

    fn ahead(&mut self, now: Time) -> Ahead {
        self.forget_started(now);
        let wait_ns =
            self.waiting.iter().fold(0, |sum: u64, (start, _)| sum.wrapping_add(start.since(now).0));
        let waiting = self.waiting.len() as u64;
        Ahead { sent_packets: waiting, sent_bytes: self.bytes, wait_ns, waiting, ..Ahead::default() }
    }

    #[inline]
    fn forget_started(&mut self, now: Time) {
        while let Some(&(start, bytes)) = self.waiting.front() {
            if start > now {
                break;
            }
            self.waiting.pop_front();
            self.bytes -= u64::from(bytes);
        }
    }
}

/// Any other queue. It is asked for a packet each time the transmitter becomes free, and when one that it has refused may go.
pub(super) struct Asked {
    queue: Box<dyn Queue>,
    /// Scratch space for the queue's drops; empty between calls.
    drops: Drops,
    /// The transmitter takes no packet before this, although it may be free: never if nothing waits.
    pub ready_at: Time,
    /// The transmitter takes packets only when it has its [turn](Asked::begin_turn) on a medium.
    pub waits_for_turn: bool,
    handoffs: Option<Box<Handoffs>>,
}

/// Hand-offs, and what is on its way to the next base station.
struct Handoffs {
    episodes: Episodes,
    /// How long what waits takes to the next base station; `None` if it is lost.
    forward: Option<Dur>,
    /// When each forwarded packet joins the queue there.
    forwarded: VecDeque<(Time, Item)>,
}

impl Asked {
    pub fn new(queue: Box<dyn Queue>) -> Asked {
        Asked { queue, drops: Drops::new(), ready_at: Time::NEVER, waits_for_turn: false, handoffs: None }
    }

    pub fn set_handoffs(&mut self, episodes: Episodes, handoff: Handoff) {
        let handoffs = Handoffs { episodes, forward: handoff.forward, forwarded: VecDeque::new() };
        self.handoffs = Some(Box::new(handoffs));
    }

    pub fn has_handoffs(&self) -> bool {
        self.handoffs.is_some()
    }

    /// When the next hand-off begins.
    #[inline]
    fn handoff_at(&self) -> Time {
        self.handoffs.as_ref().map_or(Time::NEVER, |handoffs| handoffs.episodes.current().start)
    }

    /// When the next forwarded packet joins the queue.
    #[inline]
    fn rejoins_at(&self) -> Time {
        let first = self.handoffs.as_ref().and_then(|handoffs| handoffs.forwarded.front());
        first.map_or(Time::NEVER, |&(at, _)| at)
    }

    pub fn handle_packet(&mut self, now: Time, item: Item, line: &mut Line) {
        self.catch_up(now, line);
        line.counters.on_arrivals(1);
        self.join(now, item, line);
    }

    /// A packet joins the queue.
    fn join(&mut self, now: Time, item: Item, line: &mut Line) {
        line.counters.on_join(now);
        self.queue.enqueue(now, item, &mut self.drops);
        self.settle_drops(now, line);
        let was_idle = self.ready_at.is_never();
        if was_idle {
            self.ready_at = now;
        }
        // On a medium, the packet may have its turn at once, too.
        if !self.waits_for_turn {
            if was_idle {
                self.take_up(now, line);
            }
            self.count_queue(line);
        }
    }

    /// Counts the packets that wait after one has joined them.
    pub fn count_queue(&mut self, line: &mut Line) {
        line.counters.on_queue_length(self.queue.len());
        line.counters.on_average(self.queue.average());
    }

    /// Carries out all departures and hand-offs until `now`, and lets forwarded packets join the queue.
    #[inline]
    pub fn catch_up(&mut self, now: Time, line: &mut Line) {
        loop {
            let event_at = self.next_event();
            while self.takes_up_at(line) <= now.min(event_at) {
                self.take_up(self.takes_up_at(line), line);
            }
            if now < event_at {
                return;
            }
            self.handle_event(line);
        }
    }

    /// When the next hand-off begins or the next forwarded packet joins the queue.
    #[inline]
    pub fn next_event(&self) -> Time {
        self.handoff_at().min(self.rejoins_at())
    }

    /// Carries out the next hand-off, or lets the next forwarded packet join the queue. Returns whether one has joined.
    #[cold]
    pub fn handle_event(&mut self, line: &mut Line) -> bool {
        let (handoff_at, rejoins_at) = (self.handoff_at(), self.rejoins_at());
        if handoff_at < rejoins_at {
            self.hand_off(handoff_at, line);
            return false;
        }
        let rejoins = self.handoffs.as_mut().and_then(|handoffs| handoffs.forwarded.pop_front());
        if let Some((at, item)) = rejoins {
            self.join(at, item, line);
        }
        rejoins.is_some()
    }

    /// When the transmitter takes up the next packet by itself.
    #[inline]
    fn takes_up_at(&self, line: &Line) -> Time {
        if self.waits_for_turn { Time::NEVER } else { self.ready_at.max(line.free_at) }
    }

    pub fn next_wake(&self, line: &Line) -> Time {
        let takes_up_at = self.takes_up_at(line);
        let mut next = line.next_out.min(line.next_overtaking(takes_up_at));
        if next.is_never() {
            // Nothing is in the transmitter: what waits has been refused, or a hand-off took even the packet there.
            next = takes_up_at;
        }
        self.or_event(next)
    }

    /// The link must be woken at `next`, and before that for what a hand-off does to packets.
    pub fn or_event(&self, next: Time) -> Time {
        let next = next.min(self.rejoins_at());
        if next.is_never() { next } else { next.min(self.handoff_at()) }
    }

    pub fn view(&self) -> QueueView {
        QueueView { packets: self.queue.len(), bytes: self.queue.bytes(), average: self.queue.average() }
    }

    fn ahead(&self, now: Time) -> Ahead {
        let waiting = self.queue.len() as u64;
        let wait_ns = waiting.wrapping_mul(now.0).wrapping_neg();
        Ahead { wait_ns, waiting, marked: self.queue.marked(), ..Ahead::default() }
    }

    /// The transmitter is free at `start` and takes the next packet, if one waits.
    fn take_up(&mut self, start: Time, line: &mut Line) {
        if let Some(item) = self.dequeue(start, line) {
            line.send(start, item);
        }
    }

    #[inline]
    fn dequeue(&mut self, start: Time, line: &mut Line) -> Option<Item> {
        let next = self.queue.dequeue(start, &mut self.drops);
        self.settle_drops(start, line);
        self.ready_at = if next.is_some() { Time::ZERO } else { self.queue.ready_at() };
        if next.is_some() {
            line.counters.on_leave(start);
        }
        next
    }

    /// Takes the next packet, if one waits, for a cell, which sends it piece by piece.
    pub fn take(&mut self, now: Time, line: &mut Line) -> Option<Frame> {
        self.dequeue(now, line).map(|item| line.take(item))
    }

    /// A queue in which nothing is left learns that the cell would take more.
    pub fn find_out(&mut self, now: Time, line: &mut Line) {
        if self.ready_at <= now && self.queue.is_empty() {
            self.take_up(now, line);
        }
    }

    /// The transmitter has its turn on a medium, and uses it if it has anything to send.
    pub fn begin_turn(&mut self, start: Time, line: &mut Line) -> Option<Schedule> {
        let schedule = line.begin_turn(start, &mut *self.queue, &mut self.drops);
        self.settle_drops(start, line);
        self.ready_at = if schedule.is_some() { Time::ZERO } else { self.queue.ready_at() };
        schedule
    }

    /// Its turn is over. A queue in which nothing is left learns that the transmitter is free.
    pub fn end_turn(&mut self, now: Time, line: &mut Line) {
        if self.ready_at == Time::ZERO && self.queue.is_empty() && !line.repeats() {
            self.take_up(now, line);
        }
    }

    /// Loses all packets that are under way, and loses or forwards those that wait.
    #[cold]
    fn hand_off(&mut self, at: Time, line: &mut Line) {
        line.drop_later_than(at, DropCause::Outage);
        let Some(mut handoffs) = self.handoffs.take() else { return };
        while let Some(item) = self.queue.discard(at, &mut self.drops) {
            self.settle_drops(at, line);
            line.counters.on_leave(at);
            match handoffs.forward {
                Some(forward) => handoffs.forwarded.push_back((at + forward, item)),
                None => line.drop(at, item.id, DropCause::Outage),
            }
        }
        self.settle_drops(at, line);
        handoffs.episodes.advance();
        self.handoffs = Some(handoffs);
    }

    #[inline]
    fn settle_drops(&mut self, at: Time, line: &mut Line) {
        for &(item, cause) in &self.drops {
            line.counters.on_leave(at);
            line.drop(at, item.id, cause);
        }
        self.drops.clear();
    }
}
