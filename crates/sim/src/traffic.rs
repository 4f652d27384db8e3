//! Applications: what they do, and when.

use crate::scenario::model::{self, Arrivals, Bursts, Datagrams, Traffic, Transfer};
use airtcp_proto::rng::{Chances, Dormant};
use airtcp_wire::{Dur, Rate, Time};

/// What a flow's application does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Opens the flow's connection.
    Open,
    /// Opens a connection for one transfer of this many bytes.
    Transfer(u64),
    /// Writes this many bytes.
    Write(u64),
    /// Always has more to send from now on, or no longer has.
    Greedy(bool),
    /// Has written all that it will.
    Close,
    /// Sends a datagram in an IP packet of this many bytes.
    Datagram(u32),
    Nothing,
}

/// The application of one flow, as a [machine](airtcp_proto::machine).
pub struct Source {
    traffic: Traffic,
    /// Bytes that one of the flow's packets carries.
    payload: u32,
    /// The run's chances. `chance` is this source's own.
    chances: Chances,
    chance: Dormant,
    /// When it acts next.
    next: Time,
    stop: Time,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    /// The connection is open, but nothing is written yet.
    Opened,
    /// Sending until this time.
    On(Time),
    Off,
    Done,
}

impl Source {
    /// The application of a flow that starts at `start`. `payload` is the number of bytes that one of its packets
    /// carries. `chances` are those of the run, of which it draws from the one called `name`.
    pub fn new(flow: &model::Flow, start: Time, payload: u32, chances: Chances, name: &str) -> Source {
        let stop = flow.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        let mut source = Source {
            traffic: flow.traffic.clone(),
            payload,
            chances,
            chance: Dormant::new(name),
            next: start,
            stop,
            state: State::Start,
        };
        if let Traffic::Poisson(Arrivals { interval, .. }) = source.traffic {
            source.next = start + source.drawn(interval);
        }
        source
    }

    pub fn poll_timeout(&self) -> Time {
        match self.state {
            State::Done => Time::NEVER,
            _ => self.next.min(self.stop),
        }
    }

    /// Acts at the time that [`poll_timeout`](Source::poll_timeout) has named. That may then name the same time again.
    pub fn handle_timeout(&mut self, now: Time) -> Action {
        if now >= self.stop {
            return self.stop();
        }
        match self.traffic {
            Traffic::Unlimited(_) | Traffic::Bytes(_) | Traffic::OnOff(_) if self.state == State::Start => {
                self.state = State::Opened;
                Action::Open
            }
            Traffic::Unlimited(_) => {
                self.next = Time::NEVER;
                Action::Greedy(true)
            }
            Traffic::Bytes(Transfer { size }) => {
                // The connection has everything, so nothing is left to stop.
                (self.stop, self.next) = (Time::NEVER, now);
                match self.state {
                    State::Opened => {
                        self.state = State::Off;
                        Action::Write(size.0)
                    }
                    _ => {
                        self.state = State::Done;
                        Action::Close
                    }
                }
            }
            Traffic::OnOff(bursts) => self.on_off(now, bursts),
            Traffic::Poisson(Arrivals { interval, size, exponential }) => {
                self.next = now + self.drawn(interval);
                let drawn = if exponential { self.exponential(size.0 as f64) as u64 } else { size.0 };
                Action::Transfer(drawn.max(1))
            }
            Traffic::Udp(Datagrams { rate, packet }) => {
                self.next = now + gap(packet.0, rate);
                Action::Datagram(packet.0 as u32)
            }
        }
    }

    fn stop(&mut self) -> Action {
        let was_open = !matches!(self.state, State::Start | State::Done);
        self.state = State::Done;
        if was_open { Action::Close } else { Action::Nothing }
    }

    fn on_off(&mut self, now: Time, Bursts { on, off, rate }: Bursts) -> Action {
        match self.state {
            State::On(until) if now >= until => {
                self.state = State::Off;
                self.next = now + self.drawn(off);
                Action::Greedy(false)
            }
            State::On(until) => self.write(now, until, rate),
            _ => {
                let until = now + self.drawn(on);
                self.state = State::On(until);
                self.write(now, until, rate)
            }
        }
    }

