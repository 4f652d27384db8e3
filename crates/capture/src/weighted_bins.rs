//! Histogram of values of any magnitude, in constant memory.

/// Sub-bins per octave, as a power of two: a bin is 1 to 2 % wide.
const PER_OCTAVE_BITS: u32 = 6;
const BINS: usize = 64 << PER_OCTAVE_BITS;

/// Weighted histogram with bins of equal relative width.
#[derive(Clone, Debug)]
pub struct WeightedBins {
    bins: Vec<Bin>,
    total: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    weight: f64,
    /// Weighted sum of the values.
    sum: f64,
}

/// The mode of a histogram.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Peak {
    /// Weighted mean of the values in the mode.
    pub value: f64,
    /// The mode's share of the total weight.
    pub share: f64,
}

impl Default for WeightedBins {
    fn default() -> WeightedBins {
        WeightedBins { bins: vec![Bin::default(); BINS], total: 0.0 }
    }
}

impl WeightedBins {
    pub fn add(&mut self, value: u64, weight: f64) {
        let bin = &mut self.bins[index(value)];
        bin.weight += weight;
        bin.sum += weight * value as f64;
        self.total += weight;
    }

    /// Returns the heaviest run of four neighbouring bins, some 5 % wide.
    pub fn peak(&self) -> Option<Peak> {
        let weight = |run: &[Bin]| run.iter().map(|bin| bin.weight).sum::<f64>();
        let heaviest = self.bins.windows(4).max_by(|a, b| weight(a).total_cmp(&weight(b)))?;
        let found = weight(heaviest);
        let sum: f64 = heaviest.iter().map(|bin| bin.sum).sum();
        (found > 0.0).then(|| Peak { value: sum / found, share: found / self.total })
    }

    /// Returns the value below which `share` of the weight lies.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let mut below = 0.0;
        let bin = self.bins.iter().find(|bin| {
            below += bin.weight;
            bin.weight > 0.0 && below >= share * self.total
        })?;
        Some(bin.sum / bin.weight)
    }
}

/// The bin of `value`, from its exponent and the bits after its leading one.
fn index(value: u64) -> usize {
    let value = value.max(1);
    let exponent = value.ilog2();
    let mantissa = (value << (63 - exponent) << 1) >> (64 - PER_OCTAVE_BITS);
    ((exponent << PER_OCTAVE_BITS) as u64 | mantissa) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_and_quantiles_are_found_within_a_bin() {
        let mut histogram = WeightedBins::default();
        (0..1000).for_each(|value| histogram.add(value * 1000, 1.0));
        (0..3000).for_each(|_| histogram.add(400_000, 1.0));
        let peak = histogram.peak().unwrap();
        assert!((peak.value / 400e3 - 1.0).abs() < 0.02, "{peak:?}");
        assert!(peak.share > 0.75);
        assert!((histogram.quantile(0.99).unwrap() / 960e3 - 1.0).abs() < 0.02);
        assert_eq!(WeightedBins::default().peak(), None);
        [0, 1, u64::MAX].into_iter().for_each(|value| histogram.add(value, 1.0));
    }
}
