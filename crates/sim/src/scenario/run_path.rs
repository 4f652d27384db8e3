//! The path as one run meets it: with the queue that the scheme brings along, and with recordings that start where the
//! seed says.

use super::model::{Distribution, EnterRecordings, Queue, Room, Scenario, Side};
use airtcp_proto::scheme::Scheme;
use airtcp_wire::Dur;
use std::borrow::Cow;

/// 2⁶⁴ over the golden ratio: any number of its multiples modulo 2⁶⁴ are spread evenly.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Scenario {
    /// The scenario with the scheme's queue, if it has one, in front of the wireless link's forward direction. The
    /// queue has the room of the one that it replaces, unless its discipline has a default of its own.
    pub fn for_scheme(&self, scheme: &Scheme) -> Cow<'_, Scenario> {
        let Some(queue) = scheme.queue else { return Cow::Borrowed(self) };
        let mut with_queue = self.clone();
        let replaced = &mut with_queue.links[self.base_station].forward.queue;
        let discipline = queue.discipline();
        let room = match discipline.default_packets() {
            Some(packets) => Room { packets: Some(packets), bytes: None },
            None => replaced.room,
        };
        *replaced = Queue { room, discipline };
        Cow::Owned(with_queue)
    }

    /// The scenario with its recordings starting where the run with this seed enters them.
    pub fn for_seed(&self, seed: u64) -> Cow<'_, Scenario> {
        let share = seed.wrapping_mul(GOLDEN);
        if self.enter_recordings == EnterRecordings::AtStart || share == 0 {
            return Cow::Borrowed(self);
        }
        let longest = self.links.iter().flat_map(|link| [&link.forward, &link.reverse]).map(period).max();
        let mut entered = self.clone();
        for link in &mut entered.links {
            for side in [&mut link.forward, &mut link.reverse] {
                enter(side, Dur(part(longest.unwrap_or_default().0, share)), share);
            }
        }
        Cow::Owned(entered)
    }
}

/// `share` 2⁶⁴ths of `whole`.
fn part(whole: u64, share: u64) -> u64 {
    ((u128::from(whole) * u128::from(share)) >> 64) as u64
}

/// Length of a side's longest recording; zero if it has none.
fn period(side: &Side) -> Dur {
    let delays = match side.jitter.as_ref().map(|jitter| &jitter.distribution) {
        Some(Distribution::Series(series)) => series.period().unwrap_or_default(),
        _ => Dur::ZERO,
    };
    side.capacity.period().max(delays)
}

fn enter(side: &mut Side, offset: Dur, share: u64) {
    side.capacity.enter(offset);
    if let Some(Distribution::Series(series)) = side.jitter.as_mut().map(|jitter| &mut jitter.distribution) {
        let value = match series.interval {
            Some(interval) => offset.0 / interval.0.max(1),
            None => part(series.delays.len() as u64, share),
        };
        series.enter(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::model::{Capacity, Link, TraceFile};
    use airtcp_proto::path::Trace;
    use airtcp_wire::{Rate, Time};

    fn recorded(enter_recordings: EnterRecordings) -> Scenario {
        // Nothing crosses in the second half.
        let trace = Trace::parse("10\n20\n30\n40\n50\n100\n").unwrap();
        let capacity = Capacity::Trace(TraceFile { path: "t".into(), trace });
        let forward = Side { capacity, ..Side::plain(Rate(1), Dur::ZERO, 10) };
        let link = Link::symmetric("l", forward);
        Scenario { enter_recordings, ..Scenario::over(vec![link], Dur::from_secs(1)) }
    }

    fn soon(scenario: &Scenario, seed: u64) -> u64 {
        match &scenario.for_seed(seed).links[0].forward.capacity {
            Capacity::Trace(file) => file.trace.capacity_bytes(Time::ZERO + Dur::from_millis(50)),
            _ => unreachable!(),
        }
    }

    #[test]
    fn a_scheme_brings_its_queue_along() {
        let scenario = recorded(EnterRecordings::AtStart);
        let parse = |text| Scheme::parse(text, "linux").unwrap();
        assert_eq!(*scenario.for_scheme(&parse("bbr")), scenario);
        let with_queue = scenario.for_scheme(&parse("bbr @ red-ecn")).into_owned();
        let (before, after) = (&scenario.links[0], &with_queue.links[0]);
        assert_eq!(after.reverse, before.reverse);
        assert_eq!(after.forward.queue.room, before.forward.queue.room);
        assert_ne!(after.forward.queue, before.forward.queue);
        let long = scenario.for_scheme(&parse("bbr @ fq-codel")).links[0].forward.queue.room;
        assert_eq!(long, Room { packets: Some(10240), bytes: None });
    }

    #[test]
    fn at_its_start_all_seeds_meet_the_same() {
        let scenario = recorded(EnterRecordings::AtStart);
        assert!((0..50).all(|seed| soon(&scenario, seed) == soon(&scenario, 0)));
    }

    #[test]
    fn by_seed_they_meet_all_of_it_both_ways_at_the_same_time() {
        let scenario = recorded(EnterRecordings::BySeed);
        let met: std::collections::BTreeSet<u64> = (0..20).map(|seed| soon(&scenario, seed)).collect();
        assert_eq!(met.len(), 5, "{met:?}");
        for seed in 0..20 {
            let link = &scenario.for_seed(seed).links[0];
            assert_eq!(link.forward, link.reverse);
        }
    }
}
