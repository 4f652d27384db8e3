//! What a link layer does about bit errors: it adds redundancy (FEC), and it repeats what is lost nevertheless (ARQ).

use super::Frame;
use crate::queue::Item;
use airtcp_wire::Dur;

/// Which packets are protected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cover {
    #[default]
    All,
    /// Only the header packets of TCP circuits (paper 000 §10).
    HeaderPackets,
}

impl Cover {
    #[inline]
    pub fn covers(self, item: &Item) -> bool {
        self == Cover::All || item.is_header
    }
}

/// Local retransmission (ARQ): the far end asks for what it could not read.
///
/// Requests are not lost and take no capacity. Other packets go on meanwhile: a repetition costs them only its own transmission
/// time. The transmitter spends that at once, although the copy leaves a round trip later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arq {
    /// Maximum repetitions of one packet. If copies are lost independently with probability p, the packet is lost with
    /// p^(retries + 1).
    pub retries: u32,
    /// From the end of a copy to the start of the next one.
    pub round_trip: Dur,
    /// Whether later packets wait for one that is repeated. Otherwise they overtake it.
    pub in_order: bool,
    pub cover: Cover,
}

impl Arq {
    /// May this copy of a packet, which was lost, be followed by another?
    pub(super) fn may_repeat(&self, frame: &Frame) -> bool {
        frame.repeats + frame.unanswered < self.retries && self.cover.covers(&frame.sent)
    }
}

/// Forward error correction by a block code on the packet's bits, such as a Reed–Solomon code. In each block, half as many symbols as
/// there are parity symbols may be wrong. A last block that is not full is shortened.
///
/// The code helps against independent bit errors. A packet that a loss model loses as a whole is lost with its parity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockCode {
    pub symbol_bits: u32,
    /// Symbols of data in a full block.
    pub data_symbols: u32,
    /// Symbols of parity in every block.
    pub parity_symbols: u32,
}

impl BlockCode {
    fn blocks(&self, bytes: u32) -> u64 {
        (u64::from(bytes) * 8).div_ceil(u64::from(self.data_symbols * self.symbol_bits))
    }

    /// Length on the air, in bytes, of a packet of `bytes`.
    pub fn air_bytes(&self, bytes: u32) -> u32 {
        let parity_bits = self.blocks(bytes) * u64::from(self.parity_symbols * self.symbol_bits);
        bytes + parity_bits.div_ceil(8) as u32
    }

    /// Probability that a packet of `bytes` is lost: that in any of its blocks more than t = parity/2 symbols are
    /// wrong, where a symbol of b bits is wrong with s = 1 − (1 − BER)^b:
    /// 1 − Π over blocks of Σ for i ≤ t of C(n, i)·sⁱ·(1 − s)ⁿ⁻ⁱ (a bounded-distance decoder; Lin and Costello,
    /// Error Control Coding).
    pub fn packet_loss(&self, ber: f64, bytes: u32) -> f64 {
        let symbol_error = -libm::expm1(f64::from(self.symbol_bits) * libm::log1p(-ber));
        let symbols = (u64::from(bytes) * 8).div_ceil(u64::from(self.symbol_bits));
        let full = (symbols / u64::from(self.data_symbols)) as f64;
        let rest = (symbols % u64::from(self.data_symbols)) as u32;
        let survives = |data| self.block_survives(data + self.parity_symbols, symbol_error);
        let last = if rest == 0 { 1.0 } else { survives(rest) };
        1.0 - libm::pow(survives(self.data_symbols), full) * last
    }

    fn block_survives(&self, symbols: u32, error: f64) -> f64 {
        if error >= 1.0 {
            return if symbols <= self.parity_symbols / 2 { 1.0 } else { 0.0 };
        }
        let mut term = libm::exp(f64::from(symbols) * libm::log1p(-error));
        let mut sum = term;
        for wrong in 1..=(self.parity_symbols / 2).min(symbols) {
            term *= f64::from(symbols - wrong + 1) / f64::from(wrong) * error / (1.0 - error);
            sum += term;
        }
        sum.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REED_SOLOMON: BlockCode = BlockCode { symbol_bits: 8, data_symbols: 223, parity_symbols: 32 };

    #[test]
    fn parity_is_added_block_by_block() {
        assert_eq!([52, 223, 224, 1500].map(|bytes| REED_SOLOMON.air_bytes(bytes)), [84, 255, 288, 1724]);
        let bits = BlockCode { symbol_bits: 1, data_symbols: 4, parity_symbols: 3 };
        assert_eq!(bits.air_bytes(1), 2, "6 bits of parity");
    }

    #[test]
    fn without_parity_every_bit_must_survive() {
        let none = BlockCode { parity_symbols: 0, ..REED_SOLOMON };
        let expected = 1.0 - libm::pow(1.0 - 1e-5, 12_000.0);
        assert!((none.packet_loss(1e-5, 1500) - expected).abs() < 1e-12);
    }

    /// A Hamming(7,4) code corrects one bit: 1 − (1 − p)⁷ − 7p(1 − p)⁶.
    #[test]
    fn a_block_is_lost_with_the_binomial_tail() {
        let hamming = BlockCode { symbol_bits: 1, data_symbols: 4, parity_symbols: 3 };
        let p: f64 = 0.01;
        let block = 1.0 - (1.0 - p).powi(7) - 7.0 * p * (1.0 - p).powi(6);
        let expected = 1.0 - (1.0 - block).powi(2);
        assert!((hamming.packet_loss(p, 1) - expected).abs() < 1e-12);
    }

    #[test]
    fn the_code_turns_a_hopeless_link_into_a_good_one_up_to_its_limit() {
        let loss = |ber| REED_SOLOMON.packet_loss(ber, 1500);
        assert!(loss(1e-3) < 1e-6 && loss(1e-2) > 0.9, "{} {}", loss(1e-3), loss(1e-2));
        assert_eq!((loss(0.0), loss(1.0)), (0.0, 1.0));
    }
}
