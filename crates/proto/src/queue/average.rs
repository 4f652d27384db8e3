//! Queues that judge congestion by the moving average of their length (Floyd and Jacobson 1993, §4).

use super::{DropCause, DropTail, Drops, Item, Limit, Queue};
use crate::choice::Faults;
use airtcp_wire::{Bytes, Dur, Ecn, Probability, Time};

/// What happens to a packet that arrives before the queue is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Early {
    Keep,
    Mark,
    Drop,
}

/// Decides by the average which packets are marked or dropped.
pub(super) trait Rule: Send {
    /// The length of the queue that is averaged.
    fn length(&self, queue: &DropTail) -> f64 {
        queue.len() as f64
    }

    /// Judges `item`, which arrives at `queue` while its average length is `average`.
    fn judge(&mut self, average: f64, queue: &DropTail, item: &Item) -> Early;
}

/// DropTail with a rule that marks or drops packets before the queue is full.
#[derive(Clone, Debug)]
pub(super) struct AveragedQueue<R> {
    rule: R,
    pub queue: DropTail,
    pub average: Average,
    marked: u64,
}

impl<R: Rule> AveragedQueue<R> {
    pub fn new(rule: R, limit: Limit, average: Average) -> AveragedQueue<R> {
        AveragedQueue { rule, queue: DropTail::new(limit), average, marked: 0 }
    }
}

impl<R: Rule> Queue for AveragedQueue<R> {
    fn enqueue(&mut self, now: Time, mut item: Item, drops: &mut Drops) {
        self.average.on_arrival(now, self.rule.length(&self.queue));
        let early = self.rule.judge(self.average.value, &self.queue, &item);
        // What finds the queue full is dropped for that.
        if self.queue.has_room(item.bytes) {
            match early {
                Early::Keep => {}
                Early::Mark => {
                    item.ecn = Ecn::Ce;
                    self.marked += 1;
                }
                Early::Drop => return drops.push((item, DropCause::Aqm)),
            }
        }
        self.queue.enqueue(now, item, drops);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Item> {
        let item = self.queue.dequeue(now, drops);
        if item.is_none() {
            self.average.on_idle(now);
        }
        item
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn marked(&self) -> u64 {
        self.marked
    }

    fn average(&self) -> Option<f64> {
        Some(self.average.value)
    }
}

/// Checks the keys of a discipline that its average needs.
pub(super) fn check(weight: Probability, mean_packet: Bytes, faults: &mut Faults) {
    faults.refuse_if(weight.get() == 0.0, "weight", "must be above zero");
    faults.refuse_if(mean_packet == Bytes(0), "mean_packet", "must be above zero");
}

#[derive(Clone, Debug)]
pub(super) struct Average {
    pub value: f64,
    /// Weight of the instantaneous queue.
    weight: f64,
    mean_packet_time: Dur,
    idle_since: Option<Time>,
}

impl Average {
    /// `mean_packet_time`: how long the link takes for a mean packet, which tells how many it could have sent while idle.
    pub fn new(weight: f64, mean_packet_time: Dur) -> Average {
        Average { value: 0.0, weight, mean_packet_time, idle_since: Some(Time::ZERO) }
    }

    /// A packet arrives at a queue of length `queue`. Idle time counts as if mean packets had found the queue empty all the while.
    pub fn on_arrival(&mut self, now: Time, queue: f64) {
        if let Some(since) = self.idle_since.take() {
            let missed = now.since(since).0 / self.mean_packet_time.0.max(1);
            self.value *= libm::pow(1.0 - self.weight, missed as f64);
        }
        self.value += self.weight * (queue - self.value);
    }

    /// The transmitter finds nothing to send.
    pub fn on_idle(&mut self, now: Time) {
        self.idle_since = Some(now);
    }
}
