//! How long IEEE 802.11 frames are on the air.

use airtcp_wire::{Dur, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The amendment of IEEE 802.11 by which data is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standard {
    /// OFDM at 5 GHz (IEEE 802.11-2020 clause 17).
    A,
    /// OFDM at 2.4 GHz (clause 18), with short slots.
    G,
    /// HT (clause 19), mixed format, at 5 GHz.
    N,
    /// VHT (clause 21).
    Ac,
    /// HE (IEEE 802.11ax-2021 clause 27), for a single user.
    Ax,
}

/// Bits per subcarrier, and the code rate as a fraction, by MCS.
const HT_MCS: [(u32, u32, u32); 12] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
    (10, 3, 4),
    (10, 5, 6),
];
/// Those of the rates 6, 9, 12, 18, 24, 36, 48 and 54 Mbit/s.
const OFDM_MCS: [(u32, u32, u32); 8] =
    [(1, 1, 2), (1, 3, 4), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4)];
const OFDM_SUBCARRIERS: u32 = 48;
/// Training fields and SIGNAL.
const OFDM_PREAMBLE: Dur = Dur::from_micros(20);
const OFDM_SYMBOL: Dur = Dur::from_micros(4);
/// SERVICE and tail.
const FRAMING_BITS: u32 = 16 + 6;

impl Standard {
    fn schemes(self) -> &'static [(u32, u32, u32)] {
        match self {
            Standard::A | Standard::G => &OFDM_MCS,
            Standard::N => &HT_MCS[..8],
            Standard::Ac => &HT_MCS[..10],
            Standard::Ax => &HT_MCS,
        }
    }

    /// As scenarios write it.
    pub fn name(self) -> &'static str {
        match self {
            Standard::A => "a",
            Standard::G => "g",
            Standard::N => "n",
            Standard::Ac => "ac",
            Standard::Ax => "ax",
        }
    }

    /// The highest MCS.
    pub fn most_mcs(self) -> u32 {
        self.schemes().len() as u32 - 1
    }

    /// Channel widths in MHz.
    pub fn widths(self) -> &'static [u32] {
        match self {
            Standard::A | Standard::G => &[20],
            Standard::N => &[20, 40],
            Standard::Ac | Standard::Ax => &[20, 40, 80, 160],
        }
    }

    pub fn most_streams(self) -> u32 {
        match self {
            Standard::A | Standard::G => 1,
            Standard::N => 4,
            Standard::Ac | Standard::Ax => 8,
        }
    }

    /// Does it send aggregates (A-MPDU)?
    pub fn aggregates(self) -> bool {
        !matches!(self, Standard::A | Standard::G)
    }

    pub fn slot(self) -> Dur {
        Dur::from_micros(9)
    }

    pub fn sifs(self) -> Dur {
        Dur::from_micros(if self == Standard::G { 10 } else { 16 })
    }

    /// Data subcarriers of a channel of so many MHz.
    fn subcarriers(self, width: u32) -> u32 {
        match (self, width) {
            (Standard::A | Standard::G, _) => OFDM_SUBCARRIERS,
            (Standard::N | Standard::Ac, 20) => 52,
            (Standard::N | Standard::Ac, 40) => 108,
            (Standard::N | Standard::Ac, 80) => 234,
            (Standard::N | Standard::Ac, _) => 468,
            (Standard::Ax, 20) => 234,
            (Standard::Ax, 40) => 468,
            (Standard::Ax, 80) => 980,
            (Standard::Ax, _) => 1960,
        }
    }

    /// What precedes the data of a frame of so many streams.
    fn preamble(self, streams: u32) -> Dur {
        // HT-LTFs and their kin: as many as streams, but an even number above one.
        let training = u64::from(if streams == 1 { 1 } else { streams.next_multiple_of(2) });
        let ns = match self {
            Standard::A | Standard::G => 0,
            // HT-SIG, HT-STF, HT-LTFs.
            Standard::N => 8_000 + 4_000 + training * 4_000,
            // VHT-SIG-A, VHT-STF, VHT-LTFs, VHT-SIG-B.
            Standard::Ac => 8_000 + 4_000 + training * 4_000 + 4_000,
            // RL-SIG, HE-SIG-A, HE-STF, 2x HE-LTFs with a guard interval of 0.8 µs.
            Standard::Ax => 4_000 + 8_000 + 4_000 + training * 7_200,
        };
        OFDM_PREAMBLE + Dur(ns)
    }

    fn symbol(self, short_guard_interval: bool) -> Dur {
        match self {
            Standard::Ax => Dur(13_600),
            Standard::N | Standard::Ac if short_guard_interval => Dur(3_600),
            _ => OFDM_SYMBOL,
        }
    }

    /// Silence that ends a frame at 2.4 GHz (18.3.2.4, signal extension).
    fn extension(self) -> Dur {
        Dur::from_micros(if self == Standard::G { 6 } else { 0 })
    }
}