    fn write(&mut self, now: Time, until: Time, rate: Option<Rate>) -> Action {
        let bytes = u64::from(self.payload);
        self.next = rate.map_or(until, |rate| until.min(now + gap(bytes, rate)));
        if rate.is_some() { Action::Write(bytes) } else { Action::Greedy(true) }
    }

    fn drawn(&mut self, mean: Dur) -> Dur {
        Dur::from_secs_f64(self.exponential(mean.as_secs_f64())).max(Dur(1))
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        self.chance.draw(&self.chances, |chance| chance.exponential(mean))
    }
}

/// The time between two of so many bytes at this rate.
fn gap(bytes: u64, rate: Rate) -> Dur {
    rate.time_for(bytes).max(Dur(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::Bytes;

    fn actions(traffic: model::Traffic, stop: Option<Dur>, until: Time) -> Vec<(Time, Action)> {
        let flow = model::Flow { traffic, stop, ..model::Flow::unlimited("f", 0, 0) };
        let mut source = Source::new(&flow, Time(100), 1000, Chances::new(1), "f");
        let mut actions = Vec::new();
        while source.poll_timeout() < until {
            let now = source.poll_timeout();
            actions.push((now, source.handle_timeout(now)));
        }
        actions
    }

    #[test]
    fn a_transfer_opens_writes_and_closes_at_once() {
        let expected =
            [(Time(100), Action::Open), (Time(100), Action::Write(5000)), (Time(100), Action::Close)];
        assert_eq!(
            actions(model::Traffic::Bytes(model::Transfer { size: Bytes(5000) }), None, Time::NEVER),
            expected
        );
    }

    #[test]
    fn an_unlimited_one_is_greedy_until_it_stops() {
        let expected =
            [(Time(100), Action::Open), (Time(100), Action::Greedy(true)), (Time(500), Action::Close)];
        assert_eq!(
            actions(model::Traffic::Unlimited(model::Unlimited {}), Some(Dur(500)), Time::NEVER),
            expected
        );
    }

    #[test]
    fn datagrams_are_evenly_spaced() {
        let udp = model::Traffic::Udp(model::Datagrams { rate: Rate(8_000_000), packet: Bytes(1000) });
        let expected = [100, 1_000_100, 2_000_100].map(|at| (Time(at), Action::Datagram(1000)));
        assert_eq!(actions(udp, None, Time(3_000_000)), expected);
    }

    #[test]
    fn arrivals_have_their_rate_and_sizes_their_mean() {
        let poisson = model::Traffic::Poisson(model::Arrivals {
            interval: Dur::from_millis(10),
            size: Bytes(20_000),
            exponential: true,
        });
        let actions = actions(poisson, None, Time::ZERO + Dur::from_secs(100));
        let bytes: u64 = actions
            .iter()
            .map(|(_, action)| if let Action::Transfer(bytes) = action { *bytes } else { unreachable!() })
            .sum();
        let count = actions.len() as f64;
        // Five standard deviations of 10 000 arrivals.
        assert!((count - 10_000.0).abs() < 500.0, "{count}");
        assert!((bytes as f64 / count - 20_000.0).abs() < 1000.0);
    }

    #[test]
    fn bursts_alternate_and_writes_keep_their_rate() {
        let (on, off) = (Dur::from_millis(500), Dur::from_millis(500));
        let rate = Some(Rate(8_000_000));
        let actions = actions(
            model::Traffic::OnOff(model::Bursts { on, off, rate }),
            None,
            Time::ZERO + Dur::from_secs(200),
        );
        assert_eq!(actions[0].1, Action::Open);
        let writes = actions.iter().filter(|(_, action)| *action == Action::Write(1000)).count() as f64;
        // Half the time at 1 000 writes a second; 200 bursts of exponential length.
        assert!((writes / 200_000.0 - 0.5).abs() < 0.15, "{writes}");
    }
}
