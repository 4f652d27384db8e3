//! Bytes over time: the rates on the whole, at best, and in packet trains that the path spaced.

use crate::weighted_bins::{Peak, WeightedBins};
use airtcp_wire::{Dur, Rate, Time};
use std::collections::VecDeque;

/// Bins of a series; when all are used, neighbours are merged in pairs.
const BINS: usize = 1 << 13;
const FIRST_WIDTH: Dur = Dur(1_000_000);

/// Lengths of the packet trains, in gaps.
const TRAINS: [usize; 3] = [1, 4, 16];

/// Window of the best sustained rate.
const SUSTAINED: Dur = Dur(1_000_000_000);

/// Bytes per interval of equal width.
#[derive(Clone, Debug)]
pub struct Bins {
    pub width: Dur,
    pub bytes: Vec<u64>,
}

impl Default for Bins {
    fn default() -> Bins {
        Bins { width: FIRST_WIDTH, bytes: Vec::new() }
    }
}

impl Bins {
    fn add(&mut self, since: Dur, bytes: u64) {
        while since.0 / self.width.0 >= BINS as u64 {
            self.halve();
        }
        let index = (since.0 / self.width.0) as usize;
        if self.bytes.len() <= index {
            self.bytes.resize(index + 1, 0);
        }
        self.bytes[index] += bytes;
    }

    fn halve(&mut self) {
        self.bytes = self.bytes.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.width = self.width * 2;
    }

    /// Returns this series with intervals of at least `width`.
    #[must_use]
    pub fn coarser(mut self, width: Dur) -> Bins {
        while self.width < width && self.bytes.len() > 1 {
            self.halve();
        }
        self
    }

    /// Returns the best rate over `window`, or over the whole series if that is shorter. The last interval may be
    /// incomplete and cannot raise the rate.
    fn best(&self, window: Dur) -> Option<Rate> {
        let count = (window.0.div_ceil(self.width.0) as usize).clamp(1, self.bytes.len().max(1));
        let most = self.bytes.windows(count).map(|run| run.iter().sum::<u64>()).max()?;
        Some(Rate::of(most, self.width * count as u64))
    }
}

/// Measures the rates of one stream of arrivals.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    pub start: Option<Time>,
    pub bins: Bins,
    /// Arrivals: the time, and the bytes that had arrived by then.
    recent: VecDeque<(Time, u64)>,
    total: u64,
    trains: [WeightedBins; TRAINS.len()],
}

/// What a meter measured.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// The best rate over a second, or over the whole series if that is shorter.
    pub sustained: Option<Rate>,
    /// The mode of the packet-train rates: the rate of the link that spaced the trains, if it is constant.
    pub dispersion: Option<Peak>,
    /// The rate that one in a hundred trains of 17 packets exceeded.
    pub fastest: Option<Rate>,
}

/// A mode with a smaller share of the trains is not reported.
const CROWD: f64 = 0.2;

impl Meter {
    /// Records the arrival of `bytes`. Packets with the same time count as one.
    pub fn on_bytes(&mut self, now: Time, bytes: u64) {
        let start = *self.start.get_or_insert(now);
        self.bins.add(now.since(start), bytes);
        self.total += bytes;
        match self.recent.back_mut() {
            Some((last, total)) if *last >= now => *total = self.total,
            _ => {
                self.measure_trains();
                self.recent.push_back((now, self.total));
                if self.recent.len() > TRAINS[TRAINS.len() - 1] + 1 {
                    self.recent.pop_front();
                }
            }
        }
    }

    /// Starts anew: something other than the path's rate delayed the next arrival.
    pub fn interrupt(&mut self) {
        self.measure_trains();
        self.recent.clear();
    }

    /// Measures the trains that end with the last arrival, which is complete.
    fn measure_trains(&mut self) {
        let Some(&(end, total)) = self.recent.back() else { return };
        for (gaps, histogram) in TRAINS.iter().zip(&mut self.trains) {
            if let Some(first) = self.recent.len().checked_sub(gaps + 1) {
                let (start, before) = self.recent[first];
                let bytes = total - before;
                histogram.add(Rate::of(bytes, end.since(start)).0, bytes as f64);
            }
        }
    }

    /// Returns the rate over the whole series.
    pub fn mean(&self) -> Option<Rate> {
        self.bins.best(Dur::MAX)
    }

    pub fn rates(&self) -> Rates {
        let [pairs, _, long] = &self.trains;
        let peaks = self.trains.iter().rev().filter_map(WeightedBins::peak);
        Rates {
            sustained: self.bins.best(SUSTAINED),
            dispersion: peaks.filter(|peak| peak.share >= CROWD).max_by(|a, b| a.share.total_cmp(&b.share)),
            fastest: long.quantile(0.99).or_else(|| pairs.quantile(0.99)).map(|rate| Rate(rate as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(gap: Dur, packets: u64) -> Meter {
        let mut meter = Meter::default();
        (0..packets).for_each(|n| meter.on_bytes(Time::ZERO + gap * n, 1500));
        meter
    }

    #[test]
    fn a_steady_stream_has_one_rate() {
        let rates = steady(Dur::from_micros(1200), 5000).rates();
        assert!((rates.dispersion.unwrap().value / 10e6 - 1.0).abs() < 1e-6);
        let sustained = rates.sustained.unwrap().0 as f64;
        assert!((sustained / 10e6 - 1.0).abs() < 0.01, "{sustained}");
        assert!((rates.fastest.unwrap().0 as f64 / 10e6 - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_series_of_any_length_keeps_its_bytes_and_its_bounds() {
        let meter = steady(Dur::from_secs(7), 100_000);
        assert!(meter.bins.bytes.len() <= BINS);
        assert_eq!(meter.bins.bytes.iter().sum::<u64>(), 150_000_000);
        assert_eq!(meter.bins.coarser(Dur::MAX).bytes, [150_000_000]);
    }
}
