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
mod hearing;
mod kinds;
mod port;
mod unsettled;

pub use access::{Access, Outcome, RoundRobin};
pub use counts::{Airtime, Delays, TurnStats};
pub(super) use counts::{Read, Turns};
pub(super) use hearing::Disturbance;
pub use hearing::Hearing;
pub use kinds::{Common, Keys, Kind, Radio};
pub(super) use port::Port;
pub use unsettled::LoggedTurn;
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
    hearing: Hearing,
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
    turn: Turn,
    /// Absent: it has nothing to send.
    schedule: Option<Schedule>,
    /// The strength of what overlaps it at the far end, as a ratio to noise.
    others: f64,
    /// Absent: others may still overlap it.
    outcome: Option<Outcome>,
    ends: Time,
}

impl Present {
    /// Has it asked for an answer by `now`? It may still be disturbed until then.
    fn has_asked(&self, now: Time) -> bool {
        self.schedule.is_none_or(|schedule| schedule.asked <= now)
    }

    fn next_step(&self) -> (Time, Step) {
        match (self.outcome, self.schedule) {
            (None, Some(schedule)) => (schedule.answers, Step::Settles),
            _ => (self.ends, Step::Ends),
        }
    }
}

/// What happens next on a medium. At the same instant, a turn is answered and ends before others contend, and those do before the next
/// turn begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Settles,
    Ends,
    Contends(usize),
    Begins,
}

impl Medium {
    /// One on which all hear all.
    pub fn new(access: impl Access + 'static) -> Medium {
        Medium::heard(access, Hearing::default())
    }

    pub fn heard(access: impl Access + 'static, hearing: Hearing) -> Medium {
        let shared = Shared {
            access: Box::new(access),
            hearing,
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
                (at, Step::Settles) => self.settle_turns(at),
                (at, Step::Ends) => self.end_turns(at),
                (at, Step::Contends(link)) => self.contend(at, link),
                (at, Step::Begins) => self.begin_turn(at),
            }
        }
    }

    fn next_step(&self) -> (Time, Step) {
        let may_begin = self.turns.is_empty() || self.hearing.hides();
        let begins = if may_begin { self.access.next_turn() } else { Time::NEVER };
        let turn = self.turns.iter().map(Present::next_step).fold((begins, Step::Begins), Ord::min);
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
            let schedule = front.asked().begin_turn(now, line);
            let outcome = if schedule.is_some() { None } else { Some(Outcome::Empty) };
            self.turns.push(Present { link, turn, schedule, others: 0.0, outcome, ends: now });
            self.overlap(now);
            self.on_moved(link);
        }
        self.granted = granted;
        if !self.hearing.hides() {
            self.settle_together(now);
        }
    }

    /// The turn that begins last overlaps the others.
    fn overlap(&mut self, now: Time) {
        let last = self.turns.len() - 1;
        for other in 0..last {
            self.disturb(now, other, last);
            self.disturb(now, last, other);
        }
    }

    /// One turn disturbs another.
    fn disturb(&mut self, now: Time, by: usize, turn: usize) {
        let Shared { turns, links, hearing, .. } = &*self;
        let (by, disturbed) = (&turns[by], &turns[turn]);
        let is_answered = by.has_asked(now);
        // Nobody answers what cannot be read.
        let is_silent = by.schedule.is_none() || is_answered && self.disturbance(by) == Disturbance::Fatal;
        if is_silent || disturbed.has_asked(now) || !hearing.reaches(by.link, disturbed.link, is_answered) {
            return;
        }
        let strength = match !is_answered && hearing.compares(by.link, disturbed.link) {
            true => links[by.link].general.line.signal(),
            false => f64::INFINITY,
        };
        self.turns[turn].others += strength;
    }

    /// Settles the turns that are answered now.
    fn settle_turns(&mut self, now: Time) {
        for turn in 0..self.turns.len() {
            if self.turns[turn].next_step() == (now, Step::Settles) {
                self.settle(now, turn);
            }
        }
    }

    /// Settles the turns that begin, which nobody else can overlap. They end together.
    fn settle_together(&mut self, now: Time) {
        (0..self.turns.len()).for_each(|turn| self.settle(now, turn));
        let ends = self.turns.iter().map(|turn| turn.ends).max().unwrap_or(now);
        self.turns.iter_mut().for_each(|turn| turn.ends = ends);
    }

    /// What the frames of a turn meet at the far end.
    fn disturbance(&self, turn: &Present) -> Disturbance {
        let signal = || self.links[turn.link].general.line.signal();
        self.hearing.disturbance(signal, turn.others)
    }

    /// It is known what overlaps a turn, and so what becomes of it.
    fn settle(&mut self, now: Time, turn: usize) {
        let disturbance = self.disturbance(&self.turns[turn]);
        let Shared { turns, links, access, .. } = self;
        let Present { link, turn: began, schedule: Some(schedule), .. } = turns[turn] else { return };
        let line = &mut links[link].general.line;
        let outcome = line.settle_turn(began, &schedule, disturbance);
        turns[turn].ends = line.free_at.max(now);
        turns[turn].outcome = Some(outcome);
        let is_asked = disturbance != Disturbance::Fatal && schedule.asks_first();
        if is_asked || outcome == Outcome::Read {
            access.answer(now, link);
        }
        self.on_moved(link);
    }

    fn end_turns(&mut self, now: Time) {
        self.count(now);
        let mut place = 0;
        while let Some(turn) = self.turns.get(place) {
            if turn.next_step() > (now, Step::Ends) {
                place += 1;
                continue;
            }
            let Present { link, outcome, .. } = self.turns.remove(place);
            let Member { general: General { front, line, .. }, is_engaged, .. } = &mut self.links[link];
            front.asked().end_turn(now, line);
            *is_engaged = false;
            self.on_moved(link);
            self.access.release(now, link, outcome.unwrap_or(Outcome::Empty));
            self.rouse(now, link);
        }
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
