//! TCP circuits on a path: what paper 000 promises of them (§4.4), and that nothing vanishes in them.

use crate::common::{MBIT, Shared, assert_conserved, go, link, ms, one_link, scheme, unlimited};
use airtcp_sim::pcap::Format;
use airtcp_sim::record::CircuitRecord;
use airtcp_sim::scenario::model::{self, Arrivals, Bursts, Datagrams, Direction, Flow, Traffic};
use airtcp_sim::{Capture, RunError, RunOptions, RunRecord, Scenario, run};
use airtcp_wire::{Bytes, Dur, Rate};

/// Header packets of 52 bytes, as the paper has them, and a window that slow start does not blow up.
const CIRCUIT: &str = "reno:profile=rfc:initial_window=2:initial_ssthresh=10+decoupling";
/// The paper's circuit: its error control and tunnel queue, and no reports of losses.
const DECOUPLED: &str = "decoupling:error_control=paper:tunnel_queue=50:tunnel_delay=0s:loss_reports=false";

#[derive(Clone, Copy, PartialEq, Debug)]
struct Seen {
    at_us: u64,
    bytes: u32,
    /// The connection's number by its address; control TCPs have the first numbers.
    connection: u16,
    is_forward: bool,
    is_udp: bool,
    seq: u32,
}

/// A run, and what crossed the near node of its first link.
fn watch(scenario: &Scenario, text: &str) -> (RunRecord, Vec<Seen>) {
    let file = Shared::default();
    let captures = vec![Capture {
        link: scenario.links[0].name.clone(),
        format: Format::Pcap,
        writer: Box::new(file.clone()),
    }];
    let options = RunOptions { captures, ..RunOptions::default() };
    let record = run(scenario, &scheme(text), 1, options).unwrap().record;
    let seen = packets(&file.0.lock().unwrap());
    (record, seen)
}

fn packets(file: &[u8]) -> Vec<Seen> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let net = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
    let is_nano = word(0) == 0xa1b2_3c4d;
    let mut seen = Vec::new();
    let mut at = 24;
    while at < file.len() {
        let ip = at + 16;
        let is_forward = file[ip + 13] == 0;
        let fraction = u64::from(word(at + 4)) / if is_nano { 1000 } else { 1 };
        seen.push(Seen {
            at_us: u64::from(word(at)) * 1_000_000 + fraction,
            bytes: word(at + 12),
            connection: (net(ip + 12) as u16).wrapping_sub(1),
            is_forward,
            is_udp: file[ip + 9] == 17,
            seq: net(ip + 24),
        });
        at = ip + word(at + 8) as usize;
    }
    seen
}

fn datagrams(rate_bps: u64, bytes: u64) -> Flow {
    let traffic = Traffic::Udp(Datagrams { rate: Rate(rate_bps), packet: Bytes(bytes) });
    Flow { traffic, scheme: Some(CIRCUIT.to_owned()), measure: true, ..unlimited("stream", 0, 0) }
}

/// One transfer over a link that drops nothing.
fn bulk(seconds: u64) -> Scenario {
    Scenario { flows: vec![unlimited("bulk", 0, 0)], ..one_link(10 * MBIT, ms(20), 100_000, seconds) }
}

fn the_circuit(record: &RunRecord) -> &CircuitRecord {
    assert_eq!(record.circuits.len(), 1);
    &record.circuits[0]
}

/// Property 1: arrivals of data packets trigger header packets, and nothing else does.
#[test]
fn without_data_there_are_no_header_packets() {
    let mut scenario = one_link(10 * MBIT, ms(20), 50, 4);
    scenario.flows = vec![Flow { start: ms(1_000), stop: Some(ms(2_000)), ..datagrams(MBIT, 1500) }];
    let (_, seen) = watch(&scenario, "reno");
    let control = || seen.iter().filter(|packet| !packet.is_udp);
    assert_eq!(control().map(|packet| packet.at_us).min(), Some(1_000_000));
    // The last data packet's header packet, its ACK, and no more.
    assert!(control().all(|packet| packet.at_us < 2_000_000 + 300_000));
}

