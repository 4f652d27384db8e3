//! The front of a link: which packets wait, and which is sent next.

use super::Episodes;
use super::line::Line;
use super::link::QueueView;
use super::stats::Ahead;
use crate::queue::{DropCause, Drops, Item, Limit, Queue};
use airtcp_wire::Time;
use std::collections::VecDeque;

pub(super) enum Front {
    Foreseen(Foreseen),
    Asked(Asked),
}

impl Front {
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
    ready_at: Time,
    handoffs: Option<Box<Episodes>>,
}

impl Asked {
    pub fn new(queue: Box<dyn Queue>) -> Asked {
        Asked { queue, drops: Drops::new(), ready_at: Time::NEVER, handoffs: None }
    }

    pub fn with_handoffs(self, handoffs: Episodes) -> Asked {
        Asked { handoffs: Some(Box::new(handoffs)), ..self }
    }

    /// When the next hand-off begins.
    #[inline]
    fn handoff_at(&self) -> Time {
        self.handoffs.as_ref().map_or(Time::NEVER, |handoffs| handoffs.current().start)
    }

    pub fn handle_packet(&mut self, now: Time, item: Item, line: &mut Line) {
        self.catch_up(now, line);
        line.counters.on_arrivals(1);
        line.counters.on_join(now);
        self.queue.enqueue(now, item, &mut self.drops);
        self.settle_drops(now, line);
        if self.ready_at.is_never() {
            self.take_up(now, line);
        }
        line.counters.on_queue_length(self.queue.len());
        line.counters.on_average(self.queue.average());
    }

    /// Carries out all departures and hand-offs until `now`.
    #[inline]
    pub fn catch_up(&mut self, now: Time, line: &mut Line) {
        loop {
            let handoff_at = self.handoff_at();
            let until = now.min(handoff_at);
            while self.takes_up_at(line) <= until {
                self.take_up(self.takes_up_at(line), line);
            }
            if now < handoff_at {
                return;
            }
            self.hand_off(handoff_at, line);
        }
    }

    /// When the transmitter takes up the next packet.
    #[inline]
    fn takes_up_at(&self, line: &Line) -> Time {
        self.ready_at.max(line.free_at)
    }

    pub fn next_wake(&self, line: &Line) -> Time {
        let takes_up_at = self.takes_up_at(line);
        let mut next = line.next_out.min(line.next_overtaking(takes_up_at));
        if next.is_never() {
            // Nothing is in the transmitter: what waits has been refused, or a hand-off took even the packet there.
            next = takes_up_at;
        }
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
        let next = self.queue.dequeue(start, &mut self.drops);
        self.settle_drops(start, line);
        self.ready_at = if next.is_some() { Time::ZERO } else { self.queue.ready_at() };
        if let Some(item) = next {
            line.counters.on_leave(start);
            line.send(start, item);
        }
    }

    /// Loses all packets that are under way or wait.
    #[cold]
    fn hand_off(&mut self, at: Time, line: &mut Line) {
        line.drop_later_than(at, DropCause::Outage);
        while let Some(item) = self.queue.discard(at, &mut self.drops) {
            self.settle_drops(at, line);
            line.counters.on_leave(at);
            line.drop(at, item.id, DropCause::Outage);
        }
        self.settle_drops(at, line);
        if let Some(handoffs) = &mut self.handoffs {
            handoffs.advance();
        }
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
