//! Whether cwnd limits the sender, by Linux's rules: only then may it grow (RFC 7661 §4.4).

/// How far the sender has used its window in the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowUsage {
    is_limited: bool,
    /// The largest FlightSize of the round trip, which no window exceeds (RFC 7323 §2.3: 2³⁰).
    largest: u32,
    /// The lower half of SND.NXT when that was found. Each new segment compares it, so that it stays within 2³⁰ of SND.UNA.
    until: u32,
}

impl WindowUsage {
    /// A segment was sent, or cwnd held one back, and now `flight_size` bytes are outstanding. If cwnd limits the sender
    /// once, that counts for the round trip.
    #[inline]
    pub fn note(&mut self, is_limited: bool, flight_size: u64, una: u64, nxt: u64) {
        if (una as u32).wrapping_sub(self.until) as i32 >= 0
            || is_limited
            || (!self.is_limited && flight_size > self.largest.into())
        {
            *self = WindowUsage { is_limited, largest: flight_size as u32, until: nxt as u32 };
        }
    }

    /// Returns whether cwnd is the limit and may grow. In slow start it may grow to twice what was outstanding.
    #[inline]
    pub fn is_limited(&self, in_slow_start: bool, cwnd: u64) -> bool {
        self.is_limited || (in_slow_start && cwnd < 2 * u64::from(self.largest))
    }
}
