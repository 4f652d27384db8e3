//! What the emulator has counted between two ports, for people and for programs.

use super::counts::Counts;
use super::drive::{DepartureRecord, Timekeeping};
use super::emulator::Emulator;
use super::lateness::LATE;
use super::observer::Observer;
use airtcp_proto::path::QueueView;
use airtcp_sim::path_records::{MediumRecord, TurnRecord};
use airtcp_sim::record::LinkRecord;
use airtcp_wire::{Dur, Rate, Time};
use serde::Serialize;
use std::fmt;

/// The report warns if the 99th percentile of lateness is above this.
const TOO_LATE_US: f64 = 1_000.0;

/// Report on a whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub seed: u64,
    pub duration_s: f64,
    /// In at port 0, and in at port 1.
    pub ways: [WayReport; 2],
    /// How often the emulator could not run for more than 1 ms, and for how long at most. What was due then left
    /// late.
    pub absences: u64,
    pub longest_absence_ms: f64,
    pub links: Vec<LinkRecord>,
    /// Absent where links share none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<MediumRecord>,
}

/// One direction along the path.
#[derive(Clone, Debug, Serialize)]
pub struct WayReport {
    pub name: String,
    /// Packets that the device lost before entering the path, as far as it knows.
    pub missed_packets: u64,
    #[serde(flatten)]
    pub counts: Counts,
    pub departures: DepartureRecord,
}

impl Report {
    /// `names` are those of the two directions.
    pub fn new<O: Observer>(
        names: &[String; 2],
        seed: u64,
        now: Time,
        emulator: &mut Emulator<O>,
        kept: &Timekeeping,
    ) -> Report {
        let (links, media) = (emulator.link_records(now), emulator.medium_records(now));
        let way = |port: usize| WayReport {
            name: names[port].clone(),
            missed_packets: kept.missed[port],
            counts: emulator.counts()[port],
            departures: kept.departures(1 - port),
        };
        Report {
            seed,
            duration_s: now.as_secs_f64(),
            ways: [way(0), way(1)],
            absences: kept.absences,
            longest_absence_ms: kept.longest_absence.as_secs_f64() * 1e3,
            links,
            media,
        }
    }

    /// How the media that links share were used.
    fn air(&self) -> impl Iterator<Item = String> {
        let media = self.media.iter().map(|medium| {
            let MediumRecord { name, idle_s, busy_s, collided_s } = medium;
            let [idle, busy, collided] =
                [idle_s, busy_s, collided_s].map(|time_s| 100.0 * time_s / self.duration_s.max(1e-9));
            format!("medium {name}: {idle:.1} % idle, {busy:.1} % busy, {collided:.1} % in collisions")
        });
        let links = self.links.iter().filter_map(|link| {
            let turns = link.turns.as_ref()?;
            let TurnRecord { transmitter, receiver, frames_sent, retries, .. } = turns;
            let TurnRecord { failed_collision, failed_error, .. } = turns;
            let airtime = 100.0 * link.utilisation;
            Some(format!(
                "  {transmitter} to {receiver}: {airtime:.1} % of the time, {frames_sent} frames, {retries} of them again; \
                 lost: {failed_collision} by collisions, {failed_error} by errors"
            ))
        });
        media.chain(links)
    }

