//! A saturated Wi-Fi cell beside G. Bianchi, *Performance analysis of the IEEE 802.11 distributed coordination function* (2000), with a
//! retry limit as in H. Wu et al., *Performance of reliable transport protocol over IEEE 802.11 wireless LAN* (2002).

use super::link::chance;
use airtcp_proto::path::medium::{Keys, Radio};
use airtcp_proto::path::wifi::{Config, Course, RateControl, Snr, Standard};
use airtcp_proto::path::{Fate, Link, Transmitter};
use airtcp_proto::queue::{DropTail, Item, Limit};
use airtcp_wire::{Dur, Time};

const PACKET_BYTES: u32 = 1500;
const SLOT_US: f64 = 9.0;

/// What is seen between the first second and the last.
struct Seen {
    /// Of IP packets.
    mbps: f64,
    /// The share of transmissions that collided.
    collided: f64,
}

/// That of a link near its station.
fn transmitter(config: &Config) -> Box<dyn Transmitter> {
    config.transmitter(Radio { mcs: config.mcs, snr: None, ue: None }, chance("transmitter"))
}

/// `stations` that always have something to send to their access point.
fn saturated(config: &Config, stations: usize, seconds: u64) -> Seen {
    let ends: Vec<[usize; 2]> = (1..=stations).map(|station| [station, 0]).collect();
    let medium = config.build(&ends, &[], chance("access"));
    let each = 4_000 * seconds as u32 / stations as u32 * 2;
    let link = |_| {
        let queue = Box::new(DropTail::new(Limit::packets(each)));
        Link::new(queue, transmitter(config), Dur::ZERO).with_arq(config.arq()).on(&medium)
    };
    let mut links: Vec<Link> = ends.iter().map(link).collect();
    for link in &mut links {
        (0..each).for_each(|id| {
            link.handle_packet(Time::ZERO, Item { id, bytes: PACKET_BYTES, ..Item::default() })
        });
    }
    let [start, end] = [1, 1 + seconds].map(|second| Time(second * 1_000_000_000));
    let mut delivered = 0;
    for link in &mut links {
        while let Some(output) = link.poll_delivery(end) {
            delivered += u64::from(output.at > start && output.fate == Fate::Delivered);
        }
        assert!(link.queue_view(end).packets > 0, "not saturated");
    }
    let turns = || links.iter().filter_map(|link| link.turn_stats(end));
    Seen {
        mbps: (delivered * u64::from(PACKET_BYTES) * 8) as f64 / (seconds as f64 * 1e6),
        collided: turns().map(|turns| turns.collisions).sum::<u64>() as f64
            / turns().map(|turns| turns.turns).sum::<u64>() as f64,
    }
}

/// The same by the closed form, if a collision takes so long without AIFS.
fn bianchi(config: &Config, stations: usize, aifs_us: f64, collision_us: f64) -> Seen {
    let attempts = config.attempts as i32;
    let window = |stage: i32| f64::from(((config.cw_min + 1) << stage).min(config.cw_max + 1));
    let others = stations as i32 - 1;
    // How often a station sends in a slot, if it collides with probability p.
    let sends = |p: f64| {
        let weight = |stage| p.powi(stage);
        let slots: f64 = (0..attempts).map(|stage| weight(stage) * (window(stage) + 1.0) / 2.0).sum();
        (0..attempts).map(weight).sum::<f64>() / slots
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let p = (low + high) / 2.0;
        if 1.0 - (1.0 - sends(p)).powi(others) > p { low = p } else { high = p }
    }
    let tau = sends(low);
    let quiet = (1.0 - tau).powi(others + 1);
    let alone = f64::from(others + 1) * tau * (1.0 - tau).powi(others);
    let slot = quiet * SLOT_US
        + alone * (exchange_us(config) + aifs_us)
        + (1.0 - quiet - alone) * (collision_us + aifs_us);
    Seen { mbps: alone * f64::from(PACKET_BYTES * 8) / slot, collided: low }
}

fn exchange_us(config: &Config) -> f64 {
    transmitter(config).departure(Time::ZERO, PACKET_BYTES).0 as f64 / 1000.0
}

#[test]
fn a_saturated_cell_carries_what_bianchis_closed_form_says() {
    let config = Config { standard: Standard::A, ..Config::default() };
    beside_bianchi(&config, exchange_us(&config));
}

#[test]
fn a_collision_of_requests_costs_a_request_and_its_timeout() {
    let config = Config { standard: Standard::A, rts_threshold: Some(0), ..Config::default() };
    // RTS, SIFS and CTS precede the data, and SIFS again. At 24 Mbit/s, RTS and CTS have two symbols each.
    let bare = Config { rts_threshold: Some(1536), ..config.clone() };
    assert_eq!(exchange_us(&config) - exchange_us(&bare), 28.0 + 16.0 + 28.0 + 16.0);
    beside_bianchi(&config, 28.0 + 16.0 + 28.0);
}

/// `collision_us` is how long a collision takes.
fn beside_bianchi(config: &Config, collision_us: f64) {
    for stations in [1, 2, 5, 10, 20, 50] {
        let seen = saturated(config, stations, 20);
        let expected = bianchi(config, stations, 34.0, collision_us);
        println!(
            "{stations}: {:.2} of {:.2} Mbit/s, {:.4} of {:.4} collided",
            seen.mbps, expected.mbps, seen.collided, expected.collided
        );
        let off = seen.mbps / expected.mbps - 1.0;
        assert!(off.abs() < 0.03, "{stations} stations: {} of {} Mbit/s", seen.mbps, expected.mbps);
        assert!((seen.collided - expected.collided).abs() < 0.03, "{stations} stations: {}", seen.collided);
    }
}

/// What two links with a weak signal deliver that learn their schemes: link, packet and time, in order. They are asked every `step`, or when
/// they say so.
fn learned(step: Option<Dur>) -> Vec<(Time, usize, u32)> {
    let config = Config { rate_control: RateControl::MinstrelHt, ..Config::default() };
    let medium = config.build(&[[1, 0], [2, 0]], &[], chance("access"));
    let mut links = ["one", "other"].map(|name| {
        let queue = Box::new(DropTail::new(Limit::packets(1000)));
        let snr = Some(Course::new(Snr::fixed(18.0), chance("snr")));
        let transmitter = config.transmitter(Radio { mcs: config.mcs, snr, ue: None }, chance(name));
        Link::new(queue, transmitter, Dur::ZERO).with_arq(config.arq()).on(&medium)
    });
    for link in &mut links {
        (0..1000).for_each(|id| {
            link.handle_packet(Time::ZERO, Item { id, bytes: PACKET_BYTES, ..Item::default() })
        });
    }
    let (mut now, mut out) = (Time::ZERO, Vec::new());
    loop {
        let wake = links.iter().map(Link::poll_timeout).min().unwrap_or(Time::NEVER);
        if wake.is_never() {
            out.sort_unstable();
            return out;
        }
        now = step.map_or(wake, |step| now + step);
        for (number, link) in links.iter_mut().enumerate() {
            out.extend(std::iter::from_fn(|| link.poll_delivery(now)).map(|out| (out.at, number, out.id)));
        }
    }
}

#[test]
fn what_a_link_learns_does_not_depend_on_when_it_is_asked() {
    let woken = learned(None);
    assert_eq!(woken.len(), 2000);
    for step_us in [70, 10_000] {
        assert_eq!(learned(Some(Dur::from_micros(step_us))), woken, "every {step_us} µs");
    }
}
