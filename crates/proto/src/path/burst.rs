//! Bursts: what a transmitter sends in one turn on a [medium](super::Medium).

use super::compression::HopCompression;
use super::{BlockCode, Cover, Schedule, Transmitter};
use crate::queue::{Drops, Item, Queue};
use airtcp_wire::{Dur, Time};
use std::collections::VecDeque;

/// A packet as it crosses the medium.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The packet as it came, and with the length that is left of it after compression.
    pub(super) item: Item,
    pub(super) sent: Item,
    /// Length on the air: with parity.
    pub bytes: u32,
    /// Copies sent before this one.
    pub repeats: u32,
    /// How often a request to send it was not answered.
    pub(super) unanswered: u32,
    /// A transmitter that knows the channel clears this if nobody can read this copy. The link's loss model is asked, too.
    pub is_readable: bool,
    /// Place in the order of the frames that the link has sent.
    pub(super) number: u64,
    /// When the first copy had left, and the one before this one.
    pub(super) first_left: Time,
    pub(super) left: Time,
}

impl Frame {
    /// Has it been taken from the queue, but never been sent?
    pub(super) fn is_called_off(&self) -> bool {
        self.unanswered > 0 && self.repeats == 0
    }

    /// The next copy.
    pub(super) fn again(self) -> Frame {
        Frame { repeats: self.repeats + 1, is_readable: true, ..self }
    }
}

/// The frames that leave together, in order.
pub type Burst = Vec<Frame>;

/// What a transmitter may send: first what must be repeated, then what waits in the queue.
pub struct Supply<'a> {
    pub(super) now: Time,
    pub(super) repeats: &'a mut VecDeque<Frame>,
    pub(super) queue: &'a mut dyn Queue,
    pub(super) drops: &'a mut Drops,
    pub(super) encoding: &'a mut Encoding,
    /// How many numbers the receiver has not settled, with those of the first frames that wait for theirs.
    pub(super) open: usize,
    /// Packets taken from the queue.
    pub(super) taken: u32,
}

impl Supply<'_> {
    /// The next frame. A packet is taken from the queue only while fewer than `window` frames, in order from the oldest one that is
    /// still to be repeated, have been sent.
    pub fn take(&mut self, window: usize) -> Option<Frame> {
        if let Some(frame) = self.repeats.pop_front() {
            return Some(frame);
        }
        if self.open + self.taken as usize >= window {
            return None;
        }
        let item = self.queue.dequeue(self.now, self.drops)?;
        self.taken += 1;
        Some(self.encoding.frame(item))
    }

    /// Is there anything to send?
    pub(super) fn has_any(&mut self) -> bool {
        let first = self.take(usize::MAX);
        first.map(|frame| self.put_back(frame)).is_some()
    }

    /// Puts back the frame taken last, which does not fit into this burst. It comes first in the next one.
    pub fn put_back(&mut self, frame: Frame) {
        self.repeats.push_front(frame);
    }
}

/// How a link writes packets on the air.
#[derive(Default)]
pub(super) struct Encoding {
    pub code: Option<(BlockCode, Cover)>,
    pub compression: Option<HopCompression>,
}

impl Encoding {
    #[inline(always)]
    pub fn frame(&mut self, item: Item) -> Frame {
        let sent = match &mut self.compression {
            Some(compression) => Item { bytes: compression.compress(&item), ..item },
            None => item,
        };
        let bytes = match self.code {
            Some((code, cover)) if cover.covers(&sent) => code.air_bytes(sent.bytes),
            _ => sent.bytes,
        };
        let (first_left, left) = (Time::ZERO, Time::ZERO);
        Frame { item, sent, bytes, repeats: 0, unanswered: 0, is_readable: true, number: 0, first_left, left }
    }

    /// Can the far end restore a packet that it has read?
    #[inline(always)]
    pub fn restores(&mut self, frame: &Frame) -> bool {
        match &mut self.compression {
            Some(compression) => compression.decompress(&frame.item, frame.sent.bytes),
            None => true,
        }
    }
}

/// Sends up to `most` packets at a time, behind one another and after an `overhead` that each burst costs once: preamble, header,
/// acknowledgment. No burst reaches further than `most` frames beyond the oldest one that must be repeated.
pub struct Aggregate {
    pub transmitter: Box<dyn Transmitter>,
    pub most: usize,
    pub overhead: Dur,
}

impl Transmitter for Aggregate {
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        self.transmitter.departure(start + self.overhead, bytes)
    }

    fn serve(&mut self, start: Time, supply: &mut Supply, burst: &mut Burst) -> Schedule {
        let next = || supply.take(self.most);
        burst.extend(std::iter::from_fn(next).take(self.most));
        let bytes = burst.iter().map(|frame| frame.bytes).sum();
        Schedule::data(self.departure(start, bytes))
    }
}
