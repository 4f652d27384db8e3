//! Slow start and congestion avoidance, joined: most controllers are an [`Avoidance`] inside [`Composed`].

use super::slow_start::SlowStart;
use super::{Ack, Build, Cause, Congestion, CongestionControl, Limits, PlainAck, WindowRules};
use airtcp_wire::{Rate, Time};

/// No cwnd is larger, in bytes: 1024 times the largest window that TCP can advertise (RFC 7323 §2.3).
const MAX_WINDOW: u64 = 1 << 40;

/// Of a number of bytes that a window can have. Signed numbers are converted in one instruction.
#[inline]
fn float(bytes: u64) -> f64 {
    bytes as i64 as f64
}

/// The congestion window, shared by slow start and avoidance. Bytes.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub mss: u64,
    pub rules: WindowRules,
    /// In whole numbers of this cwnd grows, and ssthresh is: bytes, or segments.
    unit: u64,
    /// Bytes of growth not yet credited to `cwnd`.
    remainder: f64,
    /// Linux's `snd_cwnd_cnt`: bytes acknowledged towards the next segment of additive increase.
    counted: f64,
}

impl Window {
    pub fn new(build: &Build) -> Window {
        Window {
            cwnd: build.initial_window.clamp(build.mss, MAX_WINDOW),
            ssthresh: build.initial_ssthresh,
            mss: build.mss,
            rules: build.windows,
            unit: match build.windows {
                WindowRules::Linux => build.mss,
                _ => 1,
            },
            remainder: 0.0,
            counted: 0.0,
        }
    }

    /// Grows by a fractional number of bytes; whole units are credited when they have come together.
    #[inline]
    pub fn grow(&mut self, bytes: f64) {
        let total = self.remainder + bytes.clamp(0.0, MAX_WINDOW as f64);
        let whole = self.in_units(total);
        self.remainder = total - float(whole);
        self.cwnd = (self.cwnd + whole).min(MAX_WINDOW);
    }

    /// As `grow_additively` by one segment, if that only counts and leaves cwnd alone. Returns whether it does; if not, nothing has
    /// changed.
    #[inline]
    pub fn try_count(&mut self, acked: u64) -> bool {
        let counted = self.counted + float(acked);
        let is_counted = self.rules == WindowRules::Linux && counted < float(self.cwnd);
        if is_counted {
            self.counted = counted;
        }
        is_counted
    }

    /// Additive increase: `segments` a window's worth of acknowledged bytes (RFC 5681 §3.1; eq. (3) where an ACK
    /// counts for one segment).
    #[inline]
    pub fn grow_additively(&mut self, acked: u64, segments: f64) {
        let counted = segments * float(acked);
        match self.rules {
            WindowRules::Linux => self.count_up(counted),
            _ => self.grow(counted * float(self.mss) / float(self.cwnd)),
        }
    }

    /// A segment for each window's worth of counted bytes.
    #[inline]
    fn count_up(&mut self, bytes: f64) {
        let counted = self.counted + bytes;
        match counted < float(self.cwnd) {
            true => self.counted = counted,
            false => self.count_full(bytes),
        }
    }

    /// The same where that makes a segment at least. What had come together for a larger window makes one at most.
    #[inline(never)]
    fn count_full(&mut self, bytes: f64) {
        let each = float(self.cwnd);
        let mut segments = 0.0;
        if self.counted >= each {
            (self.counted, segments) = (0.0, 1.0);
        }
        let whole = ((self.counted + bytes) / each) as i64 as f64;
        self.counted += bytes - whole * each;
        if segments + whole > 0.0 {
            self.grow((segments + whole) * float(self.mss));
        }
    }

    /// A window of whole segments forgets at a reduction what had not made one.
    fn begin_anew(&mut self) {
        if self.unit > 1 {
            self.remainder = 0.0;
            self.counted = 0.0;
        }
    }

    /// Bytes that an ACK counts for when the window grows. What SACK has reported before has left the network before: it
    /// does not count again when the hole closes. In Linux any ACK that advances SND.UNA counts
    /// for all segments that it reports.
    #[inline]
    fn bytes_counted(&self, ack: &Ack) -> u64 {
        match self.rules {
            WindowRules::Linux if ack.acked == 0 => 0,
            WindowRules::Linux => self.whole(ack.delivered),
            _ => ack.acked.min(ack.delivered),
        }
    }