    /// Reasons to doubt figures measured over this path: the machine did not keep up.
    pub fn warnings(&self) -> Vec<String> {
        let late = self.ways.iter().filter(|way| way.departures.lateness.p99_us > TOO_LATE_US).map(|way| {
            let (name, p99_ms) = (&way.name, way.departures.lateness.p99_us / 1e3);
            format!("{name}: 1 packet in 100 left more than {p99_ms:.1} ms late: this machine cannot keep up")
        });
        let away = (self.absences > 0).then(|| {
            let (absences, longest) = (self.absences, self.longest_absence_ms);
            format!("airtcpd was descheduled {absences} times, for up to {longest:.1} ms: this machine cannot keep up")
        });
        late.chain(away).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [there, back] = &self.ways;
        if [there, back].iter().all(|way| way.is_idle()) {
            let (duration_s, seed) = (self.duration_s, self.seed);
            return writeln!(f, "{duration_s:.1} s, seed {seed}: no packets entered the path");
        }
        writeln!(
            f,
            "{:<28} {:>14} {:>14}",
            format!("{:.1} s, seed {}", self.duration_s, self.seed),
            there.name,
            back.name
        )?;
        let mut row = |what: &str, of: &dyn Fn(&WayReport) -> String| {
            writeln!(f, "{what:<28} {:>14} {:>14}", of(there), of(back))
        };
        row("packets in", &|way| way.counts.entered_packets.to_string())?;
        row("packets out", &|way| way.counts.delivered_packets.to_string())?;
        row("kB out", &|way| format!("{:.1}", way.counts.delivered_bytes as f64 / 1e3))?;
        row("Mbit/s out", &|way| {
            format!("{:.3}", way.counts.delivered_bytes as f64 * 8e-6 / self.duration_s.max(1e-9))
        })?;
        row("marked", &|way| way.counts.marked_packets.to_string())?;
        for (cause, of) in CAUSES {
            if self.ways.iter().any(|way| of(way) > 0) {
                row(&format!("lost: {cause}"), &|way| of(way).to_string())?;
            }
        }
        row("late by µs, median", &|way| format!("{:.1}", way.departures.lateness.p50_us))?;
        row("late by µs, 99th percentile", &|way| format!("{:.1}", way.departures.lateness.p99_us))?;
        row("late by µs, maximum", &|way| format!("{:.1}", way.departures.lateness.max_us))?;
        row(&format!("more than {LATE} late"), &|way| {
            let lateness = &way.departures.lateness;
            format!("{} ({:.2}%)", lateness.late_departures, lateness.late_share() * 100.0)
        })?;
        self.air().chain(self.warnings()).try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl WayReport {
    fn is_idle(&self) -> bool {
        self.missed_packets == 0 && self.counts.entered_packets == 0
    }
}

type Cause = (&'static str, fn(&WayReport) -> u64);

const CAUSES: [Cause; 8] = [
    ("queue full", |way| way.counts.lost_overflow),
    ("queue management", |way| way.counts.lost_aqm),
    ("corruption", |way| way.counts.lost_corruption),
    ("outage", |way| way.counts.lost_outage),
    ("memory for the path", |way| way.counts.refused_memory),
    ("destination unreachable", |way| way.counts.refused_unreachable),
    ("before entering the path", |way| way.missed_packets),
    ("refused by the device", |way| way.departures.unsent_packets),
];

/// Reports what has happened since the last line.
pub struct Live {
    names: [String; 2],
    last: [Counts; 2],
    late: [u64; 2],
    unsent: [u64; 2],
    at: Time,
}

impl Live {
    pub fn new(names: &[String; 2], now: Time) -> Live {
        Live { names: names.clone(), last: Default::default(), late: [0; 2], unsent: [0; 2], at: now }
    }

    /// A line about the time since the last one.
    pub fn line<O: Observer>(&mut self, now: Time, emulator: &mut Emulator<O>, kept: &Timekeeping) -> String {
        let period = now.since(self.at);
        let queues = emulator.queue_views(now);
        let ways = [0, 1].map(|port| self.way(port, period, &queues, emulator.counts()[port], kept));
        self.at = now;
        format!("{:8.1}s  {}", now.as_secs_f64(), ways.join(" │ "))
    }

    fn way(
        &mut self,
        port: usize,
        period: Dur,
        queues: &[QueueView],
        counts: Counts,
        kept: &Timekeeping,
    ) -> String {
        let last = std::mem::replace(&mut self.last[port], counts);
        let rate = Rate::of(counts.delivered_bytes - last.delivered_bytes, period).0 as f64 / 1e6;
        let packets = counts.delivered_packets - last.delivered_packets;
        let waiting: usize = queues.iter().skip(port).step_by(2).map(|queue| queue.packets).sum();
        let mut line = format!("{} {rate:.2} Mbit/s, {packets} packets, queue {waiting}", self.names[port]);
        let (late, unsent) = (kept.lateness[1 - port].late(), kept.unsent[1 - port]);
        let since = [
            ("full", counts.lost_overflow - last.lost_overflow),
            ("dropped", counts.lost_aqm - last.lost_aqm),
            ("corrupted", counts.lost_corruption - last.lost_corruption),
            ("outage", counts.lost_outage - last.lost_outage),
            ("no memory", counts.refused_memory - last.refused_memory),
            ("refused by the device", unsent - std::mem::replace(&mut self.unsent[port], unsent)),
            ("marked", counts.marked_packets - last.marked_packets),
            ("late", late - std::mem::replace(&mut self.late[port], late)),
        ];
        for (what, count) in since.into_iter().filter(|(_, count)| *count > 0) {
            line.push_str(&format!(", {count} {what}"));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_sim::Scenario;
    use std::path::Path;

    fn report(entered_packets: u64) -> Report {
        let way = |name: &str, entered_packets| WayReport {
            name: name.to_owned(),
            missed_packets: 0,
            counts: Counts { entered_packets, ..Counts::default() },
            departures: DepartureRecord::default(),
        };
        let ways = [way("there", 0), way("back", entered_packets)];
        Report {
            seed: 7,
            duration_s: 1.0,
            ways,
            absences: 3,
            longest_absence_ms: 2.0,
            links: Vec::new(),
            media: Vec::new(),
        }
    }

    #[test]
    fn a_path_that_nothing_came_to_has_no_table() {
        assert_eq!(report(0).to_string(), "1.0 s, seed 7: no packets entered the path\n");
        let told = report(1).to_string();
        assert!(told.contains("packets in") && told.contains("descheduled 3 times"), "{told}");
    }

    #[test]
    fn it_says_how_a_medium_was_used() {
        let text = "[[medium]]\nname = \"air\"\n[[link]]\nmedium = \"air\"";
        let scenario = Scenario::load(text, "t.toml", Path::new(""), &[]).unwrap();
        let (mut emulator, end) = (Emulator::end_to_end(&scenario, 1), Time::ZERO + Dur::from_secs(1));
        let (links, media) = (emulator.link_records(end), emulator.medium_records(end));
        let told = Report { links, media, ..report(1) }.to_string();
        assert!(told.contains("medium air: 100.0 % idle, 0.0 % busy, 0.0 % in collisions"), "{told}");
        assert!(
            told.contains("  node1 to node0: 0.0 % of the time, 0 frames, 0 of them again; lost: 0"),
            "{told}"
        );
    }

    #[test]
    fn a_machine_that_does_not_keep_up_is_warned_of() {
        let mut report = report(1);
        report.absences = 0;
        assert_eq!(report.warnings(), [""; 0]);
        report.ways[1].departures.lateness.p99_us = 4_200.0;
        let expected = "back: 1 packet in 100 left more than 4.2 ms late: this machine cannot keep up";
        assert_eq!(report.warnings(), [expected]);
    }
}
