//! What stands in for `shortcut` in a build without it: no ACK is plain, so every deadline is computed at once.

use super::Sender;
use airtcp_wire::Time;

/// No burst leaves.
pub enum Burst {}

impl Sender {
    pub fn rto_deadline(&self) -> Time {
        self.rto_deadline
    }

    pub fn leaves_timers_open(&self) -> bool {
        false
    }

    pub fn earliest_deadline(&self) -> Time {
        Time::ZERO
    }

    pub fn settle_plain_acks(&mut self) {}
}
