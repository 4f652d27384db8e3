//! The line: from the transmitter to the far end of the link.

use super::compression::HopCompression;
use super::dropped::Dropped;
use super::link::{Fate, Output};
use super::pipe::Pipe;
use super::stats::Counters;
use super::{Arq, BlockCode, Cover, DelayModel, Episodes, FixedRate, Interrupted, LossModel, Transmitter};
use crate::queue::{DropCause, Item};
use airtcp_wire::{Dur, Rate, Time};

pub(super) struct Line {
    transmitter: Box<dyn Transmitter>,
    propagation: Dur,
    delay: Option<Box<dyn DelayModel>>,
    pub loss: Option<Box<dyn LossModel>>,
    pub code: Option<(BlockCode, Cover)>,
    pub compression: Option<HopCompression>,
    arq: Option<Arq>,
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
            code: None,
            compression: None,
            arq: None,
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
        let sent = match &mut self.compression {
            Some(compression) => Item { bytes: compression.compress(&item), ..item },
            None => item,
        };
        let air_bytes = match self.code {
            Some((code, cover)) if cover.covers(&sent) => code.air_bytes(sent.bytes),
            _ => sent.bytes,
        };
        self.free_at = self.transmitter.departure(start, air_bytes);
        let mut departure = self.free_at;
        let mut lost = self.is_lost(&sent);
        if lost && self.arq.is_some() {
            (lost, departure) = self.repeat(&sent, air_bytes);
        }
        if let Some(compression) = &mut self.compression {
            lost = lost || !compression.decompress(&item, sent.bytes);
        }
        self.counters.on_send(1, item.bytes, self.free_at.since(start));
        let extra = self.delay.as_mut().map_or(Dur::ZERO, |delay| delay.extra_delay(self.free_at));
        let out_at = self.pipe.push(Output {
            id: item.id,
            ecn: item.ecn,
            at: departure + self.propagation + extra,
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
    fn repeat(&mut self, item: &Item, air_bytes: u32) -> (bool, Time) {
        let mut left = self.free_at;
        let Some(arq) = self.arq.filter(|arq| arq.cover.covers(item)) else { return (true, left) };
        for _ in 0..arq.retries {
            if self.free_at.is_never() {
                break;
            }
            let start = self.free_at;
            self.free_at = self.transmitter.departure(start, air_bytes);
            left = self.free_at.max(left + arq.round_trip + self.free_at.since(start));
            if !self.is_lost(item) {
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
        self.compression.iter_mut().for_each(HopCompression::reset);
        for output in self.pipe.take_later_than(at) {
            self.drop(at, output.id, cause);
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
