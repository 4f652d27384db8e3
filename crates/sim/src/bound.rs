//! The best goodput that a flow could get: (1 − PER)·rate of the tightest link.

use crate::links;
use crate::scenario::model::{self, Side};
use airtcp_proto::Chances;
use airtcp_proto::tcp::TcpConfig;
use airtcp_wire::Time;
use std::collections::BTreeMap;

/// A flow whose goodput is bounded: one of the `count` of the scenario's.
#[derive(Clone, Copy)]
pub struct Bounded {
    /// Index into the scenario's flows.
    pub spec: usize,
    pub instance: u32,
    pub is_measured: bool,
    pub packet: PacketSize,
}

/// Bytes of a full packet, and of data in it.
#[derive(Clone, Copy)]
pub struct PacketSize {
    packet: u32,
    payload: u32,
}

impl PacketSize {
    pub fn of(config: &TcpConfig) -> PacketSize {
        PacketSize { packet: config.packet_size, payload: config.segment_payload() }
    }
}

/// The best goodput of a run: in a chain that of the first measured flow alone, since the others share its path, in a
/// network that of all measured flows together.
pub fn bound_bps(scenario: &model::Scenario, seed: u64, flows: impl Iterator<Item = Bounded>) -> f64 {
    let chances = &Chances::new(seed);
    let flows: Vec<Bounded> = flows.collect();
    let way = |flow: &Bounded| scenario.flows[flow.spec].route(flow.instance).there.as_slice();
    let measured = || flows.iter().filter(|flow| flow.is_measured);
    let Some(&first) = measured().next().or(flows.first()) else { return 0.0 };
    let over = |way: &[model::Crossing]| goodput_bound_bps(scenario, way, first.packet, chances);
    match scenario.is_chain() {
        true => over(way(&first)),
        false => shared_bound_bps(measured().map(|flow| (way(flow), over(way(flow)))), |crossing| {
            (Carrier::of(crossing, scenario), over(&[crossing]))
        }),
    }
}

/// What flows share: one direction of a link, or a medium with all that are on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Carrier {
    Link(model::Crossing),
    /// With a direction, if the two do not share its time.
    Medium(usize, Option<model::Direction>),
}

impl Carrier {
    fn of(crossing: model::Crossing, scenario: &model::Scenario) -> Carrier {
        let medium = crossing.side(&scenario.links).capacity.medium();
        medium.map_or(Carrier::Link(crossing), |(index, kind)| {
            Carrier::Medium(index, kind.is_duplex().then_some(crossing.direction))
        })
    }
}

/// The best goodput of a flow that is alone, in bit/s: the mean rate of the tightest link, less what is lost at random
/// on it and on the links behind it. A token bucket counts with its rate. Outages do not count. A cell counts with the rate that a user who always has data
/// would get in a run with these chances.
fn goodput_bound_bps(
    scenario: &model::Scenario,
    way: &[model::Crossing],
    PacketSize { packet, payload }: PacketSize,
    chances: &Chances,
) -> f64 {
    let (from, until) = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
    let arriving = way.iter().fold(f64::INFINITY, |arriving, hop| {
        let side = hop.side(&scenario.links);
        let rate_bps =
            links::mean_bps(&scenario.links[hop.link], hop.direction, [from, until], packet, chances);
        // In a long run; a full bucket at the start lets a burst pass.
        let tokens_bps = side.queue.discipline.bucket().map_or(f64::INFINITY, |bucket| bucket.rate.0 as f64);
        let Crossing { carried, lost } = crossing(side, packet);
        let carried_bps = tokens_bps.min(rate_bps * carried);
        match side.loss.before_queue {
            true => (arriving * (1.0 - lost)).min(carried_bps),
            false => arriving.min(carried_bps) * (1.0 - lost),
        }
    });
    arriving * f64::from(payload) / f64::from(packet)
}

