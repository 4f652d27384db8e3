//! Percentiles of durations in bounded memory.

use airtcp_wire::Dur;
use std::collections::BTreeMap;

/// Mantissa bits of a bucket: each is 1/128 of its octave wide, so a percentile is within 0.4 %.
const BITS: u32 = 7;

/// Memory grows by so many buckets at a time.
const ROW: usize = 16;

/// Counts durations in buckets of equal relative width. Memory follows the range seen, not the number of samples.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Modulo 2⁸, because there may be thousands of histograms with few samples each. As long as all are below 2⁴, two
    /// share a byte.
    counts: Box<[u8]>,
    is_packed: bool,
    /// How often a bucket's count has wrapped to 0.
    #[allow(
        clippy::box_collection,
        reason = "where there are thousands, few have any, and this takes eight bytes"
    )]
    carries: Option<Box<BTreeMap<u16, u32>>>,
    /// Bucket of `counts[0]`.
    first: u16,
    /// Sum of all samples, at most 584 years.
    sum: Dur,
    min: Dur,
    max: Dur,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            counts: Box::default(),
            is_packed: true,
            carries: None,
            first: 0,
            sum: Dur::ZERO,
            min: Dur::MAX,
            max: Dur::ZERO,
        }
    }
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

/// By how many bits the count at an even or odd place is shifted where two share a byte.
#[inline]
fn shift(place: usize) -> u32 {
    (place % 2) as u32 * 4
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
        self.sum.0 += value.0;
        // Branches that are seldom taken cost less than stores.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
        let bucket = bucket(value.0);
        match self.is_packed {
            true => self.count_packed(bucket),
            false => self.count(bucket),
        }
    }

    #[inline]
    fn count(&mut self, bucket: usize) {
        match self.counts.get_mut(bucket.wrapping_sub(self.first.into())) {
            Some(count) => {
                *count = count.wrapping_add(1);
                if *count == 0 {
                    self.carry(bucket);
                }
            }
            None => self.widen(bucket),
        }
    }

    #[inline(never)]
    fn count_packed(&mut self, bucket: usize) {
        let place = bucket.wrapping_sub(self.first.into());
        match self.counts.get_mut(place / 2) {
            Some(pair) if *pair >> shift(place) & 0xf < 0xf => *pair += 1 << shift(place),
            Some(_) => {
                self.unpack();
                self.count(bucket);
            }
            None => self.widen(bucket),
        }
    }

    #[cold]
    fn unpack(&mut self) {
        self.counts = self.counts.iter().flat_map(|pair| [pair & 0xf, pair >> 4]).collect();
        self.is_packed = false;
    }

    /// Buckets that share a byte.
    fn buckets_a_byte(&self) -> usize {
        if self.is_packed { 2 } else { 1 }
    }

    #[cold]
    fn carry(&mut self, bucket: usize) {
        *self.carries.get_or_insert_default().entry(bucket as u16).or_default() += 1;
    }

    /// Makes room for a bucket that there is none of yet, and counts its first sample.
    #[cold]
    fn widen(&mut self, bucket: usize) {
        let row = bucket / ROW * ROW;
        if self.counts.is_empty() {
            self.first = row as u16;
        }
        let (before, share) = (usize::from(self.first), self.buckets_a_byte());
        let (first, end) = (before.min(row), (before + self.counts.len() * share).max(row + ROW));
        let mut counts = vec![0; (end - first) / share];
        counts[(before - first) / share..][..self.counts.len()].copy_from_slice(&self.counts);
        counts[(bucket - first) / share] = if self.is_packed { 1 << shift(bucket) } else { 1 };
        (self.first, self.counts) = (first as u16, counts.into());
    }

    /// The number of samples in each bucket, from the first bucket on.
    fn full_counts(&self) -> impl Iterator<Item = u64> {
        let carries = |bucket| self.carries.as_ref()?.get(&bucket);
        let carried = move |bucket| carries(bucket).map_or(0, |&carries| u64::from(carries) << 8);
        let (share, mask) = if self.is_packed { (2, 0xf) } else { (1, 0xff) };
        let counts = self
            .counts
            .iter()
            .flat_map(move |&byte| (0..share).map(move |place| byte >> shift(place) & mask));
        counts.zip(self.first..).map(move |(count, bucket)| u64::from(count) + carried(bucket))
    }

    /// The values that were seen, within 0.4 %, and how often each was.
    pub fn counts(&self) -> impl Iterator<Item = (Dur, u64)> {
        let seen = self.full_counts().zip(self.first..).filter(|(count, _)| *count > 0);
        seen.map(|(count, bucket)| (Dur(middle(bucket.into())), count))
    }

    pub fn samples(&self) -> u64 {
        self.full_counts().sum()
    }

    /// Exact. `None` without samples, here and below.
    pub fn mean(&self) -> Option<Dur> {
        self.sum.0.checked_div(self.samples()).map(Dur)
    }

    /// Exact.
    pub fn min(&self) -> Option<Dur> {
        (self.min <= self.max).then_some(self.min)
    }

    /// The smallest duration that at least `share` of the samples do not exceed, within 0.4 %.
    pub fn quantile(&self, share: f64) -> Option<Dur> {
        let min = self.min()?;
        let samples = self.samples();
        let rank = ((share * samples as f64).ceil() as u64).clamp(1, samples.max(1));
        let mut seen = 0;
        let index = self.full_counts().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(Dur(middle(usize::from(self.first) + index)).clamp(min, self.max))
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

    proptest! {
        /// However often a bucket is hit, and wherever the next one lies. Buckets of small values have one value each.
        #[test]
        fn no_sample_is_lost(runs in prop::collection::vec((0u64..128, 1usize..20), 1..40)) {
            let (mut histogram, mut counts) = (Histogram::default(), BTreeMap::new());
            for (value, times) in runs {
                (0..times).for_each(|_| histogram.add(Dur(value)));
                *counts.entry(Dur(value)).or_default() += times as u64;
            }
            prop_assert!(histogram.counts().eq(counts));
        }
    }

    #[test]
    fn memory_follows_the_range_seen() {
        let mut histogram = Histogram::default();
        (0..1_000_000).for_each(|i| histogram.add(Dur::from_micros(20_000 + i % 100_000)));
        assert!(histogram.counts.len() < 400);
    }

    #[test]
    fn a_bucket_counts_more_than_two_bytes_hold() {
        let mut histogram = Histogram::default();
        (0..200_000).for_each(|_| histogram.add(Dur(70)));
        (0..100_000).for_each(|_| histogram.add(Dur(30)));
        assert_eq!(histogram.counts().collect::<Vec<_>>(), [(Dur(30), 100_000), (Dur(70), 200_000)]);
        assert_eq!([0.3, 0.4].map(|share| histogram.quantile(share)), [Some(Dur(30)), Some(Dur(70))]);
    }

    #[test]
    fn nothing_without_samples() {
        let histogram = Histogram::default();
        assert_eq!((histogram.quantile(0.5), histogram.mean(), histogram.min()), (None, None, None));
    }
}
