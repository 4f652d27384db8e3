//! Rate control as in Linux's mac80211 (`net/mac80211/rc80211_minstrel_ht.c` of Linux 6.15): it learns from what is acknowledged.
//!
//! - Every 50 ms, the share of acknowledged frames of each scheme goes through a low-pass filter. A scheme that was never tried is held to
//!   be as good as the best of the faster ones.
//! - Schemes are ordered by throughput: their share, at most 90 %, by the time that a frame takes with its part of an aggregate's overhead.
//!   Shares below 10 % count as zero.
//! - A turn goes by the first of that order. If nothing of it is acknowledged, it is tried once more; so are then the second, the third,
//!   and the surest: of the schemes that take at least 3/16 more time than the first two, the best by throughput with a share above 75 %,
//!   or else that of the highest share.
//! - Every 20 ms a frame goes alone by another scheme: three times in six by the next faster one, twice by any faster one, and once by
//!   one between those in use of which not nearly every frame is read.
//!
//! Linux also chooses streams, width and guard interval, which the medium says here. It tries a scheme more often than twice if that takes
//! less than 6 ms. It lists its samples every 50 ms, each scheme once; here each is drawn when it is due.

use super::control::Choice;
use super::station::Exchange;
use crate::Chance;
use airtcp_wire::{Dur, Time};

/// HZ / 20.
const UPDATE: Dur = Dur::from_millis(50);
/// MINSTREL_SAMPLE_INTERVAL.
const SAMPLE: Dur = Dur::from_millis(20);
/// AVG_PKT_SIZE.
const PACKET_BITS: f64 = 1200.0 * 8.0;
/// What a transmission costs beside its data: a preamble, and an acknowledgment at 6 Mbit/s, each with a SIFS.
const OVERHEAD_S: f64 = 96e-6;
/// MINSTREL_AVG_COEFF2 and 3: the weights of the last two values in a filter whose weights are 1 in all.
const FILTER: [f64; 2] = [5273.0 / 4096.0, -2350.0 / 4096.0];
/// Of a new length of aggregates: 1 - EWMA_LEVEL / EWMA_DIV.
const LENGTH_WEIGHT: f64 = 0.25;
/// Turns by one scheme before the next one is tried.
const TRIES: usize = 2;

#[derive(Clone, Copy)]
enum Sample {
    NextFaster,
    AnyFaster,
    Between,
}

use Sample::{AnyFaster, Between, NextFaster};

/// minstrel_sample_seq.
const SAMPLES: [Sample; 6] = [NextFaster, AnyFaster, NextFaster, AnyFaster, NextFaster, Between];

/// The rate control of one link.
pub struct Minstrel {
    chance: Chance,
    /// By scheme, from the slowest.
    schemes: Vec<Scheme>,
    /// Those that are tried, one after the other. The last is the surest.
    chain: [usize; 4],
    /// Turns in a row of which nothing was acknowledged.
    failures: usize,
    last: Choice,
    updated: Time,
    sampled: Time,
    samples: usize,
    /// Frames in a transmission, smoothed.
    length: f64,
    /// Transmissions and their frames since the last update.
    transmissions: usize,
    frames: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Scheme {
    /// Time of a frame in s, without overhead.
    airtime_s: f64,
    /// In this interval and the one before.
    now: Counts,
    before: Counts,
    is_known: bool,
    /// Filtered share of acknowledged frames, and its last value.
    share: f64,
    last_share: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: usize,
    read: usize,
}

impl Scheme {
    fn update(&mut self) {
        let Counts { sent, read } = self.now;
        if sent > 0 {
            let share = (read + self.before.read) as f64 / (sent + self.before.sent) as f64;
            if !self.is_known {
                (self.share, self.last_share, self.is_known) = (share, share, true);
            }
            let [last, before] = FILTER;
            let filtered = (1.0 - last - before) * share + last * self.share + before * self.last_share;
            (self.share, self.last_share) = (filtered.clamp(0.0, 1.0), self.share);
        }
        (self.before, self.now) = (self.now, Counts::default());
    }

    /// In frames a second.
    fn throughput(&self, length: f64) -> f64 {
        let counted = if self.share < 0.1 { 0.0 } else { self.share.min(0.9) };
        counted / (OVERHEAD_S / length + self.airtime_s)
    }
}

impl Minstrel {
    pub fn new(exchanges: &[Exchange], chance: Chance) -> Minstrel {
        let airtime_s = |exchange: &Exchange| PACKET_BITS / exchange.mode.rate().0 as f64;
        let scheme = |exchange| Scheme { airtime_s: airtime_s(exchange), ..Scheme::default() };
        Minstrel {
            chance,
            schemes: exchanges.iter().map(scheme).collect(),
            chain: [0; 4],
            failures: 0,
            last: Choice { mcs: 0, is_probe: false },
            updated: Time::ZERO,
            sampled: Time::ZERO,
            samples: 0,
            length: 1.0,
            transmissions: 0,
            frames: 0,
        }
    }

    pub fn choose(&mut self, now: Time) -> Choice {
        if now >= self.updated + UPDATE {
            self.updated = now;
            self.update();
        }
        let sample = (self.failures == 0 && now >= self.sampled + SAMPLE).then(|| {
            self.sampled = now;
            self.sample()
        });
        self.last = match sample.flatten() {
            Some(scheme) => Choice { mcs: scheme as u32, is_probe: true },
            None => Choice { mcs: self.chain[self.failures / TRIES] as u32, is_probe: false },
        };
        self.last
    }

    pub fn on_acknowledged(&mut self, read: usize, sent: usize) {
        let Choice { mcs, is_probe } = self.last;
        let counts = &mut self.schemes[mcs as usize].now;
        counts.sent += sent;
        counts.read += read;
        self.transmissions += 1;
        self.frames += sent;
        self.failures = match read {
            0 if is_probe => 0,
            0 => (self.failures + 1) % (TRIES * self.chain.len()),
            _ => 0,
        };
    }

