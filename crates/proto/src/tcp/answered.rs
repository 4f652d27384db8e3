//! Which congestion has been answered: cwnd is reduced once a window of data, whatever the cause (RFC 3168 §6.1.2).

#[derive(Debug, Default)]
pub struct Answered {
    /// SND.NXT at the last answer.
    until: u64,
    /// Losses below this position are congestion that was answered before they were found.
    losses_below: u64,
}

impl Answered {
    /// ECN-Echo causes no further reduction until more than this is acknowledged.
    #[inline]
    pub fn until(&self) -> u64 {
        self.until
    }

    /// Congestion was answered when everything up to `nxt` had been sent.
    pub fn on_answer(&mut self, nxt: u64) {
        self.until = nxt;
    }

    /// As [`on_answer`](Answered::on_answer), and losses below `nxt` that are found later are the same congestion.
    pub fn on_early_answer(&mut self, nxt: u64) {
        self.losses_below = nxt;
    }

    /// Returns whether a loss at `una` is congestion that has been answered.
    pub fn covers_loss(&self, una: u64) -> bool {
        una < self.losses_below
    }
}