/// Properties 2, 3, 5 and 6: a lost data packet stays lost, the others arrive in their order and with their length.
#[test]
fn data_packets_are_neither_resent_nor_reordered_nor_changed() {
    let mut scenario = one_link(10 * MBIT, ms(20), 50, 10);
    scenario.flows = vec![datagrams(2 * MBIT, 1500)];
    scenario.links[0].forward.loss.packet = 0.05.into();
    let (record, seen) = watch(&scenario, "reno");
    let flow = &record.flows[0];
    assert!(flow.losses_corruption > 20, "{flow:#?}");
    assert_conserved(flow);
    let circuit = the_circuit(&record);
    assert!(circuit.forwarded_packets <= flow.data_packets_sent);
    assert_eq!(circuit.forwarded_bytes, 1500 * circuit.forwarded_packets);
    let data: Vec<_> = seen.iter().filter(|packet| packet.is_udp).collect();
    assert_eq!(data.len() as u64, circuit.forwarded_packets);
    assert!(data.iter().all(|packet| packet.bytes == 1500));

    let scenario = bulk(10);
    let (_, seen) = watch(&scenario, &CIRCUIT.replace("decoupling", DECOUPLED));
    let data = seen.iter().filter(|packet| packet.is_forward && packet.connection == 1 && packet.bytes > 60);
    let data: Vec<_> = data.collect();
    assert!(data.len() > 5_000 && data.iter().all(|packet| packet.bytes == 1500));
    assert!(data.windows(2).all(|two| two[0].seq.wrapping_add(1448) == two[1].seq));
}

/// A connection that is over leaves its place to another flow's, but not its turn in its circuit's line: that one goes the
/// other way.
#[test]
fn a_turn_in_the_line_is_not_inherited() {
    let short = |interval, size, direction, name| {
        let traffic =
            Traffic::Poisson(Arrivals { interval: ms(interval), size: Bytes(size), exponential: true });
        Flow { traffic, ..unlimited(name, 0, 0) }.heading(direction)
    };
    let mut scenario = one_link(3 * MBIT, ms(12), 100, 20);
    scenario.links[0].reverse = model::Side::plain(Rate(50_000), ms(6), 3);
    scenario.links[0].forward.loss.packet = 0.05.into();
    scenario.links[0].reverse.loss.packet = 0.1.into();
    scenario.flows = vec![
        short(20, 1_000, Direction::Reverse, "there"),
        short(100, 1_000, Direction::Forward, "and back"),
    ];
    for seed in 1..=12 {
        let record = go(&scenario, "cubic+decoupling", seed);
        record.flows.iter().for_each(|flow| assert_conserved(flow));
    }
}

/// Property 4: while congestion control lets it, a data packet leaves when it comes.
#[test]
fn data_packets_do_not_wait_for_anything_else() {
    let mut scenario = one_link(10 * MBIT, ms(20), 50, 4);
    scenario.flows = vec![datagrams(MBIT, 1250)];
    let (_, seen) = watch(&scenario, "reno");
    let late: Vec<_> = seen.iter().filter(|packet| packet.is_udp && packet.at_us > 1_000_000).collect();
    assert!(late.len() > 290);
    assert!(late.iter().all(|packet| packet.at_us % 10_000 == 0));
}

/// Property 7, with §4.8.3's numbers: 52 bytes for 1500, and an ACK for every other header packet.
#[test]
fn control_packets_cost_five_per_cent() {
    let scenario = bulk(20);
    let record = go(&scenario, CIRCUIT, 1);
    let circuit = the_circuit(&record);
    let share = |bytes: u64| bytes as f64 / circuit.forwarded_bytes as f64;
    let (forward, back) = (share(circuit.header_bytes_sent), share(circuit.control_ack_bytes_sent));
    assert!((forward / (52.0 / 1500.0) - 1.0).abs() < 0.01, "{forward}");
    assert!((back / (26.0 / 1500.0) - 1.0).abs() < 0.05, "{back}");
}

