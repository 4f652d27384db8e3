//! A medium that several links share: while one of them sends, the others wait.
//!
//! An access point and its stations are links on one half-duplex medium, in both directions. Each has its own queue, transmitter, losses
//! and delays. [`Access`] decides whose turn it is, and the link's [`Transmitter`](super::Transmitter) which packets it sends in a turn.
//!
//! A medium computes instead of waiting, as a [`Link`](super::Link) does. Whichever of its links is asked first, the medium carries out
//! all turns until then, in order of time. The first link names the next step of the medium as a time at which it must be woken, for
//! all of them; each names the times at which its own packets come out. What happens on the medium may change the times that other
//! links have named: [`Link::poll_moved`](super::Link::poll_moved) tells which.

mod access;
mod counts;
mod kinds;
mod port;
mod unsettled;

pub use access::{Access, Outcome, RoundRobin};
pub use counts::{Airtime, Delays, TurnStats};
pub(super) use counts::{Read, Turns};
pub use kinds::{Common, Keys, Kind, Radio};
pub(super) use port::Port;
pub(super) use unsettled::{Unsettled, Window};

use super::Schedule;
use super::general::General;
use crate::queue::Item;
use airtcp_wire::{Dur, Time};
use counts::Spent;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A medium. Clones are the same one.
#[derive(Clone)]
pub struct Medium(Arc<Mutex<Shared>>);

/// The link that names the next step of its medium.
const HERALD: usize = 0;

struct Shared {
    access: Box<dyn Access>,
    links: Vec<Member>,
    /// The turns that links have now.
    turns: Vec<Present>,
    spent: Spent,
    /// Scratch space; empty between calls.
    granted: Vec<usize>,
    /// The links that will contend, and when.
    wants: Vec<(Time, usize)>,
    /// The links that have hand-offs.
    handing_off: Vec<usize>,
    /// The links whose next output may be another one than they said.
    moved: Vec<usize>,
    /// The next step, as the herald said it last.
    heralded: Time,
}

struct Member {
    general: General,
    /// Will it contend, or does it contend or send?
    is_engaged: bool,
    /// Since when it contends.
    since: Time,
    /// What the medium had done when the link's counts were reset.
    airtime_before: Airtime,
    has_moved: bool,
}

/// A link's turn.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub start: Time,
    /// How long the link has waited for it.
    pub waited: Dur,
}

/// A turn that is not over.
struct Present {
    link: usize,
    /// Absent: it has nothing to send.
    schedule: Option<Schedule>,
    ends: Time,
    outcome: Outcome,
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
        let shared = Shared {
            access: Box::new(access),
            links: Vec::new(),
            turns: Vec::new(),
            spent: Spent::default(),
            granted: Vec::new(),
            wants: Vec::new(),
            handing_off: Vec::new(),
            moved: Vec::new(),
            heralded: Time::NEVER,
        };
        Medium(Arc::new(Mutex::new(shared)))
    }

    pub(super) fn join(&self, mut general: General) -> Port {
        general.front.asked().waits_for_turn = true;
        let link = {
            let mut shared = self.shared();
            shared.links.push(Member::new(general));
            shared.links.len() - 1
        };
        let port = Port { medium: self.clone(), link };
        port.alter(|_| ());
        port
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // A run is one thread; the lock is there for drivers that are moved between threads.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    fn new(general: General) -> Member {
        let (since, airtime_before) = (Time::ZERO, Airtime::default());
        Member { general, is_engaged: false, since, airtime_before, has_moved: false }
    }
}

impl Shared {
    /// From the beginning until `now`, when everything until then has happened.
    fn airtime(&mut self, now: Time) -> Airtime {
        self.count(now);
        self.spent.airtime()
    }

    /// Counts the time until `now`.
    fn count(&mut self, now: Time) {
        let since = self.spent.pass(now, self.turns.len());
        if self.turns.len() > 1 {
            let Shared { turns, links, .. } = self;
            turns.iter().for_each(|turn| links[turn.link].general.line.on_colliding(since, now));
        }
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
        while let Some((event_at, link)) = self.next_event().filter(|(event_at, _)| *event_at <= now) {
            self.take_turns(event_at);
            let General { front, line, .. } = &mut self.links[link].general;
            let has_joined = front.asked().handle_event(line);
            self.on_moved(link);
            if has_joined {
                self.joined(event_at, link);
            }
        }
        self.take_turns(now);
    }

