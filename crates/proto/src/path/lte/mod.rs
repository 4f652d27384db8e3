//! LTE (3GPP TS 36.211 to 36.323): one cell, whose users share its resource blocks, downlink and uplink apart (FDD).
//!
//! In each slot the scheduler gives resource blocks to users by what they have reported of their channel. A transport block that is not read
//! is repeated by HARQ, and what HARQ gives up by RLC, if acknowledged. In the uplink, a user first asks for a grant.
//!
//! Control channels do not err: reports, requests, grants, feedback and status reports arrive, and take no capacity.

mod band;
mod cell;
mod requests;
mod rlc;
mod scheduler;
mod slots;
mod taps;
mod ue;
mod user;

pub use rlc::Mode;
pub use scheduler::Scheduler;
pub use taps::Profile;
pub use ue::Ue;
pub use user::Report;

use super::medium::{self, Radio};
use super::{Arq, Cover, Medium, Transmitter};
use crate::Chance;
use crate::choice::Faults;
use airtcp_wire::{Dur, Probability, Rate, Time};
use band::Band;
use cell::{Carrier, Cell, Other};
use requests::Requests;
use rlc::Rlc;
use scheduler::Standing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slots::SLOT;
use ue::Reception;
use user::{Rules, User};

/// An LTE cell: the base station is the node that all its links have in common, and each link a user. What leaves it is downlink.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Bandwidth of each direction in MHz: 1.4, 3, 5, 10, 15 or 20, with 6, 15, 25, 50, 75 or 100 resource blocks.
    pub bandwidth_mhz: f64,
    /// Whom the base station serves first.
    pub scheduler: Scheduler,
    /// Over how long the proportional-fair scheduler smooths what users get.
    pub memory: Dur,
    /// How often HARQ sends a transport block at most, at least once, 8 ms apart.
    pub attempts: u32,
    /// Share of transport blocks that may err at first: if more do, the scheduler trusts reports less.
    pub target_error: Probability,
    /// What of the band users report of a signal that fades.
    pub report: Report,
    /// Acknowledged or unacknowledged mode of the radio link control.
    pub rlc: Mode,
    /// How long the receiver waits for what is missing, t-Reordering.
    pub t_reordering: Dur,
    /// How often acknowledged mode repeats what HARQ has given up at most.
    pub rlc_retransmissions: u32,
    /// How often a user may ask for a grant, from 1 to 80 ms.
    pub request_period: Dur,
    /// Power of the base station in dBm. With `distance_m` of users.
    pub power_dbm: f64,
    /// Noise figure of users in dB.
    pub noise_figure_db: f64,
    /// Power of users in dBm. For few resource blocks they use all of it.
    pub ue_power_dbm: f64,
    /// Noise figure of the base station in dB.
    pub base_noise_figure_db: f64,
    /// Carrier frequency in MHz, which says how fast signals fade.
    pub carrier_mhz: f64,
    /// Other users in the downlink.
    pub users: Vec<Others>,
}

/// Users who are no links of the scenario. They only take resource blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Others {
    /// How many they are.
    #[serde(default = "one")]
    pub count: u32,
    /// Ratio of signal to interference and noise of each, in dB.
    pub sinr_db: f64,
    /// What each of them is sent. Absent: there is always more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

fn one() -> u32 {
    1
}

impl Default for Config {
    /// Powers, noise figures and carrier as in TR 36.942 and TR 36.814 for macro cells; timers as networks often set them.
    fn default() -> Config {
        Config {
            bandwidth_mhz: 10.0,
            scheduler: Scheduler::default(),
            memory: Dur::from_millis(100),
            attempts: 4,
            target_error: Probability::new(0.1),
            report: Report::default(),
            rlc: Mode::default(),
            t_reordering: Dur::from_millis(35),
            rlc_retransmissions: 4,
            request_period: Dur::from_millis(10),
            power_dbm: 46.0,
            noise_figure_db: 9.0,
            ue_power_dbm: 23.0,
            base_noise_figure_db: 5.0,
            carrier_mhz: 2000.0,
            users: Vec::new(),
        }
    }
}

/// How often a user may halve the resource blocks that share its power.
const HALVINGS: u32 = 4;

impl Config {
    /// The width has been checked.
    fn band(&self) -> Band {
        Band::new(self.bandwidth_mhz).or_else(|| Band::new(10.0)).expect("there is one of 10 MHz")
    }

    /// By how much the base station's power is above a user's noise.
    fn power_db(&self) -> f64 {
        self.power_dbm - self.band().noise_dbm() - self.noise_figure_db
    }

    fn rules(&self, is_uplink: bool) -> Rules {
        let band = self.band();
        let less_db = self.power_dbm - self.ue_power_dbm + self.base_noise_figure_db - self.noise_figure_db;
        Rules {
            group: if is_uplink { 1 } else { band.group() },
            less_db: if is_uplink { less_db } else { 0.0 },
            halvings: if is_uplink { HALVINGS.min(band.blocks.ilog2()) } else { 0 },
            report: self.report,
            band,
            attempts: self.attempts,
            target_error: self.target_error.get(),
        }
    }

    fn carrier(&self, is_uplink: bool) -> Carrier {
        Carrier {
            rules: self.rules(is_uplink),
            scheduler: self.scheduler,
            keeps: 1.0 - SLOT.as_secs_f64() / self.memory.as_secs_f64(),
            users: Vec::new(),
            others: if is_uplink { Vec::new() } else { self.others() },
            slot: 0,
            busy: Dur::ZERO,
            busy_until: Time::ZERO,
            ranked: Vec::new(),
        }
    }

