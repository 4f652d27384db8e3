//! Subframes of one millisecond, which are numbered from 0: here they are called slots.

use airtcp_wire::{Dur, Time};

pub const SLOT: Dur = Dur::from_millis(1);
/// A slot that never comes.
pub const NEVER: u64 = u64::MAX;
/// A block is decoded, and its feedback sent, so many slots after its own (TS 36.213 §10.1).
pub const FEEDBACK: u64 = 4;
/// HARQ's round trip: a copy follows the one before it after so many slots.
pub const ROUND_TRIP: u64 = 2 * FEEDBACK;

pub fn start(slot: u64) -> Time {
    Time(slot.saturating_mul(SLOT.0))
}

/// The first slot that begins at `at` or later.
pub fn from(at: Time) -> u64 {
    if at.is_never() { NEVER } else { at.0.div_ceil(SLOT.0) }
}
