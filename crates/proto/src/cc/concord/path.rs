//! What is known of the path: its delay without a queue, how much round trips vary, and what rates it has carried.

use super::rounds::Tally;
use airtcp_wire::{Dur, Time};

/// The base RTT is forgotten after a minute, in pieces: routes change, and a queue that has stood for so long can no longer be
/// distinguished from the path.
const BASE_PIECE: Dur = Dur::from_secs(5);
const BASE_PIECES: usize = 12;
/// The highest rate is forgotten after half a minute, which is longer than two hand-overs of a satellite are apart.
const RATE_PIECE: Dur = Dur::from_secs(10);
const RATE_PIECES: usize = 3;
/// Rounds whose rates are remembered, as in Linux's BBR.
const ROUNDS: usize = 10;
/// A round with fewer samples says nothing about their variation.
const SAMPLES: u32 = 4;
/// Delay of an RTT that is not queueing: timers, hosts and radio frames.
const SLACK_S: f64 = 0.003;
/// Packets of our own that wait: a delayed ACK releases two at once.
const SLACK_PACKETS: f64 = 2.0;
/// The largest share of lost packets that the BDP allows for. A path that loses more is not worth a larger window.
const MOST_LOSS: f64 = 0.3;

/// Variation is measured by the lower quartile, because queues only add to it. It follows some thirty rounds.
const QUARTILE: f64 = 0.25;
const QUARTILE_STEP: f64 = 0.125;
/// Share of a round's spread that counts as variation.
const SPREAD_WEIGHT: f64 = 0.5;
/// Weight of a sample in the smoothed RTT.
const SMOOTHING: f64 = 0.25;

/// Seconds, packets, and packets per second.
#[derive(Clone, Debug)]
pub struct Path {
    /// The least RTT of each piece of the last minute.
    base: Recent<BASE_PIECES>,
    /// How far a round's mean RTT is above its minimum, without a queue.
    noise: Quantile,
    /// How far a round's maximum RTT is above its minimum, without a queue.
    spread: Quantile,
    /// How much the minimum RTT of a round differs from that of the previous one.
    sway: Quantile,
    last_min_s: f64,
    /// The mean RTT of the last round.
    pub mean_s: f64,
    /// The last rounds' delivery rates, the latest first.
    rates: [f64; ROUNDS],
    /// The highest delivery rate of half a minute, negated.
    highest: Recent<RATE_PIECES>,
    /// The smoothed RTT, over some eight packets.
    smooth_s: f64,
    pub variation_weight: f64,
}

impl Path {
    pub fn new(variation_weight: f64) -> Path {
        Path {
            base: Recent::new(BASE_PIECE),
            noise: Quantile::default(),
            spread: Quantile::default(),
            sway: Quantile::default(),
            last_min_s: 0.0,
            mean_s: 0.0,
            rates: [0.0; ROUNDS],
            highest: Recent::new(RATE_PIECE),
            smooth_s: 0.0,
            variation_weight,
        }
    }

    pub fn sample(&mut self, rtt_s: f64, now: Time) {
        self.base.put(rtt_s, now);
        let first = self.smooth_s == 0.0;
        self.smooth_s += (rtt_s - self.smooth_s) * if first { 1.0 } else { SMOOTHING };
    }

    pub fn end_round(&mut self, round: &Tally, now: Time) {
        if let Some(rate) = round.rate(now) {
            self.rates.rotate_right(1);
            self.rates[0] = rate;
            self.highest.put(-rate, now);
        }
        if round.samples >= SAMPLES {
            self.noise.put(round.noise_s());
            self.spread.put(round.spread_s());
        }
        if self.last_min_s > 0.0 {
            self.sway.put((round.min_s() - self.last_min_s).abs());
        }
        self.last_min_s = round.min_s();
        self.mean_s = round.mean_s();
    }

    /// The RTT without a queue.
    pub fn floor_s(&self) -> f64 {
        self.base_s() + self.noise.value
    }

    pub fn base_s(&self) -> f64 {
        self.base.least()
    }

