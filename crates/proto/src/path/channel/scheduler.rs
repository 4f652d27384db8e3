//! The base station's scheduler: what rate each user's channel supports, and whose turn it is.

use super::ChannelConfig;
use crate::path::fading::{Rician, Shadowing, from_db, wavelength_m};
use crate::rng::Chance;
use airtcp_wire::Rate;
use std::f64::consts::TAU;

/// 1xEV-DO's rates in bit/s, each with the ratio of signal to interference and noise in dB at which one packet in a hundred is lost
/// (Bender et al. 2000, "CDMA/HDR", Table 1). If a packet takes several slots, it is spread evenly over them here.
const RATES: [(f64, u64); 11] = [
    (-12.5, 38_400),
    (-9.5, 76_800),
    (-8.5, 102_600),
    (-6.5, 153_600),
    (-5.7, 204_800),
    (-4.0, 307_200),
    (-1.0, 614_400),
    (1.3, 921_600),
    (3.0, 1_228_800),
    (7.2, 1_843_200),
    (9.5, 2_457_600),
];

/// Slots between two updates of shadowing, a tenth of a second: shadowing changes over metres.
const SLOTS_PER_UPDATE: u32 = 60;

#[derive(Clone, Debug)]
struct User {
    fading: Rician,
    shadowing: Shadowing,
    slots_to_shadowing: u32,
    /// Mean ratio of signal to interference and noise at the user's distance, in dB.
    distance_db: f64,
    /// That ratio with shadowing, not in dB.
    mean_snr: f64,
    /// Smoothed rate at which the user was served, in bit/s.
    average_bps: f64,
}

/// All users of a cell. The first one is the link's own.
#[derive(Clone, Debug)]
pub struct Cell {
    users: Vec<User>,
    /// The ratios of [`RATES`], not in dB.
    thresholds: [f64; RATES.len()],
    /// Weight of a slot in the averages.
    weight: f64,
}

impl Cell {
    pub fn new(config: &ChannelConfig, mut chance: Chance) -> Cell {
        let own = std::iter::once(config.distance_m);
        let others: Vec<f64> = (1..config.users).map(|_| random_distance(config, &mut chance)).collect();
        Cell {
            users: own.chain(others).map(|metres| User::new(config, metres, &mut chance)).collect(),
            thresholds: RATES.map(|(db, _)| from_db(db)),
            weight: 1.0 / config.memory_slots,
        }
    }

    /// The rate at which the next slot serves the link's user; zero if it serves another.
    ///
    /// Proportional fairness: the slot goes to the user with the highest ratio of current to average rate.
    #[inline]
    pub fn next_slot(&mut self, has_data: bool) -> Rate {
        let Cell { users, thresholds, weight } = self;
        let mut best = (0.0, usize::MAX, 0);
        for (index, user) in users.iter_mut().enumerate() {
            let rate = user.next_rate(thresholds);
            let merit = rate as f64 / user.average_bps;
            if (index > 0 || has_data) && merit > best.0 {
                best = (merit, index, rate);
            }
        }
        let (_, served, rate) = best;
        for (index, user) in users.iter_mut().enumerate() {
            let given = if index == served { rate as f64 } else { 0.0 };
            user.average_bps = (user.average_bps + *weight * (given - user.average_bps)).max(1.0);
        }
        Rate(if served == 0 { rate } else { 0 })
    }
}

/// A random distance, uniform over the area of the ring from a tenth of the radius to the edge.
fn random_distance(config: &ChannelConfig, chance: &mut Chance) -> f64 {
    config.radius_m * f64::sqrt(chance.range_f64(0.01, 1.0))
}

impl User {
    fn new(config: &ChannelConfig, distance_m: f64, chance: &mut Chance) -> User {
        let nearness = libm::log10(config.radius_m / distance_m);
        let distance_db = config.edge_snr_db + 10.0 * config.path_loss_exponent * nearness;
        let metres_per_slot = config.speed_kmh / 3.6 * config.slot.as_secs_f64();
        let doppler = TAU * metres_per_slot / wavelength_m(config.carrier_mhz);
        let fading = Rician::new(config.rician_k_db, doppler, chance);
        let distances = metres_per_slot * f64::from(SLOTS_PER_UPDATE) / config.shadowing_distance_m;
        let shadowing = Shadowing::new(config.shadowing_db, distances, chance.split());
        // All users begin with an equal share of a middling rate.
        let average_bps = 614_400.0 / f64::from(config.users);
        User { fading, shadowing, slots_to_shadowing: 0, distance_db, mean_snr: 0.0, average_bps }
    }

    /// The rate in bit/s that the user's channel supports in the next slot.
    #[inline]
    fn next_rate(&mut self, thresholds: &[f64]) -> u64 {
        if self.slots_to_shadowing == 0 {
            self.mean_snr = from_db(self.distance_db + self.shadowing.next());
            self.slots_to_shadowing = SLOTS_PER_UPDATE;
        }
        self.slots_to_shadowing -= 1;
        let snr = self.mean_snr * self.fading.next();
        let above = thresholds.iter().filter(|&&threshold| snr >= threshold).count();
        if above == 0 { 0 } else { RATES[above - 1].1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Chances;

    fn chance(seed: u64) -> Chance {
        Chances::new(seed).chance("cell")
    }

    /// Share of slots and mean rate in bit/s of a user who always has data.
    fn share(config: &ChannelConfig, seed: u64, slots: u32) -> (f64, f64) {
        let mut cell = Cell::new(config, chance(seed));
        let rates: Vec<u64> = (0..slots).map(|_| cell.next_slot(true).0).collect();
        let served = rates.iter().filter(|&&rate| rate > 0).count();
        let n = f64::from(slots);
        (served as f64 / n, rates.iter().sum::<u64>() as f64 / n)
    }

    /// What proportional fairness promises users whose channels differ in strength but not in kind: equal time.
    #[test]
    fn users_get_equal_shares_of_time_whatever_their_distance() {
        for distance_m in [200.0, 700.0] {
            let config =
                ChannelConfig { distance_m, users: 4, shadowing_db: 0.0, ..ChannelConfig::default() };
            let (time, _) = share(&config, 1, 60_000);
            assert!((0.17..0.33).contains(&time), "{distance_m} m: {time}");
        }
    }

    /// The gain of choosing: a user is served when his channel is good, so more than his share of what it bears.
    #[test]
    fn choosing_users_at_their_best_serves_more_than_turns_would() {
        let alone =
            ChannelConfig { users: 1, shadowing_db: 0.0, rician_k_db: -100.0, ..ChannelConfig::default() };
        let crowd = ChannelConfig { users: 4, ..alone };
        let (_, bears) = share(&alone, 1, 120_000);
        let (time, gets) = share(&crowd, 1, 120_000);
        assert!(gets > 1.2 * bears * time, "{gets} of {bears}, {time} of the time");
    }

    #[test]
    fn who_has_no_data_is_not_served() {
        let mut cell = Cell::new(&ChannelConfig::default(), chance(1));
        assert!((0..1000).all(|_| cell.next_slot(false) == Rate(0)));
    }
}
