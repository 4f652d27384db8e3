//! The window that random loss leaves a TCP (paper 000 §3).

/// Packet error rate of packets of `packet_bytes` at the bit error rate `ber`, to first order: BER·PS·8, eq. (1). May
/// exceed 1, where it is no probability any more.
pub fn error_rate_first_order(ber: f64, packet_bytes: f64) -> f64 {
    ber * packet_bytes * 8.0
}

/// The same exactly: 1 − (1 − BER)^(8·PS), for bit errors that know nothing of each other.
pub fn error_rate(ber: f64, packet_bytes: f64) -> f64 {
    -libm::expm1(8.0 * packet_bytes * libm::log1p(-ber))
}

/// The Maximum Allowable Window W in packets: eq. (2), 3/8·W² + 3/4·W = 1/PER. A cycle from one loss to the next sends so
/// many packets while the window grows from W/2 to W, a packet a round trip. Infinite without errors.
pub fn maximum_allowable_window(error_rate: f64) -> f64 {
    (1.0 + 8.0 / (3.0 * error_rate)).sqrt() - 1.0
}

#[cfg(test)]
mod tests {
    use super::super::assert_near;
    use super::*;

    /// Eq. (1): 3·10⁻⁵ · 576 · 8 = 0.14, "one corrupted packet in every 7.2"; §8.3: BER 2·10⁻⁶ and PS 52 give 0.0008.
    #[test]
    fn eq1_the_papers_error_rates() {
        assert_near(error_rate_first_order(3e-5, 576.0), 0.14, 0.005);
        assert_near(1.0 / error_rate_first_order(3e-5, 576.0), 7.2, 0.05);
        assert_near(error_rate_first_order(2e-6, 52.0), 0.0008, 0.00005);
    }

    /// Eq. (2) is what the window solves.
    #[test]
    fn eq2_the_window_sends_one_packet_in_error_a_cycle() {
        for error_rate in [1.0, 0.3, 0.01, 1e-6] {
            let window = maximum_allowable_window(error_rate);
            assert_near((3.0 / 8.0 * window * window + 3.0 / 4.0 * window) * error_rate, 1.0, 1e-9);
        }
    }

    /// §3: "when PER is 0.14, W is about 4" (3.5); §7: PS 52 makes it 14; §8.3: PER 0.0008 gives 56.
    #[test]
    fn the_papers_windows() {
        assert_near(maximum_allowable_window(0.14), 4.0, 0.6);
        assert_near(maximum_allowable_window(error_rate_first_order(3e-5, 52.0)), 14.0, 0.5);
        assert_near(maximum_allowable_window(error_rate_first_order(2e-6, 52.0)), 56.0, 0.5);
    }

    /// The first-order form overshoots: 1 000 B at 1.2·10⁻⁴ would be 0.96, and are 0.617.
    #[test]
    fn the_exact_form_stays_a_probability() {
        assert_near(error_rate(1.2e-4, 1000.0), 0.617, 0.001);
        assert_near(error_rate(1e-7, 1000.0), error_rate_first_order(1e-7, 1000.0), 1e-6);
        assert_eq!(error_rate(0.0, 1000.0), 0.0);
        assert_eq!(error_rate(1.0, 1000.0), 1.0);
    }
}
