//! Long-term sampling, as in Linux: where a fifth of what is delivered is lost, and the delivery rate over several rounds stays the
//! same, a token-bucket policer is assumed. That rate then replaces the maximum for 48 rounds.

use crate::cc::{Ack, RateSample};
use airtcp_wire::{Dur, Rate, Time};

/// A sample is taken over this many rounds, or more until a loss ends it.
const LEAST_ROUNDS: u32 = 4;
/// If no loss ends it by then, nobody polices.
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// A rate is used for this many rounds. Then the path is probed again.
const USED_ROUNDS: u32 = 48;
/// Bytes lost per byte delivered from which a sample counts: 50/256.
const LOSS_THRESHOLD: (u64, u64) = (50, 256);
/// Two samples agree if they differ by less than this share of the former, or by less than this rate.
const AGREEMENT: u64 = 8;
const AGREEMENT_RATE: Rate = Rate(4000);
/// The resolution of the kernel's clock here, in nanoseconds.
const TICK: u64 = 1_000_000;

/// What the sender has counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub delivered: u64,
    /// Bytes ever marked lost.
    pub lost: u64,
    /// When the last bytes were delivered.
    pub at: Time,
}

impl Totals {
    #[inline]
    pub fn observe(&mut self, ack: &Ack) {
        let RateSample { total_delivered: delivered, total_lost: lost, .. } = ack.rate;
        let at = if ack.delivered > 0 { ack.now } else { self.at };
        *self = Totals { delivered, lost, at };
    }
}

/// What an ACK or a timeout means to the sampling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub has_loss: bool,
    pub is_round_start: bool,
    pub is_app_limited: bool,
    /// Only in PROBE_BW do rounds count while a rate is used.
    pub is_probe_bw: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    /// That of the last sample; zero if there is none.
    rate: Rate,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Sampling begins with a loss: by then the policer's tokens are spent.
    #[default]
    Waiting,
    Sampling {
        since: Totals,
        rounds: u32,
    },
    Using {
        rounds: u32,
    },
}

impl LongTerm {
    /// The rate that replaces the maximum.
    #[inline]
    pub fn rate(&self) -> Option<Rate> {
        matches!(self.state, State::Using { .. }).then_some(self.rate)
    }

    pub fn restart(&mut self) {
        *self = LongTerm::default();
    }

    /// Returns whether a rate has been used for long enough, and the path is to be probed again.
    #[inline]
    pub fn observe(&mut self, event: Event, totals: &Totals) -> bool {
        match self.state {
            State::Waiting if !event.has_loss => false,
            State::Using { rounds } => self.use_for(rounds, event),
            _ => {
                self.sample(event, totals);
                false
            }
        }
    }

    fn use_for(&mut self, rounds: u32, event: Event) -> bool {
        let rounds = rounds + u32::from(event.is_probe_bw && event.is_round_start);
        self.state = State::Using { rounds };
        let is_over = rounds >= USED_ROUNDS;
        if is_over {
            self.restart();
        }
        is_over
    }

    #[inline(never)]
    fn sample(&mut self, event: Event, totals: &Totals) {
        let (since, rounds) = match self.state {
            State::Sampling { since, rounds } => (since, rounds),
            _ => (*totals, 0),
        };
        let rounds = rounds + u32::from(event.is_round_start);
        self.state = State::Sampling { since, rounds };
        if event.is_app_limited || rounds > MOST_ROUNDS {
            self.restart();
        } else if rounds >= LEAST_ROUNDS
            && event.has_loss
            && let Some(rate) = lossy_rate(&since, totals)
        {
            self.finish(rate, totals);
        }
    }

    fn finish(&mut self, rate: Rate, totals: &Totals) {
        let difference = rate.0.abs_diff(self.rate.0);
        let agrees = difference <= self.rate.0 / AGREEMENT || difference <= AGREEMENT_RATE.0;
        (self.rate, self.state) = match agrees && self.rate > Rate(0) {
            true => (Rate(u64::midpoint(rate.0, self.rate.0)), State::Using { rounds: 0 }),
            false => (rate, State::Sampling { since: *totals, rounds: 0 }),
        };
    }
}

