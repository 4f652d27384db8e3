//! How high RED's average queue rises while the first mark is on its way (paper 002 §III-C): the least maximum threshold
//! that loses no packet.

/// RED as far as the model knows it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Red {
    /// Packets.
    pub min_threshold: f64,
    pub max_threshold: f64,
    /// Marking probability at the maximum threshold.
    pub max_probability: f64,
    /// Weight of the present queue in the average.
    pub weight: f64,
}

impl Red {
    /// Eq. (2): the marking probability p at an average queue of `average` packets.
    pub fn marking_probability(&self, average: f64) -> f64 {
        let share = (average - self.min_threshold) / (self.max_threshold - self.min_threshold);
        if share < 1.0 { self.max_probability * share.max(0.0) } else { 1.0 }
    }
}

/// λᵢ in marks a second: p·Wᵢ/rᵢ, with the window W in packets and the round trip time r (§III-B).
pub fn marking_rate(probability: f64, window: f64, rtt_s: f64) -> f64 {
    probability * window / rtt_s
}

/// βᵢ, eq. (4): how often flow i's window grows, a packet a round trip, until its first mark: 1/(λᵢ·rᵢ).
pub fn increments_until_mark(probability: f64, window: f64, rtt_s: f64) -> f64 {
    1.0 / (marking_rate(probability, window, rtt_s) * rtt_s)
}

/// Eq. (8): Q̄max = minth + Σ(βᵢ + w), in packets, where `probability` is p and each flow has a window in packets and an RTT
/// in seconds.
pub fn maximum_average_queue(red: &Red, probability: f64, flows: &[(f64, f64)]) -> f64 {
    let rise = |&(window, rtt_s): &(f64, f64)| increments_until_mark(probability, window, rtt_s) + red.weight;
    red.min_threshold + flows.iter().map(rise).sum::<f64>()
}

/// Eq. (8) where p is that of eq. (2) at the maximum itself. The paper does not say at which average it takes p; this is the
/// one reading that needs no further number, and the least Q̄max of all. With x = Q̄max − minth, eq. (8) is
/// x² − m·w·x − (maxth − minth)/maxp·Σ1/Wᵢ = 0. Where it comes out above maxth, packets are lost before the first mark.
pub fn self_consistent_maximum_average_queue(red: &Red, windows: &[f64]) -> f64 {
    let slope = (red.max_threshold - red.min_threshold) / red.max_probability;
    let constant = slope * windows.iter().map(|window| 1.0 / window).sum::<f64>();
    let half = red.weight * windows.len() as f64 / 2.0;
    red.min_threshold + half + (half * half + constant).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::assert_near;
    use super::*;

    const CASE_1: Red = Red { min_threshold: 5.0, max_threshold: 15.0, max_probability: 0.1, weight: 0.002 };

    /// Eq. (2), not gentle.
    #[test]
    fn eq2_the_marking_probability() {
        let at = |average| CASE_1.marking_probability(average);
        assert_eq!((at(4.9), at(10.0), at(15.0)), (0.0, 0.05, 1.0));
    }

    /// Eqs (4) and (8) by hand: p = 0.02, two flows of 25 packets: β = 2 each.
    #[test]
    fn eq8_adds_the_increments_of_each_flow() {
        assert_near(increments_until_mark(0.02, 25.0, 0.059), 2.0, 1e-9);
        let flows = [(25.0, 0.059), (25.0, 0.118)];
        assert_near(maximum_average_queue(&CASE_1, 0.02, &flows), 5.0 + 2.0 * 2.002, 1e-9);
    }

    /// The closed form is a fixed point of eqs (2) and (8).
    #[test]
    fn the_self_consistent_maximum_solves_both_equations() {
        let windows = [20.0, 30.0];
        let maximum = self_consistent_maximum_average_queue(&CASE_1, &windows);
        let flows = windows.map(|window| (window, 0.059));
        let probability = CASE_1.marking_probability(maximum);
        assert_near(maximum_average_queue(&CASE_1, probability, &flows), maximum, 1e-9);
    }

    /// Table II: 7.3, 6.7 and 9.6, for which the paper names no window. Two flows of the 22 packets at which Fig 5's axis ends
    /// fill the pipe of 37 with 7 queued.
    #[test]
    fn table2_within_an_eighth_for_the_windows_of_fig5() {
        let cases = [
            CASE_1,
            Red { max_probability: 0.2, ..CASE_1 },
            Red { min_threshold: 7.0, max_threshold: 21.0, ..CASE_1 },
        ];
        for (red, paper) in cases.iter().zip([7.3, 6.7, 9.6]) {
            assert_near(self_consistent_maximum_average_queue(red, &[22.0; 2]), paper, 0.12 * paper);
        }
    }
}
