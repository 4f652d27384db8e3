//! Data that a circuit repairs (`fec = auto`): what it gives, and what it costs.

use crate::common::{MBIT, go, ms, one_link, unlimited};
use airtcp_sim::record::RepairRecord;
use airtcp_sim::scenario::model::{Arrivals, Flow, Traffic};
use airtcp_sim::{RunRecord, Scenario};
use airtcp_wire::Bytes;

const WITHOUT: &str = "bbr+decoupling:tunnel_delay=0s:tunnel_queue=100:fec=3";
const WITH: &str = "bbr+decoupling:tunnel_delay=0s:tunnel_queue=100:fec=auto";

/// 20 Mbit/s that lose this share of the packets in both directions.
fn path(rtt_ms: u64, loss: f64, flow: Flow) -> Scenario {
    let mut scenario = one_link(20 * MBIT, ms(rtt_ms), 200, 60);
    scenario.links[0].forward.loss.packet = loss.into();
    scenario.links[0].reverse.loss.packet = loss.into();
    Scenario { flows: vec![flow], ..scenario }
}

/// 10 kB now and then.
fn fetches() -> Flow {
    let traffic = Traffic::Poisson(Arrivals { interval: ms(2_000), size: Bytes(10_000), exponential: false });
    Flow { traffic, ..unlimited("fetch", 0, 0) }
}

fn mean_completion_s(record: &RunRecord) -> f64 {
    let times = &record.flows[0].completion_times_s;
    assert!(times.len() > 20, "{times:?}");
    times.iter().sum::<f64>() / times.len() as f64
}

#[test]
fn small_transfers_are_repaired_before_anybody_asks() {
    for (rtt_ms, loss) in [(100, 0.05), (200, 0.15)] {
        let scenario = path(rtt_ms, loss, fetches());
        let mean =
            |scheme| (1..=3).map(|seed| mean_completion_s(&go(&scenario, scheme, seed))).sum::<f64>() / 3.0;
        let (with, without) = (mean(WITH), mean(WITHOUT));
        assert!(with < 0.85 * without, "{loss}: {with} {without}");
    }
}

#[test]
fn what_is_recovered_has_been_lost_and_is_delivered() {
    let record = go(&path(100, 0.1, fetches()), WITH, 1);
    let (flow, repairs) = (&record.flows[0], record.circuits[0].repairs.expect("data is repaired"));
    assert!(repairs.data_packets_recovered > 10 && repairs.repair_packets_lost > 0, "{repairs:?}");
    let over = flow.data_packets_delivered + flow.losses_corruption + flow.losses_congestion
        - flow.data_packets_sent;
    // Those that open and close connections are recovered, too.
    assert!((1..=repairs.data_packets_recovered).contains(&over), "{over} {repairs:?}");
}

/// Bytes on the link for a byte delivered, and the share of the goodput without repairs.
#[test]
fn bulk_pays_little() {
    for (rtt_ms, loss, most) in [(100, 0.01, 1.12), (200, 0.15, 1.35)] {
        let scenario = path(rtt_ms, loss, unlimited("bulk", 0, 0));
        let runs = |scheme| (1..=6).map(|seed| go(&scenario, scheme, seed)).collect::<Vec<_>>();
        let (with, without) = (runs(WITH), runs(WITHOUT));
        let sent: u64 = with.iter().map(|run| run.links[0].bytes_sent).sum();
        let received: u64 = with.iter().map(|run| run.flows[0].bytes_received).sum();
        let cost = sent as f64 / received as f64;
        assert!(cost < most, "{loss}: {cost}");
        let goodput = |runs: &[RunRecord]| runs.iter().map(|run| run.goodput_bps).sum::<f64>();
        let kept = goodput(&with) / goodput(&without);
        assert!(kept > 0.98, "{loss}: {kept}");
    }
}

/// A path that loses nothing gets no repairs, once that is known.
#[test]
fn nothing_is_repaired_in_vain() {
    let (duration, warmup) = (ms(600_000), ms(500_000));
    let record = go(&Scenario { duration, warmup, ..path(100, 0.0, fetches()) }, WITH, 1);
    assert_eq!(record.circuits[0].repairs, Some(RepairRecord::default()));
}
