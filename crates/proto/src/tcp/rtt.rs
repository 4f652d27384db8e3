//! SRTT, RTTVAR and the RTO (RFC 6298).

use super::config::{RtoArithmetic, RtoConfig};
use airtcp_wire::{Dur, Time};
use std::sync::Arc;

/// A configuration, and what follows from it, for connections to share.
#[derive(Clone, Debug)]
pub struct RtoRules {
    config: RtoConfig,
    alpha: Gain,
    beta: Gain,
    /// No timer runs for a shorter time.
    least: Dur,
    /// Linux: RTTVAR does not fall below this, `min` divided by m.
    variance_floor: Dur,
}

impl RtoRules {
    pub fn new(config: &RtoConfig) -> RtoRules {
        RtoRules {
            alpha: Gain::new(config.alpha),
            beta: Gain::new(config.beta),
            // A ticking clock's first tick may be short.
            least: config.min.min(config.initial).min(config.max).saturating_sub(config.expire_tick),
            variance_floor: match config.min_on_variance {
                true => config.min.mul_f64(1.0 / config.factor.max(1.0)),
                false => Dur::ZERO,
            },
            config: config.clone(),
        }
    }
}

/// The RTT estimator and the retransmission timeout that follows from it.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    rules: Arc<RtoRules>,
    srtt: Dur,
    rttvar: Dur,
    has_sample: bool,
    /// No sample has ever been taken.
    is_initial: bool,
    /// SRTT and RTTVAR began with those of an earlier connection.
    is_shared: bool,
    /// There is a sample, no clock ticks, and RTTVAR falls slowly: Linux's arithmetic for all samples but the first.
    is_linuxs: bool,
    /// Expiries in a row.
    backoff: u32,
    /// The smallest sample of the connection.
    min: Dur,
    slow_decay: SlowDecay,
}

/// Linux: RTTVAR rises at once and falls once a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct SlowDecay {
    deviation: Dur,
    largest: Dur,
    round_end: u64,
}

impl RttEstimator {
    pub fn new(rules: &Arc<RtoRules>) -> RttEstimator {
        RttEstimator {
            rules: rules.clone(),
            srtt: Dur::ZERO,
            rttvar: Dur::ZERO,
            has_sample: false,
            is_initial: true,
            is_shared: false,
            is_linuxs: false,
            backoff: 0,
            min: Dur::MAX,
            slow_decay: SlowDecay::default(),
        }
    }

    /// Begins with SRTT and RTTVAR of an earlier connection to the same peer (RFC 9040).
    pub fn share(&mut self, srtt: Dur, rttvar: Dur) {
        self.on_first_sample(srtt, 0);
        self.rttvar = rttvar.max(self.rules.variance_floor);
        self.is_shared = true;
    }

    /// SRTT and RTTVAR, if they are known.
    pub fn known(&self) -> Option<(Dur, Dur)> {
        self.has_sample.then_some((self.srtt, self.rttvar))
    }

    /// Returns whether SRTT and RTTVAR follow from more than this connection's samples.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Takes `rtt` into account for [`min`](RttEstimator::min).
    #[inline]
    pub fn note_shortest(&mut self, rtt: Dur) {
        self.min = self.min.min(rtt);
    }

    /// A round trip that ends at `now` took `rtt`. SND.UNA and SND.NXT tell Linux's RTTVAR when a round trip is over.
    #[inline]
    pub fn on_sample(&mut self, now: Time, rtt: Dur, una: u64, nxt: u64) {
        // RFC 6298 §5.7 and Karn: an unambiguous sample ends the backoff.
        self.backoff = 0;
        match self.is_linuxs {
            true => self.slow_decay(rtt, una, nxt),
            false => self.on_other_sample(now, rtt, una, nxt),
        }
    }

