//! What duplicate ACKs add to the window, because each shows that a segment has left the network (RFC 5681 §3.2).

#[derive(Debug)]
pub struct Inflation {
    /// The artificial window (RFC 5681 §3.2 steps 3 and 4); negative while [held back](Inflation::hold_back). What leaves
    /// the network is at most a window (RFC 7323 §2.3: 2³⁰), unless somebody forges ACKs.
    bytes: i32,
    has_limited_transmit: bool,
    /// Bytes sent by limited transmit since the last new ACK. They are no part of FlightSize (RFC 5681 §3.2 step 2).
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

    /// Returns whether it enlarges the window.
    #[inline]
    pub fn is_positive(&self) -> bool {
        self.bytes > 0
    }

    #[inline]
    pub fn applied_to(&self, window: u64) -> u64 {
        if self.is_none() { window } else { window.saturating_add_signed(self.bytes.into()) }
    }

    /// RFC 5681 §3.2 step 6: deflate.
    #[inline]
    pub fn end(&mut self) {
        self.bytes = 0;
    }

    /// RFC 5681 §3.2 step 3: `segments` have left the network.
    pub fn inflate_to(&mut self, segments: u32, mss: u64) {
        self.bytes = clamped(u64::from(segments) * mss);
    }

    /// RFC 5681 §3.2 step 4: one more segment has left the network.
    pub fn inflate(&mut self, mss: u64) {
        self.bytes = self.bytes.saturating_add(clamped(mss));
    }

    /// RFC 6582 §3.2 step 3: deflate by what was acknowledged, and add one segment back if it was at least that.
    pub fn on_partial_ack(&mut self, acked: u64, mss: u64) {
        self.bytes = self.bytes.saturating_sub(clamped(acked));
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

    /// With SACK, segments that have left the network make room for new ones by themselves (RFC 6675 §5 step 3). Without
    /// limited transmit, these `bytes` make none until recovery begins.
    pub fn hold_back(&mut self, bytes: u64) {
        self.bytes = if self.has_limited_transmit { 0 } else { -clamped(bytes) };
    }

    /// New data has left outside of recovery.
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

fn clamped(bytes: u64) -> i32 {
    bytes.min(i32::MAX as u64) as i32
}
