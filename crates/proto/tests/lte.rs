//! What holds in an LTE cell.

use super::link::{Arrivals, arrivals, chance};
use super::medium::drive;
use airtcp_proto::path::lte::{Config, Mode, Others, Scheduler, Ue};
use airtcp_proto::path::medium::{Keys, Radio};
use airtcp_proto::path::{Episodes, Fate, Handoff, Link, Starts};
use airtcp_proto::queue::{DropCause, DropTail, Item, Limit};
use airtcp_wire::{Dur, Probability, Time};
use proptest::prelude::*;

const SLOT: Dur = Dur::from_millis(1);

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// The downlink and the uplink of each user in turn, without delay on the way.
fn links(config: &Config, sinrs_db: &[f64], room: u32) -> Vec<Link> {
    let ends: Vec<_> = (1..=sinrs_db.len()).flat_map(|ue| [[0, ue], [ue, 0]]).collect();
    let medium = config.build(&ends, &[], chance("cell"));
    let link = |number: usize| {
        let ue = Ue { sinr_db: Some(sinrs_db[number / 2]), ..Ue::default() };
        let radio = Radio { mcs: 0, snr: None, ue: Some(ue) };
        let transmitter = config.transmitter(radio, chance(&format!("{number}")));
        Link::new(Box::new(DropTail::new(Limit::packets(room))), transmitter, Dur::ZERO).on(&medium)
    };
    (0..ends.len()).map(link).collect()
}

fn packet(id: u32, link: usize, bytes: u32) -> Item {
    Item { id, bytes, flow: link as u32, ..Item::default() }
}

/// When packets of so many bytes come out that arrive at these times on one link, in microseconds.
fn out_us(config: &Config, sinr_db: f64, link: usize, at_us: &[u64], bytes: u32) -> Vec<u64> {
    let packets = at_us.iter().zip(0..).map(|(us, id)| (Time(us * 1000), packet(id, link, bytes)));
    let arrivals: Arrivals = packets.collect();
    let out = drive(&mut links(config, &[sinr_db], 1000), &arrivals);
    out.into_iter().map(|(_, output)| output.at.0 / 1000).collect()
}

/// One user whose queue never runs empty, for a second: bytes that have left the queue of each downlink.
fn carried(config: &Config, sinrs_db: &[f64]) -> Vec<u64> {
    let mut links = links(config, sinrs_db, 5000);
    for id in 0..4000 * sinrs_db.len() as u32 {
        let link = id as usize % sinrs_db.len() * 2;
        links[link].handle_packet(Time::ZERO, packet(id, link, 1000));
    }
    links.iter_mut().step_by(2).map(|link| link.stats(ms(1000)).sent_bytes).collect()
}

fn five_mhz() -> Config {
    Config { bandwidth_mhz: 5.0, ..Config::default() }
}

#[test]
fn a_packet_waits_for_the_next_slot_and_is_decoded_four_slots_later() {
    assert_eq!(out_us(&five_mhz(), 30.0, 0, &[0, 300, 8_999, 9_000], 1000), [4_000, 5_000, 13_000, 14_000]);
}

#[test]
fn an_uplink_packet_waits_for_a_request_and_its_grant() {
    // A request is possible in slots 0, 10 and so on; the grant for 100 bytes holds eight slots later. The report that goes with these asks
    // for the rest.
    assert_eq!(out_us(&five_mhz(), 40.0, 1, &[0], 1000), [20_000]);
    assert_eq!(out_us(&five_mhz(), 40.0, 1, &[300], 1000), [30_000]);
    let often = Config { request_period: SLOT, ..five_mhz() };
    assert_eq!(out_us(&often, 40.0, 1, &[300], 1000), [21_000]);
}

#[test]
fn uplink_packets_bunch() {
    let at: Vec<u64> = (0..100).map(|ms| ms * 1000).collect();
    let mut out = out_us(&five_mhz(), 40.0, 1, &at, 100);
    assert!(out.is_sorted());
    out.dedup();
    assert!((12..=14).contains(&out.len()), "a bunch every eight slots: {out:?}");
}