    /// Bytes that have arrived, in Linux to the nearest whole segment.
    #[inline]
    fn whole(&self, delivered: u64) -> u64 {
        match self.rules {
            WindowRules::Linux if delivered == self.mss || delivered == 2 * self.mss => delivered,
            WindowRules::Linux => {
                let segments = (delivered + self.mss / 2) / self.mss;
                segments.max(u64::from(delivered > 0)) * self.mss
            }
            _ => delivered,
        }
    }

    /// Sending begins again after `rtos` idle RTOs and some more, with `restart_window` at least.
    fn restart(&mut self, restart_window: u64, rtos: u64) {
        let restart_window = restart_window.min(self.cwnd);
        match self.rules {
            // RFC 2861 §3.1.
            WindowRules::Linux => {
                self.ssthresh = self.ssthresh.max(self.in_units(0.75 * self.cwnd as f64));
                let halved = self.cwnd.checked_shr(u32::try_from(rtos).unwrap_or(u32::MAX)).unwrap_or(0);
                self.cwnd = self.in_units(halved as f64).max(restart_window);
            }
            // RFC 5681 §4.1.
            _ => self.cwnd = restart_window,
        }
    }

    /// cwnd with what has not been credited to it.
    pub fn exact_cwnd(&self) -> f64 {
        self.cwnd as f64 + self.remainder
    }

    /// Sets cwnd to `bytes`, within its bounds; a fraction counts when more has come together.
    pub fn set_exact_cwnd(&mut self, bytes: f64) {
        let bytes = bytes.clamp(self.mss as f64, MAX_WINDOW as f64);
        self.cwnd = self.in_units(bytes).max(self.mss);
        self.remainder = bytes - self.cwnd as f64;
    }

    /// The nearest permissible ssthresh to `bytes`: never under two segments (RFC 5681 §3.1 eq. (4)).
    pub fn ssthresh_for(&self, bytes: f64) -> u64 {
        self.in_units(bytes).max(2 * self.mss)
    }

