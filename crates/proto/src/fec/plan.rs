//! The closed form: what is left of losses, and what it takes to leave little.

/// A number of sources and the repairs that cover all of them. Packets are lost independently of each other, each with probability
/// `loss`.
///
/// With any r of its repairs the decoder recovers any r sources. So something stays lost if and only if more packets are lost than
/// there are repairs, whichever they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    pub sources: u32,
    pub repairs: u32,
}

impl Plan {
    /// The probability that at least one source stays lost.
    pub fn failure(self, loss: f64) -> f64 {
        let Plan { sources, repairs } = self;
        1.0 - binomial(sources + repairs, loss).take(repairs as usize + 1).sum::<f64>()
    }

    /// The share of sources that stay lost. Of so many lost packets, sources have their part.
    pub fn residual(self, loss: f64) -> f64 {
        let packets = self.sources + self.repairs;
        let beyond = binomial(packets, loss).enumerate().skip(self.repairs as usize + 1);
        beyond.map(|(lost, probability)| probability * lost as f64).sum::<f64>() / f64::from(packets)
    }

    /// Repairs for each source.
    pub fn overhead(self) -> f64 {
        f64::from(self.repairs) / f64::from(self.sources)
    }

    /// The least repairs, at most twice the sources, that leave a probability of failure below `failure`. Packets are lost in bursts of
    /// this mean length: the bursts count as packets of as many packets each.
    pub fn least(sources: u32, loss: f64, burst: f64, failure: f64) -> Plan {
        let bursts = (f64::from(sources) / burst).ceil() as u32;
        let plans = (0..=2 * bursts).map(|repairs| Plan { sources: bursts, repairs });
        let enough = plans.into_iter().find(|plan| plan.failure(loss) < failure);
        let repairs = enough.map_or(2 * bursts, |plan| (f64::from(plan.repairs) * burst).ceil() as u32);
        Plan { sources, repairs: repairs.min(2 * sources) }
    }
}

/// The probabilities that 0, 1, 2, … of `n` are lost.
fn binomial(n: u32, loss: f64) -> impl Iterator<Item = f64> {
    let none = (0..n).fold(1.0, |product, _| product * (1.0 - loss));
    let ratio = move |k: u32| f64::from(n - k) / f64::from(k + 1) * loss / (1.0 - loss);
    let mut probability = none;
    (0..=n).map(move |k| {
        let this = probability;
        probability *= if k < n { ratio(k) } else { 0.0 };
        this
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_repairs_all_losses_are_left() {
        let plan = Plan { sources: 7, repairs: 0 };
        assert!((plan.residual(0.15) - 0.15).abs() < 1e-12);
        assert!((plan.failure(0.15) - (1.0 - 0.85_f64.powi(7))).abs() < 1e-12);
    }

    /// One source sent three times.
    #[test]
    fn repairs_of_one_source_are_copies() {
        let plan = Plan { sources: 1, repairs: 2 };
        assert!((plan.residual(0.1) - 1e-3).abs() < 1e-12 && (plan.failure(0.1) - 1e-3).abs() < 1e-12);
    }

    #[test]
    fn the_more_is_lost_the_more_repairs_it_takes() {
        let repairs = |loss, burst| Plan::least(8, loss, burst, 0.005).repairs;
        assert_eq!([0.0001, 0.01, 0.05, 0.15].map(|loss| repairs(loss, 1.0)), [0, 1, 3, 6]);
        assert_eq!(repairs(0.05, 2.0), 4);
        assert_eq!(repairs(0.9, 1.0), 16);
    }
}
