//! Builds the machines that carry packets over a scenario's links.

use crate::scenario::model::{self, Direction, Draws, Episodes, Scenario, ends_on};
use airtcp_proto::path::medium::Medium;
use airtcp_proto::path::{self, DelayModel, Transmitter};
use airtcp_proto::queue::{self, Discipline};
use airtcp_proto::{Chance, Chances};
use airtcp_wire::{Dur, Time};

/// Builds a scenario's links, each with the nodes at which it begins and ends, and the media that they share.
pub fn build_all<'a>(
    scenario: &'a Scenario,
    chances: &'a Chances,
) -> impl Iterator<Item = ([usize; 2], (path::Link, path::Link))> + 'a {
    let medium = |(index, medium): (usize, &model::Medium)| {
        let chance = chances.chance(&format!("medium.{}", medium.name));
        let node = |name: &String| scenario.nodes.iter().position(|node| node == name);
        let pair = |[one, other]: &[String; 2]| Some([node(one)?, node(other)?]);
        let hidden: Vec<[usize; 2]> = medium.kind.hidden().iter().filter_map(pair).collect();
        medium.kind.build(&ends_on(index, &scenario.links), &hidden, chance)
    };
    let media: Vec<Medium> = (0..).zip(&scenario.media).map(medium).collect();
    scenario.links.iter().map(move |link| (link.ends, build(link, &media, chances)))
}

/// Builds both directions of a link, forward first. Each part of each direction draws from its own [`Chance`], whose
/// name begins with `link.NAME.`; steps and outages are the same in both directions.
fn build(link: &model::Link, media: &[Medium], chances: &Chances) -> (path::Link, path::Link) {
    let parts = Parts::of(link, chances);
    let side = |direction| {
        let shared = Shared {
            steps: link.steps.as_ref().map(|steps| parts.steps(steps)),
            channel: parts.chance("channel"),
        };
        let side = parts.within(direction).side(link.side(direction), shared, media);
        match &link.outages {
            Some(outages) => {
                let handoff = outages.handoff.then_some(path::Handoff { forward: outages.forward });
                side.with_outages(parts.episodes(outages.when(), "outage"), handoff)
            }
            None => side,
        }
    };
    (side(Direction::Forward), side(Direction::Reverse))
}

/// Round-trip times over an otherwise empty link, for `packets` packets of `bytes` bytes that wait from the beginning:
/// the time that each spends in the transmitter, as in a run with these chances, plus the link's delay there and back.
pub fn round_trips(link: &model::Link, chances: &Chances, bytes: u32, packets: usize) -> Vec<Dur> {
    let both = Parts::of(link, chances);
    let parts = both.within(Direction::Forward);
    let mut transmitter = parts.transmitter(&link.forward.capacity, both.chance("channel"));
    let delay = link.forward.delay + link.reverse.delay;
    path::service_times(&mut *transmitter, bytes, packets).into_iter().map(|time| time + delay).collect()
}

/// Mean rate of one direction in bit/s between two times, in a run with these chances, if packets of so many bytes always wait.
pub fn mean_bps(
    link: &model::Link,
    direction: Direction,
    span: [Time; 2],
    bytes: u32,
    chances: &Chances,
) -> f64 {
    let both = Parts::of(link, chances);
    let draws = both.within(direction).draws(both.chance("channel"));
    link.side(direction).capacity.mean_bps(span, bytes, draws)
}

/// What both directions of a link have alike.
struct Shared {
    steps: Option<path::Steps>,
    /// Of the channel.
    channel: Chance,
}

/// Builds the parts of a link or of one direction. The names of their chances begin with `prefix`.
struct Parts<'a> {
    chances: &'a Chances,
    prefix: String,
}