    /// Rounded down.
    #[inline]
    fn in_units(&self, bytes: f64) -> u64 {
        let bytes = bytes.max(0.0) as i64 as u64;
        if self.unit == 1 { bytes } else { bytes / self.unit * self.unit }
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
/// Of [`Ack::rate`] only the totals are there, but for one that [reads it](Avoidance::reads_rate).
pub trait Avoidance: Send + Clone {
    /// New data acknowledged in congestion avoidance, outside recovery, while the window is what limits: grow.
    /// `acked`: the bytes that count, which is less than `ack.acked` where byte counting is limited or slow start has
    /// used some.
    fn increase(&mut self, ack: &Ack, acked: u64, window: &mut Window);

    /// It looks at no more of an ACK than [`PlainAck`] holds: `observe_plain` and `increase_plain` do all that `observe` and
    /// `increase` do, and `slow_start` is the default.
    const TAKES_PLAIN_ACKS: bool = false;

    /// As `observe` where it [takes plain ACKs](Avoidance::TAKES_PLAIN_ACKS).
    #[inline]
    fn observe_plain(&mut self, _ack: &PlainAck) {}

    /// As `increase` where it [takes plain ACKs](Avoidance::TAKES_PLAIN_ACKS).
    fn increase_plain(&mut self, _ack: &PlainAck, _acked: u64, _window: &mut Window) {}

    /// As `increase_plain`, if that leaves the window as it is, as it does most of the time. Returns whether it does; if not, nothing
    /// has changed.
    #[inline]
    fn try_count(&mut self, _ack: &PlainAck, _acked: u64, _window: &mut Window) -> bool {
        false
    }

    /// Something was lost or marked, or the timer expired: the new ssthresh in bytes, to which cwnd falls if it is above, or
    /// `None` to leave both as they are, but for what a timeout makes of cwnd ([`Avoidance::loss_window`]).
    /// `event.flight_size` is at most cwnd at the loss. Not called for a repeated timeout.
    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64>;

    /// As `reduce` says, or what else it makes of the window. Has it changed any of it?
    fn answer(&mut self, event: &Congestion, window: &mut Window) -> bool {
        let Some(ssthresh) = self.reduce(event, window) else { return false };
        window.ssthresh = ssthresh;
        window.cwnd = window.cwnd.min(ssthresh);
        window.begin_anew();
        true
    }

    /// cwnd in bytes after a timeout, a repeated one too: the loss window of one full-sized segment (RFC 5681 §3.1).
    /// Asked after `reduce`.
    fn loss_window(&self, _event: &Congestion, window: &Window) -> u64 {
        window.mss
    }

    /// The timer has expired, perhaps again, after `reduce` if that was asked.
    fn timed_out(&mut self) {}

    /// Every ACK, before growth, also in recovery: filters and RTT bookkeeping. May lower `ssthresh` to leave slow
    /// start, and set `cwnd` where the controller answers to more than losses.
    fn observe(&mut self, ack: &Ack, _window: &mut Window) {
        self.observe_plain(&ack.into());
    }

    /// `acked` new bytes in slow start, under the conditions of `increase`. Returns how many of them are left for that.
    #[inline]
    fn slow_start(&mut self, _ack: &Ack, acked: u64, window: &mut Window, slow_start: &mut SlowStart) -> u64 {
        slow_start.increase(acked, window, self.slow_start_gain())
    }

    /// Data has been sent. Only one that [hears](Avoidance::hears_sends) of it is told.
    #[inline]
    fn sent(&mut self, _sent: &Sent, _window: &mut Window) {}

    fn hears_sends(&self) -> bool {
        false
    }

    /// Sending begins again after idleness, with cwnd reduced to the restart window.
    fn restart(&mut self, _now: Time, _window: &mut Window) {}

    /// Loss recovery is over.
    fn recovered(&mut self, _now: Time, _window: &mut Window) {}

    /// The last reduction was unnecessary and has been undone.
    fn restored(&mut self, _now: Time, _window: &mut Window) {}

    /// Factor on slow start's growth (Hybla's 2^ρ − 1, Vegas's every other round trip).
    fn slow_start_gain(&self) -> f64 {
        1.0
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn reads_rate(&self) -> bool {
        false
    }

    fn governs_recovery(&self) -> bool {
        false
    }
}

/// What [`Avoidance::sent`] is told.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub now: Time,
    pub bytes: u64,
    /// With them.
    pub in_flight: u64,
}

/// A controller made of a slow start and an avoidance.
pub struct Composed<A> {
    window: Window,
    slow_start: SlowStart,
    avoidance: A,
    /// Bytes that one ACK may count for.
    byte_counting_limit: u64,
    /// Restart window after idleness: the initial one.
    restart_window: u64,
    /// cwnd when the losses that are being recovered from happened.
    lossy_window: Option<u64>,
    /// The avoidance as it was before the last loss or timeout, if that reduced the window: put back if it was spurious.
    before_reduction: Option<A>,
}

impl<A: Avoidance> Composed<A> {
    pub fn new(build: &Build, avoidance: A) -> Composed<A> {
        Composed {
            window: Window::new(build),
            slow_start: SlowStart::new(build),
            avoidance,
            byte_counting_limit: build.byte_counting_bytes(),
            restart_window: build.initial_window,
            lossy_window: None,
            before_reduction: None,
        }
    }

    /// `acked` bytes count: some for `slow_start`, which returns how many are left, the others for `increase`.
    #[inline]
    fn grow(
        &mut self,
        mut acked: u64,
        slow_start: impl FnOnce(&mut Self, u64) -> u64,
        increase: impl FnOnce(&mut Self, u64),
    ) {
        if acked > 0 && self.window.in_slow_start() {
            acked = slow_start(self, acked);
        }
        if acked > 0 {
            increase(self, self.most_counted(acked));
        }
    }

    /// One ACK of all that was in flight before a reduction is not worth several windows.
    #[inline]
    fn most_counted(&self, acked: u64) -> u64 {
        acked.min(self.byte_counting_limit).min(self.window.cwnd)
    }

    /// What a plain ACK does that changes the window. It has done everything then.
    // Not inlined: `on_plain_ack` saves no registers then, and most ACKs need nothing else.
    #[inline(never)]
    fn grow_plainly(&mut self, ack: &PlainAck, acked: u64, limits: &mut Limits) -> bool {
        self.grow(
            acked,
            |this, acked| this.slow_start.increase(acked, &mut this.window, 1.0),
            |this, counted| this.avoidance.increase_plain(ack, counted, &mut this.window),
        );
        (limits.cwnd, limits.ssthresh) = (self.window.cwnd, self.window.ssthresh);
        true
    }

    fn reduce(&mut self, event: &Congestion) {
        let before = self.avoidance.clone();
        // Behind a hole that stays open SACK lets FlightSize grow without bound, and limited transmit adds to it
        // (RFC 5681 §3.2): what counts is the window in which the loss happened, also for a timeout in recovery.
        let lossy_window = *self.lossy_window.get_or_insert(self.window.cwnd);
        let event = Congestion { flight_size: event.flight_size.min(lossy_window), ..*event };
        let has_reduced = self.avoidance.answer(&event, &mut self.window)
            || (event.cause == Cause::Timeout
                && self.avoidance.loss_window(&event, &self.window) < self.window.cwnd);
        // ECN-Echo is never spurious; it leaves standing what an earlier loss saved.
        if event.cause != Cause::Ecn {
            self.before_reduction = has_reduced.then_some(before);
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
        // RFC 3168 §6.1.2: no growth on an ACK with ECN-Echo. While the receiver waits for CWR, which no retransmission
        // carries, a timeout's slow start goes on, as in Linux: it has been answered to already.
        if ack.in_recovery || (ack.ece && !ack.in_loss) || !ack.is_cwnd_limited {
            return;
        }
        let acked = self.window.bytes_counted(ack);
        self.grow(
            acked,
            |this, acked| this.avoidance.slow_start(ack, acked, &mut this.window, &mut this.slow_start),
            |this, counted| this.avoidance.increase(ack, counted, &mut this.window),
        );
    }

    fn on_plain_ack(&mut self, ack: &PlainAck, limits: &mut Limits) -> bool {
        if !A::TAKES_PLAIN_ACKS || !self.slow_start.is_classic() {
            return false;
        }
        self.avoidance.observe_plain(ack);
        if !ack.is_cwnd_limited {
            return true;
        }
        let acked = self.window.whole(ack.acked);
        let most = self.most_counted(acked);
        let is_counted =
            most > 0 && !self.window.in_slow_start() && self.avoidance.try_count(ack, most, &mut self.window);
        is_counted || self.grow_plainly(ack, acked, limits)
    }

    fn on_congestion(&mut self, event: &Congestion) {
        // RFC 5681 §3.1: ssthresh is held constant when the timer expires again on the same segment.
        if !event.is_repeated_timeout {
            self.reduce(event);
        }
        if event.cause != Cause::Loss {
            self.lossy_window = None;
        }
        let is_timeout = event.cause == Cause::Timeout;
        if is_timeout {
            self.avoidance.timed_out();
            let kept = self.avoidance.loss_window(event, &self.window) + event.survivors;
            self.window.cwnd = kept.min(MAX_WINDOW);
        }
        self.slow_start.on_congestion(is_timeout);
    }

    fn on_recovery_exit(&mut self, now: Time) {
        self.lossy_window = None;
        self.avoidance.recovered(now, &mut self.window);
    }

    fn on_spurious(&mut self, now: Time, cwnd: u64, ssthresh: u64) {
        let Some(avoidance) = self.before_reduction.take() else { return };
        self.avoidance = avoidance;
        self.window.cwnd = cwnd.max(self.window.mss);
        self.window.ssthresh = ssthresh;
        self.avoidance.restored(now, &mut self.window);
    }

    fn on_restart(&mut self, now: Time, rtos: u64) {
        self.window.restart(self.restart_window, rtos);
        self.avoidance.restart(now, &mut self.window);
    }

    fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        self.avoidance.sent(&Sent { now, bytes, in_flight }, &mut self.window);
    }

    fn hears_sends(&self) -> bool {
        self.avoidance.hears_sends()
    }

    fn reads_rate(&self) -> bool {
        self.avoidance.reads_rate()
    }

    fn governs_recovery(&self) -> bool {
        self.avoidance.governs_recovery()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.avoidance.pacing_rate()
    }
}
