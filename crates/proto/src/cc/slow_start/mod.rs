//! Slow start, which can be combined with any avoidance.

mod hystart;
mod hystart_plus_plus;

use super::{Ack, Build, Window};
use hystart::Hystart;
use hystart_plus_plus::HystartPlusPlus;

/// Which slow start a connection uses.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStartKind {
    /// RFC 5681 §3.1, counting bytes as `byte_counting_limit` says.
    #[default]
    Classic,
    /// HyStart (Ha and Rhee 2011) as in Linux's CUBIC: leaves on a long train of ACKs or a longer RTT.
    Hystart,
    /// HyStart++ (RFC 9406), until the first loss or the end of the first slow start; classic after that.
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
}

/// The growth of cwnd below ssthresh.
#[derive(Clone, Debug)]
pub struct SlowStart {
    /// Bytes that one ACK may count for: L·SMSS of RFC 3465 §2.2; `u64::MAX` for any number.
    limit: u64,
    /// What ends slow start before a loss does, if anything. Boxed, since most connections are past it.
    exit: Option<Box<Exit>>,
    kind: SlowStartKind,
    is_paced: bool,
    /// RFC 3465 §2.3: after a timeout L = 1, since the ACK of a repaired hole covers what left the network long ago. Without a limit
    /// (Linux), the caller counts only newly delivered bytes.
    has_timed_out: bool,
}

#[derive(Clone, Debug)]
enum Exit {
    Hystart(Hystart),
    PlusPlus(HystartPlusPlus),
}

impl SlowStart {
    pub fn new(build: &Build) -> SlowStart {
        let kind = build.slow_start.unwrap_or_default();
        let exit = match kind {
            SlowStartKind::Classic => None,
            SlowStartKind::Hystart => Some(Exit::Hystart(Hystart::new(build.is_paced))),
            SlowStartKind::HystartPlusPlus => Some(Exit::PlusPlus(HystartPlusPlus::new(build))),
        };
        SlowStart {
            limit: build.byte_counting_bytes(),
            exit: exit.map(Box::new),
            kind,
            is_paced: build.is_paced,
            has_timed_out: false,
        }
    }

    /// Bytes that one ACK may count for outside slow start.
    #[inline]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes every ACK, before growth. Duplicate ACKs announce a loss and say nothing about a queue.
    #[inline]
    pub fn observe(&mut self, ack: &Ack, window: &mut Window) {
        let Some(exit) = &mut self.exit else { return };
        let is_over = match &mut **exit {
            _ if ack.is_duplicate || !window.in_slow_start() => return,
            Exit::Hystart(hystart) => hystart.finds_exit(ack, window),
            Exit::PlusPlus(hystart) => hystart.is_over(ack),
        };
        if is_over {
            window.ssthresh = window.cwnd;
            self.exit = None;
        }
    }

    /// Can only a loss end it?
    #[inline]
    pub fn is_classic(&self) -> bool {
        self.exit.is_none()
    }

    /// Grows by `acked` new bytes while cwnd is below ssthresh. Returns how many of them were not needed to get there, and count in
    /// congestion avoidance.
    #[inline]
    pub fn increase(&mut self, acked: u64, window: &mut Window, gain: f64) -> u64 {
        let (limit, divisor) = match self.exit.as_deref() {
            Some(Exit::PlusPlus(hystart)) => (hystart.limit, hystart.growth_divisor()),
            _ if self.has_timed_out => (self.limit.min(window.mss()), 1.0),
            _ => (self.limit, 1.0),
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
        self.exit = match self.kind {
            // Linux looks for the exit again after each timeout, and only then.
            SlowStartKind::Hystart if is_timeout => {
                Some(Box::new(Exit::Hystart(Hystart::new(self.is_paced))))
            }
            // RFC 9406 §4.3: HyStart++ is for the initial slow start only.
            _ => None,
        };
        self.has_timed_out |= is_timeout && self.limit != u64::MAX;
    }
}
