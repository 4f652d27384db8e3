//! The packets that a link has lost and its driver has not fetched yet.

use super::link::{Fate, Output};
use crate::queue::DropCause;
use airtcp_wire::{Ecn, Time};
use std::collections::VecDeque;

/// In order of time.
#[derive(Debug, Default)]
pub(super) struct Dropped(VecDeque<Output>);

impl Dropped {
    /// Adds a packet behind all that were lost at the same time or before.
    pub fn push(&mut self, at: Time, id: u32, cause: DropCause) {
        let place = self.0.iter().rposition(|output| output.at <= at).map_or(0, |last| last + 1);
        self.0.insert(place, Output { id, ecn: Ecn::NotEct, at, fate: Fate::Lost(cause) });
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When the first packet was lost; [`Time::NEVER`] if there is none.
    pub fn next_at(&self) -> Time {
        self.0.front().map_or(Time::NEVER, |output| output.at)
    }

    pub fn pop(&mut self) -> Option<Output> {
        self.0.pop_front()
    }
}
