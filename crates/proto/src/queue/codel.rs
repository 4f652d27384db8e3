//! Controlled delay (RFC 8289): drops packets at the head of the queue, at a rate that grows until packets wait less than the target.

use super::{Build, DropCause, Drops, Item, Keys, Limit, Queue};
use crate::choice::Faults;
use airtcp_wire::{Dur, Ecn, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// RFC 8289. By default, it has room for 1000 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Acceptable standing delay (RFC 8289 §4.4).
    pub target: Dur,
    /// Sliding window (RFC 8289 §4.3).
    pub interval: Dur,
}

impl Default for Config {
    /// RFC 8289 §4.3 and §4.4.
    fn default() -> Config {
        Config { ecn: false, target: Dur::from_millis(5), interval: Dur::from_millis(100) }
    }
}

impl Keys for Config {
    fn check(&self, faults: &mut Faults) {
        let Config { target, interval, .. } = self;
        faults.above_zero("target", *target);
        let message = format!("the target, {target}, must be less than the interval, {interval}");
        faults.blame_if(target >= interval, ["interval", "target"], message);
    }

    /// As Linux's `sch_codel`.
    fn default_packets(&self) -> Option<u32> {
        Some(1000)
    }

    fn build(&self, build: Build) -> Box<dyn Queue> {
        Box::new(Codel::new(*self, build.limit))
    }
}

/// Packets in order of arrival, each with its arrival time.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamped {
    waiting: VecDeque<(Item, Time)>,
    bytes: u64,
}

impl Stamped {
    pub fn push(&mut self, now: Time, item: Item) {
        self.bytes += u64::from(item.bytes);
        self.waiting.push_back((item, now));
    }

    pub fn pop(&mut self) -> Option<(Item, Time)> {
        let (item, arrived) = self.waiting.pop_front()?;
        self.bytes -= u64::from(item.bytes);
        Some((item, arrived))
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// What all CoDel-managed queues of a link have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    config: Config,
    /// The largest packet seen, in place of the link's MTU in RFC 8289.
    largest: u32,
}

impl Rules {
    pub fn new(config: Config) -> Rules {
        Rules { config, largest: 0 }
    }

    pub fn on_arrival(&mut self, bytes: u32) {
        self.largest = self.largest.max(bytes);
    }

    /// When to drop next: after an interval divided by the square root of the number of drops so far (RFC 8289 §5.6).
    fn control_law(&self, after: Time, count: u32) -> Time {
        after + Dur((self.config.interval.0 as f64 / f64::from(count).sqrt()) as u64)
    }
}

/// The state of one CoDel-managed queue (RFC 8289 §5.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// When packets will have waited too long for a whole interval; `None` if they do not wait too long.
    first_above: Option<Time>,
    drop_next: Time,
    /// Packets dropped or marked since this dropping state began.
    count: u32,
    /// `count` when this dropping state began.
    last_count: u32,
    dropping: bool,
    /// Packets marked so far.
    pub marked: u64,
}

impl Control {
    /// The next packet to send (RFC 8289 §5.5). A mark counts as a drop, but the marked packet is sent.
    pub fn dequeue(
        &mut self,
        rules: &Rules,
        now: Time,
        packets: &mut Stamped,
        drops: &mut Drops,
    ) -> Option<Item> {
        let candidate = self.take(rules, now, packets);
        let (item, may_drop) = candidate?;
        if !may_drop {
            self.dropping = false;
        } else if self.dropping {
            return self.keep_dropping(rules, now, item, packets, drops);
        } else {
            self.start_dropping(rules, now);
            if !self.mark_or_drop(rules, item, drops) {
                return self.take(rules, now, packets).map(|(item, _)| item);
            }
            return Some(Item { ecn: Ecn::Ce, ..item });
        }
        Some(item)
    }

    /// Drops as often as is due: a large backlog may require several drops at once.
    fn keep_dropping(
        &mut self,
        rules: &Rules,
        now: Time,
        mut item: Item,
        packets: &mut Stamped,
        drops: &mut Drops,
    ) -> Option<Item> {
        while now >= self.drop_next {
            self.count += 1;
            if self.mark_or_drop(rules, item, drops) {
                self.drop_next = rules.control_law(self.drop_next, self.count);
                return Some(Item { ecn: Ecn::Ce, ..item });
            }
            let candidate = self.take(rules, now, packets);
            self.dropping = matches!(candidate, Some((_, true)));
            item = candidate?.0;
            if !self.dropping {
                break;
            }
            self.drop_next = rules.control_law(self.drop_next, self.count);
        }
        Some(item)
    }

    /// Enters the dropping state, at the rate of the last one if that was recent.
    fn start_dropping(&mut self, rules: &Rules, now: Time) {
        self.dropping = true;
        let drops_last_time = self.count - self.last_count;
        let recently = now.since(self.drop_next) < rules.config.interval * 16;
        self.count = if drops_last_time > 1 && recently { drops_last_time } else { 1 };
        self.drop_next = rules.control_law(now, self.count);
        self.last_count = self.count;
    }

    /// Marks or drops a packet. Returns whether it is marked.
    fn mark_or_drop(&mut self, rules: &Rules, item: Item, drops: &mut Drops) -> bool {
        let marks = rules.config.ecn && item.ecn.is_capable();
        if marks {
            self.marked += 1;
        } else {
            drops.push((item, DropCause::Aqm));
        }
        marks
    }

