//! The limit on all buffers.
//!
//! The kernel lets the buffers of a connection grow as its path needs. How much they may come to hold is checked
//! while data moves. Half of the memory is for this growth. Once it is promised, a new connection gets a share of the
//! other half, so small that every allowed connection can have one. At three quarters, all buffers keep their size.

use super::config::Limits;

/// With less than this, a connection crawls.
const LEAST_SHARE_BYTES: u64 = 64 << 10;

#[derive(Debug)]
pub struct Budget {
    limit: u64,
    promised: u64,
    share: u64,
    are_kept: bool,
}

impl Budget {
    pub fn new(limits: &Limits) -> Budget {
        let limit = limits.memory.0;
        let share = (limit / 2 / limits.connections.max(1) as u64).max(LEAST_SHARE_BYTES);
        Budget { limit, promised: 0, share, are_kept: false }
    }

    pub fn promised(&self) -> u64 {
        self.promised
    }

    /// Returns whether there is room for one more connection.
    pub fn has_room(&self) -> bool {
        self.promised + self.share <= self.limit
    }

    /// Bytes that a new connection may have; `None` if the kernel may decide.
    pub fn share(&self) -> Option<u64> {
        (self.promised >= self.limit / 2).then_some(self.share)
    }

    /// Bytes that each of this many connections may have at most, if buffers have grown past the limit between two
    /// checks.
    pub fn excess_over(&self, connections: usize) -> Option<u64> {
        (self.promised > self.limit).then(|| self.limit / connections.max(1) as u64)
    }

    /// Returns whether buffers are to keep their size.
    pub fn are_kept(&self) -> bool {
        self.are_kept
    }

    pub fn handle_change(&mut self, before: u64, now: u64) {
        self.promised = (self.promised + now).saturating_sub(before);
    }

    /// Returns whether buffers are to keep their size from now on, if that has changed. Nothing changes between the
    /// two thresholds.
    pub fn judge(&mut self) -> Option<bool> {
        let (low, high) = (self.limit / 2, self.limit / 4 * 3);
        let kept = match self.promised {
            promised if promised >= high => true,
            promised if promised <= low => false,
            _ => self.are_kept,
        };
        (std::mem::replace(&mut self.are_kept, kept) != kept).then_some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::human::Bytes;

    #[test]
    fn buffers_grow_into_three_quarters_and_new_connections_have_the_rest() {
        let limits = Limits { memory: Bytes(8_000_000), connections: 10, ..Limits::default() };
        let mut budget = Budget::new(&limits);
        assert!(budget.has_room() && budget.share().is_none());
        budget.handle_change(0, 5_999_999);
        assert_eq!((budget.judge(), budget.share()), (None, Some(400_000)));
        budget.handle_change(5_999_999, 6_000_000);
        assert_eq!((budget.judge(), budget.judge()), (Some(true), None));
        for _ in 0..5 {
            assert!(budget.has_room());
            budget.handle_change(0, 400_000);
        }
        assert!(!budget.has_room() && budget.promised() == 8_000_000);
        assert_eq!(budget.excess_over(6), None);
        budget.handle_change(0, 1);
        assert_eq!(budget.excess_over(8), Some(1_000_000));
        budget.handle_change(3_500_001, 0);
        assert_eq!(budget.judge(), None);
        budget.handle_change(500_000, 0);
        assert_eq!(budget.judge(), Some(false));
        budget.handle_change(u64::MAX / 2, 0);
        assert_eq!(budget.promised(), 0);
    }
}
