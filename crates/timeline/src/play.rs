//! Plays a timeline: does what the script does, when it does it, and writes down what comes of it.

use crate::log::Log;
use crate::peer::{Agreed, Peer};
use crate::script::{Action, Pattern, Timeline};
use crate::stack::{Call, Quantity, Stack};
use airtcp_wire::Time;

/// What came of it.
#[derive(Debug, Default)]
pub struct Played {
    pub log: Log,
    pub agreed: Agreed,
    /// By step: a call that failed, a state that was another.
    pub faults: Vec<(usize, String)>,
}

/// From the first line to the last, and so long after it as something may be late.
pub fn play(timeline: &Timeline, stack: &mut dyn Stack) -> Played {
    let mut player = Player {
        stack,
        peer: Peer::new(&timeline.setup),
        played: Played::default(),
        expected: 0,
    };
    for (number, step) in timeline.steps.iter().enumerate() {
        player.drain(step.at, number);
        player.step(number, step.at, &step.action);
        player.drain(step.at, number);
    }
    let end = timeline.steps.last().map_or(Time::ZERO, |step| step.at);
    let late = player.stack.tolerance().late;
    player.drain(end + late, timeline.steps.len());
    player.played.agreed = player.peer.agreed(&player.played.log);
    player.played
}

struct Player<'a> {
    stack: &'a mut dyn Stack,
    peer: Peer<'a>,
    played: Played,
    /// Segments that the script has expected so far.
    expected: usize,
}

impl Player<'_> {
    fn step(&mut self, number: usize, at: Time, action: &Action) {
        match action {
            Action::Expect(pattern) => self.expect(number, at, pattern),
            Action::Arrive(pattern) => self.arrive(number, at, pattern),
            Action::Call(call) => self.call(number, *call),
            Action::Check(checks) => {
                checks.iter().for_each(|(quantity, wanted)| self.check(number, *quantity, wanted));
            }
            Action::End => {}
        }
    }

    /// Lets time pass and writes down what is sent meanwhile.
    fn drain(&mut self, until: Time, step: usize) {
        while let Some(emitted) = self.stack.wait(until) {
            self.played.log.push(emitted, step);
        }
    }

    /// What is late may still come before the script goes on.
    fn expect(&mut self, number: usize, at: Time, pattern: &Pattern) {
        self.expected += pattern.count();
        let limit = at + self.stack.tolerance().late;
        while self.played.log.len() < self.expected {
            match self.stack.wait(limit) {
                Some(emitted) => self.played.log.push(emitted, number),
                None => break,
            }
        }
    }

    fn arrive(&mut self, number: usize, at: Time, pattern: &Pattern) {
        for segment in self.peer.segments(pattern, at, &self.played.log) {
            self.stack.inject(&segment, pattern.ecn);
            self.drain(at, number);
        }
    }

    fn call(&mut self, number: usize, call: Call) {
        if let Err(error) = self.stack.call(call) {
            self.played.faults.push((number, error));
        }
    }

    fn check(&mut self, number: usize, quantity: Quantity, wanted: &str) {
        let fault = match self.stack.observe(quantity) {
            Ok(found) if quantity.agrees(wanted, &found, self.stack.tolerance()) => return,
            Ok(found) => format!("{} is {found}", quantity.name()),
            Err(error) => error,
        };
        self.played.faults.push((number, fault));
    }
}