    /// Takes the packet at the head and decides by its waiting time whether it may be dropped (RFC 8289 §5.6). One full-sized packet
    /// behind it is no standing queue.
    fn take(&mut self, rules: &Rules, now: Time, packets: &mut Stamped) -> Option<(Item, bool)> {
        let Some((item, arrived)) = packets.pop() else {
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        if now.since(arrived) < rules.config.target || packets.bytes() <= u64::from(rules.largest) {
            self.first_above = None;
            return Some((item, false));
        }
        let first_above = *self.first_above.get_or_insert(now + rules.config.interval);
        Some((item, now >= first_above))
    }
}

/// A single CoDel-managed queue.
#[derive(Clone, Debug)]
pub struct Codel {
    rules: Rules,
    limit: Limit,
    packets: Stamped,
    control: Control,
}

impl Codel {
    fn new(config: Config, limit: Limit) -> Codel {
        let (packets, control) = (Stamped::default(), Control::default());
        Codel { rules: Rules::new(config), limit, packets, control }
    }
}

impl Queue for Codel {
    fn enqueue(&mut self, now: Time, item: Item, drops: &mut Drops) {
        self.rules.on_arrival(item.bytes);
        if self.limit.admits(self.packets.len(), self.packets.bytes(), item.bytes) {
            self.packets.push(now, item);
        } else {
            drops.push((item, DropCause::Overflow));
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Item> {
        self.control.dequeue(&self.rules, now, &mut self.packets, drops)
    }

    fn len(&self) -> usize {
        self.packets.len()
    }

    fn bytes(&self) -> u64 {
        self.packets.bytes()
    }

    fn marked(&self) -> u64 {
        self.control.marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    fn packet(id: u32) -> Item {
        Item { id, bytes: 1000, ..Item::default() }
    }

    /// A backlog of packets that all came at time zero, served one each millisecond until the given one. Returns the
    /// times in ms at which packets were dropped, and what was sent.
    fn serve_backlog(queue: &mut Codel, backlog: u32, until_ms: u64) -> (Vec<u64>, Vec<Item>) {
        let mut drops = Drops::new();
        (0..backlog).for_each(|id| queue.enqueue(Time::ZERO, packet(id), &mut drops));
        let (mut at, mut sent) = (Vec::new(), Vec::new());
        for now in 1..=until_ms {
            sent.extend(queue.dequeue(ms(now), &mut drops));
            at.extend(drops.drain(..).map(|_| now));
        }
        (at, sent)
    }

    #[test]
    fn drops_begin_an_interval_after_the_target_is_exceeded_and_follow_the_control_law() {
        let (at, sent) = serve_backlog(&mut Codel::new(Config::default(), Limit::NONE), 2000, 600);
        // Above the target from 5 ms on; then 100 ms, 100/√1, 100/√2, … (RFC 8289 §5.6), each seen at the next ms.
        let mut expected = vec![105];
        let mut next = 105.0;
        for count in 1.. {
            next += 100.0 / f64::from(count).sqrt();
            if next > 600.0 {
                break;
            }
            expected.push(next.ceil() as u64);
        }
        assert_eq!(at, expected);
        assert_eq!(sent.len(), 600, "a drop takes no time of the link");
    }

    #[test]
    fn no_drop_while_packets_wait_less_than_the_target_or_only_one_stands_behind() {
        let (mut queue, mut drops) = (Codel::new(Config::default(), Limit::NONE), Drops::new());
        for now in 0..1000 {
            queue.enqueue(ms(now), packet(0), &mut drops);
            if now >= 4 {
                queue.dequeue(ms(now), &mut drops);
            }
        }
        assert_eq!(drops.len(), 0, "each waited 4 ms");
        for now in (1000..100_000).step_by(50) {
            queue.enqueue(ms(now), packet(0), &mut drops);
            while queue.len() > 1 {
                queue.dequeue(ms(now), &mut drops);
            }
        }
        assert_eq!(drops.len(), 0, "each waited 50 ms, but no more than one packet stood behind it");
    }

    #[test]
    fn the_drop_rate_of_a_recent_dropping_state_is_taken_up_again() {
        let mut queue = Codel::new(Config::default(), Limit::NONE);
        let (first, _) = serve_backlog(&mut queue, 2000, 600);
        let drops_before = first.len() as f64;
        let mut drops = Drops::new();
        while queue.dequeue(ms(600), &mut drops).is_some() {}
        drops.clear();
        (0..2000).for_each(|id| queue.enqueue(ms(600), packet(id), &mut drops));
        let at: Vec<_> = (601..1200)
            .flat_map(|now| {
                queue.dequeue(ms(now), &mut drops);
                drops.drain(..).map(|_| now).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(at[0], 705);
        // delta = count − lastcount, and the next drop follows after 100/√delta at once.
        assert!(at[1] <= 705 + (100.0 / (drops_before - 1.0).sqrt()).ceil() as u64, "{at:?}");
    }

    #[test]
    fn ecn_capable_packets_are_marked_and_sent() {
        let mut queue = Codel::new(Config { ecn: true, ..Config::default() }, Limit::NONE);
        let mut drops = Drops::new();
        (0..2000).for_each(|id| queue.enqueue(Time::ZERO, Item { ecn: Ecn::Ect0, ..packet(id) }, &mut drops));
        let marked: Vec<_> = (1..=300)
            .filter(|&now| queue.dequeue(ms(now), &mut drops).is_some_and(|item| item.ecn == Ecn::Ce))
            .collect();
        assert_eq!(marked, [105, 205, 276]);
        assert_eq!((drops.len(), queue.marked()), (0, 3));
    }

    #[test]
    fn the_limit_drops_at_the_tail() {
        let (mut queue, mut drops) = (Codel::new(Config::default(), Limit::packets(2)), Drops::new());
        (0..3).for_each(|id| queue.enqueue(Time::ZERO, packet(id), &mut drops));
        assert_eq!(drops, [(packet(2), DropCause::Overflow)]);
    }
}
