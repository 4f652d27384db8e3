//! Slow start and congestion avoidance combined: most controllers are an [`Avoidance`] inside [`Composed`].

use super::slow_start::SlowStart;
use super::{Ack, Build, Cause, Congestion, CongestionControl, Limits, PlainAck, WindowRules};
use airtcp_wire::{Rate, Time};

/// Largest cwnd in bytes: 1024 times the largest window that TCP can advertise (RFC 7323 §2.3).
const MAX_WINDOW: u64 = 1 << 40;
/// No cwnd is that large.
const NO_WINDOW: u64 = u64::MAX;

/// Converts a number of bytes up to [`MAX_WINDOW`]. The conversion of a signed number takes one instruction.
#[inline]
fn float(bytes: u64) -> f64 {
    bytes as i64 as f64
}

/// The congestion window, in bytes, shared by slow start and avoidance.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub cwnd: u64,
    pub ssthresh: u64,
    mss: u32,
    pub rules: WindowRules,
    /// Loss window in segments.
    loss_segments: u16,
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
            mss: build.mss as u32,
            rules: build.windows,
            loss_segments: u16::try_from(build.loss_window / build.mss).unwrap_or(u16::MAX),
            remainder: 0.0,
            counted: 0.0,
        }
    }

    /// Payload bytes of a full segment.
    #[inline(always)]
    pub fn mss(&self) -> u64 {
        self.mss.into()
    }

    /// cwnd after a timeout (RFC 5681 §3.1), in bytes.
    pub fn loss_window(&self) -> u64 {
        self.mss() * u64::from(self.loss_segments.max(1))
    }

    /// Grows by a fractional number of bytes. cwnd rises by whole units as they accumulate.
    #[inline]
    pub fn grow(&mut self, bytes: f64) {
        let total = self.remainder + bytes.clamp(0.0, MAX_WINDOW as f64);
        let whole = self.in_units(total);
        self.remainder = total - float(whole);
        self.cwnd = (self.cwnd + whole).min(MAX_WINDOW);
    }

    /// As `grow_additively` by one segment, if that only counts and leaves cwnd alone. Returns whether it does so; if not, nothing
    /// has changed.
    #[inline]
    pub fn try_count(&mut self, acked: u64) -> bool {
        let counted = self.counted + float(acked);
        let is_counted = self.rules == WindowRules::Linux && counted < float(self.cwnd);
        if is_counted {
            self.counted = counted;
        }
        is_counted
    }

    /// Additive increase: by `segments` per window's worth of acknowledged bytes (RFC 5681 §3.1; eq. (3) if an ACK counts for one
    /// segment).
    #[inline]
    pub fn grow_additively(&mut self, acked: u64, segments: f64) {
        let counted = segments * float(acked);
        match self.rules {
            WindowRules::Linux => self.count_up(counted),
            _ => self.grow(counted * float(self.mss()) / float(self.cwnd)),
        }
    }

    /// Grows by a segment for each window's worth of counted bytes.
    #[inline]
    fn count_up(&mut self, bytes: f64) {
        let counted = self.counted + bytes;
        match counted < float(self.cwnd) {
            true => self.counted = counted,
            false => self.count_full(bytes),
        }
    }

    /// As `count_up`, if cwnd grows. What was counted towards a larger window makes one segment at most.
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
            self.grow((segments + whole) * float(self.mss()));
        }
    }

    /// After a reduction, a window of whole segments forgets fractions of one.
    fn forget_fractions(&mut self) {
        if self.rules == WindowRules::Linux {
            self.remainder = 0.0;
            self.counted = 0.0;
        }
    }

    /// Bytes that an ACK counts for when the window grows. What SACK reported earlier left the network then, and does not count again
    /// when the hole closes. In Linux, an ACK that advances SND.UNA counts for all segments that it reports.
    #[inline]
    fn bytes_counted(&self, ack: &Ack) -> u64 {
        match self.rules {
            WindowRules::Linux if ack.acked == 0 => 0,
            WindowRules::Linux => self.whole(ack.delivered),
            _ => ack.acked.min(ack.delivered),
        }
    }

    /// Bytes that have arrived, for Linux rounded to whole segments.
    #[inline]
    fn whole(&self, delivered: u64) -> u64 {
        match self.rules {
            WindowRules::Linux if delivered == self.mss() || delivered == 2 * self.mss() => delivered,
            WindowRules::Linux => {
                let segments = (delivered + self.mss() / 2) / self.mss();
                segments.max(u64::from(delivered > 0)) * self.mss()
            }
            _ => delivered,
        }
    }

    /// Sending begins again after `rtos` whole RTOs of idleness, with `restart_window` at least.
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

    /// cwnd with the growth not yet credited to it.
    pub fn exact_cwnd(&self) -> f64 {
        self.cwnd as f64 + self.remainder
    }

    /// Sets cwnd to `bytes`, within its bounds. A fraction is kept as growth not yet credited.
    pub fn set_exact_cwnd(&mut self, bytes: f64) {
        let bytes = bytes.clamp(self.mss() as f64, MAX_WINDOW as f64);
        self.cwnd = self.in_units(bytes).max(self.mss());
        self.remainder = bytes - self.cwnd as f64;
    }

    /// ssthresh for `bytes`: never less than two segments (RFC 5681 §3.1 eq. (4)).
    pub fn ssthresh_for(&self, bytes: f64) -> u64 {
        self.in_units(bytes).max(2 * self.mss())
    }

    /// `bytes` rounded down to the unit of cwnd and ssthresh: bytes, or for Linux segments.
    #[inline]
    fn in_units(&self, bytes: f64) -> u64 {
        let bytes = bytes.max(0.0) as i64 as u64;
        match self.rules {
            WindowRules::Linux => bytes / self.mss() * self.mss(),
            _ => bytes,
        }
    }

    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// cwnd in segments.
    #[inline]
    pub fn segments(&self) -> f64 {
        self.cwnd as f64 / self.mss() as f64
    }
}

