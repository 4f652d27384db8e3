//! The persist timer: when to probe a window that keeps the sender from sending (RFC 9293 §3.8.6.1).

use airtcp_wire::{Dur, Time};

/// Boxed and made when needed, because hardly any window ever closes.
#[derive(Debug, Default)]
pub struct Persist(Option<Box<State>>);

#[derive(Debug)]
struct State {
    deadline: Time,
    /// Probes since the window was last open.
    probes: u32,
    is_due: bool,
}

impl Persist {
    #[inline]
    pub fn deadline(&self) -> Time {
        self.0.as_ref().map_or(Time::NEVER, |state| state.deadline)
    }

    pub fn probes(&self) -> u32 {
        self.0.as_ref().map_or(0, |state| state.probes)
    }

    #[inline]
    pub fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|state| state.is_due)
    }

    /// Returns whether no probe is due or scheduled, and none was sent since the window was last open.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.0.is_none()
    }

    /// Schedules a probe if none is: after `rto`, doubled with each probe, but at most after `most`.
    pub fn arm(&mut self, now: Time, rto: Dur, most: Dur) {
        let idle = || Box::new(State { deadline: Time::NEVER, probes: 0, is_due: false });
        let state = self.0.get_or_insert_with(idle);
        if state.deadline.is_never() {
            state.deadline = now + (rto * (1 << state.probes.min(10))).min(most);
        }
    }

    /// Stops the timer until the next [`arm`](Persist::arm), without forgetting the probes.
    pub fn put_off(&mut self) {
        self.change(|state| state.deadline = Time::NEVER);
    }

    /// The window is open.
    pub fn stop(&mut self) {
        self.change(|state| (state.deadline, state.probes) = (Time::NEVER, 0));
    }

    pub fn handle_timeout(&mut self, now: Time) {
        self.change(|state| {
            if state.deadline <= now {
                (state.deadline, state.is_due) = (Time::NEVER, true);
            }
        });
    }

    pub fn on_probe(&mut self) {
        self.change(|state| (state.is_due, state.probes) = (false, state.probes + 1));
    }

    /// Changes the state, if there is one, and drops it once it is idle.
    #[inline]
    fn change(&mut self, change: impl FnOnce(&mut State)) {
        if let Some(state) = &mut self.0 {
            change(state);
            if state.deadline.is_never() && state.probes == 0 && !state.is_due {
                self.0 = None;
            }
        }
    }
}
