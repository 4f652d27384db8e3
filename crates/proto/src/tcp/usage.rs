//! Does cwnd limit the sender? Only then it grows (RFC 7661 §4.4), by Linux's rules.

/// How far the sender has used its window in the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowUsage {
    is_limited: bool,
    /// The largest FlightSize of the round trip.
    largest: u64,
    /// SND.NXT when that was found.
    until: u64,
}

impl WindowUsage {
    /// Something was sent, or kept back by cwnd, which leaves `flight_size` outstanding. What limits the sender once counts
    /// for the round trip.
    #[inline]
    pub fn note(&mut self, is_limited: bool, flight_size: u64, una: u64, nxt: u64) {
        if una >= self.until || is_limited || (!self.is_limited && flight_size > self.largest) {
            *self = WindowUsage { is_limited, largest: flight_size, until: nxt };
        }
    }

    /// Is cwnd the limit? In slow start it may grow to twice what was outstanding.
    #[inline]
    pub fn is_limited(&self, in_slow_start: bool, cwnd: u64) -> bool {
        self.is_limited || (in_slow_start && cwnd < 2 * self.largest)
    }
}
