//! The line: from the transmitter to the far end of the link.

use super::burst::{Encoding, Frame, Supply};
use super::compression::HopCompression;
use super::dropped::Dropped;
use super::link::{Fate, Output};
use super::medium::{
    Airtime, Disturbance, LoggedTurn, Outcome, Read, Turn, TurnStats, Turns, Unsettled, Window,
};
use super::pipe::Pipe;
use super::stats::Counters;
use super::{Arq, DelayModel, Episodes, FixedRate, Interrupted, LossModel, Received, Schedule, Transmitter};
use crate::queue::{DropCause, Drops, Item, Queue};
use airtcp_wire::{Dur, Rate, Time};

pub(super) struct Line {
    transmitter: Box<dyn Transmitter>,
    propagation: Dur,
    delay: Option<Box<dyn DelayModel>>,
    pub loss: Option<Box<dyn LossModel>>,
    pub encoding: Encoding,
    arq: Option<Arq>,
    /// Boxed, because only links on a medium have it.
    unsettled: Option<Box<Unsettled>>,
    pub pipe: Pipe,
    dropped: Dropped,
    /// When the first packet of `pipe` or `dropped` comes out.
    pub next_out: Time,
    /// When the transmitter has sent all that it was given.
    pub free_at: Time,
    pub counters: Counters,
}

impl Line {
    pub fn new(transmitter: Box<dyn Transmitter>, propagation: Dur) -> Line {
        Line {
            transmitter,
            propagation,
            delay: None,
            loss: None,
            encoding: Encoding::default(),
            arq: None,
            unsettled: None,
            pipe: Pipe::fifo(),
            dropped: Dropped::default(),
            next_out: Time::NEVER,
            free_at: Time::ZERO,
            counters: Counters::default(),
        }
    }

    pub fn set_delay(&mut self, delay: Box<dyn DelayModel>, overtaking: bool) {
        self.delay = Some(delay);
        if overtaking {
            self.pipe = Pipe::overtaking();
        }
    }

    pub fn set_arq(&mut self, arq: Arq) {
        self.arq = Some(arq);
        if !arq.in_order {
            self.pipe = Pipe::overtaking();
        }
    }

    pub fn interrupt(&mut self, outages: Episodes) {
        let placeholder = Box::new(FixedRate::new(Rate(0)));
        let transmitter = std::mem::replace(&mut self.transmitter, placeholder);
        self.transmitter = Box::new(Interrupted::new(transmitter, outages));
    }

    /// The earliest time at which a packet that the transmitter takes up at `start` may come out before those in the pipe.
    /// [`Time::NEVER`] if packets do not overtake.
    #[inline]
    pub fn next_overtaking(&self, start: Time) -> Time {
        if self.pipe.overtakes() { start + self.propagation } else { Time::NEVER }
    }

    /// The transmitter, which is free, takes up a packet at `start`.
    #[inline(always)]
    pub fn send(&mut self, start: Time, item: Item) {
        let mut frame = self.encoding.frame(item);
        self.free_at = self.transmitter.departure(start, frame.bytes);
        frame.left = self.free_at;
        let mut lost = self.is_lost(&frame.sent);
        if lost && self.arq.is_some() {
            (lost, frame.left) = self.repeat(&frame);
        }
        self.counters.on_send(1, item.bytes, self.free_at.since(start));
        self.land(&frame, lost);
    }

    /// A cell takes up a packet, which it will [hand on](Line::hand_on).
    pub fn take(&mut self, item: Item) -> Frame {
        self.counters.on_send(1, item.bytes, Dur::ZERO);
        self.encoding.frame(item)
    }

    /// A packet that a cell has carried comes out of it at `at`, or never.
    pub fn hand_on(&mut self, mut frame: Frame, at: Time, is_lost: bool) {
        frame.left = at;
        let is_lost = self.is_lost(&frame.sent) || is_lost;
        self.land(&frame, is_lost);
    }

    /// A cell loses a packet in a hand-off.
    pub fn lose_under_way(&mut self, at: Time, frame: &Frame) {
        self.drop(at, frame.item.id, DropCause::Outage);
    }

    pub fn turns(&mut self) -> &mut Turns {
        &mut self.unsettled.get_or_insert_default().turns
    }

    /// What the far end receives. `now` never goes back.
    pub fn received(&mut self, now: Time) -> Received {
        self.transmitter.received(now)
    }

    /// The first instant from `now` on that is in no outage.
    pub fn resumes_at(&mut self, now: Time) -> Time {
        self.transmitter.resumes_at(now)
    }

