//! How often IEEE 802.11 frames cannot be read, by their signal-to-noise ratio.
//!
//! This is the closed form that ns-3 calls `NistErrorRateModel`: white noise, Gray mapping, and the union bound over the distance spectrum of
//! the convolutional code, with hard decisions. It is a bound: receivers that decide softly need less. ns-3's tables
//! (`TableBasedErrorRateModel`), from simulated receivers, reach an error rate of 10 % with 3 to 4 dB less at each MCS of 802.11n.

use super::phy::Mode;

/// The convolutional code after puncturing.
struct Code {
    /// Data bits in a period of the puncturing pattern.
    period: u32,
    /// Free distance, and from one distance to the next.
    free: u32,
    step: u32,
    /// Wrong data bits over all paths, by distance.
    weights: &'static [f64],
}

/// By data bits of a period. The weights are those in ns-3's `NistErrorRateModel`, which names Haccoun and Bégin (1989) for the last.
#[rustfmt::skip]
const CODES: [Code; 4] = [
    Code { period: 1, free: 10, step: 2, weights: &[36.0, 211.0, 1404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0] },
    Code { period: 2, free: 6, step: 1, weights: &[3.0, 70.0, 285.0, 1276.0, 6160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0] },
    Code { period: 3, free: 5, step: 1, weights: &[42.0, 201.0, 1492.0, 10_469.0, 62_935.0, 379_644.0, 2_253_373.0, 13_073_811.0, 75_152_755.0, 428_005_675.0] },
    Code { period: 5, free: 4, step: 1, weights: &[92.0, 528.0, 8694.0, 79_453.0, 792_114.0, 7_375_573.0, 67_884_974.0, 610_875_423.0, 5_427_275_376.0, 47_664_215_639.0] },
];

/// Probability that a bit on the air is read wrongly. `snr` is a ratio, not in dB.
fn raw_bit_error(bits_per_subcarrier: u32, snr: f64) -> f64 {
    if bits_per_subcarrier == 1 {
        return 0.5 * libm::erfc(libm::sqrt(snr));
    }
    let (bits, points) = (f64::from(bits_per_subcarrier), f64::from(1_u32 << bits_per_subcarrier));
    let neighbours = 4.0 / bits * (1.0 - 1.0 / libm::sqrt(points));
    neighbours * 0.5 * libm::erfc(libm::sqrt(1.5 * snr / (points - 1.0)))
}

/// Probability that a data bit is wrong after decoding.
fn bit_error(mode: &Mode, snr_db: f64) -> f64 {
    let (bits, data_bits, _) = mode.scheme();
    let raw = raw_bit_error(bits, libm::pow(10.0, snr_db / 10.0));
    let closeness = libm::sqrt(4.0 * raw * (1.0 - raw));
    let wrong = |code: &Code| {
        let power = |exponent: u32| libm::pow(closeness, f64::from(exponent));
        let weights = code.weights.iter().rev();
        let paths = weights.fold(0.0, |farther, weight| farther * power(code.step) + weight);
        paths * power(code.free) / f64::from(2 * code.period)
    };
    CODES.iter().find(|code| code.period == data_bits).map_or(1.0, wrong).min(1.0)
}

/// What the error rate of frames of any length follows from: the logarithm of the probability that a data bit is right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Readability(f64);

impl Readability {
    /// Of frames in this mode at this signal-to-noise ratio, which each of its streams has.
    pub fn of(mode: &Mode, snr_db: f64) -> Readability {
        Readability(libm::log1p(-bit_error(mode, snr_db)))
    }

    /// Probability that a frame of so many bytes cannot be read.
    pub fn error_rate(self, bytes: u32) -> f64 {
        -libm::expm1(f64::from(8 * bytes) * self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::wifi::Standard;

    fn mode(standard: Standard, mcs: u32) -> Mode {
        Mode { standard, width: 20, streams: 1, short_guard_interval: false, mcs }
    }

    /// The SNR in dB at which a frame of 1538 bytes errs in one case of ten.
    fn needed_db(mode: &Mode) -> f64 {
        let (mut low, mut high) = (-10.0, 60.0);
        while high - low > 1e-3 {
            let middle = (low + high) / 2.0;
            match Readability::of(mode, middle).error_rate(1538) < 0.1 {
                true => high = middle,
                false => low = middle,
            }
        }
        high
    }

    /// By the formulas of ns-3's `NistErrorRateModel`, written down independently.
    #[test]
    fn schemes_need_what_they_need_in_ns3() {
        for (mcs, expected) in (0..).zip([3.97, 6.98, 9.87, 13.51, 16.62, 21.36, 22.63, 23.79]) {
            let needed = needed_db(&mode(Standard::N, mcs));
            assert!((needed - expected).abs() < 0.01, "MCS {mcs}: {needed:.3} dB, {expected}");
        }
    }

    #[test]
    fn frames_err_more_often_if_weak_or_long() {
        for standard in [Standard::A, Standard::Ax] {
            for mcs in 0..=standard.most_mcs() {
                let at = |db, bytes| Readability::of(&mode(standard, mcs), db).error_rate(bytes);
                assert_eq!(at(-20.0, 100), 1.0);
                assert!(at(60.0, 65_000) < 1e-12);
                for db in -20..60 {
                    let db = f64::from(db);
                    assert!(at(db, 1500) >= at(db + 1.0, 1500), "MCS {mcs} at {db} dB");
                    assert!(at(db, 1500) >= at(db, 100), "MCS {mcs} at {db} dB");
                }
            }
        }
    }
}
