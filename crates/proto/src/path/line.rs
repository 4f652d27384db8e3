//! The line from the transmitter to the far end.

use super::dropped::Dropped;
use super::link::{Fate, Output};
use super::pipe::Pipe;
use super::stats::Counters;
use super::{Arq, BlockCode, Cover, DelayModel, LossModel, Transmitter};
use crate::queue::{DropCause, Item};
use airtcp_wire::{Dur, Time};

pub(super) struct Line {
    transmitter: Box<dyn Transmitter>,
    propagation: Dur,
    delay: Option<Box<dyn DelayModel>>,
    loss: Option<Box<dyn LossModel>>,
    code: Option<(BlockCode, Cover)>,
    arq: Option<Arq>,
    overtaking: bool,
    pipe: Pipe,
    dropped: Dropped,
    /// When the first of what is in the pipe and in `dropped` comes out.
    next_out: Time,
    /// When the transmitter is through with all that it was given.
    free_at: Time,
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
            arq: None,
            overtaking: false,
            pipe: Pipe::new(false),
            dropped: Dropped::default(),
            next_out: Time::NEVER,
            free_at: Time::ZERO,
            counters: Counters::default(),
        }
    }

    pub fn set_loss(&mut self, loss: Box<dyn LossModel>) {
        self.loss = Some(loss);
    }

    pub fn set_delay(&mut self, delay: Box<dyn DelayModel>, overtaking: bool) {
        self.delay = Some(delay);
        self.allow_overtaking(overtaking);
    }

    pub fn set_code(&mut self, code: BlockCode, cover: Cover) {
        self.code = Some((code, cover));
    }

    pub fn set_arq(&mut self, arq: Arq) {
        self.arq = Some(arq);
        self.allow_overtaking(!arq.in_order);
    }

    fn allow_overtaking(&mut self, overtaking: bool) {
        self.overtaking |= overtaking;
        self.pipe = Pipe::new(self.overtaking);
    }

    pub fn wrap_transmitter(&mut self, wrap: impl FnOnce(Box<dyn Transmitter>) -> Box<dyn Transmitter>) {
        /// Holds the place while the true one is being wrapped.
        struct Nothing;
        impl Transmitter for Nothing {
            fn departure(&mut self, _start: Time, _bytes: u32) -> Time {
                Time::NEVER
            }
        }
        self.transmitter = wrap(std::mem::replace(&mut self.transmitter, Box::new(Nothing)));
    }

    #[inline]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    #[inline]
    pub fn next_out(&self) -> Time {
        self.next_out
    }

    /// The earliest at which a packet that is taken up next may come out before all that is in the pipe: it cannot
    /// overtake its own propagation.
    #[inline]
    pub fn next_overtaking(&self) -> Time {
        if self.overtaking { self.free_at + self.propagation } else { Time::NEVER }
    }

    /// The transmitter takes up a packet at `start`, not before it is free.
    #[inline(always)]
    pub fn send(&mut self, start: Time, item: Item) {
        let air_bytes = match self.code {
            Some((code, cover)) if cover.covers(&item) => code.air_bytes(item.bytes),
            _ => item.bytes,
        };
        self.free_at = self.transmitter.departure(start, air_bytes);
        let mut departure = self.free_at;
        let mut lost = self.is_lost(&item);
        if lost && self.arq.is_some() {
            (lost, departure) = self.repeat(&item, air_bytes);
        }
        self.counters.on_send(1, item.bytes, self.free_at.since(start));
        let extra = self.delay.as_mut().map_or(Dur::ZERO, |delay| delay.extra_delay(self.free_at));
        let out_at = self.pipe.push(Output {
            id: item.id,
            ecn: item.ecn,
            at: departure + self.propagation + extra,
            fate: if lost { Fate::Lost(DropCause::Corruption) } else { Fate::Delivered },
        });
        self.next_out = self.next_out.min(out_at);
    }

    /// The copy that is out of the transmitter when that becomes free.
    #[inline]
    fn is_lost(&mut self, item: &Item) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.is_lost(self.free_at, item))
    }

    /// The packet that has just left was lost: sends it again, as often as ARQ may. Returns whether it is still lost,
    /// and when its last copy has left.
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

    /// A packet is lost without having come to the far end. Calls come in order of time.
    #[cold]
    pub fn drop(&mut self, at: Time, id: u32, cause: DropCause) {
        self.dropped.push(at, id, cause);
        self.next_out = self.next_out.min(at);
    }

    /// Loses all that would come out after `at`.
    pub fn drop_later_than(&mut self, at: Time, cause: DropCause) {
        for output in self.pipe.take_later_than(at) {
            self.drop(at, output.id, cause);
        }
        self.find_next_out();
    }

    #[inline]
    pub fn prefetch(&self, skipped: usize) {
        self.pipe.prefetch(skipped);
    }

    #[inline]
    pub fn peek(&self, skipped: usize) -> Option<u32> {
        self.pipe.peek(skipped)
    }

    /// The next packet that is out by `now`, in order of time.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<Output> {
        if self.next_out > now {
            return None;
        }
        if !self.dropped.is_empty() {
            return self.pop_among_drops();
        }
        let output = self.pipe.pop()?;
        self.next_out = self.pipe.next_at();
        if output.fate != Fate::Delivered {
            self.counters.on_lost(DropCause::Corruption);
        }
        Some(output)
    }

    #[cold]
    fn pop_among_drops(&mut self) -> Option<Output> {
        let in_pipe = self.pipe.next_at() < self.dropped.next_at();
        let output = if in_pipe { self.pipe.pop() } else { self.dropped.pop() }?;
        self.find_next_out();
        if let Fate::Lost(cause) = output.fate {
            self.counters.on_lost(cause);
        }
        Some(output)
    }

    fn find_next_out(&mut self) {
        self.next_out = self.dropped.next_at().min(self.pipe.next_at());
    }
}
