//! A token bucket: a policer, or a shaper if packets may wait for tokens.

use super::{Bucket, Build, DropCause, DropTail, Drops, Item, Keys, Limit, Queue};
use crate::choice::Faults;
use airtcp_wire::{Bytes, Dur, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A token bucket, as operators limit a subscriber's rate. A packet passes to the link if the bucket holds as many tokens
/// as the packet has bytes. Without room (`packets = 0`, the default) a packet that finds too few tokens is dropped: a
/// policer, as Linux's `tc` action `police`. With room it waits for them: a shaper, as Linux's `sch_tbf`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// Tokens that flow into the bucket, counted as IP packets.
    pub rate: Rate,
    /// Tokens that the bucket holds at most, and at the start. Larger packets never pass.
    pub burst: Bytes,
}

/// The largest packet that a sender on Ethernet makes.
const FULL_PACKET: Bytes = Bytes(1500);

impl Keys for Config {
    fn check(&self, faults: &mut Faults) {
        faults.refuse_if(self.rate == Rate(0), "rate", "must be above zero");
        let message = format!("must be at least {FULL_PACKET}, a full packet, or none would pass");
        faults.refuse_if(self.burst < FULL_PACKET, "burst", message);
    }

    fn default_packets(&self) -> Option<u32> {
        Some(0)
    }

    fn least_packets(&self) -> u32 {
        0
    }

    fn bucket(&self) -> Option<Bucket> {
        Some(Bucket { rate: self.rate, burst: self.burst })
    }

    fn build(&self, build: Build) -> Box<dyn Queue> {
        Box::new(TokenBucket::new(*self, build.limit))
    }
}

/// Packets get tokens in order of arrival. Those that have them wait for the transmitter, at most a burst of them: a faster transmitter
/// needs no more room, and behind a slower one the bucket would otherwise fill memory.
#[derive(Clone, Debug)]
struct TokenBucket {
    tokens: Tokens,
    /// Without tokens. `None`: there is no room for them.
    waiting: Option<DropTail>,
    /// With tokens.
    passed: DropTail,
}

impl TokenBucket {
    fn new(Config { rate, burst }: Config, limit: Limit) -> TokenBucket {
        TokenBucket {
            tokens: Tokens::full(rate, burst),
            waiting: (limit.packets > 0).then(|| DropTail::new(limit)),
            passed: DropTail::new(Limit::bytes(burst.0)),
        }
    }

    /// When the packet at the head gets its tokens.
    fn head_ready_at(&self) -> Time {
        let head = self.waiting.as_ref().and_then(DropTail::head);
        head.map_or(Time::NEVER, |head| self.tokens.ready_at(head.bytes))
    }

    /// Lets those pass that get their tokens by `now`. For lack of room they could not before `since`.
    fn pass(&mut self, since: Time, now: Time, drops: &mut Drops) {
        let Some(waiting) = &mut self.waiting else { return };
        while let Some(head) = waiting.head() {
            let at = self.tokens.ready_at(head.bytes).max(since);
            if at > now || !self.passed.has_room(head.bytes) {
                return;
            }
            self.tokens.take(at, head.bytes);
            if let Some(head) = waiting.dequeue(at, drops) {
                self.passed.enqueue(at, head, drops);
            }
        }
    }
}

