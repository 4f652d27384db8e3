//! A medium that several links share: while one of them sends, the others wait.
//!
//! An access point and its stations are links on one half-duplex medium, in both directions. Each has its own queue, transmitter, losses
//! and delays. [`Access`] decides whose turn it is, and the link's [`Transmitter`](super::Transmitter) which packets it sends in a turn.
//!
//! A medium computes instead of waiting, as a [`Link`](super::Link) does. Whichever of its links is asked first, the medium carries out
//! all turns until then, in order of time. Each link may be driven as if it were alone: since the others can only delay its turns, it
//! is never late when it wakes at the time that it has named, though it may find that its turn has not come.

mod access;
mod counts;
mod kinds;
mod unsettled;

pub use access::{Access, Outcome, RoundRobin};
pub(super) use counts::Read;
pub use counts::{Airtime, Delays, TurnStats};
pub use kinds::{Common, Keys, Kind, Radio};
pub(super) use unsettled::Unsettled;

use super::general::General;
use crate::queue::Item;
use airtcp_wire::{Dur, Time};
use counts::Spent;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A medium. Clones are the same one.
#[derive(Clone)]
pub struct Medium(Arc<Mutex<Shared>>);

/// A link's place on a medium.
pub(super) struct Port {
    medium: Medium,
    link: usize,
}

struct Shared {
    access: Box<dyn Access>,
    links: Vec<Member>,
    /// The links that send, and what becomes of their turn.
    turn: Vec<(usize, Outcome)>,
    /// When the present turn ends.
    ends: Time,
    spent: Spent,
    /// Scratch space; empty between calls.
    granted: Vec<usize>,
}

struct Member {
    general: General,
    /// When it will contend: never while it contends or sends, or has nothing to send.
    wants: Time,
    /// Does it contend or send?
    is_engaged: bool,
    /// Since when it contends.
    since: Time,
    /// What the medium had done when the link's counts were reset.
    airtime_before: Airtime,
}

/// A link's turn.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub start: Time,
    /// How long the link has waited for it.
    pub waited: Dur,
    /// Nobody can read what it sends.
    pub collides: bool,
}

/// What happens next on a medium. At the same instant, a turn ends before others contend, and those do before the next turn begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Ends,
    Contends(usize),
    Begins,
}

impl Medium {
    pub fn new(access: impl Access + 'static) -> Medium {
        let (links, turn, granted) = (Vec::new(), Vec::new(), Vec::new());
        let shared = Shared {
            access: Box::new(access),
            links,
            turn,
            ends: Time::ZERO,
            spent: Spent::default(),
            granted,
        };
        Medium(Arc::new(Mutex::new(shared)))
    }

    pub(super) fn join(&self, mut general: General) -> Port {
        general.front.asked().waits_for_turn = true;
        let mut shared = self.shared();
        shared.links.push(Member::new(general));
        Port { medium: self.clone(), link: shared.links.len() - 1 }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // A run is one thread; the lock is there for drivers that are moved between threads.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Port {
    /// The link as it is.
    pub fn with<R>(&self, f: impl FnOnce(&mut General) -> R) -> R {
        f(&mut self.medium.shared().links[self.link].general)
    }

    /// The link after all that happens on the medium until `now`.
    pub fn at<R>(&self, now: Time, f: impl FnOnce(&mut General) -> R) -> R {
        let mut shared = self.medium.shared();
        shared.catch_up(now);
        f(&mut shared.links[self.link].general)
    }

    pub fn turn_stats(&self, now: Time) -> TurnStats {
        let mut shared = self.medium.shared();
        shared.catch_up(now);
        let medium = shared.airtime(now);
        let Member { general, airtime_before, .. } = &shared.links[self.link];
        general.line.turn_stats(now, medium.since(airtime_before))
    }

    pub fn reset_stats(&self, now: Time) {
        let mut shared = self.medium.shared();
        shared.catch_up(now);
        let airtime_before = shared.airtime(now);
        let member = &mut shared.links[self.link];
        member.general.reset_stats(now);
        member.general.line.reset_turns(now);
        member.airtime_before = airtime_before;
    }

    pub fn handle_packet(&self, now: Time, item: Item) {
        self.medium.shared().handle_packet(now, self.link, item);
    }

    pub fn next_out(&self) -> Time {
        self.medium.shared().next_out(self.link)
    }
}

impl Member {
    fn new(general: General) -> Member {
        let (since, airtime_before) = (Time::ZERO, Airtime::default());
        Member { general, wants: Time::NEVER, is_engaged: false, since, airtime_before }
    }
}

impl Shared {
    /// From the beginning until `now`, when everything until then has happened.
    fn airtime(&self, now: Time) -> Airtime {
        self.spent.until(now, self.ends.since(now))
    }

