//! Links: both directions. The reverse direction inherits what it does not set.

use super::check::Check;
use super::files::Files;
use super::graph::{Graph, MOST_LINKS};
use super::queue::{self, Path};
use super::routes::{Routes, access_of};
use crate::scenario::file::{self, Access, CAPACITY_KEYS, FlowDirection, ScenarioFile, Way};
use crate::scenario::model::{
    Arq, Capacity, Episodes, Fec, Jitter, Link, Loss, Outages, Queue, Side, Spikes,
};
use crate::scenario::one_of::OneOf;
use crate::scenario::way::Crossing;
use airtcp_proto::choice::Faults;
use airtcp_proto::circuit::Compression;
use airtcp_proto::path::ChannelConfig;
use airtcp_proto::path::jitter::{Distribution, Manner};
use airtcp_wire::{Dur, Rate};

/// One direction without its queue, whose default room depends on the whole path.
pub(super) struct Medium {
    capacity: Capacity,
    /// `None` if no delay was given.
    delay: Option<Dur>,
    jitter: Option<Jitter>,
    spikes: Option<Spikes>,
    loss: Loss,
    fec: Fec,
    arq: file::Arq,
    compression: Compression,
}

/// Both directions of all links, as far as they do not depend on the flows.
pub(super) fn media(
    written: &ScenarioFile,
    files: &mut Files<'_>,
    check: &mut Check<'_>,
) -> Option<Vec<(Medium, Medium)>> {
    check.refuse_if(written.link.is_empty(), "link", "the path has no links; start one with [[link]]");
    if written.link.len() > MOST_LINKS {
        check.refuse_key("link", format!("{} links; a path has at most {MOST_LINKS}", written.link.len()));
        return None;
    }
    let media = check.each("link", &written.link, |link, check| both_ways(link, files, check));
    media.into_iter().collect()
}

/// Completes the links, and adds those that flows have of their own.
pub(super) fn links(
    written: &ScenarioFile,
    media: Vec<(Medium, Medium)>,
    graph: &Graph,
    routes: Option<&[Routes]>,
    check: &mut Check<'_>,
) -> Option<Vec<Link>> {
    let own: Vec<Access> =
        written.flow.iter().flat_map(access_of).take(graph.ends.len() - media.len()).collect();
    let both = media
        .iter()
        .map(|(forward, reverse)| [forward, reverse].map(|medium| medium.delay.unwrap_or_default()));
    let delays: Vec<[Dur; 2]> = both.chain(own.iter().map(|access| [access.delay; 2])).collect();
    let rtts = match graph.is_chain() && own.is_empty() {
        true => vec![delays.as_flattened().iter().fold(Dur::ZERO, |sum, delay| sum + *delay); delays.len()],
        false => longest_round_trips(&delays, routes.unwrap_or_default()),
    };
    let all = written.link.iter().zip(&graph.links).zip(media).zip(&rtts);
    let links = check.each("link", all, |(((link, name), (forward, reverse)), rtt), check| {
        finish(link, name, forward, reverse, *rtt, check)
    });
    let mut links: Vec<Link> = links.into_iter().collect::<Option<_>>()?;
    let names = graph.links.iter().zip(rtts).skip(links.len());
    links.extend(names.zip(own).map(|((name, rtt), access)| Link::symmetric(name, own_side(access, rtt))));
    links.iter_mut().zip(&graph.ends).for_each(|(link, ends)| link.ends = *ends);
    Some(links)
}

/// The propagation delay, there and back, of the longest route over each link.
fn longest_round_trips(delays: &[[Dur; 2]], routes: &[Routes]) -> Vec<Dur> {
    let mut longest: Vec<Dur> = delays.iter().map(|[there, back]| *there + *back).collect();
    for route in routes.iter().flatten() {
        let delay = |Crossing { link, direction }: Crossing| {
            delays[link][usize::from(direction == FlowDirection::Reverse)]
        };
        let round_trip = route.round_trip_by(delay);
        for crossing in route.there.iter().chain(&route.back) {
            longest[crossing.link] = longest[crossing.link].max(round_trip);
        }
    }
    longest
}

fn own_side(access: Access, rtt: Dur) -> Side {
    let path = Path { rate: access.rate, rtt };
    Side::plain(access.rate, access.delay, path.default_packets())
}

fn both_ways(link: &file::Link, files: &mut Files<'_>, check: &mut Check<'_>) -> Option<(Medium, Medium)> {
    let forward = medium(&link.forward(), None, files, check);
    let way_back = link.reverse.clone().unwrap_or_default();
    let forward = forward?;
    let reverse = check.inside("reverse", |check| medium(&way_back, Some(&forward), files, check));
    Some((forward, reverse?))
}

