//! Wi-Fi cells beside ns-3.44: 1 500-byte packets, all stations at the same distance. Then one station, near or far, and what records
//! say of cells.

use crate::common::go;
use airtcp_proto::scheme::Scheme;
use airtcp_sim::path_records::TurnRecord;
use airtcp_sim::record::LinkRecord;
use airtcp_sim::{Outcome, RunOptions, RunRecord, Scenario, run};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::Path;

/// A cell as ns-3 had it.
#[derive(Clone, Debug)]
struct Cell {
    standard: &'static str,
    keys: &'static str,
    stations: u32,
    up: bool,
    /// `udp` at a rate that saturates the cell, or a scheme.
    traffic: &'static str,
    /// Of frames.
    loss: f64,
    /// Stations at 6 Mbit/s.
    slow: u32,
    /// The first two do not hear each other.
    hidden: bool,
    /// All flows together.
    mbps: f64,
}

/// UDP with 3 Mbit/s of payload a station. Gaps are constant, but not the same; in ns-3 they are exponential.
const LIGHT: &str = "light";

/// Where queues are seconds long, one run of 5 s differs from the next by 15 %.
const SEEDS: u64 = 4;

const PLAIN: Cell = Cell {
    standard: "a",
    keys: "",
    stations: 1,
    up: true,
    traffic: "udp",
    loss: 0.0,
    slow: 0,
    hidden: false,
    mbps: 0.0,
};
/// Two stations that do not hear each other.
const HIDDEN: Cell = Cell { stations: 2, hidden: true, ..PLAIN };

#[rustfmt::skip]
const CELLS: &[Cell] = &[
    Cell { mbps: 29.87, ..PLAIN },
    Cell { stations: 5, mbps: 28.89, ..PLAIN },
    Cell { stations: 20, mbps: 25.72, ..PLAIN },
    Cell { standard: "n", mbps: 59.60, ..PLAIN },
    Cell { standard: "n", stations: 5, mbps: 49.59, ..PLAIN },
    Cell { standard: "n", stations: 10, mbps: 47.06, ..PLAIN },
    Cell { standard: "n", keys: "ampdu = 0", mbps: 30.73, ..PLAIN },
    Cell { standard: "n", keys: "ampdu = 0", stations: 5, mbps: 30.34, ..PLAIN },
    Cell { standard: "n", keys: "ampdu = 0", stations: 20, mbps: 26.70, ..PLAIN },
    Cell { up: false, traffic: "reno", mbps: 24.33, ..PLAIN },
    Cell { traffic: "reno", mbps: 23.92, ..PLAIN },
    Cell { up: false, traffic: "reno", stations: 5, mbps: 24.20, ..PLAIN },
    Cell { traffic: "reno", stations: 5, mbps: 23.06, ..PLAIN },
    Cell { up: false, traffic: "cubic", mbps: 23.75, ..PLAIN },
    Cell { traffic: "cubic", stations: 5, mbps: 24.28, ..PLAIN },
    Cell { standard: "n", up: false, traffic: "reno", mbps: 52.61, ..PLAIN },
    Cell { standard: "n", traffic: "reno", mbps: 49.68, ..PLAIN },
    Cell { standard: "n", up: false, traffic: "reno", stations: 5, mbps: 51.35, ..PLAIN },
    Cell { standard: "n", traffic: "reno", stations: 5, mbps: 45.69, ..PLAIN },
    Cell { standard: "n", up: false, traffic: "cubic", stations: 5, mbps: 52.78, ..PLAIN },
    Cell { standard: "n", traffic: "cubic", stations: 5, mbps: 44.48, ..PLAIN },
    Cell { up: false, traffic: "reno", loss: 0.1, mbps: 21.70, ..PLAIN },
    Cell { up: false, traffic: "reno", loss: 0.3, mbps: 15.84, ..PLAIN },
    Cell { standard: "n", up: false, traffic: "reno", loss: 0.1, mbps: 51.67, ..PLAIN },
    // ns-3 never gives up a frame of an aggregate.
    Cell { standard: "n", keys: "attempts = 100", up: false, traffic: "reno", loss: 0.3, mbps: 37.78, ..PLAIN },
    Cell { stations: 2, slow: 1, mbps: 8.52, ..PLAIN },
    Cell { stations: 5, slow: 1, mbps: 13.72, ..PLAIN },
    Cell { stations: 2, slow: 1, up: false, traffic: "reno", mbps: 7.69, ..PLAIN },
    Cell { stations: 2, slow: 1, traffic: "reno", mbps: 6.16, ..PLAIN },
    Cell { mbps: 23.58, ..HIDDEN },
    Cell { keys: "rts_threshold = 0", mbps: 23.31, ..HIDDEN },
    Cell { traffic: "reno", mbps: 22.82, ..HIDDEN },
    Cell { keys: "rts_threshold = 0", traffic: "reno", mbps: 18.89, ..HIDDEN },
    Cell { traffic: LIGHT, mbps: 6.11, ..HIDDEN },
    Cell { keys: "rts_threshold = 0", traffic: LIGHT, mbps: 6.11, ..HIDDEN },
    Cell { standard: "n", traffic: LIGHT, mbps: 6.05, ..HIDDEN },
    Cell { standard: "n", keys: "rts_threshold = 0", traffic: LIGHT, mbps: 6.05, ..HIDDEN },
];

