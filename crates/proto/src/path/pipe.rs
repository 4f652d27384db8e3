//! What has left the transmitter's hands, or is in them, and has not yet come out of the link.

use super::calendar::{self, Calendar};
use super::link::{Fate, Output};
use crate::prefetch::prefetch;
use crate::queue::DropCause;
use airtcp_wire::{Ecn, Time};
use std::collections::VecDeque;

/// Packets under way, each with the time at which it comes out.
#[derive(Clone, Debug)]
pub(super) enum Pipe {
    /// In order of departure; one that would overtake comes out with the one before it.
    Fifo { flights: VecDeque<Output>, last_at: Time },
    /// The earliest first; ties in order of departure.
    Overtaking { flights: Calendar, pushed: u64 },
}

const FATE_BITS: u32 = 3;
const ECN_BITS: u32 = 2;
const ID_BITS: u32 = 32;
/// Packets are numbered anew after 2²⁷, long after all before have come out.
const NUMBER_BITS: u32 = 64 - ID_BITS - ECN_BITS - FATE_BITS;

/// A packet under way, from the highest bits on: the time at which it comes out, its number, and what is told of it then.
fn in_one_number(output: &Output, number: u64) -> u128 {
    let number = number & ((1 << NUMBER_BITS) - 1);
    let fate = match output.fate {
        Fate::Delivered => 0,
        Fate::Lost(cause) => cause as u64 + 1,
    };
    let told = (u64::from(output.id) << ECN_BITS | output.ecn as u64) << FATE_BITS | fate;
    u128::from(output.at.0) << 64 | u128::from(number << (64 - NUMBER_BITS) | told)
}

fn output(number: u128) -> Output {
    let told = number as u64;
    let fate = match told & ((1 << FATE_BITS) - 1) {
        0 => Fate::Delivered,
        cause => Fate::Lost(DropCause::ALL[cause as usize - 1]),
    };
    let ecn = Ecn::from_bits((told >> FATE_BITS) as u8);
    Output { id: (told >> (FATE_BITS + ECN_BITS)) as u32, ecn, at: calendar::time(number), fate }
}

impl Pipe {
    pub fn new(overtaking: bool) -> Pipe {
        match overtaking {
            true => Pipe::Overtaking { flights: Calendar::new(), pushed: 0 },
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
                flights.push(in_one_number(&output, *pushed));
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
            Pipe::Overtaking { flights, .. } => flights.first().map_or(Time::NEVER, calendar::time),
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
            Pipe::Overtaking { flights, .. } => flights.glance(skipped).map(|flight| output(flight).id),
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Output> {
        match self {
            Pipe::Fifo { flights, .. } => flights.pop_front(),
            Pipe::Overtaking { flights, .. } => flights.pop().map(output),
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
                let mut all = flights.drain();
                all.sort_unstable();
                let kept = all.partition_point(|flight| calendar::time(*flight) <= at);
                all[..kept].iter().for_each(|flight| flights.push(*flight));
                all[kept..].iter().map(|flight| output(*flight)).collect()
            }
        }
    }
}
