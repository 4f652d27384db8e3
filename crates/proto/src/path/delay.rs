//! Delay that varies from packet to packet.

use super::{Correlated, DelayModel, Episodes};
use crate::rng::Stream;
use airtcp_wire::{Dur, Time};
use std::sync::Arc;

/// Delays uniform from `low` to `high`, taken with this probability.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayRange {
    pub probability: f64,
    pub low: Dur,
    pub high: Dur,
}

/// Where a packet's extra delay comes from.
#[derive(Clone, PartialEq, Debug)]
pub enum Variation {
    Constant(Dur),
    Uniform {
        low: Dur,
        high: Dur,
    },
    /// What would be negative is zero.
    Normal {
        mean: Dur,
        deviation: Dur,
    },
    /// Probabilities sum to 1; not empty.
    Table(Vec<DelayRange>),
    /// These values in turn, then again from the first; not empty.
    Series {
        values: Arc<[Dur]>,
        /// How long each value holds; `None`: for one packet.
        interval: Option<Dur>,
    },
    Correlated(Correlated),
}

/// Extra delay of one kind, from `start` on.
#[derive(Clone, Debug)]
pub struct Jitter {
    variation: Variation,
    start: Time,
    stream: Stream,
    /// Packets delayed so far.
    packets: u64,
}

impl Jitter {
    pub fn new(variation: Variation, start: Time, stream: Stream) -> Jitter {
        Jitter { variation, start, stream, packets: 0 }
    }
}

impl DelayModel for Jitter {
    fn extra_delay(&mut self, now: Time) -> Dur {
        if now < self.start {
            return Dur::ZERO;
        }
        let packet = self.packets;
        self.packets += 1;
        match &mut self.variation {
            Variation::Constant(delay) => *delay,
            Variation::Uniform { low, high } => uniform(*low, *high, &mut self.stream),
            Variation::Normal { mean, deviation } => {
                let seconds = mean.as_secs_f64() + deviation.as_secs_f64() * self.stream.normal();
                Dur::from_secs_f64(seconds)
            }
            Variation::Table(ranges) => {
                let range = pick(ranges, self.stream.f64());
                uniform(range.low, range.high, &mut self.stream)
            }
            Variation::Series { values, interval } => {
                let turn = interval.map_or(packet, |interval| now.since(self.start).0 / interval.0.max(1));
                values[(turn % values.len() as u64) as usize]
            }
            Variation::Correlated(process) => process.draw(now, &mut self.stream),
        }
    }
}

/// From `low` up to, but without, `high`.
fn uniform(low: Dur, high: Dur, stream: &mut Stream) -> Dur {
    let width = high.saturating_sub(low).0;
    low + Dur(((u128::from(stream.u64()) * u128::from(width)) >> 64) as u64)
}

/// The range that `point` in [0, 1) falls into; the last one takes what rounding leaves over.
fn pick(ranges: &[DelayRange], mut point: f64) -> &DelayRange {
    for range in ranges {
        if point < range.probability {
            return range;
        }
        point -= range.probability;
    }
    &ranges[ranges.len() - 1]
}

/// Every packet that departs during an episode is late by `extra`.
#[derive(Clone, Debug)]
pub struct Spikes {
    pub when: Episodes,
    pub extra: Dur,
}

impl DelayModel for Spikes {
    fn extra_delay(&mut self, now: Time) -> Dur {
        if self.when.covers(now) { self.extra } else { Dur::ZERO }
    }
}

/// Several delays on top of each other.
pub struct SumOfDelays(pub Vec<Box<dyn DelayModel>>);

