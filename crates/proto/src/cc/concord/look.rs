//! Look: do losses remain with less in flight than the path holds? Then they are corruption.

use super::corruption::Account;
use super::delay::Delay;
use super::rounds::Tally;
use super::{Concord, LEAST_WINDOW, Phase};
use airtcp_wire::{Dur, Time};

/// What stays in flight, as a share of the BDP at the mean rate.
const SHARE: f64 = 0.8;
/// Least number of rounds. The first one still shows what was sent before.
const ROUNDS: u32 = 3;
/// A look lasts until this many events of corruption are expected, which chance leaves out once in 150 looks,
const EVENTS: f64 = 5.0;
/// but no longer than this many rounds.
const MOST_ROUNDS: u32 = 8;
/// The least rate of corruption that is worth a look, in events per packet. CUBIC hardly suffers from a lower one.
const WORTH: f64 = 0.005;
/// Seconds between looks: at first, the factor by which they grow with each look that confirms the rate, and at most.
const FIRST_GAP_S: f64 = 2.0;
const LONGER: f64 = 3.0;
const LAST_GAP_S: f64 = 60.0;
/// Packets after which older looks count half.
const MEMORY: f64 = 2000.0;

#[derive(Clone, Debug)]
pub struct Looks {
    next: Time,
    gap_s: f64,
    /// What looks have seen.
    seen: Account,
}

impl Default for Looks {
    fn default() -> Looks {
        Looks {
            next: Time::ZERO + Dur::from_secs_f64(FIRST_GAP_S),
            gap_s: FIRST_GAP_S,
            seen: Account::default(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Look {
    rounds: u32,
    window: f64,
}

impl Concord {
    pub fn is_time_to_look(&self, now: Time) -> bool {
        self.parts.look
            && now > self.looks.next
            && self.corruption.is_measured()
            && self.corruption.rate() > WORTH
    }

    pub fn start_look(&mut self) {
        self.phase = Phase::Look(Look { rounds: 0, window: self.window });
        self.window = (SHARE * self.path.mean_bdp()).max(LEAST_WINDOW);
    }

    pub fn look_round(&mut self, mut look: Look, round: &Tally, now: Time) {
        look.rounds += 1;
        if look.rounds > 1 {
            let seen = &mut self.looks.seen;
            seen.events += round.loss_events;
            seen.lost += round.lost;
            seen.packets += round.sent();
        }
        let is_enough = self.corruption.rate() * self.looks.seen.packets >= EVENTS;
        if look.rounds < ROUNDS || !is_enough && look.rounds < MOST_ROUNDS {
            self.phase = Phase::Look(look);
            return;
        }
        self.looks.gap_s = LAST_GAP_S.min(LONGER * self.looks.gap_s);
        self.looks.next = now + Dur::from_secs_f64(self.looks.gap_s);
        if self.corruption.is_refuted_by(&self.looks.seen) {
            self.corruption.learn_anew(&self.looks.seen);
            self.goal = self.window;
            self.low_water = self.window;
            self.looks.gap_s = FIRST_GAP_S;
        } else {
            self.window = look.window;
        }
        if self.looks.seen.packets > MEMORY {
            let Account { events, lost, packets } = self.looks.seen;
            self.looks.seen = Account { events: events / 2.0, lost: lost / 2.0, packets: packets / 2.0 };
        }
        self.enter_delay(Delay::new());
    }
}
