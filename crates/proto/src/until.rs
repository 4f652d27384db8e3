//! How long a finding holds.

/// What was found once is not looked for again below this bound: a time, a position or a count. Whoever makes the finding sets
/// the bound, and ends it where something may change the finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Until<T>(T);

impl<T: Copy + Default + PartialOrd> Until<T> {
    pub const fn new(bound: T) -> Until<T> {
        Until(bound)
    }

    /// Returns whether the finding holds at `at`.
    #[inline(always)]
    pub fn covers(&self, at: T) -> bool {
        at < self.0
    }

    /// From now on the finding holds nowhere.
    #[inline(always)]
    pub fn end(&mut self) {
        *self = Until::default();
    }

    /// Returns whether the finding holds nowhere.
    #[inline(always)]
    pub fn has_ended(&self) -> bool {
        *self == Until::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_holds_below_its_bound_until_it_ends() {
        let mut until = Until::new(5);
        assert_eq!([4, 5].map(|at| until.covers(at)), [true, false]);
        until.end();
        assert!(until.has_ended() && !until.covers(0));
    }
}
