//! What comes next, and moving on to it within one event.

use crate::stage::Stage;
use crate::timer::{Clock, Timer};
use airtcp_proto::marks::{self, Mark};
use airtcp_wire::Time;

impl Stage {
    /// May what reaches the end that is [ahead](crate::ahead) at that time be delivered now? It may if nothing there
    /// comes before it, nor the end of the run.
    #[inline(always)]
    pub fn is_next_ahead(&self, at: Time) -> bool {
        let Stage { network, schedule, .. } = self;
        !at.is_never() && network.ahead.sent.is_empty() && schedule.next_by(Clock::Ahead) >= at
    }

    /// Is an arrival at that time the run's next event? At the same instant links go before it, and timers after it.
    #[inline(always)]
    pub fn is_next_arrival(&self, at: Time) -> bool {
        let Stage { network, schedule, .. } = self;
        let is_first = at < network.topology.next().0 && at <= schedule.next().0;
        is_first && !network.ahead.is_waiting() && network.sent_at_station.is_empty()
    }

    /// Moves the run on to `at` if this timer would be its next event when set to that time. Returns whether it has.
    #[inline]
    pub fn moves_on(&mut self, timer: Timer, at: Time) -> bool {
        let Stage { network, schedule, end } = self;
        // At the same instant, links and arrivals go before timers.
        let others = network.topology.next().0.min(network.ahead.next());
        let is_next = at <= *end && at < others && !network.ahead.is_waiting() && schedule.pass(timer, at);
        if is_next {
            marks::hit(Mark::GoesOn);
            network.now = at;
            network.ahead.events += 1;
        }
        is_next
    }

    /// Tries an event at the end that is ahead, at that time. Returns whether it has happened.
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
