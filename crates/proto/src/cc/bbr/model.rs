//! What both versions estimate of the path.

use crate::cc::{Ack, RateSample};
use airtcp_wire::{Dur, Rate, Time};

/// How long a minimum RTT remains valid (draft §2.16.1).
pub const MIN_RTT_WINDOW: Dur = Dur::from_secs(10);

/// The delivery rate of a sample, if the sample is valid.
#[inline]
pub fn delivery_rate(sample: &RateSample) -> Option<Rate> {
    (sample.interval.0 > 0).then(|| Rate::of(sample.delivered, sample.interval))
}

/// The maximum over the last `N` ticks of a virtual clock (rounds, or probing cycles). It ages only when it is updated.
#[derive(Clone, Copy, Debug)]
pub struct WindowedMax<const N: usize> {
    by_tick: [u64; N],
    latest: u64,
    /// The maximum of the latest tick.
    newest: u64,
    max: u64,
}

impl<const N: usize> Default for WindowedMax<N> {
    fn default() -> Self {
        WindowedMax { by_tick: [0; N], latest: 0, newest: 0, max: 0 }
    }
}

impl<const N: usize> WindowedMax<N> {
    #[inline]
    pub fn get(&self) -> u64 {
        self.max
    }

    #[inline]
    pub fn update(&mut self, tick: u64, value: u64) {
        if tick > self.latest {
            self.advance(tick);
        }
        if value > self.newest {
            self.newest = value;
            self.by_tick[tick as usize % N] = value;
            self.max = self.max.max(value);
        }
    }

    fn advance(&mut self, tick: u64) {
        for stale in (self.latest + 1..=tick).rev().take(N) {
            self.by_tick[stale as usize % N] = 0;
        }
        (self.latest, self.newest) = (tick, 0);
        self.max = self.by_tick.iter().copied().max().unwrap_or(0);
    }
}

/// Packet-timed round trips (draft §5.5.1): a round ends when a packet is acknowledged that was sent after the round began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Bytes delivered over the connection's life when this round began.
    begun_at: u64,
    pub count: u64,
    /// Is the current ACK the first of a round?
    pub is_start: bool,
}

impl Rounds {
    #[inline]
    pub fn update(&mut self, sample: &RateSample) {
        self.is_start = sample.prior_delivered >= self.begun_at;
        if self.is_start {
            self.count += 1;
            self.restart(sample.total_delivered);
        }
    }

    /// Begins a new round now, when `total_delivered` bytes have been delivered.
    #[inline]
    pub fn restart(&mut self, total_delivered: u64) {
        self.begun_at = total_delivered;
    }
}

/// Has sending faster ceased to raise the delivery rate? (draft §5.3.1.2)
#[derive(Clone, Copy, Debug, Default)]
pub struct FullPipe {
    baseline: Rate,
    rounds_without_growth: u32,
    pub is_full: bool,
}

impl FullPipe {
    const GROWTH: f64 = 1.25;
    const ROUNDS: u32 = 3;

    /// Starts looking again: the rate has to outgrow `baseline`.
    pub fn restart(&mut self, baseline: Rate) {
        *self = FullPipe { baseline, ..FullPipe::default() };
    }

    /// Called once per round that the application did not limit.
    pub fn observe(&mut self, bw: Rate) {
        if self.is_full {
            return;
        }
        if bw >= self.baseline.mul_f64(Self::GROWTH) {
            self.restart(bw);
            return;
        }
        self.rounds_without_growth += 1;
        self.is_full = self.rounds_without_growth >= Self::ROUNDS;
    }
}

/// How much more than expected is acknowledged at once, since Wi-Fi and cellular links hold ACKs back and release them in bunches
/// (draft §5.5.9).
#[derive(Clone, Copy, Debug, Default)]
pub struct AckAggregation {
    epoch_start: Time,
    epoch_acked: u64,
}

impl AckAggregation {
    #[inline]
    pub fn restart(&mut self, now: Time) {
        self.epoch_start = now;
        self.epoch_acked = 0;
    }

    /// By how many bytes an ACK of `acked` bytes exceeds what was expected at the rate `bw`.
    pub fn excess(&mut self, now: Time, acked: u64, bw: Rate, cwnd: u64) -> u64 {
        let mut expected = bw.bytes_in(now.since(self.epoch_start));
        if self.epoch_acked <= expected {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked += acked;
        (self.epoch_acked - expected).min(cwnd)
    }
}

/// The minimum RTT over [`MIN_RTT_WINDOW`], which the model uses, and a minimum over a shorter or equal time, which says when to probe.
#[derive(Clone, Copy, Debug)]
pub struct MinRtt {
    /// Time without a lower sample after which a probe is due.
    probe_interval: Dur,
    /// The long-term and the short-term minimum; `None` before the first ACK.
    minima: Option<(Minimum, Minimum)>,
}

#[derive(Clone, Copy, Debug)]
struct Minimum {
    value: Dur,
    stamp: Time,
}

impl MinRtt {
    pub fn new(probe_interval: Dur) -> MinRtt {
        MinRtt { probe_interval, minima: None }
    }

