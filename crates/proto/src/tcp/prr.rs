//! Proportional rate reduction (RFC 9937), counted in segments as in Linux.

/// The window during recovery or after ECN-Echo, so that the flight shrinks evenly to the new ssthresh.
#[derive(Clone, Copy, Debug)]
struct Prr {
    /// pipe + sndcnt in bytes, as of the last ACK. At least one segment: if nothing is in flight, one must be able to leave.
    window: u64,
    mss: u64,
    /// RecoverFS; Linux takes the cwnd before the reduction.
    prior_cwnd: u64,
    ssthresh: u64,
    delivered: u64,
    out: u64,
}

impl Prr {
    /// Windows in bytes.
    fn new(prior_cwnd: u64, ssthresh: u64, mss: u64) -> Prr {
        Prr {
            window: mss,
            mss,
            prior_cwnd: prior_cwnd.div_ceil(mss).max(1),
            ssthresh: ssthresh / mss,
            delivered: 0,
            out: 0,
        }
    }

    /// RFC 9937 §6.2. `is_safe`: the ACK has advanced SND.UNA and shows no further loss (SafeACK).
    fn on_ack(&mut self, delivered: u64, in_flight: u64, is_safe: bool) {
        if delivered == 0 {
            return;
        }
        let delivered = delivered.div_ceil(self.mss);
        self.delivered += delivered;
        let pipe = in_flight.div_ceil(self.mss);
        let budget = if pipe > self.ssthresh {
            (self.delivered * self.ssthresh).div_ceil(self.prior_cwnd).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + u64::from(is_safe);
            limit.min(self.ssthresh - pipe)
        };
        // The fast retransmit leaves in any case.
        let least = u64::from(self.out == 0);
        self.window = (in_flight + budget.max(least) * self.mss).max(self.mss);
    }

    fn on_sent(&mut self, bytes: u64) {
        self.out += bytes.div_ceil(self.mss);
    }
}

/// The reduction that goes on, if any.
#[derive(Debug, Default)]
pub struct Reduction(Option<Box<Prr>>);

impl Reduction {
    #[inline]
    pub fn is_active(&self) -> bool {
        self.0.is_some()
    }

    /// The window during the reduction, in bytes.
    #[inline]
    pub fn window(&self) -> Option<u64> {
        self.0.as_ref().map(|prr| prr.window)
    }

    /// The controller has set cwnd, in bytes. If that lowers it, the reduction is spread over a round trip.
    pub fn begin(&mut self, prior_cwnd: u64, cwnd: u64, mss: u64) {
        if cwnd < prior_cwnd {
            self.0 = Some(Box::new(Prr::new(prior_cwnd, cwnd, mss)));
        }
    }

    #[inline]
    pub fn end(&mut self) {
        self.0 = None;
    }

    #[inline]
    pub fn on_ack(&mut self, delivered: u64, in_flight: u64, is_safe: bool) {
        if let Some(prr) = &mut self.0 {
            prr.on_ack(delivered, in_flight, is_safe);
        }
    }

    #[inline]
    pub fn on_sent(&mut self, bytes: u64) {
        if let Some(prr) = &mut self.0 {
            prr.on_sent(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9937_6_2_halving_sends_one_segment_for_two_delivered() {
        // 20 segments in flight, one lost, ssthresh 10: after each second delivery one may leave.
        let mut prr = Prr::new(20, 10, 1);
        let mut in_flight = 19;
        let mut sent = 0;
        for _ in 0..18 {
            in_flight -= 1;
            prr.on_ack(1, in_flight, false);
            while in_flight < prr.window {
                in_flight += 1;
                sent += 1;
                prr.on_sent(1);
            }
        }
        assert_eq!((sent, in_flight), (9, 10));
    }

    /// RFC 9937 §6.2: below ssthresh one segment more than was delivered may leave, if the ACK is safe.
    #[test]
    fn below_ssthresh_a_safe_ack_lets_one_more_leave() {
        for (is_safe, window) in [(true, 5 + 3), (false, 5 + 2)] {
            let mut prr = Prr::new(20, 10, 1);
            prr.on_sent(1);
            prr.on_ack(2, 5, is_safe);
            assert_eq!(prr.window, window);
        }
    }

    /// A window of nothing would wait for an ACK of nothing.
    #[test]
    fn one_segment_may_leave_if_nothing_is_in_flight() {
        let mut prr = Prr::new(20, 0, 1);
        assert_eq!(prr.window, 1, "before the first ACK");
        prr.on_sent(1);
        prr.on_ack(1, 0, true);
        assert_eq!(prr.window, 1, "though ssthresh allows nothing");
    }
}
