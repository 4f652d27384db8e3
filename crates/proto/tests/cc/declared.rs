//! What a controller declares of itself, and tests allow it.

use airtcp_proto::cc::registry::Exemption;
use airtcp_wire::Dur;

pub struct Declared(pub &'static [Exemption]);

impl Declared {
    pub fn is_delay_based(&self) -> bool {
        self.0.iter().any(|declared| matches!(declared, Exemption::DelayBased))
    }

    pub fn is_ecn_only(&self) -> bool {
        self.0.iter().any(|declared| matches!(declared, Exemption::EcnOnly))
    }

    /// Bytes by which the window may grow for each acknowledged byte.
    pub fn gain(&self, srtt: Dur) -> f64 {
        let gains = self.0.iter().filter_map(|declared| match declared {
            Exemption::Gain(gain) => Some(gain(srtt)),
            _ => None,
        });
        gains.fold(1.0, f64::max)
    }
}