/// The circuit has no packet of its own but control packets, whatever enters and leaves where, both ways.
fn busy_path() -> Scenario {
    let mut links: Vec<model::Link> =
        [("a", 10), ("b", 6), ("c", 8)].map(|(name, mbit)| link(name, mbit * MBIT, ms(20), 30)).to_vec();
    links[1].forward.loss.packet = 0.01.into();
    links[1].reverse.loss.ber = 1e-6.into();
    let mut scenario = Scenario::over(links, Dur::from_secs(20));
    let poisson = Traffic::Poisson(Arrivals { interval: ms(200), size: Bytes(30_000), exponential: true });
    scenario.flows = vec![
        Flow { count: 2, stagger: ms(900), ..unlimited("long", 0, 2) },
        Flow { traffic: poisson, ..unlimited("short", 0, 1) },
        unlimited("back", 0, 1).heading(model::Direction::Reverse),
        Flow { scheme: Some("cubic".to_owned()), ..unlimited("plain", 1, 2) },
        Flow { start: ms(300), ..datagrams(MBIT, 700) },
    ];
    scenario
}

#[test]
fn nothing_vanishes_and_the_same_seed_gives_the_same_bytes() {
    for text in [CIRCUIT, "reno+decoupling:controls=3:vmss=3000B:gmb=300kbit/s"] {
        let record = go(&busy_path(), text, 3);
        record.flows.iter().for_each(|flow| assert_conserved(flow));
        assert_eq!(record.circuits.len(), 5);
        for flow in record.flows.iter().filter(|flow| flow.name != "short") {
            assert!(flow.goodput_bps > 100e3, "{flow:#?}");
        }
        let json = |seed| serde_json::to_string(&go(&busy_path(), text, seed)).unwrap();
        assert_eq!(json(3), json(3));
        assert_ne!(json(3), json(4));
    }
}

/// §5: a data packet that bit errors take costs its own retransmission, and no window.
#[test]
fn lost_data_packets_are_resent_and_reduce_nothing() {
    let mut scenario = bulk(20);
    scenario.links[0].forward.loss.ber = 2e-6.into();
    let record = go(&scenario, &CIRCUIT.replace("decoupling", DECOUPLED), 1);
    let lost_headers = the_circuit(&record).header_packets_lost;
    let flow = &record.flows[0];
    assert!(flow.losses_corruption > 10 * lost_headers && lost_headers > 0, "{flow:#?}");
    assert_eq!(flow.cwnd_reductions, 0);
    assert!(the_circuit(&record).cwnd_reductions <= lost_headers);
    assert!(flow.goodput_bps > 0.85 * 10e6 * 1448.0 / 1552.0, "{}", flow.goodput_bps);
}

/// §6: without F1, F2 and F3 the data TCP waits for its timer, and all the circuit has won is lost.
#[test]
fn it_is_important_to_be_aggressive() {
    let mut scenario = one_link(10 * MBIT, ms(20), 100, 30);
    let link = &mut scenario.links[0];
    for side in [&mut link.forward, &mut link.reverse] {
        side.loss.ber = 2e-6.into();
    }
    scenario.flows = vec![unlimited("bulk", 0, 0)];
    let goodput = |keys: &str| {
        let text = format!("reno:profile=bsd-1998:timestamps=true+{DECOUPLED}{keys}");
        go(&scenario, &text, 1).goodput_bps
    };
    let (all, none) = (goodput(""), goodput(":f1=false:f2=false:f3=false"));
    assert!(all > 2.0 * none, "{all} against {none}");
}

/// A trunk over the middle link: three connections and a stream of datagrams in one circuit.
fn trunk(scheme: &str) -> Scenario {
    let links = [("a", 100), ("b", 10), ("c", 100)].map(|(name, mbit)| link(name, mbit * MBIT, ms(10), 100));
    let mut scenario = Scenario::over(links.to_vec(), Dur::from_secs(20));
    let stream = Flow { scheme: None, routes: unlimited("", 0, 2).routes, ..datagrams(MBIT, 500) };
    scenario.flows = vec![Flow { count: 3, stagger: ms(700), ..unlimited("user", 0, 2) }, stream];
    scenario.circuits = vec![model::Circuit {
        name: "trunk".to_owned(),
        scheme: scheme.to_owned(),
        direction: model::Direction::Forward,
        flows: vec![0, 1],
        route: model::Route::of_chain(model::Direction::Forward, 1, 1),
    }];
    scenario
}

