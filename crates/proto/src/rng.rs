//! Seeded random numbers. Every component has its own named [`Chance`], so that adding a component does not change what the others draw.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// The source of all random numbers of one run.
#[derive(Clone, Copy, Debug)]
pub struct Chances {
    seed: u64,
}

impl Chances {
    pub fn new(seed: u64) -> Chances {
        Chances { seed }
    }

    /// The chance called `name`, e.g. `"link.wireless.forward.loss"`. It depends only on seed and name, and is independent of all others.
    pub fn chance(&self, name: &str) -> Chance {
        self.wake(&Dormant::new(name))
    }

    fn wake(&self, dormant: &Dormant) -> Chance {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(dormant.stream);
        rng.set_word_pos(u128::from(dormant.words));
        Chance(rng)
    }
}

/// A chance that takes hardly any memory, for a component that draws seldom. It is made anew for each draw.
#[derive(Clone, Copy, Debug)]
pub struct Dormant {
    stream: u64,
    /// Number of 32-bit words drawn so far.
    words: u64,
}

impl Dormant {
    /// What [`Chances::chance`] of this name is.
    pub fn new(name: &str) -> Dormant {
        Dormant { stream: fnv1a(name.as_bytes()), words: 0 }
    }

    /// Draws from the one of these `chances`, which are the same each time.
    pub fn draw<T>(&mut self, chances: &Chances, draw: impl FnOnce(&mut Chance) -> T) -> T {
        let mut chance = chances.wake(self);
        let drawn = draw(&mut chance);
        self.words = chance.0.get_word_pos() as u64;
        drawn
    }
}

/// One component's random numbers.
#[derive(Clone, Debug)]
pub struct Chance(ChaCha8Rng);

impl Chance {
    #[inline]
    pub fn u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    #[inline]
    pub fn u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A new chance, independent of this one and of all that are split off later.
    pub fn split(&mut self) -> Chance {
        let mut rng = ChaCha8Rng::seed_from_u64(self.u64());
        rng.set_stream(self.u64());
        Chance(rng)
    }

    /// Uniform in `[0, 1)`, with 53 bits.
    #[inline]
    pub fn f64(&mut self) -> f64 {
        (self.u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `[low, high)`; `low` if the range is empty.
    pub fn range_f64(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low).max(0.0) * self.f64()
    }

    /// True with `probability`.
    #[inline]
    pub fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.f64() < probability
    }

    /// Exponential with the given mean. The logarithm is `libm`'s, which is the same on all platforms.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.f64())
    }

    /// Standard normal (Box–Muller, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.f64()));
        radius * libm::cos(std::f64::consts::TAU * self.f64())
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_seeds_repeat_and_differ() {
        let first = |seed, name| Chances::new(seed).chance(name).u64();
        assert_eq!(first(7, "a"), first(7, "a"));
        assert_ne!(first(7, "a"), first(7, "b"));
        assert_ne!(first(7, "a"), first(8, "a"));
    }

    /// Also where a number takes the last word of a block and the first one of the next.
    #[test]
    fn a_dormant_one_goes_on_where_it_was() {
        let chances = Chances::new(7);
        let (mut awake, mut dormant) = (chances.chance("a"), Dormant::new("a"));
        for _ in 0..50 {
            let numbers = |chance: &mut Chance| (chance.u32(), chance.u64(), chance.f64());
            assert_eq!(dormant.draw(&chances, numbers), numbers(&mut awake));
        }
    }

    #[test]
    fn moments_are_right() {
        let mut chance = Chances::new(1).chance("moments");
        let n = 200_000;
        let normals: Vec<f64> = (0..n).map(|_| chance.normal()).collect();
        let mean = normals.iter().sum::<f64>() / f64::from(n);
        let variance = normals.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        let exponential = (0..n).map(|_| chance.exponential(3.0)).sum::<f64>() / f64::from(n);
        assert!((exponential - 3.0).abs() < 0.05, "{exponential}");
    }
}
