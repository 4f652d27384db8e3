//! The one place where the emulator reads clocks.

use airtcp_wire::{Dur, Time};
use std::time::{Duration, Instant, SystemTime};

/// Monotonic time since it was started. Copies show the same time.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

/// The times of a clock and of the wall clock at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub now: Time,
    wall: SystemTime,
}

impl Clock {
    /// Starts at zero, where the scenario begins.
    #[allow(clippy::disallowed_methods, reason = "the real-time driver is where clocks are read")]
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    #[allow(clippy::disallowed_methods, reason = "the real-time driver is where clocks are read")]
    pub fn now(&self) -> Time {
        self.at(Instant::now())
    }

    #[allow(clippy::disallowed_methods, reason = "the kernel dates packets by the wall clock")]
    pub fn look(&self) -> Look {
        Look::new(self.now(), SystemTime::now())
    }

    /// Time of an instant by this clock; zero if it was before the start.
    pub fn at(&self, instant: Instant) -> Time {
        Time::ZERO + Dur(instant.saturating_duration_since(self.0).as_nanos() as u64)
    }
}

impl Look {
    /// `now` and `wall` are what the two clocks show at one moment.
    pub fn new(now: Time, wall: SystemTime) -> Look {
        Look { now, wall }
    }

    /// The wall clock's time at the other clock's zero.
    pub fn epoch(&self) -> SystemTime {
        self.wall - Duration::from_nanos(self.now.since(Time::ZERO).0)
    }

    /// Converts a wall-clock time to this clock's, by its age. So only a step of the wall clock in between makes it
    /// wrong. Never later than now.
    pub fn date(&self, at: SystemTime) -> Time {
        let age = self.wall.duration_since(at).unwrap_or_default();
        Time::ZERO + self.now.since(Time::ZERO).saturating_sub(Dur(age.as_nanos() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    #[test]
    fn what_the_wall_clock_dates_is_so_long_ago() {
        let wall = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let look = Look::new(Time(5_000_000), wall);
        let date = |at: SystemTime| look.date(at).0;
        assert_eq!(date(wall - Duration::from_micros(70)), 4_930_000);
        assert_eq!(date(wall), 5_000_000);
        assert_eq!(date(wall + Duration::from_secs(3600)), 5_000_000, "the wall clock was put back");
        assert_eq!(date(wall - Duration::from_secs(3600)), 0, "the wall clock was put on");
        assert_eq!(look.epoch(), wall - Duration::from_millis(5));
    }
}