    #[inline(never)]
    fn on_other_sample(&mut self, now: Time, rtt: Dur, una: u64, nxt: u64) {
        let RtoConfig { measure_tick, arithmetic, min_on_variance, .. } = self.rules.config;
        let rtt = in_ticks(now, rtt, measure_tick);
        if !self.has_sample {
            return self.on_first_sample(rtt, nxt);
        }
        match arithmetic {
            RtoArithmetic::Ticks => (self.srtt, self.rttvar) = self.smooth_in_ticks(rtt),
            _ if min_on_variance => self.slow_decay(rtt, una, nxt),
            _ => self.smooth(rtt, self.rules.beta.smooth(self.rttvar, self.error(rtt))),
        }
    }

    #[inline]
    fn error(&self, rtt: Dur) -> Dur {
        Dur(self.srtt.0.abs_diff(rtt.0))
    }

    /// RFC 6298 §2 (2.3): `rttvar` comes first, from the old SRTT.
    #[inline]
    fn smooth(&mut self, rtt: Dur, rttvar: Dur) {
        self.rttvar = rttvar;
        self.srtt = self.rules.alpha.smooth(self.srtt, rtt);
    }

    /// RFC 6298 §2 (2.2).
    #[cold]
    fn on_first_sample(&mut self, rtt: Dur, nxt: u64) {
        let RtoConfig { measure_tick, arithmetic, min_on_variance, .. } = self.rules.config;
        (self.has_sample, self.is_initial) = (true, false);
        self.is_linuxs = min_on_variance && arithmetic == RtoArithmetic::Exact && measure_tick == Dur::ZERO;
        self.srtt = rtt;
        self.rttvar = (rtt / 2).max(self.rules.variance_floor);
        self.slow_decay = SlowDecay { deviation: rtt / 2, largest: self.rttvar, round_end: nxt };
    }

    #[inline]
    fn slow_decay(&mut self, rtt: Dur, una: u64, nxt: u64) {
        let (beta, error) = (self.rules.beta, self.error(rtt));
        let state = &mut self.slow_decay;
        // A sudden fall of the RTT is not jitter: it counts an eighth.
        let gain = if rtt < self.srtt && error > state.deviation { beta.eighth() } else { beta };
        state.deviation = gain.smooth(state.deviation, error);
        state.largest = state.largest.max(state.deviation);
        let mut rttvar = self.rttvar.max(state.largest);
        if una > state.round_end {
            if state.largest < rttvar {
                rttvar = beta.smooth(rttvar, state.largest);
            }
            state.round_end = nxt;
            state.largest = self.rules.variance_floor;
        }
        self.smooth(rtt, rttvar);
    }

    /// ns-2: SRTT and RTTVAR after a sample, in integers that are cut off to whole ticks where those are needed.
    #[inline(never)]
    fn smooth_in_ticks(&self, rtt: Dur) -> (Dur, Dur) {
        let RtoConfig { measure_tick, alpha, beta, .. } = self.rules.config;
        // Without a tick, an eighth is a nanosecond.
        let tick = measure_tick.max(Dur(8));
        let (eighths, quarters) = (Fraction { tick, parts: 8 }, Fraction { tick, parts: 4 });
        let (srtt, rttvar) = (eighths.count(self.srtt), quarters.count(self.rttvar));
        let error = eighths.count(rtt) / 8 - srtt / 8;
        let srtt = srtt + (8.0 * alpha * error as f64) as i64;
        let rttvar = rttvar + (4.0 * beta * (error.abs() - rttvar / 4) as f64) as i64;
        (eighths.time(srtt), quarters.time(rttvar))
    }

    /// SRTT + m·RTTVAR within its bounds, before backoff.
    fn base(&self) -> Dur {
        let RtoConfig { initial, factor, granularity, min, max, min_on_variance, .. } = self.rules.config;
        if self.is_initial {
            // RFC 6298 §2 (2.1).
            return initial.min(max);
        }
        // RFC 6298 §2 (2.3): RTO = SRTT + max(G, K·RTTVAR).
        let spread = scale(self.rttvar, factor).max(granularity);
        let srtt = match self.rules.config.arithmetic {
            RtoArithmetic::Exact => self.srtt,
            RtoArithmetic::Ticks => whole_ticks(self.srtt, self.rules.config.measure_tick),
        };
        let rto = if min_on_variance { srtt + spread.max(min) } else { (srtt + spread).max(min) };
        rto.min(max)
    }

