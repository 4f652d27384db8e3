//! Whether cwnd limits the sender, by Linux's rules: only then may it grow (RFC 7661 §4.4).

/// How far the sender has used its window in the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowUsage {
    is_limited: bool,
    /// The largest FlightSize of the round trip, which no window exceeds (RFC 7323 §2.3: 2³⁰).
    largest: u32,
    /// SND.NXT when that was found.
    until: u64,
}

impl WindowUsage {
    /// A segment was sent, or cwnd held one back, and now `flight_size` bytes are outstanding. If cwnd limits the sender
    /// once, that counts for the round trip.
    #[inline]
    pub fn note(&mut self, is_limited: bool, flight_size: u64, una: u64, nxt: u64) {
        if una >= self.until || is_limited || (!self.is_limited && flight_size > self.largest.into()) {
            *self = WindowUsage { is_limited, largest: flight_size as u32, until: nxt };
        }
    }

    /// Returns whether cwnd is the limit and may grow. In slow start it may grow to twice what was outstanding.
    #[inline]
    pub fn is_limited(&self, in_slow_start: bool, cwnd: u64) -> bool {
        self.is_limited || (in_slow_start && cwnd < 2 * u64::from(self.largest))
    }
}