impl Queue for TokenBucket {
    fn enqueue(&mut self, now: Time, item: Item, drops: &mut Drops) {
        self.pass(Time::ZERO, now, drops);
        let is_first = self.waiting.as_ref().is_none_or(|waiting| waiting.is_empty());
        if is_first && self.tokens.ready_at(item.bytes) <= now && self.passed.has_room(item.bytes) {
            self.tokens.take(now, item.bytes);
            return self.passed.enqueue(now, item, drops);
        }
        match &mut self.waiting {
            Some(waiting) if self.tokens.can_hold(item.bytes) => waiting.enqueue(now, item, drops),
            _ => drops.push((item, DropCause::Overflow)),
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Item> {
        self.pass(Time::ZERO, now, drops);
        let item = self.passed.dequeue(now, drops);
        self.pass(now, now, drops);
        item
    }

    fn ready_at(&self) -> Time {
        self.head_ready_at()
    }

    fn discard(&mut self, now: Time, drops: &mut Drops) -> Option<Item> {
        self.passed.dequeue(now, drops).or_else(|| self.waiting.as_mut()?.dequeue(now, drops))
    }

    fn len(&self) -> usize {
        self.passed.len() + self.waiting.as_ref().map_or(0, Queue::len)
    }

    fn bytes(&self) -> u64 {
        self.passed.bytes() + self.waiting.as_ref().map_or(0, Queue::bytes)
    }
}

/// Tokens in parts of which `rate` flow in each nanosecond, so that nothing is rounded.
#[derive(Clone, Debug)]
struct Tokens {
    rate: u128,
    most: u128,
    level: u128,
    /// When `level` was right.
    at: Time,
}

/// Parts in the token of one byte: 8 bits, times the nanoseconds of a second.
const PARTS_PER_BYTE: u128 = 8_000_000_000;

impl Tokens {
    fn full(rate: Rate, burst: Bytes) -> Tokens {
        let most = parts(burst.0);
        Tokens { rate: u128::from(rate.0), most, level: most, at: Time::ZERO }
    }

    fn can_hold(&self, bytes: u32) -> bool {
        parts(bytes.into()) <= self.most
    }

    /// When the bucket will hold `bytes` if nobody else takes any.
    fn ready_at(&self, bytes: u32) -> Time {
        if !self.can_hold(bytes) {
            return Time::NEVER;
        }
        let wait = parts(bytes.into()).saturating_sub(self.level).div_ceil(self.rate);
        self.at + Dur(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    /// Takes `bytes`, which the bucket holds at `now`.
    fn take(&mut self, now: Time, bytes: u32) {
        let gained = self.rate * u128::from(now.since(self.at).0);
        self.level = (self.level + gained).min(self.most) - parts(bytes.into());
        self.at = now;
    }
}

fn parts(bytes: u64) -> u128 {
    u128::from(bytes) * PARTS_PER_BYTE
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 1 000 bytes per ms, and four packets of 1 000 bytes at once.
    const CONFIG: Config = Config { rate: Rate(8_000_000), burst: Bytes(4000) };

    fn ms(ms: u64) -> Time {
        Time::ZERO + Dur::from_millis(ms)
    }

    fn item(id: u32, bytes: u32) -> Item {
        Item { id, bytes, ..Item::default() }
    }

    /// Enqueues packets of 1 000 bytes, numbered from `first`; returns which were dropped.
    fn dropped(queue: &mut TokenBucket, at: Time, first: u32, count: u32) -> Vec<u32> {
        let mut drops = Drops::new();
        (first..first + count).for_each(|id| queue.enqueue(at, item(id, 1000), &mut drops));
        assert!(drops.iter().all(|(_, cause)| *cause == DropCause::Overflow));
        drops.iter().map(|(item, _)| item.id).collect()
    }

    fn sent(queue: &mut TokenBucket, at: Time) -> Vec<u32> {
        let next = || queue.dequeue(at, &mut Drops::new()).map(|item| item.id);
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_policer_passes_a_burst_and_drops_what_finds_no_tokens() {
        let mut queue = TokenBucket::new(CONFIG, Limit::packets(0));
        assert_eq!(dropped(&mut queue, ms(0), 0, 6), [4, 5]);
        assert_eq!(sent(&mut queue, ms(0)), [0, 1, 2, 3]);
        assert!(queue.ready_at().is_never(), "nothing waits");
        assert_eq!(dropped(&mut queue, ms(2), 6, 3), [8]);
        assert_eq!(sent(&mut queue, ms(2)), [6, 7]);
        // A full bucket gains nothing.
        assert_eq!(dropped(&mut queue, ms(100), 9, 5), [13]);
    }

    #[test]
    fn a_shaper_makes_packets_wait_for_tokens() {
        let mut queue = TokenBucket::new(CONFIG, Limit::packets(2));
        assert_eq!(dropped(&mut queue, ms(0), 0, 7), [6]);
        assert_eq!((queue.len(), queue.bytes()), (6, 6000));
        assert_eq!(sent(&mut queue, ms(0)), [0, 1, 2, 3]);
        assert_eq!(queue.ready_at(), ms(1));
        assert_eq!(sent(&mut queue, ms(1)), [4]);
        assert_eq!(sent(&mut queue, ms(9)), [5]);
    }

    #[test]
    fn a_handoff_takes_what_waits_for_tokens_too() {
        let mut queue = TokenBucket::new(CONFIG, Limit::packets(2));
        assert!(dropped(&mut queue, ms(0), 0, 6).is_empty());
        let lost = std::iter::from_fn(|| queue.discard(ms(0), &mut Drops::new()));
        assert_eq!(lost.map(|item| item.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_packet_larger_than_the_bucket_never_waits() {
        let mut queue = TokenBucket::new(CONFIG, Limit::packets(2));
        let mut drops = Drops::new();
        queue.enqueue(ms(0), item(0, 4001), &mut drops);
        assert_eq!((drops.len(), queue.len()), (1, 0));
    }

    #[test]
    fn behind_a_slow_transmitter_no_more_than_a_burst_has_tokens() {
        let mut queue = TokenBucket::new(CONFIG, Limit::packets(0));
        assert!(dropped(&mut queue, ms(0), 0, 4).is_empty());
        assert_eq!(dropped(&mut queue, ms(10), 4, 2), [4, 5]);
        assert_eq!(queue.len(), 4);
    }

    /// Takes what passes until `until`, with the time at which it does, from a queue last asked at `from`.
    fn drain(queue: &mut TokenBucket, from: Time, until: Time) -> Vec<(Time, Item)> {
        let (mut now, mut out) = (from, Vec::new());
        while now <= until && !now.is_never() {
            match queue.dequeue(now, &mut Drops::new()) {
                Some(item) => out.push((now, item)),
                None => now = queue.ready_at(),
            }
        }
        out
    }

    proptest! {
        /// In any interval, no more than a burst passes and what flows into the bucket meanwhile. What comes in comes out, or is
        /// dropped because a packet finds no room; and whatever waits has tokens in the end.
        #[test]
        fn no_interval_sees_more_than_rate_and_burst(
            (rate, burst) in (1_000u64..1_000_000_000, 1_500u64..100_000),
            packets in 0u32..20,
            arrivals in prop::collection::vec((prop_oneof![0u64..50, 0u64..50_000], 40u32..2_000), 1..300),
        ) {
            let mut queue = TokenBucket::new(Config { rate: Rate(rate), burst: Bytes(burst) }, Limit::packets(packets));
            let (mut now, mut out, mut drops) = (Time::ZERO, Vec::new(), Drops::new());
            for (id, &(gap, bytes)) in (0..).zip(&arrivals) {
                let next = now + Dur::from_micros(gap);
                out.extend(drain(&mut queue, now, next));
                now = next;
                queue.enqueue(now, item(id, bytes), &mut drops);
                prop_assert!(queue.len() - queue.passed.len() <= packets as usize);
                prop_assert!(queue.passed.bytes() <= burst);
            }
            out.extend(drain(&mut queue, now, Time(u64::MAX - 1)));
            prop_assert_eq!(out.len() + drops.len(), arrivals.len());
            prop_assert!(out.is_sorted_by_key(|(_, item)| item.id));
            for (first, &(from, _)) in out.iter().enumerate() {
                let mut passed = 0;
                for &(until, item) in &out[first..] {
                    passed += parts(item.bytes.into());
                    let allowed = parts(burst) + u128::from(rate) * u128::from(until.since(from).0);
                    prop_assert!(passed <= allowed, "{passed} > {allowed} from {from} to {until}");
                }
            }
        }

        /// With room for all of it, a busy shaper sends at exactly its rate: its tokens are never idle.
        #[test]
        fn a_busy_shaper_sends_at_its_rate(rate in 1_000u64..1_000_000_000, count in 20u32..100) {
            let config = Config { rate: Rate(rate), burst: Bytes(1500) };
            let mut queue = TokenBucket::new(config, Limit::NONE);
            (0..count).for_each(|id| queue.enqueue(Time::ZERO, item(id, 1500), &mut Drops::new()));
            let out = drain(&mut queue, Time::ZERO, Time(u64::MAX - 1));
            let last = out.last().expect("all pass").0;
            let exact = Rate(rate).time_for(1500 * u64::from(count - 1));
            prop_assert!(last >= Time::ZERO + exact && last.since(Time::ZERO + exact) < Dur(u64::from(count)));
        }
    }
}
