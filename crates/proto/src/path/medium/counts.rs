//! What a medium and its links count.

use airtcp_wire::{Dur, Time};

/// How a medium's time was spent. The three sum to the time that has passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Airtime {
    /// Nobody had a turn: links waited, or had nothing to send.
    pub idle: Dur,
    /// One link had its turn.
    pub busy: Dur,
    /// Several links had theirs at once, until the last one ended.
    pub colliding: Dur,
}

/// What a link did on its medium since it was made, or since [`Link::reset_stats`](crate::path::Link::reset_stats). A frame is one copy
/// of a packet; a turn belongs to the time at which it began.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TurnStats {
    pub turns: u64,
    /// Turns that collided.
    pub collisions: u64,
    /// Frames sent, repeated ones included.
    pub frames: u64,
    /// Of the frames, those sent again.
    pub retries: u64,
    /// Of the frames, those that collided, and those that did not and could not be read all the same.
    pub collided_frames: u64,
    pub erred_frames: u64,
    /// Packets given up, by what befell their last frame.
    pub failed_collision: u64,
    pub failed_error: u64,
    /// How long it sent in collisions. The rest of [`LinkStats::busy`](crate::path::LinkStats::busy) it sent alone.
    pub colliding: Dur,
    /// Of each turn: from when the link had something to send until it began.
    pub access_delay: Delays,
    /// Of each packet that was read: from the end of its first frame to that of its last one.
    pub retry_delay: Delays,
    /// Of each packet that was read: how long it waited for those before it.
    pub reordering_delay: Delays,
    /// What the medium did meanwhile.
    pub medium: Airtime,
}

/// Some delays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delays {
    count: u64,
    sum: Dur,
    pub max: Dur,
}

impl Delays {
    /// Zero if there are none.
    pub fn mean(&self) -> Dur {
        Dur(self.sum.0 / self.count.max(1))
    }

    fn add(&mut self, delay: Dur) {
        self.count += 1;
        self.sum += delay;
        self.max = self.max.max(delay);
    }
}

/// The running counts behind [`Airtime`]. They include the present turn to its end.
#[derive(Default)]
pub(super) struct Spent {
    busy: Dur,
    colliding: Dur,
    is_colliding: bool,
}

impl Spent {
    pub fn on_turn(&mut self, time: Dur, collides: bool) {
        self.is_colliding = collides;
        *(if collides { &mut self.colliding } else { &mut self.busy }) += time;
    }

    /// From the beginning until `now`, if the present turn goes on for `ahead`.
    pub fn until(&self, now: Time, ahead: Dur) -> Airtime {
        let of = |sum: Dur, is_present: bool| if is_present { sum - ahead } else { sum };
        let (busy, colliding) = (of(self.busy, !self.is_colliding), of(self.colliding, self.is_colliding));
        Airtime { idle: now.since(Time::ZERO) - busy - colliding, busy, colliding }
    }
}

impl Airtime {
    pub(super) fn since(&self, before: &Airtime) -> Airtime {
        Airtime {
            idle: self.idle - before.idle,
            busy: self.busy - before.busy,
            colliding: self.colliding - before.colliding,
        }
    }
}

/// The running counts behind [`TurnStats`]. They include the present turn to its end.
#[derive(Default)]
pub(in crate::path) struct Turns {
    stats: TurnStats,
    is_colliding: bool,
}

/// What became of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::path) enum Read {
    Well,
    Collided,
    Erred,
}

impl Turns {
    /// A turn begins for which the link has waited, and lasts for `time`.
    pub fn on_turn(&mut self, waited: Dur, time: Dur, collides: bool) {
        self.is_colliding = collides;
        self.stats.turns += 1;
        self.stats.access_delay.add(waited);
        if collides {
            self.stats.collisions += 1;
            self.stats.colliding += time;
        }
    }

    pub fn on_frame(&mut self, is_again: bool, read: Read) {
        self.stats.frames += 1;
        self.stats.retries += u64::from(is_again);
        self.stats.collided_frames += u64::from(read == Read::Collided);
        self.stats.erred_frames += u64::from(read == Read::Erred);
    }

    /// A packet will not be sent again: it has been read, after `repeating`, or is given up.
    pub fn on_settled(&mut self, repeating: Dur, read: Read) {
        match read {
            Read::Well => self.stats.retry_delay.add(repeating),
            Read::Collided => self.stats.failed_collision += 1,
            Read::Erred => self.stats.failed_error += 1,
        }
    }

    /// A packet that was read is handed on.
    pub fn on_ordered(&mut self, waited: Dur) {
        self.stats.reordering_delay.add(waited);
    }

    /// Starts counting anew, while the last turn goes on for `ahead`.
    pub fn reset(&mut self, ahead: Dur) {
        self.stats = TurnStats { colliding: self.colliding(ahead), ..TurnStats::default() };
    }

    pub fn read(&self, ahead: Dur, medium: Airtime) -> TurnStats {
        TurnStats { colliding: self.stats.colliding - self.colliding(ahead), medium, ..self.stats }
    }

    /// How much of `ahead` is in a collision.
    fn colliding(&self, ahead: Dur) -> Dur {
        if self.is_colliding { ahead } else { Dur::ZERO }
    }
}
