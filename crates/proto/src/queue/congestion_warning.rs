//! Congestion warning: a DropTail queue that marks every packet while its average length exceeds a threshold (Xu, Tian, Ansari, IEEE JSAC
//! 22(4), 2004). A sender can then tell whether a loss came with a warning.

use super::average::{self, Average, AveragedQueue, Early, Rule};
use super::{Build, DropTail, Item, Keys, Queue};
use crate::choice::Faults;
use airtcp_wire::{Bytes, Positive, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// DropTail that marks every ECN-capable packet while its average is beyond `threshold`: the routers of TCP Jersey (Xu, Tian,
/// Ansari 2004).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// Average queue in packets beyond which every packet is marked.
    pub threshold: Positive,
    /// Weight of the instantaneous queue in the average.
    pub weight: Probability,
    /// Mean packet size, for idle time and for counting bytes.
    pub mean_packet: Bytes,
}

impl Default for Config {
    /// Our choice: RED's minimum threshold, and an average over five packets, which rises before a queue of some tens of packets
    /// overflows, as a warning must.
    fn default() -> Config {
        Config { threshold: Positive::new(5.0), weight: Probability::new(0.2), mean_packet: Bytes(1000) }
    }
}

impl Keys for Config {
    fn check(&self, faults: &mut Faults) {
        average::check(self.weight, self.mean_packet, faults);
    }

    fn build(&self, build: Build) -> Box<dyn Queue> {
        Box::new(congestion_warning(self, &build))
    }
}

#[derive(Clone, Debug)]
struct Warning {
    threshold: f64,
}

fn congestion_warning(config: &Config, build: &Build) -> AveragedQueue<Warning> {
    let warning = Warning { threshold: config.threshold.get() };
    let average = Average::new(config.weight.get(), build.rate.time_for(config.mean_packet.0));
    AveragedQueue::new(warning, build.limit, average)
}

impl Rule for Warning {
    fn judge(&mut self, average: f64, _queue: &DropTail, item: &Item) -> Early {
        match average > self.threshold && item.ecn.is_capable() {
            true => Early::Mark,
            false => Early::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Drops, Limit};
    use crate::rng::Chances;
    use airtcp_wire::{Ecn, Rate, Time};

    fn queue(weight: f64) -> AveragedQueue<Warning> {
        let config = Config { weight: Probability::new(weight), ..Config::default() };
        let chance = Chances::new(1).chance("queue");
        congestion_warning(&config, &Build { limit: Limit::packets(20), rate: Rate(8_000_000), chance })
    }

    fn fill(queue: &mut AveragedQueue<Warning>, packets: u32, ecn: Ecn) -> Drops {
        let mut drops = Drops::new();
        for id in 0..packets {
            queue.enqueue(Time::ZERO, Item { id, bytes: 1000, ecn, ..Item::default() }, &mut drops);
        }
        drops
    }

    fn marked(queue: &mut AveragedQueue<Warning>) -> Vec<u32> {
        let taken = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut Drops::new()));
        taken.filter(|item| item.ecn == Ecn::Ce).map(|item| item.id).collect()
    }

    /// The average of weight 1 is the queue that a packet finds: from six on, each one is marked, and none is dropped before
    /// the queue is full.
    #[test]
    fn every_packet_beyond_the_threshold_is_marked() {
        let mut queue = queue(1.0);
        let drops = fill(&mut queue, 22, Ecn::Ect0);
        assert_eq!(drops.iter().map(|(item, _)| item.id).collect::<Vec<_>>(), [20, 21]);
        assert_eq!(queue.marked(), 14);
        assert_eq!(marked(&mut queue), (6..20).collect::<Vec<_>>());
    }

    /// The average decides, and not the queue that the packet finds.
    #[test]
    fn the_average_decides() {
        let mut queue = queue(0.2);
        fill(&mut queue, 20, Ecn::Ect0);
        let average = |n: i32| (0..=n).map(|i| 0.2 * f64::from(i) * 0.8f64.powi(n - i)).sum::<f64>();
        let first = (0..20).find(|&n| average(n) > 5.0).expect("a warning");
        assert_eq!(marked(&mut queue).first(), Some(&(first as u32)));
    }

    /// RFC 3168 §5: what is not ECN-capable is not marked. Congestion warning drops none of it either.
    #[test]
    fn packets_that_cannot_be_marked_pass() {
        let mut queue = queue(1.0);
        assert!(fill(&mut queue, 20, Ecn::NotEct).is_empty());
        assert_eq!((queue.marked(), marked(&mut queue).len()), (0, 0));
    }
}