fn finish(
    link: &file::Link,
    name: &str,
    forward: Medium,
    reverse: Medium,
    rtt: Dur,
    check: &mut Check<'_>,
) -> Option<Link> {
    let outages = match &link.outages {
        Some(outages) => check.inside("outages", |check| self::outages(outages, check)).map(Some),
        None => Some(None),
    };
    let path = |medium: &Medium| Path { rate: medium.capacity.mean_rate(), rtt };
    let there = link.queue.clone().or_else(OneOf::unsaid)?;
    let back = link.reverse.as_ref().and_then(|way| way.queue.as_ref());
    let there = check.inside("queue", |check| queue::queue(&there, check));
    let back = match back {
        Some(back) => {
            check.inside("reverse", |check| check.inside("queue", |check| queue::queue(back, check)))
        }
        None => there.clone(),
    };
    let forward_queue = queue::with_room(there?, path(&forward));
    let reverse_queue = queue::with_room(back?, path(&reverse));
    let outages = outages?;
    let round_trip = forward.delay.unwrap_or_default() + reverse.delay.unwrap_or_default();
    Some(Link {
        name: name.to_owned(),
        ends: [0, 1],
        forward: forward.with(forward_queue, round_trip),
        reverse: reverse.with(reverse_queue, round_trip),
        outages,
    })
}

impl Medium {
    fn repairs_what_never_came(&self) -> bool {
        self.loss.before_queue && (self.fec.parity_symbols > 0 || self.arq.retries > 0)
    }

    /// What keeps packets in order, if header packets are compressed and packets overtake.
    fn order_for_compression(&self) -> Option<&'static str> {
        let overtaking = self.jitter.as_ref().is_some_and(|jitter| jitter.overtaking);
        match self.compression {
            Compression::None => None,
            _ if overtaking => Some("jitter.overtaking = false"),
            _ if self.arq.retries > 0 && !self.arq.in_order => Some("arq.in_order = true"),
            _ => None,
        }
    }

    /// Completes the direction. `round_trip` is the link's delay there and back.
    fn with(self, queue: Queue, round_trip: Dur) -> Side {
        let Medium { capacity, delay, jitter, spikes, loss, fec, arq, compression } = self;
        let arq = Arq {
            retries: arq.retries,
            round_trip: arq.round_trip.unwrap_or(round_trip),
            in_order: arq.in_order,
            only: arq.only,
        };
        Side {
            capacity,
            delay: delay.unwrap_or_default(),
            jitter,
            spikes,
            loss,
            fec: (fec.parity_symbols > 0).then_some(fec),
            arq: (arq.retries > 0).then_some(arq),
            compression,
            queue,
        }
    }
}

/// Resolves one direction. The reverse one inherits from `base`, the forward one.
fn medium(way: &Way, base: Option<&Medium>, files: &mut Files<'_>, check: &mut Check<'_>) -> Option<Medium> {
    let delay = way.delay.or(base.and_then(|base| base.delay));
    let capacity = capacity(way, base, files, check);
    let capacity = capacity.map(|capacity| match capacity {
        Capacity::Log { path, log, .. } => Capacity::Log { path, log, latency: delay.is_none() },
        other => other,
    });
    let jitter = match (&way.jitter, base) {
        (Some(jitter), _) => check.inside("jitter", |check| self::jitter(jitter, files, check)).map(Some),
        (None, base) => Some(base.and_then(|base| base.jitter.clone())),
    };
    let spikes = match &way.spikes {
        Some(spikes) => check.inside("spikes", |check| self::spikes(spikes, check)).map(Some),
        None => Some(None),
    };
    let rate = capacity.as_ref().map(Capacity::mean_rate);
    let loss = match (&way.loss, base) {
        (Some(loss), _) => check.inside("loss", |check| self::loss(loss, rate, check)),
        // As they share the medium, its bursts last as long in both directions.
        (None, base) => base.map(|base| base.loss.inherited()).unwrap_or_default(),
    };
    let fec = way.fec.or(base.map(|base| base.fec)).unwrap_or(NO_FEC);
    check.inside("fec", |check| check_fec(&fec, check));
    let arq = way.arq.or(base.map(|base| base.arq)).unwrap_or(NO_ARQ);
    let compression = way.compression.or(base.map(|base| base.compression)).unwrap_or_default();
    let medium =
        Medium { capacity: capacity?, delay, jitter: jitter?, spikes: spikes?, loss, fec, arq, compression };
    // What both directions have in common is said of the first.
    if medium.repairs_what_never_came() && !base.is_some_and(Medium::repairs_what_never_came) {
        let problem = "`fec` and `arq` repair only what is lost behind the queue; remove one or the other";
        check.inside("loss", |check| check.refuse_key("before_queue", problem));
    }
    if let Some(cure) = medium.order_for_compression()
        && base.is_none_or(|base| base.order_for_compression().is_none())
    {
        let problem = format!("packets must stay in order; set `{cure}`, or this to \"none\"");
        check.refuse_key("compression", problem);
    }
    Some(medium)
}

/// What a link without keys of protection does.
const NO_FEC: Fec = Fec { symbol_bits: 8, data_symbols: 1, parity_symbols: 0, only: None };
const NO_ARQ: file::Arq = file::Arq { retries: 0, round_trip: None, in_order: true, only: None };

