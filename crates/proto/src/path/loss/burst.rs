//! Losses in bursts.

mod interval;

use super::{BerForm, Build, Keys, Threshold};
use crate::choice::Faults;
use crate::path::{BlockCode, LossModel};
use crate::queue::Item;
use crate::rng::Chance;
use airtcp_wire::{Dur, Probability, Rate, Time};
pub use interval::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of what a link with a rate carries in one interval, unless another one is given.
const FULL_PACKET_BYTES: u64 = 1500;

/// Gilbert–Elliott: two states that change with time, as on a channel that fades, or from packet to packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GilbertElliott")]
pub struct Config {
    /// Probability of going from good to bad in an `interval`.
    pub to_bad: Probability,
    /// Probability of going from bad to good in an `interval`: 1/mean burst length in intervals. The sum of both is at
    /// most 1, except from packet to packet.
    pub to_good: Probability,
    /// Loss probability in the good state.
    #[serde(default)]
    pub good_loss: Probability,
    /// Loss probability in the bad state.
    #[serde(default = "certain")]
    pub bad_loss: Probability,
    /// What `to_bad` and `to_good` hold for: a time, as when bursts were measured by a ping each `interval`, or
    /// "packet". From packet to packet, time alone does not end a bad state: a sender that waits for its timer and sends
    /// one packet finds the link as it left it. Absent: the time that 1500 bytes take at the link's mean rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

fn certain() -> Probability {
    Probability::ONE
}

impl Config {
    /// The share of packets that are lost in the long run.
    fn mean_loss(&self) -> f64 {
        let bad = self.bad_share();
        bad * self.bad_loss.get() + (1.0 - bad) * self.good_loss.get()
    }

    /// The share of packets, or of the time, in the bad state in the long run.
    fn bad_share(&self) -> f64 {
        let (to_bad, to_good) = (self.to_bad.get(), self.to_good.get());
        if to_bad > 0.0 { to_bad / (to_bad + to_good) } else { 0.0 }
    }
}

impl Keys for Option<Config> {
    fn at_rate(&mut self, rate: Rate) {
        if let Some(config) = self {
            config.interval.get_or_insert(Interval::Time(rate.time_for(FULL_PACKET_BYTES).max(Dur(1))));
        }
    }

    fn check(&self, key: &str, faults: &mut Faults) {
        let Some(Config { to_bad, to_good, interval: Some(Interval::Time(interval)), .. }) = self else {
            return;
        };
        let keys = ["interval", "to_good"].map(|own| format!("{key}.{own}"));
        faults.above_zero(&keys[0], *interval);
        faults.blame_if(
            to_bad.get() + to_good.get() > 1.0,
            keys,
            "`to_bad` + `to_good` must be at most 1: a chain in continuous time cannot be negatively correlated; \
             `interval = \"packet\"` allows it",
        );
    }

    fn build(&self, build: Build) -> Option<Box<dyn LossModel>> {
        self.as_ref().map(|config| Box::new(GilbertElliott::new(config, build.chance)) as Box<_>)
    }

    fn mean(&self, _: u32, _: BerForm, _: Option<BlockCode>) -> Option<f64> {
        Some(self.as_ref().map_or(0.0, Config::mean_loss))
    }
}

/// A channel with a good and a bad state (Gilbert 1960, Elliott 1963), which starts in the good one. The state may change as time
/// passes: then packets that are an interval apart see the chain of the configuration, and others the continuous chain behind it. Or
/// it changes after each packet.
#[derive(Clone, Debug)]
struct GilbertElliott {
    /// Loss in the good and in the bad state.
    loss: [Threshold; 2],
    /// Leaving the good and the bad state.
    leave: [Threshold; 2],
    bad: bool,
    /// Absent: from packet to packet.
    clock: Option<Clock>,
    chance: Chance,
}

/// Changes states as time passes.
#[derive(Clone, Copy, Debug)]
struct Clock {
    interval: Dur,
    /// How much of a deviation from the long-run distribution is left after an interval: the chain's second eigenvalue.
    memory: f64,
    /// Shares of the time in the good and in the bad state.
    share: [f64; 2],
    last: Time,
}

impl Clock {
    fn new(config: &Config, interval: Dur) -> Clock {
        let (rate, bad) = (config.to_bad.get() + config.to_good.get(), config.bad_share());
        Clock { interval, memory: (1.0 - rate).max(0.0), share: [1.0 - bad, bad], last: Time::ZERO }
    }