    pub fn spread_s(&self) -> f64 {
        self.spread.value
    }

    /// The part of `rtt_s` that is queueing.
    pub fn queue_s(&self, rtt_s: f64) -> f64 {
        rtt_s - self.floor_s()
    }

    /// The present queue.
    pub fn queue_now_s(&self) -> f64 {
        self.queue_s(self.smooth_s)
    }

    /// Delay above the floor beyond which random variation is no explanation.
    pub fn threshold_s(&self) -> f64 {
        self.own_s() + self.variation_s()
    }

    /// Delay above the floor below which nothing seems to queue.
    pub fn quiet_s(&self) -> f64 {
        self.own_s() / 2.0 + self.variation_s()
    }

    /// How long our own packets wait if no others are in the way.
    fn own_s(&self) -> f64 {
        let rate = self.highest_rate();
        SLACK_S + if rate > 0.0 { SLACK_PACKETS / rate } else { 0.0 }
    }

    /// How much round trips vary, within a round and from round to round.
    fn variation_s(&self) -> f64 {
        SPREAD_WEIGHT * self.spread.value + self.variation_weight * self.sway.value
    }

    pub fn latest_rate(&self) -> f64 {
        self.rates[0]
    }

    /// The highest rate of the last rounds.
    pub fn rate_of(&self, rounds: usize) -> f64 {
        self.rates[..rounds].iter().copied().fold(0.0, f64::max)
    }

    pub fn highest_rate(&self) -> f64 {
        -self.highest.least().min(0.0)
    }

    /// The BDP at the mean rate of the last rounds.
    pub fn mean_bdp(&self) -> f64 {
        self.rates.iter().sum::<f64>() / ROUNDS as f64 * self.floor_s()
    }

    /// What the path holds at the highest rate of the last `rounds`, plus what corruption takes on the way.
    pub fn bdp(&self, rounds: usize, lost_share: f64) -> f64 {
        self.rate_of(rounds) * self.floor_s() / (1.0 - lost_share.min(MOST_LOSS))
    }

    /// The relative standard deviation of a round's rate due to corruption alone, by its binomial count.
    pub fn rate_noise(&self, lost_share: f64) -> f64 {
        let lost = lost_share.min(MOST_LOSS);
        let packets = (self.rate_of(3) * self.floor_s()).max(1.0);
        (lost / (1.0 - lost) / packets).sqrt()
    }

    pub fn bdp_of_all(&self, lost_share: f64) -> f64 {
        self.bdp(ROUNDS, lost_share)
    }
}

/// The least value of the last `N` pieces of time.
#[derive(Clone, Debug)]
struct Recent<const N: usize> {
    by_piece: [f64; N],
    piece: Dur,
    since: Time,
}

impl<const N: usize> Recent<N> {
    fn new(piece: Dur) -> Self {
        Recent { by_piece: [f64::INFINITY; N], piece, since: Time::ZERO }
    }

    fn put(&mut self, value: f64, now: Time) {
        if now.since(self.since) > self.piece {
            self.by_piece.rotate_right(1);
            self.by_piece[0] = value;
            self.since = now;
        }
        self.by_piece[0] = self.by_piece[0].min(value);
    }

    fn least(&self) -> f64 {
        self.by_piece.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// Follows the lower quartile of a stream of values: a quarter of a step up for a value above, three quarters of a step down for a value
/// below.
#[derive(Clone, Copy, Debug, Default)]
struct Quantile {
    value: f64,
    /// Mean distance of the values from `value`.
    scale: f64,
    is_set: bool,
}

impl Quantile {
    fn put(&mut self, value: f64) {
        if !self.is_set {
            *self = Quantile { value, scale: value / 4.0, is_set: true };
            return;
        }
        let distance = value - self.value;
        self.scale += QUARTILE_STEP * (distance.abs() - self.scale);
        let step = if distance > 0.0 { QUARTILE } else { QUARTILE - 1.0 };
        self.value = (self.value + QUARTILE_STEP * 2.0 * self.scale * step).max(0.0);
    }
}
