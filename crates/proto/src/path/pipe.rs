//! The packets that the transmitter has taken up and that have not yet come out of the link.

use super::calendar::{self, Calendar};
use super::link::{Fate, Output};
use crate::prefetch::prefetch;
use airtcp_wire::{Ecn, Time};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(super) enum Pipe {
    /// In order of departure. A packet that would overtake the one before it comes out together with it.
    Fifo { flights: VecDeque<Output>, last_at: Time },
    /// In order of the times at which packets come out; ties in order of departure.
    Overtaking { flights: Calendar, pushed: u64 },
}

const FATE_BITS: u32 = 1;
const ECN_BITS: u32 = 2;
const ID_BITS: u32 = 32;
/// Order of departure, modulo 2²⁹: enough, since equal numbers are never under way at the same time.
const NUMBER_BITS: u32 = 64 - ID_BITS - ECN_BITS - FATE_BITS;

/// Packs a packet into one number that sorts as packets come out. From the highest bits: time, order of departure, ID, ECN, and whether
/// the packet is lost.
fn pack(output: &Output, number: u64) -> u128 {
    let number = number & ((1 << NUMBER_BITS) - 1);
    let is_lost = u64::from(output.fate != Fate::Delivered);
    let content = (u64::from(output.id) << ECN_BITS | output.ecn as u64) << FATE_BITS | is_lost;
    u128::from(output.at.0) << 64 | u128::from(number << (64 - NUMBER_BITS) | content)
}

fn unpack(packed: u128) -> Output {
    let content = packed as u64;
    let ecn = Ecn::from_bits((content >> FATE_BITS) as u8);
    let (id, at) = ((content >> (FATE_BITS + ECN_BITS)) as u32, calendar::time(packed));
    Output { id, ecn, at, fate: Fate::across(content & 1 == 1) }
}

impl Pipe {
    pub fn fifo() -> Pipe {
        Pipe::Fifo { flights: VecDeque::new(), last_at: Time::ZERO }
    }

    pub fn overtaking() -> Pipe {
        Pipe::Overtaking { flights: Calendar::new(), pushed: 0 }
    }

    pub fn overtakes(&self) -> bool {
        matches!(self, Pipe::Overtaking { .. })
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
                flights.push(pack(&output, *pushed));
                *pushed += 1;
            }
        }
        output.at
    }

    /// When the next packet comes out; [`Time::NEVER`] if none is under way.
    #[inline]
    pub fn next_at(&self) -> Time {
        match self {
            Pipe::Fifo { flights, .. } => flights.front().map_or(Time::NEVER, |output| output.at),
            Pipe::Overtaking { flights, .. } => flights.first().map_or(Time::NEVER, calendar::time),
        }
    }

    /// Fetches ahead what [`peek`](Pipe::peek) will read.
    #[inline]
    pub fn prefetch(&self, skipped: usize) {
        if let Pipe::Fifo { flights, .. } = self {
            flights.get(skipped).map(prefetch);
        }
    }

    /// A guess at the packet that comes out after `skipped` others.
    #[inline]
    pub fn peek(&self, skipped: usize) -> Option<u32> {
        match self {
            Pipe::Fifo { flights, .. } => flights.get(skipped).map(|output| output.id),
            Pipe::Overtaking { flights, .. } => flights.guess(skipped).map(|flight| unpack(flight).id),
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Output> {
        match self {
            Pipe::Fifo { flights, .. } => flights.pop_front(),
            Pipe::Overtaking { flights, .. } => flights.pop().map(unpack),
        }
    }

    /// Removes the packets that would come out after `at`, and returns them in order.
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
                all[kept..].iter().map(|flight| unpack(*flight)).collect()
            }
        }
    }
}