/// The rate delivered from `since` to `totals`, if enough was lost meanwhile.
fn lossy_rate(since: &Totals, totals: &Totals) -> Option<Rate> {
    let (delivered, lost) = (totals.delivered - since.delivered, totals.lost - since.lost);
    let (share, whole) = LOSS_THRESHOLD;
    let ticks = totals.at.0 / TICK - since.at.0 / TICK;
    let counts = delivered > 0 && lost * whole >= share * delivered && ticks > 0;
    counts.then(|| Rate::of(delivered, Dur(ticks * TICK)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROUND: Dur = Dur::from_millis(50);

    /// A sender that counts, and the sampling of its rounds.
    #[derive(Default)]
    struct Path {
        totals: Totals,
        long_term: LongTerm,
    }

    impl Path {
        /// A round in which so much is delivered and lost, which ends with an ACK in PROBE_BW. Returns whether to probe again.
        fn round(&mut self, delivered: u64, lost: u64) -> bool {
            self.round_of(delivered, lost, false)
        }

        fn round_of(&mut self, delivered: u64, lost: u64, is_app_limited: bool) -> bool {
            let Totals { delivered: before, lost: lost_before, at } = self.totals;
            self.totals = Totals { delivered: before + delivered, lost: lost_before + lost, at: at + ROUND };
            let event = Event { has_loss: lost > 0, is_round_start: true, is_app_limited, is_probe_bw: true };
            self.long_term.observe(event, &self.totals)
        }

        fn rounds(&mut self, count: u32, delivered: u64, lost: u64) {
            (0..count).for_each(|_| assert!(!self.round(delivered, lost)));
        }

        /// A path on which two samples have agreed on 800 kbit/s.
        fn policed() -> Path {
            let mut path = Path::default();
            path.rounds(8, 5000, 1000);
            path
        }

        fn rate(&self) -> Option<Rate> {
            self.long_term.rate()
        }
    }

    #[test]
    fn two_lossy_intervals_of_four_rounds_at_one_rate_are_a_policer() {
        let mut path = Path::default();
        path.rounds(3, 5000, 0);
        // The first loss begins the first interval: its own round counts, but not what it delivered.
        path.rounds(7, 5000, 1000);
        assert_eq!(path.rate(), None);
        path.round(5000, 1000);
        // 15 000 bytes in three rounds, then 20 000 in four.
        assert_eq!(path.rate(), Some(Rate(800_000)));
    }

    #[test]
    fn rates_that_differ_by_more_than_an_eighth_are_not() {
        for (second, expected) in [(5600, Some(Rate(848_000))), (5700, None)] {
            let mut path = Path::default();
            path.rounds(4, 5000, 1000);
            path.rounds(4, second, 1200);
            assert_eq!(path.rate(), expected, "{second}");
            // The next interval is held against the second.
            path.rounds(4, 5700, 1200);
            assert!(path.rate().is_some());
        }
    }

    #[test]
    fn an_interval_waits_for_enough_loss_and_is_given_up_after_sixteen_rounds() {
        let mut path = Path::default();
        path.rounds(16, 5000, 970);
        assert!(matches!(path.long_term.state, State::Sampling { rounds: 16, .. }));
        path.rounds(1, 5000, 970);
        assert!(matches!(path.long_term.state, State::Waiting));
        // Lost and delivered count from the beginning of the interval.
        path.rounds(6, 5000, 900);
        path.round(5000, 2000);
        assert!(matches!(path.long_term.state, State::Sampling { rounds: 0, .. }), "6500 of 30 000");
    }

    #[test]
    fn the_rate_is_used_for_48_rounds_of_probe_bw() {
        let mut path = Path::policed();
        let elsewhere =
            Event { has_loss: true, is_round_start: true, is_app_limited: false, is_probe_bw: false };
        (0..100).for_each(|_| assert!(!path.long_term.observe(elsewhere, &path.totals)));
        path.rounds(47, 9000, 0);
        assert_eq!(path.rate(), Some(Rate(800_000)));
        assert!(path.round(9000, 0), "the path is probed again");
        assert_eq!(path.rate(), None);
    }

    #[test]
    fn running_out_of_data_gives_up_the_interval() {
        let mut path = Path::default();
        path.rounds(7, 5000, 1000);
        path.round_of(5000, 1000, true);
        path.rounds(7, 5000, 1000);
        assert_eq!(path.rate(), None);
        path.round(5000, 1000);
        assert!(path.rate().is_some());
    }

    proptest! {
        /// Less than 50/256 lost per byte delivered in each round: nothing is ever taken for a policer.
        #[test]
        fn moderate_loss_is_no_policer(rounds in prop::collection::vec((1u64..100_000, 0.0..0.195), 1..300)) {
            let mut path = Path::default();
            for (delivered, share) in rounds {
                path.round(delivered, (delivered as f64 * share) as u64);
                prop_assert_eq!(path.rate(), None);
            }
        }

        /// Whatever happens, the rate lies between the least and the highest that was delivered in a round.
        #[test]
        fn the_rate_is_one_that_was_delivered(rounds in prop::collection::vec((1u64..20, 0u64..8), 1..300)) {
            let mut path = Path::default();
            for &(delivered, lost) in &rounds {
                path.round(delivered * 5000, lost * 5000);
            }
            if let Some(rate) = path.rate() {
                let of = |delivered: u64| Rate::of(delivered * 5000, ROUND);
                let rates = || rounds.iter().map(|&(delivered, _)| of(delivered));
                prop_assert!(Some(rate) >= rates().min() && Some(rate) <= rates().max(), "{rate}");
            }
        }
    }
}
