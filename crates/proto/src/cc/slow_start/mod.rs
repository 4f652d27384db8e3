//! Slow start, which composes with any avoidance.

mod hystart;

use super::{Ack, Build, Window};
use hystart::HystartPlusPlus;

/// Which slow start a connection uses.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStartKind {
    /// RFC 5681 §3.1, counting bytes as `byte_counting_limit` says.
    #[default]
    Classic,
    /// HyStart++ (RFC 9406), until the first loss or the end of the first slow start; classic after that.
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
}

/// The growth of cwnd below ssthresh.
#[derive(Clone, Debug)]
pub struct SlowStart {
    /// Bytes that one ACK may count for: L·SMSS of RFC 3465 §2.2; `u64::MAX` for any number.
    limit: u64,
    hystart: Option<HystartPlusPlus>,
    mss: u64,
}

impl SlowStart {
    pub fn new(build: &Build) -> SlowStart {
        let hystart = match build.slow_start {
            SlowStartKind::Classic => None,
            SlowStartKind::HystartPlusPlus => Some(HystartPlusPlus::new(build)),
        };
        SlowStart { limit: build.byte_counting_bytes(), hystart, mss: build.mss }
    }

    /// Every ACK, before growth.
    #[inline]
    pub fn observe(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(hystart) = self.hystart.as_mut().filter(|_| window.in_slow_start()) {
            hystart.observe(ack);
            if hystart.is_over() {
                // RFC 9406 §4.2: congestion avoidance begins where conservative slow start ended.
                window.ssthresh = window.cwnd;
                self.hystart = None;
            }
        }
    }

    /// `acked` new bytes while cwnd is below ssthresh. Answers how many of them were not needed to get there: they
    /// count in congestion avoidance.
    #[inline]
    pub fn increase(&mut self, acked: u64, window: &mut Window, gain: f64) -> u64 {
        let (limit, divisor) = match &self.hystart {
            None => (self.limit, 1.0),
            Some(hystart) => (hystart.limit(), hystart.growth_divisor()),
        };
        let counted = acked.min(limit);
        let bytes_per_byte = gain / divisor;
        let growth = counted as f64 * bytes_per_byte;
        let room = (window.ssthresh - window.cwnd) as f64;
        if growth <= room {
            window.grow(growth);
            return 0;
        }
        window.cwnd = window.ssthresh;
        counted - ((room / bytes_per_byte) as u64).min(counted)
    }

    /// Loss, timeout or ECN-Echo.
    pub fn on_congestion(&mut self, is_timeout: bool) {
        // RFC 9406 §4.3: HyStart++ is for the initial slow start only.
        self.hystart = None;
        if is_timeout {
            // RFC 3465 §2.3: after a timeout L = 1, as the ACK of a repaired hole covers what left the network long ago.
            // Without any limit (Linux) the caller's count of delivered bytes sees to that.
            self.limit = if self.limit == u64::MAX { self.limit } else { self.limit.min(self.mss) };
        }
    }
}