/// How a loss-based controller behaves outside slow start. Implement `increase` and `reduce`; all else has defaults.
/// [`Ack::rate`] holds only totals, unless the controller [reads it](Avoidance::reads_rate).
pub trait Avoidance: Send + Clone {
    /// Grows the window: new data was acknowledged in congestion avoidance, outside recovery, and the window limited the sender.
    /// `acked` are the bytes that count: fewer than `ack.acked` if byte counting is limited or slow start has used some.
    fn increase(&mut self, ack: &Ack, acked: u64, window: &mut Window);

    /// Whether the controller reads no more of an ACK than [`PlainAck`] holds: then `observe_plain` and `increase_plain` do all that
    /// `observe` and `increase` do, and `slow_start` is the default one.
    const TAKES_PLAIN_ACKS: bool = false;

    /// As `observe`, for a controller that [takes plain ACKs](Avoidance::TAKES_PLAIN_ACKS).
    #[inline]
    fn observe_plain(&mut self, _ack: &PlainAck) {}

    /// As `increase`, for a controller that [takes plain ACKs](Avoidance::TAKES_PLAIN_ACKS).
    fn increase_plain(&mut self, _ack: &PlainAck, _acked: u64, _window: &mut Window) {}

    /// As `increase_plain`, if that leaves cwnd as it is, which is the common case. Returns whether it does so; if not, nothing has
    /// changed.
    #[inline]
    fn try_count(&mut self, _ack: &PlainAck, _acked: u64, _window: &mut Window) -> bool {
        false
    }

    /// A packet was lost or marked, or the timer expired. Returns the new ssthresh in bytes, to which cwnd falls if it is above, or
    /// `None` to leave both as they are; after a timeout, cwnd becomes the [loss window](Avoidance::loss_window) in either case.
    /// `event.flight_size` is at most cwnd at the loss. Not called for a repeated timeout.
    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64>;

    /// Applies `reduce` to the window. Returns whether that changed it.
    fn answer(&mut self, event: &Congestion, window: &mut Window) -> bool {
        let Some(ssthresh) = self.reduce(event, window) else { return false };
        window.ssthresh = ssthresh;
        window.cwnd = window.cwnd.min(ssthresh);
        window.forget_fractions();
        true
    }

    /// cwnd in bytes after a timeout, a repeated one included: by default the loss window of the stack. Called after `reduce`.
    fn loss_window(&self, _event: &Congestion, window: &Window) -> u64 {
        window.loss_window()
    }

    /// The timer has expired, perhaps repeatedly. Called after `reduce`.
    fn timed_out(&mut self) {}