#[test]
fn harq_repeats_eight_slots_later() {
    // CQI promises 10 % at this ratio, which is that of CQI 10 with 3 dB more than Shannon.
    let sinr_db = 10.0 * libm::log10(libm::exp2(2.7305) - 1.0) + 3.0;
    let config = Config { target_error: Probability::new(0.5), ..five_mhz() };
    let at: Vec<u64> = (0..2000).map(|packet| packet * 50_000).collect();
    let out = out_us(&config, sinr_db, 0, &at, 800);
    let delays: Vec<u64> = out.iter().zip(&at).map(|(out, at)| out - at).collect();
    assert!(delays.iter().all(|delay| [4_000, 5_000, 12_000, 13_000].contains(delay)), "{delays:?}");
    let again = delays.iter().filter(|delay| **delay > 10_000).count();
    assert!((150..250).contains(&again), "a tenth of 2000: {again}");
}

#[test]
fn what_harq_gives_up_is_lost_in_unacknowledged_mode_and_late_in_acknowledged() {
    let sinr_db = 10.0 * libm::log10(libm::exp2(2.7305) - 1.0) + 3.0;
    let at: Vec<_> = (0..2000).map(|id| (ms(u64::from(id) * 100), packet(id, 0, 800))).collect();
    let fates = |rlc| {
        let config = Config { rlc, attempts: 1, target_error: Probability::new(0.5), ..five_mhz() };
        drive(&mut links(&config, &[sinr_db], 1000), &at)
    };
    let lost = fates(Mode::Um).iter().filter(|(_, output)| output.fate != Fate::Delivered).count();
    assert!((150..250).contains(&lost), "a tenth of 2000: {lost}");
    let out = fates(Mode::Am);
    assert!(out.iter().all(|(_, output)| output.fate == Fate::Delivered));
    let late = out.iter().zip(&at).filter(|((_, output), (at, _))| output.at.since(*at) > SLOT * 35).count();
    assert!((150..250).contains(&late), "{late}");
}

#[test]
fn schedulers_share_the_cell_as_they_are_called() {
    let with = |scheduler| carried(&Config { scheduler, ..five_mhz() }, &[40.0, 12.0]);
    // CQI 15 and CQI 10: 18 336 and 7992 bits a slot, half of the slots each.
    for scheduler in [Scheduler::ProportionalFair, Scheduler::RoundRobin] {
        let carried = with(scheduler);
        for (bytes, bits) in carried.iter().zip([18_336, 7992]) {
            let share = *bytes as f64 * 8.0 / (bits as f64 * 1000.0);
            assert!((share - 0.5).abs() < 0.02, "{scheduler:?}: {carried:?}");
        }
    }
    let greedy = with(Scheduler::MaxCi);
    assert!(greedy[0] > 2_200_000 && greedy[1] == 0, "{greedy:?}");
}

#[test]
fn other_users_take_their_share() {
    let with = |count, rate| Config { users: vec![Others { count, sinr_db: 40.0, rate }], ..five_mhz() };
    let [alone] = carried(&five_mhz(), &[40.0])[..] else { panic!() };
    let [shared] = carried(&with(3, None), &[40.0])[..] else { panic!() };
    let [beside] = carried(&with(1, Some(airtcp_wire::Rate(4_584_000))), &[40.0])[..] else { panic!() };
    assert!((shared as f64 / alone as f64 - 0.25).abs() < 0.02, "{shared} of {alone}");
    // 573 bytes a slot take 7 of 25 resource blocks, and these go in pairs.
    assert!((beside as f64 / alone as f64 - 17.0 / 25.0).abs() < 0.02, "{beside} of {alone}");
}

fn configs() -> impl Strategy<Value = Config> {
    let scheduler =
        prop::sample::select(&[Scheduler::ProportionalFair, Scheduler::RoundRobin, Scheduler::MaxCi][..]);
    let bandwidth_mhz = prop::sample::select(&[1.4, 5.0, 20.0][..]);
    let rlc = prop::sample::select(&[Mode::Am, Mode::Um][..]);
    let others = prop::option::of((1u32..4, 0.0..30.0f64, 10_000u64..100_000));
    (scheduler, bandwidth_mhz, rlc, 1u32..5, 1u64..21, others).prop_map(
        |(scheduler, bandwidth_mhz, rlc, attempts, period, others)| Config {
            scheduler,
            bandwidth_mhz,
            rlc,
            attempts,
            rlc_retransmissions: 1,
            request_period: SLOT * period,
            users: others
                .map(|(count, sinr_db, rate)| Others { count, sinr_db, rate: Some(airtcp_wire::Rate(rate)) })
                .into_iter()
                .collect(),
            ..Config::default()
        },
    )
}

