//! Duplicate ACKs (RFC 5681 §2) since the last new one.

#[derive(Debug)]
pub struct Duplicates {
    count: u32,
    /// DupThresh: how many mean a loss.
    threshold: u32,
    /// The last one reports that the missing segment was corrupted (ELN).
    is_corruption: bool,
}

impl Duplicates {
    pub fn new(threshold: u32) -> Duplicates {
        Duplicates { count: 0, threshold, is_corruption: false }
    }

    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    #[inline]
    pub fn threshold(&self) -> u32 {
        self.threshold
    }

    pub fn is_corruption(&self) -> bool {
        self.is_corruption
    }

    /// Returns whether their number has just reached the threshold.
    pub fn is_at_threshold(&self) -> bool {
        self.count == self.threshold
    }

    /// Returns whether their number has reached the threshold.
    pub fn are_enough(&self) -> bool {
        self.count >= self.threshold
    }

    /// Returns whether there is nothing for [`on_new_ack`](Duplicates::on_new_ack) to reset.
    pub fn are_none(&self) -> bool {
        self.count == 0 && !self.is_corruption
    }

    pub fn on_duplicate(&mut self, is_corruption: bool) {
        self.count += 1;
        self.is_corruption = is_corruption;
    }

    /// New data is acknowledged.
    #[inline]
    pub fn on_new_ack(&mut self) {
        self.count = 0;
        self.is_corruption = false;
    }

    /// Counts from 0 again. What the last one reported of corruption stands.
    pub fn restart(&mut self) {
        self.count = 0;
    }
}