fn check_fec(fec: &Fec, check: &mut Check<'_>) {
    let may_be = |value, most| (1..=most).contains(&value);
    check.refuse_if(!may_be(fec.symbol_bits, 32), "symbol_bits", "must be from 1 to 32");
    check.refuse_if(!may_be(fec.data_symbols, 1 << 20), "data_symbols", "must be from 1 to 1048576");
    check.refuse_if(fec.parity_symbols > 1 << 20, "parity_symbols", "must be at most 1048576");
}

fn capacity(
    way: &Way,
    base: Option<&Medium>,
    files: &mut Files<'_>,
    check: &mut Check<'_>,
) -> Option<Capacity> {
    let given = [way.rate.is_some(), way.trace.is_some(), way.log.is_some(), way.channel.is_some()];
    let mut keys = CAPACITY_KEYS.into_iter().zip(given).filter_map(|(key, given)| given.then_some(key));
    if let (Some(first), Some(second)) = (keys.next(), keys.next()) {
        check.refuse_key(
            second,
            format!("`{first}` is also given; a link has exactly one of {}", CAPACITY_KEYS.join(", ")),
        );
        return None;
    }
    if let Some(rate) = way.rate {
        check.refuse_if(rate == Rate(0), "rate", "must be above zero");
        return (rate > Rate(0)).then_some(Capacity::Fixed(rate));
    }
    if let Some(path) = &way.trace {
        let trace = check.inside("trace", |check| files.trace(check, path))?;
        return Some(Capacity::Trace { path: path.clone(), trace });
    }
    if let Some(path) = &way.log {
        let log = check.inside("log", |check| files.log(check, path))?;
        return Some(Capacity::Log { path: path.clone(), log, latency: true });
    }
    if let Some(config) = &way.channel {
        return check.inside("channel", |check| channel(*config, check));
    }
    match base {
        Some(base) => Some(base.capacity.clone()),
        None => {
            check.refuse(format!(
                "the link has no capacity; give exactly one of {}",
                CAPACITY_KEYS.join(", ")
            ));
            None
        }
    }
}

fn channel(config: ChannelConfig, check: &mut Check<'_>) -> Option<Capacity> {
    if let Some((key, problem)) = config.problem() {
        check.refuse_key(key, problem);
        return None;
    }
    let mean_rate = config.mean_rate();
    check.refuse_if(mean_rate == Rate(0), "edge_snr_db", "the link's user never hears the base station");
    Some(Capacity::Channel { config, mean_rate: mean_rate.max(Rate(1)) })
}

fn jitter(written: &OneOf<Distribution>, files: &mut Files<'_>, check: &mut Check<'_>) -> Option<Jitter> {
    let (mut distribution, Manner { overtaking, start }) = check.one_of(written)?;
    let mut faults = Faults::default();
    let mut text_of =
        |key: &'static str, path: &std::path::Path| check.inside(key, |check| files.text(check, path));
    distribution.load(&mut text_of, &mut faults);
    check.refuse_faults(faults);
    Some(Jitter { distribution, overtaking, start })
}

fn spikes(spikes: &file::Spikes, check: &mut Check<'_>) -> Option<Spikes> {
    let when = episodes(&spikes.at, spikes.every, spikes.period, spikes.length, check)?;
    check.above_zero("extra", spikes.extra);
    Some(Spikes { when, extra: spikes.extra })
}

fn outages(outages: &file::Outages, check: &mut Check<'_>) -> Option<Outages> {
    let when = episodes(&outages.at, outages.every, outages.period, outages.length, check)?;
    if outages.forward.is_some() && !outages.handoff {
        check.refuse_key("forward", "only a hand-off forwards packets; add `handoff = true`");
    }
    Some(Outages { when, handoff: outages.handoff, forward: outages.forward })
}

fn episodes(
    at: &[Dur],
    every: Option<Dur>,
    period: Option<Dur>,
    length: Dur,
    check: &mut Check<'_>,
) -> Option<Episodes> {
    check.above_zero("length", length);
    if let Some(every) = every {
        check.above_zero("every", every);
    }
    if let Some(period) = period {
        check.refuse_if(
            period <= length,
            "period",
            &format!("must be longer than `length`, which is {length}"),
        );
    }
    if at.is_empty() && every.is_none() && period.is_none() {
        check.refuse("never occurs; give `at`, `every` or `period`");
        return None;
    }
    Some(Episodes { at: sorted(at), every, period, length })
}

/// `rate` is the link's mean rate, if it has one.
fn loss(loss: &Loss, rate: Option<Rate>, check: &mut Check<'_>) -> Loss {
    let mut loss = loss.clone();
    rate.into_iter().for_each(|rate| loss.at_rate(rate));
    let mut faults = Faults::default();
    loss.check(&mut faults);
    check.refuse_faults(faults);
    loss
}

fn sorted<T: Ord + Clone>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort();
    values
}
