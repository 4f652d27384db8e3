//! The bound on all buffers.
//!
//! The kernel lets the buffers of a connection grow as its path asks for. What they may come to hold is looked up while
//! something moves. Three quarters of the memory are for that: when they are promised, buffers stay as long as they are. The
//! rest is for new connections, which wait when it is gone.

/// What a connection asks for at first, until one was seen.
const FRESH_BYTES: u64 = 512 << 10;

#[derive(Debug)]
pub struct Budget {
    limit: u64,
    promised: u64,
    /// What a connection that has just been opened asks for.
    fresh: u64,
    are_kept: bool,
}

impl Budget {
    pub fn new(limit: u64) -> Budget {
        Budget { limit, promised: 0, fresh: FRESH_BYTES, are_kept: false }
    }

    pub fn promised(&self) -> u64 {
        self.promised
    }

    /// Is there room for one more connection? For the first one there is.
    pub fn has_room(&self) -> bool {
        self.promised == 0 || self.promised + self.fresh <= self.limit
    }

    /// Are buffers to stay as long as they are?
    pub fn are_kept(&self) -> bool {
        self.are_kept
    }

    pub fn handle_new(&mut self, room: u64) {
        self.fresh = room;
        self.promised += room;
    }

    pub fn handle_change(&mut self, before: u64, now: u64) {
        self.promised = (self.promised + now).saturating_sub(before);
    }

    /// Answers whether buffers are kept from now on, if that has changed. Between the two marks nothing does.
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

    #[test]
    fn buffers_grow_into_three_quarters_and_new_connections_have_the_rest() {
        let mut budget = Budget::new(1000);
        assert!(budget.has_room());
        budget.handle_new(100);
        budget.handle_change(100, 749);
        assert_eq!(budget.judge(), None);
        budget.handle_change(749, 750);
        assert_eq!((budget.judge(), budget.judge()), (Some(true), None));
        budget.handle_new(125);
        assert!(budget.has_room());
        budget.handle_new(125);
        assert!(!budget.has_room() && budget.promised() == 1000);
        budget.handle_change(400, 0);
        assert_eq!(budget.judge(), None);
        budget.handle_change(100, 0);
        assert_eq!(budget.judge(), Some(false));
        budget.handle_change(9999, 0);
        assert_eq!(budget.promised(), 0);
    }
}
