//! Slow start and congestion avoidance, joined: most controllers are an [`Avoidance`] inside [`Composed`].

use super::slow_start::SlowStart;
use super::{Ack, Build, Cause, Congestion, CongestionControl};
use airtcp_wire::{Rate, Time};

/// The congestion window, shared by slow start and avoidance. Bytes.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub mss: u64,
    /// Bytes of growth not yet credited to `cwnd`.
    remainder: f64,
}

impl Window {
    pub fn new(build: &Build) -> Window {
        Window {
            cwnd: build.initial_window,
            ssthresh: build.initial_ssthresh,
            mss: build.mss,
            remainder: 0.0,
        }
    }

    /// Grows by a fractional number of bytes; whole bytes are credited when they have come together.
    #[inline]
    pub fn grow(&mut self, bytes: f64) {
        let total = self.remainder + bytes.max(0.0);
        let whole = total as u64;
        self.remainder = total - whole as f64;
        self.cwnd = self.cwnd.saturating_add(whole);
    }

    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// cwnd in segments.
    #[inline]
    pub fn segments(&self) -> f64 {
        self.cwnd as f64 / self.mss as f64
    }
}

/// How a loss-based controller behaves outside slow start. Implement `increase` and `reduce`; the rest has defaults.
pub trait Avoidance: Send + Clone {
    /// New data acknowledged in congestion avoidance, outside recovery, while the window is what limits: grow.
    fn increase(&mut self, ack: &Ack, window: &mut Window);

    /// Something was lost or marked, or the timer expired: the new ssthresh in bytes, or `None` to leave the window
    /// as it is. On a timeout cwnd falls to one segment whatever is returned.
    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64>;

    /// Every ACK, before growth: filters and RTT bookkeeping. May lower `ssthresh` to leave slow start.
    fn observe(&mut self, _ack: &Ack, _window: &mut Window) {}

    /// Factor on slow start's growth (Hybla's 2^ρ − 1, Vegas's every other round trip).
    fn slow_start_gain(&self) -> f64 {
        1.0
    }

    /// cwnd after a loss that is not a timeout, given the new ssthresh.
    fn window_after_loss(&self, _window: &Window, ssthresh: u64) -> u64 {
        ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
}

/// A controller made of a slow start and an avoidance.
pub struct Composed<A> {
    window: Window,
    slow_start: SlowStart,
    avoidance: A,
    /// The avoidance as it was before the last reduction, to be put back if that was spurious.
    before_reduction: Option<A>,
}

impl<A: Avoidance> Composed<A> {
    pub fn new(build: &Build, avoidance: A) -> Composed<A> {
        Composed {
            window: Window::new(build),
            slow_start: SlowStart::new(build.slow_start),
            avoidance,
            before_reduction: None,
        }
    }
}

impl<A: Avoidance> CongestionControl for Composed<A> {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.window.ssthresh
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.avoidance.observe(ack, &mut self.window);
        self.slow_start.observe(ack, &mut self.window);
        if ack.acked == 0 || ack.in_recovery || !ack.is_cwnd_limited {
            return;
        }
        if self.window.in_slow_start() {
            self.slow_start.increase(ack, &mut self.window, self.avoidance.slow_start_gain());
        } else {
            self.avoidance.increase(ack, &mut self.window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.before_reduction = Some(self.avoidance.clone());
        let ssthresh = self.avoidance.reduce(event, &self.window);
        if let Some(ssthresh) = ssthresh.filter(|_| !event.is_repeated_timeout) {
            self.window.ssthresh = ssthresh;
        }
        match event.cause {
            // RFC 5681 §3.1: the loss window is one full-sized segment.
            Cause::Timeout => {
                self.window.cwnd = self.window.mss;
                self.slow_start.on_timeout();
            }
            Cause::Loss | Cause::Ecn => {
                if let Some(ssthresh) = ssthresh {
                    self.window.cwnd =
                        self.avoidance.window_after_loss(&self.window, ssthresh).max(self.window.mss);
                }
            }
        }
    }

    fn on_spurious(&mut self, _now: Time, cwnd: u64, ssthresh: u64) {
        if let Some(avoidance) = self.before_reduction.take() {
            self.avoidance = avoidance;
        }
        self.window.cwnd = cwnd;
        self.window.ssthresh = ssthresh;
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.avoidance.pacing_rate()
    }
}
