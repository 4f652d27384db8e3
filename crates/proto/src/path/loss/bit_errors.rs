//! Bit errors.

use super::{Build, Keys, Threshold};
use crate::path::{BlockCode, Cover, LossModel};
use crate::queue::Item;
use crate::rng::Chance;
use airtcp_wire::{Probability, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Probability that a bit is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct BitErrorRate(pub Probability);

impl From<f64> for BitErrorRate {
    /// # Panics
    /// Not a probability.
    fn from(value: f64) -> Self {
        Self(Probability::new(value))
    }
}

impl Keys for BitErrorRate {
    fn build(&self, build: Build) -> Option<Box<dyn LossModel>> {
        let ber = self.0.get();
        (ber > 0.0).then(|| Box::new(BitErrors::new(ber, build)) as Box<_>)
    }

    fn mean(&self, bytes: u32, form: BerForm, code: Option<BlockCode>) -> Option<f64> {
        let ber = self.0.get();
        Some(code.map_or_else(|| form.packet_loss(ber, bytes), |code| code.packet_loss(ber, bytes)))
    }
}

/// How a packet's loss probability follows from a bit error rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BerForm {
    /// 1 − (1 − BER)^bits: every bit must survive, independently of the others.
    Exact,
    /// min(1, BER · bits), as papers often use it.
    FirstOrder,
}

impl BerForm {
    /// Probability that a packet of `bytes` is lost.
    pub fn packet_loss(self, ber: f64, bytes: u32) -> f64 {
        let bits = f64::from(bytes) * 8.0;
        match self {
            BerForm::Exact => -libm::expm1(bits * libm::log1p(-ber)),
            BerForm::FirstOrder => (ber * bits).min(1.0),
        }
    }
}

const REMEMBERED_SIZES: usize = 8;

/// Bit errors: a larger packet is more likely to be lost.
#[derive(Clone, Debug)]
struct BitErrors {
    ber: f64,
    form: BerForm,
    code: Option<(BlockCode, Cover)>,
    chance: Chance,
    /// Thresholds of the sizes seen last. The key is twice the size, and one more for a header packet. A sender uses few sizes: full
    /// segments, and ACKs with up to four SACK blocks, which add 8 bytes each and so have places of their own.
    memo: [(u32, Threshold); REMEMBERED_SIZES],
}

impl BitErrors {
    fn new(ber: f64, Build { form, code, chance }: Build) -> BitErrors {
        BitErrors { ber, form, code, chance, memo: [(0, Threshold(0)); REMEMBERED_SIZES] }
    }

    #[cold]
    fn threshold(&self, item: &Item) -> Threshold {
        Threshold::new(match self.code {
            Some((code, cover)) if cover.covers(item) => code.packet_loss(self.ber, item.bytes),
            _ => self.form.packet_loss(self.ber, item.bytes),
        })
    }
}

impl LossModel for BitErrors {
    #[inline]
    fn is_lost(&mut self, _now: Time, item: &Item) -> bool {
        let place = (item.bytes as usize / 8 + usize::from(item.is_header)) % REMEMBERED_SIZES;
        let key = (item.bytes << 1) | u32::from(item.is_header);
        if self.memo[place].0 != key {
            self.memo[place] = (key, self.threshold(item));
        }
        self.memo[place].1.happens(&mut self.chance)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chance, packet, share_lost};
    use super::*;

    fn built(ber: f64, code: Option<(BlockCode, Cover)>) -> BitErrors {
        BitErrors::new(ber, Build { form: BerForm::Exact, code, chance: chance("ber") })
    }

    #[test]
    fn bit_errors_spare_small_packets_where_large_ones_are_lost() {
        // BER 1e-4: 1 − 0.9999^12000 = 0.6988, 1 − 0.9999^416 = 0.0407.
        let mut model = built(1e-4, None);
        let n = 100_000;
        for (bytes, expected) in [(1500, 0.698_8), (52, 0.040_75)] {
            let share = share_lost(&mut model, bytes, n);
            // Five standard deviations of a binomial share.
            let bound = 5.0 * f64::sqrt(expected * (1.0 - expected) / f64::from(n));
            assert!((share - expected).abs() < bound, "{bytes} bytes: {share} is not {expected} ± {bound}");
        }
    }

    #[test]
    fn first_order_overshoots_at_high_ber() {
        // The figures that ns-2's users met: 1.2e-4 × 1040 bytes.
        assert!((BerForm::FirstOrder.packet_loss(1.2e-4, 1040) - 0.998_4).abs() < 1e-9);
        assert!((BerForm::Exact.packet_loss(1.2e-4, 1040) - 0.631_5).abs() < 1e-3);
        assert_eq!(BerForm::FirstOrder.packet_loss(1e-3, 1500), 1.0);
        assert_eq!(BerForm::Exact.packet_loss(0.0, 1500), 0.0);
        assert_eq!(BerForm::Exact.packet_loss(1.0, 1), 1.0);
    }

    /// A code on header packets alone leaves data as exposed as it was, whatever order they come in.
    #[test]
    fn a_code_protects_what_it_covers() {
        let code = BlockCode { symbol_bits: 8, data_symbols: 223, parity_symbols: 32 };
        assert_eq!(share_lost(&mut built(1e-3, Some((code, Cover::All))), 1500, 10_000), 0.0);
        let mut model = built(1e-3, Some((code, Cover::HeaderPackets)));
        let lost = |model: &mut BitErrors, is_header| {
            let item = Item { is_header, ..packet(52) };
            (0..10_000).filter(|_| model.is_lost(Time::ZERO, &item)).count()
        };
        assert!(lost(&mut model, false) > 3000);
        assert_eq!(lost(&mut model, true), 0);
        assert!(lost(&mut model, false) > 3000);
    }
}
