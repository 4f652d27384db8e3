//! Enhanced distributed channel access (IEEE 802.11-2020, 10.23.2): who sends next on a Wi-Fi channel.
//!
//! A station waits until the channel has been idle for AIFS, and then for a random number of slots. It stops counting while others
//! send. Stations whose count ends in the same slot collide. All links that begin at one node are one station, whose turns go
//! round among them. AIFS follows each exchange, whether it succeeded or not: who could not read a frame waits as long as its
//! acknowledgment would have taken (EIFS).
//!
//! All that hear the same count the same slots (`channel.rs`). A station that hears only the receiver of an exchange knows of it from the answer
//! on (CTS or acknowledgment).

use super::channel::Channel;
use super::rota::Rota;
use crate::Chance;
use crate::path::medium::{Access, Hearing, Outcome};
use airtcp_wire::{Dur, Time};
use std::cmp::Reverse;
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
    rota: Rota,
    channels: Vec<Channel>,
    /// By link: the channels on which its turns are heard, and those on which only the answers are.
    heard: Vec<Vec<usize>>,
    answered: Vec<Vec<usize>>,
}

#[derive(Clone, Debug)]
struct Station {
    /// The one that it hears.
    channel: usize,
    cw: u32,
    /// In a row.
    failures: u32,
    /// The slot in which its count ends. After that, it may send in a channel that is idle.
    ends: u64,
    /// Its links that have something to send, in turn.
    links: VecDeque<usize>,
    /// Since when there are any.
    since: Time,
    /// When its turn began, if it has one.
    sends_since: Option<Time>,
    /// Has its turn been answered?
    is_answered: bool,
}

impl Edca {
    pub fn new(contention: Contention, rota: Rota, hearing: &Hearing, chance: Chance) -> Edca {
        let ends = &hearing.ends;
        let mut nodes: Vec<usize> = ends.iter().map(|[from, _]| *from).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let hears = |node: usize| nodes.iter().map(|&other| hearing.hears(node, other)).collect::<Vec<_>>();
        // Who hears what, once for all that hear the same.
        let mut heard_by: Vec<Vec<bool>> = nodes.iter().map(|&node| hears(node)).collect();
        heard_by.sort_unstable();
        heard_by.dedup();
        let station = |&node: &usize| Station {
            channel: heard_by.partition_point(|heard| *heard < hears(node)),
            cw: contention.cw_min,
            failures: 0,
            ends: 0,
            links: VecDeque::new(),
            since: Time::ZERO,
            sends_since: None,
            is_answered: false,
        };
        let stations: Vec<Station> = nodes.iter().map(station).collect();
        let on = |node: usize| {
            let hears_it = |&number: &usize| hearing.hears(nodes[number], node);
            let mut channels: Vec<usize> =
                (0..nodes.len()).filter(hears_it).map(|number| stations[number].channel).collect();
            channels.sort_unstable();
            channels.dedup();
            channels
        };
        let heard: Vec<Vec<usize>> = ends.iter().map(|[from, _]| on(*from)).collect();
        let only_answered = |([_, to], heard): (&[usize; 2], &Vec<usize>)| {
            on(*to).into_iter().filter(|channel| !heard.contains(channel)).collect()
        };
        Edca {
            contention,
            chance,
            stations_of: ends.iter().map(|[from, _]| nodes.partition_point(|node| node < from)).collect(),
            rota,
            channels: vec![Channel::default(); heard_by.len()],
            answered: ends.iter().zip(&heard).map(only_answered).collect(),
            heard,
            stations,
        }
    }

    /// The station on a channel that sends next, and when, if nobody does before.
    fn next(&self, channel: &Channel) -> Option<(Time, usize)> {
        let (counted, number) = channel.next(&self.contention)?;
        Some((self.stations[number].since.max(counted), number))
    }

    /// A number of slots from now on, for a station.
    fn draw(&mut self, number: usize) {
        let station = &mut self.stations[number];
        let slots = self.chance.range_f64(0.0, f64::from(station.cw) + 1.0) as u64;
        station.ends = self.channels[station.channel].slots + slots;
    }

    /// A station that has something to send waits for its turn.
    fn wait(&mut self, number: usize) {
        let Station { channel, ends, .. } = self.stations[number];
        self.channels[channel].waiting.push(Reverse((ends, number)));
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
        if station.sends_since.is_some() {
            return;
        }
        // 10.23.2.4: a packet that finds the channel busy waits for a number of slots, too.
        let channel = &self.channels[station.channel];
        if station.ends < channel.slots && !channel.is_idle(now, &self.contention) {
            self.draw(number);
        }
        self.wait(number);
    }

    fn next_turn(&self) -> Time {
        let next = |channel| self.next(channel).map_or(Time::NEVER, |(at, _)| at);
        self.channels.iter().map(next).min().unwrap_or(Time::NEVER)
    }

    fn grant(&mut self, now: Time, turn: &mut Vec<usize>) {
        for channel in 0..self.channels.len() {
            while let Some((_, number)) = self.next(&self.channels[channel]).filter(|(at, _)| *at <= now) {
                self.channels[channel].waiting.pop();
                let station = &mut self.stations[number];
                station.sends_since = Some(now);
                turn.extend(self.rota.next(&mut station.links));
            }
        }
        for link in &*turn {
            self.heard[*link].iter().for_each(|&channel| self.channels[channel].hear(now, &self.contention));
        }
    }

    fn answer(&mut self, now: Time, link: usize) {
        self.stations[self.stations_of[link]].is_answered = true;
        self.answered[link].iter().for_each(|&channel| self.channels[channel].hear(now, &self.contention));
    }

    fn release(&mut self, now: Time, link: usize, outcome: Outcome) {
        let Contention { cw_min, cw_max, attempts, .. } = self.contention;
        let number = self.stations_of[link];
        let station = &mut self.stations[number];
        let answered = if std::mem::take(&mut station.is_answered) { &self.answered[link][..] } else { &[] };
        for &channel in self.heard[link].iter().chain(answered) {
            self.channels[channel].forget(now);
        }
        let since = station.sends_since.take().unwrap_or(now);
        self.rota.on_airtime(link, now.since(since));
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
        let hearing = Hearing { ends: ends.to_vec(), ..Hearing::default() };
        let mut edca =
            Edca::new(contention, Rota::new(false, &ends), &hearing, Chances::new(1).chance("edca"));
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