    fn update(&mut self) {
        if self.transmissions > 0 {
            let length = self.frames as f64 / self.transmissions as f64;
            self.length += LENGTH_WEIGHT * (length - self.length);
            (self.transmissions, self.frames) = (0, 0);
        }
        let mut best_of_faster: f64 = 0.0;
        for scheme in self.schemes.iter_mut().rev() {
            scheme.update();
            match scheme.is_known {
                true => best_of_faster = best_of_faster.max(scheme.share),
                false => scheme.share = scheme.share.max(best_of_faster),
            }
        }
        let [first, second, third] = self.best();
        self.chain = [first, second, third, self.surest(first.min(second))];
    }

    fn throughput(&self, scheme: usize) -> f64 {
        self.schemes[scheme].throughput(self.length)
    }

    /// The first three by throughput; the slowest scheme, where there are less.
    fn best(&self) -> [usize; 3] {
        let mut order: Vec<usize> = (0..self.schemes.len()).rev().collect();
        order.retain(|scheme| self.throughput(*scheme) > 0.0);
        let rank = |scheme: &usize| (self.throughput(*scheme), self.schemes[*scheme].share);
        order.sort_by(|one, other| rank(other).partial_cmp(&rank(one)).unwrap_or(std::cmp::Ordering::Equal));
        std::array::from_fn(|place| order.get(place).copied().unwrap_or(0))
    }

    /// `slower` is the slower one of the best two.
    fn surest(&self, slower: usize) -> usize {
        let least_s = self.schemes[slower].airtime_s * 19.0 / 16.0;
        let mut surest = 0;
        for (number, scheme) in self.schemes.iter().enumerate() {
            let is_better = match scheme.share > 0.75 {
                true => self.throughput(number) > self.throughput(surest),
                false => scheme.share > self.schemes[surest].share,
            };
            if scheme.airtime_s > least_s && is_better {
                surest = number;
            }
        }
        surest
    }

    /// A scheme to try, if there is one of the kind whose turn it is.
    fn sample(&mut self) -> Option<usize> {
        let kind = SAMPLES[self.samples % SAMPLES.len()];
        self.samples += 1;
        let [first, second, _, surest] = self.chain;
        let fastest = first.max(second).max(surest);
        let slowest = first.min(second).min(surest);
        let all = 0..self.schemes.len();
        match kind {
            NextFaster => Some(first + 1).filter(|scheme| all.contains(scheme)),
            AnyFaster => self.one_of(all.skip(fastest + 1).collect()),
            Between => {
                let is_unsure = |scheme: &usize| self.schemes[*scheme].share <= 0.95;
                self.one_of((slowest + 1..fastest).filter(is_unsure).collect())
            }
        }
    }

    fn one_of(&mut self, schemes: Vec<usize>) -> Option<usize> {
        let place = self.chance.range_f64(0.0, schemes.len() as f64) as usize;
        schemes.get(place).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::wifi::Config;
    use crate::rng::Chances;

    /// The control of a link of 802.11n.
    fn minstrel() -> Minstrel {
        let config = Config::default();
        let exchanges: Vec<_> = (0..8).map(|mcs| config.exchange(mcs)).collect();
        Minstrel::new(&exchanges, Chances::new(1).chance("minstrel"))
    }

    /// Turns of 3 ms with 20 frames from `from_ms` on, of which those up to `highest` are read. Returns the schemes but for the probes.
    fn turns(minstrel: &mut Minstrel, from_ms: u64, highest: u32) -> Vec<u32> {
        let mut schemes = Vec::new();
        for turn in 0..300 {
            let Choice { mcs, is_probe } = minstrel.choose(Time((from_ms + 3 * turn) * 1_000_000));
            let sent = if is_probe { 1 } else { 20 };
            minstrel.on_acknowledged(if mcs <= highest { sent } else { 0 }, sent);
            schemes.extend((!is_probe).then_some(mcs));
        }
        schemes
    }

    #[test]
    fn it_finds_the_fastest_scheme_that_is_read_and_leaves_it_when_it_is_not() {
        let mut minstrel = minstrel();
        let up = turns(&mut minstrel, 0, 5);
        assert_eq!(up[0], 0, "it begins with the slowest");
        assert!(up.iter().rev().take(100).all(|mcs| *mcs == 5), "{up:?}");
        let down = turns(&mut minstrel, 900, 2);
        assert!(down[..8].iter().any(|mcs| *mcs < 5), "a chain of slower ones: {down:?}");
        assert!(down.iter().rev().take(100).all(|mcs| *mcs == 2), "{down:?}");
    }

    #[test]
    fn after_two_turns_in_vain_the_next_of_the_chain_is_tried() {
        let mut minstrel = minstrel();
        turns(&mut minstrel, 0, 7);
        let chain = minstrel.chain;
        let vain: Vec<u32> = (0..8)
            .map(|turn| {
                let choice = minstrel.choose(Time(900_000_000 + turn * 100_000));
                minstrel.on_acknowledged(0, 20);
                choice
            })
            .filter(|choice| !choice.is_probe)
            .map(|choice| choice.mcs)
            .collect();
        let expected: Vec<u32> = chain.iter().flat_map(|scheme| [*scheme as u32; 2]).collect();
        assert!(expected.starts_with(&vain[..vain.len().min(8)]), "{vain:?}, {expected:?}");
    }

    #[test]
    fn equal_feedback_gives_equal_choices() {
        let run = || turns(&mut minstrel(), 0, 4);
        assert_eq!(run(), run());
    }
}
