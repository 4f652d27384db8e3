//! One direction of a link in a cell: what its user sends or is sent.

use super::band::{Band, LOWEST, Scheme};
use super::requests::Requests;
use super::rlc::{Handed, Piece, Rlc};
use super::scheduler::Standing;
use super::slots::{self, FEEDBACK, ROUND_TRIP, SLOT};
use crate::Chance;
use crate::path::Received;
use crate::path::fading::from_db;
use crate::path::general::General;
use crate::path::line::Line;
use crate::path::medium::Read;
use airtcp_wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// From when a user looks at the channel until the scheduler goes by it: four slots until the report is sent (TS 36.213 §7.2.3),
/// and two until it has been decoded; ours.
const REPORT: u64 = 6;
/// MAC and RLC headers of a block (TS 36.321 §6.1.2, TS 36.322 §6.2.1).
const BLOCK_HEADER_BYTES: u32 = 5;
/// No block is shorter: headers, and a few bytes.
const LEAST_BYTES: u32 = 16;
/// How much a block that errs takes from the reported ratio.
const STEP_DB: f64 = 0.5;
/// No more than that is taken.
const MOST_BACKOFF_DB: f64 = 10.0;
/// The power over a band adds to half of it.
const HALVING_DB: f64 = 3.0103;

/// What of a band users report, and the scheduler goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Report {
    /// What the whole band carries.
    #[default]
    Wideband,
    /// The weakest part of it, as ns-3's schedulers do.
    WorstSubband,
}

impl Report {
    fn of(self, signal: &Received) -> f64 {
        match self {
            Report::Wideband => signal.effective_db,
            Report::WorstSubband => signal.worst_db,
        }
    }
}

/// What holds for all users in one direction.
#[derive(Clone, Debug)]
pub struct Rules {
    pub band: Band,
    /// Resource blocks are given out in groups of so many.
    pub group: u32,
    /// The ratio of signal to noise is by so much less than in the downlink.
    pub less_db: f64,
    pub report: Report,
    /// How often the sender's power may be put on half the band.
    pub halvings: u32,
    /// Copies of a block at most.
    pub attempts: u32,
    /// Share of first copies that may err.
    pub target_error: f64,
}

pub struct User {
    pub link: usize,
    pub rlc: Rlc,
    /// In the uplink.
    pub requests: Option<Requests>,
    pub standing: Standing,
    /// When it may next be served.
    pub due: u64,
    /// Bytes of the block that is sent in the present slot.
    pub sent_bytes: u32,
    /// When it was last sent a block.
    sent_in: Option<u64>,
    /// Blocks that must be sent again, in order.
    harq: VecDeque<Block>,
    /// What was received in which slot, from the last report to now.
    looks: VecDeque<(u64, Received)>,
    backoff_db: f64,
    /// Since when it has had something to send.
    since: Time,
    chance: Chance,
}

/// Resource blocks and how they are used.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    pub blocks: u32,
    scheme: Scheme,
    more_db: f64,
}

struct Block {
    grant: Grant,
    piece: Piece,
    due: u64,
    copies: u32,
    /// Of all copies together; not in dB.
    sinr: f64,
    first_at: Time,
}

impl User {
    pub fn new(link: usize, rlc: Rlc, requests: Option<Requests>, chance: Chance) -> User {
        User {
            link,
            rlc,
            requests,
            standing: Standing::default(),
            due: slots::NEVER,
            sent_bytes: 0,
            sent_in: None,
            harq: VecDeque::new(),
            looks: VecDeque::new(),
            backoff_db: 0.0,
            since: Time::NEVER,
            chance,
        }
    }

    /// Finds out at `now` when it may next be served, from `slot` on.
    pub fn plan(&mut self, now: Time, slot: u64, General { front, line, .. }: &mut General) {
        let asked = front.asked();
        asked.find_out(now, line);
        let data_at = asked.ready_at.min(self.rlc.due());
        let data = slots::from(data_at).max(slot);
        self.since = self.since.min(data_at.max(now));
        let data = match &mut self.requests {
            Some(requests) if data == slot => requests.due(slot),
            _ => data,
        };
        let again = self.harq.front().map_or(slots::NEVER, |block| block.due.max(slot));
        self.due = data.min(again);
        if self.due != slots::NEVER {
            self.due = slots::from(line.resumes_at(slots::start(self.due)));
        }
    }

    /// Sends the block again whose turn it is, if so many resource blocks are free. Returns how many it takes.
    pub fn repeat(&mut self, slot: u64, free: u32, rules: &Rules, general: &mut General) -> u32 {
        let fits = |block: &&Block| block.due <= slot && block.grant.blocks <= free;
        if self.harq.front().filter(fits).is_none() {
            return 0;
        }
        let Some(block) = self.harq.pop_front() else { return 0 };
        let blocks = block.grant.blocks;
        self.look(slot, &mut general.line);
        self.send(slot, block, rules, &mut general.line);
        blocks
    }

    /// Has a block been sent in `slot`, or waits to be sent again? Then no other one is sent.
    pub fn repeats(&self, slot: u64) -> bool {
        self.sent_in == Some(slot) || self.harq.front().is_some_and(|block| block.due <= slot)
    }

    /// How many bytes the scheduler knows of that wait.
    pub fn wants(&mut self, slot: u64, general: &mut General) -> u32 {
        let bytes = match &mut self.requests {
            Some(requests) => requests.granted(slot),
            None => backlog(&self.rlc, slot, general),
        };
        bytes.min(1 << 20) as u32
    }

    /// The bytes that a block could hold if it had the whole band, zero if the signal is too weak.
    pub fn could_send(&mut self, slot: u64, rules: &Rules, line: &mut Line) -> u32 {
        self.look(slot, line);
        let grant = self.grant(u32::MAX, rules.band.blocks, rules);
        grant.map_or(0, |grant| rules.band.bytes(grant.scheme, grant.blocks))
    }

