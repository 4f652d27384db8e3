//! Proportional rate reduction (RFC 6937).

/// The window while SACK or RACK recovery goes on, so that the flight shrinks evenly to the new ssthresh.
#[derive(Clone, Copy, Debug)]
pub struct Prr {
    /// pipe + sndcnt, as of the last ACK.
    pub window: u64,
    recover_flight_size: u64,
    ssthresh: u64,
    mss: u64,
    delivered: u64,
    out: u64,
}

impl Prr {
    pub fn new(recover_flight_size: u64, ssthresh: u64, mss: u64) -> Prr {
        Prr {
            window: 0,
            recover_flight_size: recover_flight_size.max(1),
            ssthresh,
            mss,
            delivered: 0,
            out: 0,
        }
    }

    /// RFC 6937 §3, with the slow start reduction bound.
    pub fn on_ack(&mut self, delivered: u64, in_flight: u64) {
        self.delivered += delivered;
        let budget = if in_flight > self.ssthresh {
            let share = u128::from(self.delivered) * u128::from(self.ssthresh);
            (share.div_ceil(u128::from(self.recover_flight_size)) as u64).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + self.mss;
            limit.min(self.ssthresh - in_flight)
        };
        self.window = in_flight + budget;
    }

    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc6937_3_1_halving_sends_one_segment_for_two_delivered() {
        // 20 segments in flight, one lost, ssthresh 10: after each second delivery one may leave.
        let mut prr = Prr::new(20, 10, 1);
        let mut in_flight = 19;
        let mut sent = 0;
        for _ in 0..18 {
            in_flight -= 1;
            prr.on_ack(1, in_flight);
            while in_flight < prr.window {
                in_flight += 1;
                sent += 1;
                prr.on_sent(1);
            }
        }
        assert_eq!((sent, in_flight), (9, 10));
    }
}
