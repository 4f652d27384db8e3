//! Who may send next on a medium.

use airtcp_wire::Time;
use std::collections::BTreeMap;

/// What became of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Nothing was sent.
    Empty,
    /// Something was read at the far end.
    Read,
    /// Nothing that was sent could be read.
    Unread,
}

/// Decides who may send, and when. A medium's links are numbered in the order in which they joined it.
///
/// Calls come in order of time. What one link does may only delay the others' turns.
pub trait Access: Send {
    /// `link` has something to send from `now` on. Another link may be sending.
    fn contend(&mut self, now: Time, link: usize);

    /// When the next turn begins, if no other link contends before; [`Time::NEVER`] if none does. Where all hear all, it is asked only while
    /// nobody sends.
    fn next_turn(&self) -> Time;

    /// The next turn begins. Adds to `turn` the links that send in it, which then contend no more. If there are several, they collide.
    fn grant(&mut self, now: Time, turn: &mut Vec<usize>);

    /// The far end of `link` begins to answer what that sends in its turn.
    fn answer(&mut self, _now: Time, _link: usize) {}

    /// The turn of `link` is over. The medium is free at `now`. Called for each link that has sent.
    fn release(&mut self, now: Time, link: usize, outcome: Outcome);
}

/// The links that have something to send take turns. Nobody waits while the medium is free.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    /// Since when each one contends.
    contend: BTreeMap<usize, Time>,
    last: usize,
    free_at: Time,
}

impl Access for RoundRobin {
    fn contend(&mut self, now: Time, link: usize) {
        self.contend.insert(link, now);
    }

    fn next_turn(&self) -> Time {
        self.contend.values().min().map_or(Time::NEVER, |&since| since.max(self.free_at))
    }

    fn grant(&mut self, _now: Time, turn: &mut Vec<usize>) {
        let next = self.contend.range(self.last + 1..).next().or_else(|| self.contend.iter().next());
        if let Some((&link, _)) = next {
            self.contend.remove(&link);
            self.last = link;
            turn.push(link);
        }
    }

    fn release(&mut self, now: Time, _link: usize, _outcome: Outcome) {
        self.free_at = now;
    }
}
