//! What a capture in the air tells of an 802.11 link.

use crate::layers::Air;
use crate::weighted_bins::WeightedBins;
use airtcp_wire::Rate;

/// Data frames to one station each.
#[derive(Clone, Debug, Default)]
pub struct AirCounts {
    pub frames: u64,
    pub retries: u64,
    pub encrypted: u64,
    rates: WeightedBins,
}

impl AirCounts {
    pub fn note(&mut self, air: Air) {
        self.frames += 1;
        self.retries += u64::from(air.is_retry);
        self.encrypted += u64::from(air.is_encrypted);
        if let Some(rate) = air.rate {
            self.rates.add(rate.0, 1.0);
        }
    }

    /// Returns the median of the rates at which frames were sent.
    pub fn median_rate(&self) -> Option<Rate> {
        self.rates.quantile(0.5).map(|rate| Rate(rate as u64))
    }

    /// Returns a sentence on the link's own retransmissions; empty if no frame was in the air.
    pub fn shown(&self) -> String {
        if self.frames == 0 {
            return String::new();
        }
        let share = 100.0 * self.retries as f64 / self.frames as f64;
        let rate = self.median_rate().map_or(String::new(), |rate| {
            format!("; the median rate in the air was {:.0} Mbit/s", rate.0 as f64 / 1e6)
        });
        format!("{share:.1} % of {} 802.11 data frames were sent again by the link itself{rate}", self.frames)
    }
}