impl Cell {
    fn scenario(&self) -> Scenario {
        let Cell { standard, keys, stations, up, traffic, loss, slow, hidden, .. } = *self;
        let hidden = if hidden { "hidden = [[\"sta0\", \"sta1\"]]" } else { "" };
        let mut text = format!(
            "duration = \"9s\"\nwarmup = \"4s\"\n\
             [[medium]]\nname = \"air\"\nkind = \"wifi\"\nstandard = \"{standard}\"\n{keys}\n{hidden}\n\
             [[link]]\nfrom = \"server\"\nto = \"ap\"\nrate = \"1Gbit/s\"\ndelay = \"10ms\"\nqueue = {{ packets = 100000 }}\n"
        );
        let udp = |rate| {
            format!("traffic = {{ kind = \"udp\", rate = \"{rate}\", packet = \"1500B\" }}\nmeasure = true")
        };
        let traffic = match traffic {
            "udp" => [udp("80Mbit/s"), udp("80Mbit/s")],
            LIGHT => [udp("3057kbit/s"), udp("3064kbit/s")],
            _ => [String::new(), String::new()],
        };
        for station in 0..stations {
            let mcs = if station < slow { "mcs = 0\n" } else { "" };
            let (from, to) = (format!("sta{station}"), "server".to_owned());
            let (from, to) = if up { (from, to) } else { (to, from) };
            writeln!(
                text,
                "[[link]]\nfrom = \"ap\"\nto = \"sta{station}\"\nmedium = \"air\"\n{mcs}queue = {{ packets = 500 }}\n\
                 loss = {{ packet = {loss} }}\nreverse = {{ loss = {{}} }}\n\
                 [[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"{}ms\"\n{}",
                station * 100,
                traffic[station as usize % 2]
            )
            .unwrap();
        }
        Scenario::load(&text, "t.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn scheme(&self) -> &'static str {
        if matches!(self.traffic, "udp" | LIGHT) { "reno" } else { self.traffic }
    }

    fn name(&self) -> String {
        let Cell { standard, keys, stations, up, traffic, loss, slow, hidden, .. } = self;
        format!(
            "802.11{standard} {keys} {traffic} {} n={stations} loss={loss} slow={slow} hidden={hidden}",
            if *up { "up" } else { "down" }
        )
    }
}

#[test]
fn cells_carry_what_they_carry_in_ns3() {
    let mut off = Vec::new();
    for cell in CELLS {
        let scheme = cell.scheme();
        let records = (1..=SEEDS).map(|seed| go(&cell.scenario(), scheme, seed)).collect::<Vec<_>>();
        let flows = || records.iter().flat_map(|record| &record.flows);
        let mbps = flows().map(|flow| flow.goodput_bps).sum::<f64>() / 1e6 / SEEDS as f64;
        let rtt = flows().next().and_then(|flow| flow.rtt_p50_ms).unwrap_or_default();
        println!(
            "{}: {mbps:.2}, ns-3 {} ({:+.1} %), RTT {rtt:.0}",
            cell.name(),
            cell.mbps,
            100.0 * (mbps / cell.mbps - 1.0)
        );
        if (mbps / cell.mbps - 1.0).abs() > 0.1 {
            off.push(cell.name());
        }
    }
    assert_eq!(off, [""; 0]);
}

/// One flow of Reno over 10 ms of wire to one station of 802.11n, in Mbit/s. `link` are keys of the Wi-Fi link.
fn to_one_station(medium: &str, link: &str, span_s: [u32; 2]) -> f64 {
    let [warmup, duration] = span_s;
    let text = format!(
        "duration = \"{duration}s\"\nwarmup = \"{warmup}s\"\n[[medium]]\nname = \"air\"\n{medium}\n\
         [[link]]\nrate = \"1Gbit/s\"\ndelay = \"10ms\"\nqueue = {{ packets = 100000 }}\n\
         [[link]]\nmedium = \"air\"\nqueue = {{ packets = 500 }}\n{link}\n"
    );
    let scenario =
        Scenario::load(&text, "t.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    go(&scenario, "reno", 1).flows[0].goodput_bps / 1e6
}

#[test]
fn a_weak_signal_costs_what_as_many_losses_cost() {
    let alone = to_one_station("", "", [4, 9]);
    assert_eq!(to_one_station("", "snr = { db = 60 }", [4, 9]), alone);
    // One full frame in ten errs at this ratio; acknowledgments hardly ever do.
    let lossy = to_one_station("", "loss = { packet = 0.1 }\nreverse = { loss = {} }", [4, 9]);
    let weak = to_one_station("", "snr = { db = 23.79 }", [4, 9]);
    println!("{alone:.2} Mbit/s; a tenth lost: {lossy:.2}, {weak:.2}");
    assert!((weak / lossy - 1.0).abs() < 0.03, "{weak} {lossy}");
    assert_eq!(to_one_station("", "snr = { db = 10 }", [4, 9]), 0.0);
}

/// ns-3 walks from 10 to 70 m in a minute, and has 67.3 dB at 1 m. Its tables of error rates need 3 to 4 dB less than the closed form: it
/// has 4 dB more here.
#[test]
fn a_station_that_walks_away_gets_what_it_gets_in_ns3() {
    let walk = "snr = { db = 71.3, distance_m = 5, speed_kmh = 3.6 }";
    for (control, ns3_mbps) in [("ideal", 40.81), ("minstrel-ht", 38.67)] {
        let mbps = to_one_station(&format!("rate_control = \"{control}\""), walk, [5, 65]);
        println!("{control}: {mbps:.2}, ns-3 {ns3_mbps} ({:+.1} %)", 100.0 * (mbps / ns3_mbps - 1.0));
        assert!((mbps / ns3_mbps - 1.0).abs() < 0.1, "{control}: {mbps:.2}, ns-3 {ns3_mbps}");
    }
    let bare = to_one_station("rate_control = \"ideal\"", &walk.replace("71.3", "67.3"), [5, 65]);
    println!("ideal with hard decisions: {bare:.2}");
}

#[test]
fn the_stronger_the_signal_the_more_ideal_carries_and_minstrel_is_not_far_behind() {
    let at = |control: &str, db: u32| {
        to_one_station(&format!("rate_control = \"{control}\""), &format!("snr = {{ db = {db} }}"), [4, 9])
    };
    let mut weaker = 0.0;
    for db in [2, 5, 8, 11, 14, 17, 20, 23, 26, 29] {
        let (ideal, minstrel) = (at("ideal", db), at("minstrel-ht", db));
        println!("{db} dB: ideal {ideal:.2}, minstrel-ht {minstrel:.2}");
        assert!(ideal >= weaker, "{db} dB: {ideal} after {weaker}");
        assert!(minstrel >= 0.9 * ideal, "{db} dB: {minstrel} of {ideal}");
        weaker = ideal;
    }
}

/// Somebody walks about in Rayleigh fading around 22 dB.
#[test]
fn in_fading_ideal_carries_more_than_any_one_scheme_and_less_than_without_fading() {
    let fading = "snr = { db = 22, speed_kmh = 3.6, path_loss_exponent = 0, rician_k_db = -100 }";
    let ideal = to_one_station("rate_control = \"ideal\"", fading, [4, 9]);
    let steady = to_one_station("rate_control = \"ideal\"", "snr = { db = 22 }", [4, 9]);
    let learned = to_one_station("rate_control = \"minstrel-ht\"", fading, [4, 9]);
    println!("fading: ideal {ideal:.2}, minstrel-ht {learned:.2}; steady {steady:.2}");
    assert!(ideal < steady, "{ideal} of {steady}");
    assert!(learned < ideal, "{learned} of {ideal}");
    for mcs in [0, 2, 4, 6] {
        let one = to_one_station(&format!("mcs = {mcs}"), fading, [4, 9]);
        println!("MCS {mcs}: {one:.2}");
        assert!(one < ideal, "MCS {mcs}: {one} of {ideal}");
    }
}

fn turns(link: &LinkRecord) -> &TurnRecord {
    link.turns.as_ref().expect("it is on a medium")
}

fn on_air(record: &RunRecord) -> impl Iterator<Item = &LinkRecord> {
    record.links.iter().filter(|link| link.turns.is_some())
}

/// Two numbers of seconds, rounded to the nanosecond before they were added.
fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6
}

fn cells() -> impl Strategy<Value = Cell> {
    let standard = prop::sample::select(&["a", "n"][..]);
    let traffic = prop::sample::select(&["udp", "reno", "bbr"][..]);
    let keys = prop::sample::select(
        &["", "attempts = 1", "attempts = 2\ncw_min = 3", "cw_max = 15", "rts_threshold = 300"][..],
    );
    (standard, keys, traffic, 1u32..6, any::<bool>(), 0.0..0.6, 0u32..2, any::<bool>()).prop_map(
        |(standard, keys, traffic, stations, up, loss, slow, hidden)| Cell {
            standard,
            keys,
            traffic,
            stations,
            up,
            loss,
            slow,
            hidden: hidden && stations > 1,
            mbps: 0.0,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Airtime sums to the time that is measured, after a warm-up that ends in the middle of things, and losses to their causes.
    #[test]
    fn a_record_accounts_for_the_airtime_and_for_each_loss(cell in cells(), seed in 1u64..1000) {
        let scenario = cell.scenario();
        let scheme = cell.scheme();
        let record = go(&scenario, scheme, seed);
        let [air] = &record.media[..] else { panic!("{:?}", record.media) };
        prop_assert!(same(air.idle_s + air.busy_s + air.collided_s, record.duration_s - record.warmup_s), "{air:?}");
        let alone: f64 = on_air(&record).map(|link| turns(link).airtime_s - turns(link).airtime_collided_s).sum();
        prop_assert!(same(alone, air.busy_s), "{alone} {air:?}");
        for link in on_air(&record) {
            let turns = turns(link);
            prop_assert!(same(turns.airtime_s / (record.duration_s - record.warmup_s), link.utilisation));
            // Packets that are given up before a request for them is answered are no frames.
            let unanswered = turns.rts_unanswered.unwrap_or(0);
            let first_frames = turns.frames_sent - turns.retries;
            prop_assert!(first_frames == link.packets_sent || unanswered > 0 && first_frames < link.packets_sent);
            prop_assert!(turns.airtime_collided_s <= air.collided_s + 1e-6);
            prop_assert!(turns.txops - unanswered <= turns.frames_sent);
            prop_assert!(turns.txops_collided - unanswered <= turns.frames_collided);
            // Packets in the receiver's window when the warm-up or the run ends.
            let failed = turns.failed_collision + turns.failed_error;
            prop_assert!(failed.abs_diff(link.drops_corruption) <= 64, "{link:?}");
            let again = turns.frames_collided + turns.frames_erred;
            let settled = turns.retries + failed;
            prop_assert!(again.abs_diff(settled) <= 64 || unanswered > 0 && again < settled, "{link:?}");
            prop_assert!(cell.keys != "attempts = 1" || turns.retries == 0);
        }
    }
}

/// The log of turns has what the record counts, and nobody begins while another is heard to send.
#[test]
fn turns_are_logged_as_they_are_counted() {
    let text = include_str!("../../../scenarios/wifi-anomaly.toml");
    let changes =
        [("warmup", "0s"), ("duration", "3s")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let scenario = Scenario::load(text, "wifi-anomaly.toml", Path::new(""), &changes).unwrap();
    let options = RunOptions { packets: true, ..RunOptions::default() };
    let Outcome { record, turns: log, .. } =
        run(&scenario, &Scheme::parse("cubic", "linux").unwrap(), 1, options).unwrap();
    let log = log.unwrap();
    let links = &log.link;
    let rows = |side: usize| (0..links.len()).filter(move |&row| links[row] == side as u64);
    let end = scenario.duration.0;
    for (side, link) in record.links.iter().enumerate() {
        let Some(turns) = &link.turns else {
            assert_eq!(rows(side).count(), 0);
            continue;
        };
        assert_eq!(rows(side).count() as u64, turns.txops);
        assert_eq!(rows(side).map(|row| log.collided[row]).sum::<u64>(), turns.txops_collided);
        let airtime: u64 = rows(side).map(|row| log.ended_ns[row].min(end) - log.begun_ns[row]).sum();
        assert!(same(airtime as f64 / 1e9, turns.airtime_s), "{airtime} {turns:?}");
    }
    let mut all: Vec<_> = (0..links.len()).map(|row| (log.begun_ns[row], log.ended_ns[row])).collect();
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[1].0 == pair[0].0 || pair[1].0 >= pair[0].1));
}

/// Heusse et al. (2003): stations that always have something to send send the same number of frames, so that one at 6 Mbit/s has
/// the airtime T_slow / (T_slow + 3 T_fast).
#[test]
fn the_slow_station_of_the_anomaly_takes_the_airtime() {
    let text = include_str!("../../../scenarios/wifi-anomaly.toml");
    let udp = "traffic = { kind = \"udp\", rate = \"40Mbit/s\", packet = \"1500B\" }\nmeasure = true";
    let text = text.replace("to = \"server\"", &format!("to = \"server\"\n{udp}"));
    let scenario = Scenario::load(&text, "wifi-anomaly.toml", Path::new(""), &[]).unwrap();
    let record = go(&scenario, "cubic", 1);
    let stations: Vec<_> = on_air(&record).filter(|link| link.direction == "reverse").map(turns).collect();
    let mean = stations.iter().map(|station| station.frames_sent).sum::<u64>() as f64 / 4.0;
    for station in &stations {
        let off = station.frames_sent as f64 / mean - 1.0;
        println!("{}: {} frames, {:+.1} %", station.transmitter, station.frames_sent, 100.0 * off);
        assert!(off.abs() < 0.05, "{station:?}");
    }
    let airtime: f64 = stations.iter().map(|station| station.airtime_s).sum();
    let slow = stations.iter().find(|station| station.transmitter == "phone").unwrap().airtime_s / airtime;
    // Preamble, symbols, SIFS and acknowledgment of 1 536 bytes at 6 and at 54 Mbit/s, in µs.
    let expected = 2132.0 / (2132.0 + 3.0 * 292.0);
    println!("airtime {slow:.3}, by the same number of frames {expected:.3}");
    assert!((slow - expected).abs() < 0.01);
}

/// What of the access point's airtime goes to a station at 6 Mbit/s, beside two at 54, and what they all get in Mbit/s.
fn to_a_slow_station(fairness: bool, traffic: &'static str) -> (f64, f64) {
    let keys = if fairness { "airtime_fairness = true" } else { "" };
    let cell = Cell { keys, stations: 3, slow: 1, up: false, traffic, ..PLAIN };
    let record = go(&cell.scenario(), if traffic == "udp" { "reno" } else { traffic }, 1);
    let airtime = |station: &str| -> f64 {
        let its = on_air(&record)
            .map(turns)
            .filter(|turn| [&turn.transmitter, &turn.receiver].into_iter().any(|node| node == station));
        its.map(|turn| turn.airtime_s).sum()
    };
    let all: f64 = ["sta0", "sta1", "sta2"].map(airtime).iter().sum();
    (airtime("sta0") / all, record.flows.iter().map(|flow| flow.goodput_bps).sum::<f64>() / 1e6)
}

/// "Nearly perfect airtime fairness for both TCP and downstream UDP traffic" (Høiland-Jørgensen et al., USENIX ATC 2017, abstract).
#[test]
fn an_access_point_that_serves_by_airtime_ends_the_anomaly() {
    for traffic in ["udp", "cubic"] {
        let [(plain, slowed), (fair, freed)] =
            [false, true].map(|fairness| to_a_slow_station(fairness, traffic));
        println!(
            "{traffic}: {plain:.3} of the airtime and {slowed:.2} Mbit/s in turn, {fair:.3} and {freed:.2} by airtime"
        );
        assert!((fair - 1.0 / 3.0).abs() < 0.02, "{traffic}: {fair}");
        assert!(plain > 0.6 && freed > 1.5 * slowed, "{traffic}: {plain}, {slowed} and {freed} Mbit/s");
    }
}