    /// The transmitter has its turn on a medium, and sends what `queue` gives, if there is anything. `drops` receives what the queue drops.
    pub fn begin_turn(&mut self, start: Time, queue: &mut dyn Queue, drops: &mut Drops) -> Option<Schedule> {
        let mut unsettled = self.unsettled.take().unwrap_or_default();
        let open = unsettled.open();
        let Unsettled { repeats, burst, .. } = &mut *unsettled;
        let encoding = &mut self.encoding;
        let mut supply = Supply { now: start, repeats, queue, drops, encoding, open, taken: 0 };
        let schedule = supply.has_any().then(|| self.transmitter.serve(start, &mut supply, burst));
        if let Some(schedule) = &schedule {
            (0..supply.taken).for_each(|_| self.counters.on_leave(start));
            self.occupy(start, schedule.gives_up);
        }
        self.unsettled = Some(unsettled);
        schedule
    }

    /// The transmitter is occupied from a time on.
    pub fn occupy(&mut self, from: Time, until: Time) {
        self.counters.on_busy(until.since(from));
        self.free_at = until;
    }

    /// It is known what disturbs a turn.
    pub fn settle_turn(&mut self, turn: Turn, schedule: &Schedule, disturbance: Disturbance) -> Outcome {
        let Turn { start, waited } = turn;
        let mut unsettled = self.unsettled.take().unwrap_or_default();
        let (collides, others) = match disturbance {
            Disturbance::Of(others) => (false, others),
            Disturbance::Fatal => (true, 0.0),
        };
        unsettled.turns.on_turn(waited, schedule.asks_first(), collides);
        let outcome = match collides && schedule.asks_first() {
            true => self.call_off(&mut unsettled),
            false => {
                self.occupy(self.free_at, schedule.ends);
                self.transmitter.reach(&mut unsettled.burst, others);
                self.judge(start, collides, &mut unsettled)
            }
        };
        if let Some(log) = &mut unsettled.log {
            log.push(LoggedTurn { begun: start, ended: self.free_at, collided: collides });
        }
        self.unsettled = Some(unsettled);
        outcome
    }

    /// Strength of its last burst at the far end, as a ratio to noise.
    pub fn signal(&self) -> f64 {
        self.transmitter.signal()
    }

    /// It and others had turns at once, from `since` until `now`.
    pub fn on_colliding(&mut self, since: Time, now: Time) {
        let time = self.free_at.min(now).since(since);
        self.unsettled.iter_mut().for_each(|unsettled| unsettled.turns.on_colliding(time));
    }

    /// Decides which frames of a burst are read, which are lost, and which are sent again.
    fn judge(&mut self, start: Time, collides: bool, unsettled: &mut Unsettled) -> Outcome {
        let Unsettled { repeats, window, burst, turns, .. } = unsettled;
        if burst.is_empty() {
            // A hand-off has lost them.
            return Outcome::Unread;
        }
        let (mut failed, mut acknowledged, sent) = (0, 0, burst.len());
        for mut frame in burst.drain(..) {
            if let (1.., Some(arq)) = (frame.repeats, self.arq) {
                frame.left = self.free_at.max(frame.left + arq.round_trip + self.free_at.since(start));
            } else {
                self.open(&mut frame, window);
            }
            let read = match self.is_lost(&frame.sent) || !frame.is_readable {
                _ if collides => Read::Collided,
                true => Read::Erred,
                false => Read::Well,
            };
            turns.on_frame(frame.repeats > 0, read);
            let lost = read != Read::Well;
            if lost && self.arq.is_some_and(|arq| arq.may_repeat(&frame)) {
                repeats.insert(failed, frame.again());
                failed += 1;
                continue;
            }
            acknowledged += usize::from(!lost);
            self.close(frame, read, window, turns);
        }
        self.transmitter.on_acknowledged(acknowledged, sent);
        if acknowledged > 0 { Outcome::Read } else { Outcome::Unread }
    }

    /// The far end has not answered a request to send a burst. Its frames wait for the next turn, or are given up.
    fn call_off(&mut self, unsettled: &mut Unsettled) -> Outcome {
        let Unsettled { repeats, window, burst, turns, .. } = unsettled;
        let mut kept = 0;
        for mut frame in burst.drain(..) {
            if self.arq.is_some_and(|arq| arq.may_repeat(&frame)) {
                frame.unanswered += 1;
                repeats.insert(kept, frame);
                kept += 1;
                continue;
            }
            if frame.repeats == 0 {
                self.open(&mut frame, window);
            }
            self.close(frame, Read::Collided, window, turns);
        }
        Outcome::Unread
    }

    /// A frame takes its place in the order of those that are sent.
    fn open(&mut self, frame: &mut Frame, window: &mut Window) {
        (frame.first_left, frame.left) = (self.free_at, self.free_at);
        frame.number = if self.pipe.overtakes() { 0 } else { window.open() };
        self.counters.on_send(1, frame.item.bytes, Dur::ZERO);
    }