/// How data frames are modulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    pub standard: Standard,
    /// In MHz.
    pub width: u32,
    pub streams: u32,
    pub short_guard_interval: bool,
    pub mcs: u32,
}

impl Mode {
    /// Bits per subcarrier, and the code rate as a fraction.
    pub fn scheme(&self) -> (u32, u32, u32) {
        self.standard.schemes()[self.mcs as usize]
    }

    /// N_DBPS: the data bits of a symbol.
    fn bits_per_symbol(&self) -> u32 {
        let (bits, numerator, denominator) = self.scheme();
        self.standard.subcarriers(self.width) * bits * self.streams * numerator / denominator
    }

    /// While data lasts, without preamble.
    pub fn rate(&self) -> Rate {
        let symbol = self.standard.symbol(self.short_guard_interval);
        Rate(u64::from(self.bits_per_symbol()) * 1_000_000_000 / symbol.0)
    }

    /// How long a frame of so many bytes from MAC header to FCS is on the air.
    pub fn data(&self, bytes: u32) -> Dur {
        let symbols = (8 * bytes + FRAMING_BITS).div_ceil(self.bits_per_symbol());
        self.standard.preamble(self.streams)
            + self.standard.symbol(self.short_guard_interval) * u64::from(symbols)
            + self.standard.extension()
    }

    /// How long a control frame beside data is on the air: RTS, CTS, an acknowledgment. It goes at the highest basic rate that is not faster
    /// than the data; 6, 12 and 24 Mbit/s are basic.
    pub fn control(&self, bytes: u32) -> Dur {
        let mut basic =
            [(12, 48), (24, 96)].into_iter().filter(|(mbps, _)| Rate(mbps * 1_000_000) <= self.rate());
        let bits_per_symbol = basic.next_back().map_or(24, |(_, bits)| bits);
        let symbols = (8 * bytes + FRAMING_BITS).div_ceil(bits_per_symbol);
        OFDM_PREAMBLE + OFDM_SYMBOL * u64::from(symbols) + self.standard.extension()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(standard: Standard, width: u32, mcs: u32) -> Mode {
        Mode { standard, width, streams: 1, short_guard_interval: false, mcs }
    }

    #[test]
    fn rates_are_those_of_the_standards_tables() {
        let rates = (0..8).map(|mcs| mode(Standard::A, 20, mcs).rate().0 / 1_000_000);
        assert_eq!(rates.collect::<Vec<_>>(), [6, 9, 12, 18, 24, 36, 48, 54]);
        let rate = |standard, width, mcs| mode(standard, width, mcs).rate().0 / 100_000;
        assert_eq!(rate(Standard::N, 20, 7), 650);
        assert_eq!(rate(Standard::N, 40, 7), 1350);
        assert_eq!(rate(Standard::Ac, 80, 8), 3510);
        assert_eq!(rate(Standard::Ax, 80, 11), 6004);
        let short = Mode { short_guard_interval: true, ..mode(Standard::N, 20, 7) };
        assert_eq!(short.rate().0 / 100_000, 722);
    }

    /// 17.4.3: TXTIME. A data frame of 1536 bytes at 54 Mbit/s has 57 symbols; its acknowledgment at 24 Mbit/s has two.
    #[test]
    fn a_frame_takes_its_preamble_and_whole_symbols() {
        let data = mode(Standard::A, 20, 7);
        assert_eq!((data.data(1536), data.control(14)), (Dur::from_micros(248), Dur::from_micros(28)));
        assert_eq!(
            mode(Standard::A, 20, 0).control(14),
            Dur::from_micros(44),
            "no answer is faster than its data"
        );
        assert_eq!(mode(Standard::N, 20, 7).data(1538), Dur::from_micros(36 + 48 * 4));
        assert_eq!(mode(Standard::Ac, 80, 8).data(1538), Dur::from_micros(40 + 9 * 4));
    }
}