impl Parts<'_> {
    fn of<'a>(link: &model::Link, chances: &'a Chances) -> Parts<'a> {
        Parts { chances, prefix: format!("link.{}", link.name) }
    }

    fn within(&self, direction: Direction) -> Parts<'_> {
        let name = match direction {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        };
        Parts { chances: self.chances, prefix: format!("{}.{name}", self.prefix) }
    }

    fn chance(&self, name: &str) -> Chance {
        self.chances.chance(&format!("{}.{name}", self.prefix))
    }

    fn side(&self, side: &model::Side, shared: Shared, media: &[Medium]) -> path::Link {
        let transmitter = self.transmitter(&side.capacity, shared.channel);
        let limit = side.queue.room.into();
        let mut link = match &side.queue.discipline {
            Discipline::DropTail(_) => path::Link::drop_tail(limit, transmitter, side.delay),
            asked => {
                let (rate, chance) = (side.capacity.mean_rate(), self.chance("queue"));
                let queue = asked.build(queue::Build { limit, rate, chance });
                path::Link::new(queue, transmitter, side.delay)
            }
        };
        let code = side.fec.map(|fec| (fec.code(), fec.cover()));
        if let Some((code, cover)) = code {
            link = link.with_code(code, cover);
        }
        if let Some(arq) = side.arq {
            link = link.with_arq(arq.into());
        }
        link = link.with_compression(side.compression);
        if let Some(loss) = side.loss.build(code, |key| self.chance(&format!("loss.{key}"))) {
            link = match side.loss.before_queue {
                true => link.with_loss_before_queue(loss),
                false => link.with_loss(loss),
            };
        }
        if let Some(delay) = self.delay(side, shared.steps) {
            // Only jitter lets packets overtake. A spike, a step, or a change of the log's latency, delays what follows
            // it, too.
            let overtaking = side.jitter.as_ref().is_some_and(|jitter| jitter.overtaking);
            link = link.with_delay(delay, overtaking);
        }
        match side.capacity.medium() {
            Some((index, kind)) => link.with_arq(kind.arq()).on(&media[index]),
            None => link,
        }
    }

    fn transmitter(&self, capacity: &model::Capacity, shared: Chance) -> Box<dyn Transmitter> {
        capacity.build(self.draws(shared))
    }

    fn draws(&self, shared: Chance) -> Draws {
        Draws { own: self.chance("channel"), shared }
    }

    fn delay(&self, side: &model::Side, steps: Option<path::Steps>) -> Option<Box<dyn DelayModel>> {
        let mut delays: Vec<Box<dyn DelayModel>> = Vec::from_iter(side.capacity.latency());
        if let Some(jitter) = &side.jitter {
            delays.push(jitter.distribution.build(Time::ZERO + jitter.start, self.chance("delay")));
        }
        if let Some(spikes) = &side.spikes {
            let when = self.episodes(spikes.when(), "spikes");
            delays.push(Box::new(path::Spikes { when, extra: spikes.extra }));
        }
        delays.extend(steps.map(|steps| Box::new(steps) as _));
        match delays.len() {
            0 | 1 => delays.pop(),
            _ => Some(Box::new(path::SumOfDelays(delays))),
        }
    }

    fn steps(&self, steps: &model::Steps) -> path::Steps {
        path::Steps::new(steps.period, steps.low, steps.high, self.chance("steps"))
    }

    fn episodes(&self, when: Episodes, name: &str) -> path::Episodes {
        path::Episodes::new(when.length, when.starts, self.chance(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_proto::path::{Fate, Trace, jitter::uniform, loss::burst};
    use airtcp_proto::queue::{DropCause, Item};
    use airtcp_wire::{Ecn, Probability, Rate};
    use model::{Capacity, Distribution, Jitter, Loss, Outages, TraceFile};

    fn side(capacity: Capacity) -> model::Side {
        model::Side { capacity, ..model::Side::plain(Rate(1), Dur::from_millis(10), 1000) }
    }

    fn link(forward: model::Side, outages: Option<model::Outages>) -> model::Link {
        model::Link {
            name: "air".to_owned(),
            ends: [0, 1],
            forward,
            reverse: side(Capacity::Fixed(Rate(12_000_000))),
            steps: None,
            outages,
        }
    }

    fn built(forward: model::Side) -> path::Link {
        build(&link(forward, None), &[], &Chances::new(1)).0
    }

    /// Sends one packet of 1 500 bytes a millisecond. Returns (number, time in ms, fate) in order.
    fn carried(mut link: path::Link, packets: u32) -> Vec<(u32, u64, Fate)> {
        let mut out = Vec::new();
        for id in 1..=packets {
            link.handle_packet(Time(u64::from(id) * 1_000_000), Item { id, bytes: 1500, ..Item::default() });
        }
        while !link.poll_timeout().is_never() {
            let now = link.poll_timeout();
            while let Some(output) = link.poll_delivery(now) {
                out.push((output.id, output.at.0 / 1_000_000, output.fate));
            }
        }
        out
    }

    #[test]
    fn a_congestion_warning_queue_marks_and_does_not_drop() {
        let keys = queue::congestion_warning::Config { weight: Probability::ONE, ..Default::default() };
        let discipline = Discipline::CongestionWarning(keys);
        let plain = side(Capacity::Fixed(Rate(12_000_000)));
        let queue = model::Queue { discipline, ..plain.queue.clone() };
        let mut link = built(model::Side { queue, ..plain });
        for id in 1..=10 {
            link.handle_packet(Time::ZERO, Item { id, bytes: 1500, ecn: Ecn::Ect0, ..Item::default() });
        }
        let mut marked = Vec::new();
        while !link.poll_timeout().is_never() {
            let now = link.poll_timeout();
            let out = std::iter::from_fn(|| link.poll_delivery(now));
            marked.extend(out.filter(|output| output.ecn == Ecn::Ce).map(|output| output.id));
        }
        // The first packet is in the transmitter. Five wait when the seventh arrives, six when the eighth does.
        assert_eq!(marked, [8, 9, 10]);
    }

    #[test]
    fn a_trace_and_a_constant_delay() {
        let trace = Trace::parse("5\n10\n").unwrap();
        let out = carried(built(side(Capacity::Trace(TraceFile { path: "t".into(), trace }))), 3);
        assert_eq!(out, [(1, 15, Fate::Delivered), (2, 20, Fate::Delivered), (3, 25, Fate::Delivered)]);
    }

    #[test]
    fn all_loss_models_together_with_their_start() {
        let (to_bad, to_good) = (Probability::ONE, Probability::default());
        let burst = burst::Config { to_bad, to_good, good_loss: to_good, bad_loss: to_bad, interval: None };
        let loss = Loss {
            packets: vec![2].into(),
            at: vec![Dur::from_millis(4)].into(),
            burst: Some(burst),
            ber: 1.0.into(),
            start: Dur::from_micros(7_500),
            ..Loss::default()
        };
        let forward = model::Side { loss, ..side(Capacity::Fixed(Rate(120_000_000))) };
        let lost = |&(id, _, fate): &(u32, u64, Fate)| (fate != Fate::Delivered).then_some(id);
        assert_eq!(carried(built(forward), 10).iter().filter_map(lost).collect::<Vec<_>>(), [2, 4, 8, 9, 10]);
    }

    #[test]
    fn jitter_lets_packets_overtake_only_if_it_may() {
        let order = |overtaking| {
            let jitter = Jitter {
                distribution: Distribution::Uniform(uniform::Config {
                    low: Dur::ZERO,
                    high: Dur::from_millis(50),
                }),
                overtaking,
                start: Dur::ZERO,
            };
            let forward = model::Side { jitter: Some(jitter), ..side(Capacity::Fixed(Rate(120_000_000))) };
            carried(built(forward), 100).iter().map(|&(id, ..)| id).collect::<Vec<_>>()
        };
        assert!(order(false).is_sorted());
        let mut overtaken = order(true);
        assert!(!overtaken.is_sorted());
        overtaken.sort_unstable();
        assert_eq!(overtaken, (1..=100).collect::<Vec<_>>());
    }

    #[test]
    fn steps_are_the_same_both_ways() {
        let plain = side(Capacity::Fixed(Rate(12_000_000)));
        let (period, low, high) = (Dur::from_millis(20), Dur::ZERO, Dur::from_millis(30));
        let steps = Some(model::Steps { period, low, high });
        let (forward, reverse) = build(&model::Link { steps, ..link(plain, None) }, &[], &Chances::new(1));
        let forward = carried(forward, 100);
        assert_eq!(forward, carried(reverse, 100));
        assert_ne!(forward[10].1 - forward[0].1, forward[90].1 - forward[0].1 - 80);
    }

    #[test]
    fn a_handoff_loses_what_waits_and_is_under_way_in_both_directions_at_once() {
        let outages = Some(Outages {
            at: vec![],
            every: Some(Dur::from_millis(20)),
            period: None,
            length: Dur::from_millis(5),
            handoff: true,
            forward: None,
        });
        let (forward, reverse) =
            build(&link(side(Capacity::Fixed(Rate(12_000_000))), outages), &[], &Chances::new(1));
        let forward = carried(forward, 100);
        assert_eq!(forward, carried(reverse, 100));
        assert!(forward.iter().any(|&(.., fate)| fate == Fate::Lost(DropCause::Outage)));
        assert!(forward.iter().any(|&(.., fate)| fate == Fate::Delivered));
    }
}
