//! Links: how their keys are written and read, and the values with which they run.
//!
//! `keys.rs` lists the keys of one direction. Each value is a [`Value`], which says what is checked, what follows from what is around it, and
//! what the way back inherits. Everything else follows from the list: the file's table and
//! its schema, the reverse direction, [`Side`], and how a scenario is written in full.

pub mod capacity;
mod declare;
mod episodes;
mod jitter;
mod keys;
mod loss;
mod protection;
mod queue;
mod rules;
mod value;

pub use episodes::{Episodes, Outages, Spikes, Steps};
pub use jitter::Jitter;
pub(super) use keys::Shown;
pub use keys::{Capacity, LinkKeys, Side, SideKeys};
pub use protection::{Arq, Fec, Protected};
pub(super) use queue::FULL_PACKET_BYTES;
pub use queue::Queue;

use super::check::Check;
use super::files::Files;
use super::medium::Medium;
use super::way::Direction;
use airtcp_proto::path::wifi::Snr;
use airtcp_wire::{Dur, Rate};
use value::{Around, Value};

/// One hop, both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Unique.
    pub name: String,
    /// The nodes at which its forward direction begins and ends.
    pub ends: [usize; 2],
    pub forward: Side,
    pub reverse: Side,
    /// Both directions have the same: both draw from the same chance.
    pub steps: Option<Steps>,
    /// They strike both directions at once: both draw from the same chance.
    pub outages: Option<Outages>,
}

/// The nodes at which each direction of a link on a medium begins and ends, in the order in which these are built.
pub fn ends_on(medium: usize, links: &[Link]) -> Vec<[usize; 2]> {
    let sides = links.iter().flat_map(|link| {
        let [from, to] = link.ends;
        [(&link.forward, [from, to]), (&link.reverse, [to, from])]
    });
    let is_on = |side: &Side| side.capacity.medium().is_some_and(|(index, _)| index == medium);
    sides.filter(|(side, _)| is_on(side)).map(|(_, ends)| ends).collect()
}

impl Side {
    /// A fixed rate and delay, no loss, a DropTail queue of `packets`.
    pub fn plain(rate: Rate, delay: Dur, packets: u32) -> Side {
        Side { delay, queue: Queue::of_packets(packets), ..Side::of(Capacity::Fixed(rate)) }
    }
}

impl Link {
    /// A link whose two directions are the same.
    pub fn symmetric(name: &str, side: Side) -> Link {
        let (reverse, forward) = (side.clone(), side);
        Link { name: name.to_owned(), ends: [0, 1], forward, reverse, steps: None, outages: None }
    }

    pub fn side(&self, direction: Direction) -> &Side {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }

    /// The propagation delay, there and back.
    pub(super) fn round_trip(&self) -> Dur {
        self.forward.delay + self.reverse.delay
    }

    /// Reads both directions. Where the link is and the default room of its queues depend on the whole path, and remain to be set.
    pub(super) fn read(
        written: &LinkKeys,
        name: &str,
        media: &[Medium],
        check: &mut Check<'_>,
    ) -> Option<Link> {
        let way_there = written.forward();
        let way_back = written.reverse.clone().unwrap_or_default();
        let [there, back] = [way_there.delay, way_back.delay.or(way_there.delay)];
        let round_trip = there.unwrap_or_default() + back.unwrap_or_default();
        let (mcs, snr, ue) = (way_there.mcs, read_snr(way_there.snr.as_ref(), check), way_there.ue);
        let around = Around { delay: there, round_trip, mean_rate: None, mcs, snr: snr.clone(), ue, media };
        let steps = read_shared(&written.steps, "steps", &around, check);
        let outages = read_shared(&written.outages, "outages", &around, check);
        let forward = read_side(&way_there, None, around.clone(), check)?;
        let back_snr = check.inside("reverse", |check| read_snr(way_back.snr.as_ref(), check));
        let (mcs, snr) = (way_back.mcs.or(way_there.mcs), back_snr.or(snr));
        let around = Around { delay: back, mcs, snr, ue: way_back.ue.or(ue), ..around };
        let reverse = check.inside("reverse", |check| read_side(&way_back, Some(&forward), around, check))?;
        Some(Link { name: name.to_owned(), ends: [0, 1], forward, reverse, steps: steps?, outages: outages? })
    }

    /// Fills in the queues' default rooms. `rtt` is the propagation delay of the whole path, there and back.
    pub(super) fn fill_in_rooms(&mut self, rtt: Dur) {
        for side in [&mut self.forward, &mut self.reverse] {
            side.queue.fill_in_room(side.capacity.mean_rate(), rtt);
        }
    }
}

/// The ratio with its trace. `None` if there is none, or if it is wrong, which has been reported.
fn read_snr(written: Option<&Snr>, check: &mut Check<'_>) -> Option<Snr> {
    let snr = written?;
    check.inside("snr", |check| {
        if let Some((key, problem)) = snr.problem() {
            check.refuse_key(key, problem);
            return None;
        }
        let recorded = match &snr.trace {
            Some(path) => Some(check.inside("trace", |check| check.file(path, Files::snr_trace))?),
            None => None,
        };
        Some(Snr { recorded, ..snr.clone() })
    })
}

/// What both directions have together.
fn read_shared<V: Value<Written = V>>(
    written: &Option<V>,
    key: &str,
    around: &Around<'_>,
    check: &mut Check<'_>,
) -> Option<Option<V>> {
    match written {
        Some(written) => check.inside(key, |check| V::read(written, around, check)).map(Some),
        None => Some(None),
    }
}

fn read_side(
    written: &SideKeys,
    forward: Option<&Side>,
    around: Around<'_>,
    check: &mut Check<'_>,
) -> Option<Side> {
    let side = Side::read(written, forward, around, check)?;
    rules::check(&side, forward, check);
    Some(side)
}
