//! Flow queues that are served in turn, each managed by CoDel (RFC 8290).

use super::codel::{self, Control, Rules, Stamped};
use super::{Build, DropCause, Drops, Item, Keys, Limit, Queue};
use crate::choice::Faults;
use airtcp_wire::{Bytes, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// RFC 8290. By default, it has room for 10240 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Acceptable standing delay (RFC 8289 §4.4).
    pub target: Dur,
    /// Sliding window (RFC 8289 §4.3).
    pub interval: Dur,
    /// Number of flow queues (RFC 8290 §5.2.2). Flows whose hashes meet share one.
    pub flows: u32,
    /// Bytes that a flow may send in one turn (RFC 8290 §5.2.1).
    pub quantum: Bytes,
}

impl Default for Config {
    /// RFC 8290 §5.2.
    fn default() -> Config {
        let codel::Config { ecn, target, interval } = codel::Config::default();
        Config { ecn, target, interval, flows: 1024, quantum: Bytes(1514) }
    }
}

impl Config {
    fn codel(&self) -> codel::Config {
        codel::Config { ecn: self.ecn, target: self.target, interval: self.interval }
    }
}

impl Keys for Config {
    fn check(&self, faults: &mut Faults) {
        faults.refuse_if(!(1..=65536).contains(&self.flows), "flows", "must be 1 to 65536");
        faults.refuse_if(self.quantum == Bytes(0), "quantum", "must be above zero");
        self.codel().check(faults);
    }

    /// RFC 8290 §5.2.3.
    fn default_packets(&self) -> Option<u32> {
        Some(10240)
    }

    fn build(&self, mut build: Build) -> Box<dyn Queue> {
        Box::new(FqCodel::new(*self, build.limit, build.chance.u64()))
    }
}

/// Maximum number of packets dropped at once when there is no room (RFC 8290 §4.1).
const DROP_BATCH: usize = 64;

/// The list of the schedule in which a flow queue stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Standing {
    #[default]
    Absent,
    New,
    Old,
}

#[derive(Clone, Debug, Default)]
struct FlowQueue {
    packets: Stamped,
    control: Control,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    standing: Standing,
}

#[derive(Clone, Debug)]
pub struct FqCodel {
    rules: Rules,
    limit: Limit,
    quantum: i64,
    salt: u64,
    flows: Vec<FlowQueue>,
    /// Queues that have just become active: indices into `flows`, in order of their turns.
    new: VecDeque<u32>,
    /// All other active queues.
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
}

