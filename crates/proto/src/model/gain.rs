//! What decoupling is worth on a lossy link (paper 000 §7).

use super::mat::maximum_allowable_throughput;
use super::window::{error_rate_first_order, maximum_allowable_window};

/// The improvement that §7 derives: √(MTU/HP_Sz), since W goes as 1/√PER and PER as the size of the packets whose loss
/// shrinks it. Holds where W is large.
pub fn decoupling_gain(mtu_bytes: f64, header_packet_bytes: f64) -> f64 {
    (mtu_bytes / header_packet_bytes).sqrt()
}

/// The same by eqs (1) to (3), without the simplification: the MAT of packets of `mtu_bytes` under a window that is set by
/// the loss of packets of `header_packet_bytes`, over that under a window set by their own loss.
pub fn decoupling_gain_at(ber: f64, mtu_bytes: f64, header_packet_bytes: f64) -> f64 {
    let throughput = |bytes: f64| {
        maximum_allowable_throughput(
            maximum_allowable_window(error_rate_first_order(ber, bytes)),
            mtu_bytes,
            1.0,
        )
    };
    throughput(header_packet_bytes) / throughput(mtu_bytes)
}

#[cfg(test)]
mod tests {
    use super::super::assert_near;
    use super::*;

    /// The introduction's WaveLAN: MTU 1 500 and HP_Sz 40 bytes make a goodput of six times; its "about 350 %" is what the
    /// experiments gave.
    #[test]
    fn the_gain_goes_with_the_root_of_the_sizes() {
        assert_near(decoupling_gain(1500.0, 40.0), 6.12, 0.005);
        assert_near(decoupling_gain(1500.0, 52.0), 5.37, 0.005);
        assert_eq!(decoupling_gain(1500.0, 1500.0), 1.0);
    }

    /// The simplification holds where errors are rare, and promises too much where W is small.
    #[test]
    fn the_simple_form_is_the_limit_of_rare_errors() {
        assert_near(decoupling_gain_at(1e-10, 1500.0, 52.0), decoupling_gain(1500.0, 52.0), 0.01);
        assert!(decoupling_gain_at(3e-5, 1500.0, 52.0) < 0.8 * decoupling_gain(1500.0, 52.0));
    }
}