    fn others(&self) -> Vec<Other> {
        let band = self.band();
        let other = |users: &Others| {
            let scheme = band.scheme(users.sinr_db)?;
            let arriving = users.rate.map_or(f64::INFINITY, |rate| rate.0 as f64 / 8.0 * SLOT.as_secs_f64());
            Some(Other { scheme, arriving, backlog: 0.0, standing: Standing::default(), sent_bytes: 0 })
        };
        self.users.iter().flat_map(|users| (0..users.count).filter_map(move |_| other(users))).collect()
    }

    fn user(&self, link: usize, number: usize, is_uplink: bool, chance: Chance) -> User {
        let rlc = Rlc::new(rlc::Rules {
            mode: self.rlc,
            t_reordering: self.t_reordering,
            status: SLOT * slots::ROUND_TRIP,
            retransmissions: self.rlc_retransmissions,
        });
        let period = slots::from(Time::ZERO + self.request_period).max(1);
        let requests = is_uplink.then(|| Requests::new(period, number as u64 % period));
        User::new(link, rlc, requests, chance)
    }
}

impl medium::Keys for Config {
    fn check(&self, faults: &mut Faults) {
        let widths: Vec<_> = Band::widths().map(|mhz| mhz.to_string()).collect();
        let message = format!("must be one of {}", widths.join(", "));
        faults.refuse_if(Band::new(self.bandwidth_mhz).is_none(), "bandwidth_mhz", message);
        faults.refuse_if(self.memory < SLOT * 2, "memory", "must be at least 2ms");
        faults.refuse_if(self.attempts == 0, "attempts", "must be at least 1");
        let target = self.target_error.get();
        faults.refuse_if(!(0.001..=0.5).contains(&target), "target_error", "must be from 0.1% to 50%");
        let period = self.request_period;
        let is_period = (SLOT..=SLOT * 80).contains(&period) && period.0.is_multiple_of(SLOT.0);
        faults.refuse_if(!is_period, "request_period", "must be whole milliseconds from 1ms to 80ms");
        let levels = [
            ("power_dbm", self.power_dbm),
            ("noise_figure_db", self.noise_figure_db),
            ("ue_power_dbm", self.ue_power_dbm),
            ("base_noise_figure_db", self.base_noise_figure_db),
        ];
        for (key, level) in levels {
            faults.refuse_if(!(-100.0..=100.0).contains(&level), key, "must be from -100 to 100");
        }
        let is_carrier = (100.0..=100_000.0).contains(&self.carrier_mhz);
        faults.refuse_if(!is_carrier, "carrier_mhz", "must be from 100 to 100000");
        for (number, users) in self.users.iter().enumerate() {
            let key = |key: &str| format!("users.{number}.{key}");
            faults.refuse_if(!(1..=1000).contains(&users.count), key("count"), "must be from 1 to 1000");
            let is_heard = self.band().scheme(users.sinr_db).is_some();
            faults.refuse_if(
                !is_heard,
                key("sinr_db"),
                "must be at least -4.5; the cell serves nobody below",
            );
        }
    }

    fn mcs(&self) -> u32 {
        0
    }

    fn mcs_problem(&self, _: u32) -> Option<String> {
        Some("an LTE cell takes it from what `ue` says; remove it".to_owned())
    }

    fn lacks(&self, key: &str) -> Option<&'static str> {
        (key == "snr").then_some("an LTE cell has none; here it is `ue`")
    }

    fn ends_problem(&self, ends: &[[usize; 2]]) -> Option<&'static str> {
        let problem = "its links have no node in common, which would be the base station";
        base_station(ends).is_none().then_some(problem)
    }

    fn is_duplex(&self) -> bool {
        true
    }

    fn mean_db(&self, ue: &Ue, now: Time) -> f64 {
        ue.mean_db(self.power_db(), now)
    }

    fn saturated(&self, _: u32, snr_db: Option<f64>, _: u32) -> Rate {
        let band = self.band();
        let scheme = band.scheme(snr_db.unwrap_or(f64::INFINITY));
        scheme.map_or(Rate(0), |scheme| band.whole(scheme))
    }

    fn transmitter(&self, Radio { ue, .. }: Radio, chance: Chance) -> Box<dyn Transmitter> {
        Box::new(Reception::new(ue, self.power_db(), self.carrier_mhz, self.band(), chance))
    }

    /// The cell repeats blocks, and no link a packet.
    fn arq(&self) -> Arq {
        Arq { retries: 0, round_trip: Dur::ZERO, in_order: true, cover: Cover::All }
    }

    fn hidden(&self) -> &[[String; 2]] {
        &[]
    }

    fn build(&self, ends: &[[usize; 2]], _: &[[usize; 2]], mut chance: Chance) -> Medium {
        let mut carriers = [false, true].map(|is_uplink| self.carrier(is_uplink));
        let base = base_station(ends).unwrap_or_default();
        let mut place = |(link, [from, _]): (usize, &[usize; 2])| {
            let is_uplink = *from != base;
            let users = &mut carriers[usize::from(is_uplink)].users;
            users.push(self.user(link, users.len(), is_uplink, chance.split()));
            (usize::from(is_uplink), users.len() - 1)
        };
        let places = ends.iter().enumerate().map(&mut place).collect();
        Medium::of(Cell { carriers, places, next: slots::NEVER })
    }
}

/// The node that all links have in common; that from which the first one leads if both are.
fn base_station(ends: &[[usize; 2]]) -> Option<usize> {
    let is_common = |node: &usize| ends.iter().all(|link| link.contains(node));
    ends.first().into_iter().flatten().copied().find(is_common)
}
