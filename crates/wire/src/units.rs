//! Times, durations and rates as integers, so that a run gives the same bytes on any machine.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An instant: nanoseconds since the driver's epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Time(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Dur(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Rate(pub u64);

pub const NANOS_PER_SEC: u64 = 1_000_000_000;

impl Time {
    pub const ZERO: Time = Time(0);
    /// Later than any instant that a machine names. It means "no deadline".
    pub const NEVER: Time = Time(u64::MAX);

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Time) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }

    #[inline]
    pub fn is_never(self) -> bool {
        self == Time::NEVER
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Rounds up to a multiple of `tick`; returns `self` if the tick is zero.
    pub fn round_up(self, tick: Dur) -> Time {
        if tick.0 == 0 { self } else { Time(self.0.div_ceil(tick.0).saturating_mul(tick.0)) }
    }
}

impl Dur {
    pub const ZERO: Dur = Dur(0);
    pub const MAX: Dur = Dur(u64::MAX);

    pub const fn from_secs(s: u64) -> Dur {
        Dur(s * NANOS_PER_SEC)
    }

    pub const fn from_millis(ms: u64) -> Dur {
        Dur(ms * 1_000_000)
    }

    pub const fn from_micros(us: u64) -> Dur {
        Dur(us * 1_000)
    }

    /// Rounded to the nearest nanosecond; negative and non-finite values become zero.
    pub fn from_secs_f64(s: f64) -> Dur {
        Dur((s * NANOS_PER_SEC as f64 + 0.5) as u64)
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    pub fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    pub fn saturating_sub(self, other: Dur) -> Dur {
        Dur(self.0.saturating_sub(other.0))
    }

    /// `self · factor`, rounded to the nearest nanosecond.
    pub fn mul_f64(self, factor: f64) -> Dur {
        Dur((self.0 as f64 * factor + 0.5) as u64)
    }
}

impl Rate {
    /// The time that `bytes` take at this rate; [`Dur::MAX`] if the rate is zero.
    #[inline]
    pub fn time_for(self, bytes: u64) -> Dur {
        match bytes.checked_mul(8 * NANOS_PER_SEC) {
            _ if self.0 == 0 => Dur::MAX,
            Some(bit_nanos) => Dur(bit_nanos / self.0),
            None => Dur((u128::from(bytes) * u128::from(8 * NANOS_PER_SEC) / u128::from(self.0)) as u64),
        }
    }

    /// Whole bytes that pass in `dur`.
    #[inline]
    pub fn bytes_in(self, dur: Dur) -> u64 {
        match self.0.checked_mul(dur.0) {
            Some(bit_nanos) => bit_nanos / (8 * NANOS_PER_SEC),
            None => (u128::from(self.0) * u128::from(dur.0) / u128::from(8 * NANOS_PER_SEC)) as u64,
        }
    }

    /// The rate that carries `bytes` in `dur`; zero if `dur` is zero.
    #[inline]
    pub fn of(bytes: u64, dur: Dur) -> Rate {
        match bytes.checked_mul(8 * NANOS_PER_SEC) {
            _ if dur.0 == 0 => Rate(0),
            Some(bit_nanos) => Rate(bit_nanos / dur.0),
            None => {
                let bit_nanos = u128::from(bytes) * u128::from(8 * NANOS_PER_SEC);
                Rate(u64::try_from(bit_nanos / u128::from(dur.0)).unwrap_or(u64::MAX))
            }
        }
    }

    pub fn mul_f64(self, factor: f64) -> Rate {
        Rate((self.0 as f64 * factor + 0.5) as u64)
    }
}

impl Add<Dur> for Time {
    type Output = Time;
    #[inline]
    fn add(self, d: Dur) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Dur> for Time {
    #[inline]
    fn add_assign(&mut self, d: Dur) {
        *self = *self + d;
    }
}

impl Sub<Dur> for Time {
    type Output = Time;
    #[inline]
    fn sub(self, d: Dur) -> Time {
        Time(self.0.saturating_sub(d.0))
    }
}

impl Add for Dur {
    type Output = Dur;
    #[inline]
    fn add(self, d: Dur) -> Dur {
        Dur(self.0.saturating_add(d.0))
    }
}

impl AddAssign for Dur {
    #[inline]
    fn add_assign(&mut self, d: Dur) {
        *self = *self + d;
    }
}

/// Panics if the result would be negative: use [`Dur::saturating_sub`] where that can happen.
impl Sub for Dur {
    type Output = Dur;
    #[inline]
    fn sub(self, d: Dur) -> Dur {
        Dur(self.0.checked_sub(d.0).expect("duration below zero"))
    }
}

impl SubAssign for Dur {
    #[inline]
    fn sub_assign(&mut self, d: Dur) {
        *self = *self - d;
    }
}

impl Mul<u64> for Dur {
    type Output = Dur;
    #[inline]
    fn mul(self, n: u64) -> Dur {
        Dur(self.0.saturating_mul(n))
    }
}

impl Div<u64> for Dur {
    type Output = Dur;
    #[inline]
    fn div(self, n: u64) -> Dur {
        Dur(self.0 / n)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}s", self.as_secs_f64())
    }
}

impl fmt::Display for Dur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, ["ns", "us", "ms", "s"])
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"])
    }
}

/// Writes a number in the largest of these units that it reaches. Each unit is a thousand times the one before.
pub(crate) fn write_scaled(f: &mut fmt::Formatter<'_>, number: u64, units: [&str; 4]) -> fmt::Result {
    let [one, kilo, mega, giga] = units;
    match number {
        n if n >= 1_000_000_000 => write!(f, "{}{giga}", n as f64 / 1e9),
        n if n >= 1_000_000 => write!(f, "{}{mega}", n as f64 / 1e6),
        n if n >= 1_000 => write!(f, "{}{kilo}", n as f64 / 1e3),
        n => write!(f, "{n}{one}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialisation_time_is_exact_and_does_not_overflow() {
        assert_eq!(Rate(10_000_000).time_for(1500), Dur::from_micros(1200));
        assert_eq!(Rate(8).time_for(u64::from(u32::MAX)), Dur::from_secs(u64::from(u32::MAX)));
        assert_eq!(Rate(0).time_for(1), Dur::MAX);
    }

    #[test]
    fn rounding_up_to_ticks() {
        assert_eq!(Time(1).round_up(Dur(500)), Time(500));
        assert_eq!(Time(500).round_up(Dur(500)), Time(500));
        assert_eq!(Time(7).round_up(Dur::ZERO), Time(7));
    }
}