    /// The next hand-off, or the next forwarded packet that joins its queue, and its link.
    fn next_event(&mut self) -> Option<(Time, usize)> {
        let Shared { handing_off, links, .. } = self;
        handing_off.iter().map(|&link| (links[link].general.front.asked().next_event(), link)).min()
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
        let turn = match self.turns.first() {
            None => (self.access.next_turn(), Step::Begins),
            Some(turn) => (turn.ends, Step::Ends),
        };
        self.wants.iter().map(|&(at, link)| (at, Step::Contends(link))).fold(turn, Ord::min)
    }

    fn contend(&mut self, now: Time, link: usize) {
        self.wants.retain(|(_, other)| *other != link);
        self.links[link].since = now;
        self.access.contend(now, link);
    }

    fn begin_turn(&mut self, now: Time) {
        self.count(now);
        self.access.grant(now, &mut self.granted);
        let mut granted = std::mem::take(&mut self.granted);
        for link in granted.drain(..) {
            let Member { general: General { front, line, .. }, since, .. } = &mut self.links[link];
            let turn = Turn { start: now, waited: now.since(*since) };
            let schedule = front.asked().begin_turn(turn, line);
            self.turns.push(Present { link, schedule, ends: now, outcome: Outcome::Empty });
            self.on_moved(link);
        }
        self.granted = granted;
        self.settle_turns(now);
    }

    /// What becomes of the turns that begin. They end together.
    fn settle_turns(&mut self, now: Time) {
        let Shared { turns, links, .. } = self;
        let collides = turns.len() > 1;
        let mut ends = now;
        for turn in &mut *turns {
            let line = &mut links[turn.link].general.line;
            if let Some(schedule) = &turn.schedule {
                turn.outcome = line.settle_turn(now, schedule, collides);
            }
            ends = ends.max(line.free_at);
        }
        turns.iter_mut().for_each(|turn| turn.ends = ends);
    }

    fn end_turn(&mut self, now: Time) {
        self.count(now);
        let mut turns = std::mem::take(&mut self.turns);
        for Present { link, outcome, .. } in turns.drain(..) {
            let Member { general: General { front, line, .. }, is_engaged, .. } = &mut self.links[link];
            front.asked().end_turn(now, line);
            *is_engaged = false;
            self.on_moved(link);
            self.access.release(now, link, outcome);
            self.rouse(now, link);
        }
        self.turns = turns;
    }

    /// Lets a link contend as soon as it has something to send.
    fn rouse(&mut self, now: Time, link: usize) {
        let Member { general, is_engaged, .. } = &mut self.links[link];
        let ready_at = general.front.asked().ready_at;
        if !*is_engaged && !ready_at.is_never() {
            *is_engaged = true;
            self.wants.push((ready_at.max(now), link));
        }
    }

    /// The next output of `link` may be another one than it said.
    fn on_moved(&mut self, link: usize) {
        if !std::mem::replace(&mut self.links[link].has_moved, true) {
            self.moved.push(link);
        }
    }

    fn poll_moved(&mut self) -> Option<usize> {
        let step_at = self.next_step().0;
        if std::mem::replace(&mut self.heralded, step_at) != step_at {
            return Some(HERALD);
        }
        let link = self.moved.pop()?;
        self.links[link].has_moved = false;
        Some(link)
    }

    fn next_out(&mut self, link: usize) -> Time {
        let step_at = if link == HERALD { self.next_step().0 } else { Time::NEVER };
        let General { front, line, .. } = &mut self.links[link].general;
        let asked = front.asked();
        let waits = !asked.ready_at.is_never();
        // A hand-off takes what waits, too.
        asked.or_event(line.next_out.min(step_at).min(if waits { asked.next_event() } else { Time::NEVER }))
    }
}
