//! A cell: who is sent how much in each slot, downlink and uplink each on a band of its own (FDD).
//!
//! Slots in which nobody has anything are skipped.

use super::band::Scheme;
use super::scheduler::{Scheduler, Standing};
use super::slots::{self, SLOT};
use super::user::{Rules, User};
use crate::path::medium::{Airtime, Machine, Members};
use airtcp_wire::{Dur, Time};

pub struct Cell {
    /// Downlink and uplink.
    pub carriers: [Carrier; 2],
    /// Carrier and user of each link.
    pub places: Vec<(usize, usize)>,
    /// The next slot in which there is something to do.
    pub next: u64,
}

/// One direction.
pub struct Carrier {
    pub rules: Rules,
    pub scheduler: Scheduler,
    /// What remains of an average after a slot.
    pub keeps: f64,
    pub users: Vec<User>,
    pub others: Vec<Other>,
    /// The next slot to be served.
    pub slot: u64,
    /// How much of the time resource blocks were used, as if all of a slot's were used together from its start on; and until when.
    pub busy: Dur,
    pub busy_until: Time,
    /// Scratch space; empty between calls.
    pub ranked: Vec<(f64, usize)>,
}

/// Somebody else's traffic in the downlink, which only takes resource blocks.
pub struct Other {
    pub scheme: Scheme,
    /// Bytes a slot that arrive; without a limit if there is always something.
    pub arriving: f64,
    pub backlog: f64,
    pub standing: Standing,
    pub sent_bytes: u32,
}

impl Carrier {
    /// The next slot in which somebody may be served.
    fn due(&self) -> u64 {
        self.users.iter().map(|user| user.due).min().unwrap_or(slots::NEVER)
    }

    /// Serves the slots before `slot`, in which none of the links has anything.
    fn pass_idle(&mut self, slot: u64, members: &mut Members) {
        if !self.others.is_empty() {
            while self.slot < slot {
                self.serve(self.slot, members);
            }
        } else if self.slot < slot {
            let kept = libm::pow(self.keeps, (slot - self.slot) as f64);
            self.users.iter_mut().for_each(|user| user.standing.on_idle(kept));
            self.slot = slot;
        }
    }

    fn serve(&mut self, slot: u64, members: &mut Members) {
        let mut free = self.repeat(slot, members);
        self.rank(slot, members);
        let mut ranked = std::mem::take(&mut self.ranked);
        ranked.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        for (_, who) in ranked.drain(..) {
            if free == 0 {
                break;
            }
            free -= self.serve_one(who, slot, free, members);
        }
        self.ranked = ranked;
        self.end(slot, self.rules.band.blocks - free, members);
    }

    /// Sends again what must be. Returns how many resource blocks are left.
    fn repeat(&mut self, slot: u64, members: &mut Members) -> u32 {
        let mut free = self.rules.band.blocks;
        for user in self.users.iter_mut().filter(|user| user.due <= slot) {
            free -= user.repeat(slot, free, &self.rules, members.general(user.link));
        }
        free
    }

    /// Puts down who has something for the slot.
    fn rank(&mut self, slot: u64, members: &mut Members) {
        let Carrier { rules, scheduler, users, others, ranked, .. } = self;
        for (who, user) in users.iter_mut().enumerate().filter(|(_, user)| user.due <= slot) {
            let general = members.general(user.link);
            if user.repeats(slot) || user.wants(slot, general) == 0 {
                continue;
            }
            let bytes = user.could_send(slot, rules, &mut general.line);
            if bytes > 0 {
                ranked.push((user.standing.rank(*scheduler, slot, bytes), who));
            }
        }
        for (other, who) in others.iter_mut().zip(users.len()..) {
            other.backlog += other.arriving;
            let bytes = rules.band.bytes(other.scheme, rules.band.blocks);
            if other.backlog >= 1.0 {
                ranked.push((other.standing.rank(*scheduler, slot, bytes), who));
            }
        }
    }

    /// Serves a user or somebody else. Returns how many resource blocks that takes.
    fn serve_one(&mut self, who: usize, slot: u64, free: u32, members: &mut Members) -> u32 {
        let Carrier { rules, users, others, .. } = self;
        let Some(user) = users.get_mut(who) else {
            return others[who - users.len()].serve(free, rules);
        };
        let general = members.general(user.link);
        let wanted = user.wants(slot, general);
        let Some(grant) = user.grant(wanted, free, rules) else { return 0 };
        user.serve(slot, grant, rules, general);
        grant.blocks
    }

    fn end(&mut self, slot: u64, used: u32, members: &mut Members) {
        for user in &mut self.users {
            user.standing.on_slot(slot, std::mem::take(&mut user.sent_bytes), self.keeps);
            if user.due <= slot {
                user.plan(slots::start(slot), slot + 1, members.general(user.link));
                members.on_moved(user.link);
            }
        }
        for other in &mut self.others {
            other.standing.on_slot(slot, std::mem::take(&mut other.sent_bytes), self.keeps);
        }
        let time = SLOT * u64::from(used) / u64::from(self.rules.band.blocks);
        self.busy += time;
        self.busy_until = slots::start(slot) + time;
        self.slot = slot + 1;
    }
}

impl Other {
    fn serve(&mut self, free: u32, rules: &Rules) -> u32 {
        let Rules { band, group, .. } = rules;
        let wanted = self.backlog.min(f64::from(1 << 20)) as u32;
        let blocks = band.blocks_for(self.scheme, wanted).next_multiple_of(*group).min(free);
        self.sent_bytes = band.bytes(self.scheme, blocks);
        self.backlog = (self.backlog - f64::from(self.sent_bytes)).max(0.0);
        blocks
    }
}

impl Cell {
    fn find_next(&mut self) {
        self.next = self.carriers.iter().map(Carrier::due).min().unwrap_or(slots::NEVER);
    }
}

impl Machine for Cell {
    fn join(&mut self) {}

    fn rouse(&mut self, now: Time, link: usize, members: &mut Members) {
        let (carrier, user) = self.places[link];
        let Carrier { users, slot, .. } = &mut self.carriers[carrier];
        users[user].plan(now, slots::from(now).max(*slot), members.general(link));
        self.find_next();
    }

    fn hand_off(&mut self, now: Time, link: usize, members: &mut Members) {
        let (carrier, user) = self.places[link];
        self.carriers[carrier].users[user].clear(now, &mut members.general(link).line);
        self.rouse(now, link, members);
    }

    fn next_step(&self) -> Time {
        if self.next == slots::NEVER { Time::NEVER } else { slots::start(self.next) }
    }

    fn step(&mut self, until: Time, members: &mut Members) -> bool {
        let slot = self.next;
        if slot == slots::NEVER || slots::start(slot) > until {
            if !self.carriers[0].others.is_empty() {
                self.carriers[0].pass_idle(until.0.div_ceil(SLOT.0).min(slot), members);
            }
            return false;
        }
        for carrier in self.carriers.iter_mut().filter(|carrier| carrier.due() <= slot) {
            carrier.pass_idle(slot, members);
            carrier.serve(slot, members);
        }
        self.find_next();
        true
    }

    /// That of the downlink.
    fn airtime(&mut self, now: Time, _: &mut Members) -> Airtime {
        let Carrier { busy, busy_until, .. } = self.carriers[0];
        let busy = busy - busy_until.since(now);
        Airtime { idle: now.since(Time::ZERO) - busy, busy, colliding: Dur::ZERO }
    }
}
