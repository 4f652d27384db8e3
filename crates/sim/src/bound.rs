//! The best goodput that a flow could get: (1 − PER)·rate of the tightest link.

use crate::links;
use crate::scenario::model::{self, Capacity, Direction, Link, Side};
use airtcp_proto::Chances;
use airtcp_proto::tcp::TcpConfig;
use airtcp_wire::Time;

/// The best goodput of a flow that is alone, in bit/s: the mean rate of the tightest link, less what is lost at random
/// on it and on the links behind it. A token bucket counts with its rate. Outages do not count. A cell counts with the rate that a user who always has data
/// would get in a run with these chances.
pub fn goodput_bound_bps(
    scenario: &model::Scenario,
    flow: &model::Flow,
    config: &TcpConfig,
    chances: &Chances,
) -> f64 {
    let crossed = &scenario.links[flow.enter..=flow.leave];
    let links: Vec<&Link> = match flow.direction {
        Direction::Forward => crossed.iter().collect(),
        Direction::Reverse => crossed.iter().rev().collect(),
    };
    let packet = config.packet_size;
    let (from, until) = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
    let arriving = links.into_iter().fold(f64::INFINITY, |arriving, link| {
        let side = link.side(flow.direction);
        let rate_bps = match &side.capacity {
            Capacity::Fixed(rate) => rate.0 as f64,
            Capacity::Trace { trace, .. } => {
                bps(trace.capacity_bytes(until) - trace.capacity_bytes(from), from, until)
            }
            Capacity::Log { log, .. } => {
                bps(log.capacity_bytes(until) - log.capacity_bytes(from), from, until)
            }
            Capacity::Channel { config, .. } => {
                let mut channel = links::channel(link, flow.direction, config, chances);
                bps(channel.saturated_bytes(from, until, packet), from, until)
            }
        };
        // In a long run; a full bucket at the start lets a burst pass.
        let tokens_bps = side.queue.discipline.bucket().map_or(f64::INFINITY, |bucket| bucket.rate.0 as f64);
        let Crossing { carried, lost } = crossing(side, packet);
        let carried_bps = tokens_bps.min(rate_bps * carried);
        match side.loss.before_queue {
            true => (arriving * (1.0 - lost)).min(carried_bps),
            false => arriving.min(carried_bps) * (1.0 - lost),
        }
    });
    arriving * f64::from(config.segment_payload()) / f64::from(packet)
}

fn bps(bytes: u64, from: Time, until: Time) -> f64 {
    bytes as f64 * 8.0 / until.since(from).as_secs_f64()
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
    use crate::scenario::model::{Arq, Discipline, Fec, Flow, Loss, Protected, Scenario};
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
            goodput_bound_bps(&scenario, &flow, &profile::linux(), &Chances::new(1))
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
        let bound = goodput_bound_bps(&scenario, &flow, &profile::linux(), &Chances::new(1));
        assert_eq!(bound, 5e6 * 0.9 * 1448.0 / 1500.0);
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
