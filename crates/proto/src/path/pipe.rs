//! What has left the transmitter's hands, or is in them, and has not yet come out of the link.

use super::link::Output;
use crate::prefetch::prefetch;
use airtcp_wire::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// Packets under way, each with the time at which it comes out.
#[derive(Clone, Debug)]
pub(super) enum Pipe {
    /// In order of departure; one that would overtake comes out with the one before it.
    Fifo { flights: VecDeque<Output>, last_at: Time },
    /// The earliest first; ties in order of departure.
    Overtaking { flights: BinaryHeap<Reverse<Flight>>, pushed: u64 },
}

#[derive(Clone, Debug)]
pub(super) struct Flight {
    output: Output,
    number: u64,
}

impl Flight {
    /// Both as one number, which is compared without a branch.
    fn key(&self) -> u128 {
        u128::from(self.output.at.0) << 64 | u128::from(self.number)
    }
}

impl PartialEq for Flight {
    fn eq(&self, other: &Flight) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Flight {}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Flight) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Flight {
    fn cmp(&self, other: &Flight) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Pipe {
    pub fn new(overtaking: bool) -> Pipe {
        match overtaking {
            true => Pipe::Overtaking { flights: BinaryHeap::new(), pushed: 0 },
            false => Pipe::Fifo { flights: VecDeque::new(), last_at: Time::ZERO },
        }
    }

    /// Returns when the packet comes out.
    #[inline]
    pub fn push(&mut self, mut output: Output) -> Time {
        match self {
            Pipe::Fifo { flights, last_at } => {
                output.at = output.at.max(*last_at);
                *last_at = output.at;
                flights.push_back(output);
            }
            Pipe::Overtaking { flights, pushed } => {
                flights.push(Reverse(Flight { output, number: *pushed }));
                *pushed += 1;
            }
        }
        output.at
    }

    /// When the next packet comes out; never if none is under way.
    #[inline]
    pub fn next_at(&self) -> Time {
        match self {
            Pipe::Fifo { flights, .. } => flights.front().map_or(Time::NEVER, |output| output.at),
            Pipe::Overtaking { flights, .. } => {
                flights.peek().map_or(Time::NEVER, |Reverse(flight)| flight.output.at)
            }
        }
    }

    /// Fetches the memory of the packet that comes out after `skipped` others, as far as that can be told in a glance.
    #[inline]
    pub fn prefetch(&self, skipped: usize) {
        if let Pipe::Fifo { flights, .. } = self {
            flights.get(skipped).map(prefetch);
        }
    }

    /// The packet that comes out after `skipped` others, as far as that can be told in a glance.
    #[inline]
    pub fn peek(&self, skipped: usize) -> Option<u32> {
        match self {
            Pipe::Fifo { flights, .. } => flights.get(skipped).map(|output| output.id),
            Pipe::Overtaking { .. } => None,
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Output> {
        match self {
            Pipe::Fifo { flights, .. } => flights.pop_front(),
            Pipe::Overtaking { flights, .. } => flights.pop().map(|Reverse(flight)| flight.output),
        }
    }

    /// Removes all that would come out after `at`, in order.
    pub fn take_later_than(&mut self, at: Time) -> Vec<Output> {
        match self {
            Pipe::Fifo { flights, last_at } => {
                *last_at = at.min(*last_at);
                let kept = flights.partition_point(|output| output.at <= at);
                flights.drain(kept..).collect()
            }
            Pipe::Overtaking { flights, .. } => {
                let (kept, later) = flights.drain().partition(|Reverse(flight)| flight.output.at <= at);
                *flights = kept;
                let mut later: BinaryHeap<_> = later;
                std::iter::from_fn(|| later.pop()).map(|Reverse(flight)| flight.output).collect()
            }
        }
    }
}
