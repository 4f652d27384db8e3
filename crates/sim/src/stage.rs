//! What connections, circuits and stations act on.

use crate::network::Network;
use crate::timer::{Clock, Schedule};
use airtcp_wire::Time;

/// The network, with the time, and everybody's timers.
pub struct Stage {
    pub network: Network,
    pub schedule: Schedule,
}

impl Stage {
    /// May what gets to the end that is [ahead](crate::ahead) at that time be delivered now? Nothing goes before it, and the run
    /// does not end before.
    #[inline(always)]
    pub fn is_next_ahead(&self, at: Time) -> bool {
        let Stage { network, schedule } = self;
        !at.is_never() && network.ahead.sent.is_empty() && schedule.next_by(Clock::Ahead) >= at
    }

    /// An event there, at that time, if it happens.
    #[inline(always)]
    pub fn try_ahead(&mut self, at: Time, event: impl FnOnce(&mut Stage) -> bool) -> bool {
        let now = std::mem::replace(&mut self.network.now, at);
        self.schedule.go_by(Clock::Ahead);
        let happens = event(self);
        self.schedule.go_by(Clock::Run);
        self.network.ahead.events += u64::from(happens);
        self.network.now = now;
        happens
    }
}