    /// The longest RTO.
    pub fn longest(&self) -> Dur {
        self.rules.config.max
    }

    /// The current RTO with backoff.
    #[inline]
    pub fn rto(&self) -> Dur {
        self.rto_after(self.backoff)
    }

    #[inline]
    fn rto_after(&self, expiries: u32) -> Dur {
        if expiries == 0 {
            return self.base();
        }
        Dur(self.base().0.saturating_mul(1 << expiries.min(30))).min(self.rules.config.max)
    }

    /// A lower bound of [`deadline`](RttEstimator::deadline), whatever the RTO will be.
    #[inline]
    pub fn earliest(&self, now: Time) -> Time {
        now + self.rules.least
    }

    /// When a timer of one RTO started at `now` expires.
    #[inline]
    pub fn deadline(&self, now: Time) -> Time {
        self.in_expiry_ticks(now, self.rto())
    }

    /// [`deadline`](RttEstimator::deadline) of a timer that itself has expired `expiries` times in a row.
    pub fn deadline_after(&self, now: Time, expiries: u32) -> Time {
        let expiries = if self.rules.config.backoff { expiries } else { 0 };
        self.in_expiry_ticks(now, self.rto_after(expiries))
    }

    #[inline]
    fn in_expiry_ticks(&self, now: Time, rto: Dur) -> Time {
        let tick = self.rules.config.expire_tick;
        if tick == Dur::ZERO {
            return now + rto;
        }
        // A ticking clock counts whole ticks down: the first one may be short.
        Time(now.0 / tick.0 * tick.0) + Dur(rto.0.div_ceil(tick.0) * tick.0)
    }

    /// The timer has expired (RFC 6298 §5.5).
    pub fn on_expiry(&mut self) {
        if self.rules.config.backoff {
            self.backoff += 1;
        }
        // ns-2: after so long a silence, the path may be another one.
        if self.rules.config.arithmetic == RtoArithmetic::Ticks && self.backoff >= 4 {
            self.has_sample = false;
        }
    }

    /// A timeout has proved spurious: keeps the RTO above the delay that caused it (RFC 4015 §3.2 step 9). `before` are SRTT
    /// and RTTVAR as [saved](RttEstimator::saved).
    pub fn on_spurious(&mut self, before: (Dur, Dur), sample: Option<Dur>) {
        let (srtt, rttvar) = before;
        (self.backoff, self.is_initial) = (0, false);
        self.srtt = srtt.max(sample.unwrap_or(Dur::ZERO));
        self.rttvar = rttvar.max(sample.unwrap_or(Dur::ZERO) / 2);
    }

    /// SRTT + 2·G and RTTVAR, as RFC 4015 §3.2 step 0 saves them.
    pub fn saved(&self) -> (Dur, Dur) {
        (self.srtt + self.rules.config.granularity * 2, self.rttvar)
    }

    #[inline]
    pub fn srtt(&self) -> Dur {
        self.srtt
    }

    pub fn rttvar(&self) -> Dur {
        self.rttvar
    }

    /// [`Dur::MAX`] before the first sample.
    #[inline]
    pub fn min(&self) -> Dur {
        self.min
    }
}

/// The weight of a new value in a moving average, at most 1, in 2⁻³¹.
#[derive(Clone, Copy, Debug)]
struct Gain(u32);

impl Gain {
    const BITS: u32 = 31;

    fn new(gain: f64) -> Gain {
        Gain((gain.clamp(0.0, 1.0) * f64::from(1u32 << Gain::BITS)).round() as u32)
    }

    #[inline]
    fn eighth(self) -> Gain {
        Gain(self.0 / 8)
    }

