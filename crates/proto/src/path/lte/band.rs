//! What transport blocks carry, and how often they cannot be read (3GPP TS 36.213).

use super::slots::SLOT;
use airtcp_wire::Rate;

/// Bits per resource element of CQI 2 to 15 (TS 36.213, table 7.2.3-1). The modulation and coding schemes of table 7.1.7.1-1 that are as
/// efficient are 0, 2, 4, 6, 8, 11, 13, 15, 18, 20, 22, 24, 26 and 28, whose I_TBS are the even numbers.
const EFFICIENCY: [f64; 14] = [
    0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152,
    5.5547,
];

/// Bandwidth in MHz, its resource blocks (TS 36.101, table 5.6-1), and the bits of transport blocks that fill it, by even I_TBS
/// (TS 36.213, table 7.1.7.2.1-1).
#[rustfmt::skip]
const BANDS: [(f64, u32, [u32; 14]); 6] = [
    (1.4, 6, [152, 256, 408, 600, 808, 1032, 1352, 1736, 1928, 2344, 2792, 3240, 3624, 4392]),
    (3.0, 15, [392, 648, 1064, 1544, 2088, 2664, 3368, 4264, 4968, 5992, 6968, 7992, 9144, 11_064]),
    (5.0, 25, [680, 1096, 1800, 2600, 3496, 4392, 5736, 7224, 7992, 9912, 11_448, 13_536, 15_264, 18_336]),
    (10.0, 50, [1384, 2216, 3624, 5160, 6968, 8760, 11_448, 14_112, 16_416, 19_848, 22_920, 27_376, 30_576, 36_696]),
    (15.0, 75, [2088, 3368, 5352, 7736, 10_680, 12_960, 16_992, 21_384, 24_496, 29_296, 35_160, 40_576, 45_352, 55_056]),
    (20.0, 100, [2792, 4584, 7224, 10_296, 14_112, 17_568, 22_920, 28_336, 32_856, 39_232, 46_888, 55_056, 61_664, 75_376]),
];

/// How much more signal a receiver needs than Shannon's bound says; ours.
const GAP_DB: f64 = 3.0;
/// The error rate falls from 1/2 to 1/10 over so many dB; ours. Turbo codes of this length fall as steeply.
const WATERFALL_DB: f64 = 0.5;
/// What CQI promises (TS 36.213 §7.2.3).
const PROMISED_ERROR_RATE: f64 = 0.1;

/// A modulation and coding scheme, from the most robust one on.
pub type Scheme = usize;

pub const LOWEST: Scheme = 0;

/// The resource blocks of one direction of a cell.
#[derive(Clone, Debug)]
pub struct Band {
    pub blocks: u32,
    bits: [u32; 14],
    /// The ratio of signal to noise in dB at which each scheme errs as often as CQI promises.
    required_db: [f64; 14],
}

impl Band {
    /// The bandwidths in MHz that there are.
    pub fn widths() -> impl Iterator<Item = f64> {
        BANDS.iter().map(|band| band.0)
    }

    /// Absent if there is no such bandwidth.
    pub fn new(mhz: f64) -> Option<Band> {
        let &(_, blocks, bits) = BANDS.iter().find(|band| band.0 == mhz)?;
        let required_db = EFFICIENCY.map(|bits| 10.0 * libm::log10(libm::exp2(bits) - 1.0) + GAP_DB);
        Some(Band { blocks, bits, required_db })
    }

    /// Thermal noise over the whole band in dBm.
    pub fn noise_dbm(&self) -> f64 {
        -174.0 + 10.0 * libm::log10(f64::from(self.blocks) * 180e3)
    }

    /// The fastest scheme that errs no more often than CQI promises.
    pub fn scheme(&self, sinr_db: f64) -> Option<Scheme> {
        self.required_db.iter().rposition(|required_db| sinr_db >= *required_db)
    }

    /// Probability that a block cannot be read.
    pub fn error_rate(&self, scheme: Scheme, sinr_db: f64) -> f64 {
        let odds = 1.0 / PROMISED_ERROR_RATE - 1.0;
        let margin = (sinr_db - self.required_db[scheme]) / WATERFALL_DB;
        1.0 / (1.0 + libm::pow(odds, margin + 1.0))
    }

    /// Length of a transport block. Blocks that do not fill the band have their share of one that does.
    pub fn bytes(&self, scheme: Scheme, blocks: u32) -> u32 {
        self.bits[scheme] * blocks / (8 * self.blocks)
    }

    /// The rate of transport blocks that fill the band.
    pub fn whole(&self, scheme: Scheme) -> Rate {
        Rate::of(u64::from(self.bytes(scheme, self.blocks)), SLOT)
    }

    /// The fewest resource blocks that carry so many bytes; more than there are if they do not.
    pub fn blocks_for(&self, scheme: Scheme, bytes: u32) -> u32 {
        let bits = u64::from(bytes) * 8 * u64::from(self.blocks);
        bits.div_ceil(u64::from(self.bits[scheme])).min(u64::from(self.blocks) + 1) as u32
    }

    /// Resource blocks are given out in groups of so many (TS 36.213, table 7.1.6.1-1).
    pub fn group(&self) -> u32 {
        match self.blocks {
            ..=10 => 1,
            11..=26 => 2,
            27..=63 => 3,
            _ => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_need_more_signal_the_faster_they_are_and_err_as_cqi_promises() {
        for mhz in Band::widths() {
            let band = Band::new(mhz).unwrap();
            assert!(band.required_db.is_sorted() && band.bits.is_sorted(), "{mhz}");
            for (scheme, required_db) in band.required_db.into_iter().enumerate() {
                let error = |more_db| band.error_rate(scheme, required_db + more_db);
                assert!((error(0.0) - 0.1).abs() < 1e-12 && (error(-WATERFALL_DB) - 0.5).abs() < 1e-12);
                assert!(error(2.0) < 1e-4 && error(-3.0) > 0.9999);
                assert_eq!(band.scheme(required_db), Some(scheme));
            }
            assert_eq!(band.scheme(band.required_db[0] - 0.01), None);
        }
        assert!(Band::new(7.0).is_none());
    }

    #[test]
    fn so_many_resource_blocks_carry_what_they_must_and_one_less_does_not() {
        let band = Band::new(5.0).unwrap();
        assert_eq!([band.bytes(13, 25), band.bytes(8, 25), band.bytes(13, 1)], [2292, 999, 91]);
        for scheme in 0..14 {
            for bytes in 1..=band.bytes(scheme, 25) {
                let blocks = band.blocks_for(scheme, bytes);
                assert!(band.bytes(scheme, blocks) >= bytes && band.bytes(scheme, blocks - 1) < bytes);
            }
            assert_eq!(band.blocks_for(scheme, u32::MAX), 26);
        }
    }
}
