//! The one place where the emulator reads a clock.

use airtcp_wire::{Dur, Time};
use std::time::Instant;

/// Monotonic time since it was started. Copies agree.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Begins at zero, which is where the scenario begins.
    #[allow(clippy::disallowed_methods, reason = "the real-time driver is where clocks are read")]
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    #[allow(clippy::disallowed_methods, reason = "the real-time driver is where clocks are read")]
    pub fn now(&self) -> Time {
        self.at(Instant::now())
    }

    /// An instant by this clock; zero for one from before it was started.
    pub fn at(&self, instant: Instant) -> Time {
        Time::ZERO + Dur(instant.saturating_duration_since(self.0).as_nanos() as u64)
    }
}
