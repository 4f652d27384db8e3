//! The timers of a run.

use crate::schedule::{LONE, Pushed, TimerId, Timers};
use airtcp_wire::Time;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timer {
    WarmUp,
    Sample,
    /// Of a flow's source.
    Source(usize),
    Station(usize),
    /// Of a circuit, and one of its ends.
    Circuit(usize, usize),
    /// Of an end of a connection.
    Endpoint(u32),
}

/// The clock of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// The run's clock.
    Run,
    /// The clock of the end of the path that is [ahead](crate::ahead).
    Ahead,
}

/// When the timers of a run expire.
pub struct Schedule {
    numbering: Numbering,
    /// The timers of each clock.
    timers: [Timers; 2],
    /// Of both clocks, since each timer goes by one of them only.
    pushed: Pushed,
    /// The clock of the current event.
    clock: Clock,
}

impl Schedule {
    /// A schedule for a run with these numbers of stations and circuits.
    pub fn new(stations: usize, circuits: usize) -> Schedule {
        let numbering = Numbering::new(stations, circuits);
        Schedule { numbering, timers: Default::default(), pushed: Pushed::default(), clock: Clock::Run }
    }

    /// Sets and pops timers by this clock from now on.
    #[inline(always)]
    pub fn go_by(&mut self, clock: Clock) {
        self.clock = clock;
    }

    #[inline]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Sets the timer of a flow's source, which has expired or was never set.
    pub fn set_source(&mut self, flow: usize, deadline: Time) {
        let number = self.numbering.number(Timer::Source(flow));
        self.timers[self.clock as usize].set_next(number, deadline);
    }

    /// As [`Timers::set`], for all but sources.
    #[inline(always)]
    pub fn set(&mut self, timer: Timer, deadline: Time) {
        self.set_by(self.clock, timer, deadline);
    }

    /// As [`Timers::set_lazily`], by the run's clock, for a sender.
    #[inline(always)]
    pub fn set_lazily(&mut self, timer: Timer, earliest: Time, deadline: impl FnOnce() -> Time) {
        debug_assert!(self.clock == Clock::Run);
        let number = self.numbering.number(timer);
        if !self.pushed.is_by(number, earliest) {
            self.timers[Clock::Run as usize].set(&mut self.pushed, number, deadline());
        }
    }

    /// As [`set`](Schedule::set), by this clock.
    #[inline(always)]
    pub fn set_by(&mut self, clock: Clock, timer: Timer, deadline: Time) {
        self.timers[clock as usize].set(&mut self.pushed, self.numbering.number(timer), deadline);
    }

    /// As [`Timers::pass`], by the run's clock, if nothing is due by the other clock before.
    #[inline]
    pub fn pass(&mut self, timer: Timer, deadline: Time) -> bool {
        let number = self.numbering.number(timer);
        self.next_by(Clock::Ahead) >= deadline
            && self.timers[Clock::Run as usize].pass(&mut self.pushed, number, deadline)
    }

    /// As [`Timers::next`], by either clock. Also returns by which.
    #[inline]
    pub fn next(&self) -> (Time, Clock) {
        let [run, ahead] = [Clock::Run, Clock::Ahead].map(|clock| self.next_by(clock));
        if ahead < run { (ahead, Clock::Ahead) } else { (run, Clock::Run) }
    }

    /// As [`Timers::next`], by this clock.
    #[inline]
    pub fn next_by(&self, clock: Clock) -> Time {
        self.timers[clock as usize].next()
    }

    /// As [`Timers::peek`], by the run's clock.
    #[inline]
    pub fn peek(&self) -> Option<Timer> {
        self.timers[Clock::Run as usize].peek().map(|number| self.numbering.timer(number))
    }

    /// If this is the next timer of the end that is ahead, and it comes up before it is `wanted`, sets it to when it
    /// is. Returns whether it has.
    pub fn reset_early(&mut self, timer: Timer, wanted: impl FnOnce() -> Time) -> bool {
        let number = self.numbering.number(timer);
        let timers = &mut self.timers[Clock::Ahead as usize];
        if timers.peek() != Some(number) {
            return false;
        }
        let wanted = wanted();
        let is_early = timers.next() < wanted;
        if is_early && timers.pop(&mut self.pushed).is_some() {
            timers.set(&mut self.pushed, number, wanted);
        }
        is_early
    }

    /// As [`Timers::pop`], by the clock of the current event.
    #[inline]
    pub fn pop(&mut self) -> Option<Timer> {
        let number = self.timers[self.clock as usize].pop(&mut self.pushed)?;
        Some(self.numbering.timer(number))
    }
}

/// Numbers the timers of a run: first those of the scenario's parts but sources, then those of connections, which come
/// and go.
struct Numbering {
    circuits: TimerId,
    endpoints: TimerId,
}

const WARM_UP: TimerId = 0;
const SAMPLE: TimerId = 1;
const STATIONS: TimerId = 2;
const SOURCES: TimerId = LONE;

impl Numbering {
    fn new(stations: usize, circuits: usize) -> Numbering {
        let first_circuit = STATIONS + stations as TimerId;
        Numbering { circuits: first_circuit, endpoints: first_circuit + 2 * circuits as TimerId }
    }

    #[inline(always)]
    fn number(&self, timer: Timer) -> TimerId {
        match timer {
            Timer::WarmUp => WARM_UP,
            Timer::Sample => SAMPLE,
            Timer::Station(station) => STATIONS + station as TimerId,
            Timer::Circuit(circuit, end) => self.circuits + (2 * circuit + end) as TimerId,
            Timer::Endpoint(endpoint) => self.endpoints + endpoint,
            Timer::Source(flow) => SOURCES + flow as TimerId,
        }
    }

    fn timer(&self, number: TimerId) -> Timer {
        match number {
            _ if number >= SOURCES => Timer::Source((number - SOURCES) as usize),
            _ if number >= self.endpoints => Timer::Endpoint(number - self.endpoints),
            WARM_UP => Timer::WarmUp,
            SAMPLE => Timer::Sample,
            _ if number < self.circuits => Timer::Station((number - STATIONS) as usize),
            _ => {
                let end = (number - self.circuits) as usize;
                Timer::Circuit(end / 2, end % 2)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timer_has_a_number_of_its_own() {
        let numbering = Numbering::new(3, 2);
        let timers: Vec<Timer> = (0..20).map(|number| numbering.timer(number)).collect();
        assert!(timers.iter().zip(0..).all(|(&timer, number)| numbering.number(timer) == number));
        assert_eq!(timers[2..5], [0, 1, 2].map(Timer::Station));
        assert_eq!(timers[7], Timer::Circuit(1, 0));
        assert_eq!(timers[9..11], [0, 1].map(Timer::Endpoint));
        let source = numbering.number(Timer::Source(5));
        assert_eq!(numbering.timer(source), Timer::Source(5));
    }
}
