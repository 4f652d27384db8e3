//! Machines at the base station of a simulated path.

use crate::common::{MBIT, go, link, ms, unlimited};
use airtcp_proto::path::jitter::uniform;
use airtcp_sim::Scenario;
use airtcp_sim::record::FlowRecord;
use airtcp_sim::scenario::model::{Arrivals, Direction, Distribution, Flow, Jitter, Traffic};
use airtcp_wire::{Bytes, Dur};

const MACHINES: [&str; 3] = ["snoop", "split", "eln"];

/// A wired path of some delay, then a short wireless hop that loses two packets in a hundred.
fn lossy_hop(seconds: u64) -> Scenario {
    let links = vec![link("wired", 10 * MBIT, ms(80), 50), link("wireless", 5 * MBIT, ms(10), 50)];
    let mut scenario = Scenario::over(links, Dur::from_secs(seconds));
    scenario.links[1].forward.loss.packet = 0.02.into();
    scenario
}

fn goodput(scenario: &Scenario, scheme: &str) -> f64 {
    go(scenario, scheme, 1).goodput_bps
}

/// Balakrishnan et al. 1995 §5, Bakre & Badrinath 1995, Balakrishnan & Katz 1998: what each is for.
#[test]
fn on_a_lossy_wireless_hop_each_beats_reno_and_its_recoveries() {
    let scenario = lossy_hop(60);
    for stack in ["reno", "newreno", "sack", "rack", "cubic"] {
        let alone = goodput(&scenario, stack);
        for machine in MACHINES {
            let helped = goodput(&scenario, &format!("{stack}+{machine}"));
            assert!(helped > 1.3 * alone, "{stack}+{machine}: {helped} against {alone}");
        }
    }
}

/// Without loss on the wireless link there is nothing to repair: snoop and ELN leave no trace.
#[test]
fn without_wireless_loss_snoop_and_eln_change_nothing() {
    let mut scenario = lossy_hop(30);
    scenario.links[1].forward.loss.packet = 0.0.into();
    let essence = |flow: &FlowRecord| (flow.bytes_received, flow.data_packets_sent, flow.losses_congestion);
    let alone = go(&scenario, "reno", 1);
    assert!(alone.flows[0].losses_congestion > 0, "the wireless link's queue overflows");
    for machine in ["snoop", "eln"] {
        let record = go(&scenario, &format!("reno+{machine}"), 1);
        assert_eq!(essence(&record.flows[0]), essence(&alone.flows[0]), "{machine}");
    }
}

/// Short transfers one after the other, each closed by its sender: all bytes of all of them arrive, and nothing is left
/// behind.
#[test]
fn transfers_open_and_close_through_each_machine() {
    for direction in [Direction::Forward, Direction::Reverse] {
        let mut scenario = lossy_hop(60);
        scenario.links[1].reverse.loss.packet = 0.02.into();
        scenario.flows[0] = scenario.flows[0].clone().heading(direction);
        let size = Bytes(30_000);
        let interval = Dur::from_millis(500);
        scenario.flows[0].traffic = Traffic::Poisson(Arrivals { interval, size, exponential: false });
        scenario.flows[0].stop = Some(Dur::from_secs(30));
        for machine in MACHINES {
            let flow = &go(&scenario, &format!("reno+{machine}"), 1).flows[0];
            assert_eq!(flow.completion_times_s.len() as u64, flow.transfers_started, "{machine}: {flow:#?}");
            assert_eq!(flow.bytes_received, flow.transfers_started * 30_000, "{machine}");
            assert_eq!(flow.resets, 0, "{machine}");
        }
    }
}

/// A mobile host that sends: ELN reads holes at the base station; snoop cannot help, and does no harm.
#[test]
fn upwards_eln_helps_and_snoop_does_no_harm() {
    let mut scenario = lossy_hop(60);
    scenario.flows[0] = scenario.flows[0].clone().heading(Direction::Reverse);
    scenario.links[1].forward.loss.packet = 0.0.into();
    scenario.links[1].reverse.loss.packet = 0.02.into();
    let alone = goodput(&scenario, "reno");
    assert!(goodput(&scenario, "reno+eln") > 1.5 * alone);
    assert_eq!(goodput(&scenario, "reno+snoop"), alone);
}

/// What is lost before the base station is congestion for all that ELN knows.
#[test]
fn eln_does_not_speak_of_losses_on_the_wired_side() {
    let mut scenario = lossy_hop(60);
    scenario.links[1].forward.loss.packet = 0.0.into();
    scenario.links[0].forward.loss.packet = 0.02.into();
    assert_eq!(goodput(&scenario, "reno+eln"), goodput(&scenario, "reno"));
}

/// Two flows that share the machine and the link get like shares.
#[test]
fn flows_at_one_machine_share_fairly() {
    let mut scenario = lossy_hop(120);
    scenario.flows[0].count = 2;
    for machine in MACHINES {
        let record = go(&scenario, &format!("reno+{machine}"), 1);
        assert!(record.jain_index.unwrap() > 0.9, "{machine}: {:?}", record.jain_index);
    }
}

/// Many short transfers and long flows at once, both ways, over a wireless link that loses, delays and reorders, through
/// each machine there is: every transfer that ends has all its bytes, and a second run is the same.
#[test]
fn a_busy_base_station_loses_nothing_and_is_deterministic() {
    for machine in airtcp_proto::base_station::all() {
        let name = machine.spec().name;
        let scenario = busy();
        let text = format!("reno:profile=linux+{name}");
        let record = go(&scenario, &text, 3);
        for flow in &record.flows[..4] {
            let done = flow.completion_times_s.len() as u64;
            assert!(flow.transfers_started > 80 && done == flow.transfers_started, "{name}: {flow:#?}");
            assert_eq!((flow.bytes_received, flow.resets), (done * 12_000, 0), "{name}");
        }
        assert!(record.flows[4..].iter().all(|flow| flow.bytes_received > 100_000), "{name}");
        let json = |record| serde_json::to_string(&record).unwrap();
        assert_eq!(json(record), json(go(&scenario, &text, 3)), "{name}");
    }
}

/// Short transfers in flows 0 to 3, half of them upwards, and long flows that last.
fn busy() -> Scenario {
    let mut scenario = lossy_hop(60);
    let uniform = Distribution::Uniform(uniform::Config { low: Dur::ZERO, high: ms(40) });
    let wireless = &mut scenario.links[1];
    for side in [&mut wireless.forward, &mut wireless.reverse] {
        side.loss.packet = 0.01.into();
        side.jitter = Some(Jitter { distribution: uniform.clone(), overtaking: true, start: Dur::ZERO });
    }
    let traffic = Traffic::Poisson(Arrivals { interval: ms(300), size: Bytes(12_000), exponential: false });
    let short = Flow { traffic, count: 2, stop: Some(Dur::from_secs(35)), ..unlimited("short", 0, 1) };
    let upwards = |flow: &Flow| flow.clone().heading(Direction::Reverse);
    let long = Flow { count: 3, stagger: ms(500), ..unlimited("long", 0, 1) };
    scenario.flows = vec![upwards(&short), short, upwards(&long), long];
    scenario
}