    /// Probability that the state has changed since the last packet.
    fn leave(&mut self, now: Time, bad: bool) -> f64 {
        let passed = now.since(self.last).as_secs_f64() / self.interval.as_secs_f64();
        self.last = now;
        self.share[usize::from(!bad)] * (1.0 - libm::pow(self.memory, passed))
    }
}

impl GilbertElliott {
    /// Without an interval, states change from packet to packet: nobody has said how fast the link is.
    fn new(config: &Config, chance: Chance) -> GilbertElliott {
        let clock = match config.interval {
            Some(Interval::Time(interval)) => Some(Clock::new(config, interval)),
            Some(Interval::Packet) | None => None,
        };
        GilbertElliott {
            loss: [config.good_loss, config.bad_loss].map(|loss| Threshold::new(loss.get())),
            leave: [config.to_bad, config.to_good].map(|leave| Threshold::new(leave.get())),
            bad: false,
            clock,
            chance,
        }
    }
}

impl LossModel for GilbertElliott {
    fn is_lost(&mut self, now: Time, _item: &Item) -> bool {
        if let Some(clock) = &mut self.clock {
            let leave = Threshold::new(clock.leave(now, self.bad));
            self.bad ^= leave.happens(&mut self.chance);
            return self.loss[usize::from(self.bad)].happens(&mut self.chance);
        }
        let state = usize::from(self.bad);
        let lost = self.loss[state].happens(&mut self.chance);
        self.bad ^= self.leave[state].happens(&mut self.chance);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chance, packet};
    use super::*;

    fn config(interval: Option<Interval>) -> Config {
        Config {
            to_bad: Probability::new(0.01),
            to_good: Probability::new(0.2),
            good_loss: Probability::default(),
            bad_loss: Probability::ONE,
            interval,
        }
    }

    #[test]
    fn gilbert_elliott_has_its_loss_rate_and_burst_length() {
        let config = config(Some(Interval::Packet));
        let mut model = GilbertElliott::new(&config, chance("ge"));
        let n = 1_000_000;
        let (mut lost, mut bursts, mut in_burst) = (0, 0, false);
        for _ in 0..n {
            let now_lost = model.is_lost(Time::ZERO, &packet(1500));
            bursts += u32::from(now_lost && !in_burst);
            lost += u32::from(now_lost);
            in_burst = now_lost;
        }
        let (rate, length) = (f64::from(lost) / f64::from(n), f64::from(lost) / f64::from(bursts));
        // Some 9 500 bursts of 5 ± 4.5: the mean is good to 1 %, the rate to 1.5 %; three times that is allowed.
        assert!((rate / config.mean_loss() - 1.0).abs() < 0.045, "{rate}");
        assert!((length / 5.0 - 1.0).abs() < 0.03, "{length}");
    }

    /// With an interval, packets that far apart see the chain asked for, and bursts last as long when more packets
    /// cross.
    #[test]
    fn with_an_interval_bursts_last_a_time_and_not_a_number_of_packets() {
        let config = config(Some(Interval::Time(Dur::from_secs(1))));
        for packets_a_second in [1, 20] {
            let mut model = GilbertElliott::new(&config, chance("ge"));
            let mut lost = Vec::new();
            for i in 0..1_000_000 * packets_a_second {
                let at = Time(i * 1_000_000_000 / packets_a_second);
                let is_lost = model.is_lost(at, &packet(1500));
                if i % packets_a_second == 0 {
                    lost.push(is_lost);
                }
            }
            let losses = lost.iter().filter(|&&lost| lost).count() as f64;
            let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
            let rate = losses / lost.len() as f64;
            // As many bursts as in the test above, and its bounds.
            assert!((rate / config.mean_loss() - 1.0).abs() < 0.045, "{packets_a_second}: {rate}");
            assert!((losses / bursts / 5.0 - 1.0).abs() < 0.03, "{packets_a_second}: {}", losses / bursts);
        }
    }
}