/// Signals that are served in the uplink, too, which has 19 dB less unless it has few resource blocks.
fn signals() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(15.0..40.0f64, 1..6)
}

fn to_links(arrivals: &Arrivals, links: usize) -> Arrivals {
    arrivals.iter().map(|&(at, item)| (at, Item { flow: item.id % links as u32, ..item })).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each packet comes out once and in order, or is lost for a reason; none before it could have been decoded.
    #[test]
    fn packets_are_conserved_in_order_and_not_too_early(
        config in configs(), signals in signals(), arrivals in arrivals(), handoff in prop::option::of(0..100u64)
    ) {
        let mut links = links(&config, &signals, 20);
        if let Some(at) = handoff {
            let starts = Starts { at: vec![ms(at)], ..Starts::default() };
            let outages = || Episodes::new(Dur::from_millis(30), starts.clone(), chance("outage"));
            let with = |link: Link| link.with_outages(outages(), Some(Handoff::default()));
            links = links.into_iter().map(with).collect();
        }
        let count = links.len();
        let arrivals = to_links(&arrivals, count);
        let out = drive(&mut links, &arrivals);
        let mut ids: Vec<_> = out.iter().map(|(_, output)| output.id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..arrivals.len() as u32).collect::<Vec<_>>());
        for link in 0..count {
            let own = out.iter().filter(|(from, output)| *from == link && output.fate == Fate::Delivered);
            let own: Vec<_> = own.map(|(_, output)| output).collect();
            prop_assert!(own.is_sorted_by_key(|output| (output.at, output.id)), "{own:?}");
            for output in own {
                let (at, _) = arrivals[output.id as usize];
                prop_assert!(output.at.since(at) >= SLOT * 4 && output.at.0 % SLOT.0 == 0, "{output:?} {at}");
            }
        }
        let lost = |cause| out.iter().filter(|(_, output)| output.fate == Fate::Lost(cause)).count() as u64;
        let end = out.iter().map(|(_, output)| output.at).max().unwrap_or_default() + SLOT;
        for cause in [DropCause::Overflow, DropCause::Corruption, DropCause::Outage] {
            let counted: u64 = links.iter_mut().map(|link| link.stats(end).dropped(cause)).sum();
            prop_assert_eq!(counted, lost(cause));
        }
        prop_assert!(handoff.is_some() || lost(DropCause::Outage) == 0);
    }

    /// No slot has more resource blocks than the band, and who asks in between changes nothing.
    #[test]
    fn resource_blocks_are_those_of_the_band_whoever_asks(config in configs(), signals in signals(), arrivals in arrivals()) {
        let [mut told, mut links] = [(); 2].map(|()| links(&config, &signals, 20));
        let arrivals = to_links(&arrivals, links.len());
        let mut told = drive(&mut told, &arrivals);
        let (mut next, mut asked) = (arrivals.iter().peekable(), Vec::new());
        let end = told.iter().map(|(_, output)| output.at).max().unwrap_or_default() + SLOT;
        let mut before = [Dur::ZERO; 2];
        for slot in 0..=end.0 / SLOT.0 {
            let now = ms(slot);
            while let Some(&(at, item)) = next.next_if(|(at, _)| *at < now) {
                links[item.flow as usize].handle_packet(at, item);
            }
            let mut busy = [Dur::ZERO; 2];
            for (number, link) in links.iter_mut().enumerate() {
                asked.extend(std::iter::from_fn(|| link.poll_delivery(now)).map(|output| (number, output)));
                busy[number % 2] += link.stats(now).busy;
            }
            for way in 0..2 {
                let used = busy[way] - before[way];
                prop_assert!(used <= SLOT, "{} of a slot at {}", used, now);
            }
            before = busy;
        }
        [&mut told, &mut asked].into_iter().for_each(|out| out.sort_by_key(|(link, output)| (output.at, *link, output.id)));
        prop_assert_eq!(told, asked);
    }
}