    /// The new average, to the nearest nanosecond. Signed numbers suffice: no round trip takes 292 years.
    #[inline]
    fn smooth(self, old: Dur, sample: Dur) -> Dur {
        let error = i128::from(sample.0.wrapping_sub(old.0) as i64);
        let step = (error * i128::from(self.0) + (1 << (Gain::BITS - 1))) >> Gain::BITS;
        Dur(old.0.wrapping_add(step as u64))
    }
}

fn scale(time: Dur, factor: f64) -> Dur {
    Dur((time.0 as f64 * factor + 0.5) as u64)
}

/// How often a clock ticked in the `rtt` up to `now`, at least once, as a time; without a tick, `rtt` itself.
#[inline]
fn in_ticks(now: Time, rtt: Dur, tick: Dur) -> Dur {
    let ticks_at = |time: u64| time.checked_div(tick.0);
    match (ticks_at(now.0), ticks_at(now.0.saturating_sub(rtt.0))) {
        (Some(end), Some(start)) => tick * (end - start).max(1),
        _ => rtt,
    }
}

fn whole_ticks(time: Dur, tick: Dur) -> Dur {
    time.0.checked_div(tick.0).map_or(time, |ticks| tick * ticks)
}

/// A tick's fraction as a unit of time.
#[derive(Clone, Copy)]
struct Fraction {
    tick: Dur,
    parts: u64,
}

impl Fraction {
    /// The number of these fractions that is nearest to `time`.
    fn count(self, time: Dur) -> i64 {
        ((time.0 * self.parts + self.tick.0 / 2) / self.tick.0) as i64
    }

