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
/// of a packet; a turn belongs to the time at which it is known what becomes of it: when it
/// began, unless others may still overlap it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TurnStats {
    pub turns: u64,
    /// Turns that collided.
    pub collisions: u64,
    /// Frames sent, repeated ones included.
    pub frames: u64,
    /// Requests to send (RTS), and those of them that were not answered.
    pub requests: u64,
    pub unanswered: u64,
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

/// The running counts behind [`Airtime`].
#[derive(Default)]
pub(super) struct Spent {
    airtime: Airtime,
    /// When it was counted last.
    until: Time,
}

impl Spent {
    /// So many links have had a turn until `now`. Returns since when.
    pub fn pass(&mut self, now: Time, turns: usize) -> Time {
        let Spent { airtime: Airtime { idle, busy, colliding }, until } = self;
        let sum = match turns {
            0 => idle,
            1 => busy,
            _ => colliding,
        };
        *sum += now.since(*until);
        std::mem::replace(until, now.max(*until))
    }

    /// From the beginning until it was counted last.
    pub fn airtime(&self) -> Airtime {
        self.airtime
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

/// The running counts behind [`TurnStats`].
#[derive(Default)]
pub(in crate::path) struct Turns(TurnStats);

/// What became of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::path) enum Read {
    Well,
    Collided,
    Erred,
}

impl Turns {
    /// A turn for which the link has waited, whether it begins with a request, and whether it collides.
    pub fn on_turn(&mut self, waited: Dur, asks_first: bool, collides: bool) {
        self.0.turns += 1;
        self.0.access_delay.add(waited);
        self.0.collisions += u64::from(collides);
        self.0.requests += u64::from(asks_first);
        self.0.unanswered += u64::from(asks_first && collides);
    }

    /// It has been sending for `time` while others did, too.
    pub fn on_colliding(&mut self, time: Dur) {
        self.0.colliding += time;
    }

    pub fn on_frame(&mut self, is_again: bool, read: Read) {
        self.0.frames += 1;
        self.0.retries += u64::from(is_again);
        self.0.collided_frames += u64::from(read == Read::Collided);
        self.0.erred_frames += u64::from(read == Read::Erred);
    }

    /// A packet will not be sent again: it has been read, after `repeating`, or is given up.
    pub fn on_settled(&mut self, repeating: Dur, read: Read) {
        match read {
            Read::Well => self.0.retry_delay.add(repeating),
            Read::Collided => self.0.failed_collision += 1,
            Read::Erred => self.0.failed_error += 1,
        }
    }

    /// A packet that was read is handed on.
    pub fn on_ordered(&mut self, waited: Dur) {
        self.0.reordering_delay.add(waited);
    }

    /// `medium` is what that did meanwhile.
    pub fn read(&self, medium: Airtime) -> TurnStats {
        TurnStats { medium, ..self.0 }
    }
}
