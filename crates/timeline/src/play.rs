//! Plays a timeline: performs each step at its time and records the result.

use crate::log::{Log, Place};
use crate::peer::{Agreed, Peer};
use crate::script::{Action, Pattern, Step, Timeline};
use crate::stack::{Call, Quantity, Stack};
use airtcp_wire::{Dur, Time};

/// The result of playing a timeline.
#[derive(Debug, Default)]
pub struct Played {
    pub log: Log,
    pub agreed: Agreed,
    /// When each step was played, and the latest time for what it expects.
    pub dues: Vec<Due>,
    /// Failed calls and checks, by step.
    pub faults: Vec<(usize, String)>,
}

/// The time window of a step. A delayed step delays those that follow relative to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Due {
    pub at: Time,
    pub until: Time,
}

/// Plays all steps, then waits as long as a late segment may take.
pub fn play(timeline: &Timeline, stack: &mut dyn Stack) -> Played {
    let (peer, played) = (Peer::new(&timeline.setup), Played::default());
    let mut player = Player { stack, peer, played, expected: 0, ended: Time::ZERO, moved: Time::ZERO };
    for (number, step) in timeline.steps.iter().enumerate() {
        player.play(number, step);
    }
    let end = player.due(player.ended);
    player.drain(end.until, Place { step: timeline.steps.len(), at: Time::NEVER });
    player.played.agreed = player.peer.agreed(&player.played.log);
    player.played
}

struct Player<'a> {
    stack: &'a mut dyn Stack,
    peer: Peer<'a>,
    played: Played,
    /// Number of segments that the script has expected so far.
    expected: usize,
    /// When the last step ended.
    ended: Time,
    /// When scripted time last advanced.
    moved: Time,
}

impl Player<'_> {
    fn play(&mut self, number: usize, step: &Step) {
        let due = self.due(step.after.map_or(step.at, |after| self.ended + after));
        self.played.dues.push(due);
        let place = Place { step: number, at: step.at };
        self.drain(due.at, place);
        self.act(due, place, &step.action);
        self.drain(due.at, place);
    }

    fn due(&mut self, at: Time) -> Due {
        let idle = at.since(self.moved);
        if idle > Dur::ZERO {
            self.moved = at;
        }
        self.ended = at;
        Due { at, until: at + self.stack.lateness_after(idle) }
    }

    fn act(&mut self, due: Due, place: Place, action: &Action) {
        match action {
            Action::Expect(pattern) => self.expect(due, place, pattern),
            Action::Arrive(pattern) => self.arrive(due, place, pattern),
            Action::Call(call) => self.call(place.step, *call),
            Action::Check(checks) => {
                checks.iter().for_each(|(quantity, wanted)| self.check(place.step, *quantity, wanted));
            }
            Action::End => {}
        }
    }

    /// Lets time pass until `until` and logs what is sent.
    fn drain(&mut self, until: Time, place: Place) {
        while let Some(emitted) = self.stack.wait(until) {
            self.played.log.push(emitted, place);
        }
    }

    /// Waits for the expected segments as long as they may be late.
    fn expect(&mut self, due: Due, place: Place, pattern: &Pattern) {
        self.expected += pattern.count();
        while self.played.log.len() < self.expected {
            match self.stack.wait(due.until) {
                Some(emitted) => {
                    self.ended = self.ended.max(emitted.at);
                    self.played.log.push(emitted, place);
                }
                None => break,
            }
        }
    }

    fn arrive(&mut self, due: Due, place: Place, pattern: &Pattern) {
        for segment in self.peer.segments(pattern, place.at, &self.played.log) {
            self.stack.inject(&segment, pattern.ecn);
            self.drain(due.at, place);
        }
    }

    fn call(&mut self, number: usize, call: Call) {
        if let Err(error) = self.stack.call(call) {
            self.played.faults.push((number, error));
        }
    }

    fn check(&mut self, number: usize, quantity: Quantity, wanted: &str) {
        let fault = match self.stack.observe(quantity) {
            Ok(found) if quantity.agrees(wanted, &found, self.stack.lateness_after(Dur::ZERO)) => return,
            Ok(found) => format!("{} is {found}", quantity.name()),
            Err(error) => error,
        };
        self.played.faults.push((number, fault));
    }
}