impl FqCodel {
    /// `salt` decides which flows share a queue.
    fn new(config: Config, limit: Limit, salt: u64) -> FqCodel {
        FqCodel {
            rules: Rules::new(config.codel()),
            limit,
            quantum: config.quantum.0.clamp(1, u64::from(u32::MAX)) as i64,
            salt,
            flows: vec![FlowQueue::default(); config.flows.max(1) as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// Index of the flow queue for packets of `flow`.
    fn classify(&self, flow: u32) -> usize {
        // Two rounds of multiply and fold spread neighbouring flows. The high bits select a queue without a division.
        let mut hash = (u64::from(flow) ^ self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        ((u128::from(hash) * self.flows.len() as u128) >> 64) as usize
    }

    fn is_over_limit(&self) -> bool {
        self.packets > self.limit.packets.max(1) as usize || self.bytes > self.limit.bytes
    }

    /// Makes room: drops half of the queue with the most bytes, from its head, but at most [`DROP_BATCH`] packets (RFC 8290 §4.1).
    fn drop_from_fattest(&mut self, drops: &mut Drops) {
        let fattest = self.flows.iter_mut().rev().max_by_key(|flow| flow.packets.bytes());
        let Some(fattest) = fattest else { return };
        let half = fattest.packets.bytes() / 2;
        for _ in 0..DROP_BATCH {
            let Some((item, _)) = fattest.packets.pop() else { break };
            drops.push((item, DropCause::Overflow));
            self.packets -= 1;
            self.bytes -= u64::from(item.bytes);
            if fattest.packets.bytes() <= half {
                break;
            }
        }
    }

    /// The queue whose turn it is. Queues that have used up their turn go to the end of the old ones (RFC 8290 §4.2).
    fn next_in_turn(&mut self) -> Option<u32> {
        loop {
            let index = self.new.front().or(self.old.front()).copied()?;
            let flow = &mut self.flows[index as usize];
            if flow.deficit > 0 {
                return Some(index);
            }
            flow.deficit += self.quantum;
            self.move_to_old(index);
        }
    }

    fn move_to_old(&mut self, index: u32) {
        self.remove_front(index);
        self.flows[index as usize].standing = Standing::Old;
        self.old.push_back(index);
    }

    fn remove_front(&mut self, index: u32) {
        match self.flows[index as usize].standing {
            Standing::New => self.new.pop_front(),
            _ => self.old.pop_front(),
        };
    }

    /// An empty new queue waits for its next turn among the old ones, so that it cannot gain priority by running empty. An empty old queue
    /// is no longer active (RFC 8290 §4.2).
    fn on_empty(&mut self, index: u32) {
        if self.flows[index as usize].standing == Standing::New {
            self.move_to_old(index);
        } else {
            self.remove_front(index);
            self.flows[index as usize].standing = Standing::Absent;
        }
    }
}

impl Queue for FqCodel {
    fn enqueue(&mut self, now: Time, item: Item, drops: &mut Drops) {
        self.rules.on_arrival(item.bytes);
        let index = self.classify(item.flow);
        let flow = &mut self.flows[index];
        flow.packets.push(now, item);
        self.packets += 1;
        self.bytes += u64::from(item.bytes);
        if flow.standing == Standing::Absent {
            flow.standing = Standing::New;
            flow.deficit = self.quantum;
            self.new.push_back(index as u32);
        }
        while self.is_over_limit() {
            self.drop_from_fattest(drops);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Item> {
        loop {
            let index = self.next_in_turn()?;
            let flow = &mut self.flows[index as usize];
            let (packets, bytes) = (flow.packets.len(), flow.packets.bytes());
            let next = flow.control.dequeue(&self.rules, now, &mut flow.packets, drops);
            self.packets -= packets - flow.packets.len();
            self.bytes -= bytes - flow.packets.bytes();
            match next {
                Some(item) => {
                    flow.deficit -= i64::from(item.bytes);
                    return Some(item);
                }
                None => self.on_empty(index),
            }
        }
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn marked(&self) -> u64 {
        self.flows.iter().map(|flow| flow.control.marked).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOMY: Limit = Limit { packets: 10_240, bytes: u64::MAX };

    fn packet(flow: u32, bytes: u32) -> Item {
        Item { id: 0, bytes, flow, ..Item::default() }
    }

    /// Flows of the first `n` packets that are sent, all at time zero.
    fn served(queue: &mut FqCodel, n: usize) -> Vec<u32> {
        (0..n).filter_map(|_| queue.dequeue(Time::ZERO, &mut Drops::new())).map(|item| item.flow).collect()
    }

    fn filled(limit: Limit, flows: &[(u32, u32, usize)]) -> (FqCodel, Drops) {
        let (mut queue, mut drops) = (FqCodel::new(Config::default(), limit, 7), Drops::new());
        for &(flow, bytes, packets) in flows {
            (0..packets).for_each(|_| queue.enqueue(Time::ZERO, packet(flow, bytes), &mut drops));
        }
        (queue, drops)
    }

    #[test]
    fn flows_share_bytes_and_not_packets() {
        let (mut queue, _) = filled(ROOMY, &[(1, 1500, 500), (2, 500, 500)]);
        let order = served(&mut queue, 400);
        let sent = |flow| order.iter().filter(|&&f| f == flow).count();
        // Within a quantum and a packet of each other.
        assert!((sent(1) * 1500).abs_diff(sent(2) * 500) <= 1514 + 1500, "{} {}", sent(1), sent(2));
    }

    #[test]
    fn a_sparse_flow_goes_before_those_that_stand() {
        let (mut queue, mut drops) = filled(ROOMY, &[(1, 1500, 100), (2, 1500, 100)]);
        served(&mut queue, 10);
        queue.enqueue(Time::ZERO, packet(3, 100), &mut drops);
        assert_eq!(served(&mut queue, 1), [3]);
        // It has run empty, and with its next packet must wait for its turn among the old ones.
        served(&mut queue, 1);
        queue.enqueue(Time::ZERO, packet(3, 100), &mut drops);
        assert!(queue.new.is_empty());
    }

    #[test]
    fn order_within_a_flow_is_kept_and_nothing_is_left() {
        let (mut queue, mut drops) = (FqCodel::new(Config::default(), ROOMY, 7), Drops::new());
        for id in 0..300 {
            queue.enqueue(
                Time::ZERO,
                Item { id, flow: id % 3, bytes: 100 + id, ..Item::default() },
                &mut drops,
            );
        }
        let mut last = [None; 3];
        while let Some(item) = queue.dequeue(Time::ZERO, &mut drops) {
            assert!(last[item.flow as usize] < Some(item.id));
            last[item.flow as usize] = Some(item.id);
        }
        assert_eq!(last, [Some(297), Some(298), Some(299)]);
        assert_eq!((queue.len(), queue.bytes(), drops.len()), (0, 0, 0));
    }

    #[test]
    fn the_fattest_flow_pays_for_a_full_queue_from_its_head() {
        let limit = Limit::packets(100);
        let (queue, drops) = filled(limit, &[(1, 1500, 80), (2, 100, 21)]);
        assert_eq!(drops.len(), 40, "half of the 80");
        assert!(drops.iter().all(|(item, cause)| item.flow == 1 && *cause == DropCause::Overflow));
        assert_eq!(queue.len(), 61);
    }

    #[test]
    fn hashes_spread_and_depend_on_the_salt() {
        let places = |salt| {
            let queue = FqCodel::new(Config::default(), ROOMY, salt);
            (0..1024).map(|flow| queue.classify(flow)).collect::<Vec<_>>()
        };
        assert_ne!(places(1), places(2));
        // 1 024 balls in 1 024 bins fill 1 − 1/e of them: 647 ± 10.
        let used = places(1).into_iter().collect::<std::collections::BTreeSet<_>>().len();
        assert!((600..700).contains(&used), "{used}");
    }

    #[test]
    fn each_flow_has_a_codel_of_its_own() {
        let (mut queue, mut drops) = filled(ROOMY, &[(1, 1000, 2000)]);
        for now in 1..400 {
            let now = Time(now * 1_000_000);
            queue.enqueue(now, packet(2, 100), &mut drops);
            queue.dequeue(now, &mut drops);
            queue.dequeue(now, &mut drops);
        }
        assert!(drops.len() > 3 && drops.iter().all(|(item, _)| item.flow == 1), "{drops:?}");
    }
}
