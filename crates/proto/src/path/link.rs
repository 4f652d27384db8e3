//! One direction of a link: queue, transmitter, loss, delay.
//!
//! The link computes instead of waiting. When the transmitter takes up a packet, its departure, its fate and the time
//! at which it comes out are all known at once, and it goes into the pipe with that time. The next packet is taken up
//! at that departure; nobody can see when this is done, as long as it is done before anything that depends on it. So
//! the link catches up when it is called, and one wake-up a packet is enough: while anything waits, the transmitter
//! holds a packet, which is in the pipe and comes out no earlier than the next one is taken up.

use super::pipe::Pipe;
use super::stats::{Counters, LinkStats};
use super::{DelayModel, Episodes, Interrupted, LossModel, Transmitter};
use crate::queue::{DropCause, Drops, Item, Queue};
use airtcp_wire::{Dur, Time};
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Delivered,
    Lost(DropCause),
}

/// A packet that is no longer in the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Output {
    pub item: Item,
    /// When it came out at the far end; when it would have, for one that was corrupted; when it was dropped.
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
    queue: Box<dyn Queue>,
    transmitter: Box<dyn Transmitter>,
    propagation: Dur,
    delay: Option<Box<dyn DelayModel>>,
    loss: Option<Box<dyn LossModel>>,
    overtaking: bool,
    pipe: Pipe,
    /// Drops that the driver has not fetched, in order of time.
    dropped: VecDeque<Output>,
    /// Handed to the queue to put its drops in; empty between calls.
    scratch: Drops,
    /// When the transmitter is through with the packet that it holds.
    free_at: Time,
    /// The transmitter is free and nothing waits.
    idle: bool,
    handoffs: Option<Episodes>,
    /// When the next hand-off begins.
    handoff_at: Time,
    counters: Counters,
}

impl Link {
    /// A link without loss and with constant delay.
    pub fn new(queue: Box<dyn Queue>, transmitter: Box<dyn Transmitter>, propagation: Dur) -> Link {
        Link {
            queue,
            transmitter,
            propagation,
            delay: None,
            loss: None,
            overtaking: false,
            pipe: Pipe::new(false),
            dropped: VecDeque::new(),
            scratch: Drops::new(),
            free_at: Time::ZERO,
            idle: true,
            handoffs: None,
            handoff_at: Time::NEVER,
            counters: Counters::default(),
        }
    }

    pub fn with_loss(self, loss: Box<dyn LossModel>) -> Link {
        Link { loss: Some(loss), ..self }
    }

    /// Adds variable delay. A packet that would overtake the one before it does so, or comes out together with it.
    pub fn with_delay(self, delay: Box<dyn DelayModel>, overtaking: bool) -> Link {
        Link { delay: Some(delay), overtaking, pipe: Pipe::new(overtaking), ..self }
    }

    /// Nothing is sent during `outages`. As hand-offs, they also lose what waits and what is under way when they begin;
    /// the transmitter still spends its time on the packet that it held.
    pub fn with_outages(self, outages: Episodes, handoff: bool) -> Link {
        let transmitter = Box::new(Interrupted::new(self.transmitter, outages.clone()));
        let handoffs = handoff.then_some(outages);
        let handoff_at = handoffs.as_ref().map_or(Time::NEVER, |handoffs| handoffs.current().start);
        Link { transmitter, handoffs, handoff_at, ..self }
    }

    /// A packet arrives at the near end.
    pub fn handle_packet(&mut self, now: Time, item: Item) {
        self.catch_up(now);
        self.counters.on_arrival(now);
        self.queue.enqueue(now, item, &mut self.scratch);
        self.settle_drops(now);
        if self.idle {
            self.take_up(now);
        }
        self.counters.note_length();
    }

    /// The next packet that is out of the link by `now`, in order of time. What the queue drops while the transmitter
    /// runs is seen at the next wake-up, with the true time of its drop.
    pub fn poll_delivery(&mut self, now: Time) -> Option<Output> {
        self.catch_up(now);
        let drop_at = self.next_drop_at();
        let pipe_at = self.pipe.next_at();
        if drop_at.min(pipe_at) > now {
            return None;
        }
        let output = if drop_at <= pipe_at { self.dropped.pop_front() } else { self.pipe.pop() }?;
        if let Fate::Lost(cause) = output.fate {
            self.counters.on_drop(cause);
        }
        Some(output)
    }

