//! The timers of a run.

use crate::schedule::{TimerId, Timers};
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
    /// The clock of the current event.
    clock: Clock,
}

impl Schedule {
    /// A schedule for a run with these numbers of flows, stations and circuits.
    pub fn new(flows: usize, stations: usize, circuits: usize) -> Schedule {
        let numbering = Numbering::new(flows, stations, circuits);
        Schedule { numbering, timers: Default::default(), clock: Clock::Run }
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

    /// As [`Timers::set`].
    #[inline(always)]
    pub fn set(&mut self, timer: Timer, deadline: Time) {
        self.timers[self.clock as usize].set(self.numbering.number(timer), deadline);
    }

    /// As [`Timers::set_lazily`].
    #[inline(always)]
    pub fn set_lazily(&mut self, timer: Timer, earliest: Time, deadline: impl FnOnce() -> Time) {
        self.timers[self.clock as usize].set_lazily(self.numbering.number(timer), earliest, deadline);
    }

    /// As [`set`](Schedule::set), by this clock.
    #[inline(always)]
    pub fn set_by(&mut self, clock: Clock, timer: Timer, deadline: Time) {
        self.timers[clock as usize].set(self.numbering.number(timer), deadline);
    }

    /// As [`Timers::pass`], by the run's clock, if nothing is due by the other clock before.
    #[inline]
    pub fn pass(&mut self, timer: Timer, deadline: Time) -> bool {
        self.next_by(Clock::Ahead) >= deadline
            && self.timers[Clock::Run as usize].pass(self.numbering.number(timer), deadline)
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
    pub fn put_off(&mut self, timer: Timer, wanted: impl FnOnce() -> Time) -> bool {
        let (timers, number) = (&mut self.timers[Clock::Ahead as usize], self.numbering.number(timer));
        if timers.peek() != Some(number) {
            return false;
        }
        let wanted = wanted();
        let is_early = timers.next() < wanted;
        if is_early && timers.pop().is_some() {
            timers.set(number, wanted);
        }
        is_early
    }

    /// As [`Timers::pop`], by the clock of the current event.
    #[inline]
    pub fn pop(&mut self) -> Option<Timer> {
        self.timers[self.clock as usize].pop().map(|number| self.numbering.timer(number))
    }
}

/// Numbers the timers of a run: first those of the scenario's parts, then those of connections, which come and go.
struct Numbering {
    stations: TimerId,
    circuits: TimerId,
    endpoints: TimerId,
}

const WARM_UP: TimerId = 0;
const SAMPLE: TimerId = 1;
const SOURCES: TimerId = 2;

impl Numbering {
    fn new(flows: usize, stations: usize, circuits: usize) -> Numbering {
        let first_station = SOURCES + flows as TimerId;
        let first_circuit = first_station + stations as TimerId;
        let first_endpoint = first_circuit + 2 * circuits as TimerId;
        Numbering { stations: first_station, circuits: first_circuit, endpoints: first_endpoint }
    }

    #[inline(always)]
    fn number(&self, timer: Timer) -> TimerId {
        match timer {
            Timer::WarmUp => WARM_UP,
            Timer::Sample => SAMPLE,
            Timer::Source(flow) => SOURCES + flow as TimerId,
            Timer::Station(station) => self.stations + station as TimerId,
            Timer::Circuit(circuit, end) => self.circuits + (2 * circuit + end) as TimerId,
            Timer::Endpoint(endpoint) => self.endpoints + endpoint,
        }
    }

    fn timer(&self, number: TimerId) -> Timer {
        match number {
            _ if number >= self.endpoints => Timer::Endpoint(number - self.endpoints),
            WARM_UP => Timer::WarmUp,
            SAMPLE => Timer::Sample,
            _ if number < self.stations => Timer::Source((number - SOURCES) as usize),
            _ if number < self.circuits => Timer::Station((number - self.stations) as usize),
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
        let numbering = Numbering::new(3, 2, 2);
        let timers: Vec<Timer> = (0..20).map(|number| numbering.timer(number)).collect();
        assert!(timers.iter().zip(0..).all(|(&timer, number)| numbering.number(timer) == number));
        assert!(timers[5..11].contains(&Timer::Circuit(1, 0)), "{timers:?}");
        assert_eq!(timers[11..13], [Timer::Endpoint(0), Timer::Endpoint(1)]);
    }
}