    /// Takes every ACK, before growth, in recovery, too: for filters and RTT bookkeeping. May lower `ssthresh` to leave slow start,
    /// and set `cwnd` if the controller responds to more than losses.
    fn observe(&mut self, ack: &Ack, _window: &mut Window) {
        self.observe_plain(&ack.into());
    }

    /// Grows the window in slow start by `acked` new bytes, under the conditions of `increase`. Returns how many of them are left for
    /// that.
    #[inline]
    fn slow_start(&mut self, _ack: &Ack, acked: u64, window: &mut Window, slow_start: &mut SlowStart) -> u64 {
        slow_start.increase(acked, window, self.slow_start_gain())
    }

    /// Data has been sent. Called only for a controller that [hears of sends](Avoidance::hears_sends).
    #[inline]
    fn sent(&mut self, _sent: &Sent, _window: &mut Window) {}

    /// Does `sent` do anything?
    fn hears_sends(&self) -> bool {
        false
    }

    /// Sending begins again after idleness. cwnd has been reduced already.
    fn restart(&mut self, _now: Time, _window: &mut Window) {}

    /// Loss recovery is over.
    fn recovered(&mut self, _now: Time, _window: &mut Window) {}

    /// The last reduction was unnecessary and has been undone.
    fn restored(&mut self, _now: Time, _window: &mut Window) {}

    /// Factor by which slow start's growth is multiplied (Hybla's 2^ρ − 1, Vegas's every other round trip).
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

/// Data that has been sent, for [`Avoidance::sent`].
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub now: Time,
    pub bytes: u64,
    /// Bytes in flight, these included.
    pub in_flight: u64,
}

/// A controller composed of slow start and an avoidance.
pub struct Composed<A> {
    window: Window,
    slow_start: SlowStart,
    avoidance: A,
    /// Restart window after idleness: the initial one.
    restart_window: u64,
    /// cwnd at the losses that recovery is repairing; [`NO_WINDOW`] if it repairs none.
    lossy_window: u64,
    /// The avoidance before the last loss or timeout, if that reduced the window: restored if it proves spurious.
    before_reduction: Option<A>,
}

impl<A: Avoidance> Composed<A> {
    pub fn new(build: &Build, avoidance: A) -> Composed<A> {
        Composed {
            window: Window::new(build),
            slow_start: SlowStart::new(build),
            avoidance,
            restart_window: build.initial_window,
            lossy_window: NO_WINDOW,
            before_reduction: None,
        }
    }

    /// Grows by `acked` bytes: `slow_start` uses some of them and returns how many are left for `increase`.
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

    /// Bytes that an ACK counts for in `increase`: one ACK for all that was in flight before a reduction is not worth several windows.
    #[inline]
    fn most_counted(&self, acked: u64) -> u64 {
        acked.min(self.slow_start.limit()).min(self.window.cwnd)
    }

    /// Completes `on_plain_ack` for an ACK that changes the window. Returns true.
    // Not inlined, so that `on_plain_ack` need not save registers: most ACKs end there.
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
        // Behind a hole that stays open, SACK lets FlightSize grow without bound, and limited transmit adds to it (RFC 5681 §3.2).
        // What counts is the window in which the loss happened, for a timeout in recovery, too.
        if self.lossy_window == NO_WINDOW {
            self.lossy_window = self.window.cwnd;
        }
        let event = Congestion { flight_size: event.flight_size.min(self.lossy_window), ..*event };
        let has_reduced = self.avoidance.answer(&event, &mut self.window)
            || (event.cause == Cause::Timeout
                && self.avoidance.loss_window(&event, &self.window) < self.window.cwnd);
        // ECN-Echo is never spurious, and keeps what an earlier loss has saved.
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
        // RFC 3168 §6.1.2: no growth on an ACK with ECN-Echo. But a timeout's slow start continues while the receiver waits for CWR,
        // which no retransmission carries: as in Linux, the congestion has been answered already.
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
            self.lossy_window = NO_WINDOW;
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
        self.lossy_window = NO_WINDOW;
        self.avoidance.recovered(now, &mut self.window);
    }

    fn on_spurious(&mut self, now: Time, cwnd: u64, ssthresh: u64) {
        let Some(avoidance) = self.before_reduction.take() else { return };
        self.avoidance = avoidance;
        self.window.cwnd = cwnd.max(self.window.mss());
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