/// What flows in a network could get together: no more crosses a link than it carries, and a medium carries at most what its
/// fastest link does. Each has its way and its best goodput alone; `carrier` says what carries a crossing, and how much if it is alone.
/// The carriers that save most are counted first.
fn shared_bound_bps<'a>(
    flows: impl IntoIterator<Item = (&'a [model::Crossing], f64)>,
    carrier: impl Fn(model::Crossing) -> (Carrier, f64),
) -> f64 {
    let mut left: Vec<(&[model::Crossing], f64)> = flows.into_iter().collect();
    let mut bound = 0.0;
    loop {
        let mut asked: BTreeMap<Carrier, Vec<(f64, f64)>> = BTreeMap::new();
        for (way, bps) in &left {
            for &crossing in *way {
                let (carrier, carried) = carrier(crossing);
                asked.entry(carrier).or_default().push((*bps, carried));
            }
        }
        let tight = asked.into_iter().map(|(carrier, asked)| {
            let most = asked.iter().fold(0.0, |most: f64, (_, carried)| most.max(*carried));
            // In the time that the slower ones take, the fastest carries more.
            let asked: f64 = asked.iter().map(|(bps, carried)| bps * (most / carried)).sum();
            (asked / most, carrier, most)
        });
        let tightest = tight.max_by(|one, other| one.0.total_cmp(&other.0));
        let Some((_, tightest, most)) = tightest.filter(|(share, ..)| *share > 1.0) else { break };
        bound += most;
        left.retain(|(way, _)| !way.iter().any(|crossing| carrier(*crossing).0 == tightest));
    }
    bound + left.iter().map(|(_, bps)| bps).sum::<f64>()
}

/// What a link does to data packets of one size.
struct Crossing {
    /// Share of the rate that carries them once, without parity and repetitions.
    carried: f64,
    /// Probability that a packet is lost for good.
    lost: f64,
}