    /// [`Dur::MAX`] before the first sample.
    #[inline]
    pub fn value(&self) -> Dur {
        self.minima.map_or(Dur::MAX, |(long, _)| long.value)
    }

    /// Takes an ACK's sample. Returns whether a probe is due. Draft §5.3.4.3, UpdateMinRTT.
    pub fn update(&mut self, ack: &Ack) -> bool {
        // The handshake's measurement counts.
        let first = Minimum { value: ack.min_rtt, stamp: ack.now };
        let (long, short) = self.minima.get_or_insert((first, first));
        let is_expired = ack.now > short.stamp + self.probe_interval;
        if let Some(value) = ack.rtt.filter(|&rtt| rtt < short.value || is_expired) {
            *short = Minimum { value, stamp: ack.now };
        }
        if short.value < long.value || ack.now > long.stamp + MIN_RTT_WINDOW {
            *long = *short;
        }
        is_expired
    }

    /// Makes the next probe due after another probe interval.
    pub fn postpone_probe(&mut self, now: Time) {
        if let Some((_, short)) = &mut self.minima {
            short.stamp = now;
        }
    }
}

/// Packets sent while we held the rate down ourselves. Their samples say nothing about the path and count as
/// application-limited. Kept as a span of the delivered count, as the connection would keep it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LowRateSpan {
    from: u64,
    until: u64,
}

impl LowRateSpan {
    /// Includes what is sent from now until all that is in flight now is delivered.
    pub fn extend(&mut self, total_delivered: u64, in_flight: u64) {
        if total_delivered >= self.until {
            self.from = total_delivered;
        }
        self.until = total_delivered + in_flight + 1;
    }

    #[inline]
    pub fn covers(&self, sample: &RateSample) -> bool {
        (self.from..self.until).contains(&sample.prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::Dur;
    use proptest::prelude::*;

    proptest! {
        /// Agrees with the maximum over the samples of the last N ticks, for any gaps between updates.
        #[test]
        fn windowed_max_is_the_maximum(steps in prop::collection::vec((0u64..14, 0u64..1000), 1..200)) {
            let (mut filter, mut tick, mut seen) = (WindowedMax::<10>::default(), 0, Vec::new());
            for (step, value) in steps {
                tick += step;
                seen.push((tick, value));
                filter.update(tick, value);
                let expected = seen.iter().filter(|(at, _)| at + 10 > tick).map(|(_, v)| *v).max();
                prop_assert_eq!(Some(filter.get()), expected);
            }
        }
    }

    fn sample(prior_delivered: u64, total_delivered: u64) -> RateSample {
        RateSample { prior_delivered, total_delivered, ..RateSample::default() }
    }

    #[test]
    fn a_round_ends_with_a_packet_sent_after_it_began() {
        let mut rounds = Rounds::default();
        let starts: Vec<bool> = [(0, 10), (0, 20), (9, 30), (10, 40), (20, 50), (39, 60), (40, 70)]
            .map(|(prior, total)| {
                rounds.update(&sample(prior, total));
                rounds.is_start
            })
            .to_vec();
        assert_eq!(starts, [true, false, false, true, false, false, true]);
        assert_eq!(rounds.count, 3);
    }

    #[test]
    fn the_pipe_is_full_after_three_rounds_without_a_quarter_of_growth() {
        let mut pipe = FullPipe::default();
        for mbps in [1, 2, 4, 8, 9, 9] {
            pipe.observe(Rate(mbps * 1_000_000));
            assert!(!pipe.is_full);
        }
        pipe.observe(Rate(9_900_000));
        assert!(pipe.is_full);
    }

    #[test]
    fn slow_growth_over_several_rounds_is_still_growth() {
        let mut pipe = FullPipe::default();
        for mbps in [100, 115, 130, 145, 165, 190, 210] {
            pipe.observe(Rate(mbps * 1_000_000));
        }
        assert!(!pipe.is_full);
    }

    #[test]
    fn bunched_acks_are_extra_and_steady_ones_are_not() {
        let bw = Rate(8_000_000);
        let largest = |times: &mut dyn Iterator<Item = u64>| {
            let mut aggregation = AckAggregation::default();
            times.map(|ms| aggregation.excess(Time::ZERO + Dur::from_millis(ms), 1000, bw, 100_000)).max()
        };
        assert_eq!(largest(&mut (1..100)), Some(1000), "one ACK's worth");
        assert_eq!(largest(&mut (10..200).map(|n| n / 10 * 10)), Some(10_000), "ten at once");
    }

    #[test]
    fn packets_sent_in_a_low_rate_span_are_covered_and_others_are_not() {
        let mut span = LowRateSpan::default();
        assert!(!span.covers(&sample(0, 0)));
        span.extend(1000, 4000);
        span.extend(2000, 4000);
        let covered = |prior| span.covers(&sample(prior, 9000));
        assert_eq!([999, 1000, 6000, 6001].map(covered), [false, true, true, false]);
    }
}
