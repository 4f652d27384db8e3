//! Turns: while one link sends, those that hear it wait. [`Access`] decides whose turn it is, and the link's
//! [`Transmitter`](crate::path::Transmitter) which packets it sends in a turn.

use super::counts::Spent;
use super::{Access, Airtime, Disturbance, Hearing, Machine, Members, Outcome};
use crate::path::Schedule;
use crate::path::general::General;
use airtcp_wire::{Dur, Time};

pub struct InTurn {
    access: Box<dyn Access>,
    hearing: Hearing,
    contenders: Vec<Contender>,
    /// The turns that links have now.
    turns: Vec<Present>,
    spent: Spent,
    /// Scratch space; empty between calls.
    granted: Vec<usize>,
    /// The links that will contend, and when.
    wants: Vec<(Time, usize)>,
}

#[derive(Clone, Copy, Default)]
struct Contender {
    /// Will it contend, or does it contend or send?
    is_engaged: bool,
    /// Since when it contends.
    since: Time,
}

/// A link's turn.
#[derive(Clone, Copy)]
pub struct Turn {
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

impl InTurn {
    pub fn new(access: impl Access + 'static, hearing: Hearing) -> InTurn {
        InTurn {
            access: Box::new(access),
            hearing,
            contenders: Vec::new(),
            turns: Vec::new(),
            spent: Spent::default(),
            granted: Vec::new(),
            wants: Vec::new(),
        }
    }

    /// Counts the time until `now`.
    fn count(&mut self, now: Time, members: &mut Members) {
        let since = self.spent.pass(now, self.turns.len());
        if self.turns.len() > 1 {
            self.turns.iter().for_each(|turn| members.general(turn.link).line.on_colliding(since, now));
        }
    }

    fn next(&self) -> (Time, Step) {
        let may_begin = self.turns.is_empty() || self.hearing.hides();
        let begins = if may_begin { self.access.next_turn() } else { Time::NEVER };
        let turn = self.turns.iter().map(Present::next_step).fold((begins, Step::Begins), Ord::min);
        self.wants.iter().map(|&(at, link)| (at, Step::Contends(link))).fold(turn, Ord::min)
    }

    fn contend(&mut self, now: Time, link: usize) {
        self.wants.retain(|(_, other)| *other != link);
        self.contenders[link].since = now;
        self.access.contend(now, link);
    }

    fn begin_turn(&mut self, now: Time, members: &mut Members) {
        self.count(now, members);
        self.access.grant(now, &mut self.granted);
        let mut granted = std::mem::take(&mut self.granted);
        for link in granted.drain(..) {
            let General { front, line, .. } = members.general(link);
            let turn = Turn { start: now, waited: now.since(self.contenders[link].since) };
            let schedule = front.asked().begin_turn(now, line);
            let outcome = if schedule.is_some() { None } else { Some(Outcome::Empty) };
            self.turns.push(Present { link, turn, schedule, others: 0.0, outcome, ends: now });
            self.overlap(now, members);
            members.on_moved(link);
        }
        self.granted = granted;
        if !self.hearing.hides() {
            self.settle_together(now, members);
        }
    }

    /// The turn that begins last overlaps the others.
    fn overlap(&mut self, now: Time, members: &Members) {
        let last = self.turns.len() - 1;
        for other in 0..last {
            self.disturb(now, other, last, members);
            self.disturb(now, last, other, members);
        }
    }

    /// One turn disturbs another.
    fn disturb(&mut self, now: Time, by: usize, turn: usize, members: &Members) {
        let InTurn { turns, hearing, .. } = &*self;
        let (by, disturbed) = (&turns[by], &turns[turn]);
        let is_answered = by.has_asked(now);
        // Nobody answers what cannot be read.
        let is_silent =
            by.schedule.is_none() || is_answered && self.disturbance(by, members) == Disturbance::Fatal;
        if is_silent || disturbed.has_asked(now) || !hearing.reaches(by.link, disturbed.link, is_answered) {
            return;
        }
        let strength = match !is_answered && hearing.compares(by.link, disturbed.link) {
            true => members.line(by.link).signal(),
            false => f64::INFINITY,
        };
        self.turns[turn].others += strength;
    }

    /// Settles the turns that are answered now.
    fn settle_turns(&mut self, now: Time, members: &mut Members) {
        for turn in 0..self.turns.len() {
            if self.turns[turn].next_step() == (now, Step::Settles) {
                self.settle(now, turn, members);
            }
        }
    }

    /// Settles the turns that begin, which nobody else can overlap. They end together.
    fn settle_together(&mut self, now: Time, members: &mut Members) {
        (0..self.turns.len()).for_each(|turn| self.settle(now, turn, members));
        let ends = self.turns.iter().map(|turn| turn.ends).max().unwrap_or(now);
        self.turns.iter_mut().for_each(|turn| turn.ends = ends);
    }

    /// What the frames of a turn meet at the far end.
    fn disturbance(&self, turn: &Present, members: &Members) -> Disturbance {
        let signal = || members.line(turn.link).signal();
        self.hearing.disturbance(signal, turn.others)
    }

    /// It is known what overlaps a turn, and so what becomes of it.
    fn settle(&mut self, now: Time, turn: usize, members: &mut Members) {
        let disturbance = self.disturbance(&self.turns[turn], members);
        let InTurn { turns, access, .. } = self;
        let Present { link, turn: began, schedule: Some(schedule), .. } = turns[turn] else { return };
        let line = &mut members.general(link).line;
        let outcome = line.settle_turn(began, &schedule, disturbance);
        turns[turn].ends = line.free_at.max(now);
        turns[turn].outcome = Some(outcome);
        let is_asked = disturbance != Disturbance::Fatal && schedule.asks_first();
        if is_asked || outcome == Outcome::Read {
            access.answer(now, link);
        }
        members.on_moved(link);
    }

    fn end_turns(&mut self, now: Time, members: &mut Members) {
        self.count(now, members);
        let mut place = 0;
        while let Some(turn) = self.turns.get(place) {
            if turn.next_step() > (now, Step::Ends) {
                place += 1;
                continue;
            }
            let Present { link, outcome, .. } = self.turns.remove(place);
            let General { front, line, .. } = members.general(link);
            front.asked().end_turn(now, line);
            self.contenders[link].is_engaged = false;
            members.on_moved(link);
            self.access.release(now, link, outcome.unwrap_or(Outcome::Empty));
            self.rouse(now, link, members);
        }
    }
}

impl Machine for InTurn {
    fn join(&mut self) {
        self.contenders.push(Contender::default());
    }

    /// Lets a link contend as soon as it has something to send.
    fn rouse(&mut self, now: Time, link: usize, members: &mut Members) {
        let ready_at = members.general(link).front.asked().ready_at;
        let Contender { is_engaged, .. } = &mut self.contenders[link];
        if !*is_engaged && !ready_at.is_never() {
            *is_engaged = true;
            self.wants.push((ready_at.max(now), link));
        }
    }

    fn next_step(&self) -> Time {
        self.next().0
    }

    fn step(&mut self, until: Time, members: &mut Members) -> bool {
        match self.next() {
            (at, _) if at > until || at.is_never() => return false,
            (at, Step::Settles) => self.settle_turns(at, members),
            (at, Step::Ends) => self.end_turns(at, members),
            (at, Step::Contends(link)) => self.contend(at, link),
            (at, Step::Begins) => self.begin_turn(at, members),
        }
        true
    }

    fn airtime(&mut self, now: Time, members: &mut Members) -> Airtime {
        self.count(now, members);
        self.spent.airtime()
    }
}
