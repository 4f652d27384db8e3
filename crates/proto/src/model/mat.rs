//! The Maximum Allowable Throughput under random loss (paper 000 §3 and §8.3).

/// MAT in bytes a second: eq. (3), (3/4·W + 3/2)·PS/RTT. The packets of one cycle ([`super::window`]) over the W/2 round
/// trips that it lasts.
pub fn maximum_allowable_throughput(window: f64, packet_bytes: f64, rtt_s: f64) -> f64 {
    (0.75 * window + 1.5) * packet_bytes / rtt_s
}

/// §8.3: what of `throughput` is useful at best, in the same unit: less the packets in error, less `header_bytes` of each.
pub fn goodput_bound(throughput: f64, error_rate: f64, packet_bytes: f64, header_bytes: f64) -> f64 {
    throughput * (1.0 - error_rate) * (1.0 - header_bytes / packet_bytes)
}

#[cfg(test)]
mod tests {
    use super::super::assert_near;
    use super::super::window::error_rate_first_order;
    use super::*;

    /// §8.3: W 56, PS 1 500, RTT 100 ms give 652 500 bytes a second, of which 615 KB are useful.
    #[test]
    fn section8_3_the_bound_at_100_ms() {
        let throughput = maximum_allowable_throughput(56.0, 1500.0, 0.1);
        assert_near(throughput, 652_500.0, 1e-6);
        let bound = goodput_bound(throughput, error_rate_first_order(2e-6, 1500.0), 1500.0, 52.0);
        assert_near(bound, 615_000.0, 500.0);
    }

    /// Eq. (4) and §7 do not follow from eq. (3): it gives 38.4 and 102.4 kbit/s where the paper has 26 and 119, which are
    /// 3/4·W·PS/RTT and W·PS/RTT.
    #[test]
    fn eq4_and_section7_do_not_follow() {
        let kbit = |bytes: f64| bytes * 8.0 / 1e3;
        assert_near(kbit(maximum_allowable_throughput(4.0, 576.0, 0.54)), 38.4, 0.05);
        assert_near(kbit(maximum_allowable_throughput(14.0, 576.0, 0.54)), 102.4, 0.05);
        assert_near(kbit(0.75 * 4.0 * 576.0 / 0.54), 26.0, 0.5);
        assert_near(kbit(14.0 * 576.0 / 0.54), 119.0, 0.6);
    }
}
