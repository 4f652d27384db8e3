//! Percentiles of durations in bounded memory.

use airtcp_wire::Dur;

/// Mantissa bits of a bucket: each is 1/128 of its octave wide, so a percentile is within 0.4 %.
const BITS: u32 = 7;

/// Counts durations in buckets of equal relative width. Memory follows the range seen, not the number of samples.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u32>,
    /// Bucket of `counts[0]`.
    first: usize,
    samples: u64,
    sum_ns: u128,
    min: Option<Dur>,
    max: Dur,
}

#[inline]
fn bucket(nanos: u64) -> usize {
    let octave = (nanos | 1).ilog2();
    if octave < BITS {
        return nanos as usize;
    }
    let mantissa = (nanos >> (octave - BITS)) as usize & ((1 << BITS) - 1);
    ((octave - BITS + 1) as usize) << BITS | mantissa
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let (row, mantissa) = (bucket >> BITS, (bucket & ((1 << BITS) - 1)) as u64);
    match row {
        0 => mantissa,
        _ => ((1 << BITS | mantissa) << (row - 1)) + ((1 << (row - 1)) >> 1),
    }
}

impl Histogram {
    #[inline]
    pub fn add(&mut self, value: Dur) {
        self.samples += 1;
        self.sum_ns += u128::from(value.0);
        self.min = Some(self.min.map_or(value, |min| min.min(value)));
        self.max = self.max.max(value);
        let bucket = bucket(value.0);
        match self.counts.get_mut(bucket.wrapping_sub(self.first)) {
            Some(count) => *count = count.saturating_add(1),
            None => self.widen(bucket),
        }
    }

    #[cold]
    fn widen(&mut self, bucket: usize) {
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - bucket));
            self.first = bucket;
        }
        let index = bucket - self.first;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }

    /// The values that were seen, each within 0.4 %, and how often.
    pub fn counts(&self) -> impl Iterator<Item = (Dur, u64)> {
        let seen = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        seen.map(|(index, count)| (Dur(middle(self.first + index)), u64::from(*count)))
    }

    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Exact. `None` without samples, here and below.
    pub fn mean(&self) -> Option<Dur> {
        let samples = u128::from(self.samples);
        (samples > 0).then(|| Dur((self.sum_ns / samples) as u64))
    }

    /// Exact.
    pub fn min(&self) -> Option<Dur> {
        self.min
    }

    /// The smallest duration that at least `share` of the samples do not exceed, within 0.4 %.
    pub fn quantile(&self, share: f64) -> Option<Dur> {
        let rank = ((share * self.samples as f64).ceil() as u64).clamp(1, self.samples.max(1));
        let mut seen = 0;
        let index = self.counts.iter().position(|&count| {
            seen += u64::from(count);
            seen >= rank
        })?;
        Some(Dur(middle(self.first + index)).clamp(self.min?, self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_within_half_a_percent(mut nanos in prop::collection::vec(1u64..1 << 44, 1..300)) {
            let mut histogram = Histogram::default();
            nanos.iter().for_each(|&value| histogram.add(Dur(value)));
            nanos.sort_unstable();
            for share in [0.0, 0.5, 0.95, 0.99, 1.0] {
                let rank = ((share * nanos.len() as f64).ceil() as usize).clamp(1, nanos.len());
                let exact = nanos[rank - 1];
                let found = histogram.quantile(share).unwrap().0;
                prop_assert!(found.abs_diff(exact) as f64 <= 0.004 * exact as f64 + 1.0, "{found} for {exact}");
            }
            prop_assert_eq!(histogram.min(), Some(Dur(nanos[0])));
            prop_assert_eq!(histogram.mean().unwrap().0, nanos.iter().sum::<u64>() / nanos.len() as u64);
        }
    }

    #[test]
    fn memory_follows_the_range_seen() {
        let mut histogram = Histogram::default();
        (0..1_000_000).for_each(|i| histogram.add(Dur::from_micros(20_000 + i % 100_000)));
        assert!(histogram.counts.len() < 400);
    }

    #[test]
    fn nothing_without_samples() {
        let histogram = Histogram::default();
        assert_eq!((histogram.quantile(0.5), histogram.mean(), histogram.min()), (None, None, None));
    }
}