    /// A frame has been read, or is lost for good. In order, it waits for those before it.
    fn close(&mut self, frame: Frame, read: Read, window: &mut Window, turns: &mut Turns) {
        let lost = read != Read::Well;
        turns.on_settled(frame.left.since(frame.first_left), read);
        if self.pipe.overtakes() {
            return self.land(&frame, lost);
        }
        window.settle(frame, lost);
        while let Some((frame, lost)) = window.pop() {
            if !lost {
                turns.on_ordered(self.free_at.since(frame.left));
            }
            self.land(&frame, lost);
        }
    }

    /// What the link has done on its medium, and that `medium` meanwhile.
    pub fn turn_stats(&self, medium: Airtime) -> TurnStats {
        self.unsettled.as_ref().map_or_else(
            || TurnStats { medium, ..TurnStats::default() },
            |unsettled| unsettled.turns.read(medium),
        )
    }

    /// Starts counting turns anew.
    pub fn reset_turns(&mut self) {
        self.unsettled.iter_mut().for_each(|unsettled| unsettled.turns = Turns::default());
    }

    /// From now on, turns are logged.
    pub fn log_turns(&mut self) {
        self.unsettled.get_or_insert_default().log = Some(Vec::new());
    }

    /// What was logged.
    pub fn take_turns(&mut self) -> Vec<LoggedTurn> {
        self.unsettled.as_mut().and_then(|unsettled| unsettled.log.take()).unwrap_or_default()
    }

    /// Must it send anything again?
    pub fn repeats(&self) -> bool {
        self.unsettled.as_ref().is_some_and(|unsettled| !unsettled.repeats.is_empty())
    }

    /// Puts a packet whose fate is known into the pipe.
    #[inline(always)]
    fn land(&mut self, frame: &Frame, lost: bool) {
        let lost = lost || !self.encoding.restores(frame);
        let extra = self.delay.as_mut().map_or(Dur::ZERO, |delay| delay.extra_delay(self.free_at));
        let out_at = self.pipe.push(Output {
            id: frame.item.id,
            ecn: frame.item.ecn,
            at: frame.left + self.propagation + extra,
            fate: Fate::across(lost),
        });
        self.next_out = self.next_out.min(out_at);
    }

    /// Is the copy lost that leaves the transmitter when that becomes free?
    #[inline]
    fn is_lost(&mut self, item: &Item) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.is_lost(self.free_at, item))
    }

    /// Sends the lost packet again, as often as ARQ may. Returns whether it is still lost, and when its last copy has left.
    #[cold]
    fn repeat(&mut self, frame: &Frame) -> (bool, Time) {
        let mut left = self.free_at;
        let Some(arq) = self.arq.filter(|arq| arq.cover.covers(&frame.sent)) else { return (true, left) };
        for _ in 0..arq.retries {
            if self.free_at.is_never() {
                break;
            }
            let start = self.free_at;
            self.free_at = self.transmitter.departure(start, frame.bytes);
            left = self.free_at.max(left + arq.round_trip + self.free_at.since(start));
            if !self.is_lost(&frame.sent) {
                return (false, left);
            }
        }
        (true, left)
    }

    /// Loses a packet before it reaches the far end. Calls come in order of time.
    #[cold]
    pub fn drop(&mut self, at: Time, id: u32, cause: DropCause) {
        self.dropped.push(at, id, cause);
        self.next_out = self.next_out.min(at);
    }

    /// Loses all packets that would come out after `at`.
    pub fn drop_later_than(&mut self, at: Time, cause: DropCause) {
        self.encoding.compression.iter_mut().for_each(HopCompression::reset);
        let in_pipe = self.pipe.take_later_than(at).into_iter().map(|output| output.id);
        let unsettled = self.unsettled.as_mut().map(|unsettled| unsettled.take_all());
        for id in in_pipe.chain(unsettled.into_iter().flatten()) {
            self.drop(at, id, cause);
        }
        self.find_next_out();
    }

    /// The next packet that has come out by `now` or was dropped by then, in order of time.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<Output> {
        if self.next_out > now {
            return None;
        }
        let in_pipe = self.pipe.next_at() < self.dropped.next_at();
        let output = if in_pipe { self.pipe.pop() } else { self.dropped.pop() }?;
        if let Fate::Lost(cause) = output.fate {
            self.counters.on_lost(cause);
        }
        self.find_next_out();
        Some(output)
    }

    #[inline]
    fn find_next_out(&mut self) {
        self.next_out = self.dropped.next_at().min(self.pipe.next_at());
    }
}
