//! CUBIC as in Linux 6's `tcp_cubic`. It differs from RFC 9438:
//!
//! - windows are whole segments, and so is the distance from the plateau;
//! - the Reno-friendly window's α never rises to 1 (§4.3);
//! - while cwnd does not change, its pace of growth is recomputed [only 32 times a second](LOOK_EVERY);
//! - the target is that of one minimum RTT from now, not of one SRTT (§4.2);
//! - if the target is not above cwnd, cwnd grows by 1 % per round trip nevertheless (§4.2: not at all), and in a stage without a
//!   maximum of its own by at least 5 % (§4.10: as from the plateau).

use crate::cc::registry::Values;
use crate::cc::{Ack, Avoidance, Congestion, PlainAck, Window};
use airtcp_wire::{Dur, Time};

/// HZ / 32 at 1000 Hz.
const LOOK_EVERY: Dur = Dur::from_millis(31);

/// Windows in segments.
#[derive(Clone, Debug)]
pub struct Linux {
    beta: f64,
    c: f64,
    fast_convergence: bool,
    /// Reno with this β grows by a segment per (1 + β) / 3 (1 − β) windows: that number in eighths.
    eighths: u64,
    /// Zero before the first loss and after a timeout.
    w_max: u64,
    epoch: Option<Epoch>,
    /// cwnd in bytes when the pace was last computed, and when that was.
    looked: (u64, Time),
    /// ACKed segments for which cwnd grows by one, and how many have come.
    per_segment: u64,
    credit: u64,
    last_ack: Time,
    was_idle: bool,
}

/// A congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// The window at the plateau of the cubic function, and the seconds until then.
    origin: u64,
    k: f64,
    /// Reno's window, and the segments ACKed towards its next one.
    w_est: u64,
    acked: u64,
}

impl Linux {
    pub fn new(values: &Values) -> Linux {
        let beta = values.get("beta");
        Linux {
            beta,
            c: values.get("c"),
            fast_convergence: values.get("fast_convergence") >= 0.5,
            eighths: (8.0 * (1.0 + beta) / (3.0 * (1.0 - beta))) as u64,
            w_max: 0,
            epoch: None,
            looked: (0, Time::ZERO),
            per_segment: 0,
            credit: 0,
            last_ack: Time::ZERO,
            was_idle: false,
        }
    }

    fn start_epoch(&self, now: Time, cwnd: u64) -> Epoch {
        let origin = self.w_max.max(cwnd);
        let k = libm::cbrt((origin - cwnd) as f64 / self.c);
        Epoch { start: now, origin, k, w_est: cwnd, acked: 0 }
    }

    /// Is the pace of growth up to date, if there is an epoch?
    #[inline]
    fn knows_pace(&self, ack: &PlainAck, window: &Window) -> bool {
        let (looked_at, when) = self.looked;
        looked_at == window.cwnd && ack.now.since(when) <= LOOK_EVERY
    }

    /// Computes the pace of growth.
    fn look(&mut self, ack: &PlainAck, acked: u64, window: &Window) {
        let cwnd = window.cwnd / window.mss();
        let mut epoch = self.epoch.unwrap_or_else(|| self.start_epoch(ack.now, cwnd));
        epoch.acked += acked;
        self.looked = (window.cwnd, ack.now);
        // Before the first sample, SRTT is zero and the minimum RTT is not.
        let t = ack.now.since(epoch.start) + ack.min_rtt.min(ack.srtt);
        self.per_segment = self.pace(&mut epoch, t, cwnd);
        self.epoch = Some(epoch);
    }

    /// Segments to be ACKed for each segment by which cwnd grows.
    fn pace(&self, epoch: &mut Epoch, t: Dur, cwnd: u64) -> u64 {
        let from_plateau = t.as_secs_f64() - epoch.k;
        let distance = self.c * from_plateau * from_plateau * from_plateau;
        // The distance is rounded to whole segments.
        let target = epoch.origin.saturating_add_signed(distance as i64);
        let ahead = target.saturating_sub(cwnd);
        let cubic = cwnd.checked_div(ahead).unwrap_or(100 * cwnd);
        let cubic = if self.w_max == 0 { cubic.min(20) } else { cubic };
        let friendly = self.reno_friendly(epoch, cwnd);
        cubic.min(friendly).max(2)
    }

    /// As `pace`, for Reno with the α that belongs to β.
    fn reno_friendly(&self, epoch: &mut Epoch, cwnd: u64) -> u64 {
        let each = (cwnd * self.eighths / 8).max(1);
        let grown = epoch.acked.saturating_sub(1) / each;
        epoch.acked -= grown * each;
        epoch.w_est += grown;
        cwnd.checked_div(epoch.w_est.saturating_sub(cwnd)).unwrap_or(u64::MAX)
    }

    /// Grows cwnd after `acked` more segments. Credit that was collected at a slower pace makes it grow by one at most.
    fn grow(&mut self, acked: u64, window: &mut Window) {
        let mut grown = 0;
        if self.credit - acked >= self.per_segment {
            (self.credit, grown) = (acked, 1);
        }
        grown += self.credit / self.per_segment;
        self.credit %= self.per_segment;
        window.grow((grown * window.mss()) as f64);
    }
}

/// Most ACKs are for one or two segments, and a division is expensive.
#[inline]
fn segments(bytes: u64, mss: u64) -> u64 {
    match bytes {
        _ if bytes == mss => 1,
        _ if bytes == 2 * mss => 2,
        _ => bytes.div_ceil(mss),
    }
}

impl Avoidance for Linux {
    const TAKES_PLAIN_ACKS: bool = true;

    fn increase(&mut self, ack: &Ack, acked: u64, window: &mut Window) {
        self.increase_plain(&ack.into(), acked, window);
    }

    #[inline]
    fn observe_plain(&mut self, ack: &PlainAck) {
        let gap = ack.now.since(self.last_ack);
        if let Some(epoch) = &mut self.epoch
            && self.was_idle
        {
            epoch.start += gap.saturating_sub(ack.srtt);
        }
        self.last_ack = ack.now;
        self.was_idle = ack.in_flight == 0;
    }

    #[inline]
    fn try_count(&mut self, ack: &PlainAck, acked: u64, window: &mut Window) -> bool {
        let acked = segments(acked, window.mss());
        let credit = self.credit + acked;
        let is_counted = self.knows_pace(ack, window) && credit < self.per_segment;
        match &mut self.epoch {
            Some(epoch) if is_counted => (self.credit, epoch.acked) = (credit, epoch.acked + acked),
            _ => return false,
        }
        true
    }

    fn increase_plain(&mut self, ack: &PlainAck, acked: u64, window: &mut Window) {
        let acked = segments(acked, window.mss());
        let is_known = self.knows_pace(ack, window);
        match &mut self.epoch {
            Some(epoch) if is_known => epoch.acked += acked,
            _ => self.look(ack, acked, window),
        }
        self.credit += acked;
        if self.credit >= self.per_segment {
            self.grow(acked, window);
        }
    }

    fn reduce(&mut self, _event: &Congestion, window: &Window) -> Option<u64> {
        let cwnd = window.cwnd / window.mss();
        let falls = cwnd < self.w_max && self.fast_convergence;
        self.w_max = if falls { (cwnd as f64 * (1.0 + self.beta) / 2.0) as u64 } else { cwnd };
        self.epoch = None;
        self.credit = 0;
        Some(window.ssthresh_for((self.beta * cwnd as f64).floor() * window.mss() as f64))
    }

    fn timed_out(&mut self) {
        self.w_max = 0;
        self.epoch = None;
        self.credit = 0;
    }
}
