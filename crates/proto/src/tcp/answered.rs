//! Which congestion has been answered: one reduction a window of data, whatever asks for it (RFC 3168 §6.1.2).

#[derive(Debug, Default)]
pub struct Answered {
    /// SND.NXT at the last answer.
    until: u64,
    /// Losses below are congestion that was answered before they were found.
    losses_below: u64,
    owes_cwr: bool,
}

impl Answered {
    /// No further reduction for ECN-Echo before this is acknowledged.
    #[inline]
    pub fn until(&self) -> u64 {
        self.until
    }

    /// Congestion was answered when everything up to `nxt` had been sent.
    pub fn on_answer(&mut self, nxt: u64) {
        self.until = nxt;
        self.owes_cwr = true;
    }

    /// The same of congestion that no loss has shown so far.
    pub fn on_early_answer(&mut self, nxt: u64) {
        self.losses_below = nxt;
    }

    /// Is a loss at `una` congestion that has been answered?
    pub fn covers_loss(&self, una: u64) -> bool {
        una < self.losses_below
    }

    #[inline]
    pub fn owes_cwr(&self) -> bool {
        self.owes_cwr
    }

    /// CWR leaves.
    pub fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.owes_cwr)
    }
}