    /// The resource blocks for so many bytes, out of those that are free: those that carry most of them, and of these the fewest.
    pub fn grant(&self, bytes: u32, free: u32, rules: &Rules) -> Option<Grant> {
        let Rules { band, group, halvings, less_db, report, .. } = rules;
        let reported_db = report.of(&self.looks.front()?.1) - less_db;
        let bytes = bytes.saturating_add(BLOCK_HEADER_BYTES).max(LEAST_BYTES);
        let on_share = |halving: u32| {
            let more_db = HALVING_DB * f64::from(halving);
            band.scheme(reported_db + more_db)?;
            let scheme = band.scheme(reported_db + more_db - self.backoff_db).unwrap_or(LOWEST);
            let most = (band.blocks >> halving).clamp(1, free);
            let blocks = band.blocks_for(scheme, bytes).next_multiple_of(*group).min(most);
            (band.bytes(scheme, blocks) >= LEAST_BYTES).then_some(Grant { blocks, scheme, more_db })
        };
        let carried = |grant: &Grant| {
            (band.bytes(grant.scheme, grant.blocks).min(bytes), std::cmp::Reverse(grant.blocks))
        };
        (0..=*halvings).filter_map(on_share).max_by_key(carried)
    }

    /// Sends a block of what waits.
    pub fn serve(&mut self, slot: u64, grant: Grant, rules: &Rules, general: &mut General) {
        let (now, known_at) = (slots::start(slot), slots::start(slot + FEEDBACK));
        let bytes = rules.band.bytes(grant.scheme, grant.blocks);
        let General { front, line, .. } = &mut *general;
        let asked = front.asked();
        let piece = self.rlc.fill(now, bytes.saturating_sub(BLOCK_HEADER_BYTES), || asked.take(now, line));
        if let Some(piece) = piece {
            self.sent_bytes = bytes;
            line.turns().on_turn(now.since(self.since), false, false);
            self.since = Time::NEVER;
            let block = Block { grant, piece, due: 0, copies: 0, sinr: 0.0, first_at: known_at };
            self.send(slot, block, rules, line);
        }
        let left = backlog(&self.rlc, slot, general);
        if let Some(requests) = &mut self.requests {
            requests.on_sent(slot, piece.map_or(0, |piece| u64::from(piece.bytes)), left);
        }
    }

    fn send(&mut self, slot: u64, mut block: Block, rules: &Rules, line: &mut Line) {
        let Rules { band, attempts, .. } = rules;
        let (start, known_at) = (slots::start(slot), slots::start(slot + FEEDBACK));
        line.occupy(start, start + SLOT * u64::from(block.grant.blocks) / u64::from(band.blocks));
        self.sent_in = Some(slot);
        block.copies += 1;
        // The receiver combines copies (chase combining).
        let (_, signal) = self.looks.back().expect("the channel has been looked at");
        block.sinr += from_db(signal.effective_db - rules.less_db + block.grant.more_db);
        let is_erred =
            self.chance.happens(band.error_rate(block.grant.scheme, 10.0 * libm::log10(block.sinr)));
        line.turns().on_frame(block.copies > 1, if is_erred { Read::Erred } else { Read::Well });
        if block.copies == 1 {
            self.adapt(is_erred, rules.target_error);
        }
        match is_erred {
            false => self.rlc.on_read(block.piece, block.first_at, known_at),
            true if block.copies < *attempts => {
                block.due = slot + ROUND_TRIP;
                self.harq.push_back(block);
            }
            true => self.rlc.on_given_up(block.piece, block.first_at, known_at),
        }
        while let Some(handed) = self.rlc.pop() {
            hand_on(&handed, line);
        }
    }

    /// Backs off from the reported ratio so far that no more first copies err than may (outer-loop link adaptation).
    fn adapt(&mut self, is_erred: bool, target_error: f64) {
        let step_db = if is_erred { STEP_DB } else { -STEP_DB * target_error / (1.0 - target_error) };
        self.backoff_db = (self.backoff_db + step_db).clamp(0.0, MOST_BACKOFF_DB);
    }

    /// Looks at the channel in `slot`, and forgets what is older than the last report.
    fn look(&mut self, slot: u64, line: &mut Line) {
        let reported = slot.saturating_sub(REPORT);
        for look in [reported, slot] {
            if self.looks.back().is_none_or(|(last, _)| *last < look) {
                self.looks.push_back((look, line.received(slots::start(look))));
            }
        }
        while self.looks.get(1).is_some_and(|(next, _)| *next <= reported) {
            self.looks.pop_front();
        }
    }

    /// Loses all that is under way.
    pub fn clear(&mut self, now: Time, line: &mut Line) {
        self.harq.clear();
        self.rlc.clear().for_each(|frame| line.lose_under_way(now, &frame));
        self.requests.iter_mut().for_each(Requests::clear);
    }
}

/// Bytes that it has to send in `slot`.
fn backlog(rlc: &Rlc, slot: u64, general: &mut General) -> u64 {
    let now = slots::start(slot);
    let asked = general.front.asked();
    match asked.ready_at <= now {
        true => {
            let waiting = asked.view();
            rlc.backlog(now, waiting.packets, waiting.bytes)
        }
        false => rlc.backlog(now, 0, 0),
    }
}

fn hand_on(handed: &Handed, line: &mut Line) {
    let Handed { frame, at, repeated, waited, is_lost } = *handed;
    let turns = line.turns();
    turns.on_settled(repeated, if is_lost { Read::Erred } else { Read::Well });
    if !is_lost {
        turns.on_ordered(waited);
    }
    line.hand_on(frame, at, is_lost);
}