fn crossing(side: &Side, bytes: u32) -> Crossing {
    let fec = side.fec.filter(|fec| fec.only.is_none()).map(|fec| fec.code());
    let lost_once = side.loss.mean(bytes, fec);
    let air_bytes = fec.map_or(bytes, |code| code.air_bytes(bytes));
    let retries = side.arq.filter(|arq| arq.only.is_none()).map_or(0, |arq| arq.retries);
    let lost = lost_once.powi(retries.min(1000) as i32 + 1);
    // 1 + p + … + pⁿ copies of each packet.
    let copies = if lost_once < 1.0 { (1.0 - lost) / (1.0 - lost_once) } else { f64::from(retries) + 1.0 };
    Crossing { carried: f64::from(bytes) / f64::from(air_bytes) / copies, lost }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::model::{Arq, Discipline, Fec, Flow, Link, Loss, Protected, Scenario};
    use airtcp_proto::path::BerForm;
    use airtcp_proto::queue::token_bucket;
    use airtcp_proto::tcp::profile;
    use airtcp_wire::{Bytes, Dur, Rate};

    #[test]
    fn loss_behind_the_bottleneck_costs_and_loss_before_it_does_not() {
        let fast = Link::symmetric("fast", Side::plain(Rate(100_000_000), Dur::ZERO, 50));
        let slow = Link::symmetric("slow", Side::plain(Rate(10_000_000), Dur::ZERO, 50));
        let mut lossy = fast.clone();
        lossy.forward.loss.packet = 0.1.into();
        let bound = |links: Vec<Link>| {
            let flow = Flow::unlimited("f", 0, links.len() - 1);
            let scenario = Scenario::over(links, Dur::from_secs(1));
            goodput_bound_bps(
                &scenario,
                &flow.route(0).there,
                PacketSize::of(&profile::linux()),
                &Chances::new(1),
            )
        };
        let payload = 1448.0 / 1500.0;
        assert_eq!(bound(vec![lossy.clone(), slow.clone()]), 1e7 * payload);
        assert_eq!(bound(vec![slow.clone(), lossy]), 1e7 * 0.9 * payload);
        let mut before = slow;
        before.forward.loss = Loss { packet: 0.1.into(), before_queue: true, ..Loss::default() };
        assert_eq!(bound(vec![before]), 1e7 * payload, "what is lost takes none of the rate");
    }

    #[test]
    fn a_policer_bounds_what_its_link_could_carry() {
        let mut policed = Link::symmetric("policed", Side::plain(Rate(100_000_000), Dur::ZERO, 50));
        policed.forward.loss.packet = 0.1.into();
        policed.forward.queue.discipline =
            Discipline::TokenBucket(token_bucket::Config { rate: Rate(5_000_000), burst: Bytes(32_000) });
        let scenario = Scenario::over(vec![policed], Dur::from_secs(1));
        let flow = Flow::unlimited("f", 0, 0);
        let bound = goodput_bound_bps(
            &scenario,
            &flow.route(0).there,
            PacketSize::of(&profile::linux()),
            &Chances::new(1),
        );
        assert_eq!(bound, 5e6 * 0.9 * 1448.0 / 1500.0);
    }

    /// In a parking lot each link carries what it can; behind a shared link, the others do not count.
    #[test]
    fn what_flows_share_counts_once() {
        let ways = |flows: &[&[usize]]| -> Vec<Vec<model::Crossing>> {
            let crossing =
                |link: &usize| model::Crossing { link: *link, direction: model::Direction::Forward };
            flows.iter().map(|way| way.iter().map(crossing).collect()).collect()
        };
        let bound = |flows: &[&[usize]], carried: &[f64]| {
            let ways = ways(flows);
            let least =
                |way: &[model::Crossing]| way.iter().map(|on| carried[on.link]).fold(f64::INFINITY, f64::min);
            shared_bound_bps(ways.iter().map(|way| (way.as_slice(), least(way))), |on| {
                (Carrier::Link(on), carried[on.link])
            })
        };
        assert_eq!(bound(&[&[0, 1, 2], &[0], &[1], &[2], &[2]], &[10.0; 3]), 30.0);
        assert_eq!(bound(&[&[1, 0], &[2, 0], &[3, 0]], &[20.0, 100.0, 100.0, 8.0]), 20.0);
        assert_eq!(bound(&[&[1, 0], &[2, 0]], &[20.0, 5.0, 8.0]), 13.0, "slow access");
        assert_eq!(bound(&[], &[]), 0.0);
    }

    /// ARQ and FEC turn loss into lost capacity. Where they protect header packets only, data is unaffected.
    #[test]
    fn link_layer_protection_trades_rate_for_loss() {
        let mut side = Side::plain(Rate(1), Dur::ZERO, 50);
        side.loss.packet = 0.5.into();
        let arq = Arq { retries: 1, round_trip: Dur::ZERO, in_order: true, only: None };
        side.arq = Some(arq);
        let with_arq = crossing(&side, 1500);
        assert!((with_arq.lost - 0.25).abs() < 1e-12 && (with_arq.carried - 1.0 / 1.5).abs() < 1e-12);
        let fec = Fec { symbol_bits: 8, data_symbols: 223, parity_symbols: 32, only: None };
        side = Side { loss: Loss { ber: 1e-4.into(), ..Loss::default() }, arq: None, fec: Some(fec), ..side };
        let with_fec = crossing(&side, 1500);
        assert!(with_fec.lost < 1e-9 && (with_fec.carried - 1500.0 / 1724.0).abs() < 1e-12);
        let only = Some(Protected::HeaderPackets);
        side = Side { arq: Some(Arq { only, ..arq }), fec: Some(Fec { only, ..fec }), ..side };
        let data = crossing(&side, 1500);
        assert!(data.carried == 1.0 && (data.lost - BerForm::Exact.packet_loss(1e-4, 1500)).abs() < 1e-12);
    }
}