/// §4.2: a trunk carries what several hosts send, and drops what its tunnel queue has no room for.
#[test]
fn a_trunk_carries_several_flows() {
    let record = go(&trunk("reno:profile=rfc+decoupling:controls=4"), "reno", 1);
    let circuit = the_circuit(&record);
    record.flows.iter().for_each(|flow| assert_conserved(flow));
    assert!(circuit.forwarded_bytes as f64 * 8.0 / 20.0 > 0.85 * 10e6, "{circuit:#?}");
    assert!(circuit.tunnel_queue_drops > 0);
    let stream = &record.flows[3];
    assert!(stream.goodput_bps > 0.8e6 * 472.0 / 500.0, "{stream:#?}");
    assert!(record.flows[..3].iter().all(|flow| flow.goodput_bps > 1e6), "{:#?}", record.flows);
}

#[test]
fn a_flow_has_one_circuit() {
    let result = run(&trunk("decoupling"), &scheme("decoupling"), 1, RunOptions::default());
    assert!(matches!(result, Err(RunError::TwoStations { .. })));
}

/// A data TCP's window is infinite; what is recorded is its circuit's.
#[test]
fn series_show_the_windows_of_the_control_tcps() {
    let options = RunOptions { series: Some(ms(100)), ..RunOptions::default() };
    let series = run(&bulk(5), &scheme(CIRCUIT), 1, options).unwrap().series.unwrap().flows;
    assert!(series.cwnd_bytes.iter().all(|cwnd| (1500.0..1e6).contains(cwnd)), "{:?}", series.cwnd_bytes);
}

/// Two gateways with a circuit each way, as on real hosts: whatever goes that way enters it, the ACKs of what comes back, too.
fn both_ways(flows: Vec<Flow>, seconds: u64) -> Scenario {
    let links = [("a", 100, 1), ("b", 20, 20), ("c", 100, 1)];
    let links = links.map(|(name, mbit, rtt)| link(name, mbit * MBIT, ms(rtt), 100)).to_vec();
    let mut scenario = Scenario::over(links, Dur::from_secs(seconds));
    let link = &mut scenario.links[1];
    (link.forward.loss.packet, link.reverse.loss.packet) = (0.005.into(), 0.005.into());
    let circuit = |name: &str, direction| model::Circuit {
        name: name.to_owned(),
        scheme: "cubic+decoupling".to_owned(),
        direction,
        flows: (0..flows.len()).collect(),
        route: model::Route::of_chain(direction, 1, 1),
    };
    scenario.circuits = vec![circuit("there", Direction::Forward), circuit("back", Direction::Reverse)];
    scenario.flows = flows;
    scenario
}

/// A circuit that carries only ACKs has seldom a header packet in flight, and some of the ACKs are lost: it goes on all the same.
#[test]
fn a_circuit_that_carries_acks_never_stops() {
    let poisson = |interval, size| {
        Traffic::Poisson(Arrivals { interval: ms(interval), size: Bytes(size), exponential: true })
    };
    let on_off = Traffic::OnOff(Bursts { on: ms(800), off: ms(1_500), rate: None });
    for (traffic, direction) in [
        (poisson(700, 300_000), Direction::Forward),
        (poisson(400, 20_000), Direction::Reverse),
        (on_off, Direction::Forward),
    ] {
        let flow = Flow { traffic, ..unlimited("one", 0, 2) }.heading(direction);
        let scenario = both_ways(vec![flow], 60);
        for seed in 1..=8 {
            let record = go(&scenario, "cubic", seed);
            let flow = &record.flows[0];
            assert_conserved(flow);
            assert_eq!(record.circuits.len(), 2);
            assert!(
                record.circuits.iter().all(|circuit| circuit.forwarded_packets > 200),
                "{:#?}",
                record.circuits
            );
            // What began a few seconds before the end may still be under way.
            let completed = flow.completion_times_s.len() as u64;
            assert!(
                completed + 8 >= flow.transfers_started,
                "seed {seed}: {completed} of {}",
                flow.transfers_started
            );
            assert!(flow.bytes_received > 500_000, "seed {seed}: {flow:#?}");
        }
    }
}

/// Transfers both ways: each circuit carries the data of one and the ACKs of the other.
#[test]
fn circuits_both_ways_share_data_and_acks() {
    let flows =
        [Direction::Forward, Direction::Reverse].map(|direction| unlimited("bulk", 0, 2).heading(direction));
    let record = go(&both_ways(flows.to_vec(), 30), "cubic", 1);
    record.flows.iter().for_each(|flow| assert_conserved(flow));
    assert!(record.flows.iter().all(|flow| flow.goodput_bps > 1e6), "{:#?}", record.flows);
}
