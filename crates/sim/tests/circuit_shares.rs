//! What TCP circuits get of a shared link (paper 000 §4.5 to §4.8).

use crate::common::{MBIT, go, link, ms, scheme, unlimited};
use airtcp_proto::circuit::Compression;
use airtcp_proto::path::jitter::uniform;
use airtcp_proto::queue::{header_first, red};
use airtcp_sim::scenario::model::{Discipline, Distribution, Flow, Jitter, Link};
use airtcp_sim::{RunOptions, RunRecord, Scenario, run};
use airtcp_wire::{Bytes, Dur, Positive};

const SACK: &str = "sack:profile=rfc";

/// Flows alike with a scheme of their own.
fn flows(name: &str, count: u32, scheme: &str) -> Flow {
    Flow { count, stagger: ms(500), scheme: Some(scheme.to_owned()), ..unlimited(name, 0, 0) }
}

/// ACKs take up to `most` longer. Where nothing varies, a header packet's place in the queue is the one that its own
/// predecessor left a round trip before, and who has what is not a matter of windows (Floyd and Jacobson 1992).
fn with_varying_acks(mut link: Link, most: Dur) -> Link {
    link.reverse.jitter = Some(Jitter {
        distribution: Distribution::Uniform(uniform::Config { low: Dur::ZERO, high: most }),
        overtaking: false,
        start: Dur::ZERO,
    });
    link
}

fn with_queue(mut link: Link, discipline: Discipline) -> Link {
    link.forward.queue.discipline = discipline;
    link
}

fn over(link: Link, flows: Vec<Flow>, seconds: u64) -> Scenario {
    Scenario { flows, warmup: ms(10_000), ..Scenario::over(vec![link], Dur::from_secs(seconds)) }
}

/// Mean throughput of the flows of this name, in bit/s.
fn mean(record: &RunRecord, name: &str) -> f64 {
    let flows: Vec<_> = record.flows.iter().filter(|flow| flow.name == name).collect();
    flows.iter().map(|flow| flow.throughput_bps).sum::<f64>() / flows.len() as f64
}

/// D5, §4.7 and §4.8.1: where header packets are dropped first, congestion costs no data packet, and the streams' shares
/// are as their VMSS.
#[test]
fn header_first_dropping_loses_no_data_and_shares_by_vmss() {
    let papers =
        format!("{SACK}+decoupling:error_control=paper:tunnel_queue=50:tunnel_delay=0s:loss_reports=false");
    let (one, two) = (format!("{papers}:vmss=1500B"), format!("{papers}:vmss=3000B"));
    let link = with_varying_acks(link("link", 10 * MBIT, ms(20), 400), ms(20));
    let link = with_queue(link, Discipline::HeaderFirst(header_first::Config { max_headers: 60 }));
    let record = go(&over(link, vec![flows("one", 2, &one), flows("two", 2, &two)], 300), SACK, 1);
    assert!(record.flows.iter().all(|flow| flow.losses_congestion == 0));
    let link = &record.links[0];
    assert!(link.drops_aqm > 1000 && link.drops_overflow == 0, "header packets instead: {link:#?}");
    assert!(link.utilisation > 0.98, "{link:#?}");
    let ratio = mean(&record, "two") / mean(&record, "one");
    assert!((ratio / 2.0 - 1.0).abs() < 0.2, "{ratio}");
}

/// D6, §4.5.2: however greedy its competitors, the stream gets its GMB, and beyond it what one of them gets.
#[test]
fn the_guaranteed_minimum_holds_against_greedy_flows() {
    let red = Discipline::Red(red::Config {
        min_threshold: Positive::new(10.0),
        max_threshold: Positive::new(30.0),
        mean_packet: Bytes(1500),
        ..Default::default()
    });
    let link = with_queue(link("link", 10 * MBIT, ms(40), 100), red);
    let stream = flows("stream", 1, &format!("{SACK}+decoupling:gmb=3Mbit/s"));
    let scenario = over(link, vec![stream, flows("greedy", 6, SACK)], 120);
    let options = RunOptions { series: Some(ms(5_000)), ..RunOptions::default() };
    let outcome = run(&scenario, &scheme(SACK), 1, options).unwrap();
    let (stream, share) = (mean(&outcome.record, "stream"), mean(&outcome.record, "greedy"));
    assert!((stream / (3e6 + share) - 1.0).abs() < 0.1, "{stream} with a TCP's share of {share}");
    let series = outcome.series.unwrap().flows;
    let of_stream = |&row: &usize| series.flow[row] == 0 && series.time_ns[row] > 10_000_000_000;
    // Of 3 Mbit/s in packets of 1500 bytes, 1448 bytes are payload, and the queue drops a few in a hundred.
    for row in (0..series.time_ns.len()).filter(of_stream) {
        let rate = series.delivered_bps[row];
        assert!(rate > 0.95 * 3e6 * 1448.0 / 1500.0, "{rate} at {} ns", series.time_ns[row]);
    }
}

