//! What connections, circuits and stations act on.

use crate::network::Network;
use crate::timer::{Clock, Schedule, Timer};
use airtcp_proto::tcp::Connection;
use airtcp_wire::Time;

/// The network, with the time, and everybody's timers.
pub struct Stage {
    pub network: Network,
    pub schedule: Schedule,
    /// The run ends then.
    pub end: Time,
}

impl Stage {
    /// May what gets to the end that is [ahead](crate::ahead) at that time be delivered now? Nothing goes before it, and the run
    /// does not end before.
    #[inline(always)]
    pub fn is_next_ahead(&self, at: Time) -> bool {
        let Stage { network, schedule, .. } = self;
        !at.is_never() && network.ahead.sent.is_empty() && schedule.next_by(Clock::Ahead) >= at
    }

    /// Does what comes back from that end at that time come before all else? Links go before it, timers of the same instant do not.
    #[inline(always)]
    pub fn is_next_arrival(&self, at: Time) -> bool {
        let Stage { network, schedule, .. } = self;
        let is_first = at < network.topology.next().0 && at <= schedule.next().0;
        is_first && !network.ahead.is_waiting() && network.sent_at_station.is_empty()
    }

    /// Moves the run on to `at` if this timer, set to that time, would be its next event. Returns whether it has.
    #[inline]
    pub fn goes_on(&mut self, timer: Timer, at: Time) -> bool {
        let Stage { network, schedule, end } = self;
        // Links and arrivals go before timers of the same instant.
        let others = network.topology.next().0.min(network.ahead.next());
        let is_next = at <= *end && at < others && !network.ahead.is_waiting() && schedule.pass(timer, at);
        if is_next {
            network.now = at;
            network.ahead.events += 1;
        }
        is_next
    }

    /// Wakes the sending end with that number when the earliest of its timers expires.
    #[inline(always)]
    pub fn schedule_sender(&mut self, endpoint: u32, sender: &Connection) {
        let timer = Timer::Endpoint(endpoint);
        self.schedule.set_lazily(timer, sender.earliest_timeout(), || sender.poll_timeout());
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