impl DelayModel for SumOfDelays {
    fn extra_delay(&mut self, now: Time) -> Dur {
        self.0.iter_mut().fold(Dur::ZERO, |sum, model| sum + model.extra_delay(now))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Starts;
    use super::*;
    use crate::rng::Streams;

    const MS: fn(u64) -> Dur = Dur::from_millis;

    fn jitter(variation: Variation) -> Jitter {
        Jitter::new(variation, Time::ZERO, Streams::new(1).stream("delay"))
    }

    /// Mean and standard deviation in ms of many delays, all of which must lie within the bounds.
    fn moments(variation: Variation, low: Dur, high: Dur) -> (f64, f64) {
        let mut model = jitter(variation);
        let n = 100_000;
        let delays: Vec<_> = (0..n).map(|_| model.extra_delay(Time::ZERO)).collect();
        assert!(delays.iter().all(|&delay| low <= delay && delay <= high));
        let ms = |delay: &Dur| delay.as_secs_f64() * 1e3;
        let mean = delays.iter().map(ms).sum::<f64>() / f64::from(n);
        let variance = delays.iter().map(|delay| (ms(delay) - mean).powi(2)).sum::<f64>() / f64::from(n);
        (mean, variance.sqrt())
    }

    fn assert_near((mean, deviation): (f64, f64), expected: (f64, f64)) {
        assert!((mean / expected.0 - 1.0).abs() < 0.01, "mean {mean}");
        assert!((deviation / expected.1 - 1.0).abs() < 0.01, "deviation {deviation}");
    }

    #[test]
    fn distributions_have_their_moments() {
        let uniform = Variation::Uniform { low: MS(10), high: MS(30) };
        assert_near(moments(uniform, MS(10), MS(30)), (20.0, 20.0 / 12f64.sqrt()));
        let normal = Variation::Normal { mean: MS(50), deviation: MS(10) };
        assert_near(moments(normal, Dur::ZERO, MS(110)), (50.0, 10.0));
        // A normal cut at its mean, σ·(1/√(2π)) and σ·√(1/2 − 1/(2π)).
        let half = Variation::Normal { mean: Dur::ZERO, deviation: MS(10) };
        assert_near(moments(half, Dur::ZERO, MS(60)), (3.989, 5.838));
    }

    #[test]
    fn a_table_takes_its_ranges_with_their_probabilities() {
        let range = |probability, low, high| DelayRange { probability, low: MS(low), high: MS(high) };
        let mut model =
            jitter(Variation::Table(vec![range(0.7, 0, 1), range(0.2, 10, 20), range(0.1, 100, 100)]));
        let delays: Vec<_> = (0..100_000).map(|_| model.extra_delay(Time::ZERO)).collect();
        let share =
            |low, high| delays.iter().filter(|&&d| MS(low) <= d && d <= MS(high)).count() as f64 / 1e5;
        for (low, high, expected) in [(0, 1, 0.7), (10, 20, 0.2), (100, 100, 0.1)] {
            assert!((share(low, high) - expected).abs() < 0.008, "{low}..{high}: {}", share(low, high));
        }
    }

    #[test]
    fn a_series_goes_by_packet_or_by_time_and_repeats() {
        let values: Arc<[Dur]> = [1, 2, 3].map(MS).into();
        let mut by_packet = jitter(Variation::Series { values: values.clone(), interval: None });
        let ms: Vec<_> = (0..5).map(|_| by_packet.extra_delay(Time::ZERO).as_millis()).collect();
        assert_eq!(ms, [1, 2, 3, 1, 2]);
        let held = Variation::Series { values, interval: Some(MS(10)) };
        let mut by_time = Jitter::new(held, Time(5_000_000), Streams::new(1).stream("delay"));
        let ms = [0, 4, 5, 14, 15, 34, 35].map(|at| by_time.extra_delay(Time(at * 1_000_000)).as_millis());
        assert_eq!(ms, [0, 0, 1, 1, 2, 3, 1]);
    }

    #[test]
    fn delays_add_up() {
        let starts = Starts { at: vec![Time(5_000_000)], ..Starts::default() };
        let when = Episodes::new(MS(2), starts, Streams::new(1).stream("spikes"));
        let spikes = Spikes { when, extra: MS(100) };
        let mut sum = SumOfDelays(vec![Box::new(jitter(Variation::Constant(MS(7)))), Box::new(spikes)]);
        let ms = [4, 5, 6, 7].map(|at| sum.extra_delay(Time(at * 1_000_000)).as_millis());
        assert_eq!(ms, [7, 107, 107, 7]);
    }
}
