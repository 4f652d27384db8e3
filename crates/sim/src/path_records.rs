//! What the links of a path and the media that they share did, for the record.

use crate::scenario::model::{self, Direction, Scenario};
use crate::topology::Topology;
use airtcp_proto::path::{Airtime, Delays, LinkStats, TurnStats};
use airtcp_proto::queue::DropCause;
use airtcp_wire::{Dur, Time};
use serde::Serialize;

/// One direction of one link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkRecord {
    pub name: String,
    /// "forward" or "reverse".
    pub direction: &'static str,
    /// Share of the time in which it was sending.
    pub utilisation: f64,
    pub packets_arrived: u64,
    pub packets_sent: u64,
    pub bytes_sent: u64,
    /// Packets waiting, without the one that is being sent.
    pub queue_mean_packets: f64,
    pub queue_max_packets: u32,
    /// The largest value of RED's average queue, in the unit it counts in: packets, unless `count_bytes`. Absent for
    /// other disciplines.
    pub queue_average_max: Option<f64>,
    pub drops_overflow: u64,
    pub drops_aqm: u64,
    pub drops_corruption: u64,
    pub drops_outage: u64,
    pub marks: u64,
    /// Absent for a link that is on no medium.
    #[serde(flatten)]
    pub turns: Option<TurnRecord>,
}

/// One medium. The three times sum to that of the run without its warm-up.
#[derive(Clone, Debug, Serialize)]
pub struct MediumRecord {
    pub name: String,
    /// Nobody had a turn: stations waited for theirs, or had nothing to send.
    pub idle_s: f64,
    /// One station had a turn (TXOP), with what acknowledged it.
    pub busy_s: f64,
    /// Several stations had one at once, until the last one ended.
    pub collided_s: f64,
}

/// What one direction of a link did on its medium. A frame is an MPDU; a packet that is sent three times is three of them.
#[derive(Clone, Debug, Serialize)]
pub struct TurnRecord {
    pub medium: String,
    /// Who sends, and to whom: nodes of the network.
    pub transmitter: String,
    pub receiver: String,
    /// Turns (TXOPs), and those of them that collided.
    pub txops: u64,
    pub txops_collided: u64,
    /// Requests to send (RTS), and those of them that were not answered (CTS). Absent if it sent none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rts_sent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rts_unanswered: Option<u64>,
    pub frames_sent: u64,
    /// Of these, those sent again; those that collided; and those that did not and could not be read all the same.
    pub retries: u64,
    pub frames_collided: u64,
    pub frames_erred: u64,
    /// Packets given up after the last attempt, by what befell that. They are among `drops_corruption`.
    pub failed_collision: u64,
    pub failed_error: u64,
    /// Own transmissions, each with what acknowledged it, and how much of that was in collisions.
    pub airtime_s: f64,
    pub airtime_collided_s: f64,
    /// Of each TXOP: from when there was something to send, and the last TXOP was over, until it began.
    pub access_delay_mean_ms: f64,
    pub access_delay_max_ms: f64,
    /// Of each packet that was read: from the end of its first frame to that of its last one.
    pub retry_delay_mean_ms: f64,
    pub retry_delay_max_ms: f64,
    /// Of each packet that was read: how long the receiver held it until those before it were read or given up.
    pub reordering_delay_mean_ms: f64,
    pub reordering_delay_max_ms: f64,
}

/// The directions of a path's links, as records name them.
pub struct PathNames(Vec<SideName>);

struct SideName {
    link: String,
    direction: &'static str,
    place: Option<Place>,
}

/// A place on a medium.
struct Place {
    medium: String,
    transmitter: String,
    receiver: String,
}

impl PathNames {
    pub fn of(scenario: &Scenario) -> PathNames {
        let sides =
            |link| [Direction::Forward, Direction::Reverse].map(|way| SideName::of(link, way, scenario));
        PathNames(scenario.links.iter().flat_map(sides).collect())
    }

    /// Each link's way there and way back, in path order, over the `period` that ends `now`.
    pub fn links(&self, topology: &mut Topology, now: Time, period: Dur) -> Vec<LinkRecord> {
        let sides = topology.sides();
        let record = |(side, name): (_, &SideName)| {
            let link = topology.side_mut(side);
            let stats = link.stats(now);
            let place = name.place.as_ref().zip(link.turn_stats(now));
            let turns = place.map(|(place, turns)| TurnRecord::new(place, stats.busy, &turns));
            LinkRecord::new(&name.link, name.direction, &stats, period, turns)
        };
        sides.zip(&self.0).map(record).collect()
    }

