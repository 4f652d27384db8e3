//! Parameters of a filter.

use super::FilterError;
use airtcp_wire::Dur;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The thresholds that paper 001 §VI considers.
const THRESHOLDS: RangeInclusive<u32> = 3..=12;
const FLOWS: RangeInclusive<u32> = 16..=1 << 20;
const IDLE: RangeInclusive<Dur> = Dur::from_secs(1)..=Dur::from_secs(86_400);

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Parameters {
    /// redefine3DupAck (paper 001 §VI): number of the mobile host's duplicate ACKs after which the fixed host
    /// has seen three. 3, 6, 9 or 12; with 3 all pass.
    pub threshold: u32,
    /// Drop old and duplicate ACKs.
    pub ack_filter: bool,
    /// Drop data that has been acknowledged already.
    pub data_filter: bool,
    /// Silence after which a flow is forgotten: 1 s to a day.
    pub idle: Dur,
    /// Flows remembered at once, with some 256 bytes of kernel memory each. A further one replaces one that was
    /// silent for long. 16 to 1 048 576; fixed while the filter is attached.
    pub max_flows: u32,
}

impl Default for Parameters {
    fn default() -> Parameters {
        let (threshold, idle) = (6, Dur::from_secs(300));
        Parameters { threshold, ack_filter: true, data_filter: true, idle, max_flows: 16_384 }
    }
}

impl Parameters {
    /// # Errors
    /// The first value that is not possible, and what is.
    pub fn check(&self) -> Result<(), FilterError> {
        let wrong = |text: String| Err(FilterError::Parameters(text));
        if !THRESHOLDS.contains(&self.threshold) || !self.threshold.is_multiple_of(3) {
            return wrong(format!("ACK threshold {}: must be 3, 6, 9 or 12", self.threshold));
        }
        if !IDLE.contains(&self.idle) {
            return wrong(format!("idle time {}: must be {} to {}", self.idle, IDLE.start(), IDLE.end()));
        }
        if !FLOWS.contains(&self.max_flows) {
            return wrong(format!("{} flows: must be {} to {}", self.max_flows, FLOWS.start(), FLOWS.end()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_told_with_what_can() {
        let refused = |change: fn(&mut Parameters)| {
            let mut parameters = Parameters::default();
            change(&mut parameters);
            parameters.check().unwrap_err().to_string()
        };
        assert!(Parameters::default().check().is_ok());
        assert!(refused(|p| p.threshold = 5).contains("3, 6, 9 or 12"));
        assert!(refused(|p| p.threshold = 15).contains("15"));
        assert!(refused(|p| p.idle = Dur::ZERO).contains("1s to "));
        assert!(refused(|p| p.max_flows = 0).contains("16 to 1048576"));
    }
}
