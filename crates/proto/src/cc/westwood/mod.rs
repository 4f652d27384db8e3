//! The Westwood family: after a loss the window is B·RTTmin, where B is the measured bandwidth.
//!
//! The members differ in how they estimate B from the ACKs.

mod filter;
pub mod nr;
pub mod original;
pub mod plus;
pub mod vt;

use super::{Ack, Avoidance, Congestion, Window};
use airtcp_wire::{Dur, Time};

/// How a member estimates the available bandwidth.
pub trait Estimator: Send + Clone {
    /// Takes an ACK. `acked`: the bytes that [`AckedCount`] counts for it.
    fn sample(&mut self, ack: &Ack, acked: u64, mss: u64);

    /// B in bytes per second; zero before the first sample.
    fn bandwidth(&self) -> f64;

    /// ssthresh in bytes, given a `pipe` of B·RTTmin bytes.
    fn ssthresh(&mut self, pipe: f64, _event: &Congestion, _window: &Window) -> f64 {
        pipe
    }
}

/// Reno's growth, with the estimate in place of half the window. A loss never enlarges the window, even if B·RTTmin is larger.
#[derive(Clone, Debug)]
pub struct Westwood<E> {
    count: AckedCount,
    estimator: E,
    /// RTTmin; [`Dur::MAX`] while it is unknown.
    min_rtt: Dur,
    /// The clock's tick, in which RTTmin is measured; zero for an exact clock.
    tick: Dur,
}

impl<E: Estimator> Westwood<E> {
    /// `min_rtt`: RTTmin before the first measurement; [`Dur::MAX`] for none.
    pub fn new(estimator: E, min_rtt: Dur, tick: Dur) -> Westwood<E> {
        Westwood { count: AckedCount::default(), estimator, min_rtt, tick }
    }

    /// B·RTTmin in bytes; zero while either is unknown.
    fn pipe(&self) -> f64 {
        if self.min_rtt == Dur::MAX { 0.0 } else { self.estimator.bandwidth() * self.min_rtt.as_secs_f64() }
    }
}

impl<E: Estimator> Avoidance for Westwood<E> {
    fn observe(&mut self, ack: &Ack, window: &mut Window) {
        self.min_rtt = self.min_rtt.min(in_whole_ticks(ack.min_rtt, self.tick));
        let acked = self.count.count(ack, window.mss());
        self.estimator.sample(ack, acked, window.mss());
    }

    fn increase(&mut self, _ack: &Ack, acked: u64, window: &mut Window) {
        window.grow_additively(acked, 1.0);
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        let ssthresh = self.estimator.ssthresh(self.pipe(), event, window);
        Some(window.ssthresh_for(ssthresh))
    }
}

/// `time` in whole ticks, rounded down but at least one.
fn in_whole_ticks(time: Dur, tick: Dur) -> Dur {
    time.0.checked_div(tick.0).map_or(time, |ticks| tick * ticks.max(1))
}

/// The interval since the last bandwidth sample, and what was acknowledged in it.
#[derive(Clone, Debug, Default)]
struct Interval {
    start: Option<Time>,
    bytes: u64,
}

impl Interval {
    /// Adds `acked` bytes. Once the interval is `at_least` long and not empty, returns its bytes and seconds and begins a new one. The
    /// first ACK only starts the clock.
    fn close(&mut self, now: Time, acked: u64, at_least: Dur) -> Option<(f64, f64)> {
        let Some(start) = self.start else {
            self.start = Some(now);
            return None;
        };
        self.bytes += acked;
        let length = now.since(start);
        if length == Dur::ZERO || length < at_least || self.bytes == 0 {
            return None;
        }
        self.start = Some(now);
        Some((std::mem::take(&mut self.bytes) as f64, length.as_secs_f64()))
    }
}

/// A first-order low-pass filter in Tustin's approximation.
#[derive(Clone, Debug, Default)]
struct LowPass {
    output: f64,
    last_sample: f64,
}

impl LowPass {
    /// `ratio` is τ/Δ: the time constant over the time since the last sample. MobiCom 2001 §2.2:
    /// b̂ₖ = ((2τ − Δ)·b̂ₖ₋₁ + Δ·(bₖ + bₖ₋₁))/(2τ + Δ).
    fn filter(&mut self, sample: f64, ratio: f64) {
        self.output = ((2.0 * ratio - 1.0) * self.output + sample + self.last_sample) / (2.0 * ratio + 1.0);
        self.last_sample = sample;
    }
}

/// The same filter over samples of any length. While no ACK comes, it takes samples of zero (MobiCom 2001 §2.2).
#[derive(Clone, Debug)]
struct TimedLowPass {
    /// Time constant in seconds.
    tau: f64,
    /// Seconds without an ACK that count as a sample of zero: τ/m.
    silence: f64,
    filter: LowPass,
}

/// If the rest of a silence is shorter than this, the last virtual sample is left out and its time goes to the ACK: the sample of an
/// ACK just after a virtual one would be huge (the authors' ns-2 code).
const SHORTEST_REST_S: f64 = 0.01;

/// More virtual samples in a row than this do not change the estimate, which is then zero.
const MAX_VIRTUAL_SAMPLES: u32 = 512;

impl TimedLowPass {
    fn new(tau: f64, virtual_samples: f64) -> TimedLowPass {
        TimedLowPass { tau, silence: tau / virtual_samples, filter: LowPass::default() }
    }

    /// `bytes` were acknowledged in `length` seconds.
    fn take(&mut self, bytes: f64, length: f64) {
        let rest = self.filter_silence(length);
        self.filter.filter(bytes / rest, self.tau / rest);
    }

    /// Takes a virtual sample of zero for each whole period of `length`. Returns the rest.
    fn filter_silence(&mut self, length: f64) -> f64 {
        let mut periods = (length / self.silence) as u32;
        let mut rest = length - f64::from(periods) * self.silence;
        if periods > 0 && rest < SHORTEST_REST_S.min(self.silence) {
            periods -= 1;
            rest = self.silence;
        }
        for _ in 0..periods.min(MAX_VIRTUAL_SAMPLES) {
            self.filter.filter(0.0, self.tau / self.silence);
        }
        rest
    }
}

/// How much of what an ACK acknowledges has arrived since the previous ACK (Mascolo et al. 2001, §2.3, procedure AckedCount). A
/// duplicate ACK stands for one segment, which the cumulative ACK that follows does not count again.
#[derive(Clone, Debug, Default)]
pub struct AckedCount {
    accounted_for: u64,
}

impl AckedCount {
    /// Bytes that `ack` counts for.
    pub fn count(&mut self, ack: &Ack, mss: u64) -> u64 {
        if ack.is_duplicate {
            self.accounted_for += mss;
            return mss;
        }
        if ack.acked <= mss {
            return ack.acked;
        }
        if self.accounted_for >= ack.acked {
            self.accounted_for -= ack.acked;
            return mss;
        }
        ack.acked - std::mem::take(&mut self.accounted_for)
    }
}