    /// The media that links are on, in the order in which the links name them.
    pub fn media(&self, topology: &mut Topology, now: Time) -> Vec<MediumRecord> {
        let mut media: Vec<MediumRecord> = Vec::new();
        for (side, name) in topology.sides().zip(&self.0) {
            let Some(Place { medium, .. }) = &name.place else { continue };
            let is_new = media.iter().all(|record| record.name != *medium);
            if let (true, Some(turns)) = (is_new, topology.side_mut(side).turn_stats(now)) {
                media.push(MediumRecord::new(medium, &turns.medium));
            }
        }
        media
    }
}

impl SideName {
    fn of(link: &model::Link, way: Direction, scenario: &Scenario) -> SideName {
        let (direction, [from, to]) = match way {
            Direction::Forward => ("forward", link.ends),
            Direction::Reverse => ("reverse", [link.ends[1], link.ends[0]]),
        };
        // The nodes of a chain have no names.
        let node = |node: usize| scenario.nodes.get(node).cloned().unwrap_or_else(|| format!("node{node}"));
        let place = link.side(way).capacity.medium().map(|(index, _)| Place {
            medium: scenario.media[index].name.clone(),
            transmitter: node(from),
            receiver: node(to),
        });
        SideName { link: link.name.clone(), direction, place }
    }
}

impl LinkRecord {
    /// `stats` and `turns` are those of one direction of the link called `name`, over `period`.
    pub(crate) fn new(
        name: &str,
        direction: &'static str,
        stats: &LinkStats,
        period: Dur,
        turns: Option<TurnRecord>,
    ) -> LinkRecord {
        LinkRecord {
            name: name.to_owned(),
            direction,
            utilisation: stats.busy.as_secs_f64() / period.as_secs_f64().max(1e-9),
            packets_arrived: stats.arrived_packets,
            packets_sent: stats.sent_packets,
            bytes_sent: stats.sent_bytes,
            queue_mean_packets: stats.mean_queue_packets,
            queue_max_packets: stats.max_queue_packets,
            queue_average_max: stats.max_average_queue,
            drops_overflow: stats.dropped(DropCause::Overflow),
            drops_aqm: stats.dropped(DropCause::Aqm),
            drops_corruption: stats.dropped(DropCause::Corruption),
            drops_outage: stats.dropped(DropCause::Outage),
            marks: stats.marked_packets,
            turns,
        }
    }
}

impl MediumRecord {
    fn new(name: &str, airtime: &Airtime) -> MediumRecord {
        MediumRecord {
            name: name.to_owned(),
            idle_s: airtime.idle.as_secs_f64(),
            busy_s: airtime.busy.as_secs_f64(),
            collided_s: airtime.colliding.as_secs_f64(),
        }
    }
}

impl TurnRecord {
    fn new(place: &Place, airtime: Dur, turns: &TurnStats) -> TurnRecord {
        let asks = turns.requests > 0;
        let millis = |delays: &Delays| [delays.mean(), delays.max].map(|delay| delay.as_secs_f64() * 1e3);
        let [access_delay_mean_ms, access_delay_max_ms] = millis(&turns.access_delay);
        let [retry_delay_mean_ms, retry_delay_max_ms] = millis(&turns.retry_delay);
        let [reordering_delay_mean_ms, reordering_delay_max_ms] = millis(&turns.reordering_delay);
        TurnRecord {
            medium: place.medium.clone(),
            transmitter: place.transmitter.clone(),
            receiver: place.receiver.clone(),
            txops: turns.turns,
            txops_collided: turns.collisions,
            rts_sent: asks.then_some(turns.requests),
            rts_unanswered: asks.then_some(turns.unanswered),
            frames_sent: turns.frames,
            retries: turns.retries,
            frames_collided: turns.collided_frames,
            frames_erred: turns.erred_frames,
            failed_collision: turns.failed_collision,
            failed_error: turns.failed_error,
            airtime_s: airtime.as_secs_f64(),
            airtime_collided_s: turns.colliding.as_secs_f64(),
            access_delay_mean_ms,
            access_delay_max_ms,
            retry_delay_mean_ms,
            retry_delay_max_ms,
            reordering_delay_mean_ms,
            reordering_delay_max_ms,
        }
    }
}