    /// When to call [`poll_delivery`](Link::poll_delivery) next: nothing comes out before.
    pub fn poll_timeout(&self) -> Time {
        let pipe_at = self.pipe.next_at();
        let mut next = self.next_drop_at().min(pipe_at);
        if !self.idle && self.overtaking {
            // What is taken up next may overtake all that is in the pipe, but not its own propagation.
            next = next.min(self.free_at + self.propagation);
        } else if !self.idle && pipe_at.is_never() {
            // A hand-off took even the packet in the transmitter.
            next = next.min(self.free_at);
        }
        if next.is_never() { next } else { next.min(self.handoff_at) }
    }

    /// The queue as it is at `now`, for time series.
    pub fn queue_view(&mut self, now: Time) -> QueueView {
        self.catch_up(now);
        QueueView { packets: self.queue.len(), bytes: self.queue.bytes(), average: self.queue.average() }
    }

    pub fn stats(&mut self, now: Time) -> LinkStats {
        self.catch_up(now);
        self.counters.read(now, self.free_at, self.queue.marked())
    }

    /// Starts counting anew, at the end of a warm-up.
    pub fn reset_stats(&mut self, now: Time) {
        self.catch_up(now);
        self.counters.reset(now, self.free_at, self.queue.marked());
    }

    #[inline]
    fn next_drop_at(&self) -> Time {
        self.dropped.front().map_or(Time::NEVER, |output| output.at)
    }

    /// Does all that has come about until `now`.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        loop {
            let until = now.min(self.handoff_at);
            while !self.idle && self.free_at <= until {
                self.take_up(self.free_at);
            }
            if now < self.handoff_at {
                return;
            }
            self.hand_off(self.handoff_at);
        }
    }

    /// Loses what is under way and what waits.
    #[cold]
    fn hand_off(&mut self, at: Time) {
        let lost = |item| Output { item, at, fate: Fate::Lost(DropCause::Outage) };
        self.dropped.extend(self.pipe.take_later_than(at).into_iter().map(|output| lost(output.item)));
        while let Some(item) = self.queue.dequeue(at, &mut self.scratch) {
            self.settle_drops(at);
            self.counters.on_leave_queue(at);
            self.dropped.push_back(lost(item));
        }
        self.settle_drops(at);
        self.handoff_at = self.handoffs.as_mut().map_or(Time::NEVER, |handoffs| {
            handoffs.advance();
            handoffs.current().start
        });
    }

    /// The transmitter is free at `start` and takes the next packet, if one waits.
    fn take_up(&mut self, start: Time) {
        let next = self.queue.dequeue(start, &mut self.scratch);
        self.settle_drops(start);
        self.idle = next.is_none();
        if let Some(item) = next {
            self.counters.on_leave_queue(start);
            self.transmit(start, item);
        }
    }

    fn transmit(&mut self, start: Time, item: Item) {
        let departure = self.transmitter.departure(start, item.bytes);
        self.free_at = departure;
        self.counters.on_send(item.bytes, departure.since(start));
        let lost = self.loss.as_mut().is_some_and(|loss| loss.is_lost(departure, item.bytes));
        let extra = self.delay.as_mut().map_or(Dur::ZERO, |delay| delay.extra_delay(departure));
        self.pipe.push(Output {
            item,
            at: departure + self.propagation + extra,
            fate: if lost { Fate::Lost(DropCause::Corruption) } else { Fate::Delivered },
        });
    }

    #[inline]
    fn settle_drops(&mut self, at: Time) {
        for (item, cause) in self.scratch.drain(..) {
            self.counters.on_leave_queue(at);
            self.dropped.push_back(Output { item, at, fate: Fate::Lost(cause) });
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

    /// Wakes the link when it asks to be woken; answers (id, at in ms, fate).
    fn drain(link: &mut Link) -> Vec<(u32, u64, Fate)> {
        let mut out = Vec::new();
        while !link.poll_timeout().is_never() {
            let now = link.poll_timeout();
            while let Some(output) = link.poll_delivery(now) {
                out.push((output.item.id, output.at.0 / 1_000_000, output.fate));
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
