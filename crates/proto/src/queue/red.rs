//! Random early detection: Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993, with the rules that ns-2 added.

use super::average::{self, Average, AveragedQueue, Early, Rule};
use super::{Build, DropTail, Item, Keys, Queue};
use crate::choice::Faults;
use crate::rng::Chance;
use airtcp_wire::{Bytes, Positive, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Random early detection (Floyd and Jacobson 1993).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// Mark ECN-capable packets instead of dropping them, while the average is below the maximum threshold (RFC 3168 §7).
    pub ecn: bool,
    /// Threshold at which drops begin, in packets, or in mean packets when it counts bytes.
    pub min_threshold: Positive,
    /// Threshold at which the drop probability is `max_probability`.
    pub max_threshold: Positive,
    /// Drop probability at the maximum threshold.
    pub max_probability: Probability,
    /// Weight of the instantaneous queue in the average.
    pub weight: Probability,
    /// The probability rises from max_probability to 1 between the maximum threshold and twice that, instead of jumping to 1.
    pub gentle: bool,
    /// Space the drops evenly: after one, none until the expected number of packets has come.
    pub wait: bool,
    /// Count bytes instead of packets; large packets are then dropped more often than small ones.
    pub count_bytes: bool,
    /// Mean packet size, for idle time and for counting bytes.
    pub mean_packet: Bytes,
}

impl Default for Config {
    /// ns-2's, with Floyd's recommendation of `gentle` and a maximum threshold of three times the minimum.
    fn default() -> Config {
        Config {
            ecn: false,
            min_threshold: Positive::new(5.0),
            max_threshold: Positive::new(15.0),
            max_probability: Probability::new(0.1),
            weight: Probability::new(0.002),
            gentle: true,
            wait: true,
            count_bytes: false,
            mean_packet: Bytes(1000),
        }
    }
}

impl Keys for Config {
    fn check(&self, faults: &mut Faults) {
        let (min, max) = (self.min_threshold.get(), self.max_threshold.get());
        let message = format!("the maximum threshold, {max}, must be above the minimum threshold, {min}");
        faults.blame_if(min >= max, ["max_threshold", "min_threshold"], message);
        faults.refuse_if(self.max_probability.get() == 0.0, "max_probability", "must be above zero");
        average::check(self.weight, self.mean_packet, faults);
    }

    fn build(&self, build: Build) -> Box<dyn Queue> {
        Box::new(red(self, build))
    }
}

fn red(config: &Config, build: Build) -> AveragedQueue<Red> {
    let average = Average::new(config.weight.get(), build.rate.time_for(config.mean_packet.0));
    let rule = Red { config: *config, chance: build.chance, below_min: true, count: 0, count_bytes: 0 };
    AveragedQueue::new(rule, build.limit, average)
}

#[derive(Clone, Debug)]
struct Red {
    config: Config,
    chance: Chance,
    /// Was the average below the minimum threshold at the last arrival?
    below_min: bool,
    /// Packets and bytes that have arrived since the last one was chosen, or since the average rose above the minimum.
    count: u32,
    count_bytes: u64,
}

impl Red {
    /// A threshold in the unit that is counted.
    fn threshold(&self, packets: Positive) -> f64 {
        if self.config.count_bytes { packets.get() * self.mean_packet() } else { packets.get() }
    }

    /// Mean packet size in bytes.
    fn mean_packet(&self) -> f64 {
        self.config.mean_packet.0 as f64
    }

    /// Draws whether the packet is chosen, by Floyd and Jacobson's probability.
    fn draw(&mut self, average: f64, max: f64, bytes: u32) -> bool {
        let probability = self.spread(self.base_probability(average, max), bytes);
        self.chance.happens(probability)
    }

    /// p_b: the drop probability if all packets were alike and drops independent.
    fn base_probability(&self, average: f64, max: f64) -> f64 {
        let (top, min) = (self.config.max_probability.get(), self.threshold(self.config.min_threshold));
        if average < max {
            top * (average - min) / (max - min)
        } else {
            top + (1.0 - top) * (average - max) / max
        }
    }