    fn handle_packet(&mut self, now: Time, link: usize, item: Item) {
        self.catch_up(now);
        if self.links[link].general.handle_packet(now, item) {
            self.joined(now, link);
        }
    }

    /// A packet has joined the queue of `link`.
    fn joined(&mut self, now: Time, link: usize) {
        self.rouse(now, link);
        self.take_turns(now);
        let General { front, line, .. } = &mut self.links[link].general;
        front.asked().count_queue(line);
    }

    /// Carries out all turns and hand-offs until `now`, and lets forwarded packets join their queues.
    fn catch_up(&mut self, now: Time) {
        loop {
            let events = self.links.iter_mut().map(|member| member.general.front.asked().next_event());
            let Some((event_at, link)) = events.zip(0..).min() else { return };
            self.take_turns(now.min(event_at));
            if now < event_at {
                return;
            }
            let General { front, line, .. } = &mut self.links[link].general;
            if front.asked().handle_event(line) {
                self.joined(event_at, link);
            }
        }
    }

    fn take_turns(&mut self, until: Time) {
        loop {
            match self.next_step() {
                (at, _) if at > until || at.is_never() => return,
                (at, Step::Ends) => self.end_turn(at),
                (at, Step::Contends(link)) => self.contend(at, link),
                (at, Step::Begins) => self.begin_turn(at),
            }
        }
    }

    fn next_step(&self) -> (Time, Step) {
        let wants = self.links.iter().zip(0..).map(|(member, link)| (member.wants, Step::Contends(link)));
        let turn = match self.turn.is_empty() {
            true => (self.access.next_turn(), Step::Begins),
            false => (self.ends, Step::Ends),
        };
        wants.fold(turn, Ord::min)
    }

    fn contend(&mut self, now: Time, link: usize) {
        let member = &mut self.links[link];
        (member.wants, member.is_engaged, member.since) = (Time::NEVER, true, now);
        self.access.contend(now, link);
    }

    fn begin_turn(&mut self, now: Time) {
        self.access.grant(now, &mut self.granted);
        let collides = self.granted.len() > 1;
        self.ends = now;
        for link in self.granted.drain(..) {
            let Member { general: General { front, line, .. }, since, .. } = &mut self.links[link];
            let turn = Turn { start: now, waited: now.since(*since), collides };
            self.turn.push((link, front.asked().serve(turn, line)));
            self.ends = self.ends.max(line.free_at);
        }
        self.spent.on_turn(self.ends.since(now), collides);
    }

    fn end_turn(&mut self, now: Time) {
        for (link, outcome) in std::mem::take(&mut self.turn) {
            let Member { general: General { front, line, .. }, is_engaged, .. } = &mut self.links[link];
            front.asked().end_turn(now, line);
            *is_engaged = false;
            self.access.release(now, link, outcome);
            self.rouse(now, link);
        }
    }

    /// Lets a link contend as soon as it has something to send.
    fn rouse(&mut self, now: Time, link: usize) {
        let member = &mut self.links[link];
        if !member.is_engaged {
            member.wants = member.general.front.asked().ready_at.max(now);
        }
    }

    fn next_out(&mut self, link: usize) -> Time {
        let step_at = self.next_step().0;
        let General { front, line, .. } = &mut self.links[link].general;
        let asked = front.asked();
        let waits = !asked.ready_at.is_never();
        asked.or_event(if waits { line.next_out.min(step_at) } else { line.next_out })
    }
}