/// D7, §4.5.1: N control TCPs get N flows' shares.
#[test]
fn control_tcps_count_as_flows() {
    for controls in [1, 2, 4] {
        let stream = flows("stream", 1, &format!("{SACK}+decoupling:controls={controls}"));
        let others = flows("other", 4, &format!("{SACK}+decoupling"));
        let link = with_varying_acks(link("link", 10 * MBIT, ms(40), 60), ms(10));
        let scenario = over(link, vec![stream, others], 120);
        let shares = |seed| {
            let record = go(&scenario, SACK, seed);
            mean(&record, "stream") / mean(&record, "other")
        };
        let shares = (1..=4).map(shares).sum::<f64>() / 4.0;
        assert!((shares / f64::from(controls) - 1.0).abs() < 0.2, "{controls}: {shares}");
    }
}

/// Beyond the paper: where the queue counts bytes, header packets find room where data does not. CUBIC beside a circuit keeps
/// what it has beside CUBIC all the same, since losses of data are reported.
#[test]
fn cubic_keeps_its_share_where_the_queue_counts_bytes() {
    let beside = |packets: u64, stream: &str| {
        let mut link = with_varying_acks(link("link", 10 * MBIT, ms(40), 1000), Dur::from_micros(400));
        link.forward.queue.room.bytes = Some(Bytes(1500 * packets));
        let flows = vec![flows("other", 1, "cubic"), flows("stream", 1, stream)];
        let scenario = over(link, flows, 100);
        (1..=4).map(|seed| mean(&go(&scenario, "cubic", seed), "other")).sum::<f64>()
    };
    for packets in [25, 50] {
        let fair = beside(packets, "cubic");
        for circuit in ["reno+decoupling", "cubic+decoupling", "cubic+decoupling:compression=twice"] {
            let kept = beside(packets, circuit) / fair;
            assert!(kept >= 0.8, "{packets} packets, {circuit}: {kept}");
        }
    }
}

/// D9, §10: on a link that corrupts packets, header packets of 15 bytes instead of 52 are worth √(52/15) (eqs (1) to (3));
/// without the repair *twice* timeouts take half of it back.
#[test]
fn compressed_header_packets_are_worth_the_root_of_their_sizes() {
    let mut link = link("link", 40 * MBIT, ms(100), 1000);
    for side in [&mut link.forward, &mut link.reverse] {
        side.loss.ber = 2e-6.into();
    }
    let scenario = over(link, vec![unlimited("stream", 0, 0)], 200);
    let goodput = |compression: &str| {
        let text = format!("{SACK}+decoupling:loss_reports=false:compression={compression}");
        (1..=3).map(|seed| go(&scenario, &text, seed).goodput_bps).sum::<f64>()
    };
    let (none, rfc_1144, twice) = (goodput("none"), goodput("rfc1144"), goodput("twice"));
    let expected = (52.0_f64 / 15.0).sqrt();
    assert!((twice / none / expected - 1.0).abs() < 0.15, "{}", twice / none);
    assert!(none < rfc_1144 && rfc_1144 < 0.9 * twice, "{none} {rfc_1144} {twice}");
}

/// §10: where only one link may lose header packets, and its queue has room for all, compressing them on that link or from one end of the
/// circuit to the other is the same, packet by packet.
#[test]
fn compression_on_the_only_link_equals_compression_from_end_to_end() {
    for (kind, compression) in [("rfc1144", Compression::Rfc1144), ("twice", Compression::Twice)] {
        let mut link = link("air", 40 * MBIT, ms(100), 1000);
        link.forward.loss.ber = 5e-6.into();
        let mut scenario = over(link, vec![unlimited("stream", 0, 0)], 25);
        let circuit = format!("{SACK}+decoupling");
        let from_end_to_end = go(&scenario, &format!("{circuit}:compression={kind}"), 1);
        scenario.links[0].forward.compression = compression;
        let on_the_link = go(&scenario, &circuit, 1);
        assert_eq!(on_the_link.goodput_bps, from_end_to_end.goodput_bps, "{kind}");
        let twice_compressed = go(&scenario, &format!("{circuit}:compression={kind}"), 1);
        assert_eq!(twice_compressed.goodput_bps, from_end_to_end.goodput_bps, "{kind}");
    }
}
