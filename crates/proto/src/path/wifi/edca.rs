//! Enhanced distributed channel access (IEEE 802.11-2020, 10.23.2): who sends next on a Wi-Fi channel.
//!
//! A station waits until the channel has been idle for AIFS, and then for a random number of slots. It stops counting while others
//! send. Stations whose count ends in the same slot collide. All links that begin at one node are one station, whose turns go
//! round among them. AIFS follows each exchange, whether it succeeded or not: who could not read a frame waits as long as its
//! acknowledgment would have taken (EIFS).
//!
//! All count the same slots. So a station keeps the number of the slot in which its count ends instead of what is left of it, and a turn
//! costs no more if many wait.

use super::rota::Rota;
use crate::Chance;
use crate::path::medium::{Access, Outcome};
use airtcp_wire::{Dur, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// How a station contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    pub slot: Dur,
    /// SIFS + AIFSN slots.
    pub aifs: Dur,
    /// In slots, inclusive: each doubles to the next, plus one.
    pub cw_min: u32,
    pub cw_max: u32,
    /// Failures in a row after which the contention window is the smallest again.
    pub attempts: u32,
}

pub struct Edca {
    contention: Contention,
    chance: Chance,
    /// The station of each link.
    stations_of: Vec<usize>,
    stations: Vec<Station>,
    rota: Rota,
    /// The stations that have something to send, by the slot in which their count ends.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    /// Since when nobody sends.
    idle_since: Time,
    /// The slots that were counted until then.
    slots: u64,
    is_busy: bool,
    /// When the present turn began.
    since: Time,
}

#[derive(Clone, Debug)]
struct Station {
    cw: u32,
    /// In a row.
    failures: u32,
    /// The slot in which its count ends. After that, it may send in a channel that is idle.
    ends: u64,
    /// Its links that have something to send, in turn.
    links: VecDeque<usize>,
    /// Since when there are any.
    since: Time,
    /// Is this its turn?
    sends: bool,
}

impl Edca {
    /// `ends` are the nodes at which each link begins and ends, in the order in which links join the medium.
    pub fn new(contention: Contention, rota: Rota, ends: &[[usize; 2]], chance: Chance) -> Edca {
        let Contention { cw_min: cw, .. } = contention;
        let (links, since) = (VecDeque::new(), Time::ZERO);
        let station = Station { cw, failures: 0, ends: 0, links, since, sends: false };
        let mut names: Vec<usize> = ends.iter().map(|[from, _]| *from).collect();
        names.sort_unstable();
        names.dedup();
        let stations_of = ends.iter().map(|[from, _]| names.partition_point(|name| name < from)).collect();
        Edca {
            contention,
            chance,
            stations_of,
            stations: vec![station; names.len()],
            rota,
            waiting: BinaryHeap::new(),
            idle_since: Time::ZERO,
            slots: 1,
            is_busy: false,
            since: Time::ZERO,
        }
    }

    /// When the channel has been idle long enough to count slots.
    fn counts_from(&self) -> Time {
        self.idle_since + self.contention.aifs
    }

    /// The station that sends next, and when, if nobody does before.
    fn next(&self) -> Option<(Time, usize)> {
        let &Reverse((ends, number)) = self.waiting.peek()?;
        let counted = self.counts_from() + self.contention.slot * ends.saturating_sub(self.slots);
        Some((self.stations[number].since.max(counted), number))
    }

    /// A number of slots from now on, for a station.
    fn draw(&mut self, number: usize) {
        let slots = self.chance.range_f64(0.0, f64::from(self.stations[number].cw) + 1.0) as u64;
        self.stations[number].ends = self.slots + slots;
    }

    /// A station that has something to send waits for its turn.
    fn wait(&mut self, number: usize) {
        self.waiting.push(Reverse((self.stations[number].ends, number)));
    }
}

impl Access for Edca {
    fn contend(&mut self, now: Time, link: usize) {
        let number = self.stations_of[link];
        let station = &mut self.stations[number];
        self.rota.join(link, &mut station.links);
        if station.links.len() > 1 {
            return;
        }
        station.since = now;
        if station.sends {
            return;
        }
        // 10.23.2.4: a packet that finds the channel busy waits for a number of slots, too.
        if station.ends < self.slots && (self.is_busy || now < self.counts_from()) {
            self.draw(number);
        }
        self.wait(number);
    }

    fn next_turn(&self) -> Time {
        self.next().map_or(Time::NEVER, |(at, _)| at)
    }

    fn grant(&mut self, now: Time, turn: &mut Vec<usize>) {
        while let Some((_, number)) = self.next().filter(|(at, _)| *at <= now) {
            self.waiting.pop();
            let station = &mut self.stations[number];
            station.sends = true;
            turn.extend(self.rota.next(&mut station.links));
        }
        self.slots += now.since(self.counts_from()).0 / self.contention.slot.0;
        (self.is_busy, self.since) = (true, now);
    }

    fn release(&mut self, now: Time, link: usize, outcome: Outcome) {
        (self.idle_since, self.is_busy) = (now, false);
        self.rota.on_airtime(link, now.since(self.since));
        let Contention { cw_min, cw_max, attempts, .. } = self.contention;
        let number = self.stations_of[link];
        let station = &mut self.stations[number];
        station.sends = false;
        station.failures = if outcome == Outcome::Unread { station.failures + 1 } else { 0 };
        station.cw = match station.failures {
            0 => cw_min,
            failures if failures == attempts => {
                station.failures = 0;
                cw_min
            }
            _ => (2 * station.cw + 1).min(cw_max),
        };
        // After each exchange, even if nothing is left to send.
        self.draw(number);
        if !self.stations[number].links.is_empty() {
            self.wait(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chances;
    use crate::path::wifi::Config;

    /// What arrives while a station sends does not give it a second turn.
    #[test]
    fn a_station_waits_once() {
        let contention = Config::default().contention();
        let ends = [[0, 1], [0, 2], [1, 0]];
        let mut edca = Edca::new(contention, Rota::new(false, &ends), &ends, Chances::new(1).chance("edca"));
        let mut turns = Vec::new();
        let mut now = Time::ZERO;
        (0..3).for_each(|link| edca.contend(now, link));
        while !edca.next_turn().is_never() {
            now = edca.next_turn();
            let mut turn = Vec::new();
            edca.grant(now, &mut turn);
            if turns.is_empty() {
                edca.contend(now, turn[0]);
            }
            now += Dur::from_micros(100);
            turn.iter().for_each(|&link| edca.release(now, link, Outcome::Read));
            turns.extend(turn);
        }
        turns.sort_unstable();
        assert_eq!(turns.len(), 4);
        turns.dedup();
        assert_eq!(turns, [0, 1, 2]);
    }
}
