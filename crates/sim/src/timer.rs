//! What a run's timers are for.

use crate::schedule::{TimerId, Timers};
use airtcp_wire::Time;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timer {
    WarmUp,
    Sample,
    /// A flow's source.
    Source(usize),
    Station(usize),
    /// A circuit's, and which end of it.
    Circuit(usize, usize),
    /// An end of a connection.
    Endpoint(u32),
}

/// When which of a run's timers expires.
pub struct Schedule {
    numbering: Numbering,
    timers: Timers,
}

impl Schedule {
    /// For a run with so many of each.
    pub fn new(flows: usize, stations: usize, circuits: usize) -> Schedule {
        Schedule { numbering: Numbering::new(flows, stations, circuits), timers: Timers::default() }
    }

    /// As [`Timers::set`].
    #[inline(always)]
    pub fn set(&mut self, timer: Timer, deadline: Time) {
        self.timers.set(self.numbering.number(timer), deadline);
    }

    /// As [`Timers::next`].
    #[inline]
    pub fn next(&mut self) -> Time {
        self.timers.next()
    }

    /// As [`Timers::peek`].
    #[inline]
    pub fn peek(&self) -> Option<Timer> {
        self.timers.peek().map(|number| self.numbering.timer(number))
    }

    /// As [`Timers::pop`].
    #[inline]
    pub fn pop(&mut self) -> Option<Timer> {
        self.timers.pop().map(|number| self.numbering.timer(number))
    }
}

/// Numbers the timers of a run: those of the scenario's parts first, then those of connections, which come and go.
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
            WARM_UP => Timer::WarmUp,
            SAMPLE => Timer::Sample,
            _ if number < self.stations => Timer::Source((number - SOURCES) as usize),
            _ if number < self.circuits => Timer::Station((number - self.stations) as usize),
            _ if number < self.endpoints => {
                let end = (number - self.circuits) as usize;
                Timer::Circuit(end / 2, end % 2)
            }
            _ => Timer::Endpoint(number - self.endpoints),
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
