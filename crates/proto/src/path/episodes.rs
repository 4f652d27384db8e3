//! Stretches of time that begin at given, periodic or random times: outages, hand-offs, delay spikes.

use crate::rng::Chance;
use airtcp_wire::{Dur, Time};

/// From `start` up to, but not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Episode {
    pub start: Time,
    pub end: Time,
}

/// When episodes begin. Each kind may be given, or none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Starts {
    /// At these times.
    pub at: Vec<Time>,
    /// At random: the mean of the exponentially distributed time from the end of one to the start of the next. Not zero.
    pub every: Option<Dur>,
    /// At each multiple of this, from the first on. A period not longer than an episode is lengthened to that and 1 ns.
    pub period: Option<Dur>,
}

/// Episodes of one length in order of time. Where two would overlap, the later one begins when the earlier one ends.
/// Clones go through the same times.
#[derive(Clone, Debug)]
pub struct Episodes {
    length: Dur,
    /// Given starts to come, the latest first.
    given: Vec<Time>,
    /// The mean gap, and the next start.
    random: Option<(Dur, Time)>,
    /// The period, and the next start.
    periodic: Option<(Dur, Time)>,
    chance: Chance,
    current: Episode,
}

impl Episodes {
    pub fn new(length: Dur, starts: Starts, chance: Chance) -> Episodes {
        let mut given = starts.at;
        given.sort_unstable_by(|a, b| b.cmp(a));
        let mut episodes = Episodes {
            length,
            given,
            random: None,
            periodic: starts.period.map(|period| period.max(length + Dur(1))).map(|p| (p, Time::ZERO + p)),
            chance,
            current: Episode { start: Time::ZERO, end: Time::ZERO },
        };
        episodes.random =
            starts.every.map(|mean| mean.max(Dur(1))).map(|mean| (mean, episodes.draw(mean, Time::ZERO)));
        episodes.advance();
        episodes
    }

    /// The episode that is under way or comes next. Both of its times are [`Time::NEVER`] if there is none.
    #[inline]
    pub fn current(&self) -> Episode {
        self.current
    }

    /// Goes on to the next episode.
    pub fn advance(&mut self) {
        let start = self.pop_start();
        let busy_until = self.current.end;
        self.current = Episode { start: start.max(busy_until), end: (start + self.length).max(busy_until) };
    }

    /// Does `now` lie in an episode? It never goes back.
    #[inline]
    pub fn covers(&mut self, now: Time) -> bool {
        while self.current.end <= now {
            self.advance();
        }
        self.current.start <= now
    }

    fn draw(&mut self, mean: Dur, after: Time) -> Time {
        after + Dur::from_secs_f64(self.chance.exponential(mean.as_secs_f64()))
    }

    fn pop_start(&mut self) -> Time {
        let given = self.given.last().copied().unwrap_or(Time::NEVER);
        let random = self.random.map_or(Time::NEVER, |(_, next)| next);
        let periodic = self.periodic.map_or(Time::NEVER, |(_, next)| next);
        let start = given.min(random).min(periodic);
        if given == start {
            self.given.pop();
        }
        if let Some((mean, next)) = self.random.filter(|&(_, next)| next == start) {
            self.random = Some((mean, self.draw(mean, next + self.length)));
        }
        if let Some((period, next)) = self.periodic.filter(|&(_, next)| next == start) {
            self.periodic = Some((period, next + period));
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Chances;

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// The first few, in ms.
    fn first(mut episodes: Episodes, n: usize) -> Vec<(u64, u64)> {
        (0..n)
            .map(|_| {
                let Episode { start, end } = episodes.current();
                episodes.advance();
                (start.0 / 1_000_000, end.0 / 1_000_000)
            })
            .collect()
    }

    fn episodes(length_ms: u64, starts: Starts) -> Episodes {
        Episodes::new(Dur::from_millis(length_ms), starts, Chances::new(3).chance("outage"))
    }

    #[test]
    fn given_and_periodic_starts_merge_and_do_not_overlap() {
        let starts = Starts { at: vec![ms(25), ms(3)], period: Some(Dur::from_millis(20)), every: None };
        assert_eq!(first(episodes(10, starts), 5), [(3, 13), (20, 30), (30, 35), (40, 50), (60, 70)]);
    }

    #[test]
    fn without_starts_there_is_none() {
        assert!(!episodes(1000, Starts::default()).covers(Time(u64::MAX - 1)));
        let mut once = episodes(1, Starts { at: vec![ms(1)], ..Starts::default() });
        assert_eq!([0, 1, 2, 3].map(|at| once.covers(ms(at))), [false, true, false, false]);
        assert!(once.current().start.is_never());
    }

    #[test]
    fn random_gaps_have_their_mean_and_repeat_with_the_seed() {
        let new = || episodes(10, Starts { every: Some(Dur::from_millis(90)), ..Starts::default() });
        let starts = first(new(), 10_001);
        assert_eq!(starts, first(new(), 10_001));
        let mean = starts[10_000].0 as f64 / 10_000.0;
        assert!((mean - 100.0).abs() < 4.0 * 0.9, "four standard errors: {mean}");
        assert!(starts.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
}
