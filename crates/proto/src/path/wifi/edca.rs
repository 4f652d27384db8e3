//! Enhanced distributed channel access (IEEE 802.11-2020, 10.23.2): who sends next on a Wi-Fi channel.
//!
//! A station waits until the channel has been idle for AIFS, and then for a random number of slots. It stops counting while others
//! send. Stations whose count ends in the same slot collide. All links that begin at one node are one station, whose turns go
//! round among them. AIFS follows each exchange, whether it succeeded or not: who could not read a frame waits as long as its
//! acknowledgment would have taken (EIFS).

use crate::Chance;
use crate::path::medium::{Access, Outcome};
use airtcp_wire::{Dur, Time};
use std::collections::VecDeque;

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
    /// Since when nobody sends.
    idle_since: Time,
    is_busy: bool,
}

#[derive(Clone, Debug)]
struct Station {
    cw: u32,
    /// In a row.
    failures: u32,
    /// Slots to wait when the channel became idle. Absent: it has waited, and may send in a channel that is idle.
    backoff: Option<u64>,
    /// Its links that have something to send, in turn.
    links: VecDeque<usize>,
    /// Since when there are any.
    since: Time,
}

impl Edca {
    /// `nodes` are those at which links begin, in the order in which links join the medium.
    pub fn new(contention: Contention, nodes: &[usize], chance: Chance) -> Edca {
        let Contention { cw_min: cw, .. } = contention;
        let station = Station { cw, failures: 0, backoff: None, links: VecDeque::new(), since: Time::ZERO };
        let mut names = nodes.to_vec();
        names.sort_unstable();
        names.dedup();
        let stations_of = nodes.iter().map(|node| names.partition_point(|name| name < node)).collect();
        let stations = vec![station; names.len()];
        Edca { contention, chance, stations_of, stations, idle_since: Time::ZERO, is_busy: false }
    }

    /// When the station sends, if nobody does before.
    fn due(&self, station: &Station) -> Time {
        match station.links.is_empty() {
            true => Time::NEVER,
            false => station.since.max(self.backoff_ends(station)),
        }
    }

    fn backoff_ends(&self, station: &Station) -> Time {
        let Contention { slot, aifs, .. } = self.contention;
        self.idle_since + aifs + slot * station.backoff.unwrap_or(0)
    }

    fn draw(chance: &mut Chance, cw: u32) -> Option<u64> {
        Some(chance.range_f64(0.0, f64::from(cw) + 1.0) as u64)
    }
}

impl Access for Edca {
    fn contend(&mut self, now: Time, link: usize) {
        let idle_at = self.idle_since + self.contention.aifs;
        let station = &mut self.stations[self.stations_of[link]];
        if station.links.is_empty() {
            station.since = now;
            // 10.23.2.4: a packet that finds the channel busy waits for a number of slots, too.
            if station.backoff.is_none() && (self.is_busy || now < idle_at) {
                station.backoff = Edca::draw(&mut self.chance, station.cw);
            }
        }
        station.links.push_back(link);
    }

    fn next_turn(&self) -> Time {
        self.stations.iter().map(|station| self.due(station)).min().unwrap_or(Time::NEVER)
    }

    fn grant(&mut self, now: Time, turn: &mut Vec<usize>) {
        let Contention { slot, aifs, .. } = self.contention;
        let waited = now.since(self.idle_since + aifs).0 / slot.0;
        for number in 0..self.stations.len() {
            let is_due = self.due(&self.stations[number]) <= now;
            let station = &mut self.stations[number];
            if is_due {
                station.backoff = None;
                turn.extend(station.links.pop_front());
            } else {
                station.backoff = station.backoff.and_then(|slots| slots.checked_sub(waited));
            }
        }
        self.is_busy = true;
    }

    fn release(&mut self, now: Time, link: usize, outcome: Outcome) {
        (self.idle_since, self.is_busy) = (now, false);
        let Contention { cw_min, cw_max, attempts, .. } = self.contention;
        let station = &mut self.stations[self.stations_of[link]];
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
        station.backoff = Edca::draw(&mut self.chance, station.cw);
    }
}
