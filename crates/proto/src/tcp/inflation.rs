//! What duplicate ACKs add to the window, for they say that something has left the network (RFC 5681 §3.2).

#[derive(Debug)]
pub struct Inflation {
    /// The artificial window (RFC 5681 §3.2 steps 3 and 4); negative where what has left the network makes no room.
    bytes: i64,
    has_limited_transmit: bool,
    /// Bytes that limited transmit has sent since the last new ACK; no part of FlightSize (RFC 5681 §3.2 step 2).
    limited_sent: u32,
}

impl Inflation {
    pub fn new(has_limited_transmit: bool) -> Inflation {
        Inflation { bytes: 0, has_limited_transmit, limited_sent: 0 }
    }

    #[inline]
    pub fn is_none(&self) -> bool {
        self.bytes == 0
    }

    /// Does it let more leave than the window does?
    #[inline]
    pub fn is_positive(&self) -> bool {
        self.bytes > 0
    }

    #[inline]
    pub fn applied_to(&self, window: u64) -> u64 {
        if self.is_none() { window } else { window.saturating_add_signed(self.bytes) }
    }

    /// RFC 5681 §3.2 step 6: deflate.
    #[inline]
    pub fn end(&mut self) {
        self.bytes = 0;
    }

    /// RFC 5681 §3.2 step 3: `segments` have left the network.
    pub fn inflate_to(&mut self, segments: u32, mss: u64) {
        self.bytes = i64::from(segments) * mss as i64;
    }

    /// RFC 5681 §3.2 step 4: one more has.
    pub fn inflate(&mut self, mss: u64) {
        self.bytes += mss as i64;
    }

    /// RFC 6582 §3.2 step 3: deflate by what was acknowledged, and add one segment back if it was at least that.
    pub fn on_partial_ack(&mut self, acked: u64, mss: u64) {
        self.bytes -= acked as i64;
        if acked >= mss {
            self.inflate(mss);
        }
    }

    /// RFC 3042 §2: on each of the first two duplicate ACKs one new segment may leave, beyond cwnd.
    pub fn limited_transmit(&mut self, duplicates: u32, mss: u64) {
        if self.has_limited_transmit {
            self.inflate_to(duplicates.min(2), mss);
        }
    }

    /// With SACK, what has left the network makes room for new segments by itself (RFC 6675 §5 step 3). Without limited transmit
    /// these bytes of it do not, until recovery begins.
    pub fn hold_back(&mut self, bytes: u64) {
        self.bytes = if self.has_limited_transmit { 0 } else { -(bytes as i64) };
    }

    /// Outside of recovery, new data has left.
    #[inline]
    pub fn on_sent(&mut self, bytes: u64) {
        if self.is_positive() {
            self.limited_sent += bytes as u32;
        }
    }

    pub fn limited_sent(&self) -> u64 {
        u64::from(self.limited_sent)
    }

    /// New data is acknowledged.
    #[inline]
    pub fn forget_limited(&mut self) {
        self.limited_sent = 0;
    }
}