    /// p_a, computed from p_b such that the gaps between drops are uniform instead of geometric.
    fn spread(&self, base: f64, bytes: u32) -> f64 {
        let mean = self.mean_packet();
        let count =
            if self.config.count_bytes { self.count_bytes as f64 / mean } else { f64::from(self.count) };
        let expected = count * base;
        let spread = match self.config.wait {
            true if expected < 1.0 => 0.0,
            true if expected < 2.0 => base / (2.0 - expected),
            false if expected < 1.0 => base / (1.0 - expected),
            _ => 1.0,
        };
        if self.config.count_bytes { spread * f64::from(bytes) / mean } else { spread }
    }
}

impl Rule for Red {
    fn length(&self, queue: &DropTail) -> f64 {
        if self.config.count_bytes { queue.bytes() as f64 } else { queue.len() as f64 }
    }

    fn judge(&mut self, average: f64, queue: &DropTail, item: &Item) -> Early {
        self.count += 1;
        self.count_bytes += u64::from(item.bytes);
        let max = self.threshold(self.config.max_threshold);
        let certain = if self.config.gentle { 2.0 * max } else { max };
        // ns-2: no early drop while at most one packet waits.
        if average < self.threshold(self.config.min_threshold) || queue.len() <= 1 {
            self.below_min = true;
            return Early::Keep;
        }
        if average < certain && self.below_min {
            self.below_min = false;
            (self.count, self.count_bytes) = (1, u64::from(item.bytes));
            return Early::Keep;
        }
        if average < certain && !self.draw(average, max, item.bytes) {
            return Early::Keep;
        }
        (self.count, self.count_bytes) = (0, 0);
        // RFC 3168 §7: packets are dropped while the average is above the maximum threshold.
        match average < max && self.config.ecn && item.ecn.is_capable() {
            true => Early::Mark,
            false => Early::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Drops, Limit};
    use crate::rng::Chances;
    use airtcp_wire::{Ecn, Rate, Time};

    fn config() -> Config {
        Config { gentle: false, wait: false, ..Config::default() }
    }

    /// In front of a link that takes a millisecond for a mean packet.
    fn queue(config: Config) -> AveragedQueue<Red> {
        let (limit, chance) = (Limit::packets(1000), Chances::new(1).chance("queue"));
        red(&config, Build { limit, rate: Rate(8_000_000), chance })
    }

    fn packet(bytes: u32) -> Item {
        Item { bytes, ecn: Ecn::Ect0, ..Item::default() }
    }

    /// Holds the queue at `length` packets, with the average settled there, for so many arrivals; returns which of
    /// them were dropped or marked.
    fn chosen_at(config: Config, length: usize, bytes: u32, arrivals: usize) -> (Vec<usize>, Drops) {
        let mut queue = queue(config);
        let mut drops = Drops::new();
        (0..length).for_each(|_| queue.queue.enqueue(Time::ZERO, packet(bytes), &mut drops));
        queue.average.value = if config.count_bytes { queue.bytes() as f64 } else { length as f64 };
        let mut chosen = Vec::new();
        for arrival in 0..arrivals {
            let before = queue.marked() as usize + drops.len();
            queue.enqueue(Time::ZERO, packet(bytes), &mut drops);
            if queue.marked() as usize + drops.len() > before {
                chosen.push(arrival);
            }
            while queue.len() > length {
                queue.dequeue(Time::ZERO, &mut Drops::new());
            }
        }
        (chosen, drops)
    }

    fn share(config: Config, length: usize, bytes: u32) -> f64 {
        chosen_at(config, length, bytes, 200_000).0.len() as f64 / 200_000.0
    }

    #[test]
    fn the_average_follows_its_closed_form() {
        let mut queue = queue(Config {
            min_threshold: Positive::new(900.0),
            max_threshold: Positive::new(950.0),
            ..config()
        });
        let mut drops = Drops::new();
        for n in 0..50 {
            queue.enqueue(Time::ZERO, packet(1000), &mut drops);
            let q = |i: i32| f64::from(i);
            // The queue grows by one with each arrival: Σ w·i·(1 − w)^(n−i) (Floyd & Jacobson, § 6).
            let expected: f64 = (0..=n).map(|i| 0.002 * q(i) * 0.998f64.powi(n - i)).sum();
            assert!(
                (queue.average.value - expected).abs() < 1e-12,
                "{n}: {} {expected}",
                queue.average.value
            );
        }
    }

    #[test]
    fn an_idle_link_ages_the_average_by_the_packets_that_it_could_have_sent() {
        let mut queue = queue(config());
        queue.average.value = 8.0;
        assert_eq!(queue.dequeue(Time(5_000_000), &mut Drops::new()), None);
        queue.enqueue(Time(105_900_000), packet(1000), &mut Drops::new());
        // 100 whole packets in 100.9 ms, and the arrival itself.
        assert!((queue.average.value - 8.0 * 0.998f64.powi(101)).abs() < 1e-12, "{}", queue.average.value);
    }

    #[test]
    fn gaps_between_drops_are_uniform_and_have_their_mean() {
        // Half-way, p_b = 0.05. The first packet after a drop has count 1, so the gap is uniform on 1..1/p_b.
        let (chosen, _) = chosen_at(config(), 10, 1000, 200_000);
        let gaps: Vec<_> = chosen.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (1..20).contains(gap)), "{:?}", gaps.iter().max());
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        assert!((mean - 10.0).abs() < 0.2, "{mean}");
        // With wait it is uniform on 1/p_b..2/p_b.
        let (chosen, _) = chosen_at(Config { wait: true, ..config() }, 10, 1000, 200_000);
        let gaps: Vec<_> = chosen.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (20..40).contains(gap)), "{:?}", gaps.iter().min());
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        assert!((mean - 29.5).abs() < 0.3, "{mean}");
    }

    #[test]
    fn nothing_is_dropped_below_the_minimum_and_all_above_the_maximum() {
        assert_eq!(share(config(), 4, 1000), 0.0);
        assert_eq!(share(config(), 15, 1000), 1.0);
    }

    #[test]
    fn gentle_rises_to_one_at_twice_the_maximum() {
        let gentle = Config { gentle: true, ..config() };
        // p_b at 1.5 times the maximum is 0.1 + 0.9/2 = 0.55: without wait certain at the second packet.
        let below = share(gentle, 14, 1000);
        let above = share(gentle, 22, 1000);
        assert!(below < 0.2 && above > 0.5 && above < 1.0, "{below} {above}");
        assert_eq!(share(gentle, 30, 1000), 1.0);
    }

    #[test]
    fn counting_bytes_small_packets_count_and_suffer_less() {
        let bytes = Config { count_bytes: true, ..config() };
        assert_eq!(share(bytes, 40, 100), 0.0, "40 · 100 bytes are 4 mean packets");
        let (large, small) = (share(bytes, 10, 1000), share(bytes, 100, 100));
        assert!((large / small / 10.0 - 1.0).abs() < 0.15, "{large} {small}");
    }

    #[test]
    fn ecn_marks_below_the_maximum_and_drops_above() {
        let drops = |ecn, length| chosen_at(Config { ecn, ..config() }, length, 1000, 1000).1.len();
        assert_eq!(drops(true, 10), 0);
        assert_eq!(drops(true, 15), 1000);
        assert!(drops(false, 10) > 50);
    }

    #[test]
    fn no_early_drop_while_at_most_one_waits() {
        let eager =
            Config { min_threshold: Positive::new(1e-9), max_threshold: Positive::new(0.5), ..config() };
        assert_eq!(share(eager, 1, 1000), 0.0);
        assert_eq!(share(eager, 2, 1000), 1.0);
    }
}