    /// The time of `count` fractions, or of one if there are fewer.
    fn time(self, count: i64) -> Dur {
        Dur(self.tick.0 * count.max(1) as u64 / self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::profile;
    use proptest::prelude::*;

    fn estimator(config: RtoConfig) -> RttEstimator {
        RttEstimator::new(&Arc::new(RtoRules::new(&config)))
    }

    fn rfc() -> RttEstimator {
        estimator(profile::rfc().rto)
    }

    #[test]
    fn first_and_second_sample_follow_rfc6298_2() {
        let mut rtt = estimator(RtoConfig { min: Dur::ZERO, ..profile::rfc().rto });
        assert_eq!(rtt.rto(), Dur::from_secs(1));
        rtt.on_sample(Time::ZERO, Dur::from_millis(800), 0, 0);
        assert_eq!((rtt.srtt(), rtt.rttvar()), (Dur::from_millis(800), Dur::from_millis(400)));
        assert_eq!(rtt.rto(), Dur::from_millis(2400));
        rtt.on_sample(Time::ZERO, Dur::from_millis(400), 0, 0);
        assert_eq!((rtt.srtt(), rtt.rttvar()), (Dur::from_millis(750), Dur::from_millis(400)));
        assert_eq!(rtt.rto(), Dur::from_millis(2350));
    }

    #[test]
    fn backoff_doubles_up_to_the_ceiling_and_ends_with_a_sample_rfc6298_5_5() {
        let mut rtt = rfc();
        let rtos: Vec<_> = (0..8)
            .map(|_| {
                rtt.on_expiry();
                rtt.rto().as_millis() / 1000
            })
            .collect();
        assert_eq!(rtos, [2, 4, 8, 16, 32, 60, 60, 60]);
        rtt.on_sample(Time::ZERO, Dur::from_millis(100), 0, 0);
        assert_eq!(rtt.rto(), Dur::from_secs(1));
    }

    #[test]
    fn a_ticking_clock_expires_on_its_ticks() {
        let mut rtt = estimator(profile::bsd_1998().rto);
        rtt.on_sample(Time::ZERO, Dur::from_millis(10), 0, 0);
        assert_eq!(rtt.srtt(), Dur::from_millis(500));
        assert_eq!(rtt.deadline(Time(700_000_000)).0 % 500_000_000, 0);
    }

    /// An estimator after a hundred samples of `rtt_ms`, one each second.
    fn ns2_after(rtt_ms: u64) -> RttEstimator {
        let mut rtt = estimator(RtoConfig { min: Dur::ZERO, ..profile::ns2_2_35().rto });
        for at in 1..=100 {
            rtt.on_sample(Time(at * 1_000_000_000), Dur::from_millis(rtt_ms), 0, 0);
        }
        rtt
    }

    /// ns-2's tcp.cc: RTTVAR in quarters of a tick stays at three of them where the round trip never varies.
    #[test]
    fn ns2s_variance_does_not_decay_to_nothing() {
        let rtt = ns2_after(200);
        assert_eq!((rtt.srtt(), rtt.rttvar()), (Dur::from_millis(200), Dur::from_micros(7500)));
        assert_eq!(rtt.rto(), Dur::from_millis(230));
    }

    /// Times below a tick count as one.
    #[test]
    fn ns2_counts_whole_ticks() {
        assert_eq!(ns2_after(3).srtt(), Dur::from_millis(10));
        assert_eq!(ns2_after(204).rto(), Dur::from_millis(210 + 30));
    }

    /// tcp.cc, `rtt_backoff`: the next sample is as good as the first; until then the RTO stays.
    #[test]
    fn ns2_forgets_srtt_at_the_fourth_backoff() {
        for (expiries, rto_ms) in [(3, 230), (4, 600)] {
            let mut rtt = ns2_after(200);
            (0..expiries).for_each(|_| rtt.on_expiry());
            assert_eq!(rtt.rto(), Dur::from_millis(230 << expiries));
            rtt.on_sample(Time(200_000_000_000), Dur::from_millis(200), 0, 0);
            assert_eq!(rtt.rto(), Dur::from_millis(rto_ms), "{expiries}");
        }
    }

    #[test]
    fn linux_keeps_200_ms_above_srtt() {
        let mut rtt = estimator(profile::linux().rto);
        for _ in 0..100 {
            rtt.on_sample(Time::ZERO, Dur::from_millis(50), 0, 0);
        }
        assert_eq!(rtt.rto(), Dur::from_millis(250));
    }

    /// RFC 6298 §2 in integers: SRTT and RTTVAR in whole ns, to the nearest, and α, β and K as the RFC writes them.
    #[derive(Default)]
    struct Rfc6298 {
        state: Option<(u64, u64)>,
    }

    impl Rfc6298 {
        /// RTO in ns with clock granularity `g`, without the floor of (2.4).
        fn sample(&mut self, r: u64, g: u64) -> u64 {
            let (srtt, rttvar) = match self.state {
                None => (r, r / 2),
                Some((srtt, rttvar)) => ((7 * srtt + r + 4) / 8, (3 * rttvar + srtt.abs_diff(r) + 2) / 4),
            };
            self.state = Some((srtt, rttvar));
            srtt + g.max(4 * rttvar)
        }
    }

    proptest! {
        /// Paper 003: m = 4 is RFC 6298 to the nanosecond.
        #[test]
        fn m_of_4_is_rfc6298_to_the_nanosecond(
            samples in prop::collection::vec(1u64..100_000_000_000, 1..60), granularity in 0u64..500_000_000,
        ) {
            let rfc = profile::rfc().rto;
            let config = RtoConfig { granularity: Dur(granularity), min: Dur::ZERO, max: Dur::MAX, ..rfc };
            let (mut rtt, mut expected) = (estimator(config), Rfc6298::default());
            for sample in samples {
                rtt.on_sample(Time::ZERO, Dur(sample), 0, 0);
                prop_assert_eq!(rtt.rto().0, expected.sample(sample, granularity));
            }
        }

        #[test]
        fn rto_stays_within_its_bounds(samples in prop::collection::vec(0u64..200_000_000_000, 1..60), profile in 0usize..6) {
            let config = (profile::PROFILES[profile].config)().rto;
            let mut rtt = estimator(config.clone());
            for (i, &sample) in samples.iter().enumerate() {
                if sample % 3 == 0 { rtt.on_expiry() } else { rtt.on_sample(Time::ZERO, Dur(sample), i as u64, i as u64 + 10) }
                prop_assert!(rtt.rto() >= config.min.min(config.initial) && rtt.rto() <= config.max);
            }
        }
    }
}
